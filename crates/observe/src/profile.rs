//! `profile`: where each role spends its time, or causes any other event: by function, inside and outside the kernel,
//! and by group of functions.
//!
//! ```text
//! perf events of all threads -> rings -> Samples of the measured phase -> symbols -> groups -> Rows
//! ```
//!
//! A timer ([perf_event_open(2)](https://man7.org/linux/man-pages/man2/perf_event_open.2.html)) interrupts each CPU
//! that the peers may use about 2,000 times a second. At each interrupt the kernel records the thread, its address and
//! its call chain in a ring buffer. The rings are read only after the run, and samples of other threads are dropped. A
//! user who may not sample whole CPUs gets an event for each thread instead. The kernel then programs the timer at
//! every context switch, which in a virtual machine can cost more than the switch.
//!
//! # Limits of a profile
//!
//! Clock events are timer interrupts, which wait while interrupts are disabled. A sample that is due then is taken
//! where they are enabled again: in `finish_task_switch` at the end of a context switch, in
//! `_raw_spin_unlock_irqrestore` at the end of a wakeup, and at system call entry and exit. So a whole context switch
//! appears at its end: the group is right, the function is not. Work done under a lock that disables interrupts appears
//! as locking. Copying runs with interrupts enabled, so its share is right. `skid_share` is the share of samples at
//! such functions. Events of a PMU with non-maskable interrupts (`--profile-event cycles`, where available) do not have
//! this problem; they only skid by the few instructions that run before the interrupt is taken.
//!
//! If kernel symbols are hidden (`kernel.kptr_restrict`, no CAP_SYSLOG), the share of copying is still reported: the
//! addresses at which the kernel copies are inferred beforehand, by sampling copies that ipcperf itself makes.
//!
//! Callers outside the kernel are found by frame pointers, which many programs and libraries are built without: the
//! outer part of a stack may be missing.

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
    about: "CPU time, or any other event, by function and by group of functions, in the kernel and \
            in user space",
    needs: "Linux; for functions in the kernel: root, CAP_PERFMON, or kernel.perf_event_paranoid=1",
    source: Source::Events { available, divide, arm },
};
