//! The lines of a results file in their order: whether each is there, and once.
//!
//! The number of a line is its place below the header, and each run has one line, before what instruments saw of it.
//! While that is so nothing needs to be looked at twice. Where it is not, lines were lost, or are there twice: then
//! each is looked at again, in order.

use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};

use super::read::Part;
use super::record::{FailedRun, Footer, ObservationRecord};
use super::sample::Sample;
use super::tally::Tally;

/// The kind of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// The first line once more: another copy of the file begins.
    Header,
    Sample,
    Observation,
    Failure,
    Footer,
    /// One that cannot be read.
    Bad,
}

/// The lines read so far.
#[derive(Debug, Default)]
pub(super) struct Lines {
    kinds: Vec<Kind>,
    samples: Vec<Sample>,
    observations: Vec<ObservationRecord>,
    failures: Vec<FailedRun>,
    footers: Vec<Footer>,
    /// The names of the runs, as the hash that they were given.
    runs: HashSet<u64, BuildHasherDefault<Given>>,
    last_run: Option<String>,
    is_irregular: bool,
}

/// What is kept of the lines, and what is not as it should be.
#[derive(Debug, Default)]
pub(super) struct Sorted {
    pub(super) samples: Vec<Sample>,
    pub(super) observations: Vec<ObservationRecord>,
    pub(super) failures: Vec<FailedRun>,
    pub(super) footer: Option<Footer>,
    /// Whether the last line that counts is that footer.
    pub(super) is_closed: bool,
    pub(super) tally: Tally,
    /// Lines that were there before.
    pub(super) duplicates: u64,
    /// Observations of runs that have no line.
    pub(super) orphans: u64,
    /// The numbers that no line has, from the first to the last of each gap.
    pub(super) gaps: Vec<(u64, u64)>,
}

impl Lines {
    /// Number of lines below the header.
    pub(super) fn count(&self) -> u64 {
        self.kinds.len() as u64
    }

    /// Adds `part`, which comes next in the file.
    pub(super) fn append(&mut self, part: Part) {
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
        self.observations.extend(part.observations);
        self.failures.extend(part.failures);
        self.footers.extend(part.footers);
    }

    /// Every line once, and what is missing.
    pub(super) fn sorted(self) -> Sorted {
        if self.is_irregular { Sorting::default().sort(self) } else { self.as_they_are() }
    }

    fn as_they_are(self) -> Sorted {
        let tally = Tally {
            last_seq: self.count(),
            samples: self.samples.len() as u64,
            observations: self.observations.len() as u64,
            failures: self.failures.len() as u64,
            lost_lines: 0,
        };
        Sorted {
            is_closed: self.kinds.last() == Some(&Kind::Footer),
            samples: self.samples,
            observations: self.observations,
            failures: self.failures,
            footer: self.footers.into_iter().next_back(),
            tally,
            ..Sorted::default()
        }
    }
}

/// Looks at one line after another.
#[derive(Debug, Default)]
struct Sorting {
    sorted: Sorted,
    runs: HashSet<String>,
    numbers: HashSet<u64>,
    /// The run whose line came last, and whether that line was a copy.
    last: Option<(String, Copy)>,
    footers: Vec<Footer>,
    bad: u64,
    /// Lines from before lines were numbered.
    unnumbered: u64,
}

/// Whether a line was there before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Copy {
    First,
    Again,
}

impl Sorting {
    fn sort(mut self, lines: Lines) -> Sorted {
        let mut samples = lines.samples.into_iter();
        let mut observations = lines.observations.into_iter();
        let mut failures = lines.failures.into_iter();
        let mut footers = lines.footers.into_iter();
        for kind in &lines.kinds {
            match kind {
                Kind::Header => self.sorted.duplicates += 1,
                Kind::Bad => {
                    self.bad += 1;
                    self.sorted.is_closed = false;
                }
                Kind::Sample => samples.next().into_iter().for_each(|one| self.sample(one)),
                Kind::Observation => {
                    observations.next().into_iter().for_each(|one| self.observation(one));
                }
                Kind::Failure => failures.next().into_iter().for_each(|one| self.failure(one)),
                Kind::Footer => footers.next().into_iter().for_each(|one| self.footer(one)),
            }
        }
        self.end(lines.kinds.len() as u64)
    }

    fn sample(&mut self, sample: Sample) {
        if self.run(&sample.run.run_id, sample.seq) == Copy::First {
            self.sorted.samples.push(sample);
        }
    }

    fn failure(&mut self, failure: FailedRun) {
        if self.run(&failure.run.run_id, failure.seq) == Copy::First {
            self.sorted.failures.push(failure);
        }
    }

    /// Notes the line of the run `run_id`. The first that has its name is the run's.
    fn run(&mut self, run_id: &str, seq: Option<u64>) -> Copy {
        self.number(seq);
        let is_new = self.runs.insert(run_id.to_owned());
        let copy = if is_new { Copy::First } else { Copy::Again };
        self.last = Some((run_id.to_owned(), copy));
        self.counts(copy)
    }

    /// An observation is of the run whose line is above it: what a copy of that line brings is a copy too.
    fn observation(&mut self, seen: ObservationRecord) {
        let is_new = self.number(seen.seq);
        let of_copy = matches!(&self.last, Some((run, Copy::Again)) if *run == seen.run_id);
        if of_copy || !is_new {
            self.counts(Copy::Again);
        } else if self.runs.contains(&seen.run_id) {
            self.counts(Copy::First);
            self.sorted.observations.push(seen);
        } else {
            self.sorted.orphans += 1;
        }
    }

    fn footer(&mut self, footer: Footer) {
        let is_new = self.number(footer.seq);
        if !is_new || (footer.seq.is_none() && self.footers.contains(&footer)) {
            self.sorted.duplicates += 1;
            return;
        }
        self.footers.push(footer);
        self.sorted.is_closed = true;
    }

    /// Whether no line before had the number `seq`; one without is taken for new.
    fn number(&mut self, seq: Option<u64>) -> bool {
        self.unnumbered += u64::from(seq.is_none());
        seq.is_none_or(|seq| self.numbers.insert(seq))
    }

    fn counts(&mut self, copy: Copy) -> Copy {
        match copy {
            Copy::First => self.sorted.is_closed = false,
            Copy::Again => self.sorted.duplicates += 1,
        }
        copy
    }

    fn end(self, lines: u64) -> Sorted {
        let Self { mut sorted, numbers, footers, bad, unnumbered, .. } = self;
        let mut numbers: Vec<u64> = numbers.into_iter().collect();
        numbers.sort_unstable();
        // Lines of before they were numbered have the numbers below the first.
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
            observations: sorted.observations.len() as u64,
            failures: sorted.failures.len() as u64,
            lost_lines: lost,
        };
        sorted.footer = footers.into_iter().next_back();
        sorted
    }
}

/// Takes a hash for what it is.
#[derive(Debug, Default)]
pub(super) struct Given(u64);

impl Hasher for Given {
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
