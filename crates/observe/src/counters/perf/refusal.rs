//! Reasons why the kernel does not count an event, in one line, with a remedy. They depend on the error number, because
//! the kernel's messages say less.

use ipcperf_model::Unavailable;
use rustix::io::Errno;

use super::paranoid;
use crate::counters::event::Machine;
use crate::grant::PERFMON as GRANT;

fn unavailable(reason: String, remedy: impl Into<String>) -> Unavailable {
    Unavailable { reason, remedy: remedy.into() }
}

/// Explains why `event` could not be opened on this process.
pub(super) fn from_errno(event: &str, errno: Errno) -> Unavailable {
    match errno {
        Errno::NOENT | Errno::NODEV | Errno::NXIO => not_supported(event),
        Errno::OPNOTSUPP => unavailable(
            format!("{event}: the processor cannot count it in this mode"),
            "use :u, :k or :uk, or another event",
        ),
        Errno::ACCESS | Errno::PERM => not_permitted(event),
        Errno::INVAL => unavailable(
            format!("{event}: rejected by the processor: no such event, or not enough counters"),
            "use another event, or fewer events at once",
        ),
        Errno::MFILE | Errno::NFILE => unavailable(
            format!("{event}: too many open files (each counter is an open file)"),
            "raise the limit: ulimit -n 4096; or use fewer events",
        ),
        Errno::SRCH => unavailable(
            format!("{event}: the process to be counted has ended"),
            "see why the run failed",
        ),
        Errno::BUSY => unavailable(
            format!("{event}: another process has exclusive use of the counters"),
            "end the other profiler",
        ),
        Errno::NOSYS => unavailable(
            "this kernel has no perf events".to_owned(),
            "use a kernel built with CONFIG_PERF_EVENTS=y",
        ),
        Errno::TOOBIG => unavailable(
            format!("{event}: this kernel is too old to count it with these settings"),
            "use Linux 5.13 or later",
        ),
        other => unavailable(format!("{event}: {other}"), "please report this message"),
    }
}

/// Explains that `event` needs counters that another user never releases.
pub(super) fn never_counted(event: &str) -> Unavailable {
    unavailable(
        format!("{event}: accepted, but never counted: the processor's counters are in use"),
        "end other profilers, and turn off the kernel's watchdog, which uses a counter: sysctl kernel.nmi_watchdog=0",
    )
}

/// Explains that the processor accepts `event` but counts nothing where the count cannot be zero.
pub(super) fn always_zero(event: &str) -> Unavailable {
    unavailable(
        format!("{event}: the processor accepts the event code, but does not count it"),
        "use another event",
    )
}

/// Explains that events can be counted in the program, but not in the kernel.
pub(super) fn no_kernel_counts() -> Unavailable {
    let level = paranoid().map_or_else(String::new, |level| format!(" ({PARANOID} is {level})"));
    unavailable(
        format!("this user may not count events in the kernel{level}"),
        format!("{GRANT}, or: sudo sysctl kernel.perf_event_paranoid=1"),
    )
}

/// Explains that `event` can only be counted in program and kernel together.
pub(super) fn not_separable(event: &str) -> Unavailable {
    unavailable(
        format!(
            "{event} cannot be counted separately in user space and in the kernel, only in \
                 both together"
        ),
        "none: its PMU does not support it",
    )
}

const PARANOID: &str = "perf_event_paranoid";

/// Explains that none of the default events is available, given the reasons in `reasons`.
pub(super) fn no_default_event(reasons: &[Unavailable]) -> Unavailable {
    match reasons.first() {
        Some(first) if !Machine::current().pmus().is_empty() => first.clone(),
        Some(first) if first.remedy.contains(GRANT) => first.clone(),
        _ => unavailable("no performance counters here".to_owned(), NO_PMU),
    }
}

const NO_PMU: &str = "run on hardware, or give the virtual machine access to a PMU; software \
                      events work everywhere: --counter-events \
                      task-clock,page-faults,context-switches";

fn not_supported(event: &str) -> Unavailable {
    match Machine::current().pmus()[..] {
        [] => unavailable(format!("{event}: no performance counters here"), NO_PMU),
        _ => unavailable(
            format!("{event}: not supported by this processor"),
            "use another event; `perf list` shows those available",
        ),
    }
}

fn not_permitted(event: &str) -> Unavailable {
    match paranoid() {
        Some(level) => unavailable(
            format!("{event}: counting is not permitted ({PARANOID} is {level})"),
            format!(
                "{GRANT}, or: sudo sysctl kernel.perf_event_paranoid=1; in a container, also allow \
                 perf_event_open"
            ),
        ),
        None => unavailable(
            "this kernel has no perf events, or hides them: perf_event_paranoid does not exist"
                .to_owned(),
            "use a kernel built with CONFIG_PERF_EVENTS=y",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_told_apart() {
        let numbers = [
            Errno::NOENT,
            Errno::OPNOTSUPP,
            Errno::ACCESS,
            Errno::INVAL,
            Errno::MFILE,
            Errno::SRCH,
            Errno::BUSY,
            Errno::NOSYS,
            Errno::TOOBIG,
            Errno::IO,
        ];
        let refusals = numbers.map(|errno| from_errno("cycles", errno));
        for (index, one) in refusals.iter().enumerate() {
            assert!(!one.remedy.is_empty());
            assert!(refusals[..index].iter().all(|other| other.reason != one.reason), "{one}");
        }
    }
}
