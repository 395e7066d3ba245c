//! Resource use of a peer. CPU time comes from the clock of the thread; page faults, context switches and the split
//! into user and system time come from `getrusage`; the run delay comes from `schedstat`. If a library works for the
//! peer on its own threads, the clock and `getrusage` cover the whole process.
//!
//! The two calls of `getrusage` also mark the timed region in a trace: between them a peer makes only the calls of its
//! workload.

use std::fs;
use std::mem::MaybeUninit;

use ipcperf_model::mechanism::Helper;
use ipcperf_model::{Role, RoleUsage};
use rustix::time::{ClockId, clock_gettime};

use super::split::Times;
use crate::clock::thread_cpu_ns;
use crate::platform::thread::RUSAGE_THREAD;
use crate::workload::Meter;

/// Scope of the resource use attributed to a peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RusageScope {
    /// The thread that runs the role.
    Thread,
    /// All threads of its process.
    Process,
}

impl RusageScope {
    /// Scope for a mechanism with `helper`.
    pub(super) fn from_helper(helper: Helper) -> Self {
        match helper {
            Helper::LibraryThreads => Self::Process,
            _ => Self::Thread,
        }
    }

    /// CPU time used so far, ns. Exact, unlike that of `getrusage`, which the kernel updates at ticks and context
    /// switches.
    pub(super) fn cpu_ns(self) -> u64 {
        match self {
            Self::Thread => thread_cpu_ns(),
            Self::Process => {
                let time = clock_gettime(ClockId::ProcessCPUTime);
                // The clock starts at zero, so neither part is negative.
                time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_nsec.unsigned_abs()
            }
        }
    }

    /// CPU time used so far by the peer's other threads, ns.
    pub(super) fn other_threads_cpu_ns(self) -> u64 {
        self.cpu_ns().saturating_sub(Self::Thread.cpu_ns())
    }

    const fn rusage_who(self) -> libc::c_int {
        match self {
            Self::Thread => RUSAGE_THREAD,
            Self::Process => libc::RUSAGE_SELF,
        }
    }
}

/// One reading of `getrusage`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Usage {
    times: Times,
    minor_faults: u64,
    voluntary_switches: u64,
    involuntary_switches: u64,
}

impl Usage {
    /// Reads the use so far of the calling thread, or of its process.
    pub(super) fn now(scope: RusageScope) -> Self {
        let mut usage = MaybeUninit::<libc::rusage>::zeroed();
        // SAFETY: the pointer is to a whole rusage; the call can only fail for a bad pointer or an unknown `who`, and
        // then leaves the zeroes, which are a valid rusage too.
        let usage = unsafe {
            libc::getrusage(scope.rusage_who(), usage.as_mut_ptr());
            usage.assume_init()
        };
        Self {
            times: Times {
                user_ns: nanoseconds(usage.ru_utime),
                system_ns: nanoseconds(usage.ru_stime),
            },
            minor_faults: usage.ru_minflt.unsigned_abs(),
            voluntary_switches: usage.ru_nvcsw.unsigned_abs(),
            involuntary_switches: usage.ru_nivcsw.unsigned_abs(),
        }
    }

    /// Use from `self` to `end`, with the peer's own counts and its CPU time `cpu_ns`.
    pub(super) fn until(
        self,
        end: Self,
        role: Role,
        meter: Meter,
        calls: Option<u64>,
        cpu_ns: u64,
    ) -> RoleUsage {
        let Times { user_ns, system_ns } = self.times.scaled(end.times, cpu_ns);
        RoleUsage {
            role,
            user_ns,
            system_ns,
            minor_faults: end.minor_faults - self.minor_faults,
            voluntary_switches: end.voluntary_switches - self.voluntary_switches,
            involuntary_switches: end.involuntary_switches - self.involuntary_switches,
            calls,
            short_writes: meter.short_writes,
            short_reads: meter.short_reads,
            cpu_ns: Some(cpu_ns),
            run_delay_ns: None,
        }
    }
}

fn nanoseconds(time: libc::timeval) -> u64 {
    #[allow(clippy::useless_conversion, reason = "not 64 bits on every platform")]
    let microseconds: u64 = time.tv_usec.unsigned_abs().into();
    time.tv_sec.unsigned_abs() * 1_000_000_000 + microseconds * 1_000
}

/// Time the calling thread was runnable but not running, ns: the second field of its `schedstat`.
pub(super) fn run_delay_ns() -> Option<u64> {
    let text = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_ascii_whitespace().nth(1)?.parse().ok()
}

/// Time the host has stolen from `cpus` (all if empty) since boot, ns: the eighth field of their lines in `/proc/stat`,
/// in ticks. `None` if that cannot be read.
#[must_use]
pub fn steal_ns(cpus: &[u32]) -> Option<u64> {
    let text = fs::read_to_string("/proc/stat").ok()?;
    let ticks_per_s = rustix::param::clock_ticks_per_second();
    let names: Vec<String> = match cpus {
        [] => vec!["cpu".to_owned()],
        cpus => cpus.iter().map(|cpu| format!("cpu{cpu}")).collect(),
    };
    let mut ticks = 0_u64;
    for line in text.lines() {
        let mut fields = line.split_ascii_whitespace();
        if fields.next().is_some_and(|name| names.iter().any(|wanted| wanted == name)) {
            ticks += fields.nth(7)?.parse::<u64>().ok()?;
        }
    }
    Some(ticks * 1_000_000_000 / ticks_per_s)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mechanism::find;

    fn spin(least_ns: u64) {
        let begin = crate::clock::now_ns();
        while crate::clock::now_ns() - begin < least_ns {}
    }

    /// Use of `whose` while `work` runs, as a peer reports it.
    fn used(whose: RusageScope, work: impl FnOnce()) -> RoleUsage {
        let (start, before_ns) = (Usage::now(whose), whose.cpu_ns());
        work();
        let (end, after_ns) = (Usage::now(whose), whose.cpu_ns());
        start.until(end, Role::Both, Meter::default(), None, after_ns - before_ns)
    }

    #[test]
    fn user_and_system_time_are_the_clocks_time_split() {
        for least_ns in [1_000, 100_000, 20_000_000] {
            let used = used(RusageScope::Thread, || spin(least_ns));
            assert_eq!(Some(used.user_ns + used.system_ns), used.cpu_ns, "{used:?}");
        }
    }

    #[test]
    fn the_threads_own_clock_is_exact() {
        let (begin, before) = (crate::clock::now_ns(), RusageScope::Thread.cpu_ns());
        // Until the thread has run for that long, however long other programs keep it waiting.
        while RusageScope::Thread.cpu_ns() - before < 1_000_000 {}
        let (used, passed) =
            (RusageScope::Thread.cpu_ns() - before, crate::clock::now_ns() - begin);
        // The system may adjust the speed of the other clock meanwhile, by less than this.
        assert!(used - used / 10 <= passed, "{used} {passed}");
    }

    #[test]
    fn the_use_of_library_threads_counts_for_the_peer() {
        let whose = RusageScope::from_helper(find(&"zeromq".into()).unwrap().helper);
        let others_ns = whose.other_threads_cpu_ns();
        let used = used(whose, || std::thread::spawn(|| spin(20_000_000)).join().unwrap());
        assert!(used.user_ns + used.system_ns > 1_000_000, "{used:?}");
        assert!(whose.other_threads_cpu_ns() - others_ns > 1_000_000);
        assert_eq!(
            RusageScope::from_helper(find(&"pipe".into()).unwrap().helper).other_threads_cpu_ns(),
            0
        );
    }

    #[test]
    fn steal_time_can_be_read() {
        assert!(steal_ns(&[]).is_some());
        assert!(steal_ns(&[0]) <= steal_ns(&[]));
    }
}
