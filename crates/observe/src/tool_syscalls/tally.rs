//! Aggregates individual system calls into the result rows of a role.

use std::collections::BTreeMap;

use ipcperf_model::instrument::tool_calls::ToolCallRow;
use ipcperf_model::log2_histogram;
use ipcperf_model::log2_histogram::ROWS;
use ipcperf_model::observation::Observation;

use crate::Targets;
use crate::syscall_table::returns_bytes;

/// Calls of one kind, counted one by one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    count: u64,
    errors: u64,
    returned: u64,
    /// Number of calls by duration, ns.
    times: BTreeMap<u64, u64>,
}

impl Tally {
    /// Counts a call that returned `returned` (`None` if it failed) after `ns`, if that is known.
    pub(crate) fn add(&mut self, returned: Option<u64>, ns: Option<u64>) {
        self.count += 1;
        self.errors += u64::from(returned.is_none());
        self.returned = self.returned.wrapping_add(returned.unwrap_or(0));
        if let Some(ns) = ns {
            *self.times.entry(ns).or_default() += 1;
        }
    }

    /// Adds the counts of `other`.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.errors += other.errors;
        self.returned = self.returned.wrapping_add(other.returned);
        for (&ns, &count) in &other.times {
            *self.times.entry(ns).or_default() += count;
        }
    }

    /// Returns the row of `syscall`.
    pub(crate) fn to_row(&self, syscall: &str) -> ToolCallRow {
        let timed: u64 = self.times.values().sum();
        let total_ns = self.times.iter().map(|(ns, count)| ns * count).sum();
        ToolCallRow {
            syscall: syscall.to_owned(),
            count: self.count,
            errors: Some(self.errors),
            returned_bytes: syscall.parse().is_ok_and(returns_bytes).then_some(self.returned),
            total_ns: (timed > 0).then_some(total_ns),
            mean_ns: u64::checked_div(total_ns, timed),
            median_ns: self.median_ns(timed),
            log2_histogram_ns: (timed > 0).then(|| self.log2_histogram_ns()),
        }
    }

    fn median_ns(&self, timed: u64) -> Option<u64> {
        let mut before = 0;
        let mut times = self.times.iter();
        let median = times.find(|(_, count)| {
            before += **count;
            before * 2 >= timed
        });
        median.map(|(&ns, _)| ns)
    }

    fn log2_histogram_ns(&self) -> Vec<(u64, u64)> {
        let mut counts = [0; ROWS];
        for (&ns, &count) in &self.times {
            counts[log2_histogram::row(ns)] += count;
        }
        log2_histogram::pairs(&counts)
    }
}

/// Sorts rows by count, the most frequent first.
fn sort_by_count(mut rows: Vec<ToolCallRow>) -> Vec<ToolCallRow> {
    rows.sort_by(|one, other| {
        other.count.cmp(&one.count).then_with(|| one.syscall.cmp(&other.syscall))
    });
    rows
}

/// Returns the observations for `rows`, given for each of `targets` in order.
pub(crate) fn observations(targets: &Targets, rows: Vec<Vec<ToolCallRow>>) -> Vec<Observation> {
    let roles = targets.members.iter().map(|member| member.role.as_str());
    let to_observations = |(role, rows): (_, Vec<ToolCallRow>)| {
        sort_by_count(rows).into_iter().map(move |row| Observation::from_row(Some(role), &row))
    };
    roles.zip(rows).flat_map(to_observations).collect()
}

#[cfg(test)]
mod tests {
    use syscalls::Sysno;

    use super::*;
    use crate::syscall_table::by_number;

    #[test]
    fn single_times_become_a_row() {
        let mut tally = Tally::default();
        for (returned, ns) in [(Some(100), 40), (Some(28), 10), (None, 10), (Some(0), 60)] {
            tally.add(returned, Some(ns));
        }
        let row = tally.to_row("read");
        assert_eq!((row.count, row.errors, row.returned_bytes), (4, Some(1), Some(128)));
        assert_eq!((row.total_ns, row.mean_ns, row.median_ns), (Some(120), Some(30), Some(10)));
        assert_eq!(row.log2_histogram_ns, Some(vec![(8, 2), (16, 0), (32, 2)]));
        assert_eq!(tally.to_row("futex").returned_bytes, None);
    }

    #[test]
    fn what_has_no_time_has_no_mean() {
        let mut tally = Tally::default();
        tally.add(None, None);
        let row = tally.to_row("exit");
        assert_eq!((row.count, row.total_ns, row.mean_ns, row.median_ns), (1, None, None, None));
        assert_eq!(row.log2_histogram_ns, None);
    }

    #[test]
    fn instruments_agree_on_which_calls_return_bytes() {
        for call in Sysno::iter() {
            let by_name = Tally::default().to_row(call.name()).returned_bytes.is_some();
            let by_number = by_number(call.id().into()).is_some_and(returns_bytes);
            assert_eq!(by_name, by_number, "{call}");
        }
    }

    /// Regression test: `getrandom` and `getdents64` were missing where calls are known by name.
    #[test]
    fn what_getrandom_returns_is_bytes() {
        let mut tally = Tally::default();
        tally.add(Some(16), None);
        assert_eq!(tally.to_row("getrandom").returned_bytes, Some(16));
        assert_eq!(tally.to_row("getdents64").returned_bytes, Some(16));
    }
}
