//! Part of the lines of a results file. Threads parse parts in parallel, and the results are merged in the order of
//! the file.

use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use ipcperf_model::case_id::CaseName;
use ipcperf_model::mechanism::CaseFacts;
use memchr::memchr_iter;

use super::fast_sample::parse_sample_fast;
use super::peer_record::PeerRecord;
use super::planned::{PlanRecord, SpecRecord};
use super::record::{FailedRun, Footer, Header, ObservationRecord, ResultsLine};
use super::roles::KeyCache;
use crate::identity::{CaseIdentity, RunIdentity, check_name};
use crate::line_kind::LineKind;
use crate::sample::Sample;

/// Maximum number of bad lines that are described; further ones are only counted.
pub(super) const MAX_BAD_LINES: usize = 5;

/// Context for parsing lines.
pub(super) struct ParseContext {
    /// Text of the header line.
    header: Vec<u8>,
    /// Cases of the plan by name.
    cases: HashMap<String, CaseContext>,
    /// Facts about each mechanism, with its options, whose knee was searched: at rates that the plan does not contain.
    searched: Vec<SearchedMechanism>,
    /// Number of the last block that holds every case.
    last_block: u32,
    hasher: RandomState,
}

impl ParseContext {
    pub(super) fn new(line: &[u8], header: &Header) -> Self {
        Self {
            header: line.trim_ascii_end().to_owned(),
            cases: case_contexts(&header.plan),
            searched: searched_mechanisms(&header.plan),
            last_block: header.plan.repetitions,
            hasher: RandomState::new(),
        }
    }

    /// Adds what the header says about `case`.
    fn fill_case(&self, case: &mut CaseIdentity) {
        if let Some(known) = self.cases.get(&case.case_id) {
            case.facts.clone_from(&known.facts);
            case.name.clone_from(&known.name);
        } else if let Some(known) = self.search_of(case) {
            case.facts.clone_from(&known.facts);
        }
    }

    /// Returns the mechanism whose knee was searched with the runs of `case`.
    fn search_of(&self, case: &CaseIdentity) -> Option<&SearchedMechanism> {
        case.rate_per_s?;
        let is_same = |known: &&SearchedMechanism| {
            (&known.mechanism, &known.options) == (&case.mechanism, &case.options)
        };
        self.searched.iter().find(is_same)
    }
}

/// Mechanism whose knee was searched.
struct SearchedMechanism {
    mechanism: String,
    options: BTreeMap<String, String>,
    facts: Option<CaseFacts>,
}

/// Returns the mechanisms whose knee was searched, with their options and facts.
fn searched_mechanisms(plan: &PlanRecord) -> Vec<SearchedMechanism> {
    if plan.knee.is_none() {
        return Vec::new();
    }
    let of = |record: &SpecRecord| SearchedMechanism {
        mechanism: record.spec.mechanism.to_string(),
        options: record.spec.options.clone(),
        facts: record.facts.clone(),
    };
    plan.specs.iter().map(of).collect()
}

/// Information about a case from the header, shared by all of its samples and failures.
#[derive(Clone, Default)]
struct CaseContext {
    facts: Option<CaseFacts>,
    name: Option<Arc<CaseName>>,
}

/// Returns the cases of `plan` by name. Files of older versions have no specifications, so nothing else is known of
/// their cases.
fn case_contexts(plan: &PlanRecord) -> HashMap<String, CaseContext> {
    let known = |(at, case): (usize, &String)| {
        let known = plan.specs.get(at).map(|record| CaseContext {
            facts: record.facts.clone(),
            name: record.name().map(Arc::new),
        });
        (case.clone(), known.unwrap_or_default())
    };
    plan.cases.iter().enumerate().map(known).collect()
}

/// Parsed lines.
#[derive(Default)]
pub(super) struct ParsedBlock {
    pub(super) kinds: Vec<LineKind>,
    pub(super) samples: Vec<Sample>,
    pub(super) peers: Vec<PeerRecord>,
    pub(super) observations: Vec<ObservationRecord>,
    pub(super) failures: Vec<FailedRun>,
    pub(super) footers: Vec<Footer>,
    /// Number of the first line, valid if the lines are numbered consecutively.
    pub(super) numbered_from: Option<u64>,
    /// Whether the numbers are not consecutive, or peers and observations do not follow their run.
    pub(super) is_irregular: bool,
    /// Run of the lines above the first run.
    pub(super) leading_run: Option<String>,
    pub(super) last_run: Option<String>,
    /// Names of runs, as hashes.
    pub(super) runs: Vec<u64>,
    /// Number of first attempts at runs that every case has.
    pub(super) first_attempts: u64,
    /// Number of runs of cases that the plan does not have, and one of these cases.
    pub(super) unplanned_runs: u64,
    pub(super) unplanned_case: Option<String>,
    /// The first lines that cannot be parsed: the number of lines before each, and the error.
    pub(super) bad: Vec<(u64, String)>,
    pub(super) bad_count: u64,
    /// The same for a line that makes the whole file invalid.
    pub(super) fatal: Option<(u64, String)>,
}

impl ParsedBlock {
    /// Parses the lines of `block`, up to one that makes the whole file invalid.
    pub(super) fn read(block: &[u8], known: &ParseContext) -> Self {
        let newlines = memchr_iter(b'\n', block);
        let samples = Vec::with_capacity(newlines.clone().count());
        let (mut part, mut start) = (Self { samples, ..Self::default() }, 0);
        // Validating the whole block at once is faster than string by string.
        let text = str::from_utf8(block).ok();
        let mut keys = KeyCache::default();
        for end in newlines {
            let (at, line) = (part.kinds.len() as u64, &block[start..end]);
            let sample = text.and_then(|text| parse_sample_fast(&text[start..end], &mut keys));
            match part.add(sample, line, known) {
                Ok(kind) => part.kinds.push(kind),
                Err(LineError::Bad(words)) => part.note_bad(at, words),
                Err(LineError::Fatal(words)) => {
                    part.fatal = Some((at, words));
                    break;
                }
            }
            start = end + 1;
        }
        part
    }

    fn note_bad(&mut self, at: u64, words: String) {
        self.kinds.push(LineKind::Bad);
        self.bad_count += 1;
        if self.bad.len() < MAX_BAD_LINES {
            self.bad.push((at, words));
        }
    }

    /// Adds `line`. `plain` is its sample, if the fast path parsed it.
    fn add(
        &mut self,
        plain: Option<Sample>,
        line: &[u8],
        known: &ParseContext,
    ) -> Result<LineKind, LineError> {
        if let Some(sample) = plain {
            return self.add_sample(sample, known);
        }
        match serde_json::from_slice(line)
            .map_err(|error| format!("bad line (within this line: {error})"))?
        {
            ResultsLine::Header(_) if line == known.header => {
                self.is_irregular = true;
                Ok(LineKind::Header)
            }
            ResultsLine::Header(_) => {
                Err(LineError::Fatal("a second header, of another measurement".to_owned()))
            }
            ResultsLine::Sample(sample) => self.add_sample(sample, known),
            ResultsLine::Peer(peer) => {
                self.note_follower(&peer.run_id, peer.seq)?;
                self.peers.push(peer);
                Ok(LineKind::Peer)
            }
            ResultsLine::Observation(seen) => {
                check_name(&seen.instrument)?;
                self.note_follower(&seen.run_id, seen.seq)?;
                self.observations.push(seen);
                Ok(LineKind::Observation)
            }
            ResultsLine::Failure(mut failure) => {
                failure.run.case.check_names()?;
                known.fill_case(&mut failure.run.case);
                self.note_run(&failure.run, known);
                self.note_number(failure.seq);
                self.failures.push(failure);
                Ok(LineKind::Failure)
            }
            ResultsLine::Footer(footer) => {
                self.note_number(footer.seq);
                self.footers.push(footer);
                Ok(LineKind::Footer)
            }
        }
    }

    fn add_sample(
        &mut self,
        mut sample: Sample,
        known: &ParseContext,
    ) -> Result<LineKind, LineError> {
        sample.run.case.check_names()?;
        check_name(sample.cpu_pair_class.as_deref().unwrap_or_default())?;
        known.fill_case(&mut sample.run.case);
        self.note_run(&sample.run, known);
        self.note_number(sample.seq);
        self.samples.push(sample);
        Ok(LineKind::Sample)
    }

    /// Records a line that follows that of the run `run_id`.
    fn note_follower(&mut self, run_id: &str, seq: Option<u64>) -> Result<(), LineError> {
        check_name(run_id)?;
        match (&self.last_run, &self.leading_run) {
            (Some(run), _) | (None, Some(run)) => self.is_irregular |= *run != run_id,
            (None, None) => self.leading_run = Some(run_id.to_owned()),
        }
        self.note_number(seq);
        Ok(())
    }

    /// Records the number of the next line.
    fn note_number(&mut self, seq: Option<u64>) {
        let Some(seq) = seq else { return };
        let first = seq.wrapping_sub(self.kinds.len() as u64);
        self.is_irregular |= *self.numbered_from.get_or_insert(first) != first;
    }

    fn note_run(&mut self, run: &RunIdentity, known: &ParseContext) {
        self.runs.push(known.hasher.hash_one(&run.run_id));
        self.last_run.get_or_insert_default().clone_from(&run.run_id);
        if known.search_of(&run.case).is_some() {
            return;
        }
        if !known.cases.contains_key(&run.case.case_id) {
            self.unplanned_runs += 1;
            self.unplanned_case.get_or_insert_with(|| run.case.case_id.clone());
        } else if run.attempt == 1 && run.block <= known.last_block {
            self.first_attempts += 1;
        }
    }
}

/// Reason why a line was not accepted.
enum LineError {
    /// The line can be ignored.
    Bad(String),
    /// The file cannot be read without it.
    Fatal(String),
}

impl From<String> for LineError {
    fn from(words: String) -> Self {
        Self::Bad(words)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use ipcperf_model::case_id::{NameParts, NamedAmount, Side};
    use ipcperf_model::workload::WorkloadKind as Workload;
    use ipcperf_model::{Failure, FailureKind, RunSpec};

    use super::*;
    use crate::SpecRecord;
    use crate::testing::{facts, header, sample, with_name_parts};

    /// Verdicts and tables match the failures of a case with its samples by amount and instruments.
    #[test]
    fn a_failure_knows_its_case_as_a_sample_does() {
        let parts = NameParts { amount: Some(NamedAmount::Messages(5)), ..NameParts::default() };
        let sample = sample("pipe", Workload::Stream, 64, 1, 1_000);
        let sample = with_name_parts(sample, parts.clone(), Side::Instrumented);
        let mut header = header(vec![sample.run.case.case_id.clone()], Vec::new());
        header.plan.specs.push(SpecRecord {
            placement: "same".to_owned(),
            spec: RunSpec::with_defaults("pipe", 64),
            instruments: Vec::new(),
            events: BTreeMap::new(),
            twin_of: None,
            name_parts: parts,
            matrices: Vec::new(),
            facts: Some(facts("pipe")),
        });
        let failure = FailedRun::new(sample.run.clone(), Failure::new(FailureKind::Call, "write"));
        let lines = [ResultsLine::Sample(sample.clone()), ResultsLine::Failure(failure)];
        let lines = lines.iter().map(|line| serde_json::to_string(line).unwrap() + "\n");
        let block: String = lines.collect();
        let part = ParsedBlock::read(block.as_bytes(), &ParseContext::new(b"", &header));
        assert_eq!(part.samples[0].run.case, sample.run.case);
        assert_eq!(part.failures[0].run.case, sample.run.case);
    }
}
