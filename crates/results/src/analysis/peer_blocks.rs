//! Runs of cases that differ only in their number of peers, by block.

use ipcperf_stats::Curve;

use super::CaseSummary;
use crate::{CaseIdentity, Sample};

/// Valid runs of cases that differ only in their number of peers.
#[derive(Debug)]
pub(super) struct PeerBlocks<'a> {
    samples: Vec<&'a Sample>,
    /// Numbers of peers, in ascending order.
    pub(super) counts: Vec<u32>,
}

impl<'a> PeerBlocks<'a> {
    /// Takes those of `samples` that are valid and that `counts` accepts.
    pub(super) fn new(samples: &[&'a Sample], accepts: impl Fn(&Sample) -> bool) -> Self {
        let valid = |sample: &&Sample| sample.is_valid_uninstrumented() && accepts(sample);
        let samples: Vec<&Sample> = samples.iter().copied().filter(valid).collect();
        let mut counts: Vec<u32> =
            samples.iter().filter_map(|sample| sample.run.case.peers).collect();
        counts.sort_unstable();
        counts.dedup();
        Self { samples, counts }
    }

    /// Returns `value` over the numbers of peers, in blocks. `None` if there are none.
    pub(super) fn curve(&self, value: impl Fn(&Sample) -> Option<f64>) -> Option<Curve> {
        let mut blocks: Vec<u32> = self.samples.iter().map(|sample| sample.run.block).collect();
        blocks.sort_unstable();
        blocks.dedup();
        let at = |block: u32, count: u32| {
            let is_it = |sample: &&&Sample| {
                sample.run.block == block && sample.run.case.peers == Some(count)
            };
            self.samples.iter().find(is_it).and_then(|sample| value(sample))
        };
        let row = |&block: &u32| self.counts.iter().map(|&count| at(block, count)).collect();
        let levels = self.counts.iter().map(|&count| f64::from(count)).collect();
        Curve::new(levels, blocks.iter().map(row).collect()).ok()
    }
}

/// Groups the cases of `summaries` that `accepts` and that differ only in their number of peers. Returns, for each group, the
/// index of the case with the most peers, and the group's `samples`.
pub(super) fn groups<'a>(
    summaries: &[CaseSummary],
    samples: &'a [Sample],
    accepts: impl Fn(&CaseIdentity) -> bool,
) -> Vec<(usize, Vec<&'a Sample>)> {
    let mut groups: Vec<(CaseIdentity, usize)> = Vec::new();
    let cases = summaries.iter().map(|summary| &summary.case).enumerate();
    for (index, case) in cases.filter(|(_, case)| case.peers.is_some() && accepts(case)) {
        let common = without_peers(case);
        match groups.iter_mut().find(|(known, _)| *known == common) {
            Some((_, most)) if summaries[*most].case.peers < case.peers => *most = index,
            Some(_) => {}
            None => groups.push((common, index)),
        }
    }
    let of_group = |common: &CaseIdentity| {
        let is_same = |sample: &&Sample| without_peers(&sample.run.case) == *common;
        samples.iter().filter(is_same).collect::<Vec<_>>()
    };
    groups.into_iter().map(|(common, most)| (most, of_group(&common))).collect()
}

/// Returns what `case` has in common with those that differ only in the number of peers.
fn without_peers(case: &CaseIdentity) -> CaseIdentity {
    let mut common = case.clone();
    common.case_id.clear();
    common.cpus.clear();
    (common.peers, common.facts, common.name) = (None, None, None);
    common
}
