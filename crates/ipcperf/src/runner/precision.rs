//! Stopping rules of `--until-ci` and `--until-decided`.

use std::collections::{HashMap, HashSet};
use std::time::Instant;

use ipcperf_model::Precision;
use ipcperf_stats::{Bootstrap, median};

use ipcperf_plan::{Case, StoppingRule};

/// Decides for each case whether it needs another repetition.
#[derive(Debug)]
pub(super) struct RepetitionControl {
    rule: StoppingRule,
    start: Instant,
    /// State of the looks at each case. Each look is another chance of a false result, so they come at growing
    /// distances.
    looks: HashMap<String, CaseLooks>,
    /// Cases that no undecided hypothesis needs.
    decided: HashSet<String>,
}

/// State of the looks at a case.
#[derive(Clone, Copy, Debug)]
struct CaseLooks {
    /// Number of figures at the next look.
    next: usize,
    /// Number of consecutive looks, up to the last, at which the precision was reached.
    consecutive_good: u32,
}

/// Number of consecutive looks at which the precision must be reached: a single one may be luck.
const REQUIRED_GOOD_LOOKS: u32 = 2;

impl RepetitionControl {
    pub(super) fn new(enough: StoppingRule) -> Self {
        let (looks, decided) = (HashMap::new(), HashSet::new());
        Self { rule: enough, start: Instant::now(), looks, decided }
    }

    /// Whether the hypotheses of the study are judged after this number of valid `repetitions`.
    pub(super) fn has_look_after(&self, repetitions: u32) -> bool {
        matches!(&self.rule, StoppingRule::UntilDecided(looks) if looks.at_repetitions.contains(&repetitions))
    }

    /// Excuses `cases` from further repetitions, because the hypotheses about them are decided.
    pub(super) fn excuse(&mut self, cases: HashSet<String>) {
        self.decided = cases;
    }

    /// Whether `case`, with `figures` so far, is due in `block`.
    pub(super) fn check_due(&mut self, case: &Case, block: u32, figures: &[f64]) -> bool {
        let precision = match &self.rule {
            StoppingRule::Repetitions(_) => return true,
            StoppingRule::UntilDecided(_) => return !self.decided.contains(&case.id),
            StoppingRule::UntilCi(precision) => *precision,
        };
        if block <= precision.min_repetitions {
            return true;
        }
        self.start.elapsed() < precision.max_time()
            && !self.check_precision(&precision, case, figures)
    }

    fn check_precision(&mut self, precision: &Precision, case: &Case, figures: &[f64]) -> bool {
        let first = CaseLooks { next: precision.min_repetitions as usize, consecutive_good: 0 };
        let looks = self.looks.entry(case.id.clone()).or_insert(first);
        if figures.len() >= looks.next && looks.consecutive_good < REQUIRED_GOOD_LOOKS {
            looks.next = figures.len() + figures.len() / 2 + 1;
            looks.consecutive_good =
                if is_narrow(precision, figures) { looks.consecutive_good + 1 } else { 0 };
        }
        looks.consecutive_good >= REQUIRED_GOOD_LOOKS
    }
}

/// Whether the 95 % confidence interval of the median of `figures` is narrow enough.
fn is_narrow(precision: &Precision, figures: &[f64]) -> bool {
    let interval = Bootstrap::default().median(figures);
    median(figures)
        .zip(interval)
        .is_some_and(|(median, interval)| precision.is_met(median, interval.low, interval.high))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn goal(most_s: f64) -> RepetitionControl {
        RepetitionControl::new(StoppingRule::parse(None, Some(2.0), None, Some(most_s)).unwrap())
    }

    fn wants(goal: &mut RepetitionControl, block: u32, figures: &[f64]) -> bool {
        goal.check_due(&ipcperf_plan::testing::case("pipe"), block, figures)
    }

    /// Returns values around 100 that differ from it by up to `spread`.
    fn figures(count: u32, spread: f64) -> Vec<f64> {
        (0..count).map(|k| 100.0 + spread * (f64::from(k * 7 % 10) / 4.5 - 1.0)).collect()
    }

    #[test]
    fn a_fixed_number_is_not_thought_about() {
        let mut goal = RepetitionControl::new(StoppingRule::Repetitions(3));
        assert!(wants(&mut goal, 100, &[]));
    }

    #[test]
    fn what_is_known_at_two_looks_in_a_row_is_not_measured_again() {
        let mut goal = goal(60.0);
        assert!(wants(&mut goal, 10, &figures(9, 0.5)), "ten are the least");
        assert!(wants(&mut goal, 11, &figures(10, 0.5)), "once may be luck");
        assert!(wants(&mut goal, 12, &figures(15, 0.5)), "not looked at again yet");
        assert!(!wants(&mut goal, 13, &figures(16, 0.5)));
    }

    #[test]
    fn a_look_that_is_not_good_begins_the_row_anew() {
        let mut goal = goal(60.0);
        assert!(wants(&mut goal, 11, &figures(10, 0.5)));
        assert!(wants(&mut goal, 17, &figures(16, 20.0)));
        assert!(wants(&mut goal, 26, &figures(25, 0.5)));
        assert!(!wants(&mut goal, 39, &figures(38, 0.5)));
    }

    #[test]
    fn time_that_is_up_ends_what_has_the_least() {
        let mut goal = goal(1e-9);
        assert!(wants(&mut goal, 10, &[]));
        assert!(!wants(&mut goal, 11, &figures(10, 20.0)));
    }
}
