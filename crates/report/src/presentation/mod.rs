//! What a study shows of results: its claims with what became of them, its figures, its tables.
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

use crate::figure::{Chart, Names};
use ipcperf_results::analysis::Summarised;
use ipcperf_study::Study;
use ipcperf_study::hypothesis::Cells;

/// A results file as exhibits see it.
pub struct Source<'a> {
    /// The file.
    pub file: &'a Summarised,
    /// By which it is called where there are several.
    pub letter: Option<char>,
    /// Its cells, by their levels.
    pub cells: Cells<'a>,
}

/// All that a study shows.
pub struct Exhibits<'s> {
    /// Claims with their verdicts.
    pub claims: Vec<ShownClaim<'s>>,
    /// Figures.
    pub figures: Vec<ShownFigure<'s>>,
    /// Figures of instruments.
    pub pictures: Vec<ShownPicture<'s>>,
    /// Tables.
    pub tables: Vec<ShownTable>,
}

impl<'s> Exhibits<'s> {
    /// All figures, in their order.
    pub fn charts(&self) -> impl Iterator<Item = &Chart> {
        let claims = self.claims.iter().flat_map(|one| [&one.chart, &one.p_values]).flatten();
        claims.chain(self.figures.iter().filter_map(|one| one.chart.as_ref()))
    }

    /// What `asked` shows of `files`; new series are added to `names`.
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

/// The tables that `study` shows of `files`.
pub fn study_tables(study: &Study, files: &[Summarised]) -> Vec<ShownTable> {
    if study.tables.is_empty() {
        return Vec::new();
    }
    tables::all(study, &Source::all(files))
}

impl<'a> Source<'a> {
    /// Those of `files`.
    pub fn all(files: &'a [Summarised]) -> Vec<Self> {
        let several = files.len() > 1;
        let source = |(file, letter): (&'a Summarised, char)| Self {
            file,
            letter: several.then_some(letter),
            cells: Cells::of(&file.results),
        };
        files.iter().zip('A'..).map(source).collect()
    }

    /// The parts of a heading that are not empty, after its letter.
    pub fn heading(&self, parts: &[&str]) -> String {
        let letter = self.letter.map(String::from);
        let parts = parts.iter().filter(|part| !part.is_empty()).map(|part| (*part).to_owned());
        letter.into_iter().chain(parts).collect::<Vec<_>>().join(" · ")
    }
}
