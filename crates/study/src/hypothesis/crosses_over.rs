//! crosses-over: one line of cases overtakes another.

use ipcperf_model::size::parse as parse_size;
use ipcperf_stats::{Bootstrap, Course, Crossing, LastingCrossing, crossing};

use super::compare::{ComparisonResult, SamplePair, compare};
use super::comparison_keys::ComparisonKeys;
use super::correction::correct_p_values;
use super::crossing_evidence::{
    LevelEvidence, Side, hardest_side, is_refuted, is_refuted_between, is_shown, winner_of,
};
use super::evidence::{EstimateKind, PartScope};
use super::figure_layout::{BetterNote, Caption, FigureLayout, PanelGrouping};
use super::interval::{Alphas, Bounds};
use super::key_values::{KeyChoice, KeyError, KeyValue, KeyValues};
use super::operand_cases::OperandCases;
use super::operands::{LinePair, PairedLines, pair_lines};
use super::shared_keys::{FIRST, NEGLIGIBLE, OF_SECOND, SECOND, STATISTIC};
use super::{Cells, Claim, Estimate, Findings, Judge, Part, Point, Test, Verdict, parse_keys};
use crate::better::float;
use crate::values::Value;
use crate::{Better, Key, Requirement, ValueType};

pub(super) const TEST: Test = Test {
    name: "crosses-over",
    about: "one line becomes better than the other at some level and stays better; the place of \
            the crossing is reported with its interval",
    estimate: "In each block, at each level, the ratio is the value of the first line divided by that of the \
               second. The lines cross where the median of the ratio over blocks passes 1 for the last time. \
               Between two levels, the place of the crossing is interpolated on logarithmic scales. The interval \
               of the crossing is a percentile interval from resamples of whole blocks. In addition, the two lines \
               are compared at each level, by the two-sided paired Wilcoxon test or by the test that `statistic` \
               names. The p-values are corrected over the levels of the pair. The interval of the ratio at a level \
               is computed by Student's t on the logarithms of the paired ratios. The claimed winner is the line \
               that `winner` names. It is claimed to be better at the levels above the crossing.",
    supported_if: "all of the following conditions hold. At one or more levels above the crossing, the claimed \
                   winner is better, with the corrected p below alpha. At one or more levels below the crossing, \
                   the other line is better, with the corrected p below alpha. The 95 % interval of the crossing \
                   ends before the largest level. With `between`, the 1 - alpha interval of the crossing also lies \
                   between the two given levels. If `min_fraction` is below 1, alpha/m replaces alpha.",
    rejected_if: "the 1 - alpha/m intervals of the ratio show one of two results: at the largest level, the \
                  claimed winner has at most a negligible advantage; or at every smaller level, the other line has \
                  at most a negligible advantage. With `winner = \"either\"`, such a result must be shown twice: \
                  once with the first line as the winner, and once with the second. With `between`, a pair of \
                  lines is also rejected if these intervals show that the same line is better at both given levels \
                  and at each level between them. It is also rejected if the crossing would be supported without \
                  `between`, but the 1 - alpha/m interval of the crossing lies entirely below or entirely above \
                  both given levels.",
    assumptions: "The ratio changes smoothly between neighboring levels. Blocks are independent. Support needs \
                  evidence below the crossing and evidence above it. Because both are needed, alpha is not divided \
                  between them (Berger 1982). On each side of the crossing, one of several levels is enough, so \
                  p-values are corrected over the levels. One pair of lines is enough to reject the claim, so \
                  rejection uses alpha/m.",
    source: "Efron 1979, Annals of Statistics 7; Wilcoxon 1945; Holm 1979; Berger 1982, Technometrics 24",
    keys: &[FIRST, SECOND, OF_SECOND, STATISTIC, NEGLIGIBLE, BETWEEN, WINNER],
    figure_layout: FigureLayout {
        panels: PanelGrouping::Pairs,
        caption: Caption::IfFound {
            kind: EstimateKind::CrossingAt,
            found: "Dashed: where the paired ratio of the two lines passes 1 for the last time; the band \
                    is the 95 % interval.",
            missing: "The lines do not cross.",
        },
        better: BetterNote::Shown,
    },
    parse: parse_keys::<CrossesOverKeys>,
};

const BETWEEN: Key = Key {
    name: "between",
    value_type: ValueType::LevelPair,
    requirement: Requirement::Optional("anywhere"),
    about: "the two levels between which the lines are claimed to cross",
    example: "[\"8KiB\", \"16KiB\"]",
};

const WINNER: Key = Key {
    name: "winner",
    value_type: ValueType::Choice(&["first", "second", "either"]),
    requirement: Requirement::Optional("first"),
    about: "line that is claimed to be better at the levels above the crossing; either: the first or the \
            second",
    example: "\"first\"",
};

/// The line that is claimed to be better beyond the crossing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ClaimedWinner {
    First,
    Second,
    Either,
}

impl KeyChoice for ClaimedWinner {
    fn from_choice(word: &str) -> Option<Self> {
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
struct LevelRange {
    low: f64,
    high: f64,
}

impl KeyValue for LevelRange {
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
    comparison: ComparisonKeys,
    between: Option<LevelRange>,
    winner: ClaimedWinner,
}

impl Judge for CrossesOverKeys {
    fn parse(keys: &KeyValues<'_>) -> Result<Self, KeyError> {
        Ok(Self {
            operands: OperandCases::parse(keys, keys.value(&OF_SECOND)?)?,
            comparison: ComparisonKeys::parse(keys)?,
            between: keys.optional(&BETWEEN)?,
            winner: keys.value(&WINNER)?,
        })
    }

    fn evaluate(&self, claim: &Claim, cells: &Cells<'_>) -> Findings {
        match pair_lines(claim, &self.operands, cells) {
            Err(found) => *found,
            Ok(both) => {
                let alphas = Alphas::new(claim, both.pairs.len(), claim.alpha());
                let found =
                    both.pairs.iter().map(|pair| self.judge_pair(claim, &both, pair, alphas));
                let (parts, remarks): (Vec<Part>, Vec<String>) = found.unzip();
                Findings { remarks, ..Findings::from_parts(parts, claim.min_fraction()) }
            }
        }
    }

    fn operands(&self) -> Option<&OperandCases> {
        Some(&self.operands)
    }
}

impl CrossesOverKeys {
    /// Judges one pair of lines. Also returns its ratios by level, as text.
    fn judge_pair(
        &self,
        claim: &Claim,
        both: &PairedLines<'_>,
        pair: &LinePair<'_>,
        alphas: Alphas,
    ) -> (Part, String) {
        let levels = pair.samples_by_level();
        let mut all: Vec<ComparisonResult> = levels
            .iter()
            .map(|(point, sides)| {
                compare(PartScope::from_point(point), sides, self.comparison.statistic, &both.unit)
            })
            .collect();
        correct_p_values(all.iter_mut().map(|one| &mut one.part), claim.correction());
        let evidence = self.level_evidence(claim, (&levels, &all), alphas, both.better);
        let n = all.iter().map(|one| one.part.n).min().unwrap_or(0);
        let mut part = Part::new(PartScope::from_line(&pair.name), n);
        part.series = all.iter().flat_map(|one| one.part.series.clone()).collect();
        let curves = pair.curves().map_err(|why| why.to_string());
        let found_at = |level: f64| {
            let bootstrap = Bootstrap { level, ..Bootstrap::default() };
            let (first, second) = curves.as_ref().map_err(String::clone)?;
            crossing(first, second, &bootstrap).map_err(|why| why.to_string())
        };
        let found = match found_at(CONFIDENCE) {
            Ok(found) => found,
            Err(reason) => {
                part.verdict = Verdict::NotTestable { reason };
                return (part, String::new());
            }
        };
        let lasting = lasting(&found);
        let to_estimate = |lasting: &LastingCrossing| crossing_estimate(lasting, claim.over_unit());
        part.estimates.extend(lasting.map(to_estimate));
        let estimate_at = |alpha: f64| {
            found_at(1.0 - alpha).ok().as_ref().and_then(self::lasting).map(to_estimate)
        };
        let anywhere = verdict(self.winner, lasting, &evidence, both.better);
        part.verdict = match self.between {
            Some(LevelRange { low, high }) if is_refuted_between((low, high), &evidence) => {
                Verdict::Rejected
            }
            Some(range) if anywhere == Verdict::Supported => {
                judge_range(range, estimate_at, alphas, n)
            }
            _ => anywhere,
        };
        part.note = matches!(found.course, Course::Several { .. })
            .then(|| "the lines cross several times; the last crossing counts".to_owned());
        (part, ratios(pair, &found))
    }

    /// Evaluates the comparisons `all` at the levels of a pair.
    fn level_evidence(
        &self,
        claim: &Claim,
        (levels, all): (&[(&Point, SamplePair)], &[ComparisonResult]),
        alphas: Alphas,
        better: Better,
    ) -> Vec<LevelEvidence> {
        let negligible = 1.0 + self.comparison.negligible;
        let evaluate = |((point, _), one): (&(&Point, SamplePair), &ComparisonResult)| {
            LevelEvidence::new(claim, (point.x, one), (levels.len(), alphas), (better, negligible))
        };
        levels.iter().zip(all).map(evaluate).collect()
    }
}

/// Lists the ratio at each level of `pair`.
fn ratios(pair: &LinePair<'_>, found: &Crossing) -> String {
    let ratios = found.ratios.iter().zip(pair.first.common_points(&pair.second));
    let ratios = ratios.map(|(ratio, (point, _))| format!("{} {:.2}", point.label, ratio.value));
    format!("ratios of {} by level: {}", pair.name, ratios.collect::<Vec<_>>().join(", "))
}

fn lasting(found: &Crossing) -> Option<&LastingCrossing> {
    match &found.course {
        Course::Once(lasting) | Course::Several { lasting, .. } => Some(lasting),
        Course::AlwaysAbove | Course::AlwaysBelow | Course::AlwaysEqual => None,
    }
}

fn crossing_estimate(lasting: &LastingCrossing, unit: &str) -> Estimate {
    let ends = lasting.interval;
    Estimate::new(EstimateKind::CrossingAt, lasting.point.level, CONFIDENCE)
        .with_interval(ends.and_then(|ends| ends.low), ends.and_then(|ends| ends.high))
        .with_unit(unit)
}

/// Confidence level of the reported interval.
const CONFIDENCE: f64 = 0.95;

fn verdict(
    winner: ClaimedWinner,
    lasting: Option<&LastingCrossing>,
    evidence: &[LevelEvidence],
    better: Better,
) -> Verdict {
    let claimed = winner.sides();
    let lasting = lasting.filter(|lasting| claimed.contains(&winner_of(lasting, better)));
    if lasting.is_some_and(|lasting| is_shown(lasting, evidence, better)) {
        return Verdict::Supported;
    }
    if claimed.iter().all(|winner| is_refuted(*winner, evidence)) {
        return Verdict::Rejected;
    }
    let hardest = lasting.and_then(|lasting| hardest_side(lasting, evidence, better));
    hardest.map_or(Verdict::UNKNOWN, |stand| {
        Verdict::inconclusive(stand.needed_repetitions, stand.obstacle)
    })
}

/// Judges whether the crossing lies between two levels. `estimate_at` returns the estimate whose interval misses the
/// true place with the given probability.
fn judge_range(
    LevelRange { low, high }: LevelRange,
    estimate_at: impl Fn(f64) -> Option<Estimate>,
    alphas: Alphas,
    n: usize,
) -> Verdict {
    let ends = |alpha: f64| {
        let place = estimate_at(alpha)?;
        Some((place.low.unwrap_or(0.0), place.high.unwrap_or(f64::INFINITY)))
    };
    if ends(alphas.support).is_some_and(|(from, to)| from >= low && to <= high) {
        return Verdict::Supported;
    }
    if ends(alphas.reject).is_some_and(|(from, to)| to < low || from > high) {
        return Verdict::Rejected;
    }
    let Some(place) = estimate_at(alphas.reported) else { return Verdict::UNKNOWN };
    // Compare on a logarithmic scale, because levels differ by factors.
    let log = |level: f64| (level / low).ln();
    let place = Estimate {
        value: log(place.value),
        low: place.low.map(log),
        high: place.high.map(log),
        ..place
    };
    Bounds { above: Some(0.0), below: Some(log(high)) }.inconclusive(&place, n)
}

#[cfg(test)]
mod tests {
    use crate::hypothesis::test_data::{SyntheticData, mistakes, synthetic};

    const KEYS: &str = "test = \"crosses-over\"\nfirst = { mechanism = \"pipe\" }\n\
                        second = { mechanism = \"unix-stream\" }\n";

    fn data_with(values: &[f64; 5]) -> SyntheticData {
        synthetic(10, 0.02, &[("pipe", values), ("unix-stream", &[1.0; 5])])
    }

    #[test]
    fn who_is_behind_and_then_ahead_has_crossed() {
        let crosses = data_with(&[1.4, 1.2, 0.9, 0.8, 0.7]);
        assert_eq!(crosses.verdict_name(KEYS), "supported");
        assert_eq!(crosses.verdict_name(&format!("{KEYS}winner = \"either\"\n")), "supported");
        assert_eq!(crosses.verdict_name(&format!("{KEYS}winner = \"second\"\n")), "rejected");
        assert_eq!(data_with(&[0.7, 0.8, 0.9, 1.2, 1.4]).verdict_name(KEYS), "rejected");
    }

    #[test]
    fn who_was_never_behind_did_not_cross() {
        assert_eq!(data_with(&[0.7, 0.8, 0.9, 0.8, 0.7]).verdict_name(KEYS), "rejected");
        // It is unknown whether the line was behind at one level in the middle.
        let values = [0.5, 0.6, 1.0, 0.6, 0.5];
        let noisy = synthetic(10, 0.1, &[("pipe", &values), ("unix-stream", &[1.0; 5])]);
        assert_eq!(noisy.verdict_name(KEYS), "inconclusive");
    }

    #[test]
    fn the_place_must_lie_where_it_is_claimed_to() {
        let crosses = data_with(&[1.4, 1.2, 0.9, 0.8, 0.7]);
        let between = |levels: &str| crosses.verdict_name(&format!("{KEYS}between = [{levels}]\n"));
        assert_eq!(between("\"1KiB\", \"2KiB\""), "supported");
        assert_eq!(between("\"4KiB\", \"8KiB\""), "rejected");
    }

    /// The lines cross early, where nothing shows which is better; later, one is better throughout.
    #[test]
    fn a_line_that_is_better_at_both_levels_does_not_cross_between_them() {
        let values = [1.0, 0.6, 0.5, 0.4, 0.3];
        let early = synthetic(10, 0.1, &[("pipe", &values), ("unix-stream", &[1.0; 5])]);
        let between = |levels: &str| early.verdict_name(&format!("{KEYS}between = [{levels}]\n"));
        assert_eq!(early.verdict_name(KEYS), "inconclusive");
        assert_eq!(between("\"4KiB\", \"8KiB\""), "rejected");
        // A level that was not measured may be one where the other line is better.
        assert_eq!(between("\"3KiB\", \"8KiB\""), "inconclusive");
        assert_eq!(between("\"512\", \"4KiB\""), "inconclusive");
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
        let all = synthetic(10, 0.02, &[("pipe", &[1.4, 0.8]), ("unix-stream", &[1.0; 2])]);
        let lacks = synthetic(10, 0.02, &[("pipe", &[1.4, 0.8]), ("unix-stream", &[1.0; 2])])
            .without(|mechanism, _, block| mechanism == "pipe" && block == 1);
        let both = lacks.findings(KEYS).parts[0].estimates[0].value;
        let neither =
            all.without(|_, _, block| block == 1).findings(KEYS).parts[0].estimates[0].value;
        assert!((both / neither - 1.0).abs() < 1e-12, "{both} {neither}");
    }

    #[test]
    fn one_level_cannot_cross() {
        let one = synthetic(10, 0.02, &[("pipe", &[1.4]), ("unix-stream", &[1.0])]);
        assert_eq!(one.verdict_name(KEYS), "not testable here");
    }
}
