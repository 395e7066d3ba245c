//! always-from: one line of cases is better than another at every level from a given one.

use super::comparison_keys::ComparisonKeys;
use super::faster_than::judge_at_levels;
use super::figure_layout::{FigureKeys, FigureLayout};
use super::key_values::{KeyError, KeyValues};
use super::operand_cases::OperandCases;
use super::operands::pair_lines;
use super::shared_keys::{FIRST, NEGLIGIBLE, OF_SECOND, SECOND, STATISTIC};
use super::{Cells, Claim, Findings, Judge, Test, Verdict, parse_keys};
use crate::{Key, Requirement, ValueType};

pub(super) const TEST: Test = Test {
    name: "always-from",
    about: "the first side is better than the second at every level from a given one on",
    estimate: "The two sides are compared at each level from `from` on. Each of these levels is one part, so m is \
               the number of these levels, summed over all pairs of lines. The p-value p is that of the two-sided \
               paired Wilcoxon test, or of the test that `statistic` names.",
    supported_if: "the first side is better at the level, with p below alpha. If `min_fraction` is below 1, the \
                   corrected p must be below alpha.",
    rejected_if: "the second side is better at the level, with the corrected p below alpha. A level is also \
                  rejected if the 1 - alpha/m interval of the ratio shows that the first side has at most a \
                  negligible advantage.",
    assumptions: "As in faster-than.",
    source: "Wilcoxon 1945, Biometrics Bulletin 1; Holm 1979, Scandinavian Journal of Statistics 6",
    keys: &[FIRST, SECOND, OF_SECOND, FROM, STATISTIC, NEGLIGIBLE],
    figure_layout: FigureLayout::RATIOS,
    parse: parse_keys::<AlwaysFromKeys>,
};

const FROM: Key = Key {
    name: "from",
    value_type: ValueType::Bytes,
    requirement: Requirement::Required,
    about: "smallest level that the claim covers",
    example: "\"8KiB\"",
};

/// Keys of always-from.
#[derive(Debug)]
struct AlwaysFromKeys {
    operands: OperandCases,
    from: f64,
    comparison: ComparisonKeys,
}

impl Judge for AlwaysFromKeys {
    fn parse(keys: &KeyValues<'_>) -> Result<Self, KeyError> {
        Ok(Self {
            operands: OperandCases::parse(keys, keys.value(&OF_SECOND)?)?,
            from: keys.required(&FROM)?,
            comparison: ComparisonKeys::parse(keys)?,
        })
    }

    fn evaluate(&self, claim: &Claim, cells: &Cells<'_>) -> Findings {
        let both = match pair_lines(claim, &self.operands, cells) {
            Ok(both) => both,
            Err(found) => return *found,
        };
        let mut found =
            judge_at_levels(claim, self.comparison, &both, |point| point.x >= self.from);
        if found.parts.is_empty() {
            return Findings::untestable("no level from `from` on was measured");
        }
        let first = first_win(&found);
        found.remarks.push(first);
        found
    }

    fn operands(&self) -> Option<&OperandCases> {
        Some(&self.operands)
    }

    fn figure_keys(&self) -> FigureKeys<'_> {
        FigureKeys { from: Some(self.from), ..FigureKeys::default() }
    }
}

/// Names the level from which on the first line is better at every level.
fn first_win(found: &Findings) -> String {
    let judged = found.parts.iter().filter(|part| part.p.is_some());
    let wins = judged.rev().take_while(|part| part.verdict == Verdict::Supported);
    match wins.last() {
        Some(level) => format!("the first side is better at every level from {} on", level.what),
        None => "the first side is not better at the largest level".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use crate::hypothesis::test_data::{SyntheticData, synthetic};

    const KEYS: &str = "test = \"always-from\"\nfirst = { mechanism = \"pipe\" }\n\
                        second = { mechanism = \"unix-stream\" }\n";

    fn data_with(values: &[f64; 4]) -> SyntheticData {
        synthetic(10, 0.02, &[("pipe", values), ("unix-stream", &[1.0; 4])])
    }

    #[test]
    fn every_level_from_there_on_counts_and_none_before() {
        let keys = format!("{KEYS}from = \"1KiB\"\n");
        assert_eq!(data_with(&[1.5, 0.8, 0.8, 0.8]).verdict_name(&keys), "supported");
        assert_eq!(data_with(&[0.8, 0.8, 1.2, 0.8]).verdict_name(&keys), "rejected");
        assert_eq!(data_with(&[0.8, 0.8, 0.99, 0.8]).verdict_name(&keys), "inconclusive");
    }

    #[test]
    fn a_level_that_one_line_lacks_is_told() {
        let data =
            data_with(&[0.8; 4]).without(|mechanism, level, _| (mechanism, level) == ("pipe", 2));
        let found = data.findings(&format!("{KEYS}from = \"512\"\n"));
        let words: Vec<&str> = found.parts.iter().map(|part| part.verdict.name()).collect();
        assert_eq!(words, ["not testable here", "supported", "supported", "supported"]);
    }

    #[test]
    fn beyond_the_largest_level_there_is_nothing_to_test() {
        let keys = format!("{KEYS}from = \"8KiB\"\n");
        assert_eq!(data_with(&[0.8; 4]).verdict_name(&keys), "not testable here");
    }
}
