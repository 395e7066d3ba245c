//! How the throughput of independent pairs grows with their number.

use ipcperf_model::workload::Arrangement;
use ipcperf_stats::{Bootstrap, Curve, Interval};
use schemars::JsonSchema;
use serde::Serialize;

use super::peer_blocks::PeerBlocks;
use super::{CaseSummary, peer_blocks};
use crate::{CaseIdentity, Sample};

/// Minimum number of numbers of pairs for a fit, none of them above the number of CPUs.
const MIN_COUNTS: usize = 4;
/// Number of numbers of pairs from which the reason for a missing fit is given.
const MIN_STATED: usize = 3;

/// The universal scalability law of Gunther (2007), fitted to the throughput of pairs, or why it was not fitted.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ScalabilitySummary {
    /// Parameters of the fit; null if the law was not fitted.
    pub fit: Option<ScalabilityFit>,
    /// Reason why the law was not fitted; null if it was.
    pub reason: Option<String>,
}

/// Parameters of X(N) = g N / (1 + a (N - 1) + b N (N - 1)), medians over the blocks.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ScalabilityFit {
    /// Throughput g of one pair, messages, or round trips, per second.
    pub per_s_of_one: f64,
    /// Contention a: 0 if pairs do not wait for each other.
    pub contention: f64,
    /// 95 % interval of the contention; null for fewer than six blocks.
    pub contention_interval: Option<[f64; 2]>,
    /// Coherency b: cost of each two pairs to each other.
    pub coherency: f64,
    /// 95 % interval of the coherency.
    pub coherency_interval: Option<[f64; 2]>,
    /// Number of pairs with the highest throughput; null if it grows without end.
    pub peak_pairs: Option<f64>,
    /// Numbers of pairs that were fitted.
    pub pairs: Vec<u32>,
    /// Number of blocks.
    pub blocks: usize,
}

/// Adds the law to the case with the most pairs among those that differ only in their number.
pub(super) fn add_laws(summaries: &mut [CaseSummary], samples: &[Sample]) {
    for (index, of_group) in peer_blocks::groups(summaries, samples, is_scaled) {
        summaries[index].scalability = summarize(&of_group);
    }
}

/// Whether `case` is one of independent pairs that run as fast as they can.
fn is_scaled(case: &CaseIdentity) -> bool {
    case.rate_per_s.is_none() && case.workload.facts().arrangement == Arrangement::Pairs
}

fn summarize(samples: &[&Sample]) -> Option<ScalabilitySummary> {
    let counts = PeerBlocks::new(samples, |_| true).counts;
    if counts.len() < MIN_STATED {
        return None;
    }
    let cpus = cpu_count(samples);
    let fits = |sample: &Sample| sample.run.case.peers.is_some_and(|pairs| pairs <= cpus);
    let fitted = PeerBlocks::new(samples, fits);
    let fit = (fitted.counts.len() >= MIN_COUNTS).then(|| fit(&fitted)).flatten();
    let reason = fit.is_none().then(|| {
        format!(
            "the scalability law needs valid runs of at least {MIN_COUNTS} numbers of pairs up to the number of CPUs of the \
             pairs, which is {cpus}"
        )
    });
    Some(ScalabilitySummary { fit, reason })
}

/// Number of CPUs to which the pairs were pinned; 0 if the scheduler chose.
fn cpu_count(samples: &[&Sample]) -> u32 {
    let mut cpus: Vec<u32> =
        samples.iter().flat_map(|sample| &sample.run.case.cpus).copied().collect();
    cpus.sort_unstable();
    cpus.dedup();
    u32::try_from(cpus.len()).unwrap_or(u32::MAX)
}

fn fit(blocks: &PeerBlocks<'_>) -> Option<ScalabilityFit> {
    let curve: Curve = blocks.curve(per_s)?;
    let law = curve.scalability(&Bootstrap::default()).ok()?;
    let ends = |interval: Option<Interval>| interval.map(|interval| [interval.low, interval.high]);
    Some(ScalabilityFit {
        per_s_of_one: law.of_one,
        contention: law.contention,
        contention_interval: ends(law.contention_interval),
        coherency: law.coherency,
        coherency_interval: ends(law.coherency_interval),
        peak_pairs: law.peak,
        pairs: blocks.counts.clone(),
        blocks: law.blocks,
    })
}

#[allow(clippy::cast_precision_loss, reason = "a rate, good to 53 bits")]
fn per_s(sample: &Sample) -> Option<f64> {
    Some(sample.messages as f64 * 1e9 / sample.elapsed_ns.max(1) as f64)
}

#[cfg(test)]
mod tests {
    use ipcperf_model::workload::WorkloadKind;

    use super::*;
    use crate::analysis::summarize as summaries;
    use crate::testing::sample;

    /// Runs of 1,000 messages each, of pairs that lose a tenth of their time to each other.
    fn law(counts: &[u32], cpus: u32) -> Option<ScalabilitySummary> {
        let run = |block: u32, pairs: u32| {
            let slower = 1.0 + 0.1 * f64::from(pairs - 1);
            #[allow(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "milliseconds"
            )]
            let elapsed_ns = (1e6 * slower / f64::from(pairs)) as u64;
            let mut sample = sample("pipe", WorkloadKind::Pairs, 64, block, elapsed_ns);
            sample.run.case.peers = Some(pairs);
            sample.run.case.cpus = (0..cpus).collect();
            sample.run.case.case_id = format!("case/{pairs}");
            sample
        };
        let all = (1..=7).flat_map(|block| counts.iter().map(move |&count| (block, count)));
        let samples: Vec<Sample> = all.map(|(block, count)| run(block, count)).collect();
        let cases: Vec<String> = counts.iter().map(|count| format!("case/{count}")).collect();
        let mut summaries = summaries(&cases, &[], &samples, &[], None);
        add_laws(&mut summaries, &samples);
        summaries.pop().and_then(|summary| summary.scalability)
    }

    #[test]
    fn a_planted_contention_is_found() {
        let found = law(&[1, 2, 4, 8, 16], 8).unwrap().fit.unwrap();
        assert!((found.contention - 0.1).abs() < 1e-4, "{found:?}");
        assert!(found.coherency.abs() < 1e-4 && found.contention_interval.is_some(), "{found:?}");
        assert_eq!(found.pairs, [1, 2, 4, 8], "not more pairs than CPUs");
    }

    #[test]
    fn too_few_cpus_are_the_reason_for_no_fit() {
        let none = law(&[1, 2, 4, 8], 2).unwrap();
        assert_eq!(none.fit, None);
        assert!(none.reason.unwrap().ends_with("which is 2"));
        assert_eq!(law(&[1, 2], 8), None, "two points allow no law");
    }
}
