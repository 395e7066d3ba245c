//! The wait with the least CPU time whose latency is close to that of a peer that never sleeps.
//!
//! Cases that differ only in the option `wait` of their mechanism are compared: at one rate, with the same arrivals.

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::{CaseSummary, PacedSummary};
use crate::CaseIdentity;

/// Name of the option of a mechanism that decides how its peers wait.
pub const WAIT_OPTION: &str = "wait";
/// Value of the option with which a peer never sleeps.
const REFERENCE: &str = "spin";
/// Latency that is close enough, as a multiple of that of the reference.
const CLOSE: f64 = 2.0;
/// Number of runs, and their duration in seconds, from which 99th percentiles are compared: those of shorter runs differ by
/// more than a factor of ten.
const P99_RUNS: usize = 20;
const P99_RUN_S: u64 = 5;

/// Figure of the latency that a choice keeps close to the reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LatencyFigure {
    /// Median.
    P50,
    /// 99th percentile. Compared only if each case has at least 20 valid runs of 5 s.
    P99,
}

impl LatencyFigure {
    /// Both figures.
    pub const ALL: [Self; 2] = [Self::P50, Self::P99];

    /// Returns the latency from the schedule, ns; `None` if it is unknown, or cannot be compared.
    fn latency_ns(self, case: &CaseSummary) -> Option<f64> {
        let paced = reliable(case)?;
        let spread = match self {
            Self::P50 => paced.latency_ns_p50,
            Self::P99 => paced.latency_ns_p99.filter(|_| has_enough_runs(case, paced)),
        };
        spread.map(|spread| spread.median)
    }
}

fn has_enough_runs(case: &CaseSummary, paced: &PacedSummary) -> bool {
    let messages = case.case.scheduled_messages.unwrap_or(0);
    let rate_per_s = case.case.rate_per_s.unwrap_or(u64::MAX);
    paced.runs >= P99_RUNS && messages >= rate_per_s.saturating_mul(P99_RUN_S)
}

/// Figures of a case with valid runs that carries its rate.
fn reliable(case: &CaseSummary) -> Option<&PacedSummary> {
    case.paced.as_ref().filter(|paced| !paced.only_disturbed && !paced.is_saturated())
}

/// Marks the recommended cases: of all cases that differ only in how peers wait, the one with the least CPU time per message
/// whose latency is at most twice that of the peers that never sleep.
pub(super) fn mark_recommended(summaries: &mut [CaseSummary]) {
    let cases: Vec<&CaseSummary> = summaries.iter().collect();
    let mut marks = Vec::new();
    for group in groups(&cases) {
        for figure in LatencyFigure::ALL {
            marks.extend(recommended(&cases, &group, figure).map(|index| (index, figure)));
        }
    }
    for (index, figure) in marks {
        summaries[index].recommended_wait_for.push(figure);
    }
}

/// Returns the index of the recommended one of `group`; `None` if the reference was not measured, or is not reliable.
fn recommended(cases: &[&CaseSummary], group: &[usize], figure: LatencyFigure) -> Option<usize> {
    let reference = group.iter().find(|index| is_reference(cases[**index]))?;
    let limit_ns = CLOSE * figure.latency_ns(cases[*reference])?;
    let cost = |index: &usize| {
        let is_close = figure.latency_ns(cases[*index]).is_some_and(|ns| ns <= limit_ns);
        let cpu_ns = reliable(cases[*index])?.cpu_ns_per_message?.median;
        is_close.then_some((cpu_ns, *index))
    };
    let costs = group.iter().filter_map(cost);
    costs.min_by(|(one, _), (other, _)| one.total_cmp(other)).map(|(_, index)| index)
}

/// Returns the cases of each group in which several ways to wait were measured, in the order of `cases`.
#[must_use]
pub fn cases_by_wait<'a>(cases: &[&'a CaseSummary]) -> Vec<Vec<&'a CaseSummary>> {
    let members = |group: Vec<usize>| group.into_iter().map(|index| cases[index]).collect();
    groups(cases).into_iter().map(members).collect()
}

/// Returns the indices of the paced `cases` that differ only in how their peers wait, for each group of several.
fn groups(cases: &[&CaseSummary]) -> Vec<Vec<usize>> {
    let (mut places, mut groups) = (HashMap::new(), Vec::<Vec<usize>>::new());
    for (index, case) in cases.iter().enumerate() {
        if case.paced.is_none() || wait_of(&case.case).is_none() {
            continue;
        }
        let place = *places.entry(group_key(case)).or_insert(groups.len());
        if place == groups.len() {
            groups.push(Vec::new());
        }
        groups[place].push(index);
    }
    groups.retain(|group| group.len() > 1);
    groups
}

fn is_reference(case: &CaseSummary) -> bool {
    wait_of(&case.case) == Some(REFERENCE)
}

/// Reason why no wait is recommended although several were measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoRecommendation {
    /// The peers that never sleep, with which the others are compared, were not measured.
    NoReference,
    /// The runs of these peers were all disturbed, or they did not carry the rate.
    UnreliableReference,
}

/// Returns the reason why none of the cases in `group` is recommended; `None` if one is.
#[must_use]
pub fn why_no_recommendation(group: &[&CaseSummary]) -> Option<NoRecommendation> {
    if group.iter().any(|case| !case.recommended_wait_for.is_empty()) {
        return None;
    }
    if group.iter().any(|case| is_reference(case)) {
        Some(NoRecommendation::UnreliableReference)
    } else {
        Some(NoRecommendation::NoReference)
    }
}

/// Returns the value of the option `wait` of `case`; `None` if it was not set.
#[must_use]
pub fn wait_of(case: &CaseIdentity) -> Option<&str> {
    case.options.get(WAIT_OPTION).map(String::as_str)
}

/// Returns a key that all cases share that differ only in how peers wait.
fn group_key(summary: &CaseSummary) -> String {
    let mut case = summary.case.clone();
    case.case_id = String::new();
    case.options.remove(WAIT_OPTION);
    let key = serde_json::to_string(&case).unwrap_or_default();
    format!("{key} {:?}", summary.cpu_pair_class)
}

#[cfg(test)]
mod tests {
    use ipcperf_model::workload::WorkloadKind;

    use super::*;
    use crate::analysis::summarize;
    use crate::testing::sample;

    /// Returns the summary of a case with this wait, median and 99th percentile, us, and CPU time, us, of `runs` runs.
    fn case(wait: &str, [p50_us, p99_us, cpu_us]: [u64; 3], runs: u32) -> CaseSummary {
        let runs = (1..=runs).map(|block| {
            let mut sample = sample("pipe", WorkloadKind::Paced, 64, block, 1_000_000);
            let case = &mut sample.run.case;
            case.case_id = format!("pipe[wait={wait}]");
            case.options.insert(WAIT_OPTION.to_owned(), wait.to_owned());
            (case.rate_per_s, case.scheduled_messages) = (Some(1_000), Some(5_000));
            sample.paced.one_way_ns_p50 = Some(p50_us * 1_000);
            sample.paced.one_way_ns_p99 = Some(p99_us * 1_000);
            #[allow(clippy::cast_precision_loss, reason = "a few microseconds")]
            let cpu_ns = cpu_us as f64 * 1e3;
            sample.cpu_ns_per_message = Some(cpu_ns);
            sample
        });
        let samples: Vec<_> = runs.collect();
        let id = samples[0].run.case.case_id.clone();
        summarize(&[id], &[], &samples, &[], None).remove(0)
    }

    fn choices(mut cases: Vec<CaseSummary>) -> Vec<(String, LatencyFigure)> {
        mark_recommended(&mut cases);
        let of = |case: &CaseSummary| {
            let wait = wait_of(&case.case).unwrap_or_default().to_owned();
            case.recommended_wait_for
                .iter()
                .map(|figure| (wait.clone(), *figure))
                .collect::<Vec<_>>()
        };
        cases.iter().flat_map(of).collect()
    }

    #[test]
    fn the_cheapest_that_is_close_is_chosen() {
        let cases = |runs| {
            vec![
                case("block", [30, 90, 8], runs),
                case("spin:20us", [5, 90, 20], runs),
                case("spin:50us", [2, 60, 40], runs),
                case("spin:100us", [1, 30, 60], runs),
                case("spin", [1, 20, 100], runs),
            ]
        };
        assert_eq!(choices(cases(3)), [("spin:50us".to_owned(), LatencyFigure::P50)]);
        let both = choices(cases(20));
        let wanted = [("spin:50us", LatencyFigure::P50), ("spin:100us", LatencyFigure::P99)];
        assert_eq!(both, wanted.map(|(wait, figure)| (wait.to_owned(), figure)));
    }

    #[test]
    fn nothing_is_chosen_without_the_reference_or_without_an_alternative() {
        assert_eq!(choices(vec![case("block", [30, 90, 8], 3)]), []);
        assert_eq!(choices(vec![case("spin", [1, 20, 100], 3)]), []);
        let mut other_rate = case("block", [1, 1, 1], 3);
        other_rate.case.rate_per_s = Some(2_000);
        assert_eq!(choices(vec![case("spin", [1, 20, 100], 3), other_rate]), []);
    }

    #[test]
    fn why_nothing_is_recommended_is_said() {
        let reasons = |mut cases: Vec<CaseSummary>| {
            mark_recommended(&mut cases);
            let cases: Vec<&CaseSummary> = cases.iter().collect();
            let groups = cases_by_wait(&cases);
            groups.iter().filter_map(|group| why_no_recommendation(group)).collect::<Vec<_>>()
        };
        let (block, short) = (case("block", [30, 90, 8], 3), case("spin:20us", [5, 90, 20], 3));
        assert_eq!(reasons(vec![block.clone(), short]), [NoRecommendation::NoReference]);
        let mut spin = case("spin", [1, 20, 100], 3);
        assert_eq!(reasons(vec![block.clone(), spin.clone()]), []);
        spin.paced.as_mut().unwrap().only_disturbed = true;
        assert_eq!(reasons(vec![block.clone(), spin]), [NoRecommendation::UnreliableReference]);
        assert_eq!(reasons(vec![block]), []);
    }

    #[test]
    fn a_case_that_does_not_carry_its_rate_is_not_chosen() {
        let mut saturated = case("block", [1, 1, 1], 3);
        saturated.paced.as_mut().unwrap().saturated_runs = 3;
        let chosen = choices(vec![saturated, case("spin", [1, 20, 100], 3)]);
        assert_eq!(chosen, [("spin".to_owned(), LatencyFigure::P50)]);
    }
}
