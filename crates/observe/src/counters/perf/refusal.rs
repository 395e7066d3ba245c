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
pub(super) fn of(event: &str, errno: Errno) -> Unavailable {
    match errno {
        Errno::NOENT | Errno::NODEV | Errno::NXIO => nobody_counts(event),
        Errno::OPNOTSUPP => unavailable(
            format!("{event}: the processor has it, but not to be counted in this mode"),
            "ask for it with :u, :k or :uk, or for another event",
        ),
        Errno::ACCESS | Errno::PERM => not_permitted(event),
        Errno::INVAL => unavailable(
            format!(
                "{event}: the processor does not take it: no such event, or more counters than it has"
            ),
            "ask for another event, or for fewer at once",
        ),
        Errno::MFILE | Errno::NFILE => unavailable(
            format!("{event}: no more files can be opened, of which each counter is one"),
            "raise the limit: ulimit -n 4096; or ask for fewer events",
        ),
        Errno::SRCH => unavailable(
            format!("{event}: the process that was to be counted is gone"),
            "look for the failure of the run",
        ),
        Errno::BUSY => unavailable(
            format!("{event}: somebody else has the counters for himself"),
            "end the other profiler",
        ),
        Errno::NOSYS => unavailable(
            "this kernel counts no events".to_owned(),
            "use a kernel built with CONFIG_PERF_EVENTS=y",
        ),
        Errno::TOOBIG => unavailable(
            format!("{event}: this kernel is too old to count it as is asked"),
            "use Linux 5.13 or later",
        ),
        other => unavailable(format!("{event}: {other}"), "report it, with this line"),
    }
}

/// Explains that `event` needs counters that another user never releases.
pub(super) fn never_counted(event: &str) -> Unavailable {
    unavailable(
        format!(
            "{event}: the kernel takes it, but the processor never counts it: its counters are taken"
        ),
        "end other profilers; the kernel's own watchdog holds one: sysctl kernel.nmi_watchdog=0",
    )
}

/// Explains that the processor accepts `event` but counts nothing where the count cannot be zero.
pub(super) fn counts_nothing(event: &str) -> Unavailable {
    unavailable(
        format!("{event}: the processor takes the number and counts nothing by it"),
        "ask for another event",
    )
}

/// Explains that events can be counted in the program, but not in the kernel.
pub(super) fn not_the_kernels() -> Unavailable {
    let level = paranoid().map_or_else(String::new, |level| format!(" ({PARANOID} is {level})"));
    unavailable(
        format!("what is counted in the kernel is not shown to this user{level}"),
        format!("{GRANT}, or: sudo sysctl kernel.perf_event_paranoid=1"),
    )
}

/// Explains that `event` can only be counted in program and kernel together.
pub(super) fn not_apart(event: &str) -> Unavailable {
    unavailable(
        format!("{event} is not counted in program and kernel apart, but in both together"),
        "nothing: its source knows no other way",
    )
}

const PARANOID: &str = "perf_event_paranoid";

/// Explains that none of the default events is available, given the reasons in `lacking`.
pub(super) fn nothing(lacking: &[Unavailable]) -> Unavailable {
    match lacking.first() {
        Some(first) if !Machine::here().pmus().is_empty() => first.clone(),
        Some(first) if first.remedy.contains(GRANT) => first.clone(),
        _ => unavailable("no performance counters here".to_owned(), NO_PMU),
    }
}

const NO_PMU: &str = "run on hardware, or give the virtual machine its processor's counters; what the \
                      kernel counts works everywhere: --events task-clock,page-faults,context-switches";

fn nobody_counts(event: &str) -> Unavailable {
    match Machine::here().pmus()[..] {
        [] => unavailable(format!("{event}: there are no performance counters here"), NO_PMU),
        _ => unavailable(
            format!("{event}: nothing here counts it"),
            "ask for another event: `perf list` shows what there is",
        ),
    }
}

fn not_permitted(event: &str) -> Unavailable {
    match paranoid() {
        Some(level) => unavailable(
            format!("{event}: counting is not permitted ({PARANOID} is {level})"),
            format!(
                "{GRANT}, or: sudo sysctl kernel.perf_event_paranoid=1; in a container, let it call perf_event_open"
            ),
        ),
        None => unavailable(
            "this kernel counts no events, or hides it: there is no perf_event_paranoid".to_owned(),
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
        let told = numbers.map(|errno| of("cycles", errno));
        for (index, one) in told.iter().enumerate() {
            assert!(!one.remedy.is_empty());
            assert!(told[..index].iter().all(|other| other.reason != one.reason), "{one}");
        }
    }
}
