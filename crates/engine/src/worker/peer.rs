//! One peer of a run, from pinning to its report.

use std::time::Duration;

use ipcperf_model::mechanism::Helper;
use ipcperf_model::{
    CounterReading, Failure, FailureKind, Gate, KernelObject, Role, RoleUsage, RoundTrips, RunSpec,
};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use super::calibration::Calibration;
use super::counter_fds::CounterFds;
use super::gate;
use super::helper_usage::{HelperReading, HelperUsage};
use super::kernel_threads::KernelThreads;
use super::message_memory::MessageMemory;
use super::objects::ObjectSurvey;
use super::paced_report::{PacedReport, SenderTime};
use super::peer_ends::{PeerEnds, TimedRegion};
use super::phases::{PhaseReport, PhaseReports};
use super::usage::{RusageScope, Usage, run_delay_ns};
use crate::channel::PeerPlacement;
use crate::clock::{measure_ns_per_tick, now_ns, thread_cpu_ns};
use crate::histogram::TickHistogram;
use crate::limits::cacheline;
use crate::limits::clock_bound::{self, ClockBound};
use crate::shared_state::Control;
use crate::workload::{PacedPeer, PhaseSize, SendTimes, Traffic};
use crate::{NO_SPACE, harness_failure, placement};

/// Duration of the cache-line probe before and after a run.
const PROBE_TIME: Duration = Duration::from_millis(5);
/// Time over which the length of a tick is measured before a paced run: good to some millionths.
const TICK_CALIBRATION: Duration = Duration::from_millis(10);

/// Report of a peer at its end. Values that both know (elapsed time, messages) are the same in both reports.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct PeerReport {
    pub(super) usage: RoleUsage,
    pub(super) began_ns: u64,
    pub(super) elapsed_ns: u64,
    pub(super) arrived: u64,
    pub(super) messages: u64,
    pub(super) total_bytes: u64,
    pub(super) calibration_phases: u32,
    pub(super) slices_ns: Vec<u64>,
    pub(super) kernel_thread_ns: Option<u64>,
    pub(super) broker: Option<RoleUsage>,
    pub(super) objects: Vec<KernelObject>,
    pub(super) counter_readings: Vec<CounterReading>,
    pub(super) round_trips: Option<RoundTrips>,
    pub(super) paced: Option<PacedReport>,
    pub(super) cacheline_round_trip_ns: Option<[f64; 2]>,
    pub(super) repeats: Vec<PhaseReport>,
}

/// A peer that is ready to run.
pub(super) struct PeerRunner<'a> {
    pub(super) spec: &'a RunSpec,
    pub(super) role: Role,
    pub(super) ends: Box<dyn PeerEnds>,
    /// Message memory, if it was touched before the fork.
    pub(super) memory: Option<MessageMemory>,
    /// Place of the stamps of a paced run.
    pub(super) times: SendTimes,
    pub(super) control: &'a Control,
    pub(super) placement: PeerPlacement,
    /// Participant other than the peers that does part of the work.
    pub(super) helper: Helper,
}

/// State of a running peer.
struct PeerState {
    memory: MessageMemory,
    trips: TickHistogram,
    /// State of a paced run.
    paced: Option<PacedPeer>,
    kernel_threads: Option<KernelThreads>,
    /// Counter descriptors handed over by an instrument.
    counter_fds: CounterFds,
}

/// A finished phase.
struct FinishedPhase {
    usage: RoleUsage,
    helpers: HelperUsage,
    timed_every: u64,
    paced: Option<PacedReport>,
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
        let survey = ObjectSurvey::begin(self.spec, self.role);
        let mut calibration = Calibration::from_spec(self.spec);
        let before = self.probe();
        let (phase, repeats) = self.run_phases(&mut calibration, &mut state)?;
        let probes = [before, self.probe()];
        let objects = survey.map_or_else(Vec::new, |survey| survey.end(self.spec, self.role));
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
            repeated.settle(self.role);
            let phase = self.run_phase(calibration.size, state)?;
            // Once one phase has counted, all count, however short: discarding the fast ones would bias the result.
            let counts =
                repeated.has_begun() || calibration.record_phase(self.control.elapsed_ns());
            if counts && repeated.record(&phase.usage, self.control) {
                return Ok((phase, repeated.reports()));
            }
        }
    }

    /// Pins the calling thread to its CPU.
    fn pin(&self) -> Result<(), Failure> {
        let Some(cpus) = self.spec.cpus else {
            return Ok(());
        };
        let cpu = if self.role == Role::Receiver { cpus[1] } else { cpus[0] };
        placement::pin(cpu).map_err(|errno| {
            // The plan used only allowed CPUs: this one has since gone offline or been disallowed.
            harness_failure(FailureKind::SetUp, format!("pinning to CPU {cpu}"), errno)
                .with_remedy("choose CPUs that this process may use: taskset -p $$")
        })
    }

    fn prepare(&mut self) -> Result<PeerState, Failure> {
        let memory = match self.memory.take() {
            Some(memory) => memory,
            None => MessageMemory::new(self.spec, self.role, self.ends.send_buffers_needed())?,
        };
        let buffers = [memory.outgoing.as_bytes(), memory.incoming.as_bytes()];
        self.ends
            .prepare(&buffers)
            .map_err(|errno| prepare_failure(self.spec.mechanism.as_str(), errno))?;
        // Only one of the peers reads the kernel threads; both would see the same.
        let asks = self.role != Role::Receiver;
        let kernel_threads = asks.then(|| KernelThreads::find(self.spec, self.helper)).flatten();
        let (trips, counter_fds) = (TickHistogram::new_touched(), CounterFds::default());
        let paced = self.spec.pacing.map(|pacing| PacedPeer::new(pacing, self.times));
        Ok(PeerState { memory, trips, paced, kernel_threads, counter_fds })
    }

    /// Waits at the gate, if there is one, and returns the counter descriptors to read.
    fn wait_at_gate(&self) -> Result<CounterFds, Failure> {
        if self.spec.gate == Gate::Open {
            return Ok(CounterFds::default());
        }
        self.control.thread_ids(self.role).record();
        self.wait_at_barrier();
        if self.role == Role::Receiver {
            // The sender passes the gate first.
            self.wait_at_barrier();
            return gate::wait();
        }
        gate::announce(&gate::participants(self.spec, self.control, self.ends.broker_pid()))?;
        let counter_fds = gate::wait()?;
        self.wait_at_barrier();
        Ok(counter_fds)
    }

    fn wait_at_barrier(&self) {
        if self.role != Role::Both {
            self.control.wait_at_barrier(self.placement);
        }
    }

    /// Measures the distance between the two CPUs and, for a paced run, compares their clocks, as seen by the sender.
    fn probe(&self) -> Probe {
        if self.placement != PeerPlacement::SeparateCpus || self.role == Role::Both {
            return Probe::default();
        }
        let (lines, clock_lines) = (self.control.lines(), self.control.clock_lines());
        let is_paced = self.spec.pacing.is_some();
        if self.role == Role::Receiver {
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
        if self.role != Role::Receiver {
            self.control.reset_phase();
        }
        if let Some(paced) = &mut state.paced {
            paced.clear();
            if self.role != Role::Receiver {
                self.control.calibrate(measure_ns_per_tick(TICK_CALIBRATION));
            }
        }
        state.trips.clear();
        self.ends.take_calls();
        let helpers_before = self.read_helpers(state);
        let scope = RusageScope::from_helper(self.helper);
        let (delay_before_ns, threads_before_ns) = (run_delay_ns(), scope.other_threads_cpu_ns());
        self.wait_at_barrier();
        if self.role == Role::Sender {
            self.control.wait_for_receiver(self.placement);
        }
        let cpu_before_ns = scope.cpu_ns();
        state.counter_fds.read_before();
        let (start_ns, thread_before_ns) = (now_ns(), thread_cpu_ns());
        let start = Usage::now(scope);
        if self.role == Role::Receiver {
            self.control.set_receiver_ready();
        }
        let (meter, timed_every) = self.ends.run_timed(TimedRegion {
            spec: self.spec,
            role: self.role,
            size,
            memory: &mut state.memory,
            trips: &mut state.trips,
            paced: state.paced.as_mut(),
            control: self.control,
        })?;
        let end = Usage::now(scope);
        let time =
            SenderTime { cpu_ns: thread_cpu_ns() - thread_before_ns, wall_ns: now_ns() - start_ns };
        state.counter_fds.read_after();
        let cpu_after_ns = scope.cpu_ns();
        self.wait_at_barrier();
        let calls = self.ends.take_calls().map_or(meter.transfers, |own| own + meter.polls);
        let calls = self.ends.counts_calls().then_some(calls);
        self.ends.drain();
        let mut usage = start.until(end, self.role, meter, calls, cpu_after_ns - cpu_before_ns);
        // While the process's other threads run on this CPU, the delay is not caused by other programs.
        let threads_ns = scope.other_threads_cpu_ns().saturating_sub(threads_before_ns);
        let delay_ns = delay_before_ns.zip(run_delay_ns()).map(|(before, after)| after - before);
        usage.run_delay_ns = delay_ns.map(|delay_ns| delay_ns.saturating_sub(threads_ns));
        let helpers = helpers_before.until(&self.read_helpers(state));
        let traffic = Traffic::from_spec(self.spec);
        let report =
            |paced| PacedReport::new(paced, self.role, traffic, (&usage, time), self.control);
        let paced = state.paced.as_ref().map(report).transpose()?;
        Ok(FinishedPhase { usage, helpers, timed_every, paced })
    }

    fn read_helpers(&self, state: &PeerState) -> HelperReading {
        // Only one of the peers reads the broker; both would see the same.
        let broker_pid = if self.role == Role::Receiver { None } else { self.ends.broker_pid() };
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
        let (elapsed_ns, arrived) = (self.control.elapsed_ns(), self.control.messages());
        let mean_ns = elapsed_ns as f64 / arrived.max(1) as f64;
        let ns_per_tick = self.control.ns_per_tick();
        let trips = &state.trips;
        let round_trips = (!trips.is_empty())
            .then(|| trips.report(ns_per_tick, phase.timed_every, mean_ns))
            .transpose()?;
        let [before, after] = probes;
        // The sender of a paced run may have given up.
        let sent = state.paced.as_ref().filter(|_| self.role != Role::Receiver);
        let size = sent.map_or(calibration.size, |paced| PhaseSize {
            messages: paced.sent.max(1),
            ..calibration.size
        });
        let distances = before.cacheline_ns.zip(after.cacheline_ns);
        let bounds = probes.map(|probe| probe.clock_ticks);
        Ok(PeerReport {
            usage: phase.usage,
            began_ns: self.control.began_ns(),
            elapsed_ns,
            arrived,
            messages: size.messages,
            total_bytes: size.total_bytes(),
            calibration_phases: calibration.phases,
            slices_ns: calibration.slices_ns.clone(),
            kernel_thread_ns: phase.helpers.kernel_thread_ns,
            broker: phase.helpers.broker,
            objects: Vec::new(),
            counter_readings: state.counter_fds.readings(),
            round_trips,
            paced: phase.paced.map(|paced| paced.with_clock_bounds(bounds, self.control)),
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
