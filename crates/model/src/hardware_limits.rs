//! Hardware limits of a machine: the figures that mechanisms are compared with.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::placement::Placement;

/// Hardware limits of a machine. Each figure is a median over batches, so that interruptions do not affect it. The
/// figures of cache lines are means over pairs of lines, each of which is such a median.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HardwareLimits {
    /// Rate of memcpy with source and destination reused, by size, in the order of the request.
    pub copy: Vec<CopyLimit>,
    /// Rate of memcpy from a source of 256 MiB to a destination of 256 MiB, on one CPU, bytes per second.
    pub copy_cold_bytes_per_s: Option<u64>,
    /// Time of the cheapest system call (`getppid`), ns.
    pub system_call_ns: Option<f64>,
    /// Time of one switch between two threads of one process on one CPU that wake each other by futex, ns: half of
    /// their round trip.
    pub switch_ns: Option<f64>,
    /// Time of one wake-up of a sleeping thread on another CPU (placement `split`), one way, ns: from just before
    /// the wake until the thread runs, taken as half of the round trip.
    pub futex_wake_ns: Option<f64>,
    /// Round trip of a cache line, for each kind of CPU pair that the allowed CPUs have.
    pub cacheline: Vec<CachelineLimit>,
    /// Figures that could not be measured, with the reason: `futex_wake_ns: placement split needs two CPUs ...`.
    pub missing: Vec<String>,
}

/// Rate of memcpy at one size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CopyLimit {
    /// Size of one copy, bytes.
    pub bytes: u64,
    /// Rate with source and destination reused, on one CPU, bytes per second.
    pub hot_bytes_per_s: Option<u64>,
}

/// Round trip of a cache line between two CPUs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CachelineLimit {
    /// Kind of the pair: what the two CPUs share.
    pub kind: PairKind,
    /// First pair of CPUs of this kind.
    pub cpus: [u32; 2],
    /// Round trip of a cache line, ns: the mean over 64 pairs of lines.
    pub round_trip_ns: Option<f64>,
}

/// Kind of a pair of CPUs by what they share, named like the placements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PairKind {
    /// Two hardware threads of one core.
    Smt,
    /// Two cores that share a last-level cache.
    Llc,
    /// Two NUMA nodes.
    Numa,
    /// The first two allowed CPUs, whatever they share.
    Split,
}

impl PairKind {
    /// All kinds, in the order in which they are reported.
    pub const ALL: [Self; 4] = [Self::Smt, Self::Llc, Self::Numa, Self::Split];

    /// Returns the placement of the same name.
    #[must_use]
    pub const fn placement(self) -> Placement {
        match self {
            Self::Smt => Placement::Smt,
            Self::Llc => Placement::Llc,
            Self::Numa => Placement::Numa,
            Self::Split => Placement::Split,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_written_as_the_placements_are() {
        for kind in PairKind::ALL {
            let word = serde_json::to_value(kind).unwrap();
            assert_eq!(word, kind.placement().to_string());
        }
    }

    #[test]
    fn what_is_missing_is_null_and_never_zero() {
        let written = serde_json::to_value(HardwareLimits::default()).unwrap();
        for name in ["copy_cold_bytes_per_s", "system_call_ns", "switch_ns", "futex_wake_ns"] {
            assert!(written[name].is_null(), "{name}");
        }
    }

    #[test]
    fn limits_are_read_as_they_are_written() {
        let cacheline =
            vec![CachelineLimit { kind: PairKind::Llc, cpus: [0, 2], round_trip_ns: Some(62.5) }];
        let copy = vec![CopyLimit { bytes: 4096, hot_bytes_per_s: None }];
        let missing = vec!["copy of 4096 bytes: short".to_owned()];
        let limits = HardwareLimits { copy, cacheline, missing, ..HardwareLimits::default() };
        let text = serde_json::to_string(&limits).unwrap();
        assert_eq!(serde_json::from_str::<HardwareLimits>(&text).unwrap(), limits);
    }
}
