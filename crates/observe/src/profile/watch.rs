//! Samples every thread of every role, and aggregates the samples of the measured phase.

use ipcperf_model::Unavailable;
use ipcperf_model::instrument::profile::{KernelSymbols, Reach};
use ipcperf_model::observation::Observation;
use rustix::io::Errno;

use super::aggregate::{self, Circumstances, Role};
use super::copy_detection::Copies;
use super::event::{DEFAULT, resolve};
use super::kallsyms::{self, Functions};
use super::mappings::Mappings;
use super::perf_event::{Manner, Side, try_out};
use super::refusal;
use super::sampling::Sampling;
use super::symbolize::Kernel;
use super::threads::{self, Thread};
use crate::counters::Failed;
use crate::{Member, Parties, Played, Watch};

/// Sampling frequency. Not higher, because in a virtual machine each timer interrupt can cost tens of us; and not a
/// multiple of the kernel's tick rate, because samples in step with the tick would always hit the same code.
const FREQUENCY_HZ: u64 = 1_999;

/// Checks each requested event without sampling any peer.
pub(super) fn available(events: &[String]) -> Result<Vec<Unavailable>, Unavailable> {
    let tried = chosen(events).into_iter().map(|event| manner(&event));
    let (had, not_had): (Vec<_>, Vec<_>) = tried.partition(Result::is_ok);
    let mut lacking: Vec<_> = not_had.into_iter().filter_map(Result::err).collect();
    if had.is_empty() {
        return Err(lacking.swap_remove(0));
    }
    // The restrictions of one event apply to all.
    lacking.extend(had.first().and_then(|manner| lacked(manner.as_ref().ok()?)));
    Ok(lacking)
}

/// Returns what `manner` cannot sample, if anything.
fn lacked(manner: &Manner) -> Option<Unavailable> {
    match (manner.side, manner.reach) {
        (Side::UserAlone, _) => Some(refusal::kernel_side()),
        (Side::Both, Reach::Threads) => Some(refusal::cpus()),
        (Side::Both, Reach::Cpus) => None,
    }
}

/// Returns one group for each available event.
pub(super) fn divide(events: &[String]) -> Result<Vec<Vec<String>>, Unavailable> {
    let mut parts = Vec::new();
    for event in chosen(events) {
        if let Err(Failed::NoEvent(why)) = resolve(&event) {
            return Err(why);
        }
        if manner(&event).is_ok() {
            parts.push(vec![event]);
        }
    }
    Ok(parts)
}

/// Starts sampling `parties` by the one event of a group.
pub(super) fn arm(parties: &Parties, events: &[String]) -> Result<Box<dyn Watch>, Unavailable> {
    let event = chosen(events).swap_remove(0);
    Ok(Box::new(Profile::of(parties, manner(&event)?, kallsyms::symbols())?))
}

fn chosen(events: &[String]) -> Vec<String> {
    if events.is_empty() { vec![DEFAULT.to_owned()] } else { events.to_vec() }
}

/// Finds the most complete way in which `event` may be sampled here.
fn manner(event: &str) -> Result<Manner, Unavailable> {
    let most = Manner::of(event, FREQUENCY_HZ)?;
    let of_threads = Manner { reach: Reach::Threads, ..most.clone() };
    let least = Manner { side: Side::UserAlone, ..of_threads.clone() };
    let mut refused = Errno::ACCESS;
    for manner in [most, of_threads, least] {
        match try_out(&manner) {
            Ok(()) => return Ok(manner),
            Err(errno) => refused = errno,
        }
        if !matches!(refused, Errno::ACCESS | Errno::PERM) {
            break;
        }
    }
    Err(refusal::of(event, refused))
}

#[derive(Debug)]
pub(super) struct Profile {
    manner: Manner,
    roles: Vec<Role>,
    /// Addresses at which the kernel copies, if its symbols are hidden.
    copies: Option<Copies>,
    sampling: Sampling,
    played: Option<Played>,
}

impl Profile {
    pub(super) fn of(
        parties: &Parties,
        manner: Manner,
        symbols: KernelSymbols,
    ) -> Result<Self, Unavailable> {
        let must_learn = symbols == KernelSymbols::Hidden && manner.side == Side::Both;
        let copies = must_learn.then(Copies::learn);
        let members = parties.members.iter();
        let role =
            |member: &Member| Role { member: member.clone(), mappings: Mappings::of(member.pid) };
        let roles = members.clone().map(role).collect();
        let threads: Vec<Thread> = members.flat_map(threads::of).collect();
        let sampling = Sampling::of(&manner, &threads)?;
        Ok(Self { manner, roles, copies, sampling, played: None })
    }
}

impl Watch for Profile {
    fn told(&mut self, played: &Played) {
        self.played = Some(played.clone());
    }

    fn finish(self: Box<Self>) -> Result<Vec<Observation>, Unavailable> {
        let Self { manner, roles, copies, sampling, played } = *self;
        let taken = sampling.stop().map_err(|errno| refusal::of(&manner.event, errno))?;
        let played = played.ok_or_else(untold)?;
        let kernel = (manner.side == Side::Both)
            .then(|| copies.map_or_else(|| Kernel::Named(Functions::read()), Kernel::Learned));
        let end_ns = played.began_ns.saturating_add(played.elapsed_ns);
        let phase_ns = played.began_ns..=end_ns;
        let cpu_ns = &played.cpu_ns;
        let how = Circumstances { manner: &manner, kernel: kernel.as_ref(), phase_ns, cpu_ns };
        Ok(aggregate::observations(&roles, &taken, &how))
    }
}

fn untold() -> Unavailable {
    Unavailable {
        reason: "it is not known when the phase that counts was played".to_owned(),
        remedy: "look for the failure of the run".to_owned(),
    }
}
