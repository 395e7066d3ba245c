//! What a test found, part by part: the numbers a verdict rests on.

use serde::Serialize;

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
    /// Corrected for the parts of the claim.
    pub(crate) p_corrected: Option<f64>,
    pub(crate) estimates: Vec<Estimate>,
    /// What else is to be known.
    pub(crate) note: Option<String>,
}

impl Part {
    /// A part of which nothing is known yet.
    pub(crate) fn new(what: impl Into<String>, n: usize) -> Self {
        Self {
            what: what.into(),
            verdict: Verdict::Inconclusive { repetitions: None },
            n,
            medians: Vec::new(),
            unit: String::new(),
            statistic: None,
            p: None,
            p_corrected: None,
            estimates: Vec::new(),
            note: None,
        }
    }

    /// A part that cannot be judged, and why.
    pub(crate) fn untestable(what: impl Into<String>, reason: impl Into<String>) -> Self {
        let verdict = Verdict::NotTestable { reason: reason.into() };
        Self { verdict, ..Self::new(what, 0) }
    }
}
