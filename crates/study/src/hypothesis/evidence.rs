//! What a test found, part by part: the numbers a verdict rests on.

use serde::Serialize;

use super::complete::OverLevels;
use super::outcome::Verdict;

/// A number with its interval.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// What it is: `ratio`, `Hedges' g`, `crossing`.
    pub name: String,
    /// The value.
    pub value: f64,
    /// The ends of its interval, where it has one.
    pub low: Option<f64>,
    /// Upper end of the interval.
    pub high: Option<f64>,
    /// The level of the interval, 0.95 as a rule.
    pub level: f64,
    /// Its unit; empty where it has none.
    pub unit: String,
}

/// Which rule of its test gave a part its verdict, where the test has several.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// The p-value lies below the level.
    P,
    /// An interval lies within bounds, or wholly outside.
    Interval,
}

/// One of the comparisons that a claim comes to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Part {
    /// What it compares: `pipe against unix-stream`, `64KiB`.
    pub what: String,
    /// What becomes of this part.
    pub verdict: Verdict,
    /// Repetitions, or pairs of them.
    pub n: usize,
    /// Medians of what is compared, and their unit.
    pub medians: Vec<f64>,
    /// Unit of its values.
    pub unit: String,
    /// The test statistic and what it is called.
    pub statistic: Option<(String, f64)>,
    /// Two-sided.
    pub p: Option<f64>,
    /// Corrected for the parts of the claim: what a part is rejected by, and, where a share of them suffices,
    /// supported by.
    pub p_corrected: Option<f64>,
    /// What was estimated.
    pub estimates: Vec<Estimate>,
    /// Which rule gave the verdict; null where it is open, and where the test has one rule alone.
    pub decided_by: Option<Rule>,
    /// The levels that it is one number of.
    pub levels: Option<OverLevels>,
    /// Whether its blocks are independent.
    pub independence: Option<Independence>,
    /// What else is to be known.
    pub note: Option<String>,
    /// What the test takes to be independent, block by block; of several levels one each.
    #[serde(skip)]
    pub(super) series: Vec<Vec<f64>>,
}

impl Part {
    /// A part of which nothing is known yet.
    pub fn new(what: impl Into<String>, n: usize) -> Self {
        Self {
            what: what.into(),
            verdict: Verdict::UNKNOWN,
            n,
            medians: Vec::new(),
            unit: String::new(),
            statistic: None,
            p: None,
            p_corrected: None,
            estimates: Vec::new(),
            decided_by: None,
            levels: None,
            independence: None,
            note: None,
            series: Vec::new(),
        }
    }

    /// Adds to what else is to be known.
    pub(super) fn remark(&mut self, words: &str) {
        self.note = Some(match self.note.take() {
            Some(note) => format!("{note}; {words}"),
            None => words.to_owned(),
        });
    }

    /// As one number of `levels`; what these leave out is told.
    pub(super) fn over(mut self, levels: Option<OverLevels>) -> Self {
        if let Some(words) = levels.as_ref().and_then(OverLevels::words) {
            self.remark(&words);
        }
        self.levels = levels;
        self
    }

    /// A part that cannot be judged, and why.
    pub fn untestable(what: impl Into<String>, reason: impl Into<String>) -> Self {
        let verdict = Verdict::NotTestable { reason: reason.into() };
        Self { verdict, ..Self::new(what, 0) }
    }
}

/// What consecutive blocks have in common.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Independence {
    /// Whether there are blocks enough (25) for a correlation of one half to be seen as a rule.
    pub checked: bool,
    /// The correlation of the ranks of neighbouring blocks; of several series their mean. Null where there are
    /// fewer than three blocks, and where no value differs from another.
    pub lag1: Option<f64>,
    /// The probability of such a trend by chance (Mann and Kendall), corrected where there are several series.
    /// Null for fewer than eight blocks.
    pub trend_p: Option<f64>,
    /// Whether they plainly depend on one another.
    pub dependent: bool,
}
