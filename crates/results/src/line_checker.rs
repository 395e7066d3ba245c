//! Checks the lines of a results file: each must be there once.
//!
//! The number of a line is its position below the header. Each run has one line, followed by its peers, if it has
//! several, and by the observations of its instruments. While this holds, no line needs a second look. If it does not hold, lines were lost or
//! duplicated, and all of them are checked again in order.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

use super::line_kind::LineKind;
use super::parsed_block::ParsedBlock;
use super::peer_record::PeerRecord;
use super::record::{FailedRun, Footer, ObservationRecord};
use super::tally::Tally;
use crate::sample::Sample;

/// Lines read so far.
#[derive(Debug, Default)]
pub(super) struct RawLines {
    kinds: Vec<LineKind>,
    samples: Vec<Sample>,
    peers: Vec<PeerRecord>,
    observations: Vec<ObservationRecord>,
    failures: Vec<FailedRun>,
    footers: Vec<Footer>,
    /// Names of the runs, as precomputed hashes.
    runs: HashSet<u64, BuildHasherDefault<PrecomputedHasher>>,
    last_run: Option<String>,
    is_irregular: bool,
}

/// Lines that count, and the irregularities that were found.
#[derive(Debug, Default)]
pub(super) struct CheckedLines {
    pub(super) samples: Vec<Sample>,
    pub(super) peers: Vec<PeerRecord>,
    pub(super) observations: Vec<ObservationRecord>,
    pub(super) failures: Vec<FailedRun>,
    pub(super) footer: Option<Footer>,
    /// Whether that footer is the last line that counts.
    pub(super) is_closed: bool,
    pub(super) tally: Tally,
    /// Number of lines that occurred before.
    pub(super) duplicates: u64,
    /// Number of peers and observations whose run has no line.
    pub(super) orphans: u64,
    /// Missing line numbers, as the first and last number of each gap.
    pub(super) gaps: Vec<(u64, u64)>,
}

impl RawLines {
    /// Number of lines below the header.
    pub(super) fn count(&self) -> u64 {
        self.kinds.len() as u64
    }

    /// Appends `part`, which comes next in the file.
    pub(super) fn append(&mut self, part: ParsedBlock) {
        let is_in_place = part.numbered_from.is_none_or(|first| first == self.count() + 1);
        let is_of_last = part.leading_run.is_none() || part.leading_run == self.last_run;
        let mut is_irregular = part.is_irregular || !is_in_place || !is_of_last;
        for run in part.runs {
            is_irregular |= !self.runs.insert(run);
        }
        self.is_irregular |= is_irregular;
        self.last_run = part.last_run.or_else(|| self.last_run.take());
        self.kinds.extend(part.kinds);
        self.samples.extend(part.samples);
        self.peers.extend(part.peers);
        self.observations.extend(part.observations);
        self.failures.extend(part.failures);
        self.footers.extend(part.footers);
    }

    /// Removes duplicates and finds missing lines.
    pub(super) fn into_checked(self) -> CheckedLines {
        if self.is_irregular { LineChecker::default().check(self) } else { self.into_regular() }
    }

    fn into_regular(self) -> CheckedLines {
        let tally = Tally {
            last_seq: self.count(),
            samples: self.samples.len() as u64,
            peers: self.peers.len() as u64,
            observations: self.observations.len() as u64,
            failures: self.failures.len() as u64,
            lost_lines: 0,
        };
        CheckedLines {
            is_closed: self.kinds.last() == Some(&LineKind::Footer),
            samples: self.samples,
            peers: self.peers,
            observations: self.observations,
            failures: self.failures,
            footer: self.footers.into_iter().next_back(),
            tally,
            ..CheckedLines::default()
        }
    }
}

/// State of the check, which processes one line after another.
#[derive(Debug, Default)]
struct LineChecker {
    checked: CheckedLines,
    /// Runs by name, with the number of their line.
    runs: HashMap<String, Option<u64>>,
    numbers: HashSet<u64>,
    /// The most recent run, if its observations are duplicates.
    duplicated_run: Option<String>,
    /// Runs that have peers or observations.
    observed: HashSet<String>,
    footers: Vec<Footer>,
    bad: u64,
    /// Number of lines from versions that did not number lines.
    unnumbered: u64,
}

/// Whether a line occurred before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Occurrence {
    First,
    Repeated,
}

impl LineChecker {
    fn check(mut self, lines: RawLines) -> CheckedLines {
        let mut samples = lines.samples.into_iter();
        let mut peers = lines.peers.into_iter();
        let mut observations = lines.observations.into_iter();
        let mut failures = lines.failures.into_iter();
        let mut footers = lines.footers.into_iter();
        for kind in &lines.kinds {
            match kind {
                LineKind::Header => self.checked.duplicates += 1,
                LineKind::Bad => {
                    self.bad += 1;
                    self.checked.is_closed = false;
                }
                LineKind::Sample => samples.next().into_iter().for_each(|one| self.add_sample(one)),
                LineKind::Peer => peers.next().into_iter().for_each(|one| self.add_peer(one)),
                LineKind::Observation => {
                    observations.next().into_iter().for_each(|one| self.add_observation(one));
                }
                LineKind::Failure => {
                    failures.next().into_iter().for_each(|one| self.add_failure(one));
                }
                LineKind::Footer => footers.next().into_iter().for_each(|one| self.add_footer(one)),
            }
        }
        self.finish(lines.kinds.len() as u64)
    }

    fn add_sample(&mut self, sample: Sample) {
        if self.add_run(&sample.run.run_id, sample.seq) == Occurrence::First {
            self.checked.samples.push(sample);
        }
    }

    fn add_failure(&mut self, failure: FailedRun) {
        if self.add_run(&failure.run.run_id, failure.seq) == Occurrence::First {
            self.checked.failures.push(failure);
        }
    }

    /// Records the line of the run `run_id`. The first line with a name is the one that counts.
    fn add_run(&mut self, run_id: &str, seq: Option<u64>) -> Occurrence {
        self.insert_number(seq);
        let Some(first) = self.runs.get(run_id) else {
            self.runs.insert(run_id.to_owned(), seq);
            self.duplicated_run = None;
            return self.count(Occurrence::First);
        };
        // A line with another number belongs to a run that was made twice. The observations after a copy of the
        // same line are recognized by their own numbers. If lines have no numbers, they are copies if the run
        // already has observations.
        let is_seen_again = match seq {
            Some(_) => *first != seq,
            None => self.observed.contains(run_id),
        };
        self.duplicated_run = is_seen_again.then(|| run_id.to_owned());
        self.count(Occurrence::Repeated)
    }

    fn add_peer(&mut self, peer: PeerRecord) {
        if self.add_follower(&peer.run_id, peer.seq) == Occurrence::First {
            self.checked.peers.push(peer);
        }
    }

    fn add_observation(&mut self, seen: ObservationRecord) {
        if self.add_follower(&seen.run_id, seen.seq) == Occurrence::First {
            self.checked.observations.push(seen);
        }
    }

    /// Records a line that belongs to the run `run_id`, that of the closest line above it. If that run has no line, the line
    /// does not count.
    fn add_follower(&mut self, run_id: &str, seq: Option<u64>) -> Occurrence {
        let is_new = self.insert_number(seq);
        if self.duplicated_run.as_deref() == Some(run_id) || !is_new {
            return self.count(Occurrence::Repeated);
        }
        if !self.runs.contains_key(run_id) {
            self.checked.orphans += 1;
            return Occurrence::Repeated;
        }
        self.observed.insert(run_id.to_owned());
        self.count(Occurrence::First)
    }

    fn add_footer(&mut self, footer: Footer) {
        let is_new = self.insert_number(footer.seq);
        if !is_new || (footer.seq.is_none() && self.footers.contains(&footer)) {
            self.checked.duplicates += 1;
            return;
        }
        self.footers.push(footer);
        self.checked.is_closed = true;
    }

    /// Whether `seq` is a new line number. A line without a number counts as new.
    fn insert_number(&mut self, seq: Option<u64>) -> bool {
        self.unnumbered += u64::from(seq.is_none());
        seq.is_none_or(|seq| self.numbers.insert(seq))
    }

    fn count(&mut self, copy: Occurrence) -> Occurrence {
        match copy {
            Occurrence::First => self.checked.is_closed = false,
            Occurrence::Repeated => self.checked.duplicates += 1,
        }
        copy
    }

    fn finish(self, lines: u64) -> CheckedLines {
        let Self { checked: mut sorted, numbers, footers, bad, unnumbered, .. } = self;
        let mut numbers: Vec<u64> = numbers.into_iter().collect();
        numbers.sort_unstable();
        // Lines without numbers come before the first numbered one.
        let first = numbers.first().filter(|_| unnumbered > 0);
        let start = first.map_or(0, |first| first.saturating_sub(1));
        let before = std::iter::once(start).chain(numbers.iter().copied());
        let gaps = before.zip(&numbers).filter(|(one, next)| *next - one > 1);
        sorted.gaps = gaps.map(|(one, next)| (one + 1, next - 1)).collect();
        let lost = sorted.gaps.iter().map(|(first, last)| last - first + 1);
        let lost = lost.fold(0, u64::saturating_add).saturating_sub(bad);
        sorted.tally = Tally {
            last_seq: numbers.last().copied().unwrap_or(lines),
            samples: sorted.samples.len() as u64,
            peers: sorted.peers.len() as u64,
            observations: sorted.observations.len() as u64,
            failures: sorted.failures.len() as u64,
            lost_lines: lost,
        };
        sorted.footer = footers.into_iter().next_back();
        sorted
    }
}

/// Hasher that passes a precomputed hash through.
#[derive(Debug, Default)]
pub(super) struct PrecomputedHasher(u64);

impl Hasher for PrecomputedHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

#[cfg(test)]
mod tests {
    use ipcperf_model::workload::WorkloadKind as Workload;

    use super::*;
    use crate::testing::sample;

    /// Builds lines from a notation: `r` is a run, `o` an observation of it, `f` a footer, `h` the header. `r3=5`
    /// is run 3 with line number 5, `r3` is one without a number; the header never has one.
    fn lines(words: &str) -> RawLines {
        let mut part = ParsedBlock { is_irregular: true, ..ParsedBlock::default() };
        for word in words.split_whitespace() {
            let (name, seq) =
                word.split_once('=').map_or((word, None), |(name, seq)| (name, seq.parse().ok()));
            let mut sample = sample("pipe", Workload::Stream, 64, 1, 1_000);
            (sample.seq, sample.run.run_id) = (seq, name[1..].to_owned());
            match &name[..1] {
                "r" => {
                    part.kinds.push(LineKind::Sample);
                    part.samples.push(sample);
                }
                "o" => {
                    part.kinds.push(LineKind::Observation);
                    let (run_id, fields) = (sample.run.run_id, serde_json::Map::new());
                    let instrument = "rusage".to_owned();
                    part.observations.push(ObservationRecord {
                        seq,
                        run_id,
                        instrument,
                        role: None,
                        fields,
                    });
                }
                "f" => {
                    part.kinds.push(LineKind::Footer);
                    part.footers.push(Footer {
                        seq,
                        complete: true,
                        samples: 0,
                        observations: None,
                        peers: 0,
                        failures: 0,
                        lost_lines: 0,
                        probe_effects: Vec::new(),
                        elapsed_ns: 0,
                        ended: String::new(),
                    });
                }
                _ => part.kinds.push(LineKind::Header),
            }
        }
        let mut lines = RawLines::default();
        lines.append(part);
        lines
    }

    /// Returns the numbers of runs, observations, duplicates, orphans and lost lines.
    fn counts(words: &str) -> (usize, usize, u64, u64, u64) {
        let sorted = lines(words).into_checked();
        assert!(sorted.is_closed, "{words}");
        let lost = sorted.tally.lost_lines;
        (sorted.samples.len(), sorted.observations.len(), sorted.duplicates, sorted.orphans, lost)
    }

    #[test]
    fn each_line_counts_once_wherever_its_copies_are() {
        let whole = "r1=1 o1=2 o1=3 r2=4 o2=5 f=6";
        assert_eq!(counts(whole), (2, 3, 0, 0, 0));
        assert_eq!(counts(&format!("{whole} h {whole}")), (2, 3, 7, 0, 0));
        assert_eq!(counts(&format!("r1=1 o1=2 h {whole}")), (2, 3, 3, 0, 0));
        assert_eq!(counts(&format!("{whole} h r1=1 o1=2")), (2, 3, 3, 0, 0));
        assert_eq!(counts("r1=1 r1=1 o1=2 o1=3 r2=4 o2=5 o2=5 f=6"), (2, 3, 2, 0, 0));
        let old = "r1 o1 o1 r2 o2 f";
        assert_eq!(counts(&format!("{old} h {old}")), (2, 3, 7, 0, 0));
        assert_eq!(counts("r1 r1 o1 o1 r2 o2 f"), (2, 3, 1, 0, 0));
    }

    /// Two copies of a torn file that were resumed separately and then concatenated.
    #[test]
    fn of_a_run_that_was_made_twice_the_first_counts_with_what_was_seen_of_it() {
        assert_eq!(counts("r1=1 r2=2 o2=3 f=4 h r1=1 o1=2 r2=3 o2=4 o2=5 f=6"), (2, 1, 6, 0, 0));
    }

    #[test]
    fn what_is_missing_is_told_by_its_numbers() {
        let sorted = lines("r1=1 r3=4 o9=5 f=9").into_checked();
        assert_eq!(
            (sorted.gaps, sorted.tally.lost_lines, sorted.orphans),
            (vec![(2, 3), (6, 8)], 5, 1)
        );
        // Begun by a version that did not number lines, then resumed: the first number is not that of the first
        // line.
        let sorted = lines("r1 r2 f r3=4 r4=6 f=7").into_checked();
        assert_eq!((sorted.gaps, sorted.tally.last_seq), (vec![(5, 5)], 7));
        let odd = lines(&format!("r1=0 r2={} f=1", u64::MAX)).into_checked();
        assert_eq!(odd.tally.lost_lines, u64::MAX - 2);
    }
}
