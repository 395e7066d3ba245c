//! Tries events on the calling thread: whether the kernel accepts them and the processor counts them.

use std::hint::black_box;
use std::time::{Duration, Instant};

use ipcperf_model::Unavailable;
use ipcperf_model::instrument::counters::PrivilegeLevel;
use rustix::io::Errno;

use super::group::{CounterGroup, CounterTarget, HEADER_WORDS, MAX_COUNTERS};
use super::refusal;
use crate::counters::event::{Event, EventError, Machine};

/// An available event.
#[derive(Debug)]
pub(super) struct AvailableEvent {
    /// The event, with the available spaces only.
    pub(super) event: Event,
    /// Reason why part of the event is unavailable.
    pub(super) restriction: Option<Unavailable>,
}

/// Time within which a group must be counted once: other users may hold the counters until the next tick.
const TIMEOUT: Duration = Duration::from_millis(20);

/// Events that occur in any program. If their count is zero, the processor uses the number for something else or for
/// nothing, as virtual machines do for events that the host does not expose.
const NEVER_ZERO_EVENTS: [&str; 11] = [
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

/// Tries the event called `name`: whether the kernel accepts it and the processor counts it.
pub(super) fn try_event(name: &str, machine: &Machine) -> Result<AvailableEvent, EventError> {
    let trial = try_open(name, machine)?;
    let event = &trial.event;
    let counts = trial_counts(std::slice::from_ref(event))
        .ok_or_else(|| EventError::NotSupported(refusal::never_counted(name)))?;
    let cannot_be_zero = NEVER_ZERO_EVENTS.contains(&event.name.to_uppercase().as_str());
    let is_zero_suspicious = |number| cannot_be_zero || machine.may_count_nothing(number);
    if event.code.raw_number().is_some_and(is_zero_suspicious)
        && counts.iter().all(|&count| count == 0)
    {
        return Err(EventError::NotSupported(refusal::always_zero(name)));
    }
    Ok(trial)
}

/// Tries whether the kernel accepts the event called `name`.
pub(super) fn try_open(name: &str, machine: &Machine) -> Result<AvailableEvent, EventError> {
    let mut event = machine.resolve(name)?;
    let refused = |errno| EventError::NotSupported(refusal::from_errno(name, errno));
    if event.code.raw_number().is_some_and(|number| machine.is_unimplemented(number)) {
        return Err(refused(Errno::NOENT));
    }
    let restriction = open_reduced(&mut event).map_err(refused)?;
    Ok(AvailableEvent { event, restriction })
}

/// Opens `event` alone and reduces its spaces to the available ones. Returns why the others are unavailable.
fn open_reduced(event: &mut Event) -> Result<Option<Unavailable>, Errno> {
    let Err(errno) = open_on_self(event) else { return Ok(None) };
    let is_split = event.spaces == [PrivilegeLevel::User, PrivilegeLevel::Kernel];
    let is_refused = matches!(errno, Errno::ACCESS | Errno::PERM);
    let user_only = Event { spaces: vec![PrivilegeLevel::User], ..event.clone() };
    let combined = Event { spaces: vec![PrivilegeLevel::Both], ..event.clone() };
    if is_refused {
        // The kernel checks permission first: opening the program's side alone shows whether the event exists.
        open_on_self(&user_only)?;
    } else if is_split && open_on_self(&combined).is_ok() {
        *event = combined;
        return Ok(Some(refusal::not_separable(&event.name)));
    }
    if !(is_refused && is_split) {
        return Err(errno);
    }
    *event = user_only;
    Ok(Some(refusal::no_kernel_counts()))
}

fn open_on_self(event: &Event) -> Result<(), Errno> {
    let group = CounterGroup::open(std::slice::from_ref(event), CounterTarget::Thread(0));
    group.map(drop).map_err(|(_, errno)| errno)
}

/// Whether the kernel accepts `events` as one group, and the processor counts it.
pub(super) fn fits(events: &[Event]) -> bool {
    events.iter().map(|event| event.spaces.len()).sum::<usize>() <= MAX_COUNTERS
        && trial_counts(events).is_some()
}

/// Returns the counts of `events`, in each of their spaces, during a bit of mixed work; `None` if they do not form a
/// group, or were never counted.
fn trial_counts(events: &[Event]) -> Option<Vec<u64>> {
    let group = CounterGroup::open(events, CounterTarget::Thread(0)).ok()?;
    let before = group.read();
    let end = Instant::now() + TIMEOUT;
    loop {
        do_mixed_work();
        let after = group.read();
        let (then, now) = (before.get(HEADER_WORDS - 1)?, after.get(HEADER_WORDS - 1)?);
        if now > then {
            let counts = after.iter().zip(&before).skip(HEADER_WORDS);
            return Some(counts.map(|(after, before)| after - before).collect());
        }
        if Instant::now() >= end {
            return None;
        }
    }
}

/// Does a bit of everything: loads, stores, branches, system calls, first touches of pages.
fn do_mixed_work() {
    let mut pages = vec![0_u8; 256 << 10];
    for byte in pages.iter_mut().step_by(64) {
        *byte = byte.wrapping_add(1);
    }
    let sum: u64 = pages.iter().step_by(64).map(|&byte| u64::from(byte)).sum();
    black_box((sum, pages));
}
