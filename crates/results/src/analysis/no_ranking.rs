//! Reason why no mechanism of a file is ranked.

use std::collections::HashSet;

use super::CaseSummary;

/// Reason why no mechanism is ranked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoRanking {
    /// Fewer than two mechanisms were measured.
    TooFew,
    /// Cases with a kernel buffer other than the default are not ranked.
    KernelBuffer,
    /// Payload that is handed over in place is not ranked unless both peers touch it.
    NotDelivered,
    /// No two mechanisms were measured under the same conditions.
    DifferentConditions,
}

/// Returns the reason why no mechanism in `summaries` is ranked. Call it only if none is: it does not check that.
pub fn why_not_ranked(summaries: &[CaseSummary]) -> NoRanking {
    let measured = summaries.iter().filter(|case| case.refused.is_none());
    let measured: Vec<&CaseSummary> =
        measured.filter(|case| !case.case.is_harness_only()).collect();
    let default = |case: &CaseSummary| case.case.kernel_buffer_requested_bytes.is_none();
    if count_series(&measured, |_| true) < 2 {
        NoRanking::TooFew
    } else if count_series(&measured, default) < 2 {
        NoRanking::KernelBuffer
    } else if count_series(&measured, |case| default(case) && case.is_delivered()) < 2 {
        NoRanking::NotDelivered
    } else {
        NoRanking::DifferentConditions
    }
}

/// Returns the number of different series among those of `cases` that satisfy `is_counted`.
fn count_series(cases: &[&CaseSummary], is_counted: impl Fn(&CaseSummary) -> bool) -> usize {
    let counted = cases.iter().filter(|case| is_counted(case));
    counted.map(|case| case.series()).collect::<HashSet<String>>().len()
}

#[cfg(test)]
mod tests {
    use ipcperf_model::workload::WorkloadKind;

    use super::*;
    use crate::analysis::summarize;
    use crate::testing::sample;

    /// Returns summaries of one run of each of `mechanisms`.
    fn summaries(mechanisms: &[&str]) -> Vec<CaseSummary> {
        let run = |mechanism: &&str| sample(mechanism, WorkloadKind::Stream, 64, 1, 1_000);
        let samples: Vec<_> = mechanisms.iter().map(run).collect();
        let cases: Vec<String> =
            samples.iter().map(|sample| sample.run.case.case_id.clone()).collect();
        summarize(&cases, &[], &samples, &[], None)
    }

    #[test]
    fn each_cause_is_found() {
        assert_eq!(why_not_ranked(&summaries(&["null", "pipe"])), NoRanking::TooFew);
        assert_eq!(why_not_ranked(&summaries(&["bus-memfd", "pipe"])), NoRanking::NotDelivered);
        let mut both = summaries(&["tcp", "pipe"]);
        assert_eq!(why_not_ranked(&both), NoRanking::DifferentConditions);
        both[0].case.kernel_buffer_requested_bytes = Some(5_120);
        assert_eq!(why_not_ranked(&both), NoRanking::KernelBuffer);
    }
}
