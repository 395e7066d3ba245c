//! The roofline of IPC: for each case the limit of the machine that bounds it, and how near the case
//! comes to it.
//!
//! What a message (or a round trip) costs at least is the largest of these, each of which alone
//! cannot be beaten:
//!
//! | | a stream, for each message | a round trip |
//! |---|---|---|
//! | copy | one copy of the message, hot; none where it is handed over in place | one of the message and one of its answer |
//! | system call | one on each CPU that a party has to itself, two where they share one; none through shared memory, unless each message is told of by one; the receiver's alone, where it reads the sender's memory | two after each other on two CPUs, four on one |
//! | switch | | two, where two parties share a CPU |
//! | cache line | | one there and back, on two CPUs |
//!
//! After S. Williams, A. Waterman, D. Patterson (2009), *Roofline: An Insightful Visual Performance
//! Model for Multicore Architectures*, Communications of the ACM 52(4).

use ipcperf_engine::Mode;
use ipcperf_engine::limits::{CopyLimit, Limits};
use ipcperf_engine::mechanism::{PayloadFate, PayloadWay, find};
use ipcperf_engine::workload::Kind;
use schemars::JsonSchema;
use serde::Serialize;

use super::{CaseSummary, Figure};

/// What of the machine bounds a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Bound {
    /// Copying the message.
    Copy,
    /// Entering and leaving the kernel.
    SystemCall,
    /// Switching from one party to the other on their CPU.
    Switch,
    /// Carrying a cache line to the other CPU and back.
    CacheLine,
}

impl Bound {
    /// The word used in running text.
    pub(crate) const fn in_a_sentence(self) -> &'static str {
        match self {
            Self::Copy => "copying the message",
            Self::SystemCall => "entering and leaving the kernel",
            Self::Switch => "switching from one party to the other",
            Self::CacheLine => "carrying a cache line from CPU to CPU",
        }
    }

    /// The word used in tables.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Copy => "copy",
            Self::SystemCall => "system call",
            Self::Switch => "switch",
            Self::CacheLine => "cache line",
        }
    }
}

/// How near a case comes to what bounds it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Roof {
    /// What bounds it.
    pub(crate) bound: Bound,
    /// What a message, or a round trip, costs at least, ns.
    pub(crate) least_ns: f64,
    /// That over what it did cost: 1 is as fast as the machine can be.
    pub(crate) share: f64,
}

/// Where the parties of a case are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Seats {
    /// One thread plays both.
    OneThread,
    /// Two on one CPU.
    Shared,
    /// One CPU each.
    Apart,
    /// Wherever the scheduler has them.
    Unknown,
}

/// What bounds `summary` on a machine of `limits`. `None` where nothing moves or nothing that bounds
/// it was measured.
pub(crate) fn roof(summary: &CaseSummary, limits: &Limits) -> Option<Roof> {
    let way = find(&summary.case.mechanism)?.way;
    let cost_ns = cost_ns(summary)?;
    let mut bounds = match (way, summary.case.workload) {
        (PayloadWay::Nowhere, _) => return None,
        (_, Kind::Stream) => stream(summary, way, limits),
        (_, Kind::RoundTrip | Kind::RequestReply) => round_trip(summary, way, limits),
    };
    if find(&summary.case.mechanism)?.fate(&summary.case.options) == PayloadFate::HandedOver {
        bounds.retain(|(bound, _)| *bound != Bound::Copy);
    }
    let largest = bounds.into_iter().filter_map(|(bound, ns)| Some((bound, ns?)));
    let (bound, least_ns) = largest.max_by(|one, other| one.1.total_cmp(&other.1))?;
    Some(Roof { bound, least_ns, share: least_ns / cost_ns })
}

/// What a message, or a round trip, of the case costs.
#[allow(clippy::cast_precision_loss, reason = "bytes of one message")]
fn cost_ns(summary: &CaseSummary) -> Option<f64> {
    match summary.main()? {
        Figure::Bandwidth(spread) => Some(summary.case.buffer_bytes as f64 * 1e9 / spread.median),
        Figure::RoundTrip(spread) | Figure::PerMessage(spread) => Some(spread.median),
    }
}

type Bounds = Vec<(Bound, Option<f64>)>;

fn stream(summary: &CaseSummary, way: PayloadWay, limits: &Limits) -> Bounds {
    let calls = match (way, seats(summary)) {
        (PayloadWay::Kernel | PayloadWay::RungMemory, Seats::OneThread | Seats::Shared) => 2.0,
        (PayloadWay::Kernel | PayloadWay::RungMemory, Seats::Apart | Seats::Unknown) => 1.0,
        (PayloadWay::Reach, _) => 1.0,
        (PayloadWay::Memory | PayloadWay::Nowhere, _) => 0.0,
    };
    vec![
        (Bound::Copy, copy_ns(summary.case.buffer_bytes, limits)),
        (Bound::SystemCall, limits.system_call_ns.map(|ns| ns * calls)),
    ]
}

fn round_trip(summary: &CaseSummary, way: PayloadWay, limits: &Limits) -> Bounds {
    let seats = seats(summary);
    let calls = match (way, seats) {
        (PayloadWay::Kernel | PayloadWay::RungMemory, Seats::OneThread | Seats::Shared) => 4.0,
        (PayloadWay::Kernel | PayloadWay::RungMemory, Seats::Apart | Seats::Unknown) => 2.0,
        (PayloadWay::Reach, _) => 2.0,
        (PayloadWay::Memory | PayloadWay::Nowhere, _) => 0.0,
    };
    let mut bounds = vec![
        (Bound::Copy, there_and_back_ns(summary, limits)),
        (Bound::SystemCall, limits.system_call_ns.map(|ns| ns * calls)),
    ];
    if seats == Seats::Shared {
        bounds.push((Bound::Switch, limits.switch_ns.map(|ns| 2.0 * ns)));
    }
    if seats == Seats::Apart {
        // What the probes beside the runs saw, not what was seen at the start: CPUs move.
        bounds.push((Bound::CacheLine, summary.cacheline_round_trip_ns.map(|line| line.median)));
    }
    bounds
}

/// A copy of the message and one of its answer, which files of old say nothing of: there it is as large.
fn there_and_back_ns(summary: &CaseSummary, limits: &Limits) -> Option<f64> {
    let there = summary.case.buffer_bytes;
    let back = summary.case.reply_bytes.unwrap_or(there);
    Some(copy_ns(there, limits)? + copy_ns(back, limits)?)
}

fn seats(summary: &CaseSummary) -> Seats {
    match summary.case.cpus.as_slice() {
        _ if summary.case.mode == Mode::OneThread => Seats::OneThread,
        [sender, receiver] if sender == receiver => Seats::Shared,
        [_, _] => Seats::Apart,
        _ => Seats::Unknown,
    }
}

/// One hot copy of `bytes`, from the sizes that were measured: the nearest, by factor. Between two
/// sizes a factor of two apart the rate changes little, but for a step where a cache ends.
#[allow(clippy::cast_precision_loss, reason = "a rate, good to three digits")]
fn copy_ns(bytes: u64, limits: &Limits) -> Option<f64> {
    let measured = limits.copy.iter().filter_map(|copy| Some((copy, copy.hot_bytes_per_s?)));
    let distance = |copy: &CopyLimit| (copy.bytes as f64 / bytes as f64).ln().abs();
    let (_, rate) = measured.min_by(|(a, _), (b, _)| distance(a).total_cmp(&distance(b)))?;
    Some(bytes as f64 * 1e9 / rate as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::sample;
    use crate::summary::summarise;

    /// Copies at 10 bytes/ns, calls of 100 ns, switches of 500 ns.
    fn limits() -> Limits {
        Limits {
            copy: vec![CopyLimit { bytes: 65_536, hot_bytes_per_s: Some(10_000_000_000) }],
            system_call_ns: Some(100.0),
            switch_ns: Some(500.0),
            ..Limits::default()
        }
    }

    /// The roof of a case whose messages take `message_ns` each.
    fn roofed(mechanism: &str, kind: Kind, bytes: u64, message_ns: u64, cpus: [u32; 2]) -> Roof {
        let mut sample = sample(mechanism, kind, bytes, 1, message_ns * 1_000);
        sample.run.case.cpus = cpus.to_vec();
        sample.cacheline_round_trip_ns = (cpus[0] != cpus[1]).then_some(300.0);
        let id = sample.run.case.case_id.clone();
        let summaries = summarise(&[id], &[], &[sample], &[], Some(&limits()));
        summaries[0].roof.unwrap()
    }

    fn assert_roof(roof: Roof, bound: Bound, least_ns: f64, share: f64) {
        assert_eq!(roof.bound, bound);
        assert!((roof.least_ns - least_ns).abs() < 1e-6, "{roof:?}");
        assert!((roof.share - share).abs() < 1e-3, "{roof:?}");
    }

    #[test]
    fn small_messages_are_bound_by_calls_and_large_ones_by_copies() {
        let stream = |bytes, cpus| roofed("pipe", Kind::Stream, bytes, 20_000, cpus);
        assert_roof(stream(64, [0, 0]), Bound::SystemCall, 200.0, 0.01);
        assert_roof(stream(64, [0, 1]), Bound::SystemCall, 100.0, 0.005);
        assert_roof(stream(65_536, [0, 0]), Bound::Copy, 6_553.6, 0.328);
    }

    #[test]
    fn shared_memory_needs_no_call() {
        let roof = roofed("shm-ring", Kind::Stream, 64, 64, [0, 1]);
        assert_roof(roof, Bound::Copy, 6.4, 0.1);
    }

    #[test]
    fn what_is_handed_over_in_place_need_not_be_copied() {
        let stream = |mechanism| roofed(mechanism, Kind::Stream, 65_536, 20_000, [0, 0]).bound;
        assert_eq!(stream("bus-copy"), Bound::Copy);
        assert_eq!(stream("bus-memfd"), Bound::SystemCall);
    }

    #[test]
    fn round_trips_are_bound_by_the_switch_or_by_the_distance() {
        let trip = |mechanism, cpus| roofed(mechanism, Kind::RoundTrip, 1, 2_000, cpus);
        assert_roof(trip("pipe", [0, 0]), Bound::Switch, 1_000.0, 0.5);
        assert_roof(trip("pipe", [0, 1]), Bound::CacheLine, 300.0, 0.15);
    }
}
