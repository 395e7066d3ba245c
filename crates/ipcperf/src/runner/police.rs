//! Noise detection: disturbed runs are marked and retried within limits, but never deleted.

use std::collections::{BTreeSet, VecDeque};
use std::time::{Duration, Instant};

use ipcperf_engine::worker::steal_ns;
use ipcperf_engine::{Disturbance, disturbance};
use ipcperf_model::Measurement;
use ipcperf_results::{Sample, SetAside};

use ipcperf_plan::machine::{NoiseDetection, STEAL_SHARE, noise_detection};
use ipcperf_plan::{Case, Plan};

/// Minimum period over which steal time is measured, if a block is shorter: the kernel counts it in ticks of 10 ms.
const STEAL_WINDOW: Duration = Duration::from_secs(1);
/// Minimum period for a meaningful share.
const LEAST_WINDOW: Duration = Duration::from_millis(500);

/// Decides whether runs are valid and which are retried.
#[derive(Debug)]
pub(super) struct Police {
    noise: NoiseDetection,
    steal: StealWatch,
    attempts: u32,
    /// Retries left. The limit keeps a machine that is never quiet from running for ever.
    repeats_left: u64,
}

impl Police {
    /// Creates the detection for `plan`. Up to half of its runs may be retried, and always at least ten; retries in
    /// `before` are counted.
    pub(super) fn of(plan: &Plan, before: &[Sample]) -> Self {
        let repeated = before.iter().filter(|sample| sample.run.attempt > 1).count() as u64;
        let cpus: BTreeSet<u32> =
            plan.cases.iter().filter_map(|case| case.spec.cpus).flatten().collect();
        Self {
            noise: noise_detection(),
            steal: StealWatch::over(cpus.into_iter().collect()),
            attempts: plan.attempts,
            repeats_left: (plan.runs() / 2).max(10).saturating_sub(repeated),
        }
    }

    /// Starts a block.
    pub(super) fn begin_block(&mut self) {
        self.steal.begin_block();
    }

    /// Returns the reason to exclude the run of `case` in `block`, if any. In a run with an instrument that slows it
    /// down, the time that its peers waited is not evidence of a disturbance by the machine.
    pub(super) fn judge(
        &self,
        case: &Case,
        block: u32,
        measured: &Measurement,
    ) -> Option<SetAside> {
        if block == 0 {
            return Some(SetAside::First);
        }
        if self.noise == NoiseDetection::Off {
            return None;
        }
        if self.steal.share().is_some_and(|share| share > STEAL_SHARE) {
            return Some(SetAside::Disturbed);
        }
        match disturbance(&case.spec, measured)? {
            Disturbance::ProbesDisagree => Some(SetAside::ProbeDisagrees),
            Disturbance::NoProbe => Some(SetAside::Disturbed),
            Disturbance::Waited | Disturbance::Missing => {
                case.watched.disturbing().next().is_none().then_some(SetAside::Disturbed)
            }
        }
    }

    /// Whether a run excluded for reason `why` at `attempt` is retried; a retry is counted.
    pub(super) fn repeats(&mut self, why: Option<SetAside>, attempt: u32) -> Repeat {
        let is_disturbed = why.is_some_and(SetAside::is_disturbance);
        if !is_disturbed || attempt >= self.attempts || self.repeats_left == 0 {
            return Repeat::No;
        }
        self.repeats_left -= 1;
        Repeat::Yes
    }
}

/// Whether a run is retried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Repeat {
    Yes,
    No,
}

/// Steal time of some CPUs, recorded at the start of each of the last blocks.
#[derive(Debug)]
struct StealWatch {
    cpus: Vec<u32>,
    marks: VecDeque<(Instant, u64)>,
}

impl StealWatch {
    fn over(cpus: Vec<u32>) -> Self {
        Self { cpus, marks: VecDeque::new() }
    }

    /// Starts a block, and drops records that are older than needed.
    fn begin_block(&mut self) {
        let now = Instant::now();
        while self.marks.get(1).is_some_and(|(next, _)| now - *next >= STEAL_WINDOW) {
            self.marks.pop_front();
        }
        if let Some(stolen_ns) = steal_ns(&self.cpus) {
            self.marks.push_back((now, stolen_ns));
        }
    }

    /// Returns the share of time stolen since this block began, or over the last second if the block is younger than
    /// that.
    fn share(&self) -> Option<f64> {
        let now = Instant::now();
        let far_enough = self.marks.iter().rfind(|(mark, _)| now - *mark >= STEAL_WINDOW);
        let (mark, before_ns) = far_enough.or_else(|| self.marks.front())?;
        let window = now - *mark;
        let stolen_ns = steal_ns(&self.cpus)?.saturating_sub(*before_ns);
        (window >= LEAST_WINDOW).then(|| share(stolen_ns, window, self.cpus.len()))
    }
}

/// Returns `stolen_ns`, the sum over `cpus` CPUs (0: all CPUs), as a share of their time in `window`.
#[allow(clippy::cast_precision_loss, reason = "a share, good to three digits")]
fn share(stolen_ns: u64, window: Duration, cpus: usize) -> f64 {
    let cpus = match cpus {
        0 => std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
        named => named,
    };
    stolen_ns as f64 / (window.as_nanos() as f64 * cpus as f64)
}

#[cfg(test)]
mod tests {
    use ipcperf_model::workload::Kind;

    use super::*;
    use ipcperf_plan::Enough;

    /// Returns a plan of two runs.
    fn plan() -> Plan {
        Plan {
            cases: vec![ipcperf_plan::testing::case("pipe")],
            refused: Vec::new(),
            unavailable: Vec::new(),
            unwatched: Vec::new(),
            enough: Enough::Repetitions(1),
            attempts: 3,
            seed: 1,
            deadline: Duration::from_secs(10),
        }
    }

    fn police(attempts: u32, repeats_left: u64) -> Police {
        let (noise, steal) = (NoiseDetection::On, StealWatch::over(vec![0]));
        Police { noise, steal, attempts, repeats_left }
    }

    #[test]
    fn a_disturbed_run_is_made_again_within_both_limits() {
        let mut police = police(3, 3);
        let mut again = |attempt| police.repeats(Some(SetAside::Disturbed), attempt) == Repeat::Yes;
        assert!(again(1) && again(2) && !again(3));
        assert!(again(1) && !again(1), "three repeats are the most");
    }

    #[test]
    fn what_counts_or_lies_in_the_first_block_is_not_made_again() {
        let mut police = police(3, 10);
        assert_eq!(police.repeats(None, 1), Repeat::No);
        assert_eq!(police.repeats(Some(SetAside::First), 1), Repeat::No);
        assert_eq!(police.repeats(Some(SetAside::ProbeDisagrees), 1), Repeat::Yes);
    }

    /// However often a file is resumed, there are no more retries than in an uninterrupted execution.
    #[test]
    fn what_was_repeated_before_counts() {
        let repeated = |_| {
            let mut sample = ipcperf_results::testing::sample("pipe", Kind::Stream, 64, 1, 1_000);
            sample.run.attempt = 2;
            sample
        };
        let before: Vec<Sample> = (0..9).map(repeated).collect();
        let mut police = Police::of(&plan(), &before);
        let mut again = || police.repeats(Some(SetAside::Disturbed), 1);
        assert_eq!([again(), again()], [Repeat::Yes, Repeat::No]);
    }

    #[test]
    fn steal_is_a_share_of_all_the_time_there_was() {
        let window = Duration::from_secs(1);
        assert!((share(20_000_000, window, 1) - 0.02).abs() < 1e-12);
        assert!((share(20_000_000, window, 2) - 0.01).abs() < 1e-12);
    }

    #[test]
    fn a_short_block_is_judged_over_a_second() {
        let mut watch = StealWatch::over(vec![0]);
        let now = Instant::now();
        let ago = |ms| now.checked_sub(Duration::from_millis(ms)).unwrap();
        watch.marks.extend([(ago(3_000), 0), (ago(1_500), 0), (ago(1_200), 0), (ago(100), 0)]);
        watch.begin_block();
        assert_eq!(watch.marks.front().map(|mark| mark.0), Some(ago(1_200)), "older are forgotten");
        assert!(watch.share().is_some());
        assert_eq!(StealWatch::over(vec![0]).share(), None);
    }
}
