//! Placements, resolved against the machine's topology and the allowed cpuset.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use ipcperf_model::placement::Placement;
use rustix::io::Errno;

use crate::platform::affinity::{CAN_PIN, CpuSet, sched_getaffinity, sched_setaffinity};

/// Reason why a placement is not available.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlacementError {
    /// The requested CPU is not in the cpuset.
    #[error("CPU {cpu} is outside the allowed CPUs ({allowed})")]
    OutsideCpuset {
        /// Requested CPU.
        cpu: u32,
        /// Allowed CPUs.
        allowed: String,
    },
    /// The system pins no threads.
    #[error(
        "placement {placement} needs to pin threads to CPUs, which this system has no call for; \
            use placement free"
    )]
    CannotPin {
        /// Requested placement.
        placement: Placement,
    },
    /// The topology has no such pair among the allowed CPUs.
    #[error(
        "placement {placement} needs {needs}, which the allowed CPUs ({allowed}) do not have; same and free need only one CPU"
    )]
    NoSuchPair {
        /// Requested placement.
        placement: Placement,
        /// CPUs that it needs.
        needs: &'static str,
        /// Allowed CPUs.
        allowed: String,
    },
}

/// One CPU and what it shares with others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cpu {
    /// CPU number.
    pub number: u32,
    /// Hardware threads of the same core, including this one.
    pub core: BTreeSet<u32>,
    /// CPUs that share its last-level cache, including this one.
    pub llc: BTreeSet<u32>,
    /// NUMA node.
    pub node: Option<u32>,
}

/// Allowed CPUs of this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topology {
    /// CPUs in ascending order of number.
    pub cpus: Vec<Cpu>,
}

impl Topology {
    /// Reads the CPUs that this process may use and their description in sysfs. Resources that sysfs does not describe
    /// are assumed not to be shared.
    ///
    /// # Errors
    /// Returns the system's error if the affinity cannot be read.
    pub fn read() -> Result<Self, Errno> {
        let allowed = sched_getaffinity(None)?;
        let numbers = (0..CpuSet::MAX_CPU).filter(|&cpu| allowed.is_set(cpu));
        let cpus = numbers.filter_map(|cpu| u32::try_from(cpu).ok()).map(read_cpu).collect();
        Ok(Self { cpus })
    }

    /// Allowed CPUs in the kernel's list notation, such as `0-3,8`.
    #[must_use]
    pub fn allowed(&self) -> String {
        let mut ranges: Vec<(u32, u32)> = Vec::new();
        for cpu in &self.cpus {
            match ranges.last_mut() {
                Some((_, end)) if *end + 1 == cpu.number => *end = cpu.number,
                _ => ranges.push((cpu.number, cpu.number)),
            }
        }
        let words = ranges.iter().map(|(start, end)| match end - start {
            0 => start.to_string(),
            _ => format!("{start}-{end}"),
        });
        words.collect::<Vec<_>>().join(",")
    }

    /// Returns the CPUs of sender and receiver under `placement`; `None` for [`Placement::Free`].
    ///
    /// # Errors
    /// Returns an error for a CPU outside the cpuset, or a pair that the topology does not have.
    pub fn resolve(&self, placement: Placement) -> Result<Option<[u32; 2]>, PlacementError> {
        let no_such =
            |needs| PlacementError::NoSuchPair { placement, needs, allowed: self.allowed() };
        if !CAN_PIN && placement != Placement::Free {
            return Err(PlacementError::CannotPin { placement });
        }
        match placement {
            Placement::Free => Ok(None),
            Placement::Same => {
                let first = self.cpus.first().ok_or_else(|| no_such("one CPU"))?;
                Ok(Some([first.number; 2]))
            }
            Placement::Split => self.pair(|_, _| true, || no_such("two CPUs")),
            Placement::Smt => {
                self.pair(|a, b| a.core.contains(&b.number), || no_such("two threads of one core"))
            }
            Placement::Llc => self.pair(
                |a, b| !a.core.contains(&b.number) && a.llc.contains(&b.number),
                || no_such("two cores that share a last-level cache"),
            ),
            Placement::Numa => self.pair(
                |a, b| a.node.is_some() && b.node.is_some() && a.node != b.node,
                || no_such("CPUs of two NUMA nodes"),
            ),
            Placement::Pair(sender, receiver) => self.explicit(sender, receiver),
        }
    }

    fn pair(
        &self,
        fits: impl Fn(&Cpu, &Cpu) -> bool,
        none: impl FnOnce() -> PlacementError,
    ) -> Result<Option<[u32; 2]>, PlacementError> {
        let pairs = self.cpus.iter().enumerate().flat_map(|(index, first)| {
            self.cpus[index + 1..].iter().map(move |second| (first, second))
        });
        let found = pairs.into_iter().find(|(first, second)| fits(first, second));
        found.map(|(first, second)| Some([first.number, second.number])).ok_or_else(none)
    }

    fn explicit(&self, sender: u32, receiver: u32) -> Result<Option<[u32; 2]>, PlacementError> {
        for cpu in [sender, receiver] {
            if !self.cpus.iter().any(|allowed| allowed.number == cpu) {
                return Err(PlacementError::OutsideCpuset { cpu, allowed: self.allowed() });
            }
        }
        Ok(Some([sender, receiver]))
    }
}

/// Pins the calling thread to `cpu`.
///
/// # Errors
/// Returns `EINVAL` if the cpuset does not have the CPU, or another error of the system.
pub fn pin(cpu: u32) -> Result<(), Errno> {
    set_affinity(&[cpu])
}

/// Restricts the calling thread to `cpus`. Makes one system call and allocates nothing.
///
/// # Errors
/// As for [`pin`].
pub fn set_affinity(cpus: &[u32]) -> Result<(), Errno> {
    let mut set = CpuSet::new();
    for number in cpus.iter().map(|&cpu| cpu as usize) {
        if number >= CpuSet::MAX_CPU {
            return Err(Errno::INVAL);
        }
        set.set(number);
    }
    sched_setaffinity(None, &set)
}

fn read_cpu(number: u32) -> Cpu {
    let folder = format!("/sys/devices/system/cpu/cpu{number}");
    let folder = Path::new(&folder);
    let alone = || BTreeSet::from([number]);
    let core = read_list(&folder.join("topology/thread_siblings_list")).unwrap_or_else(alone);
    let caches =
        (0..8).rev().map(|index| folder.join(format!("cache/index{index}/shared_cpu_list")));
    let llc = caches.into_iter().find_map(|path| read_list(&path)).unwrap_or_else(alone);
    Cpu { number, core, llc, node: read_node(folder) }
}

/// Reads the NUMA node of a CPU, whose folder has a link called `nodeN`.
fn read_node(folder: &Path) -> Option<u32> {
    let entries = fs::read_dir(folder).ok()?;
    entries
        .flatten()
        .find_map(|entry| entry.file_name().to_str()?.strip_prefix("node")?.parse().ok())
}

/// Reads a list of CPUs in the kernel's notation from `path`.
pub(crate) fn read_list(path: &Path) -> Option<BTreeSet<u32>> {
    parse_list(fs::read_to_string(path).ok()?.trim())
}

/// Parses the kernel's list notation, such as `0-3,8`.
fn parse_list(text: &str) -> Option<BTreeSet<u32>> {
    let mut cpus = BTreeSet::new();
    for range in text.split(',').filter(|range| !range.is_empty()) {
        let (start, end) = range.split_once('-').unwrap_or((range, range));
        cpus.extend(start.parse::<u32>().ok()?..=end.parse().ok()?);
    }
    Some(cpus)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two nodes of two cores of two threads each; CPU 0 is not allowed.
    fn eight() -> Topology {
        let cpu = |number: u32| Cpu {
            number,
            core: BTreeSet::from([number / 2 * 2, number / 2 * 2 + 1]),
            llc: (number / 4 * 4..number / 4 * 4 + 4).collect(),
            node: Some(number / 4),
        };
        Topology { cpus: (1..8).map(cpu).collect() }
    }

    #[test]
    fn placements_stay_within_the_allowed_cpus() {
        let topology = eight();
        let resolve = |placement| topology.resolve(placement).unwrap();
        assert_eq!(resolve(Placement::Same), Some([1, 1]));
        assert_eq!(resolve(Placement::Split), Some([1, 2]));
        assert_eq!(resolve(Placement::Smt), Some([2, 3]));
        assert_eq!(resolve(Placement::Llc), Some([1, 2]));
        assert_eq!(resolve(Placement::Numa), Some([1, 4]));
        assert_eq!(resolve(Placement::Free), None);
        assert_eq!(resolve(Placement::Pair(7, 1)), Some([7, 1]));
    }

    #[test]
    fn a_missing_pair_is_an_error() {
        let one = Topology { cpus: eight().cpus[..1].to_vec() };
        for placement in [Placement::Split, Placement::Smt, Placement::Llc, Placement::Numa] {
            let error = one.resolve(placement).unwrap_err().to_string();
            assert!(error.contains("allowed CPUs (1)"), "{error}");
        }
        let error = eight().resolve(Placement::Pair(0, 1)).unwrap_err().to_string();
        assert_eq!(error, "CPU 0 is outside the allowed CPUs (1-7)");
    }

    #[test]
    fn kernel_lists_are_read() {
        assert_eq!(parse_list("0-2,5").unwrap(), BTreeSet::from([0, 1, 2, 5]));
        assert_eq!(parse_list("0-x"), None);
    }
}
