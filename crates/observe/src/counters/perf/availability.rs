//! Events tried on the calling thread: what the kernel takes and the processor counts.

use std::hint::black_box;
use std::time::{Duration, Instant};

use ipcperf_model::Unavailable;
use ipcperf_model::instrument::counters::Space;
use rustix::io::Errno;

use super::group::{Group, HEAD, MOST, Whose};
use super::refusal;
use crate::counters::event::{Event, Failed, Machine};

/// An event that can be had.
#[derive(Debug)]
pub(super) struct Trial {
    /// Its spaces are those that can be had.
    pub(super) event: Event,
    /// What of it cannot be had.
    pub(super) without: Option<Unavailable>,
}

/// How long a group is given to be counted once: others may be in its way until the next tick.
const PATIENCE: Duration = Duration::from_millis(20);

/// Of which there is some in any program: a processor that counts none counts something else by the number,
/// or nothing, as those of virtual machines do of what their hosts keep for themselves.
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

/// Tries the event that `word` asks for: whether the kernel takes it, and the processor counts it.
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

/// Tries whether the kernel takes the event that `word` asks for.
pub(super) fn try_kernel(word: &str, machine: &Machine) -> Result<Trial, Failed> {
    let mut event = machine.event(word)?;
    let refused = |errno| Failed::Absent(refusal::of(word, errno));
    if event.code.raw().is_some_and(|number| machine.lacks(number)) {
        return Err(refused(Errno::NOENT));
    }
    let without = open_alone(&mut event).map_err(refused)?;
    Ok(Trial { event, without })
}

/// Opens `event` alone, and leaves of its spaces those that can be had; tells what the others lack.
fn open_alone(event: &mut Event) -> Result<Option<Unavailable>, Errno> {
    let Err(errno) = opens(event) else { return Ok(None) };
    let is_apart = event.spaces == [Space::User, Space::Kernel];
    let is_refused = matches!(errno, Errno::ACCESS | Errno::PERM);
    let program = Event { spaces: vec![Space::User], ..event.clone() };
    let together = Event { spaces: vec![Space::Both], ..event.clone() };
    if is_refused {
        // Permission is looked at first: without the kernel's side it is seen whether there is such an event.
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

/// Whether the kernel takes `events` as one group, and the processor counts it.
pub(super) fn fits(events: &[Event]) -> bool {
    events.iter().map(|event| event.spaces.len()).sum::<usize>() <= MOST
        && counted(events).is_some()
}

/// What `events` came to while something of everything was done, each in its spaces; `None` where they are
/// no group, or were never counted.
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

/// Something of everything: loads, stores, branches, calls of the kernel, pages that were never touched.
fn exert() {
    let mut pages = vec![0_u8; 256 << 10];
    for byte in pages.iter_mut().step_by(64) {
        *byte = byte.wrapping_add(1);
    }
    let sum: u64 = pages.iter().step_by(64).map(|&byte| u64::from(byte)).sum();
    black_box((sum, pages));
}
