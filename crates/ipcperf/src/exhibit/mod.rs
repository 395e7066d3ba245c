//! What a study shows of results: its claims with what became of them, its figures, its tables.
//!
//! ```text
//! Study, [Summarised] -> Cells -> Exhibits (verdicts, Sketches, Grids) -> report, tables on a terminal
//! ```

mod asked;
mod claims;
mod figures;
mod machines;
mod measured;
mod p_values;
mod pictures;
mod tables;
#[cfg(test)]
pub(crate) mod tests;

pub(crate) use asked::{Asked, measured_for, other_version};
pub(crate) use claims::{Judgement, ShownClaim};
pub(crate) use figures::ShownFigure;
pub(crate) use p_values::title as p_values_title;
pub(crate) use pictures::ShownPicture;
pub(crate) use tables::ShownTable;

use crate::figure::{Chart, Names};
use crate::hypothesis::Cells;
use crate::study::Study;
use crate::summary::Summarised;

/// A results file as exhibits see it.
pub(crate) struct Source<'a> {
    pub(crate) file: &'a Summarised,
    /// By which it is called where there are several.
    pub(crate) letter: Option<char>,
    pub(crate) cells: Cells<'a>,
}

/// All that a study shows.
pub(crate) struct Exhibits<'s> {
    pub(crate) claims: Vec<ShownClaim<'s>>,
    pub(crate) figures: Vec<ShownFigure<'s>>,
    pub(crate) pictures: Vec<ShownPicture<'s>>,
    pub(crate) tables: Vec<ShownTable>,
}

impl<'s> Exhibits<'s> {
    /// All figures, in their order.
    pub(crate) fn charts(&self) -> impl Iterator<Item = &Chart> {
        let claims = self.claims.iter().flat_map(|one| [&one.chart, &one.p_values]).flatten();
        claims.chain(self.figures.iter().filter_map(|one| one.chart.as_ref()))
    }

    /// What `asked` shows of `files`; new series are added to `names`.
    pub(crate) fn of(asked: &'s Asked, files: &[Summarised], names: &mut Names) -> Self {
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
pub(crate) fn study_tables(study: &Study, files: &[Summarised]) -> Vec<ShownTable> {
    if study.tables.is_empty() {
        return Vec::new();
    }
    tables::all(study, &Source::all(files))
}

impl<'a> Source<'a> {
    /// Those of `files`.
    pub(crate) fn all(files: &'a [Summarised]) -> Vec<Self> {
        let several = files.len() > 1;
        let source = |(file, letter): (&'a Summarised, char)| Self {
            file,
            letter: several.then_some(letter),
            cells: Cells::of(&file.results),
        };
        files.iter().zip('A'..).map(source).collect()
    }

    /// The parts of a heading that are not empty, after its letter.
    pub(crate) fn heading(&self, parts: &[&str]) -> String {
        let letter = self.letter.map(String::from);
        let parts = parts.iter().filter(|part| !part.is_empty()).map(|part| (*part).to_owned());
        letter.into_iter().chain(parts).collect::<Vec<_>>().join(" · ")
    }
}
