//! Finds the best mechanism for small and for large messages, and its lead as a factor.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use ipcperf_model::message_options::{MessageOptions, Touch};
use ipcperf_model::workload::WorkloadKind;

use super::CaseSummary;
use super::comparison::{
    Comparison, Contender, Ranking, RefusedComparison, UnrankedMechanism, contenders,
};
use super::unranked::{undecided, withhold};

/// Maximum number of mechanisms that are named as not compared; further ones are counted.
const MAX_OTHER_CLASS_NAMES: usize = 32;

/// Maximum number of CPU distance classes. No machine has more, but an untrusted file may.
const MAX_CLASSES: usize = 16;

/// Maximum number of combinations of message options that are compared; tables show the rest.
const MAX_OPTION_SETS: usize = 16;

/// Compares, for each placement and CPU distance class, the round trips at the smallest message size and the
/// bandwidths at the largest, among mechanisms that transfer something. Some cases are left to the tables: those
/// with a kernel buffer other than the default, those in a mode other than the first, paced ones, and those that hand payload
/// over in place without both peers touching it.
pub fn comparisons(summaries: &[CaseSummary]) -> Vec<Comparison> {
    let comparable = comparable(summaries);
    let sides = [
        (WorkloadKind::RoundTrip, ComparedSize::Smallest),
        (WorkloadKind::RequestReply, ComparedSize::Smallest),
        (WorkloadKind::Stream, ComparedSize::Largest),
    ];
    let placements = placements(&comparable);
    let all = sides.iter().flat_map(|side| placements.iter().map(move |place| (side, place)));
    all.flat_map(|((workload, side), place)| compare(&comparable, *workload, *side, place))
        .collect()
}

/// Compares, for each placement and CPU distance class, the round trips and the bandwidths at one size.
pub fn comparisons_at(summaries: &[CaseSummary], side: ComparedSize) -> Vec<Comparison> {
    let comparable = comparable(summaries);
    let placements = placements(&comparable);
    let workloads = [WorkloadKind::RoundTrip, WorkloadKind::RequestReply, WorkloadKind::Stream];
    let all = placements.iter().flat_map(|place| workloads.map(|workload| (workload, *place)));
    all.flat_map(|(workload, place)| compare(&comparable, workload, side, place)).collect()
}

/// Returns the cases that may be compared with others of the same message options: in the first mode, with the
/// default kernel buffer, and with payload that is delivered. Cases whose runs are excluded are among them.
fn comparable(summaries: &[CaseSummary]) -> Vec<&CaseSummary> {
    let mode = summaries.first().map(|summary| summary.case.mode);
    summaries
        .iter()
        .filter(|case| Some(case.case.mode) == mode)
        .filter(|case| case.case.kernel_buffer_requested_bytes.is_none())
        .filter(|case| case.is_delivered() && case.case.rate_per_s.is_none())
        .filter(|case| !case.case.is_harness_only() && case.refused.is_none())
        .collect()
}

impl CaseSummary {
    /// Whether the receiver is known to have the payload. If it is handed over in place, nothing need have been moved
    /// unless both peers touch it.
    pub fn is_delivered(&self) -> bool {
        let is_handed_over = self.case.facts.as_ref().is_some_and(|known| known.is_handed_over);
        !is_handed_over || self.case.touch == Touch::Both
    }
}

fn placements<'a>(cases: &[&'a CaseSummary]) -> Vec<&'a str> {
    let mut placements: Vec<&str> = Vec::new();
    for case in cases {
        if !placements.contains(&case.case.placement.as_str()) {
            placements.push(&case.case.placement);
        }
    }
    placements
}

/// Message size to compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ComparedSize {
    /// The smallest size.
    Smallest,
    /// The middle one of three or more sizes; the upper one of an even number.
    Middle,
    /// The largest size.
    Largest,
}

/// Returns the comparisons for each combination of message options: only cases with the same options are compared.
fn compare(
    cases: &[&CaseSummary],
    workload: WorkloadKind,
    side: ComparedSize,
    placement: &str,
) -> Vec<Comparison> {
    let mut groups: Vec<(MessageOptions, Vec<&CaseSummary>)> = Vec::new();
    for case in cases.iter().copied() {
        if case.case.workload != workload || case.case.placement != placement {
            continue;
        }
        let message_options = case.case.message_options();
        match groups.iter().position(|(known, _)| *known == message_options) {
            Some(known) => groups[known].1.push(case),
            None if groups.len() < MAX_OPTION_SETS => groups.push((message_options, vec![case])),
            None => {}
        }
    }
    groups.iter().flat_map(|(_, cases)| compare_group(cases, side)).collect()
}

/// Returns one ranking for each class in which two or more mechanisms were measured.
fn compare_group(cases: &[&CaseSummary], side: ComparedSize) -> Vec<Comparison> {
    let here = cases.iter().copied();
    let sizes: BTreeSet<u64> = here.clone().map(|case| case.case.buffer_bytes).collect();
    let wanted = match side {
        ComparedSize::Smallest => sizes.first(),
        ComparedSize::Middle if sizes.len() < 3 => None,
        ComparedSize::Middle => sizes.iter().nth(sizes.len() / 2),
        ComparedSize::Largest => sizes.last(),
    };
    let of_size: Vec<&CaseSummary> =
        here.filter(|case| Some(&case.case.buffer_bytes) == wanted).collect();
    let (unranked, valid): (Vec<&CaseSummary>, Vec<&CaseSummary>) =
        of_size.iter().partition(|case| case.is_mostly_missing());
    let mut classes: BTreeMap<&Option<String>, Vec<&CaseSummary>> = BTreeMap::new();
    for case in valid.iter().copied() {
        classes.entry(&case.cpu_pair_class).or_default().push(case);
    }
    let seen = classes.values().take(MAX_CLASSES);
    let ranked: Vec<Comparison> =
        seen.filter_map(|inside| compare_class(inside, &valid, &unranked)).collect();
    if ranked.is_empty() {
        return withhold(&valid, &unranked)
            .or_else(|| refuse_comparison(&valid))
            .into_iter()
            .collect();
    }
    ranked
}

/// Compares the cases `inside` one class with each other and with the left-out cases `apart`. Of the latter, a case
/// whose figures all belong to another class was not measured in this one.
fn compare_class(
    inside: &[&CaseSummary],
    valid: &[&CaseSummary],
    unranked: &[&CaseSummary],
) -> Option<Comparison> {
    let class = &inside.first()?.cpu_pair_class;
    let is_here = |case: &&&CaseSummary| case.main().is_none() || case.cpu_pair_class == *class;
    let names: HashSet<String> = inside.iter().map(|case| case.series()).collect();
    let left_out =
        unranked.iter().filter(is_here).map(|case| UnrankedMechanism::from_summary(case));
    let left_out: Vec<UnrankedMechanism> =
        left_out.filter(|one| !names.contains(&one.name)).collect();
    let best = contenders(inside).into_iter().next()?;
    let workload = inside[0].case.workload;
    let better = left_out.iter().filter(|one| one.has_better_excluded_median(&best, workload));
    let better: Vec<UnrankedMechanism> = better.cloned().collect();
    if better.is_empty() {
        return rank_class(inside, valid, left_out).map(Comparison::Ranked);
    }
    Some(undecided(inside[0], Some(best), better))
}

/// Refuses the comparison if two or more mechanisms were measured, but no two of them in the same class.
fn refuse_comparison(cases: &[&CaseSummary]) -> Option<Comparison> {
    let first = cases.first()?;
    let names: HashSet<String> = cases.iter().map(|case| case.series()).collect();
    if names.len() < 2 {
        return None;
    }
    let class = |case: &CaseSummary| case.cpu_pair_class.clone().unwrap_or_default();
    Some(Comparison::Refused(RefusedComparison {
        workload: first.case.workload,
        placement: first.case.placement.clone(),
        buffer_bytes: first.case.buffer_bytes,
        message_options: first.case.message_options(),
        measured: cases.iter().map(|case| (case.series(), class(case))).collect(),
    }))
}

/// Ranks the cases `inside` one class; `all` are the cases that count at that placement and size.
fn rank_class(
    inside: &[&CaseSummary],
    all: &[&CaseSummary],
    left_out: Vec<UnrankedMechanism>,
) -> Option<Ranking> {
    let CaseSummary { case: first, cpu_pair_class: class, .. } = inside.first()?;
    let ranked = contenders(inside);
    if ranked.len() < 2 {
        return None;
    }
    let elsewhere = names_in_other_classes(all, class, &ranked);
    let mut ranked = ranked.into_iter();
    let (best, second) = (ranked.next()?, ranked.next()?);
    Some(Ranking {
        workload: first.workload,
        placement: first.placement.clone(),
        class: class.clone(),
        buffer_bytes: first.buffer_bytes,
        message_options: first.message_options(),
        factor: factor(first.workload, &best, &second),
        best,
        second,
        other_classes: elsewhere,
        unranked: left_out,
    })
}

/// Returns the names of those of `cases` that were measured only in classes other than `class`.
fn names_in_other_classes(
    cases: &[&CaseSummary],
    class: &Option<String>,
    ranked: &[Contender],
) -> Vec<String> {
    let here: HashSet<&str> = ranked.iter().map(|contender| contender.name.as_str()).collect();
    let outside = cases.iter().filter(|case| case.cpu_pair_class != *class);
    let mut names: Vec<String> = outside.map(|case| case.series()).collect();
    names.retain(|name| !here.contains(name.as_str()));
    names.dedup();
    if names.len() > MAX_OTHER_CLASS_NAMES {
        let more = names.split_off(MAX_OTHER_CLASS_NAMES).len();
        names.push(format!("{more} more"));
    }
    names
}

fn factor(workload: WorkloadKind, best: &Contender, second: &Contender) -> Option<f64> {
    let have_one_mode = best.modes.is_empty() && second.modes.is_empty();
    have_one_mode.then(|| match workload.is_streamed() {
        true => best.median / second.median,
        false => second.median / best.median,
    })
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::Sample;
    use crate::analysis::summarize;
    use crate::testing::sample;

    fn measured(mechanism: &str, class: &str, elapsed_us: u64) -> Sample {
        let mut sample = sample(mechanism, WorkloadKind::Stream, 64, 1, elapsed_us * 1_000);
        sample.cpu_pair_class = Some(class.to_owned());
        sample
    }

    /// Returns the comparisons of the cases of `samples`.
    pub(in crate::analysis) fn compared(samples: &[Sample]) -> Vec<Comparison> {
        let mut cases: Vec<String> = Vec::new();
        for sample in samples {
            if !cases.contains(&sample.run.case.case_id) {
                cases.push(sample.run.case.case_id.clone());
            }
        }
        comparisons(&summarize(&cases, &[], samples, &[], None))
    }

    #[test]
    fn only_what_was_measured_at_one_distance_is_compared() {
        let compared = compared(&[
            measured("pipe", "46ns", 1_000),
            measured("tcp", "46ns", 3_000),
            measured("pipe", "375ns", 8_000),
            measured("fifo", "375ns", 2_000),
        ]);
        let ranked = compared.iter().map(|one| match one {
            Comparison::Ranked(ranking) => ranking,
            other => panic!("{other:?}"),
        });
        let told: Vec<_> = ranked
            .map(|r| (r.class.as_deref().unwrap(), r.best.name.as_str(), r.other_classes.clone()))
            .collect();
        let (tcp, fifo) = (vec!["tcp".to_owned()], vec!["fifo".to_owned()]);
        assert_eq!(told, [("375ns", "fifo", tcp), ("46ns", "pipe", fifo)]);
    }

    #[test]
    fn two_that_never_met_at_one_distance_are_not_compared() {
        let apart = [measured("pipe", "46ns", 1_000), measured("tcp", "375ns", 3_000)];
        let [Comparison::Refused(refused)] = &compared(&apart)[..] else {
            panic!("{:?}", compared(&apart));
        };
        let told = [("pipe", "46ns"), ("tcp", "375ns")].map(|(a, b)| (a.to_owned(), b.to_owned()));
        assert_eq!(refused.measured, told);
    }

    #[test]
    fn a_mechanism_is_not_compared_with_itself() {
        let mut again = measured("pipe", "46ns", 2_000);
        again.run.case.case_id += "again";
        let pipes = [measured("pipe", "46ns", 1_000), again];
        assert_eq!(compared(&pipes), []);
        let mut all = pipes.to_vec();
        all.push(measured("tcp", "46ns", 3_000));
        let [Comparison::Ranked(ranking)] = &compared(&all)[..] else {
            panic!("{:?}", compared(&all));
        };
        assert_eq!((ranking.best.name.as_str(), ranking.second.name.as_str()), ("pipe", "tcp"));
    }

    #[test]
    fn what_is_handed_over_in_place_is_ranked_only_where_both_touch_it() {
        let winner = |touch| {
            let mut samples =
                [measured("pipe", "46ns", 3_000), measured("tcp", "46ns", 4_000)].to_vec();
            samples.push(measured("bus-memfd", "46ns", 1));
            samples.iter_mut().for_each(|sample| sample.run.case.touch = touch);
            match &compared(&samples)[..] {
                [Comparison::Ranked(ranking)] => ranking.best.name.clone(),
                others => panic!("{others:?}"),
            }
        };
        for touch in [Touch::None, Touch::Write, Touch::Read] {
            assert_eq!(winner(touch), "pipe", "{}", touch.name());
        }
        assert_eq!(winner(Touch::Both), "bus-memfd");
    }

    #[test]
    fn only_what_is_done_to_messages_alike_is_compared() {
        let mut samples: Vec<Sample> = Vec::new();
        for (touch, bus_us) in [(Touch::None, 1), (Touch::Both, 2)] {
            for (mechanism, us) in [("pipe", 3_000), ("tcp", 4_000), ("bus-memfd", bus_us)] {
                let mut one = measured(mechanism, "46ns", us);
                one.run.case.touch = touch;
                one.run.case.case_id += touch.name();
                samples.push(one);
            }
        }
        let compared = compared(&samples);
        let told = compared.iter().map(|one| match one {
            Comparison::Ranked(ranking) => {
                (ranking.message_options.touch, ranking.best.name.as_str())
            }
            other => panic!("{other:?}"),
        });
        let expected = [(Touch::None, "pipe"), (Touch::Both, "bus-memfd")];
        assert_eq!(told.collect::<Vec<_>>(), expected);
    }
}
