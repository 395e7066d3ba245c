//! Evidence on the two sides of a crossing.

use ipcperf_stats::{Lasting, Turn};

use super::Claim;
use super::compare::{Compared, Lean};
use super::interval::Sure;
use super::outcome::Obstacle;
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
pub(super) struct Stand {
    x: f64,
    /// The line that appears to be better.
    leads: Option<Side>,
    /// Whether the difference is significant.
    is_significant: bool,
    /// Lines shown to have no more than a negligible advantage.
    beaten: Vec<Side>,
    /// Repetitions needed to show the difference.
    pub(super) shows_at: Option<u64>,
    /// Obstacle, if these are too many.
    pub(super) obstacle: Option<Obstacle>,
}

impl Stand {
    /// Evaluates the comparison at `x`, one of `levels` levels of a pair. A ratio below `negligible` is no advantage.
    pub(super) fn of(
        claim: &Claim,
        (x, compared): (f64, &Compared),
        (levels, sure): (usize, Sure),
        (better, negligible): (Better, f64),
    ) -> Self {
        let leads = match (compared.lean, better) {
            (Lean::First, Better::Higher) | (Lean::Second, Better::Lower) => Some(Side::First),
            (Lean::Second, Better::Higher) | (Lean::First, Better::Lower) => Some(Side::Second),
            (Lean::Neither, _) => None,
        };
        let ratio = compared.ratio_at(1.0 - sure.rejects);
        let ends = ratio.and_then(|ratio| ratio.low.zip(ratio.high));
        let is_no_more = |most: f64| ends.is_some_and(|(_, high)| high < most);
        let is_no_less = |least: f64| ends.is_some_and(|(low, _)| low > least);
        let (is_low, is_high) = (is_no_more(negligible), is_no_less(1.0 / negligible));
        let beaten = match better {
            Better::Higher => [(Side::First, is_low), (Side::Second, is_high)],
            Better::Lower => [(Side::First, is_high), (Side::Second, is_low)],
        };
        Self {
            x,
            leads,
            is_significant: leads.is_some() && compared.is_significant(sure.supports),
            beaten: beaten.into_iter().filter(|(_, is)| *is).map(|(side, _)| side).collect(),
            shows_at: compared.shows_at(Sure::within(claim, (1, levels), sure.supports).rejects),
            obstacle: compared.ratio().map(|ratio| ratio.obstacle(1.0)),
        }
    }

    fn wins(&self, side: Side) -> bool {
        self.is_significant && self.leads == Some(side)
    }
}

/// Whether each line is significantly better on its side of the crossing, and the crossing is final.
pub(super) fn is_shown(lasting: &Lasting, stands: &[Stand], better: Better) -> bool {
    let (at, winner) = (lasting.place.level, winner_of(lasting, better));
    stands.iter().any(|stand| stand.x < at && stand.wins(winner.other()))
        && stands.iter().any(|stand| stand.x > at && stand.wins(winner))
        && lasting.interval.is_some_and(|ends| ends.high.is_some())
}

/// Whether `winner` is shown not to win: it has no advantage at the largest level, or was never behind.
pub(super) fn is_refuted(winner: Side, stands: &[Stand]) -> bool {
    let Some((last, before)) = stands.split_last() else { return false };
    let was_never_behind = before.iter().all(|stand| stand.beaten.contains(&winner.other()));
    last.beaten.contains(&winner) || !before.is_empty() && was_never_behind
}

/// Returns the harder side: finds, on each side of the crossing, the level whose leader needs the fewest repetitions to
/// show, and returns the one of the two that needs more.
pub(super) fn worst<'s>(
    lasting: &Lasting,
    stands: &'s [Stand],
    better: Better,
) -> Option<&'s Stand> {
    let (at, winner) = (lasting.place.level, winner_of(lasting, better));
    let least = |side: Side, is_there: &dyn Fn(f64) -> bool| {
        let leading = stands.iter().filter(|one| one.leads == Some(side) && is_there(one.x));
        leading.filter(|one| one.shows_at.is_some()).min_by_key(|one| one.shows_at)
    };
    let (before, after) = (least(winner.other(), &|x| x < at)?, least(winner, &|x| x > at)?);
    Some(if before.shows_at > after.shows_at { before } else { after })
}

/// Returns the line that is better beyond the crossing.
pub(super) fn winner_of(lasting: &Lasting, better: Better) -> Side {
    match (lasting.place.turn, better) {
        (Turn::Rises, Better::Higher) | (Turn::Falls, Better::Lower) => Side::First,
        (Turn::Falls, Better::Higher) | (Turn::Rises, Better::Lower) => Side::Second,
    }
}

#[cfg(test)]
mod tests {
    use ipcperf_stats::{OpenInterval, Place};

    use super::*;

    #[test]
    fn a_crossing_that_may_lie_beyond_the_largest_level_is_not_shown() {
        let stand = |x, side| Stand {
            x,
            leads: Some(side),
            is_significant: true,
            beaten: Vec::new(),
            shows_at: None,
            obstacle: None,
        };
        let stands = [stand(1.0, Side::Second), stand(4.0, Side::First)];
        let is_shown_with = |high| {
            let place = Place { level: 2.0, turn: Turn::Falls };
            let interval = Some(OpenInterval { low: Some(1.5), high });
            is_shown(&Lasting { place, levels_after: 1, interval }, &stands, Better::Lower)
        };
        assert!(is_shown_with(Some(3.0)));
        assert!(!is_shown_with(None));
    }
}
