//! Aggregates samples into the result rows of each role.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::rc::Rc;

use ipcperf_model::instrument::profile::{
    Group, GroupShare, Row, Space, Stack, StackFrame, Summary, SymbolShare, lets_interrupts_in,
};
use ipcperf_model::observation::Observation;

use super::folded_line::folded_line;
use super::mappings::Mappings;
use super::perf_event::Manner;
use super::sample::Sample;
use super::sampling::Taken;
use super::symbolize::{Function, Kernel, Names};
use super::wilson::wilson;
use crate::{Member, Scope};

/// Maximum number of stacks reported for a role: the most frequent ones.
const STACKS: usize = 400;

/// A sampled role.
#[derive(Debug)]
pub(super) struct Role {
    pub(super) member: Member,
    pub(super) mappings: Mappings,
}

/// Settings and facts of the profiled phase.
#[derive(Debug)]
pub(super) struct Circumstances<'a> {
    pub(super) manner: &'a Manner,
    /// `None` if sampling the kernel was refused.
    pub(super) kernel: Option<&'a Kernel>,
    /// Start and end of the measured phase, on the monotonic clock, ns.
    pub(super) phase_ns: RangeInclusive<u64>,
    /// CPU time of each role in the phase, ns.
    pub(super) cpu_ns: &'a [(String, u64)],
}

/// One resolved sample.
#[derive(Debug)]
struct Hit {
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
    fn add(&mut self, hit: &Hit) {
        self.samples += 1;
        self.kernel_samples += u64::from(hit.functions[0].space == Space::Kernel);
        self.events += hit.period;
    }

    fn of<'a>(hits: impl Iterator<Item = &'a Hit>) -> Self {
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
    roles: &[Role],
    taken: &Taken,
    how: &Circumstances<'_>,
) -> Vec<Observation> {
    let unnamed = Kernel::Learned(crate::profile::copy_detection::Copies::default());
    let mut names = Names::of(how.kernel.unwrap_or(&unnamed));
    let mut told = Vec::new();
    for (index, role) in roles.iter().enumerate() {
        let hits: Vec<Hit> = taken
            .samples
            .iter()
            .filter(|sample| how.phase_ns.contains(&sample.time_ns))
            .filter(|sample| owner(roles, sample) == Some(index))
            .map(|sample| hit(sample, &mut names, (index, &role.mappings)))
            .collect();
        let overwritten_ns = taken.whole_since_ns.saturating_sub(*how.phase_ns.start());
        let rows = rows(&role.member.role, &hits, overwritten_ns, how);
        told.extend(rows.iter().map(|row| Observation::of(Some(&role.member.role), row)));
    }
    told
}

/// Returns the index of the role that owns `sample`: a thread with its own role takes precedence over its process.
fn owner(roles: &[Role], sample: &Sample) -> Option<usize> {
    let is_thread = |role: &Role| role.member.tid == sample.tid;
    let is_process =
        |role: &Role| role.member.scope != Scope::Thread && role.member.pid == sample.pid;
    roles.iter().position(is_thread).or_else(|| roles.iter().position(is_process))
}

fn hit(sample: &Sample, names: &mut Names<'_>, owner: (usize, &Mappings)) -> Hit {
    let mut functions: Vec<Rc<Function>> = Vec::new();
    for &at in &sample.chain {
        let function = names.at(owner, at);
        // A caller outside all mappings comes from a frame pointer register that was used for something else.
        if !functions.is_empty() && function.is_nowhere() {
            break;
        }
        functions.push(function);
    }
    Hit { period: sample.period, functions }
}

fn rows(role: &str, hits: &[Hit], overwritten_ns: u64, how: &Circumstances<'_>) -> Vec<Row> {
    let all = Weight::of(hits.iter());
    let summary = Summary {
        event: how.manner.event.clone(),
        frequency_hz: how.manner.frequency_hz,
        reach: how.manner.reach,
        samples: all.samples,
        events: all.events,
        kernel_samples: how.kernel.map(|_| all.kernel_samples),
        overwritten_ns,
        kernel_symbols: how.kernel.map(Kernel::symbols),
        skid_share: skid_share(hits, all, how),
        covered_share: covered_share(role, all, how),
    };
    let mut rows = vec![Row::Summary(summary)];
    rows.extend(group_shares(hits, all, how).into_iter().map(Row::Group));
    rows.extend(symbol_shares(hits, all).into_iter().map(Row::Symbol));
    rows.extend(stacks(role, hits).into_iter().map(Row::Stack));
    rows
}

/// Events of a clock are ns of CPU time.
#[allow(clippy::cast_precision_loss, reason = "a share")]
fn covered_share(role: &str, all: Weight, how: &Circumstances<'_>) -> Option<f64> {
    let (_, cpu_ns) = how.cpu_ns.iter().find(|(name, ns)| name == role && *ns > 0)?;
    how.manner.code.is_clock().then(|| all.events as f64 / *cpu_ns as f64)
}

fn skid_share(hits: &[Hit], all: Weight, how: &Circumstances<'_>) -> Option<f64> {
    let Some(Kernel::Named(_)) = how.kernel else { return None };
    let skids = hits.iter().filter(|hit| {
        let leaf = &hit.functions[0];
        leaf.space == Space::Kernel && lets_interrupts_in(&leaf.symbol)
    });
    Weight::of(skids).share(all)
}

/// Returns the groups that can be distinguished here, and any other group that has samples.
fn group_shares(hits: &[Hit], all: Weight, how: &Circumstances<'_>) -> Vec<GroupShare> {
    let learned = matches!(how.kernel, Some(Kernel::Learned(_)));
    let told = |group| match group {
        Group::Unresolved => false,
        Group::Copying => true,
        _ => !learned,
    };
    let share = |group| {
        let within = hits.iter().filter(|hit| hit.functions[0].group == group);
        let weight = Weight::of(within);
        let share = weight.share(all).filter(|_| weight.samples > 0 || told(group))?;
        let (share_low, share_high) = wilson(share, all.samples);
        let kernel_samples = how.kernel.map(|_| weight.kernel_samples);
        let samples = weight.samples;
        let learned = learned && group == Group::Copying;
        Some(GroupShare { group, samples, kernel_samples, share, share_low, share_high, learned })
    };
    Group::ALL.into_iter().filter_map(share).collect()
}

/// Returns the shares by symbol, the largest first.
fn symbol_shares(hits: &[Hit], all: Weight) -> Vec<SymbolShare> {
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
fn stacks(role: &str, hits: &[Hit]) -> Vec<Stack> {
    let mut counts = BTreeMap::<String, u64>::new();
    for hit in hits {
        *counts.entry(folded_line(role, &hit.functions)).or_default() += 1;
    }
    let stack = |(stack, samples)| Stack { stack, samples };
    let mut stacks: Vec<Stack> = counts.into_iter().map(stack).collect();
    stacks.sort_by_key(|stack| Reverse(stack.samples));
    let others = stacks.split_off(stacks.len().min(STACKS));
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
    use crate::profile::copy_detection::Copies;

    const COPIES: u64 = 0x1000;
    const ELSEWHERE: u64 = 0x9000;

    fn role(name: &str, pid: u32, tid: u32, scope: Scope) -> Role {
        let member = Member { role: name.to_owned(), pid, tid, scope };
        Role { member, mappings: Mappings::default() }
    }

    fn sample(tid: u32, time_ns: u64, period: u64, chain: &[(Space, u64)]) -> Sample {
        Sample { pid: 1, tid, time_ns, period, chain: chain.to_vec() }
    }

    /// Returns the observations for `samples` in a phase from 100 to 200 ns.
    fn told(roles: &[Role], samples: Vec<Sample>) -> Vec<Observation> {
        let manner = Manner::of("cpu-clock", 1_000).unwrap();
        let kernel = Kernel::Learned(Copies::of(vec![(COPIES, COPIES + 16)]));
        let how = Circumstances {
            manner: &manner,
            kernel: Some(&kernel),
            phase_ns: 100..=200,
            cpu_ns: &[("both".to_owned(), 80), ("broker".to_owned(), 0)],
        };
        observations(roles, &Taken { samples, whole_since_ns: 130 }, &how)
    }

    fn rows(told: &[Observation], role: &str) -> Vec<Row> {
        let of_role = told.iter().filter(|one| one.role.as_deref() == Some(role));
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
        let told = told(&[role("both", 1, 7, Scope::Thread)], samples);
        let [Row::Summary(summary), Row::Group(copying), Row::Group(unresolved), ..] =
            &rows(&told, "both")[..]
        else {
            panic!("{told:?}")
        };
        assert_eq!((summary.samples, summary.events, summary.overwritten_ns), (2, 40, 30));
        assert_eq!(summary.covered_share, Some(0.5), "40 of 80 ns on a CPU");
        assert_eq!((copying.group, copying.samples, copying.learned), (Group::Copying, 1, true));
        assert_eq!((unresolved.group, unresolved.share), (Group::Unresolved, 0.25));
    }

    #[test]
    fn a_thread_that_is_a_role_is_not_its_process() {
        let roles = [role("broker", 1, 1, Scope::Daemon), role("both", 1, 7, Scope::Thread)];
        let samples = [7, 8, 1, 7].map(|tid| sample(tid, 150, 1, &[(Space::Kernel, ELSEWHERE)]));
        let mut told = told(&roles, samples.to_vec());
        told.retain(|one| one.fields.contains_key("reach"));
        assert!(
            told[0].fields["covered_share"].is_null(),
            "who had no CPU time has no share of it"
        );
        let samples: Vec<_> = told.iter().map(|one| one.fields["samples"].as_u64()).collect();
        assert_eq!(samples, [Some(2), Some(2)]);
    }

    #[test]
    fn callers_that_lie_nowhere_end_a_stack() {
        let chain = [(Space::Kernel, COPIES), (Space::Kernel, ELSEWHERE), (Space::User, 1)];
        let told = told(&[role("both", 1, 7, Scope::Thread)], vec![sample(7, 150, 1, &chain)]);
        let last = rows(&told, "both").pop();
        let stack = "both;[kernel]_[k];[kernel: copying]_[k]".to_owned();
        assert_eq!(last, Some(Row::Stack(Stack { stack, samples: 1 })));
    }

    #[test]
    fn stacks_are_the_most_frequent_and_all_others() {
        let functions = |number: usize| {
            let symbol = format!("f{number}");
            let object = "vmlinux".to_owned();
            let (space, group) = (Space::Kernel, Group::TheRest);
            vec![Rc::new(Function { space, object, symbol, group, origin: Origin::Symbol })]
        };
        let once = (0..STACKS + 10).map(|number| Hit { period: 1, functions: functions(number) });
        let twice = Hit { period: 1, functions: functions(3) };
        let hits: Vec<Hit> = once.chain([twice]).collect();
        let stacks = stacks("sender", &hits);
        assert_eq!(stacks[0], Stack { stack: "sender;f3_[k]".to_owned(), samples: 2 });
        let others = Stack { stack: "sender;[10 other stacks]".to_owned(), samples: 10 };
        assert_eq!((stacks.len(), stacks.last()), (STACKS + 1, Some(&others)));
    }
}
