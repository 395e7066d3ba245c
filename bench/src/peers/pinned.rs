//! This program on one CPU, and so everything it starts meanwhile.

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use crate::trouble::Trouble;

/// As long as it lives, this thread and what it starts stay on one CPU: the tools that pin nothing
/// themselves inherit it. So does ours, which is then started under the same condition.
#[derive(Debug)]
pub(super) struct Pinned {
    before: CpuSet,
}

impl Pinned {
    /// Goes to `cpu`.
    pub(super) fn to(cpu: u32) -> Result<Self, Trouble> {
        let failed = |errno| Trouble::System("going to one CPU", errno);
        let before = sched_getaffinity(None).map_err(failed)?;
        let mut only = CpuSet::new();
        only.set(cpu as usize);
        sched_setaffinity(None, &only).map_err(failed)?;
        Ok(Self { before })
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        // A set that was allowed before and no longer is leaves this program where it is.
        let _ = sched_setaffinity(None, &self.before);
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    /// The CPUs that a child of this thread may use, as the kernel writes them.
    fn of_a_child() -> String {
        let said = Command::new("cat").arg("/proc/self/status").output().unwrap().stdout;
        let text = String::from_utf8(said).unwrap();
        let line = text.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
        line.unwrap().trim().to_owned()
    }

    #[test]
    fn what_is_started_meanwhile_is_pinned_and_what_comes_later_is_not() {
        let before = of_a_child();
        let first = before.split([',', '-']).next().unwrap().to_owned();
        {
            let _pinned = Pinned::to(first.parse().unwrap()).unwrap();
            assert_eq!(of_a_child(), first);
        }
        assert_eq!(of_a_child(), before);
    }
}
