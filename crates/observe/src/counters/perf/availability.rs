//! Tries events on the calling thread: whether the kernel accepts them and the processor counts them.

use std::hint::black_box;
use std::time::{Duration, Instant};

use ipcperf_model::Unavailable;
use ipcperf_model::instrument::counters::Space;
use rustix::io::Errno;

use super::group::{Group, HEAD, MOST, Whose};
use super::refusal;
use crate::counters::event::{Event, Failed, Machine};

/// An available event.
#[derive(Debug)]
pub(super) struct Trial {
    /// The event, with the available spaces only.
    pub(super) event: Event,
    /// Reason why part of the event is unavailable.
    pub(super) without: Option<Unavailable>,
}

/// Time within which a group must be counted once: other users may hold the counters until the next tick.
const PATIENCE: Duration = Duration::from_millis(20);

/// Events that occur in any program. If their count is zero, the processor uses the number for something else or for
/// nothing, as virtual machines do for events that the host does not expose.
const SURE: [&str; 11] = [
    "L1D_CACHE",
    "L1D_CACHE_REFILL",
    "L1_DCACHE_ACCESS",
    "L1_DCACHE_REFILL",
    "L2D_CACHE",
    "L2_ACCESS",
    "LD_SPEC",
    "MEM_ACCESS",
    "MEM_READ",
    "MEM_WRITE",
    "ST_SPEC",
];

/// Tries the event called `word`: whether the kernel accepts it and the processor counts it.
pub(super) fn try_event(word: &str, machine: &Machine) -> Result<Trial, Failed> {
    let trial = try_kernel(word, machine)?;
    let event = &trial.event;
    let counts = counted(std::slice::from_ref(event))
        .ok_or_else(|| Failed::Absent(refusal::never_counted(word)))?;
    let is_sure = SURE.contains(&event.name.to_uppercase().as_str());
    let may_be_none = |number| is_sure || machine.may_count_nothing(number);
    if event.code.raw().is_some_and(may_be_none) && counts.iter().all(|&count| count == 0) {
        return Err(Failed::Absent(refusal::counts_nothing(word)));
    }
    Ok(trial)
}

/// Tries whether the kernel accepts the event called `word`.
pub(super) fn try_kernel(word: &str, machine: &Machine) -> Result<Trial, Failed> {
    let mut event = machine.event(word)?;
    let refused = |errno| Failed::Absent(refusal::of(word, errno));
    if event.code.raw().is_some_and(|number| machine.lacks(number)) {
        return Err(refused(Errno::NOENT));
    }
    let without = open_alone(&mut event).map_err(refused)?;
    Ok(Trial { event, without })
}

/// Opens `event` alone and reduces its spaces to the available ones. Returns why the others are unavailable.
fn open_alone(event: &mut Event) -> Result<Option<Unavailable>, Errno> {
    let Err(errno) = opens(event) else { return Ok(None) };
    let is_apart = event.spaces == [Space::User, Space::Kernel];
    let is_refused = matches!(errno, Errno::ACCESS | Errno::PERM);
    let program = Event { spaces: vec![Space::User], ..event.clone() };
    let together = Event { spaces: vec![Space::Both], ..event.clone() };
    if is_refused {
        // The kernel checks permission first: opening the program's side alone shows whether the event exists.
        opens(&program)?;
    } else if is_apart && opens(&together).is_ok() {
        *event = together;
        return Ok(Some(refusal::not_apart(&event.name)));
    }
    if !(is_refused && is_apart) {
        return Err(errno);
    }
    *event = program;
    Ok(Some(refusal::not_the_kernels()))
}

fn opens(event: &Event) -> Result<(), Errno> {
    let group = Group::open(std::slice::from_ref(event), Whose::Thread(0));
    group.map(drop).map_err(|(_, errno)| errno)
}

/// Whether the kernel accepts `events` as one group, and the processor counts it.
pub(super) fn fits(events: &[Event]) -> bool {
    events.iter().map(|event| event.spaces.len()).sum::<usize>() <= MOST
        && counted(events).is_some()
}

/// Returns the counts of `events`, in each of their spaces, during a bit of mixed work; `None` if they do not form a
/// group, or were never counted.
fn counted(events: &[Event]) -> Option<Vec<u64>> {
    let group = Group::open(events, Whose::Thread(0)).ok()?;
    let before = group.read();
    let end = Instant::now() + PATIENCE;
    loop {
        exert();
        let after = group.read();
        let (then, now) = (before.get(HEAD - 1)?, after.get(HEAD - 1)?);
        if now > then {
            let counts = after.iter().zip(&before).skip(HEAD);
            return Some(counts.map(|(after, before)| after - before).collect());
        }
        if Instant::now() >= end {
            return None;
        }
    }
}

/// Does a bit of everything: loads, stores, branches, system calls, first touches of pages.
fn exert() {
    let mut pages = vec![0_u8; 256 << 10];
    for byte in pages.iter_mut().step_by(64) {
        *byte = byte.wrapping_add(1);
    }
    let sum: u64 = pages.iter().step_by(64).map(|&byte| u64::from(byte)).sum();
    black_box((sum, pages));
}
