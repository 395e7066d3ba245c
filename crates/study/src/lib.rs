//! Studies: declarative files that state a question, the measurements that answer it and the hypotheses made
//! beforehand. A study contains no code.
//!
//! ```text
//! text -> document (TOML with places) -> values (checked against keys) -> Study, or Mistakes
//!                                                                           |
//!                                                           requests -> Plan -> ... -> verdicts
//! ```

mod better;
mod bundled;
mod display;
mod display_sections;
mod display_table;
mod document;
mod error;
mod file;
#[cfg(test)]
mod fuzz;
pub mod hypothesis;
mod key;
mod known_levels;
mod length;
mod matrix;
mod metric;
mod mistake;
mod observation_metric;
mod scaffold;
mod schema;
mod section;
mod section_keys;
mod selection;
mod unknown_key;
mod validate;
mod values;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use ipcperf_plan::Topology;

pub use better::Better;
pub use bundled::STUDIES;
pub use display::{InstrumentFigure, StudyFigure};
pub use display_table::{ColumnContent, RowContent, SpreadKind, StudyTable};
pub use document::{Entry, Table};
pub use error::Error;
pub use key::{Key, Requirement, ValueType};
pub use known_levels::KnownLevels;
pub use length::Length;
pub use matrix::Matrix;
pub use metric::{METRICS, Metric};
pub use mistake::{Mistake, Mistakes};
pub use scaffold::scaffold;
pub use schema::schema;
pub use section_keys::ORIGINAL_TEST_KEYS;
pub use selection::{FACTORS, Levels, Selection, is_size};
pub use values::Values;

pub(crate) use section_keys::STATISTICS;
pub(crate) use selection::canonical;

use bundled::find_bundled;
use display_sections::{FIGURE, INSTRUMENT_FIGURE, TABLE};
use document::Document;
use file::{detect_non_study, read_file, utf8_mistakes};
use hypothesis::ClaimTable;
use ipcperf_plan::{MAX_CELLS, Plan};
use ipcperf_results::Origin;
use section::{Occurrence, Section};
use section_keys::{MATRIX, SAMPLING, SECTIONS, TOP};

/// Maximum number of sections of one kind, such as matrices or hypotheses. More are taken for an error.
const MAX_TABLES: usize = 200;

/// A study.
#[derive(Clone, Debug)]
pub struct Study {
    /// Name, as used on the command line.
    pub name: String,
    /// Title, one line.
    pub title: String,
    /// The question that it answers.
    pub question: String,
    /// Values of all keys at the top of the file.
    pub top: Values,
    /// Matrices of cases, in file order.
    pub matrices: Vec<Matrix>,
    /// Hypotheses, in file order.
    pub hypotheses: Vec<hypothesis::Claim>,
    /// Figures, in file order.
    pub figures: Vec<StudyFigure>,
    /// Instrument figures, in file order.
    pub instrument_figures: Vec<InstrumentFigure>,
    /// Tables, in file order.
    pub tables: Vec<StudyTable>,
    sampling: Values,
    /// Ids of the hypotheses that the study was narrowed down to. Empty if it is whole.
    pub only: Vec<String>,
    /// Verbatim text of the file.
    pub text: String,
    /// SHA-256 of the text, as `sha256sum` prints it.
    pub hash: String,
    /// Origin of the file: whether others than the user own it or may write to it.
    pub origin: Origin,
}

impl Study {
    /// Parses the text of a study file.
    ///
    /// # Errors
    /// Returns every mistake in the text, sorted by line.
    pub fn parse(text: &str) -> Result<Self, Vec<Mistake>> {
        let mut mistakes = Mistakes::default();
        let study = Self::parse_with(text, &mut mistakes);
        match study {
            Some(study) if mistakes.is_empty() => Ok(study),
            _ => Err(mistakes.into_sorted()),
        }
    }

    fn parse_with(text: &str, mistakes: &mut Mistakes) -> Option<Self> {
        if let Some((what, remedy)) = detect_non_study(text) {
            mistakes.add((1, "TOML"), what, remedy);
            return None;
        }
        let document = Document::parse(text, &SECTIONS, mistakes);
        if !mistakes.is_empty() {
            return None;
        }
        let mut parts = ParsedSections::default();
        let top = Values::read((document.root(), ""), &[TOP.keys], mistakes, |entry, mistakes| {
            parts.read_section(entry, mistakes)
        });
        parts.check(mistakes);
        let hypotheses = parts.hypotheses.iter();
        let hypotheses =
            hypotheses.filter_map(|table| hypothesis::Claim::parse(table, mistakes)).collect();
        Some(Self {
            name: top.text("name")?.to_owned(),
            title: top.text("title")?.to_owned(),
            question: top.text("question")?.to_owned(),
            top,
            matrices: parts.matrices,
            hypotheses,
            figures: parts.figures,
            instrument_figures: parts.instrument_figures,
            tables: parts.tables,
            sampling: parts.sampling,
            only: Vec::new(),
            text: text.to_owned(),
            hash: hash(text),
            origin: Origin::Trusted,
        })
    }

    /// Finds a study by the name of a bundled one or by the path of a file.
    ///
    /// # Errors
    /// Fails if the study does not exist, cannot be read or contains mistakes.
    pub fn find(name: &str) -> Result<Self, Error> {
        let wrong = |path: PathBuf| move |mistakes| Error::InvalidStudy { path, mistakes };
        if let Some(text) = find_bundled(name) {
            return Self::parse(text).map_err(wrong(PathBuf::from(name)));
        }
        let path = Path::new(name);
        let (bytes, origin) = read_file(path, name)?;
        let study = String::from_utf8(bytes).map_err(|error| utf8_mistakes(&error));
        let study = study.and_then(|text| Self::parse(&text)).map_err(wrong(path.to_owned()))?;
        Ok(Self { origin, ..study })
    }

    /// Returns the custom mechanisms that its matrices name, with absolute paths, and the commands in front of programs.
    pub fn custom_programs(&self) -> BTreeSet<String> {
        self.matrices.iter().flat_map(Matrix::custom_programs).collect()
    }

    /// Plans the runs of the study on this machine. Loads or executes the files of custom mechanisms to query their
    /// properties.
    ///
    /// # Errors
    /// Fails as [`Plan::resolve_all`] does.
    pub fn plan(&self, length: Length, topology: &Topology) -> Result<Plan, Error> {
        let requests = self
            .matrices
            .iter()
            .map(|matrix| Ok((matrix.name.clone(), matrix.request(&self.sampling, length)?)));
        Ok(Plan::resolve_all(&requests.collect::<Result<Vec<_>, Error>>()?, topology)?)
    }

    /// Narrows the study down to the hypotheses `ids` and the matrices that they use.
    ///
    /// # Errors
    /// Fails with a usage error if an id is unknown.
    pub fn with_only(mut self, ids: &[String]) -> Result<Self, Error> {
        if ids.is_empty() {
            return Ok(self);
        }
        for id in ids {
            if !self.hypotheses.iter().any(|claim| claim.id == *id) {
                let names = self.hypotheses.iter().map(|claim| claim.id.as_str());
                return Err(ipcperf_plan::unknown_word_error("hypothesis", id, names).into());
            }
        }
        self.only = ids.to_vec();
        self.hypotheses.retain(|claim| ids.contains(&claim.id));
        let claims = &self.hypotheses;
        self.matrices.retain(|matrix| claims.iter().any(|claim| claim.is_about(&matrix.name)));
        Ok(self)
    }
}

/// Returns the sections of a study file in the order of the documentation.
pub fn sections() -> impl Iterator<Item = &'static Section> {
    SECTIONS.into_iter()
}

fn hash(text: &str) -> String {
    hmac_sha256::Hash::hash(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The sections read from a file.
#[derive(Default)]
struct ParsedSections {
    sampling: Values,
    matrices: Vec<Matrix>,
    hypotheses: Vec<ClaimTable>,
    figures: Vec<StudyFigure>,
    instrument_figures: Vec<InstrumentFigure>,
    tables: Vec<StudyTable>,
}

impl ParsedSections {
    /// Reads the section `entry`. Returns `false` if it is not a section.
    fn read_section(&mut self, entry: &Entry<'_, '_>, mistakes: &mut Mistakes) -> bool {
        let known = || SECTIONS.iter().map(|section| section.name).filter(|name| !name.is_empty());
        let section = SECTIONS.into_iter().filter(|section| !section.name.is_empty());
        let Some(section) = section.into_iter().find(|section| section.name == entry.name) else {
            let is_section = entry.table().is_some() || entry.is_list();
            if is_section {
                unknown_key::unknown_key(entry, known(), mistakes);
            }
            return is_section;
        };
        if !check_form(section, entry, mistakes) {
            return true;
        }
        for (number, item) in (1..).zip(entry.items()) {
            let Some(table) = item.table() else {
                let what = format!("must not be {}", item.kind());
                mistakes.add(item.location(), what, format!("write {}", section.heading()));
                continue;
            };
            self.add(entry.name, (table, &item.path), number, mistakes);
        }
        true
    }

    fn add(
        &mut self,
        section: &str,
        table: (Table<'_, '_>, &str),
        number: usize,
        mistakes: &mut Mistakes,
    ) {
        if section == SAMPLING.name {
            self.sampling = Values::read(table, &[SAMPLING.keys], mistakes, |_, _| false);
        } else if section == MATRIX.name {
            let mut options = Vec::new();
            let values = Values::read(table, &[MATRIX.keys], mistakes, |entry, mistakes| {
                Matrix::options(entry, &mut options, mistakes)
            });
            self.matrices.push(Matrix::new(values, options, number));
        } else if section == FIGURE.name {
            let values = Values::read(table, &[FIGURE.keys], mistakes, |_, _| false);
            self.figures.extend(StudyFigure::from_values(values));
        } else if section == INSTRUMENT_FIGURE.name {
            let values = Values::read(table, &[INSTRUMENT_FIGURE.keys], mistakes, |_, _| false);
            self.instrument_figures.extend(InstrumentFigure::from_values(values, mistakes));
        } else if section == TABLE.name {
            let values = Values::read(table, &[TABLE.keys], mistakes, |_, _| false);
            self.tables.extend(StudyTable::from_values(values, mistakes));
        } else {
            self.hypotheses.extend(ClaimTable::read(table, mistakes));
        }
    }

    /// Checks consistency across sections.
    fn check(&self, mistakes: &mut Mistakes) {
        if self.matrices.is_empty() && !mistakes.has_in(MATRIX.name) {
            let remedy = "add a [[matrix]] with mechanism and buffer";
            mistakes.add((1, "matrix"), "the study has no matrix, so nothing is measured", remedy);
        }
        validate::check_sampling(&self.sampling, mistakes);
        for matrix in &self.matrices {
            matrix.check(mistakes);
        }
        self.check_size(mistakes);
        check_unique(
            self.matrices.iter().map(|one| (one.name.as_str(), one.line())),
            "matrix",
            mistakes,
        );
        let claims = self.hypotheses.iter().map(|one| (one.id.as_str(), one.line()));
        check_unique(claims, "hypothesis", mistakes);
        let figures = self.figures.iter().map(|one| (one.number(), one.line()));
        let figures =
            figures.chain(self.instrument_figures.iter().map(|one| (one.number(), one.line())));
        check_unique(figures, "figure", mistakes);
        let tables = self.tables.iter().map(|one| (one.number(), one.line()));
        check_unique(tables, "table", mistakes);
        // Levels of a matrix that contains a mistake may be incomplete, so valid references would be reported as
        // unknown.
        if !mistakes.has_in(MATRIX.name) {
            self.check_cases(mistakes);
        }
    }

    /// Reports that the matrices together have too many cells. A single matrix that is too large is already reported.
    fn check_size(&self, mistakes: &mut Mistakes) {
        let cells = self.matrices.iter().map(Matrix::cells).fold(0, usize::saturating_add);
        if cells > MAX_CELLS && !mistakes.has_in(MATRIX.name) {
            let what =
                format!("all matrices together have {cells} cells; the maximum is {MAX_CELLS}");
            let line = self.matrices.first().map_or(1, Matrix::line);
            mistakes.add((line, MATRIX.name), what, "split the study");
        }
    }

    /// Checks the levels and metrics that claims, figures and tables refer to against the matrices.
    fn check_cases(&self, mistakes: &mut Mistakes) {
        let known = KnownLevels::from_matrices(&self.matrices);
        for claim in &self.hypotheses {
            claim.check(&known, mistakes);
            validate::check(claim, &known, mistakes);
        }
        for figure in &self.figures {
            figure.check(&known, mistakes);
        }
        for figure in &self.instrument_figures {
            figure.check(&known, mistakes);
        }
        for table in &self.tables {
            table.check(&known, mistakes);
        }
    }
}

/// Whether a section has the right form: `[name]` if it occurs once, and `[[name]]`, at most [`MAX_TABLES`] times, if
/// it may occur more often. Reports a mistake if not.
fn check_form(section: &Section, entry: &Entry<'_, '_>, mistakes: &mut Mistakes) -> bool {
    let heading = section.heading();
    let count = entry.items().len();
    let what = match (section.occurrence, entry.is_list()) {
        (Occurrence::Many, true) if count > MAX_TABLES => {
            let remedy = "split the study";
            mistakes.add(
                entry.location(),
                format!("there are {count} {heading} sections; the maximum is {MAX_TABLES}"),
                remedy,
            );
            return false;
        }
        (Occurrence::Many, true) | (Occurrence::Once, false) => return true,
        (Occurrence::Many, false) if entry.table().is_some() => {
            "the section can occur several times".to_owned()
        }
        (Occurrence::Once, true) => "the section can occur only once".to_owned(),
        (Occurrence::Many, false) => format!("must not be {}", entry.kind()),
    };
    mistakes.add(entry.location(), what, format!("write {heading}"));
    false
}

/// Reports names that are used more than once.
fn check_unique<'a>(
    names: impl Iterator<Item = (&'a str, usize)>,
    section: &str,
    mistakes: &mut Mistakes,
) {
    let mut seen: Vec<&str> = Vec::new();
    for (name, line) in names {
        if seen.contains(&name) {
            let what = format!("another {section} has the name `{name}`");
            mistakes.add((line, section), what, "use unique names");
        }
        seen.push(name);
    }
}
