//! Custom program, `exec:PROGRAM`: started once for each peer and controlled by lines of text.
//!
//! The program runs its own loops, so the worker only coordinates: it tells both peers to begin a phase,
//! waits until each reports when it began and ended, and repeats until the phase that counts.
//! `docs/your-own-mechanism.md` describes the protocol.

mod party;
mod talk;

use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use ipcperf_model::{
    CustomName, Failure, FailureKind, Gate, Measurement, Report, Role, RoleUsage, RunSpec,
    TouchCheck,
};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{PidfdFlags, getppid, pidfd_open};

use self::party::{Met, Party};
use self::talk::{Answer, Done, Marks, Ready, Verifies};
use crate::channel::{Mechanism, Nearness, nearness};
use crate::clock::now_ns;
use crate::limits::cacheline::round_trip_between_ns;
use crate::mechanism::Scratch;
use crate::mechanism::refusal::refused;
use crate::privilege::Unprivileged;
use crate::worker::calibration::Calibration;
use crate::worker::counter_fds::Dials;
use crate::worker::gate::{self, Gathering, Player, PlayerExtent};
use crate::worker::steal_ns;
use crate::workload::Extent;

/// Duration of the cache-line probe before and after a run.
const PROBE: Duration = Duration::from_millis(5);
/// Time that the other peer has to report its failure once one peer has failed.
const GRACE: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };

/// Executes `spec` with the program that it names.
pub(super) fn execute(spec: &RunSpec, _: &Mechanism<'_>) -> Report {
    match measured(spec) {
        Ok(measurement) => Report::Measured(Box::new(measurement)),
        Err(failure) => Report::Failed(failure),
    }
}

fn measured(spec: &RunSpec) -> Result<Measurement, Failure> {
    Unprivileged::new()?;
    // Must precede the creation of the folder. Until then the death of the command ends this process, so the
    // parent is certain to be the command; afterwards it does not.
    let command = command()?;
    // Declared before the programs so that it is dropped after them.
    let folder = Scratch::new()?;
    let mut pair = Pair::start(spec, folder.folder(), command)?;
    let cpus = spec.cpus.map_or(Vec::new(), Vec::from);
    let steal_before_ns = steal_ns(&cpus);
    pair.prepare(spec)?;
    pair.wait_at_gate(spec)?;
    let mut calibration = Calibration::start(spec);
    let before_ns = probe(spec);
    let phase = loop {
        let phase = pair.phase(spec, calibration.extent)?;
        if calibration.settles(phase.elapsed_ns()) {
            break phase;
        }
    };
    let probes = before_ns.zip(probe(spec)).map(|(before, after)| [before, after]);
    let dials = pair.dials.iter().map(Dials::readings).collect();
    pair.dismiss();
    let steal_ns =
        steal_before_ns.zip(steal_ns(&cpus)).map(|(before, after)| after.saturating_sub(before));
    let measured = phase.measurement(&calibration);
    Ok(Measurement { steal_ns, dials, cacheline_round_trip_ns: probes, ..measured })
}

/// Returns a descriptor of the waiting command that becomes readable once the command is dead. The worker
/// must outlive the command to remove the folder, so it watches for that death instead of dying with it.
fn command() -> Result<OwnedFd, Failure> {
    let parent = getppid().ok_or_else(gone)?;
    let command =
        pidfd_open(parent, PidfdFlags::empty()).map_err(|errno| refused("pidfd_open", errno))?;
    if getppid() == Some(parent) { Ok(command) } else { Err(gone()) }
}

/// Returns the cache-line round trip between the CPUs, in ns, measured by two threads of the worker while the
/// programs wait.
fn probe(spec: &RunSpec) -> Option<f64> {
    let cpus = spec.cpus.filter(|_| nearness(spec) == Nearness::Apart)?;
    round_trip_between_ns(cpus, PROBE).ok()
}

/// Interval from just before the first byte is sent to just after the last is received.
#[derive(Clone, Copy)]
struct Span {
    began_ns: u64,
    ended_ns: u64,
}

/// A finished phase.
struct Phase {
    span: Span,
    messages: u64,
    roles: Vec<RoleUsage>,
}

impl Phase {
    fn elapsed_ns(&self) -> u64 {
        (self.span.ended_ns - self.span.began_ns).max(1)
    }

    fn measurement(self, calibration: &Calibration) -> Measurement {
        let total_bytes = calibration.extent.total_bytes();
        Measurement {
            objects: Vec::new(),
            dials: Vec::new(),
            began_ns: self.span.began_ns,
            elapsed_ns: self.elapsed_ns(),
            total_bytes,
            messages: self.messages,
            arrived_bytes: total_bytes,
            lost_messages: None,
            calibration_phases: calibration.phases,
            slices_ns: calibration.slices_ns.clone(),
            kernel_thread_ns: None,
            round_trips: None,
            kernel_buffer_granted_bytes: None,
            cacheline_round_trip_ns: None,
            steal_ns: None,
            roles: self.roles,
            repeats: Vec::new(),
        }
    }
}

/// Both peers, the sender first, and the command that waits for them.
struct Pair {
    parties: [Party; 2],
    command: OwnedFd,
    /// Counters that an observer wants read before and after each phase.
    dials: [Dials; 2],
}

impl Pair {
    fn start(spec: &RunSpec, folder: &Path, command: OwnedFd) -> Result<Self, Failure> {
        let program = spec.mechanism.custom().map_or(Path::new(""), CustomName::path);
        let _low = party::keep_low_numbers()?;
        let (one, other) = UnixStream::pair().map_err(|error| {
            refused("socketpair", Errno::from_io_error(&error).unwrap_or(Errno::IO))
        })?;
        let start = |role, end| Party::start(program, role, spec.cpus, end, folder);
        let parties = [start(Role::Sender, one)?, start(Role::Receiver, other)?];
        Ok(Self { parties, command, dials: [Dials::default(), Dials::default()] })
    }

    /// Sends both peers their case and waits until they are ready for it.
    fn prepare(&mut self, spec: &RunSpec) -> Result<(), Failure> {
        for party in &mut self.parties {
            let folder = party.folder.display().to_string();
            party.tell(&talk::case(spec, party.role, &folder));
        }
        let ready = self.hear(|answer| match answer {
            Answer::Ready(ready) => Some(ready),
            Answer::Done(_) => None,
        })?;
        check_marks(spec, &ready)?;
        if spec.check == TouchCheck::Verify && ready.iter().any(|one| one.verifies == Verifies::No)
        {
            let words = "the program does not check messages, so --verify would say nothing";
            let failure = Failure::new(FailureKind::SetUp, words);
            return Err(
                failure.with_remedy("leave --verify out, or have it answer `ready verifies`")
            );
        }
        Ok(())
    }

    /// Waits until the observer is ready. The programs are ready by then, but have not run their first phase.
    fn wait_at_gate(&mut self, spec: &RunSpec) -> Result<(), Failure> {
        if spec.gate == Gate::Open {
            return Ok(());
        }
        let players = self.parties.iter().map(|party| Player {
            role: party.role,
            pid: party.pid(),
            tid: party.pid(),
            extent: PlayerExtent::Process,
        });
        gate::tell(&Gathering { players: players.collect() })?;
        self.dials = [gate::wait()?, gate::wait()?];
        Ok(())
    }

    /// Lets both peers transfer `extent`.
    fn phase(&mut self, spec: &RunSpec, extent: Extent) -> Result<Phase, Failure> {
        let before = self.parties.each_ref().map(Party::books);
        self.dials.iter_mut().for_each(Dials::read_before);
        let told_ns = now_ns();
        // Starts the receiver first: it is the one that waits.
        for party in self.parties.iter_mut().rev() {
            party.tell(&talk::go(extent));
        }
        let done = self.hear(|answer| match answer {
            Answer::Done(done) => Some(done),
            Answer::Ready(_) => None,
        })?;
        self.dials.iter_mut().for_each(Dials::read_after);
        let span = settled(&done, spec, extent)?;
        if span.began_ns < told_ns || span.ended_ns < span.began_ns || span.ended_ns > now_ns() {
            let Span { began_ns, ended_ns } = span;
            return Err(absurd(format!(
                "it began at {began_ns} and ended at {ended_ns}, but was told to go at {told_ns} and \
                 heard at {} on CLOCK_MONOTONIC",
                now_ns()
            )));
        }
        let parties = self.parties.iter().zip(before).zip(&done);
        let roles = parties.map(|((party, before), done)| party.usage(before, done));
        Ok(Phase { span, messages: extent.messages, roles: roles.collect::<Result<_, _>>()? })
    }

    /// Waits for one answer from each peer that `wanted` accepts, or returns the failure that explains the
    /// others.
    fn hear<T>(&mut self, wanted: impl Fn(Answer) -> Option<T>) -> Result<[T; 2], Failure> {
        let (mut answers, mut met) = ([None, None], Vec::new());
        let mut waiting = vec![0, 1];
        while !waiting.is_empty() {
            let limit = (!met.is_empty()).then_some(&GRACE);
            let Some(index) = self.next(&waiting, limit)? else { break };
            let party = &mut self.parties[index];
            match party.hear() {
                Ok(None) => continue,
                Ok(Some(answer)) => match wanted(answer) {
                    Some(answer) => answers[index] = Some(answer),
                    None => met.push(party.misplaced()),
                },
                Err(failure) => met.push(failure),
            }
            waiting.retain(|&other| other != index);
        }
        // The sort is stable: of failures with equal weight, the first is the cause and the others are
        // effects.
        met.sort_by_key(|one: &Met| one.cause);
        match (answers, met.into_iter().next()) {
            ([Some(sender), Some(receiver)], None) => Ok([sender, receiver]),
            (_, Some(met)) => Err(met.failure),
            _ => Err(gone()),
        }
    }

    /// Returns the index in `waiting` of a peer that can be read from; `None` once `limit` has passed.
    fn next(&self, waiting: &[usize], limit: Option<&Timespec>) -> Result<Option<usize>, Failure> {
        loop {
            let ends = waiting.iter().map(|&index| &self.parties[index].control);
            let mut watched: Vec<PollFd<'_>> =
                ends.map(|end| PollFd::new(end, PollFlags::IN)).collect();
            watched.push(PollFd::new(&self.command, PollFlags::IN));
            match poll(&mut watched, limit) {
                Ok(0) => return Ok(None),
                Ok(_) => {
                    let ready = watched.iter().position(|one| !one.revents().is_empty());
                    let index = ready.and_then(|ready| waiting.get(ready)).copied();
                    return index.map(Some).ok_or_else(gone);
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
    fn dismiss(&mut self) {
        for party in &mut self.parties {
            party.tell("end\n");
        }
        for party in &mut self.parties {
            party.await_end();
        }
    }
}

/// Returns the interval from the sender's start to the end of the peer that handles the last byte of
/// `extent`, and checks that this peer has all messages.
fn settled(done: &[Done; 2], spec: &RunSpec, extent: Extent) -> Result<Span, Failure> {
    let (role, last) = match spec.workload.is_answered() {
        true => (Role::Sender, done[0]),
        false => (Role::Receiver, done[1]),
    };
    let missing =
        |role: Role, key: &str| absurd(format!("the {} said `done` without {key}", role.name()));
    let messages = last.messages.ok_or_else(|| missing(role, "messages"))?;
    if messages != extent.messages {
        return Err(absurd(format!("{messages} messages arrived, not {}", extent.messages)));
    }
    Ok(Span {
        began_ns: done[0].began_ns.ok_or_else(|| missing(Role::Sender, "begin_ns"))?,
        ended_ns: last.ended_ns.ok_or_else(|| missing(role, "end_ns"))?,
    })
}

/// Refuses to observe a program whose loop has no marks: instruments find the timed part by them.
fn check_marks(spec: &RunSpec, ready: &[Ready; 2]) -> Result<(), Failure> {
    if spec.gate == Gate::Open || ready.iter().all(|one| one.marks == Marks::Yes) {
        return Ok(());
    }
    let words = "the program marks no loop, so instruments do not know what was timed";
    Err(Failure::new(FailureKind::SetUp, words).with_remedy(
        "have it call getrusage just before and just after its loop and answer `ready marks`, or leave --instrument out",
    ))
}

#[cold]
fn absurd(words: String) -> Failure {
    Failure::new(FailureKind::Answer, words).with_remedy(party::PAGE)
}

fn gone() -> Failure {
    Failure::new(FailureKind::Worker, "the command is gone")
}
