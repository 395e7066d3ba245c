//! Aggregates samples into the result rows of each role.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::rc::Rc;

use ipcperf_model::instrument::profile::{
    Group, GroupShare, ProfileRow, ProfileSummary, Space, Stack, StackFrame, SymbolShare,
    is_interrupt_enabling,
};
use ipcperf_model::observation::Observation;
use ipcperf_stats::wilson;

use super::folded_line::folded_line;
use super::mappings::Mappings;
use super::perf_event::SampleConfig;
use super::sample::Sample;
use super::sampling::CollectedSamples;
use super::symbolize::{Function, KernelResolver, SymbolCache};
use crate::{Member, Scope};

/// Maximum number of stacks reported for a role: the most frequent ones.
const MAX_STACKS: usize = 400;

/// A sampled role.
#[derive(Debug)]
pub(super) struct SampledRole {
    pub(super) member: Member,
    pub(super) mappings: Mappings,
}

/// Settings and facts of the profiled phase.
#[derive(Debug)]
pub(super) struct ProfiledPhase<'a> {
    pub(super) config: &'a SampleConfig,
    /// `None` if sampling the kernel was refused.
    pub(super) kernel: Option<&'a KernelResolver>,
    /// Start and end of the measured phase, on the monotonic clock, ns.
    pub(super) phase_ns: RangeInclusive<u64>,
    /// CPU time of each role in the phase, ns.
    pub(super) cpu_ns: &'a [(String, u64)],
}

/// One resolved sample.
#[derive(Debug)]
struct ResolvedSample {
    period: u64,
    /// Call chain, innermost first; never empty.
    functions: Vec<Rc<Function>>,
}

/// Number of samples, and the number of events that they represent.
#[derive(Clone, Copy, Debug, Default)]
struct Weight {
    samples: u64,
    kernel_samples: u64,
    events: u64,
}

impl Weight {
    fn add(&mut self, hit: &ResolvedSample) {
        self.samples += 1;
        self.kernel_samples += u64::from(hit.functions[0].space == Space::Kernel);
        self.events += hit.period;
    }

    fn from_samples<'a>(hits: impl Iterator<Item = &'a ResolvedSample>) -> Self {
        let mut weight = Self::default();
        hits.for_each(|hit| weight.add(hit));
        weight
    }

    /// Returns the share of `all`; `None` if `all` is zero.
    #[allow(clippy::cast_precision_loss)]
    fn share(self, all: Self) -> Option<f64> {
        (all.events > 0).then(|| self.events as f64 / all.events as f64)
    }
}

/// Returns all rows of all `roles`.
pub(super) fn observations(
    roles: &[SampledRole],
    taken: &CollectedSamples,
    phase: &ProfiledPhase<'_>,
) -> Vec<Observation> {
    let no_symbols =
        KernelResolver::Inferred(crate::profile::copy_detection::CopyRanges::default());
    let mut names = SymbolCache::new(phase.kernel.unwrap_or(&no_symbols));
    let mut observations = Vec::new();
    for (index, role) in roles.iter().enumerate() {
        let hits: Vec<ResolvedSample> = taken
            .samples
            .iter()
            .filter(|sample| phase.phase_ns.contains(&sample.time_ns))
            .filter(|sample| owner(roles, sample) == Some(index))
            .map(|sample| resolve(sample, &mut names, (index, &role.mappings)))
            .collect();
        let overwritten_ns = taken.complete_since_ns.saturating_sub(*phase.phase_ns.start());
        let rows = rows(&role.member.role, &hits, overwritten_ns, phase);
        observations
            .extend(rows.iter().map(|row| Observation::from_row(Some(&role.member.role), row)));
    }
    observations
}

/// Returns the index of the role that owns `sample`: a thread with its own role takes precedence over its process.
fn owner(roles: &[SampledRole], sample: &Sample) -> Option<usize> {
    let is_thread = |role: &SampledRole| role.member.tid == sample.tid;
    let is_process =
        |role: &SampledRole| role.member.scope != Scope::Thread && role.member.pid == sample.pid;
    roles.iter().position(is_thread).or_else(|| roles.iter().position(is_process))
}

fn resolve(
    sample: &Sample,
    names: &mut SymbolCache<'_>,
    owner: (usize, &Mappings),
) -> ResolvedSample {
    let mut functions: Vec<Rc<Function>> = Vec::new();
    for &at in &sample.chain {
        let function = names.resolve(owner, at);
        // A caller outside all mappings comes from a frame pointer register that was used for something else.
        if !functions.is_empty() && function.is_unmapped() {
            break;
        }
        functions.push(function);
    }
    ResolvedSample { period: sample.period, functions }
}

fn rows(
    role: &str,
    hits: &[ResolvedSample],
    overwritten_ns: u64,
    phase: &ProfiledPhase<'_>,
) -> Vec<ProfileRow> {
    let all = Weight::from_samples(hits.iter());
    let summary = ProfileSummary {
        event: phase.config.event.clone(),
        frequency_hz: phase.config.frequency_hz,
        sampled: phase.config.sampled,
        samples: all.samples,
        events: all.events,
        kernel_samples: phase.kernel.map(|_| all.kernel_samples),
        overwritten_ns,
        kernel_symbols: phase.kernel.map(KernelResolver::symbols),
        skid_share: skid_share(hits, all, phase),
        cpu_time_coverage: cpu_time_coverage(role, all, phase),
    };
    let mut rows = vec![ProfileRow::Summary(summary)];
    rows.extend(group_shares(hits, all, phase).into_iter().map(ProfileRow::Group));
    rows.extend(symbol_shares(hits, all).into_iter().map(ProfileRow::Symbol));
    rows.extend(stacks(role, hits).into_iter().map(ProfileRow::Stack));
    rows
}

/// Events of a clock are ns of CPU time.
#[allow(clippy::cast_precision_loss, reason = "a share")]
fn cpu_time_coverage(role: &str, all: Weight, phase: &ProfiledPhase<'_>) -> Option<f64> {
    let (_, cpu_ns) = phase.cpu_ns.iter().find(|(name, ns)| name == role && *ns > 0)?;
    phase.config.code.is_cpu_time().then(|| all.events as f64 / *cpu_ns as f64)
}

fn skid_share(hits: &[ResolvedSample], all: Weight, phase: &ProfiledPhase<'_>) -> Option<f64> {
    let Some(KernelResolver::Symbols(_)) = phase.kernel else { return None };
    let skids = hits.iter().filter(|hit| {
        let leaf = &hit.functions[0];
        leaf.space == Space::Kernel && is_interrupt_enabling(&leaf.symbol)
    });
    Weight::from_samples(skids).share(all)
}

/// Returns the groups that can be distinguished here, and any other group that has samples.
fn group_shares(
    hits: &[ResolvedSample],
    all: Weight,
    phase: &ProfiledPhase<'_>,
) -> Vec<GroupShare> {
    let is_inferred = matches!(phase.kernel, Some(KernelResolver::Inferred(_)));
    let is_resolvable = |group| match group {
        Group::Unresolved => false,
        Group::Copying => true,
        _ => !is_inferred,
    };
    let share = |group| {
        let within = hits.iter().filter(|hit| hit.functions[0].group == group);
        let weight = Weight::from_samples(within);
        let share = weight.share(all).filter(|_| weight.samples > 0 || is_resolvable(group))?;
        let (share_low, share_high) = wilson(share, all.samples);
        let kernel_samples = phase.kernel.map(|_| weight.kernel_samples);
        let samples = weight.samples;
        let inferred = is_inferred && group == Group::Copying;
        Some(GroupShare { group, samples, kernel_samples, share, share_low, share_high, inferred })
    };
    Group::ALL.into_iter().filter_map(share).collect()
}

/// Returns the shares by symbol, the largest first.
fn symbol_shares(hits: &[ResolvedSample], all: Weight) -> Vec<SymbolShare> {
    let mut weights = BTreeMap::<&Function, Weight>::new();
    for hit in hits {
        weights.entry(&hit.functions[0]).or_default().add(hit);
    }
    let mut shares: Vec<SymbolShare> = weights
        .into_iter()
        .map(|(function, weight)| SymbolShare {
            symbol: function.symbol.clone(),
            space: function.space,
            object: function.object.clone(),
            group: function.group,
            samples: weight.samples,
            share: weight.share(all).unwrap_or(0.0),
        })
        .collect();
    shares.sort_by(|one, other| other.share.total_cmp(&one.share));
    shares
}

/// Returns the stacks, the most frequent first; the remaining samples are summed in a last entry.
fn stacks(role: &str, hits: &[ResolvedSample]) -> Vec<Stack> {
    let mut counts = BTreeMap::<String, u64>::new();
    for hit in hits {
        *counts.entry(folded_line(role, &hit.functions)).or_default() += 1;
    }
    let stack = |(stack, samples)| Stack { stack, samples };
    let mut stacks: Vec<Stack> = counts.into_iter().map(stack).collect();
    stacks.sort_by_key(|stack| Reverse(stack.samples));
    let others = stacks.split_off(stacks.len().min(MAX_STACKS));
    if !others.is_empty() {
        let samples = others.iter().map(|other| other.samples).sum();
        let symbol = &format!("[{} other stacks]", others.len());
        let stack = Stack::text(role, [StackFrame { space: Space::User, symbol }]);
        stacks.push(Stack { stack, samples });
    }
    stacks
}

#[cfg(test)]
mod tests {
    use super::super::symbolize::Origin;
    use super::*;
    use crate::profile::copy_detection::CopyRanges;

    const COPIES: u64 = 0x1000;
    const ELSEWHERE: u64 = 0x9000;

    fn role(name: &str, pid: u32, tid: u32, scope: Scope) -> SampledRole {
        let member = Member { role: name.to_owned(), pid, tid, scope };
        SampledRole { member, mappings: Mappings::default() }
    }

    fn sample(tid: u32, time_ns: u64, period: u64, chain: &[(Space, u64)]) -> Sample {
        Sample { pid: 1, tid, time_ns, period, chain: chain.to_vec() }
    }

    /// Returns the observations for `samples` in a phase from 100 to 200 ns.
    fn aggregate(roles: &[SampledRole], samples: Vec<Sample>) -> Vec<Observation> {
        let config = SampleConfig::new("cpu-clock", 1_000).unwrap();
        let kernel = KernelResolver::Inferred(CopyRanges::new(vec![(COPIES, COPIES + 16)]));
        let phase = ProfiledPhase {
            config: &config,
            kernel: Some(&kernel),
            phase_ns: 100..=200,
            cpu_ns: &[("both".to_owned(), 80), ("broker".to_owned(), 0)],
        };
        observations(roles, &CollectedSamples { samples, complete_since_ns: 130 }, &phase)
    }

    fn rows(observed: &[Observation], role: &str) -> Vec<ProfileRow> {
        let of_role = observed.iter().filter(|one| one.role.as_deref() == Some(role));
        of_role.filter_map(Observation::row).collect()
    }

    #[test]
    fn shares_are_of_events_and_samples_of_the_phase() {
        let at = |address| [(Space::Kernel, address)];
        let samples = vec![
            sample(7, 99, 1, &at(COPIES)),
            sample(7, 100, 30, &at(COPIES)),
            sample(7, 200, 10, &at(ELSEWHERE)),
            sample(7, 201, 1, &at(ELSEWHERE)),
        ];
        let observed = aggregate(&[role("both", 1, 7, Scope::Thread)], samples);
        let [
            ProfileRow::Summary(summary),
            ProfileRow::Group(copying),
            ProfileRow::Group(unresolved),
            ..,
        ] = &rows(&observed, "both")[..]
        else {
            panic!("{observed:?}")
        };
        assert_eq!((summary.samples, summary.events, summary.overwritten_ns), (2, 40, 30));
        assert_eq!(summary.cpu_time_coverage, Some(0.5), "40 of 80 ns on a CPU");
        assert_eq!((copying.group, copying.samples, copying.inferred), (Group::Copying, 1, true));
        assert_eq!((unresolved.group, unresolved.share), (Group::Unresolved, 0.25));
    }

    #[test]
    fn a_thread_that_is_a_role_is_not_its_process() {
        let roles = [role("broker", 1, 1, Scope::Daemon), role("both", 1, 7, Scope::Thread)];
        let samples = [7, 8, 1, 7].map(|tid| sample(tid, 150, 1, &[(Space::Kernel, ELSEWHERE)]));
        let mut observed = aggregate(&roles, samples.to_vec());
        observed.retain(|one| one.fields.contains_key("sampled"));
        assert!(
            observed[0].fields["cpu_time_coverage"].is_null(),
            "who had no CPU time has no share of it"
        );
        let samples: Vec<_> = observed.iter().map(|one| one.fields["samples"].as_u64()).collect();
        assert_eq!(samples, [Some(2), Some(2)]);
    }

    #[test]
    fn callers_that_lie_nowhere_end_a_stack() {
        let chain = [(Space::Kernel, COPIES), (Space::Kernel, ELSEWHERE), (Space::User, 1)];
        let observed =
            aggregate(&[role("both", 1, 7, Scope::Thread)], vec![sample(7, 150, 1, &chain)]);
        let last = rows(&observed, "both").pop();
        let stack = "both;[kernel]_[k];[kernel: copying]_[k]".to_owned();
        assert_eq!(last, Some(ProfileRow::Stack(Stack { stack, samples: 1 })));
    }

    #[test]
    fn stacks_are_the_most_frequent_and_all_others() {
        let functions = |number: usize| {
            let symbol = format!("f{number}");
            let object = "vmlinux".to_owned();
            let (space, group) = (Space::Kernel, Group::Other);
            vec![Rc::new(Function { space, object, symbol, group, origin: Origin::Symbol })]
        };
        let once = (0..MAX_STACKS + 10)
            .map(|number| ResolvedSample { period: 1, functions: functions(number) });
        let twice = ResolvedSample { period: 1, functions: functions(3) };
        let hits: Vec<ResolvedSample> = once.chain([twice]).collect();
        let stacks = stacks("sender", &hits);
        assert_eq!(stacks[0], Stack { stack: "sender;f3_[k]".to_owned(), samples: 2 });
        let others = Stack { stack: "sender;[10 other stacks]".to_owned(), samples: 10 };
        assert_eq!((stacks.len(), stacks.last()), (MAX_STACKS + 1, Some(&others)));
    }
}
