//! Resource use of a broker process, read from `/proc/PID`.
//!
//! The broker is another program and has no marks around the timed region. The sender reads these files just before and
//! just after it ([proc_pid_stat(5)](https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html),
//! [proc_pid_status(5)](https://man7.org/linux/man-pages/man5/proc_pid_status.5.html)).

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use ipcperf_model::{Role, RoleUsage};

use super::split::Times;

/// One reading of a process's counters.
#[derive(Clone, Debug)]
pub(crate) struct ProcPid {
    times: Times,
    minor_faults: u64,
    threads: BTreeMap<String, ThreadCounters>,
}

impl ProcPid {
    /// Reads the counters of process `pid`; `None` if it is gone or not visible.
    pub(crate) fn read(pid: u32) -> Option<Self> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The second field, the program's name, may contain spaces and brackets.
        let after_name: Vec<&str> = stat.rsplit_once(')')?.1.split_ascii_whitespace().collect();
        let field = |number: usize| after_name.get(number - 3)?.parse::<u64>().ok();
        let ns_per_tick = 1_000_000_000 / rustix::param::clock_ticks_per_second();
        let ns_in = |number: usize| Some(field(number)?.saturating_mul(ns_per_tick));
        let threads = fs::read_dir(format!("/proc/{pid}/task")).ok()?.flatten();
        let thread = |task: fs::DirEntry| {
            Some((task.file_name().into_string().ok()?, ThreadCounters::read(&task.path())?))
        };
        Some(Self {
            times: Times { user_ns: ns_in(14)?, system_ns: ns_in(15)? },
            minor_faults: field(10)?,
            threads: threads.filter_map(thread).collect(),
        })
    }

    /// Use from `self` to `end`. CPU time is exact, except for threads that ended before `end`. If the kernel keeps no
    /// exact time, user and system time are counted in ticks, of which a short run has few.
    pub(crate) fn until(&self, end: &Self) -> RoleUsage {
        let threads: Vec<ThreadCounters> = end
            .threads
            .iter()
            .map(|(id, thread)| {
                thread.since(&self.threads.get(id).copied().unwrap_or(ThreadCounters::ZERO))
            })
            .collect();
        let cpu_ns: Option<u64> = threads.iter().map(|thread| thread.cpu_ns).sum();
        let Times { user_ns, system_ns } = match cpu_ns {
            Some(cpu_ns) => self.times.scaled(end.times, cpu_ns),
            None => self.times.until(end.times),
        };
        RoleUsage {
            role: Role::Broker,
            user_ns,
            system_ns,
            minor_faults: end.minor_faults.saturating_sub(self.minor_faults),
            voluntary_switches: threads.iter().map(|thread| thread.voluntary_switches).sum(),
            involuntary_switches: threads.iter().map(|thread| thread.involuntary_switches).sum(),
            calls: None,
            short_writes: 0,
            short_reads: 0,
            cpu_ns,
            run_delay_ns: threads.iter().map(|thread| thread.run_delay_ns).sum(),
        }
    }
}

/// Per-thread counters, for which the kernel keeps no sum per process. The counts of a thread are lost when it ends, so
/// a sum over the existing threads can fall.
#[derive(Clone, Copy, Debug)]
struct ThreadCounters {
    voluntary_switches: u64,
    involuntary_switches: u64,
    cpu_ns: Option<u64>,
    run_delay_ns: Option<u64>,
}

impl ThreadCounters {
    /// Counters of a thread that had not started.
    const ZERO: Self = Self {
        voluntary_switches: 0,
        involuntary_switches: 0,
        cpu_ns: Some(0),
        run_delay_ns: Some(0),
    };

    fn read(task: &Path) -> Option<Self> {
        let status = fs::read_to_string(task.join("status")).ok()?;
        let count = |name: &str| {
            status.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok())
        };
        let schedstat = fs::read_to_string(task.join("schedstat")).unwrap_or_default();
        let mut times = schedstat.split_ascii_whitespace().map(|word| word.parse().ok());
        Some(Self {
            voluntary_switches: count("voluntary_ctxt_switches:")?,
            involuntary_switches: count("nonvoluntary_ctxt_switches:")?,
            cpu_ns: times.next().flatten(),
            run_delay_ns: times.next().flatten(),
        })
    }

    fn since(&self, before: &Self) -> Self {
        let used = |now: u64, before: u64| now.saturating_sub(before);
        Self {
            voluntary_switches: used(self.voluntary_switches, before.voluntary_switches),
            involuntary_switches: used(self.involuntary_switches, before.involuntary_switches),
            cpu_ns: self.cpu_ns.zip(before.cpu_ns).map(|(now, before)| used(now, before)),
            run_delay_ns: self
                .run_delay_ns
                .zip(before.run_delay_ns)
                .map(|(now, before)| used(now, before)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_use_of_this_process_is_counted() {
        let before = ProcPid::read(std::process::id()).unwrap();
        let begin = crate::clock::now_ns();
        while crate::clock::now_ns() - begin < 50_000_000 {}
        let used = before.until(&ProcPid::read(std::process::id()).unwrap());
        assert_eq!(used.role, Role::Broker);
        assert_eq!(used.calls, None);
        let sum_ns = used.user_ns + used.system_ns;
        assert!(sum_ns > 1_000_000 && used.cpu_ns.is_none_or(|ns| ns == sum_ns), "{used:?}");
    }

    #[test]
    fn a_thread_that_ended_does_not_reduce_the_sum() {
        let thread = |cpu_ns| ThreadCounters { cpu_ns: Some(cpu_ns), ..ThreadCounters::ZERO };
        let counters = |threads: &[(&str, u64)]| ProcPid {
            times: Times::default(),
            minor_faults: 0,
            threads: threads.iter().map(|&(id, ns)| (id.to_owned(), thread(ns))).collect(),
        };
        let used = counters(&[("1", 50), ("2", 9_000)]).until(&counters(&[("1", 80), ("3", 7)]));
        assert_eq!(used.cpu_ns, Some(37));
    }

    #[test]
    fn a_process_that_is_gone_has_no_counters() {
        assert!(ProcPid::read(u32::MAX).is_none());
    }
}
