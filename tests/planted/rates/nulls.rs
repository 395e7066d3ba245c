//! Null claims for each test: claims whose true values lie on the bound between true and false. There, false support
//! and false rejection are most likely.
//!
//! Lines that must not decide lie clear of all bounds: a claim about several lines is most often supported falsely if a
//! single line is in doubt, and most often rejected falsely if all are.

use std::f64::consts::LN_2;

/// Number of levels of each line.
pub(super) const LEVELS: usize = 4;
/// Logarithm of a ratio that every test detects.
const CLEAR: f64 = 0.5;
/// Logarithms of 1.2, 1.1 and 0.9, which are bounds of claims below.
const FIFTH: f64 = 0.182_321_556_793_954_6;
const TENTH_MORE: f64 = 0.095_310_179_804_324_87;
const TENTH_LESS: f64 = -0.105_360_515_657_826_3;
/// Value such that two of it, 1.1 and the inverse of 1.1 have a mean of 1.
const HALF_THE_REST: f64 = (4.0 - 1.1 - 1.0 / 1.1) / 2.0;

/// Kind of wrong verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Wrong {
    Support,
    Rejection,
}

impl Wrong {
    /// Returns the verdict that is wrong.
    pub(super) const fn verdict(self) -> &'static str {
        match self {
            Self::Support => "supported",
            Self::Rejection => "rejected",
        }
    }
}

/// A claim whose true value lies on its bound.
pub(super) struct Null {
    pub(super) test: &'static str,
    pub(super) wrong: Wrong,
    /// Maximum probability of the wrong verdict by the formula of the test, at an alpha of 5 %.
    pub(super) nominal: f64,
    /// Description of the true values.
    pub(super) truth: &'static str,
    /// Keys of the claim that are specific to the test.
    keys: &'static str,
    /// Logarithm of the first of two lines, or of the only one, by line and level; the second line is constant at 1.
    first: fn(usize, usize) -> f64,
}

impl Null {
    /// Whether it compares two lines.
    pub(super) fn is_of_two(&self) -> bool {
        !["rises", "rises-then-falls", "plateaus-at", "slope", "share-at-least"]
            .contains(&self.test)
    }

    /// Whether its metric is part of a whole.
    pub(super) fn is_of_a_whole(&self) -> bool {
        self.test == "share-at-least"
    }

    /// Returns the keys of its claim, without those that name metrics.
    pub(super) fn keys(&self) -> String {
        let lines = if self.is_of_two() {
            "first = { mechanism = \"pipe\" }\nsecond = { mechanism = \"unix-stream\" }\n"
        } else {
            "where = { mechanism = \"pipe\" }\n"
        };
        format!("{lines}{}", self.keys)
    }

    /// Returns the logarithm of its median.
    pub(super) fn log(&self, side: usize, (line, level): (usize, usize)) -> f64 {
        if side == 0 { (self.first)(line, level) } else { 0.0 }
    }
}

/// Returns `one` on the first line and `other` on the rest.
const fn on_first(line: usize, one: f64, other: f64) -> f64 {
    if line == 0 { one } else { other }
}

/// Creates a null from the wrong verdict and its probability, and the description and keys of the claim.
const fn null(
    test: &'static str,
    (wrong, nominal): (Wrong, f64),
    (truth, keys): (&'static str, &'static str),
    first: fn(usize, usize) -> f64,
) -> Null {
    Null { test, wrong, nominal, truth, keys, first }
}

/// Error probabilities of one end or both ends of a test or interval at an alpha of 5 %.
const ONE_END: (Wrong, f64) = (Wrong::Support, 0.025);
const BOTH_ENDS: (Wrong, f64) = (Wrong::Support, 0.05);
const ONE_END_REJECTS: (Wrong, f64) = (Wrong::Rejection, 0.025);
const BOTH_ENDS_REJECT: (Wrong, f64) = (Wrong::Rejection, 0.05);

/// All nulls, by test.
pub(super) const NULLS: [Null; 24] = [
    null(
        "faster-than",
        ONE_END,
        (
            "the lines of one pair are equally fast; in all other pairs, the first line is clearly faster",
            "",
        ),
        |line, _| on_first(line, 0.0, -CLEAR),
    ),
    null(
        "faster-than",
        BOTH_ENDS_REJECT,
        ("the lines of each pair are equally fast; `negligible` is 0", "negligible = 0.0\n"),
        |_, _| 0.0,
    ),
    null(
        "differs",
        BOTH_ENDS,
        ("the lines of one pair are equal; the lines of all other pairs clearly differ", ""),
        |line, _| on_first(line, 0.0, CLEAR),
    ),
    null(
        "differs",
        ONE_END_REJECTS,
        (
            "the lines of each pair differ by the largest difference that counts as negligible",
            "negligible = 0.2\n",
        ),
        |_, _| FIFTH,
    ),
    null(
        "equivalent",
        BOTH_ENDS,
        (
            "the lines of one pair differ by the margin; the lines of all other pairs are equal",
            "margin = 0.2\n",
        ),
        |line, _| on_first(line, FIFTH, 0.0),
    ),
    null(
        "equivalent",
        BOTH_ENDS_REJECT,
        ("the lines of each pair differ by the margin", "margin = 0.2\n"),
        |_, _| FIFTH,
    ),
    null(
        "ratio-within",
        ONE_END,
        (
            "the ratio of one pair is on the upper bound; all other ratios are clearly below it",
            "below = 1.2\n",
        ),
        |line, _| on_first(line, FIFTH, 0.0),
    ),
    null(
        "ratio-within",
        ONE_END_REJECTS,
        ("all ratios are on the upper bound", "below = 1.2\n"),
        |_, _| FIFTH,
    ),
    null(
        "always-from",
        ONE_END,
        (
            "the lines of one pair are equally fast at one level; at all other levels of this pair, and in all other \
             pairs, the first line is clearly faster",
            "from = \"2KiB\"\n",
        ),
        |line, level| if line == 0 && level == 2 { 0.0 } else { -CLEAR },
    ),
    null(
        "always-from",
        BOTH_ENDS_REJECT,
        (
            "the lines of each pair are equally fast at each level from `from` on; `negligible` is 0",
            "from = \"2KiB\"\nnegligible = 0.0\n",
        ),
        |_, _| 0.0,
    ),
    null(
        "crosses-over",
        ONE_END,
        (
            "at the two smallest levels, the second line is clearly faster in all pairs; at the two largest levels, \
             the lines of one pair are equally fast, and in all other pairs, the first line is clearly faster",
            "",
        ),
        |line, level| match level {
            0 | 1 => CLEAR,
            _ => on_first(line, 0.0, -CLEAR),
        },
    ),
    null(
        "crosses-over",
        ONE_END_REJECTS,
        (
            "the lines of each pair cross, and are equally fast at the largest level; `negligible` is 0",
            "negligible = 0.0\n",
        ),
        |_, level| [CLEAR, CLEAR, -CLEAR, 0.0][level],
    ),
    null(
        "rises",
        BOTH_ENDS,
        (
            "one line has the same height at the largest level as at the smallest level; all other lines clearly \
             rise",
            "",
        ),
        |line, level| on_first(line, [0.0, -CLEAR, -CLEAR, 0.0][level], RISING[level]),
    ),
    null(
        "rises",
        BOTH_ENDS_REJECT,
        (
            "each line is lower at the smallest level, and has the same height at all other levels",
            "",
        ),
        |_, level| [-CLEAR, 0.0, 0.0, 0.0][level],
    ),
    null(
        "rises-then-falls",
        BOTH_ENDS,
        (
            "one line rises and then stays at its height; all other lines rise and then clearly fall",
            "",
        ),
        |line, level| {
            let falls = [-CLEAR, 0.0, -CLEAR, -CLEAR][level];
            on_first(line, [-CLEAR, 0.0, 0.0, 0.0][level], falls)
        },
    ),
    null(
        "rises-then-falls",
        ONE_END_REJECTS,
        (
            "each line rises, and ends at the height of its peak; `negligible` is 0",
            "negligible = 0.0\n",
        ),
        |_, level| [-CLEAR, -CLEAR, 0.0, 0.0][level],
    ),
    null(
        "plateaus-at",
        ONE_END,
        (
            "one line deviates from its plateau by the tolerance at one level; all other lines are flat",
            "",
        ),
        |line, level| if line == 0 && level == 3 { 1.5 * TENTH_MORE } else { 0.0 },
    ),
    null(
        "plateaus-at",
        ONE_END_REJECTS,
        (
            "each line deviates from its plateau by the tolerance at two levels: upward at one level, downward at \
             the other",
            "",
        ),
        |_, level| [-CLEAR, TENTH_MORE, -TENTH_MORE - TENTH_LESS, TENTH_LESS][level],
    ),
    null(
        "same-shape",
        ONE_END,
        (
            "the shapes of one pair of lines differ by the margin at one level; all other pairs have the same shape",
            "",
        ),
        // Relative to the mean over all levels, it is 1.1.
        |line, level| if line == 0 && level == 0 { 0.129_211_731_480_006_25 } else { 0.0 },
    ),
    null(
        "same-shape",
        ONE_END_REJECTS,
        (
            "the shapes of each pair of lines differ by the margin at two levels: upward at one level, downward at \
             the other",
            "",
        ),
        |_, level| [1.1, 1.0 / 1.1, HALF_THE_REST, HALF_THE_REST][level].ln(),
    ),
    null(
        "slope",
        ONE_END,
        (
            "one slope is on the upper bound; all other slopes are clearly below it",
            "below = -0.1\n",
        ),
        |line, level| on_first(line, -0.1, -1.0) * LEVEL_LOGS[level],
    ),
    null(
        "slope",
        ONE_END_REJECTS,
        ("all slopes are on the upper bound", "below = -0.1\n"),
        |_, level| -0.1 * LEVEL_LOGS[level],
    ),
    null(
        "share-at-least",
        ONE_END,
        ("one share is on the bound; all other shares are clearly above it", "share = 1.0\n"),
        |line, level| if line == 0 && level == 0 { 0.0 } else { CLEAR },
    ),
    null(
        "share-at-least",
        ONE_END_REJECTS,
        ("all shares are on the bound", "share = 1.0\n"),
        |_, _| 0.0,
    ),
];

/// Logarithms of the levels divided by the smallest.
const LEVEL_LOGS: [f64; LEVELS] = [0.0, LN_2, 2.0 * LN_2, 3.0 * LN_2];
/// A line that clearly rises.
const RISING: [f64; LEVELS] = [-3.0 * CLEAR, -2.0 * CLEAR, -CLEAR, 0.0];
