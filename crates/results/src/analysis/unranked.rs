//! Mechanisms that are left out of a ranking because their runs are excluded, and rankings that are withheld for
//! this reason: the best of the remaining ones need not be the best of all.

use ipcperf_model::workload::WorkloadKind;

use super::CaseSummary;
use super::comparison::{
    Comparison, Contender, UndecidedComparison, UnrankedMechanism, contenders,
};

/// Withholds the comparison if something was left out and at most one case counts.
pub(super) fn withhold(valid: &[&CaseSummary], unranked: &[&CaseSummary]) -> Option<Comparison> {
    let (first, rest) = (unranked.first()?, valid.len() + unranked.len());
    if rest < 2 || valid.len() > 1 {
        return None;
    }
    let best = contenders(valid).into_iter().next();
    let left_out = unranked.iter().map(|case| UnrankedMechanism::from_summary(case)).collect();
    Some(undecided(valid.first().unwrap_or(first), best, left_out))
}

pub(super) fn undecided(
    example: &CaseSummary,
    best_counted: Option<Contender>,
    left_out: Vec<UnrankedMechanism>,
) -> Comparison {
    Comparison::Undecided(UndecidedComparison {
        workload: example.case.workload,
        placement: example.case.placement.clone(),
        class: example.cpu_pair_class.clone().filter(|_| best_counted.is_some()),
        buffer_bytes: example.case.buffer_bytes,
        message_options: example.case.message_options(),
        best_valid: best_counted,
        unranked: left_out,
    })
}

impl UnrankedMechanism {
    /// Summarizes why `case` is not ranked.
    pub fn from_summary(case: &CaseSummary) -> Self {
        let CaseSummary { runs, disturbed, failed, .. } = *case;
        Self { name: case.series(), runs, disturbed, failed, excluded_median: case.excluded_median }
    }

    /// Whether its excluded runs look better than `best`, so that the winner is unknown.
    pub fn has_better_excluded_median(&self, best: &Contender, workload: WorkloadKind) -> bool {
        self.excluded_median.is_some_and(|looked| match workload.is_streamed() {
            true => looked > best.median,
            false => looked < best.median,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::ranking::tests::compared;
    use crate::testing::sample;
    use crate::{ExclusionReason, Sample};

    /// Returns ten repetitions of each of `mechanisms`, given with the duration of one, us, and the number of
    /// disturbed ones.
    fn repeated(mechanisms: &[(&str, u64, u32)]) -> Vec<Sample> {
        let mut samples = Vec::new();
        for &(mechanism, elapsed_us, disturbed) in mechanisms {
            for block in 0..=10 {
                let mut one =
                    sample(mechanism, WorkloadKind::Stream, 64, block, elapsed_us * 1_000);
                one.cpu_pair_class = Some("46ns".to_owned());
                if (1..=disturbed).contains(&block) {
                    one.excluded = Some(ExclusionReason::Disturbed);
                    one.cpu_pair_class = None;
                }
                samples.push(one);
            }
        }
        samples
    }

    #[test]
    fn no_survivor_wins_over_one_that_looked_better_while_it_was_disturbed() {
        for disturbed in [6, 10] {
            let samples =
                repeated(&[("shm-ring", 10, disturbed), ("pipe", 1_000, 0), ("tcp", 2_000, 0)]);
            let [Comparison::Undecided(undecided)] = &compared(&samples)[..] else {
                panic!("{:?}", compared(&samples));
            };
            let best = undecided.best_valid.as_ref().map(|best| best.name.as_str());
            assert_eq!((best, undecided.unranked.len()), (Some("pipe"), 1));
            let UnrankedMechanism { name, runs, disturbed: seen, .. } = &undecided.unranked[0];
            assert_eq!((name.as_str(), *runs, *seen), ("shm-ring", 10, disturbed as usize));
        }
    }

    #[test]
    fn a_ranking_names_what_it_left_out_and_keeps_what_was_disturbed_less_than_half_the_time() {
        let samples = repeated(&[("pipe", 1_000, 5), ("tcp", 2_000, 0), ("fifo", 3_000, 9)]);
        let [Comparison::Ranked(ranking)] = &compared(&samples)[..] else {
            panic!("{:?}", compared(&samples));
        };
        assert_eq!((ranking.best.name.as_str(), ranking.second.name.as_str()), ("pipe", "tcp"));
        let left_out: Vec<&str> = ranking.unranked.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(left_out, ["fifo"]);
    }

    #[test]
    fn where_none_is_left_that_is_said() {
        let samples = repeated(&[("pipe", 1_000, 10), ("tcp", 2_000, 10)]);
        let [Comparison::Undecided(undecided)] = &compared(&samples)[..] else {
            panic!("{:?}", compared(&samples));
        };
        assert_eq!((&undecided.best_valid, undecided.unranked.len()), (&None, 2));
    }

    /// The largest size is not skipped because all of its runs were disturbed.
    #[test]
    fn a_size_of_which_nothing_counts_is_not_replaced_by_another() {
        let mut samples = repeated(&[("pipe", 1_000, 0), ("tcp", 2_000, 0)]);
        let mut large = repeated(&[("pipe", 1_000, 10), ("tcp", 2_000, 10)]);
        for one in &mut large {
            one.run.case.buffer_bytes = 4_096;
            one.run.case.case_id += "-large";
        }
        samples.append(&mut large);
        let [Comparison::Undecided(undecided)] = &compared(&samples)[..] else {
            panic!("{:?}", compared(&samples));
        };
        assert_eq!(undecided.buffer_bytes, 4_096);
    }
}
