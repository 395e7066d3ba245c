//! The worker: a fresh process that carries out one run.
//!
//! It opens the mechanism while it has one thread, then starts the parties: itself (one thread),
//! two threads, or two forked processes, which it only watches. The parties meet at a barrier,
//! touch their own buffers after the fork, and report; the worker prints one [`Report`].

mod admission;
mod assignment;
mod broker;
mod calibration;
mod comm;
mod control;
mod dials;
mod gate;
mod kernel_threads;
mod memory;
mod objects;
mod others;
mod party;
mod processes;
mod programs;
mod repeated;
mod settle;
mod split;
mod streams;
mod threads;
mod usage;

use std::io::{BufRead, Write};

pub use assignment::{Assignment, JournalLock};
pub use calibration::LEAST_NS;
pub use control::Control;
pub use dials::{DialReading, MOST_DIALS};
pub use gate::{Gate, Gathering, Player, PlayerExtent};
use memory::Memory;
pub use objects::{KernelObject, Objects};
use party::{Party, PartyReport};
pub(crate) use programs::execute as execute_program;
use rustix::process::umask;
pub use split::UserSystemSplit;
pub(crate) use streams::{keep as keep_streams, output};
pub use usage::steal_ns;

use crate::handling::FirstTouch;
use crate::mechanism::{self, Blocking, Channel, Endpoint, Granted, Nearness, Opened, Setup};
use crate::names;
use crate::privilege::Unprivileged;
use crate::{Failure, FailureKind, Measurement, Mode, Report, Role, RoleUsage, RunSpec};

/// What a worker process does: reads one [`Assignment`] from `input`, a line, carries it out, writes one
/// [`Report`] to `output`. In between, what is said at the [`Gate`] goes by the same ways.
///
/// # Errors
/// What went wrong in reading or writing; a run that failed is a report like any other.
pub fn serve(input: &mut impl BufRead, output: &mut impl Write) -> std::io::Result<()> {
    // Before anything else: mechanisms are programs and libraries of others, too. Those of the user's own are
    // refused where it was not possible (see there).
    let _ = Unprivileged::new();
    let mut line = String::new();
    input.read_line(&mut line)?;
    let Assignment { spec, names, journal, comm } = serde_json::from_str(&line)?;
    if let Some(name) = comm {
        comm::take(&name);
    }
    // Nothing that this process makes is another user's business, whatever the command's umask.
    umask(rustix::fs::Mode::RWXG | rustix::fs::Mode::RWXO);
    // Where it cannot be held, a sweeper could come while this process removes its names: as good.
    let _lock = journal.as_deref().and_then(JournalLock::share);
    names::install(names);
    objects::leave_out_what_is_open();
    let report = match mechanism::find(&spec.mechanism) {
        Some(mechanism) => match admission::admit(&spec, mechanism) {
            Ok(()) => (mechanism.execute)(&spec),
            Err(failure) => Report::Failed(failure),
        },
        None => Report::Failed(Failure::new(
            FailureKind::Worker,
            format!("no mechanism is called {}", spec.mechanism),
        )),
    };
    serde_json::to_writer(&mut *output, &report)?;
    output.flush()
}

impl RunSpec {
    /// Where the parties are in relation to each other.
    #[must_use]
    pub fn nearness(&self) -> Nearness {
        match self.cpus {
            _ if self.mode == Mode::OneThread => Nearness::OneCpu,
            None => Nearness::Unpinned,
            Some([sender, receiver]) if sender == receiver => Nearness::OneCpu,
            Some(_) => Nearness::Apart,
        }
    }

    /// What the mechanism is told.
    #[must_use]
    pub fn setup(&self) -> Setup<'_> {
        Setup {
            options: &self.options,
            buffer_bytes: self.largest_bytes(),
            kernel_buffer_asked_bytes: self.kernel_buffer.asked_bytes(self.buffer_bytes),
            privilege: self.kernel_buffer.privilege(),
            nearness: self.nearness(),
            cpus: self.cpus,
            blocking: match self.mode {
                Mode::OneThread => Blocking::Try,
                Mode::TwoThreads | Mode::TwoProcesses => Blocking::Wait,
            },
            workload: self.workload,
            buffers: self.handling.buffers,
        }
    }
}

/// Carries out one run of mechanism `M`. From here on everything is generic over its ends; workload
/// and payload are chosen at the start of each phase.
pub(crate) fn execute<M: Channel>(spec: &RunSpec) -> Report {
    let measured = M::open(&spec.setup()).and_then(|opened| measure(spec, opened));
    match measured {
        Ok(measurement) => Report::Measured(Box::new(measurement)),
        Err(failure) => Report::Failed(failure),
    }
}

fn measure<E: Endpoint>(spec: &RunSpec, opened: Opened<E>) -> Result<Measurement, Failure> {
    let control = Control::shared()
        .map_err(|errno| Failure::of_harness(FailureKind::SetUp, "mmap", errno))?;
    let cpus = spec.cpus.map_or(Vec::new(), |[sender, receiver]| {
        if sender == receiver { vec![sender] } else { vec![sender, receiver] }
    });
    let steal_before_ns = steal_ns(&cpus);
    let granted = opened.granted;
    let opened = Ends::of(spec, opened)?;
    let parties = match spec.mode {
        Mode::OneThread => vec![alone(spec, opened, control)?],
        Mode::TwoThreads => threads::run(spec, opened, control)?,
        Mode::TwoProcesses => processes::run(spec, opened, control)?,
    };
    let steal_ns =
        steal_before_ns.zip(steal_ns(&cpus)).map(|(before, after)| after.saturating_sub(before));
    Ok(Measurement { steal_ns, ..combine::<E>(parties, granted, spec) })
}

/// The ends, and the memory for messages where it is touched before the parties part.
struct Ends<E> {
    sender: E,
    receiver: E,
    /// The sender's and the receiver's.
    memory: [Option<Memory>; 2],
}

impl<E: Endpoint> Ends<E> {
    fn of(spec: &RunSpec, opened: Opened<E>) -> Result<Self, Failure> {
        let Opened { sender, receiver, .. } = opened;
        let roles = match spec.mode {
            Mode::OneThread => [Role::Both, Role::Receiver],
            Mode::TwoThreads | Mode::TwoProcesses => [Role::Sender, Role::Receiver],
        };
        let memory = match spec.handling.first_touch {
            FirstTouch::AfterFork | FirstTouch::Timed => [None, None],
            FirstTouch::BeforeFork => [
                Some(Memory::mapped(spec, roles[0], sender.turns())?),
                Some(Memory::mapped(spec, roles[1], receiver.turns())?),
            ],
        };
        Ok(Self { sender, receiver, memory })
    }
}

fn alone<E: Endpoint>(
    spec: &RunSpec,
    opened: Ends<E>,
    control: &Control,
) -> Result<PartyReport, Failure> {
    let Ends { sender, receiver, memory: [memory, _] } = opened;
    let party = Party {
        spec,
        role: Role::Both,
        end: sender,
        other: Some(receiver),
        memory,
        control,
        nearness: Nearness::OneCpu,
    };
    party.play().map_err(|failure| failure.by(Role::Both))
}

/// Puts the reports of the parties (the sender's first) together.
fn combine<E: Endpoint>(
    mut parties: Vec<PartyReport>,
    granted: Granted,
    spec: &RunSpec,
) -> Measurement {
    let mut roles: Vec<RoleUsage> = parties.iter().map(|party| party.usage.clone()).collect();
    roles.extend(parties.iter_mut().filter_map(|party| party.broker.take()));
    let dials = parties.iter_mut().map(|party| std::mem::take(&mut party.dials)).collect();
    let objects = parties.iter_mut().flat_map(|party| std::mem::take(&mut party.objects)).collect();
    let repeats = parties.iter_mut().map(|party| std::mem::take(&mut party.repeats)).collect();
    let first = parties.swap_remove(0);
    let lost = first.messages - first.arrived;
    Measurement {
        began_ns: first.began_ns,
        elapsed_ns: first.elapsed_ns,
        total_bytes: first.total_bytes,
        messages: first.arrived,
        arrived_bytes: first.total_bytes.saturating_sub(lost * spec.buffer_bytes),
        lost_messages: E::LOSES.then_some(lost),
        calibration_phases: first.calibration_phases,
        slices_ns: first.slices_ns,
        kernel_thread_ns: first.kernel_thread_ns,
        round_trips: first.round_trips,
        kernel_buffer_granted_bytes: granted.kernel_buffer_bytes,
        cacheline_round_trip_ns: first.cacheline_round_trip_ns,
        steal_ns: None,
        roles,
        objects,
        dials,
        repeats: repeated::combine(repeats),
    }
}
