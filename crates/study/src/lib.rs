//! A study: what is asked, what is measured to answer it, and what is claimed beforehand. A file and no code.
//!
//! ```text
//! text -> document (TOML with places) -> values (held against keys) -> Study, or Mistakes
//!                                                                        |
//!                                                        requests -> Plan -> ... -> verdicts
//! ```

mod better;
mod bundled;
mod display_schema;
mod document;
mod error;
mod exhibit;
mod exhibit_table;
#[cfg(test)]
mod fuzz;
pub mod hypothesis;
mod key;
mod known_levels;
mod length;
mod matrix;
mod metric;
mod mistake;
mod new;
mod observation_metric;
mod schema;
mod section;
mod sections;
mod selection;
mod unknown_key;
mod validate;
mod values;

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::string::FromUtf8Error;

use ipcperf_plan::Topology;
use sha2::{Digest, Sha256};

pub use better::Better;
pub use bundled::{STUDIES, known};
pub use document::{Entry, Table};
pub use error::Error;
pub use exhibit::{StudyFigure, StudyPicture};
pub use exhibit_table::{Beside, Columned, Rowed, StudyTable};
pub use key::{Key, Need, Takes};
pub use known_levels::KnownLevels;
pub use length::Length;
pub use matrix::Matrix;
pub use metric::METRICS;
pub use metric::Metric;
pub use mistake::{Mistake, Mistakes};
pub use new::scaffold;
pub use schema::schema;
pub use sections::{BESIDE, STATISTICS};
pub use selection::FACTORS;
pub use selection::{Levels, Selection, canonical};
pub use values::Values;

use display_schema::{FIGURE, PICTURE, TABLE};
use document::Document;
use ipcperf_plan::{MOST_CELLS, Plan};
use ipcperf_results::Origin;
use section::{Repeats, Section};
use sections::{HYPOTHESIS, MATRIX, SAMPLING, SECTIONS, TOP};

/// More matrices, or hypotheses, than this are a slip, not a study.
const MOST_TABLES: usize = 200;

/// A study.
#[derive(Clone, Debug)]
pub struct Study {
    /// Its name, as commands take it.
    pub name: String,
    /// Its title, a line.
    pub title: String,
    /// The question that it answers.
    pub question: String,
    /// What all keys at the top of its file were given.
    pub top: Values,
    /// Its cases, matrix by matrix.
    pub matrices: Vec<Matrix>,
    /// Its hypotheses, in the order of the file.
    pub hypotheses: Vec<hypothesis::Claim>,
    /// Its figures, in the order of the file.
    pub figures: Vec<StudyFigure>,
    /// Its pictures, in the order of the file.
    pub pictures: Vec<StudyPicture>,
    /// Its tables, in the order of the file.
    pub tables: Vec<StudyTable>,
    sampling: Values,
    /// The hypotheses that it was narrowed down to; none where it is whole.
    pub only: Vec<String>,
    /// The file, to the letter.
    pub text: String,
    /// SHA-256 of it, as `sha256sum` prints it.
    pub hash: String,
    /// Whose the file is.
    pub origin: Origin,
}

impl Study {
    /// Reads a study from the text of its file.
    ///
    /// # Errors
    /// Every mistake that is in it, by line.
    pub fn read(text: &str) -> Result<Self, Vec<Mistake>> {
        let mut mistakes = Mistakes::default();
        let study = Self::from(text, &mut mistakes);
        match study {
            Some(study) if mistakes.is_empty() => Ok(study),
            _ => Err(mistakes.sorted()),
        }
    }

    fn from(text: &str, mistakes: &mut Mistakes) -> Option<Self> {
        if let Some((what, remedy)) = foreign(text) {
            mistakes.add((1, "TOML"), what, remedy);
            return None;
        }
        let document = Document::parse(text, &SECTIONS, mistakes);
        if !mistakes.is_empty() {
            return None;
        }
        let mut parts = Parts::default();
        let top = Values::read((document.root(), ""), &[TOP.keys], mistakes, |entry, mistakes| {
            parts.take(entry, mistakes)
        });
        parts.check(mistakes);
        Some(Self {
            name: top.text("name")?.to_owned(),
            title: top.text("title")?.to_owned(),
            question: top.text("question")?.to_owned(),
            top,
            matrices: parts.matrices,
            hypotheses: parts.hypotheses,
            figures: parts.figures,
            pictures: parts.pictures,
            tables: parts.tables,
            sampling: parts.sampling,
            only: Vec::new(),
            text: text.to_owned(),
            hash: hash(text),
            origin: Origin::Own,
        })
    }

    /// The study that is called `name`, or that stands in the file of that path.
    ///
    /// # Errors
    /// That there is none, that it cannot be read, or its mistakes.
    pub fn find(name: &str) -> Result<Self, Error> {
        let wrong = |path: PathBuf| move |mistakes| Error::WrongStudy { path, mistakes };
        if let Some(text) = known(name) {
            return Self::read(text).map_err(wrong(PathBuf::from(name)));
        }
        let path = Path::new(name);
        let (bytes, origin) = read_file(path, name)?;
        let study = String::from_utf8(bytes).map_err(|error| not_text(&error));
        let study = study.and_then(|text| Self::read(&text)).map_err(wrong(path.to_owned()))?;
        Ok(Self { origin, ..study })
    }

    /// The custom mechanisms that its matrices name, by their whole paths.
    pub fn custom_mechanisms(&self) -> BTreeSet<String> {
        self.matrices.iter().flat_map(Matrix::custom_mechanisms).collect()
    }

    /// What is to be run of it on this machine. The files of custom mechanisms are asked what they are.
    ///
    /// # Errors
    /// As [`Plan::resolve_all`] has them.
    pub fn plan(&self, length: Length, topology: &Topology) -> Result<Plan, Error> {
        let requests = self
            .matrices
            .iter()
            .map(|matrix| Ok((matrix.name.clone(), matrix.request(&self.sampling, length)?)));
        Ok(Plan::resolve_all(&requests.collect::<Result<Vec<_>, Error>>()?, topology)?)
    }

    /// The study with only those hypotheses, and the matrices that they are about.
    ///
    /// # Errors
    /// Usage where there is no such hypothesis.
    pub fn only(mut self, ids: &[String]) -> Result<Self, Error> {
        if ids.is_empty() {
            return Ok(self);
        }
        for id in ids {
            if !self.hypotheses.iter().any(|claim| claim.id == *id) {
                let names = self.hypotheses.iter().map(|claim| claim.id.as_str());
                return Err(ipcperf_plan::unknown("hypothesis", id, names).into());
            }
        }
        self.only = ids.to_vec();
        self.hypotheses.retain(|claim| ids.contains(&claim.id));
        let claims = &self.hypotheses;
        self.matrices.retain(|matrix| claims.iter().any(|claim| claim.is_about(&matrix.name)));
        Ok(self)
    }
}

/// The tables of a study's file, in the order in which they are explained.
pub fn sections() -> impl Iterator<Item = &'static Section> {
    SECTIONS.into_iter()
}

fn hash(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The bytes of a file, or so many that it is too long for a study, and whose it is.
fn read_file(path: &Path, name: &str) -> Result<(Vec<u8>, Origin), Error> {
    let is_missing = |error: &std::io::Error| error.kind() == std::io::ErrorKind::NotFound;
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| {
        let origin = Origin::of(&file)?;
        file.take(document::LONGEST as u64 + 1).read_to_end(&mut bytes)?;
        Ok(origin)
    });
    match read {
        Ok(origin) => Ok((bytes, origin)),
        Err(error) if is_missing(&error) && !name.contains(['/', '.']) => {
            Err(ipcperf_plan::unknown("study", name, STUDIES.iter().map(|(name, _)| *name)).into())
        }
        Err(source) => Err(Error::Unreadable { path: path.to_owned(), source }),
    }
}

/// What is wrong with a file that nobody wrote, and what to do.
const TOO_LONG: (&str, &str) =
    ("the file is longer than a study can be, 1 MiB", "name a study's file");

/// Why `text` is no study at all, and what to do.
fn foreign(text: &str) -> Option<(&'static str, &'static str)> {
    let empty = "write one with: ipcperf study new FILE";
    if text.len() > document::LONGEST {
        return Some(TOO_LONG);
    }
    match text.trim_start().chars().next() {
        None => Some(("the file is empty", empty)),
        Some('{') => Some((
            "these are results or other JSON, no study",
            "name a study's file; results are judged by ipcperf study judge",
        )),
        Some(_) => None,
    }
}

/// Where a file ceases to be text.
fn not_text(error: &FromUtf8Error) -> Vec<Mistake> {
    let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
    let line = good.iter().filter(|&&byte| byte == b'\n').count() + 1;
    let mut mistakes = Mistakes::default();
    if error.as_bytes().len() > document::LONGEST {
        mistakes.add((1, "TOML"), TOO_LONG.0, TOO_LONG.1);
    } else {
        mistakes.add((line, "TOML"), "these bytes are no UTF-8", "save the file as UTF-8");
    }
    mistakes.sorted()
}

/// What the sections of a file come to.
#[derive(Default)]
struct Parts {
    sampling: Values,
    matrices: Vec<Matrix>,
    hypotheses: Vec<hypothesis::Claim>,
    figures: Vec<StudyFigure>,
    pictures: Vec<StudyPicture>,
    tables: Vec<StudyTable>,
}

impl Parts {
    /// Takes the section that `entry` is, if it is one.
    fn take(&mut self, entry: &Entry<'_, '_>, mistakes: &mut Mistakes) -> bool {
        let known = || SECTIONS.iter().map(|section| section.name).filter(|name| !name.is_empty());
        let section = SECTIONS.into_iter().filter(|section| !section.name.is_empty());
        let Some(section) = section.into_iter().find(|section| section.name == entry.name) else {
            let is_section = entry.table().is_some() || entry.is_list();
            if is_section {
                unknown_key::unknown_key(entry, known(), mistakes);
            }
            return is_section;
        };
        if !is_written_as(section, entry, mistakes) {
            return true;
        }
        for (number, item) in (1..).zip(entry.items()) {
            let Some(table) = item.table() else {
                let what = format!("it cannot be {}", item.kind());
                mistakes.add(item.place(), what, format!("write {}", section.heading()));
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
            self.figures.extend(StudyFigure::of(values));
        } else if section == PICTURE.name {
            let values = Values::read(table, &[PICTURE.keys], mistakes, |_, _| false);
            self.pictures.extend(StudyPicture::of(values, mistakes));
        } else if section == TABLE.name {
            let values = Values::read(table, &[TABLE.keys], mistakes, |_, _| false);
            self.tables.extend(StudyTable::of(values, mistakes));
        } else {
            self.hypotheses.extend(hypothesis::Claim::read(table, HYPOTHESIS.keys, mistakes));
        }
    }

    /// What no section shows alone.
    fn check(&self, mistakes: &mut Mistakes) {
        if self.matrices.is_empty() && !mistakes.any_of(MATRIX.name) {
            let remedy = "add a [[matrix]] with mechanism and buffer";
            mistakes.add((1, "matrix"), "nothing is measured", remedy);
        }
        validate::check_sampling(&self.sampling, mistakes);
        for matrix in &self.matrices {
            matrix.check(mistakes);
        }
        self.check_size(mistakes);
        twice(self.matrices.iter().map(|one| (one.name.as_str(), one.line())), "matrix", mistakes);
        let claims = self.hypotheses.iter().map(|one| (one.id.as_str(), one.line()));
        twice(claims, "hypothesis", mistakes);
        let figures = self.figures.iter().map(|one| (one.number(), one.line()));
        let figures = figures.chain(self.pictures.iter().map(|one| (one.number(), one.line())));
        twice(figures, "figure", mistakes);
        let tables = self.tables.iter().map(|one| (one.number(), one.line()));
        twice(tables, "table", mistakes);
        // Levels of a matrix with a slip in it would be told as missing where they are right.
        if !mistakes.any_of(MATRIX.name) {
            self.check_cases(mistakes);
        }
    }

    /// Tells where the matrices have too many cells together; one alone is told as that.
    fn check_size(&self, mistakes: &mut Mistakes) {
        let cells = self.matrices.iter().map(Matrix::cells).fold(0, usize::saturating_add);
        if cells > MOST_CELLS && !mistakes.any_of(MATRIX.name) {
            let what = format!("all have {cells} cells; {MOST_CELLS} are the most");
            let line = self.matrices.first().map_or(1, Matrix::line);
            mistakes.add((line, MATRIX.name), what, "write several studies");
        }
    }

    /// What claims, figures and tables say of matrices.
    fn check_cases(&self, mistakes: &mut Mistakes) {
        let known = KnownLevels::of(&self.matrices);
        for claim in &self.hypotheses {
            claim.check(&known, mistakes);
            validate::check(claim, &known, mistakes);
        }
        for figure in &self.figures {
            figure.check(&known, mistakes);
        }
        for picture in &self.pictures {
            picture.check(&known, mistakes);
        }
        for table in &self.tables {
            table.check(&known, mistakes);
        }
    }
}

/// Whether a section is written in one pair of brackets where there is one of it, and in two where there may
/// be several, but not too many.
fn is_written_as(section: &Section, entry: &Entry<'_, '_>, mistakes: &mut Mistakes) -> bool {
    let heading = section.heading();
    let count = entry.items().len();
    let what = match (section.repeats, entry.is_list()) {
        (Repeats::Often, true) if count > MOST_TABLES => {
            let remedy = "write several studies";
            mistakes.add(
                entry.place(),
                format!("there are {count}; {MOST_TABLES} are the most"),
                remedy,
            );
            return false;
        }
        (Repeats::Often, true) | (Repeats::Once, false) => return true,
        (Repeats::Often, false) if entry.table().is_some() => {
            "there may be several of it".to_owned()
        }
        (Repeats::Once, true) => "there is one of it".to_owned(),
        (Repeats::Often, false) => format!("it cannot be {}", entry.kind()),
    };
    mistakes.add(entry.place(), what, format!("write {heading}"));
    false
}

/// Tells names that two have.
fn twice<'a>(
    names: impl Iterator<Item = (&'a str, usize)>,
    section: &str,
    mistakes: &mut Mistakes,
) {
    let mut seen: Vec<&str> = Vec::new();
    for (name, line) in names {
        if seen.contains(&name) {
            let what = format!("another {section} is called `{name}`");
            mistakes.add((line, section), what, "give each a name of its own");
        }
        seen.push(name);
    }
}
