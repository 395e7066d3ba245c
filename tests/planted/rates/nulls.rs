//! For each test what is just not so, where it is likeliest to be supported falsely, and what is just so, where it
//! is likeliest to be rejected falsely.
//!
//! A line that decides nothing lies clear of all bounds: a claim about several lines is supported falsely most
//! often where one line alone is in doubt, and rejected falsely where all are.

use std::f64::consts::LN_2;

/// Levels of each line.
pub(super) const LEVELS: usize = 4;
/// The logarithm of a ratio that no test misses.
const CLEAR: f64 = 0.5;
/// The logarithms of 1.2, 1.1 and 0.9, which are bounds of claims below.
const FIFTH: f64 = 0.182_321_556_793_954_6;
const TENTH_MORE: f64 = 0.095_310_179_804_324_87;
const TENTH_LESS: f64 = -0.105_360_515_657_826_3;
/// With 1.1 and the inverse of it, twice this has a mean of 1.
const HALF_THE_REST: f64 = (4.0 - 1.1 - 1.0 / 1.1) / 2.0;

/// What may not be said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Wrong {
    Support,
    Rejection,
}

impl Wrong {
    /// The verdict that is wrong.
    pub(super) const fn verdict(self) -> &'static str {
        match self {
            Self::Support => "supported",
            Self::Rejection => "rejected",
        }
    }
}

/// A claim whose truth lies on its bound.
pub(super) struct Null {
    pub(super) test: &'static str,
    pub(super) wrong: Wrong,
    /// The probability with which its formula comes to what is wrong, at a level of 5 %, at most.
    pub(super) nominal: f64,
    /// What is true, in words.
    pub(super) truth: &'static str,
    /// The keys that are its own.
    keys: &'static str,
    /// The logarithm of the first of two lines, or of the only one, at a line and a level; the second is 1.
    first: fn(usize, usize) -> f64,
}

impl Null {
    /// Whether it holds two lines against each other.
    pub(super) fn is_of_two(&self) -> bool {
        !["rises", "rises-then-falls", "plateaus-at", "slope", "share-at-least"]
            .contains(&self.test)
    }

    /// Whether its metric is a part of a whole.
    pub(super) fn is_of_a_whole(&self) -> bool {
        self.test == "share-at-least"
    }

    /// The keys of its claim, but for those that name metrics.
    pub(super) fn keys(&self) -> String {
        let lines = if self.is_of_two() {
            "first = { mechanism = \"pipe\" }\nsecond = { mechanism = \"unix-stream\" }\n"
        } else {
            "where = { mechanism = \"pipe\" }\n"
        };
        format!("{lines}{}", self.keys)
    }

    /// The logarithm of its median.
    pub(super) fn log(&self, side: usize, (line, level): (usize, usize)) -> f64 {
        if side == 0 { (self.first)(line, level) } else { 0.0 }
    }
}

/// `one` on the first line, `other` on the rest.
const fn on_first(line: usize, one: f64, other: f64) -> f64 {
    if line == 0 { one } else { other }
}

/// A null, of what may not be said and how often at most, and of what is true and the keys that claim it.
const fn null(
    test: &'static str,
    (wrong, nominal): (Wrong, f64),
    (truth, keys): (&'static str, &'static str),
    first: fn(usize, usize) -> f64,
) -> Null {
    Null { test, wrong, nominal, truth, keys, first }
}

/// Half of a test, or of an interval, at 5 %: what lies beyond one end of it.
const ONE_END: (Wrong, f64) = (Wrong::Support, 0.025);
const BOTH_ENDS: (Wrong, f64) = (Wrong::Support, 0.05);
const ONE_END_REJECTS: (Wrong, f64) = (Wrong::Rejection, 0.025);
const BOTH_ENDS_REJECT: (Wrong, f64) = (Wrong::Rejection, 0.05);

/// All of them, by test.
pub(super) const NULLS: [Null; 24] = [
    null(
        "faster-than",
        ONE_END,
        ("one pair is equal, the others are clearly faster", ""),
        |line, _| on_first(line, 0.0, -CLEAR),
    ),
    null(
        "faster-than",
        BOTH_ENDS_REJECT,
        ("all pairs are equal, and any advantage would count", "negligible = 0.0\n"),
        |_, _| 0.0,
    ),
    null("differs", BOTH_ENDS, ("one pair is equal, the others clearly differ", ""), |line, _| {
        on_first(line, 0.0, CLEAR)
    }),
    null(
        "differs",
        ONE_END_REJECTS,
        ("all pairs differ by as much as is negligible", "negligible = 0.2\n"),
        |_, _| FIFTH,
    ),
    null(
        "equivalent",
        BOTH_ENDS,
        ("one pair differs by the margin, the others are equal", "margin = 0.2\n"),
        |line, _| on_first(line, FIFTH, 0.0),
    ),
    null(
        "equivalent",
        BOTH_ENDS_REJECT,
        ("all pairs differ by the margin", "margin = 0.2\n"),
        |_, _| FIFTH,
    ),
    null(
        "ratio-within",
        ONE_END,
        ("one ratio lies on the bound, the others clearly within", "below = 1.2\n"),
        |line, _| on_first(line, FIFTH, 0.0),
    ),
    null(
        "ratio-within",
        ONE_END_REJECTS,
        ("all ratios lie on the bound", "below = 1.2\n"),
        |_, _| FIFTH,
    ),
    null(
        "always-from",
        ONE_END,
        ("one pair is equal at one level, all else is clearly faster", "from = \"2KiB\"\n"),
        |line, level| if line == 0 && level == 2 { 0.0 } else { -CLEAR },
    ),
    null(
        "always-from",
        BOTH_ENDS_REJECT,
        (
            "all pairs are equal at each level that counts, and any advantage would count",
            "from = \"2KiB\"\nnegligible = 0.0\n",
        ),
        |_, _| 0.0,
    ),
    null(
        "crosses-over",
        ONE_END,
        (
            "the second is clearly ahead at half of the levels, and one pair is equal at the rest",
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
            "all pairs cross, are equal again at the largest level, and any advantage would count",
            "negligible = 0.0\n",
        ),
        |_, level| [CLEAR, CLEAR, -CLEAR, 0.0][level],
    ),
    null(
        "rises",
        BOTH_ENDS,
        ("one line ends as high as it began, the others clearly rise", ""),
        |line, level| on_first(line, [0.0, -CLEAR, -CLEAR, 0.0][level], RISING[level]),
    ),
    null(
        "rises",
        BOTH_ENDS_REJECT,
        ("all lines are as high at the largest level as at all but the smallest", ""),
        |_, level| [-CLEAR, 0.0, 0.0, 0.0][level],
    ),
    null(
        "rises-then-falls",
        BOTH_ENDS,
        ("one line rises and stays, the others clearly fall", ""),
        |line, level| {
            let falls = [-CLEAR, 0.0, -CLEAR, -CLEAR][level];
            on_first(line, [-CLEAR, 0.0, 0.0, 0.0][level], falls)
        },
    ),
    null(
        "rises-then-falls",
        ONE_END_REJECTS,
        (
            "all lines rise and end as high as their peak, and any fall would count",
            "negligible = 0.0\n",
        ),
        |_, level| [-CLEAR, -CLEAR, 0.0, 0.0][level],
    ),
    null(
        "plateaus-at",
        ONE_END,
        ("one line lies off its plateau by the tolerance at one level, the others are flat", ""),
        |line, level| if line == 0 && level == 3 { 1.5 * TENTH_MORE } else { 0.0 },
    ),
    null(
        "plateaus-at",
        ONE_END_REJECTS,
        ("all lines lie off their plateau by the tolerance at two levels, above and below", ""),
        |_, level| [-CLEAR, TENTH_MORE, -TENTH_MORE - TENTH_LESS, TENTH_LESS][level],
    ),
    null(
        "same-shape",
        ONE_END,
        ("one pair differs by the margin at one level, the others are alike", ""),
        // Over the mean of all levels it is 1.1.
        |line, level| if line == 0 && level == 0 { 0.129_211_731_480_006_25 } else { 0.0 },
    ),
    null(
        "same-shape",
        ONE_END_REJECTS,
        ("all pairs differ by the margin at two levels, above and below", ""),
        |_, level| [1.1, 1.0 / 1.1, HALF_THE_REST, HALF_THE_REST][level].ln(),
    ),
    null(
        "slope",
        ONE_END,
        ("one slope lies on the bound, the others clearly within", "below = -0.1\n"),
        |line, level| on_first(line, -0.1, -1.0) * LEVEL_LOGS[level],
    ),
    null(
        "slope",
        ONE_END_REJECTS,
        ("all slopes lie on the bound", "below = -0.1\n"),
        |_, level| -0.1 * LEVEL_LOGS[level],
    ),
    null(
        "share-at-least",
        ONE_END,
        ("one share lies on the bound, all others clearly above", "share = 1.0\n"),
        |line, level| if line == 0 && level == 0 { 0.0 } else { CLEAR },
    ),
    null(
        "share-at-least",
        ONE_END_REJECTS,
        ("all shares lie on the bound", "share = 1.0\n"),
        |_, _| 0.0,
    ),
];

/// The logarithms of the levels over the smallest.
const LEVEL_LOGS: [f64; LEVELS] = [0.0, LN_2, 2.0 * LN_2, 3.0 * LN_2];
/// A line that clearly rises.
const RISING: [f64; LEVELS] = [-3.0 * CLEAR, -2.0 * CLEAR, -CLEAR, 0.0];
