//! Presentation of the instrument figures that a study defines, with their numbers in the publication.

use ipcperf_model::instrument_view::InstrumentView;
use ipcperf_results::analysis::{ObservedCase, observed_cases_where};
use ipcperf_study::InstrumentFigure;

use super::Source;

/// An instrument figure, or the reasons why there is none.
pub struct ShownInstrumentFigure<'s> {
    /// Definition in the study.
    pub figure: &'s InstrumentFigure,
    /// Observations, with the letter of the file if there are several.
    pub observations: Vec<(Option<char>, ObservedCase)>,
    /// Reasons for missing observations.
    pub absences: Vec<String>,
}

impl<'s> ShownInstrumentFigure<'s> {
    pub(super) fn new(figure: &'s InstrumentFigure, sources: &[Source<'_>]) -> Self {
        let (mut observations, mut absences) = (Vec::new(), Vec::new());
        for source in sources {
            let found = select_observations(figure, source);
            if found.is_empty() {
                let absence = source.cells.explain_unobserved(&figure.cases(), figure.instrument());
                absences.push(source.heading(&[&absence]));
            }
            observations.extend(found.into_iter().map(|one| (source.letter, one)));
        }
        Self { figure, observations, absences }
    }

    /// Returns the caption.
    pub fn caption(&self) -> String {
        format!("Figure {}: {}", self.figure.number(), self.figure.title())
    }
}

/// Returns the observations of a file that `picture` selects.
fn select_observations(figure: &InstrumentFigure, source: &Source<'_>) -> Vec<ObservedCase> {
    let cases = figure.cases();
    let all =
        observed_cases_where(&source.file.results, |sample| source.cells.contains(&cases, sample));
    let by_it = all.into_iter().filter(|one| one.instrument == figure.instrument());
    let narrowed = by_it.map(|one| {
        let flame = one.flame.filter(|_| figure.matches("flame-graph", ""));
        let pictures = one.views.into_iter().filter(|drawn| is_selected(figure, drawn)).collect();
        ObservedCase { flame, views: pictures, ..one }
    });
    narrowed.filter(|one| !one.views.is_empty() || one.flame.is_some()).collect()
}

fn is_selected(figure: &InstrumentFigure, drawn: &InstrumentView) -> bool {
    match drawn {
        InstrumentView::Table(one) => figure.matches("table", &one.title),
        InstrumentView::Log2Histogram(one) => figure.matches("histogram", &one.title),
        InstrumentView::Timeline(one) => figure.matches("timeline", &one.title),
    }
}
