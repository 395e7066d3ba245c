//! A program of one's own, `exec:PROGRAM`: started once for each party, told what to do line by line.
//!
//! Its loops are its own, so the worker only leads: it tells both parties to begin a phase, hears when
//! each says it began and ended, and goes on until the phase that counts. The words are in
//! `docs/your-own-mechanism.md`.

mod party;
mod talk;

use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use ipcperf_model::{
    Failure, FailureKind, Gate, Measurement, Report, Role, RoleUsage, RunSpec, TouchCheck,
};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{PidfdFlags, getppid, pidfd_open};

use self::party::{Met, Party};
use self::talk::{Answer, Done, Marks, Ready, Verifies};
use crate::channel::{Mechanism, Nearness, nearness};
use crate::clock::now_ns;
use crate::limits::cacheline::round_trip_between_ns;
use crate::mechanism::refusal::refused;
use crate::mechanism::{Scratch, own_mechanism};
use crate::privilege::Unprivileged;
use crate::worker::calibration::Calibration;
use crate::worker::counter_fds::Dials;
use crate::worker::gate;
use crate::worker::gate::{Gathering, Player, PlayerExtent};
use crate::worker::steal_ns;
use crate::workload::Extent;

/// How long the cache-line probe before and after a run lasts.
const PROBE: Duration = Duration::from_millis(5);
/// How long the other party gets to say what it met, once one has failed.
const GRACE: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };

/// Carries out `spec` with the program it names.
pub(crate) fn execute(spec: &RunSpec, _: &Mechanism<'_>) -> Report {
    match measured(spec) {
        Ok(measurement) => Report::Measured(Box::new(measurement)),
        Err(failure) => Report::Failed(failure),
    }
}

fn measured(spec: &RunSpec) -> Result<Measurement, Failure> {
    Unprivileged::new()?;
    // Before there is a folder: until then the death of the command ends this process, so that its parent is the
    // command. Afterwards it does not.
    let command = command()?;
    // It lasts as long as the programs, and goes after them.
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

/// The command that waits for this worker, as a descriptor that is readable once it is dead: the folder must go then,
/// too, so its death is seen, not suffered.
fn command() -> Result<OwnedFd, Failure> {
    let parent = getppid().ok_or_else(gone)?;
    let command =
        pidfd_open(parent, PidfdFlags::empty()).map_err(|errno| refused("pidfd_open", errno))?;
    if getppid() == Some(parent) { Ok(command) } else { Err(gone()) }
}

/// The distance of the CPUs, from two threads of the worker while the programs wait.
fn probe(spec: &RunSpec) -> Option<f64> {
    let cpus = spec.cpus.filter(|_| nearness(spec) == Nearness::Apart)?;
    round_trip_between_ns(cpus, PROBE).ok()
}

/// From just before the first byte was sent to just after the last was received.
#[derive(Clone, Copy)]
struct Span {
    began_ns: u64,
    ended_ns: u64,
}

/// One phase, over.
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

/// Both parties, the sender first, and the command that waits for them.
struct Pair {
    parties: [Party; 2],
    command: OwnedFd,
    /// What whoever watches wants read around each phase.
    dials: [Dials; 2],
}

impl Pair {
    fn start(spec: &RunSpec, folder: &Path, command: OwnedFd) -> Result<Self, Failure> {
        let program = own_mechanism(&spec.mechanism).map_or(Path::new(""), |(_, path)| path);
        let _low = party::keep_low_numbers()?;
        let (one, other) = UnixStream::pair().map_err(|error| {
            refused("socketpair", Errno::from_io_error(&error).unwrap_or(Errno::IO))
        })?;
        let start = |role, end| Party::start(program, role, spec.cpus, end, folder);
        let parties = [start(Role::Sender, one)?, start(Role::Receiver, other)?];
        Ok(Self { parties, command, dials: [Dials::default(), Dials::default()] })
    }

    /// Tells both what they are to do, and hears that they are ready for it.
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

    /// Returns when whoever watches is ready: the programs are, but for their first phase.
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

    /// Has both move what `extent` says.
    fn phase(&mut self, spec: &RunSpec, extent: Extent) -> Result<Phase, Failure> {
        let before = self.parties.each_ref().map(Party::books);
        self.dials.iter_mut().for_each(Dials::read_before);
        let told_ns = now_ns();
        // The receiver first: it is the one that waits.
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

    /// Hears one answer of each that `wanted` takes, or the failure that explains the others.
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
        // The first of the weightiest: of several that went alike, the others are effects.
        met.sort_by_key(|one: &Met| one.cause);
        match (answers, met.into_iter().next()) {
            ([Some(sender), Some(receiver)], None) => Ok([sender, receiver]),
            (_, Some(met)) => Err(met.failure),
            _ => Err(gone()),
        }
    }

    /// Which of `waiting` can be read from; `None` when `limit` has passed.
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

    /// Ends both in peace.
    fn dismiss(&mut self) {
        for party in &mut self.parties {
            party.tell("end\n");
        }
        for party in &mut self.parties {
            party.await_end();
        }
    }
}

/// When the sender began and when the party that has the last of `extent` ended, which must have all of
/// it.
fn settled(done: &[Done; 2], spec: &RunSpec, extent: Extent) -> Result<Span, Failure> {
    let (role, last) = match spec.workload.is_answered() {
        true => ("sender", done[0]),
        false => ("receiver", done[1]),
    };
    let missing = |role: &str, key: &str| absurd(format!("the {role} said `done` without {key}"));
    let messages = last.messages.ok_or_else(|| missing(role, "messages"))?;
    if messages != extent.messages {
        return Err(absurd(format!("{messages} messages arrived, not {}", extent.messages)));
    }
    Ok(Span {
        began_ns: done[0].began_ns.ok_or_else(|| missing("sender", "begin_ns"))?,
        ended_ns: last.ended_ns.ok_or_else(|| missing(role, "end_ns"))?,
    })
}

/// That a program whose loop has no marks is not to be watched: instruments tell the timed part by them.
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
