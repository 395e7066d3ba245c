//! crosses-over: one line of cases overtakes another.

use ipcperf_model::size::parse as parse_size;
use ipcperf_stats::{Bootstrap, Course, Crossing, Lasting, crossing};

use super::compare::{Compared, Sides, compare, correct};
use super::comparison::Comparison;
use super::crossing_sides::{Side, Stand, is_refuted, is_shown, winner_of, worst};
use super::evidence::{EstimateKind, Place};
use super::interval::{Bounds, Sure};
use super::key_values::{KeyError, KeyValue, KeyValues, KeyWord};
use super::keys::{FIRST, NEGLIGIBLE, OF_SECOND, SECOND, STATISTIC};
use super::operand_cases::OperandCases;
use super::operands::{Compares, Pair, compares};
use super::picture::{BetterNote, Caption, Picture, Together};
use super::{Cells, Claim, Estimate, Found, Judge, Part, Point, Test, Verdict, parsed};
use crate::better::float;
use crate::values::Value;
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
    parse: parsed::<CrossesOverKeys>,
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

/// The line that is claimed to be better beyond the crossing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ClaimedWinner {
    First,
    Second,
    Either,
}

impl KeyWord for ClaimedWinner {
    fn from_word(word: &str) -> Option<Self> {
        match word {
            "first" => Some(Self::First),
            "second" => Some(Self::Second),
            "either" => Some(Self::Either),
            _ => None,
        }
    }
}

impl ClaimedWinner {
    const fn sides(self) -> &'static [Side] {
        match self {
            Self::First => &[Side::First],
            Self::Second => &[Side::Second],
            Self::Either => &[Side::First, Side::Second],
        }
    }
}

/// Two levels between which a crossing is claimed to lie.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Between {
    low: f64,
    high: f64,
}

impl KeyValue for Between {
    fn from_value(value: &Value) -> Option<Self> {
        let Value::Levels(words) = value else { return None };
        let words = words.iter().flat_map(|word| word.split(','));
        let sizes: Option<Vec<f64>> =
            words.map(|word| parse_size(word.trim()).ok().map(float)).collect();
        match sizes?[..] {
            [one, other] => Some(Self { low: one.min(other), high: one.max(other) }),
            _ => None,
        }
    }
}

/// Keys of crosses-over.
#[derive(Debug)]
struct CrossesOverKeys {
    operands: OperandCases,
    comparison: Comparison,
    between: Option<Between>,
    winner: ClaimedWinner,
}

impl Judge for CrossesOverKeys {
    fn parse(keys: &KeyValues<'_>) -> Result<Self, KeyError> {
        Ok(Self {
            operands: OperandCases::parse(keys, keys.value(&OF_SECOND)?)?,
            comparison: Comparison::parse(keys)?,
            between: keys.optional(&BETWEEN)?,
            winner: keys.value(&WHO)?,
        })
    }

    fn find(&self, claim: &Claim, cells: &Cells<'_>) -> Found {
        match compares(claim, &self.operands, cells) {
            Err(found) => *found,
            Ok(both) => {
                let sure = Sure::of(claim, both.pairs.len(), claim.level());
                let found = both.pairs.iter().map(|pair| self.of_pair(claim, &both, pair, sure));
                let (parts, told): (Vec<Part>, Vec<String>) = found.unzip();
                Found { told, ..Found::of(parts, claim.need()) }
            }
        }
    }

    fn operands(&self) -> Option<&OperandCases> {
        Some(&self.operands)
    }
}

impl CrossesOverKeys {
    /// Judges one pair of lines. Also returns its ratios by level, as text.
    fn of_pair(
        &self,
        claim: &Claim,
        both: &Compares<'_>,
        pair: &Pair<'_>,
        sure: Sure,
    ) -> (Part, String) {
        let levels = pair.by_level();
        let mut all: Vec<Compared> = levels
            .iter()
            .map(|(point, sides)| {
                compare(Place::level(point), sides, self.comparison.statistic, &both.unit)
            })
            .collect();
        correct(&mut all, claim.correction());
        let stands = self.stands(claim, (&levels, &all), sure, both.better);
        let n = all.iter().map(|one| one.part.n).min().unwrap_or(0);
        let mut part = Part::new(Place::line(&pair.name), n);
        part.series = all.iter().flat_map(|one| one.part.series.clone()).collect();
        let curves = pair.curves().map_err(|why| why.to_string());
        let found_at = |level: f64| {
            let bootstrap = Bootstrap { level, ..Bootstrap::default() };
            let (first, second) = curves.as_ref().map_err(String::clone)?;
            crossing(first, second, &bootstrap).map_err(|why| why.to_string())
        };
        let found = match found_at(SHOWN) {
            Ok(found) => found,
            Err(reason) => {
                part.verdict = Verdict::NotTestable { reason };
                return (part, String::new());
            }
        };
        let lasting = lasting(&found);
        let place = |lasting: &Lasting| place(lasting, claim.over_unit());
        part.estimates.extend(lasting.map(place));
        part.verdict = verdict(self.winner, lasting, &stands, both.better);
        if let (Verdict::Supported, Some(between)) = (&part.verdict, self.between) {
            let lies_at =
                |miss: f64| found_at(1.0 - miss).ok().as_ref().and_then(self::lasting).map(place);
            part.verdict = within(between, lies_at, sure, n);
        }
        part.note = matches!(found.course, Course::Several { .. })
            .then(|| "it crosses several times; the last counts".to_owned());
        (part, ratios(pair, &found))
    }

    /// Evaluates the comparisons `all` at the levels of a pair.
    fn stands(
        &self,
        claim: &Claim,
        (levels, all): (&[(&Point, Sides)], &[Compared]),
        sure: Sure,
        better: Better,
    ) -> Vec<Stand> {
        let negligible = 1.0 + self.comparison.negligible;
        let stand = |((point, _), one): (&(&Point, Sides), &Compared)| {
            Stand::of(claim, (point.x, one), (levels.len(), sure), (better, negligible))
        };
        levels.iter().zip(all).map(stand).collect()
    }
}

/// Lists the ratio at each level of `pair`.
fn ratios(pair: &Pair<'_>, found: &Crossing) -> String {
    let ratios = found.ratios.iter().zip(pair.first.common(&pair.second));
    let ratios = ratios.map(|(ratio, (point, _))| format!("{} {:.2}", point.label, ratio.value));
    format!("ratios of {} by level: {}", pair.name, ratios.collect::<Vec<_>>().join(", "))
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

fn verdict(
    winner: ClaimedWinner,
    lasting: Option<&Lasting>,
    stands: &[Stand],
    better: Better,
) -> Verdict {
    let claimed = winner.sides();
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

/// Judges whether the crossing lies between two levels. `lies_at` returns the estimate whose interval misses the
/// true place with the given probability.
fn within(
    Between { low, high }: Between,
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

#[cfg(test)]
mod tests {
    use crate::hypothesis::test_data::{Made, made, mistakes};

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
    fn the_place_must_lie_where_it_is_claimed_to() {
        let crosses = made_of(&[1.4, 1.2, 0.9, 0.8, 0.7]);
        let between = |levels: &str| crosses.word(&format!("{KEYS}between = [{levels}]\n"));
        assert_eq!(between("\"1KiB\", \"2KiB\""), "supported");
        assert_eq!(between("\"4KiB\", \"8KiB\""), "rejected");
    }

    /// A bound that cannot be read must not be ignored.
    #[test]
    fn a_range_is_not_two_levels() {
        for levels in ["\"8KiB..16KiB\"", "\"8KiB\"", "[\"1KiB\", \"2KiB\", \"4KiB\"]"] {
            let mistakes = mistakes(&format!("{KEYS}between = {levels}\n"));
            let words = mistakes.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
            assert!(words.contains("hypothesis[1].between: it must be the two levels"), "{words}");
        }
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
