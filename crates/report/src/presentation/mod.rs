//! Presentation of results: the claims of a study with verdicts, its figures and its tables; and the table of a survey.
//!
//! ```text
//! Study, [AnalyzedFile] -> Cells -> Presentation (verdicts, Charts, ShownTables) -> report, tables on a terminal
//! [CaseSummary] -> SurveyTable, TextTable -> report, terminal
//! ```

mod claims;
mod figures;
mod file_verdict;
mod instrument_figures;
mod knee_table;
mod machines;
mod p_values;
mod paced_table;
mod peers_table;
mod plot_data;
mod scatter;
mod shown_table;
mod study_context;
mod study_tables;
mod survey_columns;
mod survey_table;
#[cfg(test)]
pub mod tests;
mod text_table;
mod wait_table;

pub use claims::ShownClaim;
pub use figures::ShownFigure;
pub use file_verdict::FileVerdict;
pub use instrument_figures::ShownInstrumentFigure;
pub use knee_table::{KNEE_LEGEND, knee_tables};
pub use p_values::title as p_values_title;
pub use paced_table::{PACED_LEGEND, paced_tables};
pub use peers_table::{PEERS_LEGEND, peers_tables};
pub use scatter::MAX_RELATIVE_IQR;
pub use shown_table::ShownTable;
pub use study_context::{StudyContext, stored_study, version_warning};
pub use survey_columns::{Caution, Importance, SurveyCell, SurveyColumn};
pub use survey_table::SurveyTable;
pub use text_table::TextTable;
pub use wait_table::{WAIT_LEGEND, wait_tables};

use ipcperf_results::analysis::AnalyzedFile;
use ipcperf_study::Study;
use ipcperf_study::hypothesis::{Cells, judge};

use crate::figure::{Chart, SeriesNames};

/// A results file, prepared for presentation.
pub struct Source<'a> {
    /// The file.
    pub file: &'a AnalyzedFile,
    /// Letter of the file, if there are several.
    pub letter: Option<char>,
    /// Its cells.
    pub cells: Cells<'a>,
}

/// Everything that a study shows.
pub struct Presentation<'s> {
    /// Claims with their verdicts.
    pub claims: Vec<ShownClaim<'s>>,
    /// Figures.
    pub figures: Vec<ShownFigure<'s>>,
    /// Instrument figures.
    pub instrument_figures: Vec<ShownInstrumentFigure<'s>>,
    /// Tables.
    pub tables: Vec<ShownTable>,
}

impl<'s> Presentation<'s> {
    /// Returns all figures in order.
    pub fn charts(&self) -> impl Iterator<Item = &Chart> {
        let claims = self.claims.iter().flat_map(|one| [&one.chart, &one.p_values]).flatten();
        claims.chain(self.figures.iter().filter_map(|one| one.chart.as_ref()))
    }

    /// Prepares what the study of `context` shows for `files`. New series are added to `names`.
    pub fn new(context: &'s StudyContext, files: &[AnalyzedFile], names: &mut SeriesNames) -> Self {
        let sources = Source::from_files(files);
        let study = &context.study;
        // By file, then by claim: a file is judged as a whole, because it may have to be judged look by look.
        let judged: Vec<_> =
            sources.iter().map(|source| judge(study, &source.file.results)).collect();
        let claims = study.hypotheses.iter().enumerate().map(|(number, claim)| {
            let of_claim = judged.iter().map(|of_file| of_file[number].clone());
            ShownClaim::new(claim, of_claim, &sources, names)
        });
        let claims = claims.collect();
        let figures = study.figures.iter().map(|figure| ShownFigure::new(figure, &sources, names));
        let figures = figures.collect();
        let pictures = study
            .instrument_figures
            .iter()
            .map(|picture| ShownInstrumentFigure::new(picture, &sources));
        let pictures = pictures.collect();
        Self {
            claims,
            figures,
            instrument_figures: pictures,
            tables: study_tables::present_all(study, &sources),
        }
    }
}

/// Returns the tables of `study` for `files`.
pub fn study_tables(study: &Study, files: &[AnalyzedFile]) -> Vec<ShownTable> {
    if study.tables.is_empty() {
        return Vec::new();
    }
    study_tables::present_all(study, &Source::from_files(files))
}

impl<'a> Source<'a> {
    /// Prepares all `files`.
    pub fn from_files(files: &'a [AnalyzedFile]) -> Vec<Self> {
        let several = files.len() > 1;
        let source = |(file, letter): (&'a AnalyzedFile, char)| Self {
            file,
            letter: several.then_some(letter),
            cells: Cells::from_results(&file.results),
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
