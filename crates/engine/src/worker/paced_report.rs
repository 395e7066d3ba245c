//! Report of a peer on a paced run, and its combination with that of the other peer.

use std::cmp::Reverse;

use ipcperf_model::pacing::{Arrivals, Pacer, Pacing};
use ipcperf_model::{
    Failure, Latencies, PacedMeasurement, PacerReport, Role, RoleUsage, SendDelays, SlowMessage,
};
use serde::{Deserialize, Serialize};

use crate::clock::Timestamp;
use crate::histogram::merge_paced_latencies;
use crate::shared_state::Control;
use crate::workload::{MessageTimes, PacedPeer, Traffic, checkpoint_message};

/// Part of the report that a paced run adds.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct PacedReport {
    /// Number of the connection.
    connection: usize,
    /// Pacer, of the peer that sends.
    pacer: Option<PacerReport>,
    /// Arrivals, of the peer that measures latencies.
    arrivals: Option<ArrivalReport>,
    scheduled_per_s: f64,
    clock_uncertainty_ns: Option<f64>,
}

/// Latencies of the messages that arrived.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct ArrivalReport {
    slow_messages: Vec<SlowMessage>,
    from_schedule: Latencies,
    outside_gaps: Latencies,
    from_send: Latencies,
    achieved_per_s: f64,
    backlogs: [u64; 4],
}

/// CPU time of a peer's thread, and the period in which it was used.
#[derive(Clone, Copy, Debug)]
pub(super) struct PeerTime {
    pub(super) cpu_ns: u64,
    pub(super) begin: Timestamp,
    pub(super) end: Timestamp,
}

impl PeerTime {
    const fn wall_ns(&self) -> u64 {
        self.end.ns.saturating_sub(self.begin.ns)
    }

    /// Time at which the clock showed `ticks`, ns. The rate is that of the period itself: a fixed one would be off by some
    /// µs at the end of a second.
    #[allow(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "seconds in ns"
    )]
    fn ns_at(&self, ticks: u64) -> u64 {
        let since = ticks.saturating_sub(self.begin.ticks) as f64;
        self.begin.ns + (since * self.begin.ns_per_tick(self.end)) as u64
    }
}

impl PacedReport {
    /// Builds the report of `connection` by the peer that ran `role`, which used `usage` and `time`. The latency of a message
    /// that is answered is measured by the peer that sends it. `bytes` returns the size of a message.
    pub(super) fn new(
        peer: &PacedPeer,
        (role, connection): (Role, usize),
        traffic: Traffic,
        (usage, time): (&RoleUsage, PeerTime),
        control: &Control,
        bytes: impl Fn(u64) -> u64,
    ) -> Result<Self, Failure> {
        let measures = match traffic {
            Traffic::OneWay => role != Role::Sender,
            Traffic::Answered => role != Role::Receiver,
        };
        let slow = || slow_messages(peer, time, bytes);
        let arrivals = measures.then(|| ArrivalReport::new(peer, control, slow())).transpose()?;
        let pacer = (role != Role::Receiver).then(|| pacer_report(peer, usage, time, control));
        let scheduled_per_s = per_s(peer.pacing().messages, peer.end_ns() + gap_ns(peer.pacing()));
        Ok(Self { connection, pacer, arrivals, scheduled_per_s, clock_uncertainty_ns: None })
    }

    /// Adds the bounds on the clocks from before and after the run, in ticks; both must be known.
    pub(super) fn with_clock_bounds(self, bounds: [Option<f64>; 2], control: &Control) -> Self {
        let [before, after] = bounds;
        let ns_per_tick = control.ns_per_tick();
        let larger = before.zip(after).map(|(before, after)| before.max(after) * ns_per_tick);
        Self { clock_uncertainty_ns: larger, ..self }
    }
}

impl ArrivalReport {
    fn new(
        peer: &PacedPeer,
        control: &Control,
        slow_messages: Vec<SlowMessage>,
    ) -> Result<Self, Failure> {
        let ns_per_tick = control.ns_per_tick();
        #[allow(clippy::cast_precision_loss, reason = "seconds in ns")]
        let last_ns =
            peer.counts.last.saturating_sub(control.schedule_start()) as f64 * ns_per_tick;
        let messages = peer.pacing().messages;
        let at = peer.counts.at_checkpoints;
        let backlogs = std::array::from_fn(|quarter| {
            checkpoint_message(messages, quarter).saturating_sub(at[quarter])
        });
        Ok(Self {
            slow_messages,
            from_schedule: peer.latencies.from_schedule.latencies(ns_per_tick)?,
            outside_gaps: peer.latencies.outside_gaps.latencies(ns_per_tick)?,
            from_send: peer.latencies.from_send.latencies(ns_per_tick)?,
            achieved_per_s: per_s(peer.counts.arrived, last_ns + gap_ns(peer.pacing())),
            backlogs,
        })
    }
}

/// The slowest messages of `peer`, with sizes from `bytes`.
fn slow_messages(peer: &PacedPeer, time: PeerTime, bytes: impl Fn(u64) -> u64) -> Vec<SlowMessage> {
    let slow = peer.latencies.slow.sorted();
    let to_ns = |message: &MessageTimes| SlowMessage {
        number: message.number,
        bytes: bytes(message.number),
        due_ns: time.ns_at(message.arrived.saturating_sub(message.latency)),
        sent_ns: time.ns_at(message.sent),
        arrived_ns: time.ns_at(message.arrived),
        previous_arrived_ns: match message.previous_arrived {
            0 => 0,
            ticks => time.ns_at(ticks),
        },
        is_in_gap: message.is_in_gap,
    };
    slow.iter().map(to_ns).collect()
}

/// Time between two messages, or two bursts, ns.
#[allow(clippy::cast_precision_loss, reason = "a rate of at most 1e9")]
fn gap_ns(pacing: &Pacing) -> f64 {
    let together = match pacing.arrivals {
        Arrivals::Even | Arrivals::Poisson => 1,
        Arrivals::Burst(messages) => messages,
    };
    f64::from(together) * 1e9 / pacing.rate_per_s.max(1) as f64
}

#[allow(clippy::cast_precision_loss, reason = "a number of messages")]
fn per_s(messages: u64, duration_ns: f64) -> f64 {
    messages as f64 * 1e9 / duration_ns
}

fn pacer_report(
    peer: &PacedPeer,
    usage: &RoleUsage,
    time: PeerTime,
    control: &Control,
) -> PacerReport {
    let ns_per_tick = control.ns_per_tick();
    PacerReport {
        sent_messages: peer.sent,
        on_time: peer.delays.on_time.delays(ns_per_tick),
        in_gap: peer.delays.in_gap.delays(ns_per_tick),
        behind: peer.delays.behind.delays(ns_per_tick),
        cpu_ns: match peer.pacing().pacer {
            Pacer::Spin => spinning_cpu_ns(peer, usage, time),
            Pacer::Sleep => peer.waited.sleep_cpu_ns,
        },
    }
}

/// CPU time spent spinning, ns: the time spent waiting, without the part of it in which the thread did not run. Reading the
/// thread's clock around each wait would disturb what is measured. If the thread never slept, all of the time without CPU
/// passed against its will: while it waited, since that is nearly all of the time. Otherwise it may have slept in a send,
/// and only its run delay counts. Either way, the part is not longer than the gaps.
#[allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "seconds in ns"
)]
fn spinning_cpu_ns(peer: &PacedPeer, usage: &RoleUsage, time: PeerTime) -> u64 {
    let off_ns = time.wall_ns().saturating_sub(time.cpu_ns);
    let unwilling_ns = match usage.voluntary_switches {
        0 => off_ns,
        _ => off_ns.min(usage.run_delay_ns.unwrap_or(off_ns)),
    };
    let waited = &peer.waited;
    let off_ns = (unwilling_ns as f64).min(waited.gaps_ns);
    (waited.total_ns - off_ns).max(0.0) as u64
}

/// Latencies from the schedule of the messages over `connection`, if `reports` contain them.
pub(super) fn latencies_of(reports: &[PacedReport], connection: u32) -> Option<Latencies> {
    let mut own = reports.iter().filter(|report| report.connection == connection as usize);
    own.find_map(|report| Some(report.arrivals.as_ref()?.from_schedule.clone()))
}

/// Combines the reports of all connections; `None` if the pacer or the arrivals are missing. Of several connections, rates
/// and backlogs are sums, latencies one distribution, and delays of sends those of the latest sender.
pub(super) fn combine(reports: Vec<PacedReport>) -> Result<Option<PacedMeasurement>, Failure> {
    let (mut pacers, mut arrivals) = (Vec::new(), Vec::new());
    let (mut uncertainty_ns, mut scheduled_per_s) = (None, 0.0);
    for report in reports {
        uncertainty_ns = uncertainty_ns.or(report.clock_uncertainty_ns);
        pacers.extend(report.pacer);
        if let Some(arrived) = report.arrivals {
            arrivals.push(arrived);
            scheduled_per_s += report.scheduled_per_s;
        }
    }
    let (Some(pacer), Some(arrivals)) =
        (pacers.into_iter().reduce(with_pacer), with_all_arrivals(arrivals)?)
    else {
        return Ok(None);
    };
    let ArrivalReport {
        from_schedule,
        outside_gaps,
        from_send,
        achieved_per_s,
        backlogs,
        slow_messages,
    } = arrivals;
    Ok(Some(PacedMeasurement {
        slow_messages,
        from_schedule,
        outside_gaps,
        from_send,
        pacer,
        scheduled_per_s,
        achieved_per_s,
        backlogs,
        clock_uncertainty_ns: uncertainty_ns,
    }))
}

/// Combines two pacers.
fn with_pacer(one: PacerReport, other: PacerReport) -> PacerReport {
    PacerReport {
        sent_messages: one.sent_messages + other.sent_messages,
        on_time: with_delays(one.on_time, other.on_time),
        in_gap: with_delays(one.in_gap, other.in_gap),
        behind: with_delays(one.behind, other.behind),
        cpu_ns: one.cpu_ns + other.cpu_ns,
    }
}

/// Combines the delays of two senders: the larger of each percentile.
fn with_delays(one: SendDelays, other: SendDelays) -> SendDelays {
    SendDelays {
        messages: one.messages + other.messages,
        p50_ns: one.p50_ns.max(other.p50_ns),
        p95_ns: one.p95_ns.max(other.p95_ns),
        p99_ns: one.p99_ns.max(other.p99_ns),
        p999_ns: one.p999_ns.max(other.p999_ns),
        max_ns: one.max_ns.max(other.max_ns),
    }
}

/// Combines the arrivals of all connections; `None` if there are none.
fn with_all_arrivals(mut all: Vec<ArrivalReport>) -> Result<Option<ArrivalReport>, Failure> {
    if all.len() < 2 {
        return Ok(all.pop());
    }
    let mut slow_messages: Vec<_> =
        all.iter_mut().flat_map(|one| std::mem::take(&mut one.slow_messages)).collect();
    slow_messages.sort_unstable_by_key(|message| Reverse(message.latency_ns()));
    slow_messages.truncate(slow_messages.len().div_ceil(all.len()));
    let merged = |latencies: fn(&ArrivalReport) -> &Latencies| {
        merge_paced_latencies(all.iter().map(|one| latencies(one).histogram.as_str()))
    };
    Ok(Some(ArrivalReport {
        slow_messages,
        from_schedule: merged(|one| &one.from_schedule)?,
        outside_gaps: merged(|one| &one.outside_gaps)?,
        from_send: merged(|one| &one.from_send)?,
        achieved_per_s: all.iter().map(|one| one.achieved_per_s).sum(),
        backlogs: std::array::from_fn(|quarter| all.iter().map(|one| one.backlogs[quarter]).sum()),
    }))
}
