//! always-from: one line of cases is better than another at every level from a given one.

use super::comparison::Comparison;
use super::faster_than::at_levels;
use super::key_values::{KeyError, KeyValues};
use super::keys::{FIRST, NEGLIGIBLE, OF_SECOND, SECOND, STATISTIC};
use super::operand_cases::OperandCases;
use super::operands::compares;
use super::picture::{Picture, PictureKeys};
use super::{Cells, Claim, Found, Judge, Test, Verdict, parsed};
use crate::{Key, Need, Takes};

pub(super) const TEST: Test = Test {
    name: "always-from",
    about: "from a level on, the first cases are better than the second at every level",
    formula: "At each level from the one named on, the paired Wilcoxon test by block (or the statistic \
              named), two-sided. Supported where the first is better with p below the level at all of them (with \
              p corrected over the levels at the share `need`), rejected where at one the second is with \
              corrected p, or the first has no more than a negligible advantage, as in faster-than.",
    assumptions: "As faster-than.",
    source: "Wilcoxon 1945, Biometrics Bulletin 1; Holm 1979, Scandinavian Journal of Statistics 6",
    keys: &[FIRST, SECOND, OF_SECOND, FROM, STATISTIC, NEGLIGIBLE],
    picture: Picture::RATIOS,
    parse: parsed::<AlwaysFromKeys>,
};

const FROM: Key = Key {
    name: "from",
    takes: Takes::Bytes,
    need: Need::Required,
    about: "the first level of which it is claimed",
    example: "\"8KiB\"",
};

/// Keys of always-from.
#[derive(Debug)]
struct AlwaysFromKeys {
    operands: OperandCases,
    from: f64,
    comparison: Comparison,
}

impl Judge for AlwaysFromKeys {
    fn parse(keys: &KeyValues<'_>) -> Result<Self, KeyError> {
        Ok(Self {
            operands: OperandCases::parse(keys, keys.value(&OF_SECOND)?)?,
            from: keys.required(&FROM)?,
            comparison: Comparison::parse(keys)?,
        })
    }

    fn find(&self, claim: &Claim, cells: &Cells<'_>) -> Found {
        let both = match compares(claim, &self.operands, cells) {
            Ok(both) => both,
            Err(found) => return *found,
        };
        let mut found = at_levels(claim, self.comparison, &both, |point| point.x >= self.from);
        if found.parts.is_empty() {
            return Found::untestable("no level from there on was measured");
        }
        let first = first_win(&found);
        found.told.push(first);
        found
    }

    fn operands(&self) -> Option<&OperandCases> {
        Some(&self.operands)
    }

    fn picture_keys(&self) -> PictureKeys<'_> {
        PictureKeys { from: Some(self.from), ..PictureKeys::default() }
    }
}

/// Names the level from which on the first line is better at every level.
fn first_win(found: &Found) -> String {
    let judged = found.parts.iter().filter(|part| part.p.is_some());
    let wins = judged.rev().take_while(|part| part.verdict == Verdict::Supported);
    match wins.last() {
        Some(level) => format!("better at every level from {} on", level.what),
        None => "not better at the largest level".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use crate::hypothesis::test_data::{Made, made};

    const KEYS: &str = "test = \"always-from\"\nfirst = { mechanism = \"pipe\" }\n\
                        second = { mechanism = \"unix-stream\" }\n";

    fn made_of(values: &[f64; 4]) -> Made {
        made(10, 0.02, &[("pipe", values), ("unix-stream", &[1.0; 4])])
    }

    #[test]
    fn every_level_from_there_on_counts_and_none_before() {
        let keys = format!("{KEYS}from = \"1KiB\"\n");
        assert_eq!(made_of(&[1.5, 0.8, 0.8, 0.8]).word(&keys), "supported");
        assert_eq!(made_of(&[0.8, 0.8, 1.2, 0.8]).word(&keys), "rejected");
        assert_eq!(made_of(&[0.8, 0.8, 0.99, 0.8]).word(&keys), "inconclusive");
    }

    #[test]
    fn a_level_that_one_line_lacks_is_told() {
        let made =
            made_of(&[0.8; 4]).without(|mechanism, level, _| (mechanism, level) == ("pipe", 2));
        let found = made.found(&format!("{KEYS}from = \"512\"\n"));
        let words: Vec<&str> = found.parts.iter().map(|part| part.verdict.word()).collect();
        assert_eq!(words, ["not testable here", "supported", "supported", "supported"]);
    }

    #[test]
    fn beyond_the_largest_level_there_is_nothing_to_test() {
        let keys = format!("{KEYS}from = \"8KiB\"\n");
        assert_eq!(made_of(&[0.8; 4]).word(&keys), "not testable here");
    }
}
