//! Result of a bench: a figure, a bar, and whether the bar is met.

use serde::Serialize;

use crate::error::BenchError;
use crate::estimate::Estimate;

/// Requirement on a figure.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Bar {
    Between(f64, f64),
    AtMost(f64),
    AtLeast(f64),
    /// No requirement: the figure is only shown.
    None,
}

/// Position of an interval relative to a bar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Position {
    Within,
    Outside,
    Across,
}

impl Bar {
    fn ends(self) -> [f64; 2] {
        match self {
            Self::Between(low, high) => [low, high],
            Self::AtMost(high) => [f64::NEG_INFINITY, high],
            Self::AtLeast(low) => [low, f64::INFINITY],
            Self::None => [f64::NEG_INFINITY, f64::INFINITY],
        }
    }

    /// Returns the position of the whole interval of `estimate`; a single figure is its own interval.
    pub(crate) fn position(self, estimate: &Estimate) -> Position {
        let [least, most] = self.ends();
        let [low, high] = estimate.interval.unwrap_or([estimate.median; 2]);
        if low >= least && high <= most {
            Position::Within
        } else if high < least || low > most {
            Position::Outside
        } else {
            Position::Across
        }
    }
}

/// Whether the bar is met.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Verdict {
    Met,
    NotMet,
    NotTestable,
    /// There is no bar, so it is neither met nor missed.
    Shown,
}

/// Unit of the numbers of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Unit {
    /// Our figure divided by the other.
    Ratio,
    /// Nanoseconds.
    Ns,
    /// Cells of the survey's matrix.
    Cells,
    /// Runs, counted.
    Runs,
    /// Bytes of a file.
    Bytes,
}

/// A bar to be tested, with its name.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Question {
    pub(crate) bench: &'static str,
    pub(crate) case: String,
    pub(crate) unit: Unit,
    pub(crate) bar: Bar,
}

/// A line of the result.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Finding {
    #[serde(flatten)]
    pub(crate) question: Question,
    pub(crate) estimate: Option<Estimate>,
    pub(crate) verdict: Verdict,
    /// Additional information: the reason for a verdict, or what was left out.
    pub(crate) note: Option<String>,
}

impl Question {
    /// Returns the verdict for `estimate`: met only if the whole interval is within the bar.
    pub(crate) fn judge(self, estimate: Estimate, note: Option<String>) -> Finding {
        let position = self.bar.position(&estimate);
        let verdict = match position {
            _ if self.bar == Bar::None => Verdict::Shown,
            Position::Within => Verdict::Met,
            Position::Outside | Position::Across => Verdict::NotMet,
        };
        let across = (position == Position::Across)
            .then(|| "undecided: the interval contains the edge of the bar; run again".to_owned());
        let notes: Vec<String> = across.into_iter().chain(note).collect();
        let note = (!notes.is_empty()).then(|| notes.join("; "));
        Finding { question: self, estimate: Some(estimate), verdict, note }
    }

    /// Returns the finding that this machine does not allow the test.
    pub(crate) fn untestable(self, why: impl Into<String>) -> Finding {
        let note = Some(why.into());
        Finding { question: self, estimate: None, verdict: Verdict::NotTestable, note }
    }

    /// Returns the finding for an error: there is no figure, so the bar is not met. A missing or broken compiler or
    /// other tool is not a defect of ipcperf, and makes the bar untestable.
    pub(crate) fn failed(self, trouble: &BenchError) -> Finding {
        let finding = self.untestable(trouble.to_string());
        match trouble {
            BenchError::NoCompiler { .. } | BenchError::NoTool { .. } | BenchError::Tool(..) => {
                finding
            }
            _ => Finding { verdict: Verdict::NotMet, ..finding },
        }
    }

    /// Returns the verdict for a measurement that may have failed.
    pub(crate) fn answer(self, measured: Result<Estimate, BenchError>) -> Finding {
        match measured {
            Ok(estimate) => self.judge(estimate, None),
            Err(trouble) => self.failed(&trouble),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(low: f64, high: f64) -> Estimate {
        let interval = Some([low, high]);
        Estimate { n: 20, median: f64::midpoint(low, high), interval, quartiles: [low, high] }
    }

    fn verdict(bar: Bar, low: f64, high: f64) -> Verdict {
        let question = Question { bench: "test", case: String::new(), unit: Unit::Ratio, bar };
        question.judge(estimate(low, high), None).verdict
    }

    #[test]
    fn a_bar_is_met_only_by_the_whole_interval() {
        let bar = Bar::Between(0.97, 1.03);
        assert_eq!(verdict(bar, 0.98, 1.02), Verdict::Met);
        assert_eq!(verdict(bar, 0.98, 1.04), Verdict::NotMet);
        assert_eq!(verdict(bar, 1.04, 1.06), Verdict::NotMet);
        assert_eq!(bar.position(&estimate(0.98, 1.04)), Position::Across);
        assert_eq!(bar.position(&estimate(0.90, 0.95)), Position::Outside);
    }

    #[test]
    fn a_bar_may_be_open_to_one_side() {
        assert_eq!(verdict(Bar::AtMost(2.0), 0.5, 2.0), Verdict::Met);
        assert_eq!(verdict(Bar::AtMost(2.0), 0.5, 2.1), Verdict::NotMet);
        assert_eq!(verdict(Bar::AtLeast(0.9), 0.95, 3.0), Verdict::Met);
        assert_eq!(verdict(Bar::AtLeast(0.9), 0.85, 3.0), Verdict::NotMet);
    }

    #[test]
    fn what_has_no_bar_is_shown() {
        assert_eq!(verdict(Bar::None, 0.2, 7.0), Verdict::Shown);
    }

    #[test]
    fn a_missing_compiler_is_no_defect() {
        let question = Question {
            bench: "test",
            case: String::new(),
            unit: Unit::Ratio,
            bar: Bar::AtMost(1.0),
        };
        let error = std::io::Error::from(std::io::ErrorKind::NotFound);
        let missing = BenchError::NoCompiler { name: "cc".to_owned(), error };
        assert_eq!(question.clone().failed(&missing).verdict, Verdict::NotTestable);
        assert_eq!(question.failed(&BenchError::DebugBuild).verdict, Verdict::NotMet);
    }
}
