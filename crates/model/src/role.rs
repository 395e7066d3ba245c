//! Role of a process or thread in the communication.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Role of a process or thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// Sends the payload, or starts each round trip.
    Sender,
    /// Receives the payload, or answers each round trip.
    Receiver,
    /// Daemon between sender and receiver.
    Broker,
    /// Single thread that acts as sender and receiver.
    Both,
}

impl Role {
    /// Every role, in the order of result keys.
    pub const ALL: [Self; 4] = [Self::Sender, Self::Receiver, Self::Both, Self::Broker];

    /// Returns the word used as a prefix of result keys.
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
