//! CPU time of one more peer: how the CPU time of a message grows with the number of peers at a fixed rate.

use ipcperf_model::workload::Arrangement;
use ipcperf_stats::Bootstrap;
use schemars::JsonSchema;
use serde::Serialize;

use super::peer_blocks::PeerBlocks;
use super::{CaseSummary, peer_blocks};
use crate::{CaseIdentity, Sample};

/// Minimum number of different numbers of peers: through two, there is always a line.
const MIN_LEVELS: usize = 3;

/// CPU time of one more peer at a fixed rate: the slope of a straight line over the numbers of peers.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PeerCost {
    /// CPU time that one more peer adds to a message, or request, ns: median over the blocks. In `fan-out`, a message is counted
    /// once, however many receivers get it.
    pub cpu_ns_per_peer: f64,
    /// 95 % interval of this median.
    pub interval: [f64; 2],
    /// CPU time of a message with the smallest number of peers, ns, according to the line.
    pub cpu_ns_with_fewest: f64,
    /// Numbers of peers on the line, in ascending order. A receiver or server with one peer is not among them.
    pub peers: Vec<u32>,
    /// Number of blocks in which each of them has a valid run.
    pub blocks: usize,
}

/// Adds the cost of one more peer to the case with the most peers among those that differ only in it. Without a rate, the load
/// would grow with the number of peers.
pub(super) fn add_costs(summaries: &mut [CaseSummary], samples: &[Sample]) {
    let groups = peer_blocks::groups(summaries, samples, |case| case.rate_per_s.is_some());
    for (index, of_group) in groups {
        summaries[index].peer_cost = cost(&of_group);
    }
}

/// Fits the line to `samples`, which differ only in the number of peers.
fn cost(samples: &[&Sample]) -> Option<PeerCost> {
    let is_comparable =
        |sample: &Sample| sample.paced.saturated == Some(false) && is_multiplexed(&sample.run.case);
    let carried = PeerBlocks::new(samples, is_comparable);
    let slope = carried.curve(cpu_ns)?.linear_slope(MIN_LEVELS, &Bootstrap::default()).ok()?;
    // Without an interval, single disturbed blocks would decide.
    let interval = slope.interval?;
    Some(PeerCost {
        cpu_ns_per_peer: slope.median,
        interval: [interval.low, interval.high],
        cpu_ns_with_fewest: slope.at_lowest,
        peers: carried.counts,
        blocks: slope.blocks,
    })
}

/// Whether the peers of `case` work like those of cases with more: a receiver with one sender does not multiplex.
fn is_multiplexed(case: &CaseIdentity) -> bool {
    case.workload.facts().arrangement != Arrangement::ManyToOne || case.peers != Some(1)
}

/// CPU time of a message, or request, of a run, ns. The messages of `fan-out` are those that were sent.
fn cpu_ns(sample: &Sample) -> Option<f64> {
    let case = &sample.run.case;
    let copies = match case.workload.facts().arrangement {
        Arrangement::OneToMany => case.peers.unwrap_or(1),
        _ => 1,
    };
    Some(sample.cpu_ns_per_message? * f64::from(copies))
}

#[cfg(test)]
mod tests {
    use ipcperf_model::workload::WorkloadKind;

    use super::*;
    use crate::analysis::summarize;
    use crate::testing::sample;

    /// A run with `peers` at a fixed rate, whose messages take `cpu_ns` each.
    fn run(workload: WorkloadKind, block: u32, peers: u32, cpu_ns: f64) -> Sample {
        let mut sample = sample("pipe", workload, 64, block, 1_000_000);
        let case = &mut sample.run.case;
        (case.peers, case.rate_per_s, case.scheduled_messages) =
            (Some(peers), Some(1_000), Some(9));
        case.case_id = format!("case/{peers}");
        sample.paced.saturated = Some(false);
        sample.cpu_ns_per_message = Some(cpu_ns);
        sample
    }

    fn costs(
        workload: WorkloadKind,
        cpu_ns: impl Fn(u32) -> f64,
        counts: &[u32],
    ) -> Vec<Option<PeerCost>> {
        let samples: Vec<Sample> = (1..=7)
            .flat_map(|block| counts.iter().map(move |&count| (block, count)))
            .map(|(block, count)| run(workload, block, count, cpu_ns(count)))
            .collect();
        let cases: Vec<String> = counts.iter().map(|count| format!("case/{count}")).collect();
        let mut summaries = summarize(&cases, &[], &samples, &[], None);
        add_costs(&mut summaries, &samples);
        summaries.into_iter().map(|summary| summary.peer_cost).collect()
    }

    #[test]
    fn a_planted_cost_of_one_more_peer_is_found() {
        let found =
            costs(WorkloadKind::FanIn, |count| 1_000.0 + 50.0 * f64::from(count), &[1, 2, 4, 8]);
        let cost = found[3].as_ref().expect("at the most peers");
        assert!(found[..3].iter().all(Option::is_none));
        assert!((cost.cpu_ns_per_peer - 50.0).abs() < 1e-9, "{cost:?}");
        assert!((cost.cpu_ns_with_fewest - 1_100.0).abs() < 1e-9, "{cost:?}");
        assert_eq!((cost.peers.as_slice(), cost.blocks), (&[2, 4, 8][..], 7));
        assert!(cost.interval[0] <= 50.1 && cost.interval[1] >= 49.9, "{cost:?}");
    }

    #[test]
    fn a_message_to_several_receivers_is_one_message() {
        // Each of the receivers costs 300 ns, whatever their number.
        let found = costs(WorkloadKind::FanOut, |_| 300.0, &[1, 2, 3]);
        let cost = found[2].as_ref().expect("at the most peers");
        assert!((cost.cpu_ns_per_peer - 300.0).abs() < 1e-9, "{cost:?}");
    }

    #[test]
    fn two_numbers_of_peers_are_no_line() {
        assert_eq!(costs(WorkloadKind::FanIn, f64::from, &[1, 8]), [None, None]);
    }
}
