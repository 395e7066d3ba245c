//! Roofline of IPC: the hardware limit that bounds each case, and the share of it that the case reaches.
//!
//! The minimum cost of a message (or a round trip) is the larger of two times: that of copying it, and that of
//! handing it from peer to peer. Copying is one hot copy of the message, plus one of the answer in a round trip;
//! there is none if the payload is handed over in place. Handing over is bounded by one operation at any message
//! size. The workload, the placement of the peers and the way they wait decide which:
//!
//! | | stream | round trip, peers that sleep | round trip, peers that spin |
//! |---|---|---|---|
//! | one thread | two system calls | four system calls | four system calls |
//! | both peers on one CPU | two system calls | two switches | two switches |
//! | each peer on its own CPU | one system call | two wake-ups across CPUs | one round trip of a cache line; two system
//! calls if each message takes calls |
//! | placed by the scheduler | one system call | two switches | two system calls |
//!
//! Through shared memory alone no system calls are needed. If the receiver reads the memory of the sender, half as
//! many are needed where one thread or CPU makes all of them. In a stream no peer has to sleep. If the limit in the
//! table was not measured, the case has no bound: a weaker limit would explain nothing. Peers that sleep can still
//! be faster than two wake-ups, because each may find its message just before it falls asleep.
//!
//! After S. Williams, A. Waterman, D. Patterson (2009), *Roofline: An Insightful Visual Performance
//! Model for Multicore Architectures*, Communications of the ACM 52(4).

use ipcperf_model::Mode;
use ipcperf_model::hardware_limits::{CopyLimit, HardwareLimits};
use ipcperf_model::mechanism::{CaseFacts, PayloadPath};
use ipcperf_model::message_options::Reply;
use ipcperf_model::workload::WorkloadKind;
use schemars::JsonSchema;
use serde::Serialize;

use super::{CaseSummary, MainFigure};
use crate::CaseIdentity;

/// Hardware limit that bounds a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Bound {
    /// Copying the message.
    Copy,
    /// Entering and leaving the kernel.
    SystemCall,
    /// Switching between the peers on their common CPU.
    Switch,
    /// Waking a sleeping peer on the other CPU.
    WakeUp,
    /// Moving a cache line to the other CPU and back.
    CacheLine,
}

impl Bound {
    /// Returns the words used in running text.
    pub const fn description(self) -> &'static str {
        match self {
            Self::Copy => "copying the message",
            Self::SystemCall => "kernel entry and exit",
            Self::Switch => "switching between the peers",
            Self::WakeUp => "waking the peer on the other CPU",
            Self::CacheLine => "moving a cache line between CPUs",
        }
    }

    /// Returns the word used in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Copy => "copy",
            Self::SystemCall => "system call",
            Self::Switch => "context switch",
            Self::WakeUp => "wake-up",
            Self::CacheLine => "cache line",
        }
    }
}

/// Share of a hardware limit that a case reaches.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct HardwareLimitShare {
    /// Limit that bounds the case.
    pub bound_by: Bound,
    /// Minimum time of a message, or a round trip, under this limit, ns.
    pub min_ns: f64,
    /// Minimum time divided by the measured time: 1 means as fast as the hardware allows.
    pub share: f64,
}

/// Placement of the peers relative to each other.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PeerLayout {
    /// One thread acts as both peers.
    OneThread,
    /// Both peers are on one CPU.
    Shared,
    /// Each peer is on its own CPU.
    Apart,
    /// The scheduler places the peers.
    Unknown,
}

/// Minimum work of handing over one message, or of a round trip.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Handover {
    bound: Bound,
    /// Number of operations of this kind.
    count: f64,
}

/// Returns the hardware limit that bounds `summary`, out of `limits`. `None` if nothing is transferred, if that
/// limit was not measured, and with more than two peers.
pub(super) fn hardware_limit(
    summary: &CaseSummary,
    limits: &HardwareLimits,
) -> Option<HardwareLimitShare> {
    let facts = summary.case.facts.as_ref()?;
    // The bounds are those of two peers.
    if facts.path == PayloadPath::Nowhere || summary.case.peers.is_some() {
        return None;
    }
    let cost_ns = cost_ns(summary)?;
    let copies_ns = if facts.is_handed_over { 0.0 } else { copies_ns(&summary.case, limits)? };
    let handover = handover(facts, &summary.case);
    let (bound, least_ns) =
        match handover.map(|one| (one, operation_ns(one.bound, summary, limits))) {
            Some((_, None)) => return None,
            Some((one, Some(ns))) if one.count * ns > copies_ns => (one.bound, one.count * ns),
            _ => (Bound::Copy, copies_ns),
        };
    (least_ns > 0.0).then(|| HardwareLimitShare {
        bound_by: bound,
        min_ns: least_ns,
        share: least_ns / cost_ns,
    })
}

/// Whether each exchange of the case takes two wake-ups across CPUs, according to the table above.
pub fn has_wake_ups(case: &CaseIdentity) -> bool {
    let handover = case.facts.as_ref().and_then(|facts| handover(facts, case));
    handover.is_some_and(|handover| handover.bound == Bound::WakeUp)
}

/// Looks up the table above; `None` if only copying is needed.
fn handover(facts: &CaseFacts, case: &CaseIdentity) -> Option<Handover> {
    let seats = peer_layout(case);
    let calls = calls(facts.path, case.workload, seats);
    let by_calls = (calls > 0.0).then_some(Handover { bound: Bound::SystemCall, count: calls });
    let sleeps = facts.sleeps;
    match (case.workload, seats) {
        (one_way, _) if !one_way.is_answered() => by_calls,
        (_, PeerLayout::OneThread) => by_calls,
        (_, PeerLayout::Shared) => Some(Handover { bound: Bound::Switch, count: 2.0 }),
        (_, PeerLayout::Apart) if sleeps => Some(Handover { bound: Bound::WakeUp, count: 2.0 }),
        (_, PeerLayout::Apart) => {
            by_calls.or(Some(Handover { bound: Bound::CacheLine, count: 1.0 }))
        }
        // A wake-up across CPUs includes a switch, so at least the switches are needed wherever the peers are.
        (_, PeerLayout::Unknown) if sleeps => Some(Handover { bound: Bound::Switch, count: 2.0 }),
        (_, PeerLayout::Unknown) => by_calls,
    }
}

/// Number of consecutive system calls in handing over a message, or in a round trip.
const fn calls(way: PayloadPath, workload: WorkloadKind, seats: PeerLayout) -> f64 {
    let of_a_message = match (way, seats) {
        (
            PayloadPath::Kernel | PayloadPath::SharedMemoryWithDoorbell,
            PeerLayout::OneThread | PeerLayout::Shared,
        ) => 2.0,
        (
            PayloadPath::Kernel | PayloadPath::SharedMemoryWithDoorbell,
            PeerLayout::Apart | PeerLayout::Unknown,
        ) => 1.0,
        (PayloadPath::CrossMemoryRead, _) => 1.0,
        (PayloadPath::Memory | PayloadPath::Nowhere, _) => 0.0,
    };
    if workload.is_answered() { 2.0 * of_a_message } else { of_a_message }
}

/// Returns the time of one operation of kind `bound`, ns. Copies are not covered here, because their time depends
/// on the size.
fn operation_ns(bound: Bound, summary: &CaseSummary, limits: &HardwareLimits) -> Option<f64> {
    match bound {
        Bound::Copy => None,
        Bound::SystemCall => limits.system_call_ns,
        Bound::Switch => limits.switch_ns,
        Bound::WakeUp => limits.futex_wake_ns,
        // Uses the probes next to the runs, not the value from the start of the measurement: CPUs move.
        Bound::CacheLine => summary.cacheline_round_trip_ns.map(|line| line.median),
    }
}

/// Returns the measured time of a message, or a round trip, ns.
fn cost_ns(summary: &CaseSummary) -> Option<f64> {
    match summary.main()? {
        MainFigure::Bandwidth(spread) => {
            Some(summary.case.mean_message_bytes() * 1e9 / spread.median)
        }
        MainFigure::RoundTrip(spread) | MainFigure::PerMessage(spread) => Some(spread.median),
        // A latency at a given rate includes wake-ups, for which there is no limit one way.
        MainFigure::Latency(_) => None,
    }
}

/// Returns the mean time of one copy of a message, plus one of its answer in an exchange, ns. An answer has the size of the
/// message unless another was requested.
fn copies_ns(case: &CaseIdentity, limits: &HardwareLimits) -> Option<f64> {
    let copies =
        case.size_shares().into_iter().map(|(bytes, share)| Some(share * copy_ns(bytes, limits)?));
    let there_ns = copies.sum::<Option<f64>>()?;
    match case.reply {
        _ if !case.workload.is_answered() => Some(there_ns),
        Some(Reply::Bytes(bytes)) => Some(there_ns + copy_ns(bytes, limits)?),
        Some(Reply::Echo) | None => Some(2.0 * there_ns),
    }
}

fn peer_layout(case: &CaseIdentity) -> PeerLayout {
    match case.cpus.as_slice() {
        _ if case.mode == Mode::OneThread => PeerLayout::OneThread,
        [sender, receiver] if sender == receiver => PeerLayout::Shared,
        [_, _] => PeerLayout::Apart,
        _ => PeerLayout::Unknown,
    }
}

/// Returns the time of one hot copy of `bytes`, ns, from the rate at the measured size that is nearest by factor.
/// Between two sizes a factor of two apart the rate changes little, except for a step where a cache ends.
#[allow(clippy::cast_precision_loss, reason = "a rate, good to three digits")]
fn copy_ns(bytes: u64, limits: &HardwareLimits) -> Option<f64> {
    let measured = limits.copy.iter().filter_map(|copy| Some((copy, copy.hot_bytes_per_s?)));
    let distance = |copy: &CopyLimit| (copy.bytes as f64 / bytes as f64).ln().abs();
    let (_, rate) = measured.min_by(|(a, _), (b, _)| distance(a).total_cmp(&distance(b)))?;
    Some(bytes as f64 * 1e9 / rate as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::summarize;
    use crate::testing::sample;

    /// Returns limits with copies at 10 bytes/ns, calls of 100 ns and switches of 500 ns.
    fn limits() -> HardwareLimits {
        HardwareLimits {
            copy: vec![CopyLimit { bytes: 65_536, hot_bytes_per_s: Some(10_000_000_000) }],
            system_call_ns: Some(100.0),
            switch_ns: Some(500.0),
            futex_wake_ns: Some(9_000.0),
            ..HardwareLimits::default()
        }
    }

    fn share_of(
        mechanism: &str,
        kind: WorkloadKind,
        bytes: u64,
        message_ns: u64,
        cpus: [u32; 2],
    ) -> HardwareLimitShare {
        share_with(mechanism, "", kind, bytes, message_ns, cpus, &limits()).unwrap()
    }

    /// Returns the bound of a case whose messages take `message_ns` each, with the option `wait` if it is not
    /// empty.
    fn share_with(
        mechanism: &str,
        wait: &str,
        kind: WorkloadKind,
        bytes: u64,
        message_ns: u64,
        cpus: [u32; 2],
        limits: &HardwareLimits,
    ) -> Option<HardwareLimitShare> {
        let mut sample = sample(mechanism, kind, bytes, 1, message_ns * 1_000);
        sample.run.case.cpus = cpus.to_vec();
        if !wait.is_empty() {
            let facts = sample.run.case.facts.as_mut().expect("samples for tests have facts");
            facts.sleeps = wait == "block";
        }
        sample.cacheline_round_trip_ns = (cpus[0] != cpus[1]).then_some(300.0);
        let id = sample.run.case.case_id.clone();
        let summaries = summarize(&[id], &[], &[sample], &[], Some(limits));
        summaries[0].hardware_limit
    }

    fn assert_share(roof: HardwareLimitShare, bound: Bound, least_ns: f64, share: f64) {
        assert_eq!(roof.bound_by, bound);
        assert!((roof.min_ns - least_ns).abs() < 1e-6, "{roof:?}");
        assert!((roof.share - share).abs() < 1e-3, "{roof:?}");
    }

    #[test]
    fn small_messages_are_bound_by_calls_and_large_ones_by_copies() {
        let stream = |bytes, cpus| share_of("pipe", WorkloadKind::Stream, bytes, 20_000, cpus);
        assert_share(stream(64, [0, 0]), Bound::SystemCall, 200.0, 0.01);
        assert_share(stream(64, [0, 1]), Bound::SystemCall, 100.0, 0.005);
        assert_share(stream(65_536, [0, 0]), Bound::Copy, 6_553.6, 0.328);
    }

    #[test]
    fn a_mixture_is_bound_by_the_mean_of_its_copies() {
        let share = |workload| {
            let mut sample = sample("shm-ring", workload, 65_536, 1, 10_000_000);
            sample.run.case.message_sizes = Some("640B:90%,64KiB:10%".parse().unwrap());
            sample.run.case.cpus = vec![0, 1];
            sample.cacheline_round_trip_ns = Some(300.0);
            let id = sample.run.case.case_id.clone();
            // As many bytes per second as if each message had taken 10 us.
            sample.bandwidth_bytes_per_s = workload.is_streamed().then_some(712_960_000);
            let summaries = summarize(&[id], &[], &[sample], &[], Some(&limits()));
            summaries[0].hardware_limit.unwrap()
        };
        let mean_ns = 0.9 * 64.0 + 0.1 * 6_553.6;
        assert_share(share(WorkloadKind::Stream), Bound::Copy, mean_ns, mean_ns / 10_000.0);
        assert!((share(WorkloadKind::RoundTrip).min_ns - 2.0 * mean_ns).abs() < 1e-6);
    }

    #[test]
    fn shared_memory_needs_no_call() {
        let roof = share_of("shm-ring", WorkloadKind::Stream, 64, 64, [0, 1]);
        assert_share(roof, Bound::Copy, 6.4, 0.1);
    }

    #[test]
    fn what_is_handed_over_in_place_need_not_be_copied() {
        let stream =
            |mechanism| share_of(mechanism, WorkloadKind::Stream, 65_536, 20_000, [0, 0]).bound_by;
        assert_eq!(stream("bus-copy"), Bound::Copy);
        assert_eq!(stream("bus-memfd"), Bound::SystemCall);
    }

    #[test]
    fn round_trips_are_bound_by_the_switch_the_wake_up_or_the_distance() {
        let trip = |mechanism, cpus| share_of(mechanism, WorkloadKind::RoundTrip, 1, 36_000, cpus);
        assert_share(trip("pipe", [0, 0]), Bound::Switch, 1_000.0, 0.028);
        assert_share(trip("pipe", [0, 1]), Bound::WakeUp, 18_000.0, 0.5);
        assert_share(trip("shm-ring", [0, 1]), Bound::CacheLine, 300.0, 0.008);
        assert_share(trip("shm-ring", [0, 0]), Bound::Switch, 1_000.0, 0.028);
    }

    /// Every mechanism has one bound for small messages in each workload and placement. Mechanisms that sleep
    /// between two CPUs are bounded by wake-ups, whatever the path of the payload.
    #[test]
    fn peers_that_sleep_on_two_cpus_are_bound_by_wake_ups() {
        for kind in [WorkloadKind::RoundTrip, WorkloadKind::RequestReply] {
            for mechanism in ["pipe", "mmap-file", "eventfd", "process-vm", "zeromq", "mmap-queue"]
            {
                let bound = share_of(mechanism, kind, 1, 36_000, [0, 1]).bound_by;
                assert_eq!(bound, Bound::WakeUp, "{mechanism}");
            }
            let bound = |mechanism, wait| {
                let roof = share_with(mechanism, wait, kind, 1, 36_000, [0, 1], &limits()).unwrap();
                roof.bound_by
            };
            assert_eq!(bound("shm-ring", "block"), Bound::WakeUp);
            assert_eq!(bound("shm-ring", "spin"), Bound::CacheLine);
            assert_eq!(bound("mmap-queue", "fcntl-each"), Bound::CacheLine);
        }
        assert_eq!(
            share_of("pipe", WorkloadKind::Stream, 1, 36_000, [0, 1]).bound_by,
            Bound::SystemCall
        );
    }

    /// Replacing a missing limit by a weaker one would show a different bound in each table.
    #[test]
    fn what_bounds_a_case_is_not_replaced_where_it_was_not_measured() {
        let without_wake = HardwareLimits { futex_wake_ns: None, ..limits() };
        let trip = |bytes| {
            share_with("pipe", "", WorkloadKind::RoundTrip, bytes, 36_000, [0, 1], &without_wake)
        };
        assert_eq!([trip(1), trip(65_536)], [None, None]);
    }

    #[test]
    fn a_large_message_is_bound_by_its_copies_whoever_sleeps() {
        let trip = share_of("pipe", WorkloadKind::RoundTrip, 1 << 20, 300_000, [0, 1]);
        assert_share(trip, Bound::Copy, 209_715.2, 0.699);
    }
}
