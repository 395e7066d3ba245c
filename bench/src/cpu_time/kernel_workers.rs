//! CPU time of the kernel threads that serve work queues.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

/// Beginning of the name of such a thread.
const NAME: &str = "kworker/";

/// CPU time of each thread at one moment, ns.
#[derive(Debug)]
pub(super) struct KernelWorkers(HashMap<u32, u64>);

impl KernelWorkers {
    /// Reads the time of all threads. In a container there are none.
    pub(super) fn read() -> Self {
        let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
        let numbers = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        Self(numbers.filter_map(|number| Some((number, cpu_ns(number)?))).collect())
    }

    /// Whether no thread is visible.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the time that all threads have used since `before`, ns. The whole time of a new thread counts; what a thread
    /// used that has ended since is lost.
    #[allow(clippy::cast_precision_loss, reason = "seconds in ns, good to 53 bits")]
    pub(super) fn since(&self, before: &Self) -> f64 {
        let used = |(number, now): (&u32, &u64)| {
            now.saturating_sub(before.0.get(number).copied().unwrap_or(0)) as f64
        };
        self.0.iter().map(used).sum()
    }
}

/// Returns the CPU time of thread `number` if it serves a work queue.
fn cpu_ns(number: u32) -> Option<u64> {
    let folder = Path::new("/proc").join(number.to_string());
    let name = fs::read_to_string(folder.join("comm")).ok()?;
    name.starts_with(NAME).then_some(())?;
    let times = fs::read_to_string(folder.join("schedstat")).ok()?;
    times.split_ascii_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_thread_counts_whole_and_one_that_ended_not_at_all() {
        let before = KernelWorkers([(1, 100), (2, 50)].into());
        let now = KernelWorkers([(1, 130), (3, 7)].into());
        assert!((now.since(&before) - 37.0).abs() < f64::EPSILON);
    }
}
