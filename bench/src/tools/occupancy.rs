//! Use of a CPU during a pair: by us and our children, or by others.
//!
//! The kernel counts both in ticks of 10 ms, so disturbances of a pair of half a second can be detected from about 4 %.

use std::fs;

use rustix::param::clock_ticks_per_second;

/// Maximum share of a pair in which others may use the CPU.
const MAX_SHARE: f64 = 0.02;
/// Minimum difference in ticks that is significant: two counts, each rounded.
const MIN_TICKS: u64 = 3;

/// Counts at one moment, in ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Occupancy {
    /// Time in which the CPU was not idle, or was stolen.
    busy: u64,
    /// CPU time of this process and its reaped children, on any CPU.
    own: u64,
    /// Elapsed time.
    now: u64,
}

impl Occupancy {
    /// Reads the counts; `None` if the kernel does not provide them.
    pub(super) fn read(cpu: u32) -> Option<Self> {
        let own = own_ticks(&fs::read_to_string("/proc/self/stat").ok()?)?;
        let busy = busy_ticks(&fs::read_to_string("/proc/stat").ok()?, cpu)?;
        let uptime = fs::read_to_string("/proc/uptime").ok()?;
        // Hundredths of a second, whatever the tick length.
        let hundredths: u64 = uptime.split_whitespace().next()?.replace('.', "").parse().ok()?;
        Some(Self { busy, own, now: hundredths * clock_ticks_per_second() / 100 })
    }

    /// Whether others used the CPU since `before` for more than the allowed share.
    pub(super) fn is_disturbed_since(self, before: Self) -> bool {
        let busy = self.busy.saturating_sub(before.busy);
        let others = busy.saturating_sub(self.own.saturating_sub(before.own));
        let wall = self.now.saturating_sub(before.now);
        others >= MIN_TICKS && super::float(others) > MAX_SHARE * super::float(wall)
    }
}

/// Parses `/proc/stat`: the sum of a CPU's columns up to steal, without idle and iowait.
fn busy_ticks(text: &str, cpu: u32) -> Option<u64> {
    let name = format!("cpu{cpu} ");
    let line = text.lines().find_map(|line| line.strip_prefix(&name))?;
    let ticks: Vec<u64> = line.split_whitespace().map_while(|word| word.parse().ok()).collect();
    let (idle, all) = (ticks.get(3..5)?, ticks.get(..8)?);
    Some(all.iter().sum::<u64>() - idle.iter().sum::<u64>())
}

/// Parses `/proc/self/stat`: user and system time of the process and its children. The name in brackets before them may
/// contain any character.
fn own_ticks(text: &str) -> Option<u64> {
    let (_, after) = text.rsplit_once(')')?;
    let words = after.split_whitespace().skip(11);
    let ticks: Vec<u64> = words.map_while(|word| word.parse().ok()).collect();
    Some(ticks.get(..4)?.iter().sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_added_as_the_manual_names_them() {
        let text = "cpu  9 9 9 9 9 9 9 9 9 9\ncpu0 1 2 3 1000 2000 4 5 6 70 80\ncpu10 1\n";
        assert_eq!(busy_ticks(text, 0), Some(1 + 2 + 3 + 4 + 5 + 6));
        assert_eq!(busy_ticks(text, 1), None);
        assert_eq!(busy_ticks(text, 10), None);
        let text = "7 (a) b) c) S 1 2 3 4 5 6 7 8 9 10 100 200 300 400 20 0";
        assert_eq!(own_ticks(text), Some(1_000));
        assert_eq!(own_ticks("7 (a) S 1 2"), None);
    }

    #[test]
    fn this_machine_says() {
        let first = Occupancy::read(0).unwrap();
        assert!(Occupancy::read(0).unwrap().now >= first.now);
    }

    #[test]
    fn a_pair_is_disturbed_by_others_and_not_by_itself() {
        let before = Occupancy { busy: 100, own: 50, now: 1_000 };
        let after = |busy: u64, own: u64| Occupancy { busy: 100 + busy, own: 50 + own, now: 1_060 };
        assert!(!after(60, 60).is_disturbed_since(before));
        assert!(!after(58, 60).is_disturbed_since(before));
        assert!(!after(60, 58).is_disturbed_since(before));
        assert!(after(60, 57).is_disturbed_since(before));
        let long = Occupancy { now: 1_200, ..after(160, 157) };
        assert!(!long.is_disturbed_since(before));
    }
}
