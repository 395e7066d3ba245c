//! Why the kernel does not open an event, in a line, and what would help.

use std::fs;

use ipcperf_model::Unavailable;
use rustix::io::Errno;

use crate::grant::PERFMON_AND_SYSLOG;

const PARANOID: &str = "/proc/sys/kernel/perf_event_paranoid";

/// What the kernel's `errno` says of the event called `name`, opened in the kernel and outside, or outside
/// alone.
pub(super) fn of(name: &str, errno: Errno) -> Unavailable {
    match errno {
        Errno::NOENT | Errno::NODEV | Errno::NXIO => unavailable(
            format!("nothing here provides {name}"),
            "use --event cpu-clock; a virtual machine has a PMU only where its host lends it one",
        ),
        Errno::OPNOTSUPP | Errno::INVAL => unavailable(
            format!("{name} is here, but cannot be sampled by"),
            "use --event cpu-clock",
        ),
        Errno::ACCESS | Errno::PERM => not_permitted(),
        Errno::NOSYS => unavailable(
            "this kernel has no perf events".to_owned(),
            "use a kernel built with CONFIG_PERF_EVENTS=y",
        ),
        Errno::MFILE | Errno::NFILE => unavailable(
            "an event for each thread and CPU is more than may be open".to_owned(),
            "raise it: ulimit -n",
        ),
        other => unavailable(format!("{name} cannot be opened: {other}"), "use --event cpu-clock"),
    }
}

/// What is lacking where the kernel's side is refused and the other is not.
pub(super) fn kernel_side() -> Unavailable {
    unavailable(
        format!("what the kernel does is not sampled: kernel.perf_event_paranoid is {}", level()),
        &format!("{PERFMON_AND_SYSLOG}, or: sudo sysctl kernel.perf_event_paranoid=1"),
    )
}

/// What is lacking where threads can be sampled, but not whoever is on a CPU.
pub(super) fn cpus() -> Unavailable {
    unavailable(
        format!(
            "a timer is set at each switch, which slows switches down: kernel.perf_event_paranoid is {}",
            level()
        ),
        &format!("{PERFMON_AND_SYSLOG}, or: sudo sysctl kernel.perf_event_paranoid=0"),
    )
}

/// No ring, however small, is allowed.
pub(super) fn of_rings(errno: Errno) -> Unavailable {
    unavailable(
        format!("no memory for samples: {errno}"),
        "raise it: sudo sysctl kernel.perf_event_mlock_kb=516, or ulimit -l",
    )
}

fn not_permitted() -> Unavailable {
    // Above 2 is no level of the kernel's own: distributions add it, and mean nobody but root.
    if fs::read_to_string(PARANOID)
        .is_ok_and(|level| level.trim().parse().is_ok_and(|level: i32| level > 2))
    {
        return unavailable(
            format!("perf events are refused: kernel.perf_event_paranoid is {}", level()),
            "run as root, or: sudo sysctl kernel.perf_event_paranoid=1",
        );
    }
    unavailable(
        "perf_event_open is refused, by a filter or for a process of another user".to_owned(),
        "run as the user of the parties, outside the container or with seccomp=unconfined",
    )
}

fn level() -> String {
    fs::read_to_string(PARANOID)
        .map_or_else(|_| "unknown".to_owned(), |level| level.trim().to_owned())
}

fn unavailable(reason: String, remedy: &str) -> Unavailable {
    Unavailable { reason, remedy: remedy.to_owned() }
}
