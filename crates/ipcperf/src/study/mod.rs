//! A study: what is asked, what is measured to answer it, and what is claimed beforehand. A file and no code.
//!
//! ```text
//! text -> document (TOML with places) -> values (held against keys) -> Study, or Mistakes
//!                                                                        |
//!                                                        requests -> Plan -> ... -> verdicts
//! ```

mod document;
mod exhibit;
mod key;
mod known;
mod matrix;
mod metric;
mod mistake;
mod new;
mod schema;
mod sections;
mod selection;
mod values;

use std::path::{Path, PathBuf};

use ipcperf_engine::placement::Topology;
use sha2::{Digest, Sha256};

pub(crate) use document::{Entry, Table};
pub(crate) use exhibit::{Columned, StudyFigure, StudyTable};
pub(crate) use key::{Key, Need, Takes};
pub(crate) use known::{STUDIES, known};
pub(crate) use matrix::{Length, Matrix};
pub(crate) use metric::{Better, Metric};
pub(crate) use mistake::{Mistake, Mistakes};
pub(crate) use new::scaffold;
#[cfg(test)]
pub(crate) use schema::schema;
pub(crate) use sections::STATISTICS;
pub(crate) use selection::{Levels, Selection};
pub(crate) use values::Values;

use crate::error::Error;
use crate::hypothesis;
use crate::plan::{Plan, nearest};
use document::Document;
use sections::{FIGURE, HYPOTHESIS, MATRIX, SAMPLING, TABLE, TOP};

/// A study.
#[derive(Clone, Debug)]
pub(crate) struct Study {
    pub(crate) name: String,
    pub(crate) title: String,
    pub(crate) question: String,
    pub(crate) source: Option<String>,
    pub(crate) matrices: Vec<Matrix>,
    pub(crate) hypotheses: Vec<hypothesis::Claim>,
    pub(crate) figures: Vec<StudyFigure>,
    pub(crate) tables: Vec<StudyTable>,
    sampling: Values,
    /// The file, to the letter.
    pub(crate) text: String,
    /// SHA-256 of it, as `sha256sum` prints it.
    pub(crate) hash: String,
}

impl Study {
    /// Reads a study from the text of its file.
    ///
    /// # Errors
    /// Every mistake that is in it, by line.
    pub(crate) fn read(text: &str) -> Result<Self, Vec<Mistake>> {
        let mut mistakes = Mistakes::default();
        let study = Self::from(text, &mut mistakes);
        match study {
            Some(study) if mistakes.is_empty() => Ok(study),
            _ => Err(mistakes.sorted()),
        }
    }

    fn from(text: &str, mistakes: &mut Mistakes) -> Option<Self> {
        if text.len() > document::LONGEST {
            mistakes.add((1, "TOML"), "the file is longer than a study is", "name a study's file");
            return None;
        }
        let document = Document::parse(text, mistakes);
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
            source: top.text("source").map(str::to_owned),
            matrices: parts.matrices,
            hypotheses: parts.hypotheses,
            figures: parts.figures,
            tables: parts.tables,
            sampling: parts.sampling,
            text: text.to_owned(),
            hash: hash(text),
        })
    }

    /// The study that is called `name`, or that stands in the file of that path.
    ///
    /// # Errors
    /// That there is none, that it cannot be read, or its mistakes.
    pub(crate) fn find(name: &str) -> Result<Self, Error> {
        let wrong = |path: PathBuf| move |mistakes| Error::WrongStudy { path, mistakes };
        if let Some(text) = known(name) {
            return Self::read(text).map_err(wrong(PathBuf::from(name)));
        }
        let path = Path::new(name);
        let text = read_file(path, name)?;
        Self::read(&text).map_err(wrong(path.to_owned()))
    }

    /// What is to be run of it on this machine.
    ///
    /// # Errors
    /// As [`Plan::resolve_all`] has them.
    pub(crate) fn plan(&self, length: Length, topology: &Topology) -> Result<Plan, Error> {
        let requests = self
            .matrices
            .iter()
            .map(|matrix| Ok((matrix.name.clone(), matrix.request(&self.sampling, length)?)));
        Plan::resolve_all(&requests.collect::<Result<Vec<_>, Error>>()?, topology)
    }

    /// The study with only those hypotheses, and the matrices that they are about.
    ///
    /// # Errors
    /// Usage where there is no such hypothesis.
    pub(crate) fn only(mut self, ids: &[String]) -> Result<Self, Error> {
        if ids.is_empty() {
            return Ok(self);
        }
        for id in ids {
            if !self.hypotheses.iter().any(|claim| claim.id == *id) {
                let names = self.hypotheses.iter().map(|claim| claim.id.as_str());
                return Err(crate::plan::unknown("hypothesis", id, names));
            }
        }
        self.hypotheses.retain(|claim| ids.contains(&claim.id));
        let claims = &self.hypotheses;
        self.matrices.retain(|matrix| claims.iter().any(|claim| claim.is_about(&matrix.name)));
        Ok(self)
    }
}

fn hash(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn read_file(path: &Path, name: &str) -> Result<String, Error> {
    let is_missing = |error: &std::io::Error| error.kind() == std::io::ErrorKind::NotFound;
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(text),
        Err(error) if is_missing(&error) && !name.contains(['/', '.']) => {
            Err(crate::plan::unknown("study", name, STUDIES.iter().map(|(name, _)| *name)))
        }
        Err(source) => Err(Error::Unreadable { path: path.to_owned(), source }),
    }
}

/// What the sections of a file come to.
#[derive(Default)]
struct Parts {
    sampling: Values,
    matrices: Vec<Matrix>,
    hypotheses: Vec<hypothesis::Claim>,
    figures: Vec<StudyFigure>,
    tables: Vec<StudyTable>,
}

impl Parts {
    /// Takes the section that `entry` is, if it is one.
    fn take(&mut self, entry: &Entry<'_, '_>, mistakes: &mut Mistakes) -> bool {
        let known = [SAMPLING.name, MATRIX.name, HYPOTHESIS.name, FIGURE.name, TABLE.name];
        if !known.contains(&entry.name) {
            if nearest(entry.name, known.into_iter()).is_some() && entry.kind() != "text" {
                values::unknown(entry, known.into_iter(), mistakes);
                return true;
            }
            return false;
        }
        for (number, item) in (1..).zip(entry.items()) {
            let Some(table) = item.table() else {
                let what = format!("it cannot be {}", item.kind());
                mistakes.add(item.place(), what, format!("write [[{}]]", entry.name));
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
        } else if section == TABLE.name {
            let values = Values::read(table, &[TABLE.keys], mistakes, |_, _| false);
            self.tables.extend(StudyTable::of(values, mistakes));
        } else {
            self.hypotheses.extend(hypothesis::Claim::read(table, HYPOTHESIS.keys, mistakes));
        }
    }

    /// What no section shows alone.
    fn check(&self, mistakes: &mut Mistakes) {
        if self.matrices.is_empty() {
            let remedy = "add a [[matrix]] with mechanism and buffer";
            mistakes.add((1, "matrix"), "nothing is measured", remedy);
        }
        for matrix in &self.matrices {
            matrix.check(&self.sampling, mistakes);
        }
        twice(self.matrices.iter().map(|one| (one.name.as_str(), one.line())), "matrix", mistakes);
        let claims = self.hypotheses.iter().map(|one| (one.id.as_str(), one.line()));
        twice(claims, "hypothesis", mistakes);
        for claim in &self.hypotheses {
            claim.check(&self.matrices, mistakes);
        }
        let figures = self.figures.iter().map(|one| (one.number(), one.line()));
        twice(figures, "figure", mistakes);
        for figure in &self.figures {
            figure.check(&self.matrices, mistakes);
        }
        let tables = self.tables.iter().map(|one| (one.number(), one.line()));
        twice(tables, "table", mistakes);
        for table in &self.tables {
            table.check(&self.matrices, mistakes);
        }
    }
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
