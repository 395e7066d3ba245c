//! `profile`: where each role spends its time, or causes any other event: by function, in the kernel and
//! outside, and by groups of functions.
//!
//! ```text
//! perf events of all threads -> rings -> Samples of the phase that counts -> names -> groups -> Rows
//! ```
//!
//! A timer ([perf_event_open(2)](https://man7.org/linux/man-pages/man2/perf_event_open.2.html)) interrupts
//! each CPU that the parties may use some 2,000 times a second, and the kernel notes who was there, where, and
//! who had called. Nobody empties the rings into which it does: they are read after the run, and what others
//! than the parties did is left out. Who may not watch a CPU has an event for each thread instead; then the
//! timer is set at every switch, which in a virtual machine can cost more than the switch.
//!
//! # What a profile does not tell
//!
//! Clocks interrupt as timers do, and wait while interrupts are off. A sample that was due then is taken
//! where they come on again: in `finish_task_switch`, where a switch ends; in `_raw_spin_unlock_irqrestore`,
//! where a waking ends; on the way into a system call and out of it. So a switch from beginning to end shows
//! at its end: the group is right, the function is not; and what is done under a lock that keeps interrupts
//! out shows as locking. Copying is done with interrupts on, and its share is right. `skid_share` says how
//! many samples lie at such functions. Events of a PMU whose interrupts cannot be held off (`--event cycles`,
//! where there is one) are free of it, but for the few instructions until the interrupt is taken.
//!
//! Who may not know the kernel's names (`kernel.kptr_restrict`, no CAP_SYSLOG) is told its share of copying
//! all the same: where the kernel copies is learned beforehand, by watching it copy for ipcperf itself.
//!
//! Callers outside the kernel are followed by frame pointers, which many programs and libraries are built
//! without: a stack may lack its outer part.

#[cfg(target_os = "linux")]
mod aggregate;
#[cfg(target_os = "linux")]
mod copy_detection;
#[cfg(target_os = "linux")]
mod event;
#[cfg(target_os = "linux")]
mod folded_line;
#[cfg(target_os = "linux")]
mod kallsyms;
#[cfg(target_os = "linux")]
mod libc_copy;
#[cfg(target_os = "linux")]
mod mappings;
#[cfg(target_os = "linux")]
mod perf_event;
#[cfg(target_os = "linux")]
mod refusal;
#[cfg(target_os = "linux")]
mod ring;
#[cfg(target_os = "linux")]
mod sample;
#[cfg(target_os = "linux")]
mod sampling;
#[cfg(target_os = "linux")]
mod symbolize;
#[cfg(all(test, target_os = "linux"))]
mod tests;
#[cfg(target_os = "linux")]
mod threads;
#[cfg(target_os = "linux")]
mod watch;
#[cfg(target_os = "linux")]
mod wilson;

#[cfg(not(target_os = "linux"))]
use crate::unsupported::{
    arm_events as arm, divide_events as divide, events_available as available,
};
#[cfg(target_os = "linux")]
use watch::{arm, available, divide};

use crate::{Instrument, Source};
use ipcperf_model::instrument::profile as facts;

/// The instrument.
pub(crate) const INSTRUMENT: Instrument = Instrument {
    facts: &facts::FACTS,
    about: "time, or any event, by function in the kernel and outside, and by groups of functions",
    needs: "Linux; for the kernel's side root, CAP_PERFMON, or kernel.perf_event_paranoid=1",
    source: Source::Events { available, divide, arm },
};
