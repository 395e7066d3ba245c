//! Pinning of this program, and thereby of its children, to one CPU.

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use crate::error::BenchError;

/// Pins this thread and its children to one CPU while it exists, for tools that do not pin themselves. Our runs are
/// started in the same way.
#[derive(Debug)]
pub(super) struct Pinned {
    before: CpuSet,
}

impl Pinned {
    /// Pins this thread to `cpu`.
    pub(super) fn to(cpu: u32) -> Result<Self, BenchError> {
        let failed = |errno| BenchError::System("pinning to one CPU", errno);
        let before = sched_getaffinity(None).map_err(failed)?;
        let mut only = CpuSet::new();
        only.set(cpu as usize);
        sched_setaffinity(None, &only).map_err(failed)?;
        Ok(Self { before })
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        // Fails if the earlier CPUs are no longer allowed; then the pinning stays.
        let _ = sched_setaffinity(None, &self.before);
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    /// Returns the CPUs that a child of this thread may use, in the kernel's notation.
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
