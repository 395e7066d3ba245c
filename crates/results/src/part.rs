//! Some lines of a results file, read: a thread reads them, and what is found is put together in the order of the file.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use ipcperf_model::case_id::CaseName;
use ipcperf_model::mechanism::CaseFacts;
use memchr::memchr_iter;

use super::plain::plain_sample;
use super::planned::PlanRecord;
use super::record::{FailedRun, Footer, Header, Line, ObservationRecord};
use super::roles::KnownKeys;
use crate::identity::{RunIdentity, check_name};
use crate::line_kind::Kind;
use crate::sample::Sample;

/// More bad lines than this are counted.
pub(super) const MOST_BAD: usize = 5;

/// What is known before lines are read.
pub(super) struct Known {
    /// The header's line.
    header: Vec<u8>,
    /// The cases of the plan by name.
    cases: HashMap<String, KnownCase>,
    /// The last block that holds every case.
    last_block: u32,
    hasher: RandomState,
}

impl Known {
    pub(super) fn of(line: &[u8], header: &Header) -> Self {
        Self {
            header: line.trim_ascii_end().to_owned(),
            cases: known_cases(&header.plan),
            last_block: header.plan.repetitions,
            hasher: RandomState::new(),
        }
    }
}

/// What the header says of a case, once for all of its samples.
#[derive(Clone, Default)]
struct KnownCase {
    facts: Option<CaseFacts>,
    name: Option<Arc<CaseName>>,
}

/// The cases of `plan` by name; a file of old has no specifications, from which nothing is known.
fn known_cases(plan: &PlanRecord) -> HashMap<String, KnownCase> {
    let known = |(at, case): (usize, &String)| {
        let known = plan.specs.get(at).map(|record| KnownCase {
            facts: record.facts.clone(),
            name: record.name().map(Arc::new),
        });
        (case.clone(), known.unwrap_or_default())
    };
    plan.cases.iter().enumerate().map(known).collect()
}

/// Some lines, read.
#[derive(Default)]
pub(super) struct Part {
    pub(super) kinds: Vec<Kind>,
    pub(super) samples: Vec<Sample>,
    pub(super) observations: Vec<ObservationRecord>,
    pub(super) failures: Vec<FailedRun>,
    pub(super) footers: Vec<Footer>,
    /// The number that the first line has if each line's number is one more than that of the line before.
    pub(super) numbered_from: Option<u64>,
    /// Whether numbers do not follow one another, or observations do not follow their run.
    pub(super) is_irregular: bool,
    /// The run of the observations above the first run.
    pub(super) leading_run: Option<String>,
    pub(super) last_run: Option<String>,
    /// The names of runs, as hashes.
    pub(super) runs: Vec<u64>,
    /// First attempts at runs that every case has.
    pub(super) first_attempts: u64,
    /// Runs of cases that the plan does not have, and one of these.
    pub(super) strays: u64,
    pub(super) stray_case: Option<String>,
    /// How many lines come before each of the first that cannot be read, and what is wrong with it.
    pub(super) bad: Vec<(u64, String)>,
    pub(super) bad_count: u64,
    /// The same of a line for which the file is refused.
    pub(super) wrong: Option<(u64, String)>,
}

impl Part {
    /// Reads the lines of `block`, up to one for which the file is refused.
    pub(super) fn read(block: &[u8], known: &Known) -> Self {
        let newlines = memchr_iter(b'\n', block);
        let samples = Vec::with_capacity(newlines.clone().count());
        let (mut part, mut start) = (Self { samples, ..Self::default() }, 0);
        // All at once, which is sooner done than string by string.
        let text = str::from_utf8(block).ok();
        let mut keys = KnownKeys::default();
        for end in newlines {
            let (at, line) = (part.kinds.len() as u64, &block[start..end]);
            let sample = text.and_then(|text| plain_sample(&text[start..end], &mut keys));
            match part.add(sample, line, known) {
                Ok(kind) => part.kinds.push(kind),
                Err(Unread::Bad(words)) => part.note_bad(at, words),
                Err(Unread::Refused(words)) => {
                    part.wrong = Some((at, words));
                    break;
                }
            }
            start = end + 1;
        }
        part
    }

    fn note_bad(&mut self, at: u64, words: String) {
        self.kinds.push(Kind::Bad);
        self.bad_count += 1;
        if self.bad.len() < MOST_BAD {
            self.bad.push((at, words));
        }
    }

    /// Adds what `line` is: `plain`, where it has been seen to be that.
    fn add(&mut self, plain: Option<Sample>, line: &[u8], known: &Known) -> Result<Kind, Unread> {
        if let Some(sample) = plain {
            return self.add_sample(sample, known);
        }
        match serde_json::from_slice(line).map_err(|error| format!("bad line: {error}"))? {
            Line::Header(_) if line == known.header => {
                self.is_irregular = true;
                Ok(Kind::Header)
            }
            Line::Header(_) => Err(Unread::Refused("a second header".to_owned())),
            Line::Sample(sample) => self.add_sample(sample, known),
            Line::Observation(seen) => self.add_observation(seen),
            Line::Failure(failure) => {
                failure.run.case.check_names()?;
                self.note_run(&failure.run, known);
                self.note_number(failure.seq);
                self.failures.push(failure);
                Ok(Kind::Failure)
            }
            Line::Footer(footer) => {
                self.note_number(footer.seq);
                self.footers.push(footer);
                Ok(Kind::Footer)
            }
        }
    }

    fn add_sample(&mut self, mut sample: Sample, known: &Known) -> Result<Kind, Unread> {
        sample.run.case.check_names()?;
        check_name(sample.cpu_pair_class.as_deref().unwrap_or_default())?;
        if let Some(case) = known.cases.get(&sample.run.case.case_id) {
            sample.run.case.facts.clone_from(&case.facts);
            sample.run.case.name.clone_from(&case.name);
        }
        self.note_run(&sample.run, known);
        self.note_number(sample.seq);
        self.samples.push(sample);
        Ok(Kind::Sample)
    }

    fn add_observation(&mut self, seen: ObservationRecord) -> Result<Kind, Unread> {
        [&seen.run_id, &seen.instrument].into_iter().try_for_each(|name| check_name(name))?;
        match (&self.last_run, &self.leading_run) {
            (Some(run), _) | (None, Some(run)) => self.is_irregular |= *run != seen.run_id,
            (None, None) => self.leading_run = Some(seen.run_id.clone()),
        }
        self.note_number(seen.seq);
        self.observations.push(seen);
        Ok(Kind::Observation)
    }

    /// Notes the number of the next line.
    fn note_number(&mut self, seq: Option<u64>) {
        let Some(seq) = seq else { return };
        let first = seq.wrapping_sub(self.kinds.len() as u64);
        self.is_irregular |= *self.numbered_from.get_or_insert(first) != first;
    }

    fn note_run(&mut self, run: &RunIdentity, known: &Known) {
        self.runs.push(known.hasher.hash_one(&run.run_id));
        self.last_run.get_or_insert_default().clone_from(&run.run_id);
        if !known.cases.contains_key(&run.case.case_id) {
            self.strays += 1;
            self.stray_case.get_or_insert_with(|| run.case.case_id.clone());
        } else if run.attempt == 1 && run.block <= known.last_block {
            self.first_attempts += 1;
        }
    }
}

/// Why a line is not read.
enum Unread {
    /// It can be left out.
    Bad(String),
    /// The file is none that could be read without it.
    Refused(String),
}

impl From<String> for Unread {
    fn from(words: String) -> Self {
        Self::Bad(words)
    }
}
