//! Reasons why the kernel refuses to open a sampling event, in one line, with a remedy.

use std::fs;

use ipcperf_model::Unavailable;
use rustix::io::Errno;

use crate::grant::PERFMON_AND_SYSLOG;

const PARANOID: &str = "/proc/sys/kernel/perf_event_paranoid";

/// Explains `errno` for the event called `name`, opened for kernel and user space, or for user space only.
pub(super) fn from_errno(name: &str, errno: Errno) -> Unavailable {
    match errno {
        Errno::NOENT | Errno::NODEV | Errno::NXIO => unavailable(
            format!("no PMU on this machine provides {name}"),
            "use --profile-event cpu-clock; few virtual machines have a PMU",
        ),
        Errno::OPNOTSUPP | Errno::INVAL => unavailable(
            format!("{name} can be counted here, but not sampled"),
            "use --profile-event cpu-clock",
        ),
        Errno::ACCESS | Errno::PERM => not_permitted(),
        Errno::NOSYS => unavailable(
            "this kernel has no perf events".to_owned(),
            "use a kernel built with CONFIG_PERF_EVENTS=y",
        ),
        Errno::MFILE | Errno::NFILE => unavailable(
            "too many open files: a profile opens one event for each thread and CPU".to_owned(),
            "raise the limit: ulimit -n 4096",
        ),
        other => unavailable(
            format!("{name} cannot be opened: {other}"),
            "use --profile-event cpu-clock",
        ),
    }
}

/// Explains what is missing if sampling the kernel is refused but sampling user space is allowed.
pub(super) fn no_kernel_samples() -> Unavailable {
    unavailable(
        format!(
            "functions in the kernel are not sampled: kernel.perf_event_paranoid is {}",
            paranoid_level()
        ),
        &format!("{PERFMON_AND_SYSLOG}, or: sudo sysctl kernel.perf_event_paranoid=1"),
    )
}

/// Explains what is missing if threads can be sampled, but whole CPUs cannot.
pub(super) fn no_cpu_wide_sampling() -> Unavailable {
    unavailable(
        format!(
            "a timer is set at each context switch, which makes switches slower: \
             kernel.perf_event_paranoid is {}",
            paranoid_level()
        ),
        &format!("{PERFMON_AND_SYSLOG}, or: sudo sysctl kernel.perf_event_paranoid=0"),
    )
}

/// Explains that no ring of any size is allowed.
pub(super) fn no_ring_memory(errno: Errno) -> Unavailable {
    unavailable(
        format!("not enough locked memory for samples: {errno}"),
        "raise the limit: sudo sysctl kernel.perf_event_mlock_kb=516, or ulimit -l",
    )
}

fn not_permitted() -> Unavailable {
    // The kernel itself defines no level above 2: distributions add it to mean root only.
    if fs::read_to_string(PARANOID)
        .is_ok_and(|level| level.trim().parse().is_ok_and(|level: i32| level > 2))
    {
        return unavailable(
            format!("perf events are refused: kernel.perf_event_paranoid is {}", paranoid_level()),
            "run as root, or: sudo sysctl kernel.perf_event_paranoid=1",
        );
    }
    unavailable(
        "perf_event_open is refused, by a seccomp filter or because a process belongs to another user".to_owned(),
        "run as the user of the peers, outside the container or with seccomp=unconfined",
    )
}

fn paranoid_level() -> String {
    fs::read_to_string(PARANOID)
        .map_or_else(|_| "unknown".to_owned(), |level| level.trim().to_owned())
}

fn unavailable(reason: String, remedy: &str) -> Unavailable {
    Unavailable { reason, remedy: remedy.to_owned() }
}
