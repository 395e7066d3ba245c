//! Mechanisms that are left out of a ranking because their runs are excluded, and rankings that are withheld for
//! this reason: the best of the remaining ones need not be the best of all.

use ipcperf_model::workload::Kind;

use super::CaseSummary;
use super::comparison::{Comparison, Contender, LeftOut, Undecided, contenders};

/// Withholds the comparison if something was left out and at most one case counts.
pub(super) fn nobody(counted: &[&CaseSummary], apart: &[&CaseSummary]) -> Option<Comparison> {
    let (first, rest) = (apart.first()?, counted.len() + apart.len());
    if rest < 2 || counted.len() > 1 {
        return None;
    }
    let best = contenders(counted).into_iter().next();
    let left_out = apart.iter().map(|case| LeftOut::of(case)).collect();
    Some(undecided(counted.first().unwrap_or(first), best, left_out))
}

pub(super) fn undecided(
    example: &CaseSummary,
    best_counted: Option<Contender>,
    left_out: Vec<LeftOut>,
) -> Comparison {
    Comparison::Undecided(Undecided {
        workload: example.case.workload,
        placement: example.case.placement.clone(),
        class: example.cpu_pair_class.clone().filter(|_| best_counted.is_some()),
        buffer_bytes: example.case.buffer_bytes,
        handling: example.case.handling(),
        best_counted,
        left_out,
    })
}

impl LeftOut {
    /// Summarizes why `case` is not ranked.
    pub fn of(case: &CaseSummary) -> Self {
        let CaseSummary { runs, disturbed, failed, .. } = *case;
        Self { name: case.series(), runs, disturbed, failed, looked: case.set_aside_median }
    }

    /// Whether its excluded runs look better than `best`, so that the winner is unknown.
    pub fn looked_better(&self, best: &Contender, workload: Kind) -> bool {
        self.looked.is_some_and(|looked| match workload {
            Kind::Stream => looked > best.median,
            Kind::RoundTrip | Kind::RequestReply => looked < best.median,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::best::tests::compared;
    use crate::testing::sample;
    use crate::{Sample, SetAside};

    /// Returns ten repetitions of each of `mechanisms`, given with the duration of one, us, and the number of
    /// disturbed ones.
    fn repeated(mechanisms: &[(&str, u64, u32)]) -> Vec<Sample> {
        let mut samples = Vec::new();
        for &(mechanism, elapsed_us, disturbed) in mechanisms {
            for block in 0..=10 {
                let mut one = sample(mechanism, Kind::Stream, 64, block, elapsed_us * 1_000);
                one.cpu_pair_class = Some("46ns".to_owned());
                if (1..=disturbed).contains(&block) {
                    one.set_aside = Some(SetAside::Disturbed);
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
            let best = undecided.best_counted.as_ref().map(|best| best.name.as_str());
            assert_eq!((best, undecided.left_out.len()), (Some("pipe"), 1));
            let LeftOut { name, runs, disturbed: seen, .. } = &undecided.left_out[0];
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
        let left_out: Vec<&str> = ranking.left_out.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(left_out, ["fifo"]);
    }

    #[test]
    fn where_none_is_left_that_is_said() {
        let samples = repeated(&[("pipe", 1_000, 10), ("tcp", 2_000, 10)]);
        let [Comparison::Undecided(undecided)] = &compared(&samples)[..] else {
            panic!("{:?}", compared(&samples));
        };
        assert_eq!((&undecided.best_counted, undecided.left_out.len()), (&None, 2));
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
