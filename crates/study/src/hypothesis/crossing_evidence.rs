//! Evidence on the two sides of a crossing.

use ipcperf_stats::{CrossingDirection, LastingCrossing};

use super::Claim;
use super::compare::{ComparisonResult, Direction};
use super::interval::Alphas;
use super::verdict::Obstacle;
use crate::Better;

/// One of the two lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    First,
    Second,
}

impl Side {
    const fn other(self) -> Self {
        match self {
            Self::First => Self::Second,
            Self::Second => Self::First,
        }
    }
}

/// Evidence at one level.
#[derive(Clone, Debug)]
pub(super) struct LevelEvidence {
    x: f64,
    /// The line that appears to be better.
    leader: Option<Side>,
    /// Whether the difference is significant.
    is_significant: bool,
    /// The line whose advantage the interval for rejection shows.
    clear_leader: Option<Side>,
    /// Lines shown to have no more than a negligible advantage.
    without_advantage: Vec<Side>,
    /// Repetitions needed to show the difference.
    pub(super) needed_repetitions: Option<u64>,
    /// Obstacle, if these are too many.
    pub(super) obstacle: Option<Obstacle>,
}

impl LevelEvidence {
    /// Evaluates the comparison at `x`, one of `levels` levels of a pair. A ratio below `negligible` is no advantage.
    pub(super) fn new(
        claim: &Claim,
        (x, compared): (f64, &ComparisonResult),
        (levels, alphas): (usize, Alphas),
        (better, negligible): (Better, f64),
    ) -> Self {
        let leader = match (compared.direction, better) {
            (Direction::First, Better::Higher) | (Direction::Second, Better::Lower) => {
                Some(Side::First)
            }
            (Direction::Second, Better::Higher) | (Direction::First, Better::Lower) => {
                Some(Side::Second)
            }
            (Direction::Neither, _) => None,
        };
        let ratio = compared.ratio_at(1.0 - alphas.reject);
        let ends = ratio.and_then(|ratio| ratio.low.zip(ratio.high));
        let is_high_below = |bound: f64| ends.is_some_and(|(_, high)| high < bound);
        let is_low_above = |bound: f64| ends.is_some_and(|(low, _)| low > bound);
        let (is_low, is_high) = (is_high_below(negligible), is_low_above(1.0 / negligible));
        let (larger, smaller) = match better {
            Better::Higher => (Side::First, Side::Second),
            Better::Lower => (Side::Second, Side::First),
        };
        let clear_leader =
            if is_low_above(1.0) { Some(larger) } else { is_high_below(1.0).then_some(smaller) };
        let without_advantage = match better {
            Better::Higher => [(Side::First, is_low), (Side::Second, is_high)],
            Better::Lower => [(Side::First, is_high), (Side::Second, is_low)],
        };
        Self {
            x,
            leader,
            clear_leader,
            is_significant: leader.is_some() && compared.is_significant(alphas.support),
            without_advantage: without_advantage
                .into_iter()
                .filter(|(_, is)| *is)
                .map(|(side, _)| side)
                .collect(),
            needed_repetitions: compared
                .needed_repetitions(Alphas::with_levels(claim, (1, levels), alphas.support).reject),
            obstacle: compared.ratio().map(|ratio| ratio.obstacle(1.0)),
        }
    }

    fn wins(&self, side: Side) -> bool {
        self.is_significant && self.leader == Some(side)
    }
}

/// Whether each line is significantly better on its side of the crossing, and the crossing is final.
pub(super) fn is_shown(
    lasting: &LastingCrossing,
    evidence: &[LevelEvidence],
    better: Better,
) -> bool {
    let (at, winner) = (lasting.point.level, winner_of(lasting, better));
    evidence.iter().any(|stand| stand.x < at && stand.wins(winner.other()))
        && evidence.iter().any(|stand| stand.x > at && stand.wins(winner))
        && lasting.interval.is_some_and(|ends| ends.high.is_some())
}

/// Whether `winner` is shown not to win: it has no advantage at the largest level, or was never behind.
pub(super) fn is_refuted(winner: Side, evidence: &[LevelEvidence]) -> bool {
    let Some((last, before)) = evidence.split_last() else { return false };
    let was_never_behind =
        before.iter().all(|stand| stand.without_advantage.contains(&winner.other()));
    last.without_advantage.contains(&winner) || !before.is_empty() && was_never_behind
}

/// Whether the lines are shown not to cross from level `low` to level `high`: one of them is better at both, and at each
/// level between. Both levels must have been measured.
pub(super) fn is_refuted_between((low, high): (f64, f64), evidence: &[LevelEvidence]) -> bool {
    let within: Vec<_> = evidence.iter().filter(|one| one.x >= low && one.x <= high).collect();
    let (Some(first), Some(last)) = (within.first(), within.last()) else { return false };
    let is_complete = first.x <= low && last.x >= high;
    let leader = first.clear_leader;
    is_complete && leader.is_some() && within.iter().all(|one| one.clear_leader == leader)
}

/// Returns the harder side: finds, on each side of the crossing, the level whose leader needs the fewest repetitions to
/// show, and returns the one of the two that needs more.
pub(super) fn hardest_side<'s>(
    lasting: &LastingCrossing,
    evidence: &'s [LevelEvidence],
    better: Better,
) -> Option<&'s LevelEvidence> {
    let (at, winner) = (lasting.point.level, winner_of(lasting, better));
    let easiest = |side: Side, is_there: &dyn Fn(f64) -> bool| {
        let leading = evidence.iter().filter(|one| one.leader == Some(side) && is_there(one.x));
        leading
            .filter(|one| one.needed_repetitions.is_some())
            .min_by_key(|one| one.needed_repetitions)
    };
    let (before, after) = (easiest(winner.other(), &|x| x < at)?, easiest(winner, &|x| x > at)?);
    Some(if before.needed_repetitions > after.needed_repetitions { before } else { after })
}

/// Returns the line that is better beyond the crossing.
pub(super) fn winner_of(lasting: &LastingCrossing, better: Better) -> Side {
    match (lasting.point.direction, better) {
        (CrossingDirection::Upward, Better::Higher)
        | (CrossingDirection::Downward, Better::Lower) => Side::First,
        (CrossingDirection::Downward, Better::Higher)
        | (CrossingDirection::Upward, Better::Lower) => Side::Second,
    }
}

#[cfg(test)]
mod tests {
    use ipcperf_stats::{CrossingPoint, OpenInterval};

    use super::*;

    #[test]
    fn a_crossing_that_may_lie_beyond_the_largest_level_is_not_shown() {
        let evidence_at = |x, side| LevelEvidence {
            x,
            leader: Some(side),
            is_significant: true,
            clear_leader: Some(side),
            without_advantage: Vec::new(),
            needed_repetitions: None,
            obstacle: None,
        };
        let evidence = [evidence_at(1.0, Side::Second), evidence_at(4.0, Side::First)];
        let is_shown_with = |high| {
            let place = CrossingPoint { level: 2.0, direction: CrossingDirection::Downward };
            let interval = Some(OpenInterval { low: Some(1.5), high });
            is_shown(
                &LastingCrossing { point: place, levels_after: 1, interval },
                &evidence,
                Better::Lower,
            )
        };
        assert!(is_shown_with(Some(3.0)));
        assert!(!is_shown_with(None));
    }
}
