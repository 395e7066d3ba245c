//! Workloads: traffic patterns of the peers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Traffic pattern of the peers.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum WorkloadKind {
    /// One peer sends, the other receives.
    Stream,
    /// Each message is answered by one of the same size before the next is sent.
    RoundTrip,
    /// Each message is sent back, or answered by one of another size, before the next is sent.
    RequestReply,
    /// One peer sends at scheduled times, the other receives.
    Paced,
    /// Several peers send to one.
    FanIn,
    /// One peer sends every message to several.
    FanOut,
    /// Several pairs, in each of which one peer sends and the other receives.
    Pairs,
    /// Several pairs that make round trips.
    PairsRoundTrip,
    /// Several peers send requests to one, which replies to each.
    Server,
}

/// Arrangement of the peers of a workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrangement {
    /// One sender and one receiver.
    OnePair,
    /// Several senders, each connected to the only receiver.
    ManyToOne,
    /// One sender, connected to each of several receivers.
    OneToMany,
    /// Several pairs of a sender and a receiver.
    Pairs,
}

/// Description of a workload.
#[derive(Debug)]
pub struct WorkloadFacts {
    /// Workload that is described.
    pub kind: WorkloadKind,
    /// Canonical name.
    pub name: &'static str,
    /// Description in one line.
    pub about: &'static str,
    /// Measured quantity, with its unit.
    pub measures: &'static str,
    /// Arrangement of its peers.
    pub arrangement: Arrangement,
    /// Arguments that it needs besides its name, as an example; empty if it needs none.
    pub needs: &'static str,
}

/// Every workload, in the order in which tables show them.
pub const WORKLOADS: &[&WorkloadFacts] = &[
    &STREAM,
    &ROUND_TRIP,
    &REQUEST_REPLY,
    &PACED,
    &FAN_IN,
    &FAN_OUT,
    &PAIRS,
    &PAIRS_ROUND_TRIP,
    &SERVER,
];

/// Workloads that a survey measures.
pub const SURVEYED: &[WorkloadKind] = &[WorkloadKind::Stream, WorkloadKind::RoundTrip];

impl WorkloadKind {
    /// Returns the description of the workload.
    ///
    /// # Panics
    /// Never: every kind is in [`WORKLOADS`], as a test checks.
    #[must_use]
    pub fn facts(self) -> &'static WorkloadFacts {
        WORKLOADS.iter().find(|facts| facts.kind == self).expect("every kind is listed")
    }

    /// Whether the receiver answers, so that the measured quantity is a round-trip time.
    #[must_use]
    pub const fn is_answered(self) -> bool {
        match self {
            Self::Stream | Self::Paced | Self::FanIn | Self::FanOut | Self::Pairs => false,
            Self::RoundTrip | Self::RequestReply | Self::PairsRoundTrip | Self::Server => true,
        }
    }

    /// Whether the measured quantity is a bandwidth, if the messages have no schedule.
    #[must_use]
    pub const fn is_streamed(self) -> bool {
        !self.is_answered() && !matches!(self, Self::Paced)
    }

    /// Whether the size of the answers can be chosen.
    #[must_use]
    pub const fn takes_reply(self) -> bool {
        matches!(self, Self::RequestReply | Self::Server)
    }

    /// Whether the number of peers can be chosen.
    #[must_use]
    pub fn takes_peers(self) -> bool {
        self.facts().arrangement != Arrangement::OnePair
    }

    /// Returns the word used on the command line and in results.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.facts().name
    }
}

/// Description of `stream`.
const STREAM: WorkloadFacts = WorkloadFacts {
    kind: WorkloadKind::Stream,
    name: "stream",
    about: "one peer sends and the other peer receives, until the total amount has arrived",
    measures: "bandwidth in bytes per second, from just before the first byte is sent to just \
        after the last byte is received",
    arrangement: Arrangement::OnePair,
    needs: "",
};

/// Description of `round-trip`.
const ROUND_TRIP: WorkloadFacts = WorkloadFacts {
    kind: WorkloadKind::RoundTrip,
    name: "round-trip",
    about: "each message is answered by a message of the same size before the next one is sent",
    measures: "round-trip time in ns: mean (elapsed time / number of trips) and distribution",
    arrangement: Arrangement::OnePair,
    needs: "",
};

/// Description of `request-reply`.
const REQUEST_REPLY: WorkloadFacts = WorkloadFacts {
    kind: WorkloadKind::RequestReply,
    name: "request-reply",
    about: "like round-trip, but --reply sets the size of the answers",
    measures: "round-trip time in ns: mean (elapsed time / number of trips) and distribution",
    arrangement: Arrangement::OnePair,
    needs: "",
};

/// Description of `paced`.
const PACED: WorkloadFacts = WorkloadFacts {
    kind: WorkloadKind::Paced,
    name: "paced",
    about: "one peer sends at the rate of --rate and the other peer receives, even if it is slow",
    measures: "one-way latency in ns from the scheduled time of each message, and from its send",
    arrangement: Arrangement::OnePair,
    needs: "--rate 20k --placement split",
};

/// Description of `fan-in`.
const FAN_IN: WorkloadFacts = WorkloadFacts {
    kind: WorkloadKind::FanIn,
    name: "fan-in",
    about: "several peers send to one",
    measures: "bandwidth in bytes per second of what the receiver got, and of each sender",
    arrangement: Arrangement::ManyToOne,
    needs: "--peers 4",
};

/// Description of `fan-out`.
const FAN_OUT: WorkloadFacts = WorkloadFacts {
    kind: WorkloadKind::FanOut,
    name: "fan-out",
    about: "one peer sends each message to several",
    measures: "bandwidth in bytes per second of what all receivers got, and of each receiver",
    arrangement: Arrangement::OneToMany,
    needs: "--peers 4",
};

/// Description of `pairs`.
const PAIRS: WorkloadFacts = WorkloadFacts {
    kind: WorkloadKind::Pairs,
    name: "pairs",
    about: "several pairs of peers stream; with --traffic round-trip, they make round trips",
    measures: "bandwidth in bytes per second of all pairs, and of each pair",
    arrangement: Arrangement::Pairs,
    needs: "--peers 4",
};

/// Description of `pairs` with `--traffic round-trip`.
const PAIRS_ROUND_TRIP: WorkloadFacts = WorkloadFacts {
    kind: WorkloadKind::PairsRoundTrip,
    name: "pairs-round-trip",
    about: "the same as pairs --traffic round-trip",
    measures: "round-trip time in ns of all pairs, and of each pair",
    arrangement: Arrangement::Pairs,
    needs: "--peers 4",
};

/// Description of `server`.
const SERVER: WorkloadFacts = WorkloadFacts {
    kind: WorkloadKind::Server,
    name: "server",
    about: "several clients send requests to one server, each one request at a time",
    measures: "round-trip time in ns of all clients, and of each client",
    arrangement: Arrangement::ManyToOne,
    needs: "--peers 4",
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_listed_under_its_serialised_name() {
        for kind in WORKLOADS.iter().map(|facts| facts.kind) {
            let word = serde_json::to_value(kind).unwrap();
            assert_eq!(word, kind.name());
        }
    }
}
