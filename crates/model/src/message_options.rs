//! Message options: content of the messages, which peers access every byte, which memory the messages use and when
//! it is first touched, and the reply to a request.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::message_sizes::MessageSizes;
use crate::size::Bytes;
use crate::stored_as_words::stored_as_words;
use crate::{Condition, ConditionValue};

/// Flag that sets a mixture of message sizes, without its dashes.
pub const MESSAGES_FLAG: &str = "messages";

/// Message options of one run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct MessageOptions {
    /// Sizes of the messages, if they differ; otherwise absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sizes: Option<MessageSizes>,
    /// Peers that access every payload byte.
    pub touch: Touch,
    /// Content of the messages.
    pub content: Content,
    /// Buffers that successive messages use.
    pub buffers: BufferReuse,
    /// Time at which the memory of the messages is first touched.
    pub first_touch: FirstTouch,
    /// Reply to a request; only used by the workload `request-reply`.
    pub reply: Reply,
}

impl MessageOptions {
    /// Names the size of messages of `bytes`: `64 KiB`, or `up to 64 KiB` if that is only the largest.
    #[must_use]
    pub fn size_text(&self, bytes: u64) -> String {
        match self.sizes {
            None => Bytes(bytes).to_string(),
            Some(_) => format!("up to {}", Bytes(bytes)),
        }
    }

    /// Returns the options that differ from their defaults.
    #[must_use]
    pub fn non_defaults(&self) -> Vec<Condition> {
        let usual = Self::default();
        let word = |word: &str| ConditionValue::Word(word.to_owned());
        let reply = match self.reply {
            Reply::Echo => word(&self.reply.to_string()),
            Reply::Bytes(bytes) => ConditionValue::Bytes(bytes),
        };
        let sizes = self.sizes.map_or_else(String::new, |sizes| sizes.to_string());
        let all = [
            (self.sizes != usual.sizes, MESSAGES_FLAG, word(&sizes)),
            (self.touch != usual.touch, "touch", word(self.touch.name())),
            (self.content != usual.content, "payload", word(&self.content.to_string())),
            (self.buffers != usual.buffers, "buffers", word(self.buffers.name())),
            (self.first_touch != usual.first_touch, "first-touch", word(self.first_touch.name())),
            (self.reply != usual.reply, "reply", reply),
        ];
        let differing = all.into_iter().filter(|(differs, ..)| *differs);
        differing.map(|(_, flag, value)| Condition { flag, value }).collect()
    }
}

/// Peers that access every byte of each message, inside the timed region.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Touch {
    /// None: messages are sent without being written, and not read on arrival.
    #[default]
    None,
    /// The sender of a message writes it first.
    Write,
    /// The receiver of a message reads it afterwards.
    Read,
    /// The sender of a message writes it first, and the receiver reads it afterwards.
    Both,
}

impl Touch {
    /// Every value, the default first.
    pub const ALL: [Self; 4] = [Self::None, Self::Write, Self::Read, Self::Both];

    /// Returns the word used on the command line and in results.
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
    pub const fn has_write(self) -> bool {
        matches!(self, Self::Write | Self::Both)
    }

    /// Whether messages are read after they have arrived.
    #[must_use]
    pub const fn has_read(self) -> bool {
        matches!(self, Self::Read | Self::Both)
    }
}

/// Buffers that successive messages use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BufferReuse {
    /// One buffer for all messages, which stays in any cache that it fits into.
    #[default]
    Hot,
    /// Sixteen buffers in turn, as in a program with a buffer pool.
    Rotate,
    /// Buffers spread over 256 MiB, in turn: more than caches hold, so hardly any byte of a buffer is cached when
    /// its turn comes.
    Cold,
}

impl BufferReuse {
    /// Every value, the default first.
    pub const ALL: [Self; 3] = [Self::Hot, Self::Rotate, Self::Cold];

    /// Returns the word used on the command line and in results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Hot => "hot",
            Self::Rotate => "rotate",
            Self::Cold => "cold",
        }
    }
}

/// Time at which the memory of the messages is first touched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FirstTouch {
    /// After the fork, by the peer that uses the memory: no page fault for it occurs in the timed region.
    #[default]
    AfterFork,
    /// Before the fork: both peers then share the pages copy-on-write, and the first write to a page causes a fault
    /// inside the timed region.
    BeforeFork,
    /// During the first transfer, inside the timed region: each page causes a fault there. Messages hold zeroes.
    /// `ipc-static` (2015) measured this way.
    Timed,
}

impl FirstTouch {
    /// Every value, the default first.
    pub const ALL: [Self; 3] = [Self::AfterFork, Self::BeforeFork, Self::Timed];

    /// Returns the word used on the command line and in results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::AfterFork => "after-fork",
            Self::BeforeFork => "before-fork",
            Self::Timed => "timed",
        }
    }
}

/// Reply to a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub enum Reply {
    /// The request itself, sent back from the buffer that it was received in.
    #[default]
    Echo,
    /// A separate message of this many bytes.
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

/// Content of the messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub enum Content {
    /// One repeated byte.
    #[default]
    Constant,
    /// Random bytes, which do not compress.
    Random,
    /// Partly random, partly constant bytes, so that a good codec compresses them by this ratio.
    Compressible(CompressionRatio),
}

/// Compression ratio from 1 to 100, in hundredths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompressionRatio {
    hundredths: u32,
}

impl CompressionRatio {
    /// Returns the compressed size of `bytes` at this ratio: at least 1.
    #[must_use]
    pub fn compressed_bytes(self, bytes: usize) -> usize {
        (bytes * 100 / self.hundredths.max(100) as usize).max(1)
    }
}

impl FromStr for Reply {
    type Err = MessageOptionError;

    /// Parses `echo` or a plain number of bytes.
    fn from_str(word: &str) -> Result<Self, MessageOptionError> {
        match (word, word.parse()) {
            ("echo", _) => Ok(Self::Echo),
            (_, Ok(bytes)) if bytes > 0 => Ok(Self::Bytes(bytes)),
            _ => Err(MessageOptionError::Reply(word.to_owned())),
        }
    }
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
    type Err = MessageOptionError;

    fn from_str(word: &str) -> Result<Self, MessageOptionError> {
        match (word, word.strip_prefix("compressible:")) {
            ("constant", _) => Ok(Self::Constant),
            ("random", _) => Ok(Self::Random),
            (_, Some(ratio)) => ratio.parse().map(Self::Compressible),
            _ => Err(MessageOptionError::Unknown(word.to_owned())),
        }
    }
}

impl FromStr for CompressionRatio {
    type Err = MessageOptionError;

    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "100 to 10,000")]
    fn from_str(word: &str) -> Result<Self, MessageOptionError> {
        match word.parse::<f64>() {
            Ok(factor) if (1.0..=100.0).contains(&factor) => {
                Ok(Self { hundredths: (factor * 100.0).round() as u32 })
            }
            _ => Err(MessageOptionError::Ratio(word.to_owned())),
        }
    }
}

/// Error for an invalid message option.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MessageOptionError {
    /// Unknown content.
    #[error("unknown payload `{0}`; expected one of {known}", known = CONTENTS.join(", "))]
    Unknown(String),
    /// Invalid compression ratio.
    #[error("{RATIO}{found}", found = found(.0))]
    Ratio(String),
    /// Invalid reply.
    #[error("reply must be echo or a number of bytes (at least 1), not `{0}`")]
    Reply(String),
}

/// Returns the end of a message about `text`; nothing if the user gave none.
fn found(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!(", not `{text}`") }
}

/// Words for the contents; `R` is a ratio.
pub const CONTENTS: [&str; 3] = ["constant", "random", "compressible:R"];

/// Description of the valid ratios.
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
