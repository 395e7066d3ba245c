//! The role broker: what a process between the parties used, read from the kernel's books on it.
//!
//! It is another's program and has no marks around the timed region; the sender's party reads its
//! books just before and just after, in `/proc/PID`
//! ([proc_pid_stat(5)](https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html),
//! [proc_pid_status(5)](https://man7.org/linux/man-pages/man5/proc_pid_status.5.html)).

use std::fs;
use std::path::Path;

use crate::{Role, RoleUsage};

/// One reading of a process's books.
#[derive(Clone, Copy, Debug)]
pub(super) struct Books {
    user_ticks: u64,
    system_ticks: u64,
    minor_faults: u64,
    voluntary_switches: u64,
    involuntary_switches: u64,
    cpu_ns: Option<u64>,
    run_delay_ns: Option<u64>,
}

impl Books {
    /// What process `pid` has used so far; `None` where it is gone or cannot be seen.
    pub(super) fn of(pid: u32) -> Option<Self> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The second field, the program's name, may hold spaces and brackets.
        let after_name: Vec<&str> = stat.rsplit_once(')')?.1.split_ascii_whitespace().collect();
        let field = |number: usize| after_name.get(number - 3)?.parse().ok();
        let threads = fs::read_dir(format!("/proc/{pid}/task")).ok()?;
        let threads: Vec<Thread> =
            threads.flatten().filter_map(|thread| Thread::of(&thread.path())).collect();
        Some(Self {
            user_ticks: field(14)?,
            system_ticks: field(15)?,
            minor_faults: field(10)?,
            voluntary_switches: threads.iter().map(|thread| thread.voluntary_switches).sum(),
            involuntary_switches: threads.iter().map(|thread| thread.involuntary_switches).sum(),
            cpu_ns: threads.iter().map(|thread| thread.cpu_ns).sum(),
            run_delay_ns: threads.iter().map(|thread| thread.run_delay_ns).sum(),
        })
    }

    /// What was used from `self` to `end`. User and system time are kept in ticks, of which a short
    /// run has few; the CPU time is exact.
    pub(super) fn until(self, end: Self) -> RoleUsage {
        let ns_per_tick = 1_000_000_000 / rustix::param::clock_ticks_per_second();
        let used = |before: Option<u64>, after: Option<u64>| {
            before.zip(after).map(|(before, after)| after.saturating_sub(before))
        };
        RoleUsage {
            role: Role::Broker,
            user_ns: end.user_ticks.saturating_sub(self.user_ticks) * ns_per_tick,
            system_ns: end.system_ticks.saturating_sub(self.system_ticks) * ns_per_tick,
            minor_faults: end.minor_faults.saturating_sub(self.minor_faults),
            voluntary_switches: end.voluntary_switches.saturating_sub(self.voluntary_switches),
            involuntary_switches: end
                .involuntary_switches
                .saturating_sub(self.involuntary_switches),
            calls: None,
            short_writes: 0,
            short_reads: 0,
            cpu_ns: used(self.cpu_ns, end.cpu_ns),
            run_delay_ns: used(self.run_delay_ns, end.run_delay_ns),
        }
    }
}

/// What the kernel counts for each thread, and sums up nowhere.
struct Thread {
    voluntary_switches: u64,
    involuntary_switches: u64,
    cpu_ns: Option<u64>,
    run_delay_ns: Option<u64>,
}

impl Thread {
    fn of(task: &Path) -> Option<Self> {
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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_this_process_uses_stands_in_its_books() {
        let before = Books::of(std::process::id()).unwrap();
        let begin = crate::clock::now_ns();
        while crate::clock::now_ns() - begin < 50_000_000 {}
        let used = before.until(Books::of(std::process::id()).unwrap());
        assert_eq!(used.role, Role::Broker);
        assert_eq!(used.calls, None);
        let ticked_ns = used.user_ns + used.system_ns;
        assert!(used.cpu_ns.is_none_or(|ns| ns > 1_000_000) && ticked_ns > 0, "{used:?}");
    }

    #[test]
    fn a_process_that_is_gone_has_none() {
        assert!(Books::of(u32::MAX).is_none());
    }
}
