//! Who had a CPU during a pair: we and what we started, or others.
//!
//! The kernel counts both in ticks of 10 ms, so that a pair of half a second can be told to be
//! disturbed from about 4 % on.

use std::fs;

use rustix::param::clock_ticks_per_second;

/// Most of a pair that others may have the CPU.
const MOST_SHARE: f64 = 0.02;
/// Below so many ticks the count itself is not sure: two counts, each rounded.
const SURE_TICKS: u64 = 3;

/// What was counted at one moment, in ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Occupancy {
    /// The CPU was not idle, or was stolen.
    busy: u64,
    /// This process and its children that were reaped, on any CPU.
    own: u64,
    /// The clock on the wall.
    now: u64,
}

impl Occupancy {
    /// Looks now. `None` where the kernel does not say.
    pub(super) fn of(cpu: u32) -> Option<Self> {
        let own = own_ticks(&fs::read_to_string("/proc/self/stat").ok()?)?;
        let busy = busy_ticks(&fs::read_to_string("/proc/stat").ok()?, cpu)?;
        let uptime = fs::read_to_string("/proc/uptime").ok()?;
        // Hundredths of a second, whatever a tick is.
        let hundredths: u64 = uptime.split_whitespace().next()?.replace('.', "").parse().ok()?;
        Some(Self { busy, own, now: hundredths * clock_ticks_per_second() / 100 })
    }

    /// Whether others had the CPU between `before` and now for more than they may.
    pub(super) fn is_disturbed_since(self, before: Self) -> bool {
        let busy = self.busy.saturating_sub(before.busy);
        let others = busy.saturating_sub(self.own.saturating_sub(before.own));
        let wall = self.now.saturating_sub(before.now);
        others >= SURE_TICKS && super::float(others) > MOST_SHARE * super::float(wall)
    }
}

/// From `/proc/stat`: all of a CPU's columns up to stolen time, but idle and waiting for a disk.
fn busy_ticks(text: &str, cpu: u32) -> Option<u64> {
    let name = format!("cpu{cpu} ");
    let line = text.lines().find_map(|line| line.strip_prefix(&name))?;
    let ticks: Vec<u64> = line.split_whitespace().map_while(|word| word.parse().ok()).collect();
    let (idle, all) = (ticks.get(3..5)?, ticks.get(..8)?);
    Some(all.iter().sum::<u64>() - idle.iter().sum::<u64>())
}

/// From `/proc/self/stat`: user and system time, own and of children. The name in brackets before
/// them may hold anything.
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
        let first = Occupancy::of(0).unwrap();
        assert!(Occupancy::of(0).unwrap().now >= first.now);
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
