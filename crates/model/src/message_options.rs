//! What the parties do with messages beside sending and receiving them: what is in them, who writes
//! and reads them, which memory they lie in and who touched it first, and what a request is answered
//! with.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// All of it, for one run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Handling {
    /// Who writes and reads every byte.
    pub touch: Touch,
    /// What messages hold.
    pub content: Content,
    /// Whether messages lie where the one before lay.
    pub buffers: Reuse,
    /// When the memory that messages lie in is touched first.
    pub first_touch: FirstTouch,
    /// What a request is answered with; of no account in other workloads.
    pub reply: Reply,
}

impl Handling {
    /// What of it is not as usual: the flag without its dashes, and what it was given.
    #[must_use]
    pub fn conditions(&self) -> Vec<(&'static str, String)> {
        let usual = Self::default();
        let all = [
            (self.touch != usual.touch, "touch", self.touch.name().to_owned()),
            (self.content != usual.content, "payload", self.content.to_string()),
            (self.buffers != usual.buffers, "buffers", self.buffers.name().to_owned()),
            (self.first_touch != usual.first_touch, "first-touch", self.first_touch.name().into()),
            (self.reply != usual.reply, "reply", self.reply.to_string()),
        ];
        all.into_iter().filter(|(told, ..)| *told).map(|(_, flag, value)| (flag, value)).collect()
    }
}

/// Who writes and reads every byte of each message, inside the timed region.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Touch {
    /// Nobody: messages are sent as they lie, and left alone on arrival.
    #[default]
    None,
    /// The party that sends a message writes it before.
    Write,
    /// The party that receives a message reads it afterwards.
    Read,
    /// Both.
    Both,
}

impl Touch {
    /// Every value, the default first.
    pub const ALL: [Self; 4] = [Self::None, Self::Write, Self::Read, Self::Both];

    /// The word used on the command line and in results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Write => "write",
            Self::Read => "read",
            Self::Both => "both",
        }
    }

    /// Whether messages are written before they are sent.
    #[must_use]
    pub const fn writes(self) -> bool {
        matches!(self, Self::Write | Self::Both)
    }

    /// Whether messages are read after they have arrived.
    #[must_use]
    pub const fn reads(self) -> bool {
        matches!(self, Self::Read | Self::Both)
    }
}

/// Whether messages lie where the one before lay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Reuse {
    /// All in one buffer, which stays in the caches it fits into.
    #[default]
    Hot,
    /// In sixteen buffers in turn, as in a program that keeps a pool of them.
    Rotate,
    /// In turn over 256 MiB, more than caches hold: hardly a byte is in one when its turn comes.
    Cold,
}

impl Reuse {
    /// Every value, the default first.
    pub const ALL: [Self; 3] = [Self::Hot, Self::Rotate, Self::Cold];

    /// The word used on the command line and in results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Hot => "hot",
            Self::Rotate => "rotate",
            Self::Cold => "cold",
        }
    }
}

/// When the memory that messages lie in is touched first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FirstTouch {
    /// By the party that uses it, after the fork: no page is left to be had in the timed region.
    #[default]
    AfterFork,
    /// Before the fork: both parties then own it copy-on-write, and whoever writes to a page first
    /// takes a fault for it, inside the timed region.
    BeforeFork,
    /// By the first transfer, inside the timed region: each page costs a fault there. Messages hold
    /// zeroes. `ipc-static` of 2015 measured so.
    Timed,
}

impl FirstTouch {
    /// Every value, the default first.
    pub const ALL: [Self; 3] = [Self::AfterFork, Self::BeforeFork, Self::Timed];

    /// The word used on the command line and in results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::AfterFork => "after-fork",
            Self::BeforeFork => "before-fork",
            Self::Timed => "timed",
        }
    }
}

/// What a request is answered with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub enum Reply {
    /// Itself, sent back from where it was received.
    #[default]
    Echo,
    /// A message of its own, of so many bytes.
    Bytes(u64),
}

impl fmt::Display for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Echo => f.write_str("echo"),
            Self::Bytes(bytes) => write!(f, "{bytes}"),
        }
    }
}

/// What messages hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub enum Content {
    /// One byte, over and over.
    #[default]
    Constant,
    /// Random bytes, which no codec makes smaller.
    Random,
    /// Random bytes with the rest constant, so that a good codec makes this fraction of them.
    Compressible(Ratio),
}

/// By what factor something can be made smaller, from 1 to 100, in hundredths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ratio {
    hundredths: u32,
}

impl Ratio {
    /// How many of `bytes` it leaves: at least 1.
    #[must_use]
    pub fn of(self, bytes: usize) -> usize {
        (bytes * 100 / self.hundredths.max(100) as usize).max(1)
    }
}

impl FromStr for Reply {
    type Err = WordError;

    /// Reads `echo`, or a plain number of bytes.
    fn from_str(word: &str) -> Result<Self, WordError> {
        match (word, word.parse()) {
            ("echo", _) => Ok(Self::Echo),
            (_, Ok(bytes)) if bytes > 0 => Ok(Self::Bytes(bytes)),
            _ => Err(WordError::Reply(word.to_owned())),
        }
    }
}

/// Lets results hold these as the words that they are read from and written as.
macro_rules! stored_as_words {
    ($($stored:ty),+) => {$(
        impl TryFrom<String> for $stored {
            type Error = WordError;

            fn try_from(word: String) -> Result<Self, WordError> {
                word.parse()
            }
        }

        impl From<$stored> for String {
            fn from(stored: $stored) -> Self {
                stored.to_string()
            }
        }
    )+};
}

stored_as_words!(Reply, Content);

impl fmt::Display for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Constant => f.write_str("constant"),
            Self::Random => f.write_str("random"),
            Self::Compressible(ratio) => {
                write!(f, "compressible:{}", f64::from(ratio.hundredths) / 100.0)
            }
        }
    }
}

impl FromStr for Content {
    type Err = WordError;

    fn from_str(word: &str) -> Result<Self, WordError> {
        match (word, word.strip_prefix("compressible:")) {
            ("constant", _) => Ok(Self::Constant),
            ("random", _) => Ok(Self::Random),
            (_, Some(ratio)) => ratio.parse().map(Self::Compressible),
            _ => Err(WordError::Unknown(word.to_owned())),
        }
    }
}

impl FromStr for Ratio {
    type Err = WordError;

    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "100 to 10,000")]
    fn from_str(word: &str) -> Result<Self, WordError> {
        match word.parse::<f64>() {
            Ok(factor) if (1.0..=100.0).contains(&factor) => {
                Ok(Self { hundredths: (factor * 100.0).round() as u32 })
            }
            _ => Err(WordError::Ratio(word.to_owned())),
        }
    }
}

/// A word that says nothing of what is done with messages.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WordError {
    /// No such content.
    #[error("unknown payload `{0}`; known are {known}", known = CONTENTS.join(", "))]
    Unknown(String),
    /// No such factor.
    #[error("{RATIO}, not `{0}`")]
    Ratio(String),
    /// No such reply.
    #[error("a reply is echo or a number of bytes from 1 on, not `{0}`")]
    Reply(String),
}

/// The words for contents; `R` stands for a factor.
pub const CONTENTS: [&str; 3] = ["constant", "random", "compressible:R"];

/// The factors that are right.
pub const RATIO: &str = "compressible:R takes a factor of 1 to 100, such as compressible:4";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_as_they_are_written() {
        for word in ["constant", "random", "compressible:2", "compressible:2.5"] {
            assert_eq!(word.parse::<Content>().unwrap().to_string(), word);
        }
        for wrong in ["", "zero", "compressible", "compressible:", "compressible:0.5"] {
            wrong.parse::<Content>().unwrap_err();
        }
        for word in ["echo", "1", "18446744073709551615"] {
            assert_eq!(word.parse::<Reply>().unwrap().to_string(), word);
        }
        for wrong in ["", "0", "-1", "8B", "18446744073709551616"] {
            wrong.parse::<Reply>().unwrap_err();
        }
        for wrong in ["NaN", "inf", "101", "-2"] {
            format!("compressible:{wrong}").parse::<Content>().unwrap_err();
        }
    }
}
