//! same-shape: two lines rise and fall alike, whatever their heights.

use ipcperf_stats::{Bootstrap, LevelShape, shapes};

use super::compare::{Compared, Sides, Statistic, compare, correct};
use super::evidence::{EstimateKind, Place};
use super::interval::{Bounds, Sure, median_of};
use super::key_values::{KeyError, KeyValues, KeyWord};
use super::keys::{FIRST, MARGIN, SECOND, STATISTIC};
use super::operand_cases::{OperandCases, SecondLines};
use super::operands::{Pair, compares};
use super::picture::{BetterNote, Caption, Picture, Together};
use super::{Cells, Claim, Estimate, Found, Judge, Part, Test, Verdict, parsed};
use crate::{Key, Need, Takes};

pub(super) const TEST: Test = Test {
    name: "same-shape",
    about: "the first line and the second rise and fall alike, whatever their heights",
    formula: "In each block that has all levels each line is divided by its mean over levels. By `equivalence`, at \
              each level the interval of the median ratio of the two, by order statistics at 1 - level, which \
              fewer than six blocks do not have: supported where it lies within the margin (that of \
              1 - level/m, for m levels, where `most` is above 0; of 1 - level/p, for p pairs of lines, where \
              `need` is below 1), rejected where that of 1 - level/(m p) lies wholly outside. By `difference`, \
              the rule of the documents: the paired test at each level, supported where corrected p is not below \
              level/p. All but `most` levels must hold.",
    assumptions: "Blocks are independent. That no difference is seen shows no sameness: few samples always \
                  pass the rule of the documents.",
    source: "Schuirmann 1987, Journal of Pharmacokinetics and Biopharmaceutics 15; Bell-Thomas 2020",
    keys: &[FIRST, SECOND, STATISTIC, MARGIN, RULE, MOST],
    picture: Picture {
        together: Together::All,
        caption: Caption::Always(
            "The lines as measured. What is compared is each divided by its mean over levels: the same shape \
             is the same line moved up or down.",
        ),
        better: BetterNote::Hidden,
    },
    parse: parsed::<SameShapeKeys>,
};

const RULE: Key = Key {
    name: "rule",
    takes: Takes::OneOf(&["equivalence", "difference"]),
    need: Need::Optional("equivalence"),
    about: "whether sameness must be shown, or only a difference must not be",
    example: "\"equivalence\"",
};

const MOST: Key = Key {
    name: "most",
    takes: Takes::Whole(0, 1_000),
    need: Need::Optional("0"),
    about: "levels that may differ",
    example: "3",
};

/// Rule by which levels are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ShapeRule {
    /// Their ratio lies within a margin.
    Equivalence,
    /// No difference is significant.
    Difference,
}

impl KeyWord for ShapeRule {
    fn from_word(word: &str) -> Option<Self> {
        match word {
            "equivalence" => Some(Self::Equivalence),
            "difference" => Some(Self::Difference),
            _ => None,
        }
    }
}

/// Keys of same-shape.
#[derive(Debug)]
struct SameShapeKeys {
    operands: OperandCases,
    statistic: Statistic,
    margin: f64,
    rule: ShapeRule,
    /// Maximum number of levels that may differ.
    max_differing: usize,
}

impl Judge for SameShapeKeys {
    fn parse(keys: &KeyValues<'_>) -> Result<Self, KeyError> {
        Ok(Self {
            operands: OperandCases::parse(keys, SecondLines::Each)?,
            statistic: keys.value(&STATISTIC)?,
            margin: keys.value(&MARGIN)?,
            rule: keys.value(&RULE)?,
            max_differing: keys.value(&MOST)?,
        })
    }

    fn find(&self, claim: &Claim, cells: &Cells<'_>) -> Found {
        let both = match compares(claim, &self.operands, cells) {
            Ok(both) => both,
            Err(found) => return *found,
        };
        let (mut parts, mut by_level) = (Vec::new(), Vec::new());
        for pair in &both.pairs {
            let (part, levels) = self.of_pair(claim, pair, both.pairs.len());
            by_level.extend(levels.into_iter().map(|level| level.of_line(&pair.name)));
            parts.push(part);
        }
        Found { by_level, ..Found::of(parts, claim.need()) }
    }

    fn operands(&self) -> Option<&OperandCases> {
        Some(&self.operands)
    }
}

impl SameShapeKeys {
    /// Judges one of `pairs` pairs of lines. Also returns its levels.
    fn of_pair(&self, claim: &Claim, pair: &Pair<'_>, pairs: usize) -> (Part, Vec<Part>) {
        let untestable = |why: String| (Part::untestable(Place::line(&pair.name), why), Vec::new());
        let (pair, over) = &pair.whole();
        let curves = match pair.curves() {
            Ok(curves) => curves,
            Err(why) => return untestable(why.to_string()),
        };
        let shapes = match shapes(&curves.0, &curves.1, &Bootstrap::default()) {
            Ok(shapes) => shapes,
            Err(why) => return untestable(why.to_string()),
        };
        let found = self.of_levels(self.levels(claim, pair, &shapes, pairs));
        let holds = found.parts.iter().filter(|part| part.verdict == Verdict::Supported).count();
        let n = found.parts.iter().map(|part| part.n).min().unwrap_or(0);
        let mut part = Part::new(Place::line(&pair.name), n);
        part.note = Some(format!("{holds} of {} levels alike", found.parts.len()));
        part.estimates = widest(&found.parts).into_iter().collect();
        part.verdict = found.verdict;
        part.series = found.parts.iter().flat_map(|level| level.series.clone()).collect();
        (part.over(Some(over.clone())), found.parts)
    }

    /// Judges each level of one of `pairs` pairs of lines.
    fn levels(
        &self,
        claim: &Claim,
        pair: &Pair<'_>,
        shapes: &[LevelShape],
        pairs: usize,
    ) -> Vec<Part> {
        match self.rule {
            ShapeRule::Difference => {
                let sure = Sure::of(claim, pairs, claim.level());
                by_difference((claim, self.statistic), pair, shapes, sure.rejects)
            }
            ShapeRule::Equivalence => {
                let sure = Sure::within(claim, (pairs, shapes.len()), claim.level());
                let sure = if self.max_differing > 0 { sure.of_some() } else { sure };
                by_equivalence(Bounds::around_one(self.margin), pair, shapes, sure)
            }
        }
    }

    /// Combines the verdicts of the levels of a pair, of which some may differ.
    #[allow(clippy::cast_precision_loss, reason = "a few levels")]
    fn of_levels(&self, levels: Vec<Part>) -> Found {
        let alike = levels.len().saturating_sub(self.max_differing);
        let need = alike as f64 / levels.len().max(1) as f64;
        Found::of(levels, need)
    }
}

/// Returns the ratio at the level that deviates most from 1.
fn widest(levels: &[Part]) -> Option<Estimate> {
    let off = |estimate: &Estimate| estimate.value.ln().abs();
    let all =
        levels.iter().filter_map(|level| Some((level.what.as_str(), level.estimates.first()?)));
    let (what, most) = all.max_by(|one, other| off(one.1).total_cmp(&off(other.1)))?;
    Some(most.clone().farthest_at(what))
}

fn place(pair: &Pair<'_>, shape: &LevelShape) -> Place {
    let point = pair.first.points.iter().find(|point| point.x.total_cmp(&shape.level).is_eq());
    point.map_or_else(Place::default, Place::level)
}

fn by_equivalence(bounds: Bounds, pair: &Pair<'_>, shapes: &[LevelShape], sure: Sure) -> Vec<Part> {
    let judged = |shape: &LevelShape| {
        let ratios: Vec<f64> = shape.pairs.iter().map(|(first, second)| first / second).collect();
        let mut part = Part::new(place(pair, shape), ratios.len());
        let at = |level| median_of(EstimateKind::Ratio, &ratios, level);
        let (verdict, ratio) = bounds.judge(at, sure, part.n);
        part.verdict = verdict;
        part.estimates.extend(ratio);
        part.series = vec![ratios];
        part
    };
    shapes.iter().map(judged).collect()
}

fn by_difference(
    (claim, statistic): (&Claim, Statistic),
    pair: &Pair<'_>,
    shapes: &[LevelShape],
    level: f64,
) -> Vec<Part> {
    let compared = |shape: &LevelShape| {
        compare(place(pair, shape), &Sides::of_pairs(&shape.pairs), statistic, "")
    };
    let mut all: Vec<Compared> = shapes.iter().map(compared).collect();
    correct(&mut all, claim.correction());
    let judged = |one: Compared| {
        let verdict = match one.part.verdict {
            Verdict::NotTestable { .. } => one.part.verdict.clone(),
            _ if one.is_significant(level) => Verdict::Rejected,
            _ => Verdict::Supported,
        };
        Part { verdict, ..one.part }
    };
    all.into_iter().map(judged).collect()
}

#[cfg(test)]
mod tests {
    use crate::hypothesis::test_data::{Made, made};

    const KEYS: &str = "test = \"same-shape\"\nfirst = { mechanism = \"pipe\" }\n\
                        second = { mechanism = \"unix-stream\" }\n";

    fn made_of(blocks: u32, values: &[f64; 4]) -> Made {
        made(blocks, 0.02, &[("pipe", values), ("unix-stream", &[1.0, 2.0, 3.0, 2.0])])
    }

    #[test]
    fn height_is_no_part_of_a_shape() {
        assert_eq!(made_of(10, &[5.0, 10.0, 15.0, 10.0]).word(KEYS), "supported");
        assert_eq!(made_of(10, &[1.0, 2.0, 3.0, 4.0]).word(KEYS), "rejected");
    }

    #[test]
    fn five_blocks_never_show_sameness_but_by_the_rule_of_the_documents() {
        let five = made(5, 0.0, &[("pipe", &[1.0, 2.0]), ("unix-stream", &[1.0, 2.0])]);
        assert_eq!(five.word(KEYS), "inconclusive");
        assert_eq!(five.word(&format!("{KEYS}rule = \"difference\"\n")), "supported");
    }

    #[test]
    fn each_level_of_each_pair_is_told() {
        let found = made_of(10, &[5.0, 10.0, 15.0, 10.0]).found(KEYS);
        assert_eq!(found.by_level.len(), 4);
        let (pair, first) = (&found.parts[0].what, &found.by_level[0].what);
        assert!(first.starts_with(&format!("{pair}, ")), "{first}");
    }

    #[test]
    fn so_many_levels_may_differ_as_are_named() {
        let one_off = made_of(20, &[1.0, 2.0, 3.0, 2.6]);
        let most = |levels: u32| one_off.word(&format!("{KEYS}margin = 0.12\nmost = {levels}\n"));
        assert_eq!((most(0), most(1)), ("rejected", "supported"));
    }
}
