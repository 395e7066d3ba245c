//! What a test found, part by part: the numbers a verdict rests on.

use serde::Serialize;

use super::complete::OverLevels;
use super::independence::Independence;
use super::verdict::Verdict;

/// A number with its interval.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Estimate {
    /// What it is: `ratio`, `Hedges' g`, `crossing`.
    pub(crate) name: String,
    pub(crate) value: f64,
    /// The ends of its interval, where it has one.
    pub(crate) low: Option<f64>,
    pub(crate) high: Option<f64>,
    /// The level of the interval, 0.95 as a rule.
    pub(crate) level: f64,
    /// Its unit; empty where it has none.
    pub(crate) unit: String,
}

/// Which rule of its test gave a part its verdict, where the test has several.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Rule {
    /// The p-value lies below the level.
    P,
    /// An interval lies within bounds, or wholly outside.
    Interval,
}

/// One of the comparisons that a claim comes to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Part {
    /// What it compares: `pipe against unix-stream`, `64KiB`.
    pub(crate) what: String,
    pub(crate) verdict: Verdict,
    /// Repetitions, or pairs of them.
    pub(crate) n: usize,
    /// Medians of what is compared, and their unit.
    pub(crate) medians: Vec<f64>,
    pub(crate) unit: String,
    /// The test statistic and what it is called.
    pub(crate) statistic: Option<(String, f64)>,
    /// Two-sided.
    pub(crate) p: Option<f64>,
    /// Corrected for the parts of the claim: what a part is rejected by, and, where a share of them suffices,
    /// supported by.
    pub(crate) p_corrected: Option<f64>,
    pub(crate) estimates: Vec<Estimate>,
    /// Which rule gave the verdict; null where it is open, and where the test has one rule alone.
    pub(crate) decided_by: Option<Rule>,
    /// The levels that it is one number of.
    pub(crate) levels: Option<OverLevels>,
    /// Whether its blocks are independent.
    pub(crate) independence: Option<Independence>,
    /// What else is to be known.
    pub(crate) note: Option<String>,
    /// What the test takes to be independent, block by block; of several levels one each.
    #[serde(skip)]
    pub(super) series: Vec<Vec<f64>>,
}

impl Part {
    /// A part of which nothing is known yet.
    pub(crate) fn new(what: impl Into<String>, n: usize) -> Self {
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
    pub(crate) fn untestable(what: impl Into<String>, reason: impl Into<String>) -> Self {
        let verdict = Verdict::NotTestable { reason: reason.into() };
        Self { verdict, ..Self::new(what, 0) }
    }
}
