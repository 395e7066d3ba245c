//! One peer of a run, from pinning to its report.

use std::time::Duration;

use ipcperf_model::mechanism::Helper;
use ipcperf_model::{Failure, FailureKind, Gate, Role, RoleUsage, RunSpec};
use rustix::io::Errno;

use super::calibration::Calibration;
use super::connections::Connections;
use super::counter_fds::CounterFds;
use super::gate;
use super::helper_usage::{HelperReading, HelperUsage};
use super::kernel_threads::KernelThreads;
use super::message_memory::MessageMemory;
use super::objects::ObjectSurvey;
use super::paced_report::{PacedReport, PeerTime};
use super::peer_ends::{Counted, TimedRegion};
use super::peer_pacing;
use super::peer_report::PeerReport;
use super::phases::{PhaseReport, PhaseReports};
use super::running_peer::RunningPeer;
use super::usage::{RusageScope, Usage, run_delay_ns};
use crate::channel::PeerPlacement;
use crate::clock::{Timestamp, measure_ns_per_tick, thread_cpu_ns};
use crate::histogram::TickHistogram;
use crate::limits::cacheline;
use crate::limits::clock_bound::{self, ClockBound};
use crate::message_order::MessageOrder;
use crate::shared_state::Control;
use crate::workload::{PacedPeer, PhaseSize};
use crate::{NO_SPACE, harness_failure, placement};

/// Duration of the cache-line probe before and after a run.
const PROBE_TIME: Duration = Duration::from_millis(5);
/// Time over which the length of a tick is measured before a paced run: good to some millionths.
const TICK_CALIBRATION: Duration = Duration::from_millis(10);

/// A peer that is ready to run.
pub(super) struct PeerRunner<'a> {
    pub(super) spec: &'a RunSpec,
    pub(super) peer: RunningPeer,
    pub(super) connections: &'a Connections,
    pub(super) placement: PeerPlacement,
    /// Participant other than the peers that does part of the work.
    pub(super) helper: Helper,
}

/// State of a running peer.
struct PeerState {
    memory: MessageMemory,
    /// Order of the messages over each of the peer's connections; empty if they have one size.
    orders: Vec<MessageOrder>,
    trips: TickHistogram,
    /// State of a paced run, for each connection whose messages this peer sends or times.
    paced: Vec<PacedPeer>,
    kernel_threads: Option<KernelThreads>,
    /// Counter descriptors handed over by an instrument.
    counter_fds: CounterFds,
}

/// A finished phase.
struct FinishedPhase {
    usage: RoleUsage,
    helpers: HelperUsage,
    timed_every: u64,
    arrived_bytes: u64,
    paced: Vec<PacedReport>,
}

/// Result of the probes before or after a run.
#[derive(Clone, Copy, Debug, Default)]
struct Probe {
    /// Cache-line round trip between the two CPUs, ns.
    cacheline_ns: Option<f64>,
    /// Uncertainty of times between the two CPUs, ticks; only for paced runs.
    clock_ticks: Option<f64>,
}

impl PeerRunner<'_> {
    /// Runs the peer to its end.
    pub(super) fn run(mut self) -> Result<PeerReport, Failure> {
        self.pin()?;
        let mut state = self.prepare()?;
        state.counter_fds = self.wait_at_gate()?;
        let survey = ObjectSurvey::begin(self.spec, self.peer.role);
        let mut calibration = Calibration::from_spec(self.spec);
        let before = self.probe();
        let (phase, repeats) = self.run_phases(&mut calibration, &mut state)?;
        let probes = [before, self.probe()];
        let objects = survey.map_or_else(Vec::new, |survey| survey.end(self.spec, self.peer.role));
        Ok(PeerReport { objects, repeats, ..self.report(phase, &calibration, &state, probes)? })
    }

    /// Runs phases until the requested number has counted. Returns the last one, and the reports of all if several were
    /// requested.
    fn run_phases(
        &mut self,
        calibration: &mut Calibration,
        state: &mut PeerState,
    ) -> Result<(FinishedPhase, Vec<PhaseReport>), Failure> {
        let mut repeated = PhaseReports::new(self.spec.repeats);
        loop {
            repeated.settle(self.peer.role);
            let phase = self.run_phase(calibration.size, state)?;
            // Once one phase has counted, all count, however short: discarding the fast ones would bias the result.
            let counts =
                repeated.has_begun() || calibration.record_phase(self.connections.elapsed_ns());
            if counts && repeated.record(&phase.usage, self.control()) {
                return Ok((phase, repeated.reports()));
            }
        }
    }

    /// State of the peer's connection, or of the first one if it has several.
    fn control(&self) -> &'static Control {
        self.connections.all()[self.peer.connections.start]
    }

    /// State of each of the peer's connections.
    fn own_controls(&self) -> impl Iterator<Item = &'static Control> {
        self.connections.all()[self.peer.connections.clone()].iter().copied()
    }

    /// Whether this peer does what one of them does for all.
    fn leads(&self) -> bool {
        self.peer.role != Role::Receiver && self.peer.connections.start == 0
    }

    /// CPU of the peer; `None` if the scheduler chooses.
    fn cpu(&self) -> Option<u32> {
        let [sender, receiver] = self.spec.connection_cpus(self.peer.connections.start)?;
        Some(if self.peer.role == Role::Receiver { receiver } else { sender })
    }

    /// Pins the calling thread to its CPU.
    fn pin(&self) -> Result<(), Failure> {
        let Some(cpu) = self.cpu() else {
            return Ok(());
        };
        placement::pin(cpu).map_err(|errno| {
            // The plan used only allowed CPUs: this one has since gone offline or been disallowed.
            harness_failure(FailureKind::SetUp, format!("pinning to CPU {cpu}"), errno)
                .with_remedy("choose CPUs that this process may use: taskset -p $$")
        })
    }

    fn prepare(&mut self) -> Result<PeerState, Failure> {
        let memory = match self.peer.memory.take() {
            Some(memory) => memory,
            None => {
                MessageMemory::new(self.spec, self.peer.role, self.peer.ends.send_buffers_needed())?
            }
        };
        let buffers = [memory.outgoing.as_bytes(), memory.incoming.as_bytes()];
        self.peer
            .ends
            .prepare(&buffers)
            .map_err(|errno| prepare_failure(self.spec.mechanism.as_str(), errno))?;
        if self.peer.role == Role::Receiver {
            self.peer.ends.prepare_to_wait(self.spec)?;
        }
        // Only one of the peers reads the kernel threads; all would see the same.
        let kernel_threads =
            self.leads().then(|| KernelThreads::find(self.spec, self.helper)).flatten();
        let (trips, counter_fds) = (TickHistogram::new_touched(), CounterFds::default());
        let paced = peer_pacing::paced_peers(self.spec, &self.peer);
        let orders = self.peer.connections.clone();
        let orders = orders.filter_map(|connection| MessageOrder::from_spec(self.spec, connection));
        let orders = orders.collect();
        Ok(PeerState { memory, orders, trips, paced, kernel_threads, counter_fds })
    }

    /// Waits at the gate, if there is one, and returns the counter descriptors to read.
    fn wait_at_gate(&self) -> Result<CounterFds, Failure> {
        if self.spec.gate == Gate::Open {
            return Ok(CounterFds::default());
        }
        self.control().thread_ids(self.peer.role).record();
        self.wait_at_barrier();
        if self.peer.role == Role::Receiver {
            // The sender passes the gate first.
            self.wait_at_barrier();
            return gate::wait();
        }
        gate::announce(&gate::participants(
            self.spec,
            self.control(),
            self.peer.ends.broker_pid(),
        ))?;
        let counter_fds = gate::wait()?;
        self.wait_at_barrier();
        Ok(counter_fds)
    }

    fn wait_at_barrier(&self) {
        if self.peer.role != Role::Both {
            self.connections.wait_at_barrier(self.placement);
        }
    }

    /// Measures the distance between the two CPUs and, for a paced run, compares their clocks, as seen by the sender.
    fn probe(&self) -> Probe {
        if self.placement != PeerPlacement::SeparateCpus || self.peer.role == Role::Both {
            return Probe::default();
        }
        let (lines, clock_lines) = (self.control().lines(), self.control().clock_lines());
        let is_paced = self.spec.pacing.is_some();
        if self.peer.role == Role::Receiver {
            self.wait_at_barrier();
            cacheline::follow(lines);
            if is_paced {
                clock_bound::follow(clock_lines);
            }
            return Probe::default();
        }
        lines.reset();
        clock_lines.reset();
        self.wait_at_barrier();
        let cacheline_ns = cacheline::lead(lines, PROBE_TIME);
        let bound = is_paced.then(|| clock_bound::lead(clock_lines)).flatten();
        Probe { cacheline_ns, clock_ticks: bound.map(ClockBound::uncertainty) }
    }

    fn run_phase(
        &mut self,
        size: PhaseSize,
        state: &mut PeerState,
    ) -> Result<FinishedPhase, Failure> {
        if self.leads() {
            self.connections.reset_phase();
        }
        state.paced.iter_mut().for_each(PacedPeer::clear);
        if self.spec.pacing.is_some() && self.leads() {
            self.connections.calibrate(measure_ns_per_tick(TICK_CALIBRATION));
        }
        state.trips.clear();
        self.peer.ends.take_calls();
        let helpers_before = self.read_helpers(state);
        let scope = RusageScope::from_helper(self.helper);
        let (delay_before_ns, threads_before_ns) = (run_delay_ns(), scope.other_threads_cpu_ns());
        self.wait_at_barrier();
        if self.peer.role == Role::Sender {
            self.own_controls().for_each(|control| control.wait_for_receiver(self.placement));
        }
        let cpu_before_ns = scope.cpu_ns();
        state.counter_fds.read_before();
        let (begin, thread_before_ns) = (Timestamp::now(), thread_cpu_ns());
        let start = Usage::now(scope);
        if self.peer.role == Role::Receiver {
            self.own_controls().for_each(Control::set_receiver_ready);
        }
        let Counted { meter, timed_every, arrived_bytes } =
            self.peer.ends.run_timed(TimedRegion {
                spec: self.spec,
                role: self.peer.role,
                size,
                orders: &state.orders,
                memory: &mut state.memory,
                trips: &mut state.trips,
                paced: &mut state.paced,
                controls: &self.connections.all()[self.peer.connections.clone()],
            })?;
        let end = Usage::now(scope);
        let cpu_ns = thread_cpu_ns() - thread_before_ns;
        let time = PeerTime { cpu_ns, begin, end: Timestamp::now() };
        state.counter_fds.read_after();
        let cpu_after_ns = scope.cpu_ns();
        self.wait_at_barrier();
        let calls = self.peer.ends.take_calls().map_or(meter.transfers, |own| own + meter.polls);
        let calls = self.peer.ends.counts_calls().then_some(calls);
        self.peer.ends.drain();
        let mut usage =
            start.until(end, self.peer.role, meter, calls, cpu_after_ns - cpu_before_ns);
        // While the process's other threads run on this CPU, the delay is not caused by other programs.
        let threads_ns = scope.other_threads_cpu_ns().saturating_sub(threads_before_ns);
        let delay_ns = delay_before_ns.zip(run_delay_ns()).map(|(before, after)| after - before);
        usage.run_delay_ns = delay_ns.map(|delay_ns| delay_ns.saturating_sub(threads_ns));
        let helpers = helpers_before.until(&self.read_helpers(state));
        let controls = self.connections.all();
        let paced =
            peer_pacing::reports(self.spec, &self.peer, &state.paced, (&usage, time), controls)?;
        Ok(FinishedPhase { usage, helpers, timed_every, arrived_bytes, paced })
    }

    /// Time from the first byte over the peer's own connections to the last one, ns, and the number of messages that
    /// arrived over them.
    fn own_clock(&self) -> (u64, u64) {
        let began_ns = self.own_controls().map(Control::began_ns).min().unwrap_or_default();
        let messages = self.own_controls().map(Control::messages).sum();
        (self.own_end_ns().saturating_sub(began_ns).max(1), messages)
    }

    /// Time of the last byte over the peer's own connections, ns.
    fn own_end_ns(&self) -> u64 {
        self.own_controls().map(Control::ended_ns).max().unwrap_or_default()
    }

    fn read_helpers(&self, state: &PeerState) -> HelperReading {
        // Only one of the peers reads the broker; all would see the same.
        let broker_pid = if self.leads() { self.peer.ends.broker_pid() } else { None };
        HelperReading::now(broker_pid, state.kernel_threads.as_ref())
    }

    #[allow(clippy::cast_precision_loss, reason = "a mean, good to 53 bits")]
    fn report(
        &self,
        phase: FinishedPhase,
        calibration: &Calibration,
        state: &PeerState,
        probes: [Probe; 2],
    ) -> Result<PeerReport, Failure> {
        let (elapsed_ns, arrived) = (self.connections.elapsed_ns(), self.connections.messages());
        let (own_ns, own_messages) = self.own_clock();
        let mean_ns = own_ns as f64 / own_messages.max(1) as f64;
        let ns_per_tick = self.control().ns_per_tick();
        let trips = &state.trips;
        let round_trips = (!trips.is_empty())
            .then(|| trips.report(ns_per_tick, phase.timed_every, mean_ns))
            .transpose()?;
        let [before, after] = probes;
        // The sender of a paced run may have given up.
        let sent = state.paced.first().filter(|_| self.peer.role != Role::Receiver);
        let size = sent.map_or(calibration.size, |paced| PhaseSize {
            messages: paced.sent.max(1),
            ..calibration.size
        });
        let own_connections = self.peer.connections.len() as u64;
        let total_bytes = match &*state.orders {
            [] => size.total_bytes() * own_connections,
            orders => orders.iter().map(|order| order.total_bytes(size.messages)).sum(),
        };
        let distances = before.cacheline_ns.zip(after.cacheline_ns);
        let bounds = probes.map(|probe| probe.clock_ticks);
        let with_bounds = |paced: PacedReport| paced.with_clock_bounds(bounds, self.control());
        let paced = phase.paced.into_iter().map(with_bounds);
        Ok(PeerReport {
            usage: phase.usage,
            peer: u32::try_from(self.peer.connections.start).unwrap_or(u32::MAX),
            connections: self.peer.connections.len(),
            cpu: self.cpu(),
            // From the common start: peers that share a CPU begin one after the other.
            own_elapsed_ns: self.own_end_ns().saturating_sub(self.connections.began_ns()).max(1),
            own_messages,
            began_ns: self.connections.began_ns(),
            elapsed_ns,
            arrived,
            messages: size.messages * own_connections,
            total_bytes,
            arrived_bytes: phase.arrived_bytes,
            calibration_phases: calibration.phases,
            slices_ns: calibration.slices_ns.clone(),
            kernel_thread_ns: phase.helpers.kernel_thread_ns,
            broker: phase.helpers.broker,
            objects: Vec::new(),
            counter_readings: state.counter_fds.readings(),
            round_trips,
            paced: paced.collect(),
            cacheline_round_trip_ns: distances.map(|(before, after)| [before, after]),
            repeats: Vec::new(),
        })
    }
}

/// Failure of a peer to prepare its end of `mechanism`.
fn prepare_failure(mechanism: &str, errno: Errno) -> Failure {
    let failure = Failure::from_errno(
        FailureKind::SetUp,
        format!("preparing {mechanism}"),
        errno.raw_os_error(),
    );
    match errno {
        Errno::NOMEM => failure.with_remedy("use smaller messages, or raise ulimit -l"),
        Errno::NOSPC | Errno::DQUOT => failure.with_remedy(NO_SPACE),
        _ => failure,
    }
}
