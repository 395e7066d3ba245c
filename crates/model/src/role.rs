//! Which side of the communication a process or thread plays.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Who did it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// Sends the payload, or starts each round trip.
    Sender,
    /// Receives the payload, or answers each round trip.
    Receiver,
    /// A daemon between the two.
    Broker,
    /// One thread that plays both.
    Both,
}

impl Role {
    /// The word used as a prefix of result keys.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sender => "sender",
            Self::Receiver => "receiver",
            Self::Broker => "broker",
            Self::Both => "both",
        }
    }
}
