//! One peer of a run, from pinning to its report.

use std::time::Duration;

use ipcperf_model::mechanism::Helper;
use ipcperf_model::message_options::{Handling, Touch};
use ipcperf_model::{
    DialReading, Failure, FailureKind, Gate, KernelObject, Role, RoleUsage, RoundTrips, RunSpec,
    TouchCheck,
};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use super::calibration::Calibration;
use super::counter_fds::Dials;
use super::gate;
use super::helper_usage::{Others, OthersUsage};
use super::kernel_threads::KernelThreads;
use super::memory::Memory;
use super::objects::Survey;
use super::phases::{PhaseReport, Repeated};
use super::usage::{Usage, Whose, run_delay_ns};
use crate::channel::{Endpoint, Nearness};
use crate::histogram::TickHistogram;
use crate::limits::cacheline;
use crate::payload::{Payload, Stamped, Touching, Unchecked};
use crate::shared_state::Control;
use crate::workload::{Extent, Meter, RoundTrip, Stream, Task, Workload};
use crate::{NO_SPACE, harness_failure, placement};

/// Duration of the cache-line probe before and after a run.
const PROBE: Duration = Duration::from_millis(5);

/// Report of a peer at its end. Values that both know (elapsed time, messages) are the same in both reports.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct PartyReport {
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
    pub(super) dials: Vec<DialReading>,
    pub(super) round_trips: Option<RoundTrips>,
    pub(super) cacheline_round_trip_ns: Option<[f64; 2]>,
    pub(super) repeats: Vec<PhaseReport>,
}

/// A peer that is ready to run.
#[derive(Debug)]
pub(super) struct Party<'a, E> {
    pub(super) spec: &'a RunSpec,
    pub(super) role: Role,
    pub(super) end: E,
    /// The other end, if one thread runs both.
    pub(super) other: Option<E>,
    /// Message memory, if it was touched before the fork.
    pub(super) memory: Option<Memory>,
    pub(super) control: &'a Control,
    pub(super) nearness: Nearness,
    /// Participant other than the peers that does part of the work.
    pub(super) helper: Helper,
}

/// State of a running peer.
struct Kit {
    memory: Memory,
    trips: TickHistogram,
    kernel_threads: Option<KernelThreads>,
    /// Counter descriptors handed over by an instrument.
    dials: Dials,
}

/// A finished phase.
struct Phase {
    usage: RoleUsage,
    others: OthersUsage,
    timed_every: u64,
}

impl<E: Endpoint> Party<'_, E> {
    /// Runs the peer to its end.
    pub(super) fn play(mut self) -> Result<PartyReport, Failure> {
        self.pin()?;
        let mut kit = self.prepare()?;
        kit.dials = self.wait_at_gate()?;
        let survey = Survey::begin(self.spec, self.role);
        let mut calibration = Calibration::start(self.spec);
        let before_ns = self.probe();
        let (phase, repeats) = self.phases(&mut calibration, &mut kit)?;
        let after_ns = self.probe();
        let probes = before_ns.zip(after_ns).map(|(before, after)| [before, after]);
        let objects = survey.map_or_else(Vec::new, |survey| survey.end(self.spec, self.role));
        Ok(PartyReport { objects, repeats, ..self.report(phase, &calibration, &kit, probes)? })
    }

    /// Runs phases until the requested number has counted. Returns the last one, and the reports of all if several were
    /// requested.
    fn phases(
        &mut self,
        calibration: &mut Calibration,
        kit: &mut Kit,
    ) -> Result<(Phase, Vec<PhaseReport>), Failure> {
        let mut repeated = Repeated::of(self.spec.repeats);
        loop {
            repeated.rest(self.role);
            let phase = self.phase(calibration.extent, kit)?;
            // Once one phase has counted, all count, however short: discarding the fast ones would bias the result.
            let counts = repeated.have_begun() || calibration.settles(self.control.elapsed_ns());
            if counts && repeated.is_over(&phase.usage, self.control) {
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

    fn prepare(&mut self) -> Result<Kit, Failure> {
        let memory = match self.memory.take() {
            Some(memory) => memory,
            None => Memory::mapped(self.spec, self.role, self.end.turns())?,
        };
        let buffers = [memory.outgoing.all(), memory.incoming.all()];
        for end in std::iter::once(&mut self.end).chain(self.other.as_mut()) {
            let prepared = end.prepare().and_then(|()| end.adopt(&buffers));
            prepared.map_err(|errno| unprepared(self.spec.mechanism.as_str(), errno))?;
        }
        // Only one of the peers reads the kernel threads; both would see the same.
        let asks = self.role != Role::Receiver;
        let kernel_threads = asks.then(|| KernelThreads::of(self.spec, self.helper)).flatten();
        let trips = TickHistogram::touched();
        Ok(Kit { memory, trips, kernel_threads, dials: Dials::default() })
    }

    /// Waits at the gate, if there is one, and returns the counter descriptors to read.
    fn wait_at_gate(&self) -> Result<Dials, Failure> {
        if self.spec.gate == Gate::Open {
            return Ok(Dials::default());
        }
        self.control.place(self.role).take();
        self.meet();
        if self.role == Role::Receiver {
            // The sender passes the gate first.
            self.meet();
            return gate::wait();
        }
        gate::tell(&gate::gathering(self.spec, self.control, self.end.broker()))?;
        let dials = gate::wait()?;
        self.meet();
        Ok(dials)
    }

    fn meet(&self) {
        if self.role != Role::Both {
            self.control.meet(self.nearness);
        }
    }

    /// Cache-line round trip between the two CPUs in ns, as measured by the sender.
    fn probe(&self) -> Option<f64> {
        if self.nearness != Nearness::Apart || self.role == Role::Both {
            return None;
        }
        let lines = self.control.lines();
        if self.role == Role::Receiver {
            self.meet();
            cacheline::follow(lines);
            return None;
        }
        lines.reset();
        self.meet();
        cacheline::lead(lines, PROBE)
    }

    fn phase(&mut self, extent: Extent, kit: &mut Kit) -> Result<Phase, Failure> {
        if self.role != Role::Receiver {
            self.control.open_phase();
        }
        kit.trips.clear();
        self.take_calls();
        let others = Others::now(&self.end, kit.kernel_threads.as_ref(), self.role);
        let whose = Whose::of(self.helper);
        let (delay_before_ns, threads_before_ns) = (run_delay_ns(), whose.others_cpu_ns());
        self.meet();
        if self.role == Role::Sender {
            self.control.await_receiver(self.nearness);
        }
        let cpu_before_ns = whose.cpu_ns();
        kit.dials.read_before();
        let start = Usage::now(whose);
        if self.role == Role::Receiver {
            self.control.announce_receiver();
        }
        let (meter, timed_every) = self.moved(extent, kit)?;
        let end = Usage::now(whose);
        kit.dials.read_after();
        let cpu_after_ns = whose.cpu_ns();
        self.meet();
        let calls = self.take_calls().map_or(meter.transfers, |own| own + meter.polls);
        let calls = E::COUNTS_CALLS.then_some(calls);
        self.end.drain();
        let mut usage = start.until(end, self.role, meter, calls, cpu_after_ns - cpu_before_ns);
        // While the process's other threads run on this CPU, the delay is not caused by other programs.
        let threads_ns = whose.others_cpu_ns().saturating_sub(threads_before_ns);
        let delay_ns = delay_before_ns.zip(run_delay_ns()).map(|(before, after)| after - before);
        usage.run_delay_ns = delay_ns.map(|delay_ns| delay_ns.saturating_sub(threads_ns));
        let others = others.until(&Others::now(&self.end, kit.kernel_threads.as_ref(), self.role));
        Ok(Phase { usage, others, timed_every })
    }

    /// Runs the timed region. Only this function chooses the types of workload and payload, so only the loops are
    /// compiled for each combination.
    fn moved(&mut self, extent: Extent, kit: &mut Kit) -> Result<(Meter, u64), Failure> {
        let Handling { touch, content, .. } = self.spec.handling;
        let touching = Touching { touch, content };
        match (self.spec.workload.is_answered(), self.spec.check, touch) {
            (false, TouchCheck::Verify, _) => self.looped::<Stream, _>(extent, Stamped, kit),
            (true, TouchCheck::Verify, _) => self.looped::<RoundTrip, _>(extent, Stamped, kit),
            (false, _, Touch::None) => self.looped::<Stream, _>(extent, Unchecked, kit),
            (true, _, Touch::None) => self.looped::<RoundTrip, _>(extent, Unchecked, kit),
            (false, _, _) => self.looped::<Stream, _>(extent, touching, kit),
            (true, _, _) => self.looped::<RoundTrip, _>(extent, touching, kit),
        }
    }

    fn looped<W: Workload, P: Payload>(
        &mut self,
        extent: Extent,
        payload: P,
        kit: &mut Kit,
    ) -> Result<(Meter, u64), Failure> {
        let messages = extent.messages;
        let mut task = Task {
            end: &mut self.end,
            outgoing: &mut kit.memory.outgoing,
            incoming: &mut kit.memory.incoming,
            payload,
            extent,
            answer: self.spec.answer(),
            control: self.control,
            meter: Meter::default(),
            trips: &mut kit.trips,
            timed_every: 1,
        };
        match (self.role, &mut self.other) {
            (Role::Both, Some(other)) => W::both(&mut task, other)?,
            (Role::Receiver, _) => W::receive(&mut task)?,
            _ => W::send(&mut task)?,
        }
        task.flush()?;
        let counted = (task.meter, task.timed_every);
        kit.memory.outgoing.go_on(messages);
        kit.memory.incoming.go_on(messages);
        Ok(counted)
    }

    fn take_calls(&mut self) -> Option<u64> {
        let other = self.other.as_mut().map_or(Some(0), Endpoint::take_calls);
        self.end.take_calls().zip(other).map(|(own, other)| own + other)
    }

    #[allow(clippy::cast_precision_loss, reason = "a mean, good to 53 bits")]
    fn report(
        &self,
        phase: Phase,
        calibration: &Calibration,
        kit: &Kit,
        probes: Option<[f64; 2]>,
    ) -> Result<PartyReport, Failure> {
        let (elapsed_ns, arrived) = (self.control.elapsed_ns(), self.control.messages());
        let mean_ns = elapsed_ns as f64 / arrived.max(1) as f64;
        let ns_per_tick = self.control.ns_per_tick();
        let trips = &kit.trips;
        let round_trips = (!trips.is_empty())
            .then(|| trips.report(ns_per_tick, phase.timed_every, mean_ns))
            .transpose()?;
        Ok(PartyReport {
            usage: phase.usage,
            began_ns: self.control.began_ns(),
            elapsed_ns,
            arrived,
            messages: calibration.extent.messages,
            total_bytes: calibration.extent.total_bytes(),
            calibration_phases: calibration.phases,
            slices_ns: calibration.slices_ns.clone(),
            kernel_thread_ns: phase.others.kernel_thread_ns,
            broker: phase.others.broker,
            objects: Vec::new(),
            dials: kit.dials.readings(),
            round_trips,
            cacheline_round_trip_ns: probes,
            repeats: Vec::new(),
        })
    }
}

/// Failure of a peer to prepare its end of `mechanism`.
fn unprepared(mechanism: &str, errno: Errno) -> Failure {
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

#[cfg(test)]
mod tests {
    use ipcperf_model::mechanism::Helper;
    use ipcperf_model::message_options::Reuse;

    use super::*;
    use crate::testing::spec;

    /// An end that moves nothing and records the addresses of the messages.
    #[derive(Debug, Default)]
    struct Noting(Vec<usize>);

    impl Endpoint for Noting {
        const KEEPS_BOUNDARIES: bool = true;

        fn send(&mut self, bytes: &[u8]) -> Result<usize, Errno> {
            self.0.push(bytes.as_ptr().addr());
            Ok(bytes.len())
        }

        fn recv(&mut self, bytes: &mut [u8]) -> Result<usize, Errno> {
            self.send(bytes)
        }
    }

    fn starts_in_two_phases(spec: &RunSpec, role: Role, messages: u64) -> Vec<usize> {
        let (end, control) = (Noting::default(), &Control::default());
        let (memory, nearness, helper) = (None, Nearness::Unpinned, Helper::Nobody);
        let mut party = Party { spec, role, end, other: None, memory, control, nearness, helper };
        let mut kit = party.prepare().unwrap();
        for _ in 0..2 {
            party.moved(Extent::whole(64, messages), &mut kit).unwrap();
        }
        party.end.0
    }

    #[test]
    fn a_phase_goes_on_with_the_places_after_those_of_the_phase_before() {
        let handling = Handling { buffers: Reuse::Rotate, ..Handling::default() };
        let spec = RunSpec { handling, ..spec("null", [0, 1]) };
        for role in [Role::Sender, Role::Receiver] {
            let starts = starts_in_two_phases(&spec, role, 5);
            assert!(starts.is_sorted_by(|one, next| one < next), "{role:?}: {starts:?}");
            assert_eq!(starts.len(), 10);
        }
    }
}
