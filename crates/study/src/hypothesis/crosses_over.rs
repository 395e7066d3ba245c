//! crosses-over: one line of cases overtakes another.

use ipcperf_model::size::parse as parse_size;
use ipcperf_stats::{Bootstrap, Course, Crossing, Lasting, Turn, crossing};

use super::compare::{Compared, Lean, Statistic, compare, correct};
use super::evidence::{EstimateKind, Place};
use super::interval::{Bounds, Sure};
use super::keys::{FIRST, NEGLIGIBLE, OF_SECOND, SECOND, STATISTIC};
use super::operands::{Compares, Pair, compares};
use super::outcome::Obstacle;
use super::picture::{BetterNote, Caption, Picture, Together};
use super::{Cells, Claim, Estimate, Found, Part, Test, Verdict};
use crate::{Better, Key, Need, Takes};

pub(super) const TEST: Test = Test {
    name: "crosses-over",
    about: "along the factor one line overtakes the other, for good; told with the place and its interval",
    formula: "The place where the median over blocks of the paired ratio passes 1 for good, interpolated between \
              levels in logarithms, and its percentile interval over resamples of whole blocks. Supported \
              where the ratio differs from 1 in its direction at some level on either side of it (paired \
              Wilcoxon test, corrected over the levels of the pair), the interval ends before the largest level \
              and, where `between` is given, lies within. Rejected where the 1 - level/m interval of the ratio \
              (t on logarithms; m pairs of lines) shows that the one said to win has no more than a negligible \
              advantage at the largest level, or the other none at any level below it, or where the 1 - level/m \
              interval of the place lies wholly outside `between`. Where `need` is below 1, m divides the level \
              that supports, too.",
    assumptions: "The ratio changes steadily between neighbouring levels. Blocks are independent. Both sides of a \
                  crossing must be shown, so neither is corrected for the other (Berger 1982); at each side one \
                  level of several suffices, so that levels are. One pair suffices to reject the claim: level/m.",
    source: "Efron 1979, Annals of Statistics 7; Wilcoxon 1945; Holm 1979; Berger 1982, Technometrics 24",
    keys: &[FIRST, SECOND, OF_SECOND, STATISTIC, NEGLIGIBLE, BETWEEN, WHO],
    picture: Picture {
        together: Together::Pairs,
        caption: Caption::IfFound {
            kind: EstimateKind::CrossingAt,
            found: "Dashed: where the paired ratio of the two passes 1 for good; its band is the 95 % interval.",
            missing: "The lines do not cross.",
        },
        better: BetterNote::Shown,
    },
    find,
};

const BETWEEN: Key = Key {
    name: "between",
    takes: Takes::Levels,
    need: Need::Optional("anywhere"),
    about: "the two levels between which it is claimed to happen",
    example: "[\"8KiB\", \"16KiB\"]",
};

const WHO: Key = Key {
    name: "who",
    takes: Takes::OneOf(&["first", "second", "either"]),
    need: Need::Optional("first"),
    about: "who is the better beyond the crossing",
    example: "\"first\"",
};

fn find(claim: &Claim, cells: &Cells<'_>) -> Found {
    match compares(claim, cells) {
        Err(found) => *found,
        Ok(both) => {
            let sure = Sure::of(claim, both.pairs.len(), claim.level());
            let found = both.pairs.iter().map(|pair| one(claim, &both, pair, sure));
            let (parts, told): (Vec<Part>, Vec<String>) = found.unzip();
            Found { told, ..Found::of(parts, claim.need()) }
        }
    }
}

/// Judges one pair of lines. Also returns its ratios by level, as text.
fn one(claim: &Claim, both: &Compares<'_>, pair: &Pair<'_>, sure: Sure) -> (Part, String) {
    let statistic = Statistic::of(claim);
    let levels = pair.by_level();
    let mut all: Vec<Compared> = levels
        .iter()
        .map(|(point, sides)| compare(Place::level(point), sides, statistic, &both.unit))
        .collect();
    correct(&mut all, claim.correction());
    let stands: Vec<Stand> = levels
        .iter()
        .zip(&all)
        .map(|((point, _), one)| {
            Stand::of(claim, (point.x, one), (levels.len(), sure), both.better)
        })
        .collect();
    let n = all.iter().map(|one| one.part.n).min().unwrap_or(0);
    let mut part = Part::new(Place::line(&pair.name), n);
    part.series = all.iter().flat_map(|one| one.part.series.clone()).collect();
    let curves = pair.curves().map_err(|why| why.to_string());
    let found_at = |level: f64| {
        let bootstrap = Bootstrap { level, ..Bootstrap::default() };
        let (first, second) = curves.as_ref().map_err(String::clone)?;
        crossing(first, second, &bootstrap).map_err(|why| why.to_string())
    };
    let found = found_at(SHOWN);
    let found = match found {
        Ok(found) => found,
        Err(reason) => {
            part.verdict = Verdict::NotTestable { reason };
            return (part, String::new());
        }
    };
    let lasting = lasting(&found);
    let place = |lasting: &Lasting| place(lasting, claim.over_unit());
    part.estimates.extend(lasting.map(place));
    part.verdict = verdict(claim, lasting, &stands, both.better);
    if let (Verdict::Supported, Some(between)) = (&part.verdict, between(claim)) {
        let lies_at =
            |miss: f64| found_at(1.0 - miss).ok().as_ref().and_then(self::lasting).map(place);
        part.verdict = within(between, lies_at, sure, n);
    }
    part.note = matches!(found.course, Course::Several { .. })
        .then(|| "it crosses several times; the last counts".to_owned());
    let ratios = found
        .ratios
        .iter()
        .zip(&levels)
        .map(|(ratio, (point, _))| format!("{} {:.2}", point.label, ratio.value));
    (part, format!("ratios of {} by level: {}", pair.name, ratios.collect::<Vec<_>>().join(", ")))
}

fn lasting(found: &Crossing) -> Option<&Lasting> {
    match &found.course {
        Course::Once(lasting) | Course::Several { lasting, .. } => Some(lasting),
        Course::AlwaysAbove | Course::AlwaysBelow | Course::AlwaysEqual => None,
    }
}

fn place(lasting: &Lasting, unit: &str) -> Estimate {
    let ends = lasting.interval;
    Estimate::new(EstimateKind::CrossingAt, lasting.place.level, SHOWN)
        .between(ends.and_then(|ends| ends.low), ends.and_then(|ends| ends.high))
        .in_unit(unit)
}

/// Confidence level of the reported interval.
const SHOWN: f64 = 0.95;

/// One of the two lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
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
struct Stand {
    x: f64,
    /// The line that appears to be better.
    leads: Option<Side>,
    /// Whether the difference is significant.
    is_significant: bool,
    /// Lines shown to have no more than a negligible advantage.
    beaten: Vec<Side>,
    /// Repetitions needed to show the difference.
    shows_at: Option<u64>,
    /// Obstacle, if these are too many.
    obstacle: Option<Obstacle>,
}

impl Stand {
    /// Evaluates the comparison at `x`, one of `levels` levels of a pair.
    fn of(
        claim: &Claim,
        (x, compared): (f64, &Compared),
        (levels, sure): (usize, Sure),
        better: Better,
    ) -> Self {
        let leads = match (compared.lean, better) {
            (Lean::First, Better::Higher) | (Lean::Second, Better::Lower) => Some(Side::First),
            (Lean::Second, Better::Higher) | (Lean::First, Better::Lower) => Some(Side::Second),
            (Lean::Neither, _) => None,
        };
        let negligible = 1.0 + claim.number(&NEGLIGIBLE);
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

fn verdict(claim: &Claim, lasting: Option<&Lasting>, stands: &[Stand], better: Better) -> Verdict {
    let claimed = match claim.word(&WHO) {
        "second" => vec![Side::Second],
        "either" => vec![Side::First, Side::Second],
        _ => vec![Side::First],
    };
    let lasting = lasting.filter(|lasting| claimed.contains(&winner_of(lasting, better)));
    if lasting.is_some_and(|lasting| is_shown(lasting, stands, better)) {
        return Verdict::Supported;
    }
    if claimed.iter().all(|winner| is_refuted(*winner, stands)) {
        return Verdict::Rejected;
    }
    let worst = lasting.and_then(|lasting| worst(lasting, stands, better));
    worst.map_or(Verdict::UNKNOWN, |stand| Verdict::open(stand.shows_at, stand.obstacle))
}

/// Whether each line is significantly better on its side of the crossing, and the crossing is final.
fn is_shown(lasting: &Lasting, stands: &[Stand], better: Better) -> bool {
    let (at, winner) = (lasting.place.level, winner_of(lasting, better));
    stands.iter().any(|stand| stand.x < at && stand.wins(winner.other()))
        && stands.iter().any(|stand| stand.x > at && stand.wins(winner))
        && lasting.interval.is_some_and(|ends| ends.high.is_some())
}

/// Whether `winner` is shown not to win: it has no advantage at the largest level, or was never behind.
fn is_refuted(winner: Side, stands: &[Stand]) -> bool {
    let Some((last, before)) = stands.split_last() else { return false };
    let was_never_behind = before.iter().all(|stand| stand.beaten.contains(&winner.other()));
    last.beaten.contains(&winner) || !before.is_empty() && was_never_behind
}

/// Returns the harder side: finds, on each side of the crossing, the level whose leader needs the fewest repetitions to
/// show, and returns the one of the two that needs more.
fn worst<'s>(lasting: &Lasting, stands: &'s [Stand], better: Better) -> Option<&'s Stand> {
    let (at, winner) = (lasting.place.level, winner_of(lasting, better));
    let least = |side: Side, is_there: &dyn Fn(f64) -> bool| {
        let leading = stands.iter().filter(|one| one.leads == Some(side) && is_there(one.x));
        leading.filter(|one| one.shows_at.is_some()).min_by_key(|one| one.shows_at)
    };
    let (before, after) = (least(winner.other(), &|x| x < at)?, least(winner, &|x| x > at)?);
    Some(if before.shows_at > after.shows_at { before } else { after })
}

/// Returns the line that is better beyond the crossing.
fn winner_of(lasting: &Lasting, better: Better) -> Side {
    match (lasting.place.turn, better) {
        (Turn::Rises, Better::Higher) | (Turn::Falls, Better::Lower) => Side::First,
        (Turn::Falls, Better::Higher) | (Turn::Rises, Better::Lower) => Side::Second,
    }
}

/// Judges whether the crossing lies between `low` and `high`. `lies_at` returns the estimate whose interval misses the
/// true place with the given probability.
fn within(
    (low, high): (f64, f64),
    lies_at: impl Fn(f64) -> Option<Estimate>,
    sure: Sure,
    n: usize,
) -> Verdict {
    let ends = |miss: f64| {
        let place = lies_at(miss)?;
        Some((place.low.unwrap_or(0.0), place.high.unwrap_or(f64::INFINITY)))
    };
    if ends(sure.supports).is_some_and(|(from, to)| from >= low && to <= high) {
        return Verdict::Supported;
    }
    if ends(sure.rejects).is_some_and(|(from, to)| to < low || from > high) {
        return Verdict::Rejected;
    }
    let Some(place) = lies_at(sure.shown) else { return Verdict::UNKNOWN };
    // Compare on a logarithmic scale, because levels differ by factors.
    let log = |level: f64| (level / low).ln();
    let place = Estimate {
        value: log(place.value),
        low: place.low.map(log),
        high: place.high.map(log),
        ..place
    };
    Bounds { above: Some(0.0), below: Some(log(high)) }.open(&place, n)
}

/// Returns the levels between which the crossing is claimed to lie.
fn between(claim: &Claim) -> Option<(f64, f64)> {
    let words = claim.values.levels("between")?.iter().flat_map(|word| word.split(','));
    #[allow(clippy::cast_precision_loss, reason = "a size, beside levels that are floats")]
    let sizes: Option<Vec<f64>> =
        words.map(|word| parse_size(word.trim()).ok().map(|bytes| bytes as f64)).collect();
    match sizes?[..] {
        [one, other] => Some((one.min(other), one.max(other))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use ipcperf_stats::{OpenInterval, Place};

    use super::*;
    use crate::hypothesis::test_data::{Made, made};

    const KEYS: &str = "test = \"crosses-over\"\nfirst = { mechanism = \"pipe\" }\n\
                        second = { mechanism = \"unix-stream\" }\n";

    fn made_of(values: &[f64; 5]) -> Made {
        made(10, 0.02, &[("pipe", values), ("unix-stream", &[1.0; 5])])
    }

    #[test]
    fn who_is_behind_and_then_ahead_has_crossed() {
        let crosses = made_of(&[1.4, 1.2, 0.9, 0.8, 0.7]);
        assert_eq!(crosses.word(KEYS), "supported");
        assert_eq!(crosses.word(&format!("{KEYS}who = \"either\"\n")), "supported");
        assert_eq!(crosses.word(&format!("{KEYS}who = \"second\"\n")), "rejected");
        assert_eq!(made_of(&[0.7, 0.8, 0.9, 1.2, 1.4]).word(KEYS), "rejected");
    }

    #[test]
    fn who_was_never_behind_did_not_cross() {
        assert_eq!(made_of(&[0.7, 0.8, 0.9, 0.8, 0.7]).word(KEYS), "rejected");
        // It is unknown whether the line was behind at one level in the middle.
        let values = [0.5, 0.6, 1.0, 0.6, 0.5];
        let noisy = made(10, 0.1, &[("pipe", &values), ("unix-stream", &[1.0; 5])]);
        assert_eq!(noisy.word(KEYS), "inconclusive");
    }

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

    #[test]
    fn the_place_must_lie_where_it_is_claimed_to() {
        let crosses = made_of(&[1.4, 1.2, 0.9, 0.8, 0.7]);
        let between = |levels: &str| crosses.word(&format!("{KEYS}between = [{levels}]\n"));
        assert_eq!(between("\"1KiB\", \"2KiB\""), "supported");
        assert_eq!(between("\"4KiB\", \"8KiB\""), "rejected");
    }

    #[test]
    fn a_block_that_one_line_lacks_moves_no_other() {
        let all = made(10, 0.02, &[("pipe", &[1.4, 0.8]), ("unix-stream", &[1.0; 2])]);
        let lacks = made(10, 0.02, &[("pipe", &[1.4, 0.8]), ("unix-stream", &[1.0; 2])])
            .without(|mechanism, _, block| mechanism == "pipe" && block == 1);
        let both = lacks.found(KEYS).parts[0].estimates[0].value;
        let neither = all.without(|_, _, block| block == 1).found(KEYS).parts[0].estimates[0].value;
        assert!((both / neither - 1.0).abs() < 1e-12, "{both} {neither}");
    }

    #[test]
    fn one_level_cannot_cross() {
        let one = made(10, 0.02, &[("pipe", &[1.4]), ("unix-stream", &[1.0])]);
        assert_eq!(one.word(KEYS), "not testable here");
    }
}
