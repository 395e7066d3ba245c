//! Cases that were refused because they exceed a limit, with the reasons.

use std::collections::{BTreeSet, HashMap};

use ipcperf_model::printable::printable_line;
use ipcperf_model::size::Bytes;
use ipcperf_results::analysis::CaseSummary;

/// Lists each reason for a refusal once, with the sizes that it applies to.
pub fn refusals(summaries: &[CaseSummary]) -> Vec<String> {
    let mut reasons: Vec<(&str, BTreeSet<u64>)> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    for summary in summaries {
        let Some(reason) = &summary.refused else {
            continue;
        };
        let place = *places.entry(reason).or_insert_with(|| {
            reasons.push((reason, BTreeSet::new()));
            reasons.len() - 1
        });
        reasons[place].1.insert(summary.case.buffer_bytes);
    }
    let line = |(reason, sizes): &(&str, BTreeSet<u64>)| {
        let sizes: Vec<String> = sizes.iter().map(|&bytes| Bytes(bytes).to_string()).collect();
        format!("refused at {}: {}", sizes.join(", "), printable_line(reason))
    };
    reasons.iter().map(line).collect()
}
