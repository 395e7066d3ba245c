//! Custom program, `exec:PROGRAM`: started once for each peer and controlled by lines of text.
//!
//! The program runs its own loops, so the worker only coordinates: it tells both peers to begin a phase,
//! waits until each reports when it began and ended, and repeats until the phase that counts.
//! `docs/custom-mechanisms.md` describes the protocol.

mod peer_process;
mod protocol;

use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use ipcperf_model::{
    CustomName, Failure, FailureKind, Gate, Measurement, PayloadCheck, Role, RoleUsage, RunSpec,
    WorkerReport,
};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{PidfdFlags, getppid, pidfd_open};

use self::peer_process::{PeerFailure, PeerProcess};
use self::protocol::{Done, MarksLoop, ProgramAnswer, Ready, Verifies};
use crate::channel::{Mechanism, PeerPlacement, peer_placement};
use crate::clock::now_ns;
use crate::limits::cacheline::round_trip_between_ns;
use crate::mechanism::TempDir;
use crate::mechanism::setup_failure::setup_failure;
use crate::privilege::Unprivileged;
use crate::worker::calibration::Calibration;
use crate::worker::counter_fds::CounterFds;
use crate::worker::gate::{self, Participants, PeerId, PeerScope};
use crate::worker::steal_ns;
use crate::workload::PhaseSize;

/// Duration of the cache-line probe before and after a run.
const PROBE_DURATION: Duration = Duration::from_millis(5);
/// Time that the other peer has to report its failure once one peer has failed.
const SECOND_FAILURE_TIMEOUT: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };

/// The part of `exec:PROGRAM` that needs Linux.
pub(super) const IMPLEMENTATION: Mechanism = Mechanism { execute, ..Mechanism::BASE };

/// Executes `spec` with the program that it names.
fn execute(spec: &RunSpec, _: &Mechanism<'_>) -> WorkerReport {
    match measure(spec) {
        Ok(measurement) => WorkerReport::Measured(Box::new(measurement)),
        Err(failure) => WorkerReport::Failed(failure),
    }
}

fn measure(spec: &RunSpec) -> Result<Measurement, Failure> {
    Unprivileged::new()?;
    // Must precede the creation of the folder. Until then the death of the command ends this process, so the
    // parent is certain to be the command; afterwards it does not.
    let command = command_pidfd()?;
    // Declared before the programs so that it is dropped after them.
    let folder = TempDir::new()?;
    let mut pair = ProgramPair::start(spec, folder.folder(), command)?;
    let cpus = spec.cpus.map_or(Vec::new(), Vec::from);
    let steal_before_ns = steal_ns(&cpus);
    pair.prepare(spec)?;
    pair.wait_at_gate(spec)?;
    let mut calibration = Calibration::from_spec(spec);
    let before_ns = probe_cacheline(spec);
    let phase = loop {
        let phase = pair.run_phase(spec, calibration.size)?;
        if calibration.record_phase(phase.elapsed_ns()) {
            break phase;
        }
    };
    let probes = before_ns.zip(probe_cacheline(spec)).map(|(before, after)| [before, after]);
    let counter_readings = pair.counter_fds.iter().map(CounterFds::readings).collect();
    pair.shut_down();
    let steal_ns =
        steal_before_ns.zip(steal_ns(&cpus)).map(|(before, after)| after.saturating_sub(before));
    let measured = phase.measurement(&calibration);
    Ok(Measurement { steal_ns, counter_readings, cacheline_round_trip_ns: probes, ..measured })
}

/// Returns a descriptor of the waiting command that becomes readable once the command is dead. The worker
/// must outlive the command to remove the folder, so it watches for that death instead of dying with it.
fn command_pidfd() -> Result<OwnedFd, Failure> {
    let parent = getppid().ok_or_else(command_gone)?;
    let command = pidfd_open(parent, PidfdFlags::empty())
        .map_err(|errno| setup_failure("pidfd_open", errno))?;
    if getppid() == Some(parent) { Ok(command) } else { Err(command_gone()) }
}

/// Returns the cache-line round trip between the CPUs, in ns, measured by two threads of the worker while the
/// programs wait.
fn probe_cacheline(spec: &RunSpec) -> Option<f64> {
    let cpus = spec.cpus.filter(|_| peer_placement(spec) == PeerPlacement::SeparateCpus)?;
    round_trip_between_ns(cpus, PROBE_DURATION).ok()
}

/// Interval from just before the first byte is sent to just after the last is received.
#[derive(Clone, Copy)]
struct TimedSpan {
    began_ns: u64,
    ended_ns: u64,
}

/// A finished phase.
struct ProgramPhase {
    span: TimedSpan,
    messages: u64,
    roles: Vec<RoleUsage>,
}

impl ProgramPhase {
    fn elapsed_ns(&self) -> u64 {
        (self.span.ended_ns - self.span.began_ns).max(1)
    }

    fn measurement(self, calibration: &Calibration) -> Measurement {
        let total_bytes = calibration.size.total_bytes();
        Measurement {
            objects: Vec::new(),
            counter_readings: Vec::new(),
            began_ns: self.span.began_ns,
            elapsed_ns: self.elapsed_ns(),
            total_bytes,
            messages: self.messages,
            arrived_bytes: total_bytes,
            lost_messages: None,
            calibration_phases: calibration.phases,
            slices_ns: calibration.slices_ns.clone(),
            kernel_thread_ns: None,
            paced: None,
            round_trips: None,
            kernel_buffer_granted_bytes: None,
            cacheline_round_trip_ns: None,
            steal_ns: None,
            roles: self.roles,
            peers: Vec::new(),
            repeats: Vec::new(),
        }
    }
}

/// Both peers, the sender first, and the command that waits for them.
struct ProgramPair {
    peers: [PeerProcess; 2],
    command: OwnedFd,
    /// Counters that an observer wants read before and after each phase.
    counter_fds: [CounterFds; 2],
}

impl ProgramPair {
    fn start(spec: &RunSpec, folder: &Path, command: OwnedFd) -> Result<Self, Failure> {
        let program = spec.mechanism.custom().map_or(Path::new(""), CustomName::path);
        let _low = peer_process::reserve_low_fds()?;
        let (one, other) = UnixStream::pair().map_err(|error| {
            setup_failure("socketpair", Errno::from_io_error(&error).unwrap_or(Errno::IO))
        })?;
        let start = |role, end| PeerProcess::start(program, role, spec.cpus, end, folder);
        let peers = [start(Role::Sender, one)?, start(Role::Receiver, other)?];
        Ok(Self { peers, command, counter_fds: [CounterFds::default(), CounterFds::default()] })
    }

    /// Sends both peers their case and waits until they are ready for it.
    fn prepare(&mut self, spec: &RunSpec) -> Result<(), Failure> {
        for peer in &mut self.peers {
            let folder = peer.folder.display().to_string();
            peer.send(&protocol::format_case(spec, peer.role, &folder));
        }
        let ready = self.receive_answers(|answer| match answer {
            ProgramAnswer::Ready(ready) => Some(ready),
            ProgramAnswer::Done(_) => None,
        })?;
        check_marks(spec, &ready)?;
        if spec.check == PayloadCheck::Verify
            && ready.iter().any(|one| one.verifies == Verifies::No)
        {
            let words = "--verify needs a program that checks messages; this one does not";
            let failure = Failure::new(FailureKind::SetUp, words);
            return Err(failure.with_remedy(
                "leave out --verify, or make the program check messages and \
                    answer `ready verifies`",
            ));
        }
        Ok(())
    }

    /// Waits until the observer is ready. The programs are ready by then, but have not run their first phase.
    fn wait_at_gate(&mut self, spec: &RunSpec) -> Result<(), Failure> {
        if spec.gate == Gate::Open {
            return Ok(());
        }
        let peers = self.peers.iter().map(|peer| PeerId {
            role: peer.role,
            pid: peer.pid(),
            tid: peer.pid(),
            scope: PeerScope::Process,
        });
        gate::announce(&Participants { peers: peers.collect() })?;
        self.counter_fds = [gate::wait()?, gate::wait()?];
        Ok(())
    }

    /// Lets both peers transfer `size`.
    fn run_phase(&mut self, spec: &RunSpec, size: PhaseSize) -> Result<ProgramPhase, Failure> {
        let before = self.peers.each_ref().map(PeerProcess::usage_snapshot);
        self.counter_fds.iter_mut().for_each(CounterFds::read_before);
        let started_ns = now_ns();
        // Starts the receiver first: it is the one that waits.
        for peer in self.peers.iter_mut().rev() {
            peer.send(&protocol::format_go(size));
        }
        let done = self.receive_answers(|answer| match answer {
            ProgramAnswer::Done(done) => Some(done),
            ProgramAnswer::Ready(_) => None,
        })?;
        self.counter_fds.iter_mut().for_each(CounterFds::read_after);
        let span = timed_span(&done, spec, size)?;
        if span.began_ns < started_ns || span.ended_ns < span.began_ns || span.ended_ns > now_ns() {
            let TimedSpan { began_ns, ended_ns } = span;
            return Err(protocol_failure(format!(
                "the program says that its loop began at {began_ns} ns and ended at {ended_ns} ns \
                    of CLOCK_MONOTONIC, but ipcperf started it at {started_ns} ns and got its \
                    answer at {} ns",
                now_ns()
            )));
        }
        let peers = self.peers.iter().zip(before).zip(&done);
        let roles = peers.map(|((peer, before), done)| peer.usage(before, done));
        Ok(ProgramPhase { span, messages: size.messages, roles: roles.collect::<Result<_, _>>()? })
    }

    /// Waits for one answer from each peer that `wanted` accepts, or returns the failure that explains the
    /// others.
    fn receive_answers<T>(
        &mut self,
        wanted: impl Fn(ProgramAnswer) -> Option<T>,
    ) -> Result<[T; 2], Failure> {
        let (mut answers, mut failures) = ([None, None], Vec::new());
        let mut waiting = vec![0, 1];
        while !waiting.is_empty() {
            let limit = (!failures.is_empty()).then_some(&SECOND_FAILURE_TIMEOUT);
            let Some(index) = self.wait_readable(&waiting, limit)? else { break };
            let peer = &mut self.peers[index];
            match peer.receive() {
                Ok(None) => continue,
                Ok(Some(answer)) => match wanted(answer) {
                    Some(answer) => answers[index] = Some(answer),
                    None => failures.push(peer.unexpected_answer()),
                },
                Err(failure) => failures.push(failure),
            }
            waiting.retain(|&other| other != index);
        }
        // The sort is stable: of failures with equal weight, the first is the cause and the others are
        // effects.
        failures.sort_by_key(|one: &PeerFailure| one.cause);
        match (answers, failures.into_iter().next()) {
            ([Some(sender), Some(receiver)], None) => Ok([sender, receiver]),
            (_, Some(failure)) => Err(failure.failure),
            _ => Err(command_gone()),
        }
    }

    /// Returns the index in `waiting` of a peer that can be read from; `None` once `limit` has passed.
    fn wait_readable(
        &self,
        waiting: &[usize],
        limit: Option<&Timespec>,
    ) -> Result<Option<usize>, Failure> {
        loop {
            let ends = waiting.iter().map(|&index| &self.peers[index].control);
            let mut watched: Vec<PollFd<'_>> =
                ends.map(|end| PollFd::new(end, PollFlags::IN)).collect();
            watched.push(PollFd::new(&self.command, PollFlags::IN));
            match poll(&mut watched, limit) {
                Ok(0) => return Ok(None),
                Ok(_) => {
                    let ready = watched.iter().position(|one| !one.revents().is_empty());
                    let index = ready.and_then(|ready| waiting.get(ready)).copied();
                    return index.map(Some).ok_or_else(command_gone);
                }
                Err(Errno::INTR) => {}
                Err(errno) => {
                    return Err(Failure::from_errno(
                        FailureKind::Worker,
                        "poll",
                        errno.raw_os_error(),
                    ));
                }
            }
        }
    }

    /// Ends both programs in an orderly way.
    fn shut_down(&mut self) {
        for peer in &mut self.peers {
            peer.send("end\n");
        }
        for peer in &mut self.peers {
            peer.wait_exit();
        }
    }
}

/// Returns the interval from the sender's start to the end of the peer that handles the last byte of
/// `size`, and checks that this peer has all messages.
fn timed_span(done: &[Done; 2], spec: &RunSpec, size: PhaseSize) -> Result<TimedSpan, Failure> {
    let (role, last) = match spec.workload.is_answered() {
        true => (Role::Sender, done[0]),
        false => (Role::Receiver, done[1]),
    };
    let missing = |role: Role, key: &str| {
        protocol_failure(format!("the {} sent `done` without {key}", role.name()))
    };
    let messages = last.messages.ok_or_else(|| missing(role, "messages"))?;
    if messages != size.messages {
        return Err(protocol_failure(format!(
            "{messages} messages arrived, but {} were requested",
            size.messages
        )));
    }
    Ok(TimedSpan {
        began_ns: done[0].began_ns.ok_or_else(|| missing(Role::Sender, "begin_ns"))?,
        ended_ns: last.ended_ns.ok_or_else(|| missing(role, "end_ns"))?,
    })
}

/// Refuses to observe a program whose loop has no marks: instruments find the timed part by them.
fn check_marks(spec: &RunSpec, ready: &[Ready; 2]) -> Result<(), Failure> {
    if spec.gate == Gate::Open || ready.iter().all(|one| one.marks == MarksLoop::Yes) {
        return Ok(());
    }
    let words = "the program does not mark its loop, so instruments cannot detect when the \
        loop begins and ends";
    Err(Failure::new(FailureKind::SetUp, words).with_remedy(
        "make the program call getrusage just before and just after its loop and answer `ready marks`, or \
            leave out --instrument",
    ))
}

#[cold]
fn protocol_failure(words: String) -> Failure {
    Failure::new(FailureKind::Answer, words).with_remedy(peer_process::PROTOCOL_REMEDY)
}

fn command_gone() -> Failure {
    Failure::new(FailureKind::Worker, "the ipcperf command has exited")
}
