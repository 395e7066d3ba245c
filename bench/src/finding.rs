//! What a bench says: a figure, a bar, and how the one lies to the other.

use serde::Serialize;

use crate::estimate::Estimate;
use crate::trouble::Trouble;

/// What is asked of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Bar {
    Between(f64, f64),
    AtMost(f64),
    AtLeast(f64),
    /// Nothing: the figure is shown.
    None,
}

/// How an interval lies to a bar.
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

    /// Where the whole interval of `estimate` lies; a single figure is its own interval.
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
    /// There is no bar: neither met nor missed.
    Shown,
}

/// What the numbers of a finding are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Unit {
    /// Our figure over the one beside it.
    Ratio,
    /// Nanoseconds.
    Ns,
    /// Cells of the survey's matrix.
    Cells,
    /// Bytes of a file.
    Bytes,
}

/// A bar that is to be tested, named.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Question {
    pub(crate) bench: &'static str,
    pub(crate) case: String,
    pub(crate) unit: Unit,
    pub(crate) bar: Bar,
}

/// One line of the answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Finding {
    #[serde(flatten)]
    pub(crate) question: Question,
    pub(crate) estimate: Option<Estimate>,
    pub(crate) verdict: Verdict,
    /// What else must be known: why not, what was left out.
    pub(crate) note: Option<String>,
}

impl Question {
    /// The verdict that `estimate` gives: met only where the whole interval is within the bar.
    pub(crate) fn judge(self, estimate: Estimate, note: Option<String>) -> Finding {
        let position = self.bar.position(&estimate);
        let verdict = match position {
            _ if self.bar == Bar::None => Verdict::Shown,
            Position::Within => Verdict::Met,
            Position::Outside | Position::Across => Verdict::NotMet,
        };
        let across = (position == Position::Across)
            .then(|| "the interval lies across the bar: undecided, run again".to_owned());
        let notes: Vec<String> = across.into_iter().chain(note).collect();
        let note = (!notes.is_empty()).then(|| notes.join("; "));
        Finding { question: self, estimate: Some(estimate), verdict, note }
    }

    /// This machine does not let it be tested.
    pub(crate) fn untestable(self, why: impl Into<String>) -> Finding {
        let note = Some(why.into());
        Finding { question: self, estimate: None, verdict: Verdict::NotTestable, note }
    }

    /// Something broke on the way: no figure, and so no bar met. That a compiler or another tool is
    /// missing or broken is no defect of what is measured.
    pub(crate) fn failed(self, trouble: &Trouble) -> Finding {
        let finding = self.untestable(trouble.to_string());
        match trouble {
            Trouble::NoCompiler { .. } | Trouble::NoPeer { .. } | Trouble::Peer(..) => finding,
            _ => Finding { verdict: Verdict::NotMet, ..finding },
        }
    }

    /// The verdict of a measurement that may have failed.
    pub(crate) fn answer(self, measured: Result<Estimate, Trouble>) -> Finding {
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
        let missing = Trouble::NoCompiler { name: "cc".to_owned(), error };
        assert_eq!(question.clone().failed(&missing).verdict, Verdict::NotTestable);
        assert_eq!(question.failed(&Trouble::DebugBuild).verdict, Verdict::NotMet);
    }
}
