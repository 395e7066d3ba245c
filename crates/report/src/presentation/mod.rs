//! Presentation of a study's results: its claims with verdicts, its figures and its tables.
//!
//! ```text
//! Study, [Summarised] -> Cells -> Exhibits (verdicts, Sketches, Grids) -> report, tables on a terminal
//! ```

mod asked;
mod claims;
mod figures;
mod judgement;
mod machines;
mod measured;
mod p_values;
mod pictures;
mod shown_table;
mod tables;
#[cfg(test)]
pub mod tests;

pub use asked::{Asked, measured_for, other_version};
pub use claims::ShownClaim;
pub use figures::ShownFigure;
pub use judgement::Judgement;
pub use p_values::title as p_values_title;
pub use pictures::ShownPicture;
pub use shown_table::ShownTable;

use ipcperf_results::analysis::Summarised;
use ipcperf_study::Study;
use ipcperf_study::hypothesis::Cells;

use crate::figure::{Chart, Names};

/// A results file, prepared for presentation.
pub struct Source<'a> {
    /// The file.
    pub file: &'a Summarised,
    /// Letter of the file, if there are several.
    pub letter: Option<char>,
    /// Its cells.
    pub cells: Cells<'a>,
}

/// Everything that a study shows.
pub struct Exhibits<'s> {
    /// Claims with their verdicts.
    pub claims: Vec<ShownClaim<'s>>,
    /// Figures.
    pub figures: Vec<ShownFigure<'s>>,
    /// Instrument figures.
    pub pictures: Vec<ShownPicture<'s>>,
    /// Tables.
    pub tables: Vec<ShownTable>,
}

impl<'s> Exhibits<'s> {
    /// Returns all figures in order.
    pub fn charts(&self) -> impl Iterator<Item = &Chart> {
        let claims = self.claims.iter().flat_map(|one| [&one.chart, &one.p_values]).flatten();
        claims.chain(self.figures.iter().filter_map(|one| one.chart.as_ref()))
    }

    /// Prepares what the study of `asked` shows for `files`. New series are added to `names`.
    pub fn of(asked: &'s Asked, files: &[Summarised], names: &mut Names) -> Self {
        let sources = Source::all(files);
        let study = &asked.study;
        let claims = study.hypotheses.iter().map(|claim| ShownClaim::of(claim, &sources, names));
        let claims = claims.collect();
        let figures = study.figures.iter().map(|figure| ShownFigure::of(figure, &sources, names));
        let figures = figures.collect();
        let pictures = study.pictures.iter().map(|picture| ShownPicture::of(picture, &sources));
        let pictures = pictures.collect();
        Self { claims, figures, pictures, tables: tables::all(study, &sources) }
    }
}

/// Returns the tables of `study` for `files`.
pub fn study_tables(study: &Study, files: &[Summarised]) -> Vec<ShownTable> {
    if study.tables.is_empty() {
        return Vec::new();
    }
    tables::all(study, &Source::all(files))
}

impl<'a> Source<'a> {
    /// Prepares all `files`.
    pub fn all(files: &'a [Summarised]) -> Vec<Self> {
        let several = files.len() > 1;
        let source = |(file, letter): (&'a Summarised, char)| Self {
            file,
            letter: several.then_some(letter),
            cells: Cells::of(&file.results),
        };
        files.iter().zip('A'..).map(source).collect()
    }

    /// Joins the letter and the non-empty parts of a heading.
    pub fn heading(&self, parts: &[&str]) -> String {
        let letter = self.letter.map(String::from);
        let parts = parts.iter().filter(|part| !part.is_empty()).map(|part| (*part).to_owned());
        letter.into_iter().chain(parts).collect::<Vec<_>>().join(" · ")
    }
}
