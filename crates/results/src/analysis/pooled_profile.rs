//! Pools the profiles of several runs of one case: the result is what one run would have given that took the samples
//! of all of them.

use std::collections::BTreeMap;

use ipcperf_model::instrument::profile::{
    Group, GroupShare, ProfileRow, ProfileSummary, Space, Stack, SymbolShare,
};
use ipcperf_model::observation::{Observation, roles, rows_of};
use ipcperf_stats::wilson;

/// Profile of one role over several runs.
#[derive(Debug, Default)]
struct PooledProfile {
    summaries: Vec<ProfileSummary>,
    groups: BTreeMap<Group, PooledGroup>,
    symbols: Vec<PooledSymbol>,
    stacks: BTreeMap<String, u64>,
}

/// Samples of one group.
#[derive(Debug)]
struct PooledGroup {
    samples: u64,
    kernel_samples: Option<u64>,
    events: f64,
    inferred: bool,
}

/// Samples of one function; its share is that of the first run in which it occurs.
#[derive(Debug)]
struct PooledSymbol {
    first: SymbolShare,
    samples: u64,
    events: f64,
}

/// Pools the observations of `runs`. Numbers of samples and events add up; shares and their intervals are computed
/// from the sums.
pub(super) fn pool(runs: &[Vec<Observation>]) -> Vec<Observation> {
    let mut pooled = Vec::new();
    for role in roles_of_all(runs) {
        let mut profile = PooledProfile::default();
        runs.iter().for_each(|run| profile.add_run(rows_of(run, role)));
        let rows = profile.into_rows();
        pooled.extend(rows.iter().map(|row| Observation::from_row(Some(role), row)));
    }
    pooled
}

fn roles_of_all(runs: &[Vec<Observation>]) -> Vec<&str> {
    let mut all = Vec::new();
    for role in runs.iter().flat_map(|run| roles(run)) {
        if !all.contains(&role) {
            all.push(role);
        }
    }
    all
}

impl PooledProfile {
    fn add_run(&mut self, rows: Vec<ProfileRow>) {
        let events = rows.iter().find_map(|row| match row {
            ProfileRow::Summary(summary) => Some(to_f64(summary.events)),
            _ => None,
        });
        let mut places = self.symbol_places();
        for row in rows {
            match row {
                ProfileRow::Summary(summary) => self.summaries.push(summary),
                ProfileRow::Group(group) => self.add_group(&group, events.unwrap_or(0.0)),
                ProfileRow::Symbol(one) => {
                    self.add_symbol(one, events.unwrap_or(0.0), &mut places);
                }
                ProfileRow::Stack(stack) => {
                    let samples = self.stacks.entry(stack.stack).or_default();
                    *samples = samples.saturating_add(stack.samples);
                }
            }
        }
    }

    /// Returns the index of each function in `symbols`.
    fn symbol_places(&self) -> BTreeMap<(Space, String, String), usize> {
        self.symbols.iter().enumerate().map(|(at, one)| (symbol_key(&one.first), at)).collect()
    }

    /// Adds a group of a run with the given number of `events`.
    fn add_group(&mut self, group: &GroupShare, events: f64) {
        let empty =
            PooledGroup { samples: 0, kernel_samples: Some(0), events: 0.0, inferred: false };
        let pooled = self.groups.entry(group.group).or_insert(empty);
        pooled.samples = pooled.samples.saturating_add(group.samples);
        pooled.kernel_samples = add(pooled.kernel_samples, group.kernel_samples);
        pooled.events += group.share * events;
        pooled.inferred |= group.inferred;
    }

    /// Adds a function of a run with the given number of `events`.
    fn add_symbol(
        &mut self,
        one: SymbolShare,
        events: f64,
        places: &mut BTreeMap<(Space, String, String), usize>,
    ) {
        let place = *places.entry(symbol_key(&one)).or_insert(self.symbols.len());
        let (samples, events) = (one.samples, one.share * events);
        match self.symbols.get_mut(place) {
            Some(pooled) => {
                pooled.samples = pooled.samples.saturating_add(samples);
                pooled.events += events;
            }
            None => self.symbols.push(PooledSymbol { first: one, samples, events }),
        }
    }

    /// Returns the rows in the order of a single run: functions and stacks with the largest share first.
    fn into_rows(self) -> Vec<ProfileRow> {
        let Some(summary) = pool_summaries(&self.summaries) else { return Vec::new() };
        let (samples, events) = (summary.samples, to_f64(summary.events));
        let mut rows = vec![ProfileRow::Summary(summary)];
        if events > 0.0 {
            let groups = self.groups.into_iter();
            rows.extend(groups.map(|(group, one)| one.into_row(group, samples, events)));
        }
        let mut symbols: Vec<SymbolShare> =
            self.symbols.into_iter().map(|symbol| symbol.into_share(events)).collect();
        symbols.sort_by(|one, other| other.share.total_cmp(&one.share));
        rows.extend(symbols.into_iter().map(ProfileRow::Symbol));
        let mut stacks: Vec<Stack> =
            self.stacks.into_iter().map(|(stack, samples)| Stack { stack, samples }).collect();
        stacks.sort_by_key(|stack| std::cmp::Reverse(stack.samples));
        rows.extend(stacks.into_iter().map(ProfileRow::Stack));
        rows
    }
}

impl PooledGroup {
    /// Builds the row of `group`, where the role has the given numbers of `samples` and `events` in all.
    fn into_row(self, group: Group, samples: u64, events: f64) -> ProfileRow {
        let share = share(self.events, events);
        let (share_low, share_high) = wilson(share, samples);
        ProfileRow::Group(GroupShare {
            group,
            samples: self.samples,
            kernel_samples: self.kernel_samples,
            share,
            share_low,
            share_high,
            inferred: self.inferred,
        })
    }
}

impl PooledSymbol {
    /// Builds the share of the function in the given number of `events`.
    fn into_share(self, events: f64) -> SymbolShare {
        SymbolShare { samples: self.samples, share: share(self.events, events), ..self.first }
    }
}

fn symbol_key(symbol: &SymbolShare) -> (Space, String, String) {
    (symbol.space, symbol.object.clone(), symbol.symbol.clone())
}

/// Returns the description of the sampling in all `runs`, which have the same event; `None` if there are no runs.
fn pool_summaries(runs: &[ProfileSummary]) -> Option<ProfileSummary> {
    let sum =
        |count: fn(&ProfileSummary) -> u64| runs.iter().map(count).fold(0, u64::saturating_add);
    Some(ProfileSummary {
        samples: sum(|run| run.samples),
        events: sum(|run| run.events),
        kernel_samples: runs.iter().map(|run| run.kernel_samples).fold(Some(0), add),
        overwritten_ns: sum(|run| run.overwritten_ns),
        skid_share: pooled_skid(runs),
        cpu_time_coverage: pooled_coverage(runs),
        ..runs.first()?.clone()
    })
}

/// Returns the skid share of all samples; `None` if it is unknown for a run with samples.
fn pooled_skid(runs: &[ProfileSummary]) -> Option<f64> {
    let sampled = || runs.iter().filter(|run| run.events > 0);
    let skids = sampled().map(|run| Some(run.skid_share? * to_f64(run.events)));
    let skids = skids.sum::<Option<f64>>()?;
    let events: f64 = sampled().map(|run| to_f64(run.events)).sum();
    (events > 0.0).then(|| share(skids, events))
}

/// Returns the share of the CPU time of all runs that the samples stand for. `None` if the CPU time of a run is
/// unknown: a run without samples has a coverage of zero whatever its CPU time.
fn pooled_coverage(runs: &[ProfileSummary]) -> Option<f64> {
    let cpu_ns = runs.iter().map(|run| {
        let coverage = run.cpu_time_coverage.filter(|&coverage| coverage > 0.0)?;
        Some(to_f64(run.events) / coverage)
    });
    let cpu_ns = cpu_ns.sum::<Option<f64>>()?;
    let events: f64 = runs.iter().map(|run| to_f64(run.events)).sum();
    (cpu_ns > 0.0).then(|| events / cpu_ns)
}

/// Returns the sum of two counts; `None` if one of them is unknown.
fn add(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    Some(one?.saturating_add(other?))
}

/// Returns `part` divided by `all`, at most 1 despite rounding.
fn share(part: f64, all: f64) -> f64 {
    if all > 0.0 { (part / all).min(1.0) } else { 0.0 }
}

#[allow(clippy::cast_precision_loss, reason = "weights of shares, good to 53 bits")]
fn to_f64(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use ipcperf_model::instrument::profile::{KernelSymbols, SampledThreads};

    use super::*;

    fn summary(samples: u64, events: u64) -> ProfileSummary {
        ProfileSummary {
            event: "cpu-clock".to_owned(),
            frequency_hz: 1_999,
            sampled: SampledThreads::Cpus,
            samples,
            events,
            kernel_samples: Some(samples / 2),
            overwritten_ns: 3,
            kernel_symbols: Some(KernelSymbols::Read),
            skid_share: Some(0.5),
            cpu_time_coverage: Some(0.5),
        }
    }

    fn group(group: Group, samples: u64, share: f64) -> ProfileRow {
        let (share_low, share_high) = (0.0, 1.0);
        let kernel_samples = Some(samples);
        let inferred = false;
        ProfileRow::Group(GroupShare {
            group,
            samples,
            kernel_samples,
            share,
            share_low,
            share_high,
            inferred,
        })
    }

    fn symbol(name: &str, samples: u64, share: f64) -> ProfileRow {
        ProfileRow::Symbol(SymbolShare {
            symbol: name.to_owned(),
            space: Space::Kernel,
            object: "vmlinux".to_owned(),
            group: Group::Other,
            samples,
            share,
        })
    }

    fn stack(stack: &str, samples: u64) -> ProfileRow {
        ProfileRow::Stack(Stack { stack: stack.to_owned(), samples })
    }

    fn run(summary: ProfileSummary, rows: Vec<ProfileRow>) -> Vec<Observation> {
        let rows = std::iter::once(ProfileRow::Summary(summary)).chain(rows);
        rows.map(|row| Observation::from_row(Some("sender"), &row)).collect()
    }

    /// Returns the pooled rows of two runs, the second of which has three times the events of the first.
    fn pooled() -> Vec<ProfileRow> {
        let first = vec![
            group(Group::Copying, 4, 0.4),
            group(Group::Other, 6, 0.6),
            symbol("a", 6, 0.6),
            symbol("b", 4, 0.4),
            stack("sender;a", 10),
        ];
        let second = vec![
            group(Group::Copying, 24, 0.8),
            group(Group::Unresolved, 6, 0.2),
            symbol("b", 24, 0.8),
            symbol("c", 6, 0.1),
            stack("sender;a", 5),
            stack("sender;b", 25),
        ];
        let all = pool(&[run(summary(10, 1_000), first), run(summary(30, 3_000), second)]);
        rows_of(&all, "sender")
    }

    #[test]
    fn counts_add_up_and_shares_follow_from_the_sums() {
        let rows = pooled();
        let Some(ProfileRow::Summary(summary)) = rows.first() else { panic!("{rows:?}") };
        assert_eq!((summary.samples, summary.events, summary.overwritten_ns), (40, 4_000, 6));
        assert_eq!((summary.kernel_samples, summary.skid_share), (Some(20), Some(0.5)));
        assert_eq!(summary.cpu_time_coverage, Some(0.5), "4,000 of 8,000 ns");
        let groups = rows.iter().filter_map(|row| match row {
            ProfileRow::Group(group) => Some(group),
            _ => None,
        });
        let groups: Vec<&GroupShare> = groups.collect();
        let names: Vec<Group> = groups.iter().map(|group| group.group).collect();
        assert_eq!(names, [Group::Copying, Group::Other, Group::Unresolved]);
        assert_eq!((groups[0].samples, groups[0].kernel_samples), (28, Some(28)));
        assert!((groups[0].share - 0.7).abs() < 1e-12, "(400 + 2,400) of 4,000: {groups:?}");
        let (low, high) = wilson(groups[0].share, 40);
        assert_eq!((groups[0].share_low, groups[0].share_high), (low, high));
    }

    #[test]
    fn functions_and_stacks_of_the_same_name_are_one() {
        let rows = pooled();
        let symbols = rows.iter().filter_map(|row| match row {
            ProfileRow::Symbol(one) => Some((one.symbol.as_str(), one.samples)),
            _ => None,
        });
        assert_eq!(symbols.collect::<Vec<_>>(), [("b", 28), ("a", 6), ("c", 6)]);
        let stacks = rows.iter().filter_map(|row| match row {
            ProfileRow::Stack(one) => Some((one.stack.as_str(), one.samples)),
            _ => None,
        });
        assert_eq!(stacks.collect::<Vec<_>>(), [("sender;b", 25), ("sender;a", 15)]);
    }

    #[test]
    fn what_is_unknown_of_one_run_is_unknown_of_all() {
        let unsampled = ProfileSummary {
            kernel_samples: None,
            skid_share: None,
            cpu_time_coverage: Some(0.0),
            ..summary(0, 0)
        };
        let all = pool(&[run(summary(10, 1_000), Vec::new()), run(unsampled, Vec::new())]);
        let [ProfileRow::Summary(pooled)] = &rows_of::<ProfileRow>(&all, "sender")[..] else {
            panic!("{all:?}")
        };
        assert_eq!((pooled.samples, pooled.kernel_samples), (10, None));
        assert_eq!(pooled.skid_share, Some(0.5), "of all samples, which are in one run");
        assert_eq!(pooled.cpu_time_coverage, None);
        assert_eq!(pool(&[]), []);
    }
}
