//! The roofline of IPC: for each case the limit of the machine that bounds it, and how near the case
//! comes to it.
//!
//! A message (or a round trip) costs at least the larger of two times: what it takes to copy it, and
//! what it takes to hand it from peer to peer. Copying is one hot copy of a message (in a round trip one
//! more of its answer), and none where payload is handed over in place. Handing over is bound by one
//! thing, whatever the size, which the workload, the place of the peers and how they wait decide:
//!
//! | | in a stream | in a round trip, by peers that sleep | in a round trip, by peers that spin |
//! |---|---|---|---|
//! | one thread | two system calls | four system calls | four system calls |
//! | both on one CPU | two system calls | two switches | two switches |
//! | a CPU each | one system call | two wake-ups across CPUs | a cache line there and back; two system calls where each message takes calls |
//! | wherever the scheduler has them | one system call | two switches | two system calls |
//!
//! Through shared memory alone no system calls are needed, and out of the sender's memory half as many where
//! one thread or CPU makes them all. In a stream nobody has to sleep. Where a limit that the table names was
//! not measured nothing bounds the case: a weaker limit would explain nothing. Peers that sleep may still be
//! faster than two wake-ups: each may find its message just before it falls asleep.
//!
//! After S. Williams, A. Waterman, D. Patterson (2009), *Roofline: An Insightful Visual Performance
//! Model for Multicore Architectures*, Communications of the ACM 52(4).

use ipcperf_model::Mode;
use ipcperf_model::hardware_limits::{CopyLimit, Limits};
use ipcperf_model::mechanism::{CaseFacts, PayloadWay};
use ipcperf_model::workload::Kind;
use schemars::JsonSchema;
use serde::Serialize;

use super::{CaseSummary, Figure};
use crate::CaseIdentity;

/// What of the machine bounds a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Bound {
    /// Copying the message.
    Copy,
    /// Entering and leaving the kernel.
    SystemCall,
    /// Switching from one party to the other on their CPU.
    Switch,
    /// Waking a peer that sleeps on the other CPU.
    WakeUp,
    /// Carrying a cache line to the other CPU and back.
    CacheLine,
}

impl Bound {
    /// The word used in running text.
    pub const fn in_a_sentence(self) -> &'static str {
        match self {
            Self::Copy => "copying the message",
            Self::SystemCall => "entering and leaving the kernel",
            Self::Switch => "switching from one party to the other",
            Self::WakeUp => "waking the peer on the other CPU",
            Self::CacheLine => "carrying a cache line from CPU to CPU",
        }
    }

    /// The word used in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Copy => "copy",
            Self::SystemCall => "system call",
            Self::Switch => "switch",
            Self::WakeUp => "wake-up",
            Self::CacheLine => "cache line",
        }
    }
}

/// How near a case comes to what bounds it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Roof {
    /// What bounds it.
    pub bound: Bound,
    /// What a message, or a round trip, costs at least, ns.
    pub least_ns: f64,
    /// That over what it did cost: 1 is as fast as the machine can be.
    pub share: f64,
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

/// What handing one message over, or a round trip, takes at least.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Handover {
    bound: Bound,
    /// How many of that.
    count: f64,
}

/// What bounds `summary` on a machine of `limits`. `None` where nothing moves or what bounds it was not
/// measured.
pub(super) fn roof(summary: &CaseSummary, limits: &Limits) -> Option<Roof> {
    let facts = summary.case.facts.as_ref()?;
    if facts.way == PayloadWay::Nowhere {
        return None;
    }
    let cost_ns = cost_ns(summary)?;
    let copies_ns = if facts.is_handed_over { 0.0 } else { copies_ns(&summary.case, limits)? };
    let handover = handover(facts, &summary.case);
    let (bound, least_ns) = match handover.map(|one| (one, each_ns(one.bound, summary, limits))) {
        Some((_, None)) => return None,
        Some((one, Some(ns))) if one.count * ns > copies_ns => (one.bound, one.count * ns),
        _ => (Bound::Copy, copies_ns),
    };
    (least_ns > 0.0).then(|| Roof { bound, least_ns, share: least_ns / cost_ns })
}

/// Whether each exchange of the case takes two wake-ups across CPUs, by the table above.
pub fn takes_wake_ups(case: &CaseIdentity) -> bool {
    let handover = case.facts.as_ref().and_then(|facts| handover(facts, case));
    handover.is_some_and(|handover| handover.bound == Bound::WakeUp)
}

/// The table above; `None` where nothing but copying is needed.
fn handover(facts: &CaseFacts, case: &CaseIdentity) -> Option<Handover> {
    let seats = seats(case);
    let calls = calls(facts.way, case.workload, seats);
    let by_calls = (calls > 0.0).then_some(Handover { bound: Bound::SystemCall, count: calls });
    let sleeps = facts.sleeps;
    match (case.workload, seats) {
        (Kind::Stream, _) | (_, Seats::OneThread) => by_calls,
        (_, Seats::Shared) => Some(Handover { bound: Bound::Switch, count: 2.0 }),
        (_, Seats::Apart) if sleeps => Some(Handover { bound: Bound::WakeUp, count: 2.0 }),
        (_, Seats::Apart) => by_calls.or(Some(Handover { bound: Bound::CacheLine, count: 1.0 })),
        // A wake-up across CPUs has a switch in it: one at least they need wherever they are.
        (_, Seats::Unknown) if sleeps => Some(Handover { bound: Bound::Switch, count: 2.0 }),
        (_, Seats::Unknown) => by_calls,
    }
}

/// System calls that follow one another in handing over a message, or in a round trip.
const fn calls(way: PayloadWay, workload: Kind, seats: Seats) -> f64 {
    let of_a_message = match (way, seats) {
        (PayloadWay::Kernel | PayloadWay::RungMemory, Seats::OneThread | Seats::Shared) => 2.0,
        (PayloadWay::Kernel | PayloadWay::RungMemory, Seats::Apart | Seats::Unknown) => 1.0,
        (PayloadWay::Reach, _) => 1.0,
        (PayloadWay::Memory | PayloadWay::Nowhere, _) => 0.0,
    };
    match workload {
        Kind::Stream => of_a_message,
        Kind::RoundTrip | Kind::RequestReply => 2.0 * of_a_message,
    }
}

/// What one of `bound` takes. Copies have no time of their own here.
fn each_ns(bound: Bound, summary: &CaseSummary, limits: &Limits) -> Option<f64> {
    match bound {
        Bound::Copy => None,
        Bound::SystemCall => limits.system_call_ns,
        Bound::Switch => limits.switch_ns,
        Bound::WakeUp => limits.futex_wake_ns,
        // What the probes beside the runs saw, not what was seen at the start: CPUs move.
        Bound::CacheLine => summary.cacheline_round_trip_ns.map(|line| line.median),
    }
}

/// What a message, or a round trip, of the case costs.
#[allow(clippy::cast_precision_loss, reason = "bytes of one message")]
fn cost_ns(summary: &CaseSummary) -> Option<f64> {
    match summary.main()? {
        Figure::Bandwidth(spread) => Some(summary.case.buffer_bytes as f64 * 1e9 / spread.median),
        Figure::RoundTrip(spread) | Figure::PerMessage(spread) => Some(spread.median),
    }
}

/// One copy of the message, and in an exchange one of its answer. Older files do not store the size of an
/// answer: there it is as large.
fn copies_ns(case: &CaseIdentity, limits: &Limits) -> Option<f64> {
    let there_ns = copy_ns(case.buffer_bytes, limits)?;
    match case.workload {
        Kind::Stream => Some(there_ns),
        Kind::RoundTrip | Kind::RequestReply => {
            Some(there_ns + copy_ns(case.reply_bytes.unwrap_or(case.buffer_bytes), limits)?)
        }
    }
}

fn seats(case: &CaseIdentity) -> Seats {
    match case.cpus.as_slice() {
        _ if case.mode == Mode::OneThread => Seats::OneThread,
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
    use crate::analysis::summarise;
    use crate::testing::sample;

    /// Copies at 10 bytes/ns, calls of 100 ns, switches of 500 ns.
    fn limits() -> Limits {
        Limits {
            copy: vec![CopyLimit { bytes: 65_536, hot_bytes_per_s: Some(10_000_000_000) }],
            system_call_ns: Some(100.0),
            switch_ns: Some(500.0),
            futex_wake_ns: Some(9_000.0),
            ..Limits::default()
        }
    }

    fn roofed(mechanism: &str, kind: Kind, bytes: u64, message_ns: u64, cpus: [u32; 2]) -> Roof {
        roofed_with(mechanism, "", kind, bytes, message_ns, cpus, &limits()).unwrap()
    }

    /// The roof of a case whose messages take `message_ns` each, with the option `wait` where one is named.
    fn roofed_with(
        mechanism: &str,
        wait: &str,
        kind: Kind,
        bytes: u64,
        message_ns: u64,
        cpus: [u32; 2],
        limits: &Limits,
    ) -> Option<Roof> {
        let mut sample = sample(mechanism, kind, bytes, 1, message_ns * 1_000);
        sample.run.case.cpus = cpus.to_vec();
        if !wait.is_empty() {
            let facts = sample.run.case.facts.as_mut().expect("samples for tests have facts");
            facts.sleeps = wait == "futex";
        }
        sample.cacheline_round_trip_ns = (cpus[0] != cpus[1]).then_some(300.0);
        let id = sample.run.case.case_id.clone();
        let summaries = summarise(&[id], &[], &[sample], &[], Some(limits));
        summaries[0].roof
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
    fn round_trips_are_bound_by_the_switch_the_wake_up_or_the_distance() {
        let trip = |mechanism, cpus| roofed(mechanism, Kind::RoundTrip, 1, 36_000, cpus);
        assert_roof(trip("pipe", [0, 0]), Bound::Switch, 1_000.0, 0.028);
        assert_roof(trip("pipe", [0, 1]), Bound::WakeUp, 18_000.0, 0.5);
        assert_roof(trip("shm-ring", [0, 1]), Bound::CacheLine, 300.0, 0.008);
        assert_roof(trip("shm-ring", [0, 0]), Bound::Switch, 1_000.0, 0.028);
    }

    /// Every mechanism has one bound for small messages in each workload and place, and those that sleep
    /// between two CPUs are bound by waking, whatever the payload takes its way through.
    #[test]
    fn peers_that_sleep_on_two_cpus_are_bound_by_wake_ups() {
        for kind in [Kind::RoundTrip, Kind::RequestReply] {
            for mechanism in ["pipe", "mmap-file", "eventfd", "process-vm", "zeromq", "mmap-queue"]
            {
                let bound = roofed(mechanism, kind, 1, 36_000, [0, 1]).bound;
                assert_eq!(bound, Bound::WakeUp, "{mechanism}");
            }
            let bound = |mechanism, wait| {
                let roof =
                    roofed_with(mechanism, wait, kind, 1, 36_000, [0, 1], &limits()).unwrap();
                roof.bound
            };
            assert_eq!(bound("shm-ring", "futex"), Bound::WakeUp);
            assert_eq!(bound("shm-ring", "yield"), Bound::CacheLine);
            assert_eq!(bound("mmap-queue", "fcntl-each"), Bound::CacheLine);
        }
        assert_eq!(roofed("pipe", Kind::Stream, 1, 36_000, [0, 1]).bound, Bound::SystemCall);
    }

    /// A weaker limit in the place of one that is missing would be another bound in another table.
    #[test]
    fn what_bounds_a_case_is_not_replaced_where_it_was_not_measured() {
        let without_wake = Limits { futex_wake_ns: None, ..limits() };
        let trip =
            |bytes| roofed_with("pipe", "", Kind::RoundTrip, bytes, 36_000, [0, 1], &without_wake);
        assert_eq!([trip(1), trip(65_536)], [None, None]);
    }

    #[test]
    fn a_large_message_is_bound_by_its_copies_whoever_sleeps() {
        let trip = roofed("pipe", Kind::RoundTrip, 1 << 20, 300_000, [0, 1]);
        assert_roof(trip, Bound::Copy, 209_715.2, 0.699);
    }
}
