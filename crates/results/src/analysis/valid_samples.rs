//! Valid samples of each case in each CPU distance class, in the order of the repetitions, and their drift.

use std::collections::HashMap;

use ipcperf_stats::{Steadiness, steadiness};

use super::{CaseSummary, main_figure};
use crate::Sample;

/// Valid samples by case and CPU distance class.
#[derive(Clone, Debug, Default)]
pub struct ValidSamples<'a> {
    samples: HashMap<(&'a str, Option<&'a str>), Vec<&'a Sample>>,
}

impl<'a> ValidSamples<'a> {
    /// Groups the valid ones of `samples`.
    pub fn new(samples: &'a [Sample]) -> Self {
        let mut valid = Self::default();
        for sample in samples.iter().filter(|sample| sample.excluded.is_none()) {
            let key = (sample.run.case.case_id.as_str(), sample.cpu_pair_class.as_deref());
            valid.samples.entry(key).or_default().push(sample);
        }
        valid
    }

    /// Returns the samples that `case` summarizes.
    pub fn of_case(&self, case: &'a CaseSummary) -> &[&'a Sample] {
        let key = (case.case.case_id.as_str(), case.cpu_pair_class.as_deref());
        self.samples.get(&key).map_or(&[], Vec::as_slice)
    }
}

/// Returns the change of the main figure from the first of `samples` to the last, as a share of the median: 0.1 is a
/// rise by 10 %. `None` if there is no drift, or if there are too few samples to tell.
pub fn drift(samples: &[&Sample]) -> Option<f64> {
    let figures: Vec<f64> = samples.iter().filter_map(|sample| main_figure(sample)).collect();
    match steadiness(&figures)? {
        Steadiness::Steady => None,
        Steadiness::Drifting { change, .. } => Some(change),
    }
}

#[cfg(test)]
mod tests {
    use ipcperf_model::workload::WorkloadKind;

    use super::*;
    use crate::ExclusionReason;
    use crate::analysis::summarize;
    use crate::testing::sample;

    /// Returns twenty runs of `pipe`, which take these times in ns.
    fn runs(time: impl Fn(u32) -> u64) -> Vec<Sample> {
        (1..=20).map(|block| sample("pipe", WorkloadKind::Stream, 64, block, time(block))).collect()
    }

    #[test]
    fn a_case_has_the_valid_samples_of_its_class() {
        let mut samples = runs(|_| 1_000_000);
        samples[0].excluded = Some(ExclusionReason::First);
        samples[1].cpu_pair_class = Some("46ns".to_owned());
        let case = samples[0].run.case.case_id.clone();
        let summaries = summarize(&[case], &[], &samples, &[], None);
        let valid = ValidSamples::new(&samples);
        let counts = summaries.iter().map(|summary| valid.of_case(summary).len());
        assert_eq!(counts.collect::<Vec<_>>(), [18, 1]);
    }

    #[test]
    fn only_a_trend_is_a_drift() {
        let steady = runs(|block| 1_000_000 + u64::from(block * 7 % 5) * 1_000);
        assert_eq!(drift(&steady.iter().collect::<Vec<_>>()), None);
        let slower = runs(|block| 1_000_000 + 40_000 * u64::from(block));
        let change = drift(&slower.iter().collect::<Vec<_>>()).expect("a drift");
        assert!(change < -0.2, "the bandwidth falls: {change}");
        assert_eq!(drift(&[]), None);
    }
}
