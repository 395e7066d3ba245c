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
    /// Arguments that it needs besides its name, as an example; empty if it needs none.
    pub needs: &'static str,
}

/// Every workload, in the order in which tables show them.
pub const WORKLOADS: &[&WorkloadFacts] = &[&STREAM, &ROUND_TRIP, &REQUEST_REPLY, &PACED];

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
            Self::Stream | Self::Paced => false,
            Self::RoundTrip | Self::RequestReply => true,
        }
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
    needs: "",
};

/// Description of `round-trip`.
const ROUND_TRIP: WorkloadFacts = WorkloadFacts {
    kind: WorkloadKind::RoundTrip,
    name: "round-trip",
    about: "each message is answered by a message of the same size before the next one is sent",
    measures: "round-trip time in ns: mean (elapsed time / number of trips) and distribution",
    needs: "",
};

/// Description of `request-reply`.
const REQUEST_REPLY: WorkloadFacts = WorkloadFacts {
    kind: WorkloadKind::RequestReply,
    name: "request-reply",
    about: "like round-trip, but --reply sets the size of the answers",
    measures: "round-trip time in ns: mean (elapsed time / number of trips) and distribution",
    needs: "",
};

/// Description of `paced`.
const PACED: WorkloadFacts = WorkloadFacts {
    kind: WorkloadKind::Paced,
    name: "paced",
    about: "one peer sends at the rate of --rate and the other peer receives, even if it is slow",
    measures: "one-way latency in ns from the scheduled time of each message, and from its send",
    needs: "--rate 20k --placement split",
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
