//! Paced traffic: messages that are sent at scheduled times, whatever the receiver does (open loop).
//!
//! A closed loop sends the next message when the last one has been dealt with, so a receiver that stalls also delays the
//! messages that would have been sent meanwhile, and their waiting time is never measured: coordinated omission (Tene
//! 2013). With a schedule, the response time of a message counts from the time at which it should have been sent.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::placement::Placement;
use crate::rate::PerSecond;
use crate::stored_as_words::stored_as_words;
use crate::{Condition, ConditionValue, Mode};

/// Default duration of the schedule of a run.
pub const DEFAULT_DURATION: Duration = Duration::from_secs(1);
/// Minimum number of messages of a run whose duration was not given.
const MIN_MESSAGES: u64 = 2_000;
/// Maximum number of messages that arrive together.
pub const MAX_BURST: u32 = 1_000_000;
/// Flag that sets the rate, without its dashes.
pub const RATE_FLAG: &str = "rate";
/// Description of the valid arrivals.
pub const VALID_ARRIVALS: &str =
    "even, poisson or burst:K, where K is a number of messages from 1 to 1000000";

/// Schedule of the messages of one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Pacing {
    /// Messages, or requests, per second.
    pub rate_per_s: u64,
    /// Distribution of the times between messages.
    pub arrivals: Arrivals,
    /// How the sender waits for the time of the next message.
    pub pacer: Pacer,
    /// Number of messages in the schedule.
    pub messages: u64,
    /// Seed of the schedule; 0 in a plan, because each run has its own.
    #[serde(default)]
    pub seed: u64,
}

impl Pacing {
    /// Returns the settings that distinguish a case: the rate, and those that differ from their defaults in `mode` and at
    /// `placement`.
    #[must_use]
    pub fn conditions(&self, mode: Mode, placement: Placement) -> Vec<Condition> {
        let usual_pacer = Pacer::usual(mode, placement);
        let word = |flag, word: String| Condition { flag, value: ConditionValue::Word(word) };
        let rate = word(RATE_FLAG, PerSecond(self.rate_per_s).to_string());
        let arrivals = (self.arrivals != Arrivals::default())
            .then(|| word("arrivals", self.arrivals.to_string()));
        let pacer =
            (self.pacer != usual_pacer).then(|| word("pacer", self.pacer.name().to_owned()));
        std::iter::once(rate).chain(arrivals).chain(pacer).collect()
    }

    /// Duration of the schedule, ns.
    #[must_use]
    pub fn duration_ns(&self) -> u64 {
        let ns = u128::from(self.messages) * 1_000_000_000 / u128::from(self.rate_per_s.max(1));
        u64::try_from(ns).unwrap_or(u64::MAX)
    }
}

/// Returns the number of messages of a run at `rate_per_s`: those of `duration`, or of a second but at least 2,000.
#[must_use]
pub fn message_count(rate_per_s: u64, duration: Option<Duration>) -> u64 {
    let within = |duration: Duration| {
        let messages = u128::from(rate_per_s).saturating_mul(duration.as_nanos()) / 1_000_000_000;
        u64::try_from(messages).unwrap_or(u64::MAX)
    };
    match duration {
        Some(duration) => within(duration).max(1),
        None => within(DEFAULT_DURATION).max(MIN_MESSAGES),
    }
}

/// Distribution of the times between the messages of a schedule.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub enum Arrivals {
    /// Equal times between messages.
    #[default]
    Even,
    /// Exponentially distributed times, as of many independent clients (a Poisson process).
    Poisson,
    /// This many messages at once, at equal times.
    Burst(u32),
}

impl fmt::Display for Arrivals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Even => f.write_str("even"),
            Self::Poisson => f.write_str("poisson"),
            Self::Burst(messages) => write!(f, "burst:{messages}"),
        }
    }
}

/// Text that names no arrivals.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("arrivals are {VALID_ARRIVALS}, not `{0}`")]
pub struct ArrivalsError(String);

impl FromStr for Arrivals {
    type Err = ArrivalsError;

    fn from_str(word: &str) -> Result<Self, ArrivalsError> {
        let burst = word.strip_prefix("burst:").and_then(|count| count.parse().ok());
        match (word, burst) {
            ("even", _) => Ok(Self::Even),
            ("poisson", _) => Ok(Self::Poisson),
            (_, Some(messages @ 1..=MAX_BURST)) => Ok(Self::Burst(messages)),
            _ => Err(ArrivalsError(word.to_owned())),
        }
    }
}

stored_as_words!(Arrivals);

/// How the sender waits for the scheduled time of a message.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Pacer {
    /// Reads the clock in a loop, which keeps its CPU busy.
    Spin,
    /// Sleeps in the kernel, with a timer slack of 1 ns.
    Sleep,
}

impl Pacer {
    /// Returns the default: a sender that shares its CPU with a receiver sleeps, so that the receiver can run.
    #[must_use]
    pub const fn usual(mode: Mode, placement: Placement) -> Self {
        if shares_cpu(mode, placement) { Self::Sleep } else { Self::Spin }
    }

    /// Whether the pacer can be used by a sender in `mode` at `placement`.
    #[must_use]
    pub fn is_possible(self, mode: Mode, placement: Placement) -> bool {
        self == Self::Sleep || !shares_cpu(mode, placement)
    }

    /// Every pacer, in the order of the documentation.
    pub const ALL: [Self; 2] = [Self::Spin, Self::Sleep];

    /// Returns the word used on the command line and in results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Spin => "spin",
            Self::Sleep => "sleep",
        }
    }
}

/// Whether two peers run on one CPU.
const fn shares_cpu(mode: Mode, placement: Placement) -> bool {
    let is_one = match placement {
        Placement::Same => true,
        Placement::Pair(sender, receiver) => sender == receiver,
        _ => false,
    };
    is_one && !matches!(mode, Mode::OneThread)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrivals_are_read_as_they_are_written() {
        for arrivals in
            [Arrivals::Even, Arrivals::Poisson, Arrivals::Burst(1), Arrivals::Burst(MAX_BURST)]
        {
            assert_eq!(arrivals.to_string().parse(), Ok(arrivals));
        }
        for wrong in ["", "evn", "burst", "burst:", "burst:0", "burst:-1", "burst:1000001"] {
            wrong.parse::<Arrivals>().unwrap_err();
        }
    }

    #[test]
    fn a_run_lasts_a_second_and_has_two_thousand_messages() {
        assert_eq!(message_count(50_000, None), 50_000);
        assert_eq!(message_count(100, None), 2_000);
        assert_eq!(message_count(100, Some(Duration::from_millis(500))), 50);
        assert_eq!(message_count(1, Some(Duration::from_millis(1))), 1);
        assert_eq!(message_count(u64::MAX, Some(Duration::MAX)), u64::MAX);
    }
}
