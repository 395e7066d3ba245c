//! With `--until-ci`: whether a case is known well enough.

use std::collections::HashMap;
use std::time::Instant;

use ipcperf_stats::{Bootstrap, median};

use crate::plan::{Case, Enough, Precision};

/// Decides for each case whether it is measured once more.
#[derive(Debug)]
pub(super) struct Goal {
    enough: Enough,
    start: Instant,
    /// The number of figures at which a case is looked at next. Each look is another chance to be
    /// wrong, so they come at growing distances.
    next_look: HashMap<String, usize>,
    known: HashMap<String, Verdict>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Known,
    NotYet,
}

impl Goal {
    pub(super) fn of(enough: Enough) -> Self {
        Self { enough, start: Instant::now(), next_look: HashMap::new(), known: HashMap::new() }
    }

    /// Whether `case`, whose figures so far are `figures`, is due in `block`.
    pub(super) fn wants(&mut self, case: &Case, block: u32, figures: &[f64]) -> bool {
        let Enough::UntilCi(precision) = self.enough else {
            return true;
        };
        if block <= precision.least_repetitions {
            return true;
        }
        self.start.elapsed() < precision.most_time()
            && self.verdict(&precision, case, figures) == Verdict::NotYet
    }

    fn verdict(&mut self, precision: &Precision, case: &Case, figures: &[f64]) -> Verdict {
        let due = self.next_look.get(&case.id).copied();
        let due = due.unwrap_or(precision.least_repetitions as usize);
        let known = self.known.entry(case.id.clone()).or_insert(Verdict::NotYet);
        if figures.len() >= due {
            self.next_look.insert(case.id.clone(), figures.len() + figures.len() / 4 + 1);
            if is_known(precision, figures) {
                *known = Verdict::Known;
            }
        }
        *known
    }
}

/// Whether the 95 % interval of the median of `figures` is narrow enough.
fn is_known(precision: &Precision, figures: &[f64]) -> bool {
    let interval = Bootstrap::default().median(figures);
    median(figures)
        .zip(interval)
        .is_some_and(|(median, interval)| precision.is_met(median, interval.low, interval.high))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn goal(most_s: f64) -> Goal {
        Goal::of(Enough::parse(None, Some(2.0), None, Some(most_s)).unwrap())
    }

    fn wants(goal: &mut Goal, block: u32, figures: &[f64]) -> bool {
        goal.wants(&crate::plan::tests::case("pipe"), block, figures)
    }

    /// Values around 100 that differ by up to `spread`.
    fn figures(count: u32, spread: f64) -> Vec<f64> {
        (0..count).map(|k| 100.0 + spread * (f64::from(k * 7 % 10) / 4.5 - 1.0)).collect()
    }

    #[test]
    fn a_fixed_number_is_not_thought_about() {
        let mut goal = Goal::of(Enough::Repetitions(3));
        assert!(wants(&mut goal, 100, &[]));
    }

    #[test]
    fn what_is_known_is_not_measured_again() {
        assert!(!wants(&mut goal(60.0), 11, &figures(10, 0.5)));
        assert!(wants(&mut goal(60.0), 11, &figures(10, 20.0)));
        assert!(wants(&mut goal(60.0), 10, &figures(9, 0.5)), "ten are the least");
    }

    #[test]
    fn looks_come_at_growing_distances() {
        let mut goal = goal(60.0);
        assert!(wants(&mut goal, 11, &figures(10, 20.0)));
        assert!(wants(&mut goal, 12, &figures(11, 0.5)), "not looked at again yet");
        assert!(!wants(&mut goal, 14, &figures(13, 0.5)));
    }

    #[test]
    fn time_that_is_up_ends_what_has_the_least() {
        let mut goal = goal(1e-9);
        assert!(wants(&mut goal, 10, &[]));
        assert!(!wants(&mut goal, 11, &figures(10, 20.0)));
    }
}
