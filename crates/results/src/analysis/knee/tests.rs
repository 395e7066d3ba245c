use std::ops::Range;

use ipcperf_model::pacing::{Arrivals, Pacer};
use proptest::prelude::*;

use super::*;
use crate::ExclusionReason;
use crate::testing::{round_trips, sample};

const SCHEDULE: KneeSchedule = KneeSchedule { arrivals: Arrivals::Even, pacer: Pacer::Spin };

fn search(p99_bound_ns: Option<u64>) -> KneeSearch {
    KneeSearch { p99_bound_ns, arrivals: vec![Arrivals::Even], pacers: vec![], duration_ns: None }
}

/// A mechanism with a planted knee: its latency is 1 us below the knee, 1 ms from there on, and it saturates at twice the
/// knee.
struct Planted {
    unpaced_per_s: u64,
    knee_per_s: u64,
    samples: Vec<Sample>,
    failures: Vec<FailedRun>,
}

impl Planted {
    fn new(unpaced_per_s: u64, knee_per_s: u64) -> Self {
        let mut planted =
            Self { unpaced_per_s, knee_per_s, samples: Vec::new(), failures: Vec::new() };
        planted.samples = (1..=3).map(|block| planted.unpaced(block)).collect();
        planted
    }

    fn unpaced(&self, block: u32) -> Sample {
        let mut sample = sample("pipe", WorkloadKind::Stream, 64, block, 1_000_000_000);
        sample.messages = self.unpaced_per_s;
        sample
    }

    fn paced(&self, rate_per_s: u64, block: u32) -> Sample {
        let mut sample = sample("pipe", WorkloadKind::Paced, 64, block, 1_000_000_000);
        let case = &mut sample.run.case;
        case.case_id = format!("pipe/{rate_per_s}");
        case.rate_per_s = Some(rate_per_s);
        (case.arrivals, case.pacer) = (Some(SCHEDULE.arrivals), Some(SCHEDULE.pacer));
        case.scheduled_messages = Some(2_000);
        let latency_ns = if rate_per_s < self.knee_per_s { 1_000 } else { 1_000_000 };
        sample.paced.saturated = Some(rate_per_s >= 2 * self.knee_per_s);
        sample.paced.outside_gaps_histogram =
            Some(round_trips(&[latency_ns; 2_000]).latencies.histogram);
        sample
    }

    fn run(&mut self, rate_per_s: u64, blocks: Range<u32>) {
        let runs: Vec<Sample> = blocks.map(|block| self.paced(rate_per_s, block)).collect();
        self.samples.extend(runs);
    }

    fn progress(&self, search: &KneeSearch) -> KneeProgress {
        let base = &self.unpaced(1).run.case;
        KneeProgress::new(search, base, SCHEDULE, &self.samples, &self.failures)
    }

    /// Searches as a measurement does, and returns the result.
    fn find(&mut self, search: &KneeSearch) -> KneeSummary {
        while let Some(rate_per_s) = self.progress(search).next_rate() {
            assert!(self.samples.len() < 1_000, "the search does not end");
            let first = self.samples.last().map_or(0, |sample| sample.run.block) + 1;
            self.run(rate_per_s, first..first + 5);
        }
        self.progress(search).summary()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_planted_knee_is_found(unpaced in 1_000_u64..10_000_000, part in 0.02_f64..3.0) {
        #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rate")]
        let knee = (unpaced as f64 * part) as u64;
        let found = Planted::new(unpaced, knee).find(&search(None));
        prop_assert_eq!(found.outcome, KneeOutcome::Found);
        let (low, high) = (found.low_per_s.unwrap(), found.high_per_s.unwrap());
        prop_assert!(low < knee && knee <= high, "{low} {knee} {high}");
        #[allow(clippy::cast_precision_loss, reason = "a rate")]
        let ratio = high as f64 / low as f64;
        prop_assert!(ratio <= 1.101, "{low} {high}");
        prop_assert!(found.steps.len() < 14, "{:?}", found.steps.len());
    }
}

#[test]
fn the_bound_is_the_given_one_or_follows_from_the_median() {
    let found = Planted::new(100_000, 30_000).find(&search(None));
    assert_eq!(found.p99_bound_ns.map(f64::round), Some(10_000.0));
    let found = Planted::new(100_000, 30_000).find(&search(Some(2_000_000)));
    assert_eq!(found.p99_bound_ns, Some(2_000_000.0));
    assert!((54_000..60_000).contains(&found.low_per_s.unwrap()), "{found:?}");
    assert_eq!(found.outcome, KneeOutcome::Found, "saturated from 60k/s");
}

#[test]
fn a_knee_outside_the_range_is_said_to_be_there() {
    let never = Planted::new(100_000, 10_000_000).find(&search(None));
    assert_eq!((never.outcome, never.low_per_s), (KneeOutcome::AboveRange, Some(400_000)));
    let always = Planted::new(100_000, 1).find(&search(Some(10_000)));
    assert_eq!((always.outcome, always.high_per_s), (KneeOutcome::BelowRange, Some(10)));
}

#[test]
fn a_step_that_cannot_be_decided_ends_the_search() {
    let mut planted = Planted::new(100_000, 30_000);
    assert_eq!(planted.progress(&search(None)).next_rate(), Some(1_000));
    planted.run(1_000, 4..19);
    for sample in &mut planted.samples[3..14] {
        sample.excluded = Some(ExclusionReason::Disturbed);
    }
    let progress = planted.progress(&search(None));
    assert_eq!((progress.next_rate(), progress.summary().outcome), (None, KneeOutcome::Undecided));
    planted.samples.truncate(10);
    let progress = planted.progress(&search(None));
    assert_eq!(
        (progress.next_rate(), progress.summary().outcome),
        (Some(1_000), KneeOutcome::Unfinished)
    );
}

/// Half of the runs keep the bound and half do not: neither side is proven.
#[test]
fn runs_that_contradict_each_other_decide_nothing() {
    let mut planted = Planted::new(100_000, 30_000);
    planted.run(1_000, 4..19);
    let slow = round_trips(&[50_000; 2_000]).latencies.histogram;
    for sample in planted.samples[3..].iter_mut().step_by(15) {
        sample.paced.outside_gaps_histogram = Some(slow.clone());
    }
    let summary = planted.progress(&search(Some(10_000))).summary();
    assert_eq!((summary.outcome, summary.low_per_s), (KneeOutcome::Undecided, None));
    assert_eq!(summary.steps[0].verdict, KneeVerdict::Undecided);
}

#[test]
fn without_an_unpaced_rate_there_is_no_search() {
    let mut planted = Planted::new(100_000, 30_000);
    planted.samples.clear();
    let progress = planted.progress(&search(None));
    assert_eq!((progress.next_rate(), progress.summary().outcome), (None, KneeOutcome::Failed));
}

#[test]
fn rates_have_two_digits() {
    let rates = [0.2, 7.4, 74.0, 123.0, 128_000.0, 1e12].map(rounded);
    assert_eq!(rates, [1, 7, 74, 120, 130_000, MAX_RATE_PER_S]);
}
