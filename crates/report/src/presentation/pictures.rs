//! Presentation of the instrument figures that a study defines, with their numbers in the publication.

use ipcperf_model::instrument_view::Picture;
use ipcperf_results::analysis::{Observed, observed_of};
use ipcperf_study::StudyPicture;

use super::Source;

/// An instrument figure, or the reasons why there is none.
pub struct ShownPicture<'s> {
    /// Definition in the study.
    pub picture: &'s StudyPicture,
    /// Observations, with the letter of the file if there are several.
    pub seen: Vec<(Option<char>, Observed)>,
    /// Reasons for missing observations.
    pub absences: Vec<String>,
}

impl<'s> ShownPicture<'s> {
    pub(super) fn of(picture: &'s StudyPicture, sources: &[Source<'_>]) -> Self {
        let (mut seen, mut absences) = (Vec::new(), Vec::new());
        for source in sources {
            let found = drawn(picture, source);
            if found.is_empty() {
                let absence = source.cells.absence_of(&picture.cases(), picture.instrument());
                absences.push(source.heading(&[&absence]));
            }
            seen.extend(found.into_iter().map(|one| (source.letter, one)));
        }
        Self { picture, seen, absences }
    }

    /// Returns the caption.
    pub fn caption(&self) -> String {
        format!("Figure {}: {}", self.picture.number(), self.picture.title())
    }
}

/// Returns the observations of a file that `picture` selects.
fn drawn(picture: &StudyPicture, source: &Source<'_>) -> Vec<Observed> {
    let cases = picture.cases();
    let all = observed_of(&source.file.results, |sample| source.cells.means(&cases, sample));
    let by_it = all.into_iter().filter(|one| one.instrument == picture.instrument());
    let narrowed = by_it.map(|one| {
        let flame = one.flame.filter(|_| picture.means("flame-graph", ""));
        let pictures = one.pictures.into_iter().filter(|drawn| is_meant(picture, drawn)).collect();
        Observed { flame, pictures, ..one }
    });
    narrowed.filter(|one| !one.pictures.is_empty() || one.flame.is_some()).collect()
}

fn is_meant(asked: &StudyPicture, drawn: &Picture) -> bool {
    match drawn {
        Picture::Table(one) => asked.means("table", &one.title),
        Picture::Quantised(one) => asked.means("histogram", &one.title),
        Picture::Timeline(one) => asked.means("time-line", &one.title),
    }
}
