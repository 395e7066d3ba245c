//! What a machine cannot beat: the figures that mechanisms are held against.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::placement::Placement;

/// The limits of a machine. Each figure is a median over batches, so that interruptions do not
/// count, except the cache lines', which are means over lines of such medians.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Limits {
    /// memcpy with source and target reused, by size, in the order asked for.
    pub copy: Vec<CopyLimit>,
    /// memcpy over 256 MiB of source and as many of target, on one CPU, bytes per second.
    pub copy_cold_bytes_per_s: Option<u64>,
    /// The cheapest system call (`getppid`), ns.
    pub system_call_ns: Option<f64>,
    /// One switch between two threads of one process on one CPU that wake each other by futex, ns:
    /// half of their round trip.
    pub switch_ns: Option<f64>,
    /// One wake of a sleeping thread on another CPU (placement `split`), one way, ns: from just
    /// before the wake until the thread runs; half of there and back.
    pub futex_wake_ns: Option<f64>,
    /// A cache line there and back, for each kind of pair that the allowed CPUs have.
    pub cacheline: Vec<CachelineLimit>,
    /// What could not be measured, and why: `futex_wake_ns: placement split needs two CPUs ...`.
    pub missing: Vec<String>,
}

/// How fast memcpy is at one size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CopyLimit {
    /// Bytes of one copy.
    pub bytes: u64,
    /// Bytes per second, source and target reused, on one CPU.
    pub hot_bytes_per_s: Option<u64>,
}

/// How far two CPUs are apart.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CachelineLimit {
    /// What the two share.
    pub kind: PairKind,
    /// The first such pair.
    pub cpus: [u32; 2],
    /// A cache line there and back, ns: the mean over 64 pairs of lines.
    pub round_trip_ns: Option<f64>,
}

/// Two CPUs by what they share, named as the placements are.
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
    /// All kinds, in the order they are reported.
    pub const ALL: [Self; 4] = [Self::Smt, Self::Llc, Self::Numa, Self::Split];

    /// The placement of this name.
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
        let written = serde_json::to_value(Limits::default()).unwrap();
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
        let limits = Limits { copy, cacheline, missing, ..Limits::default() };
        let text = serde_json::to_string(&limits).unwrap();
        assert_eq!(serde_json::from_str::<Limits>(&text).unwrap(), limits);
    }
}
