//! Which mechanism is best for small and for large messages, and by what factor.

use std::collections::BTreeSet;

use ipcperf_engine::workload::Kind;

use super::{CaseSummary, moves_nothing};

/// The winner of one comparison between two or more.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Ranking {
    pub(crate) workload: Kind,
    pub(crate) placement: String,
    pub(crate) buffer_bytes: u64,
    /// The winner's name and median.
    pub(crate) best: (String, f64),
    /// The second's name and by what factor the winner is ahead of it.
    pub(crate) second: (String, f64),
}

/// For each placement: the shortest round trip at the smallest message and the highest bandwidth at
/// the largest, among mechanisms that move something. Cases with kernel buffers other than the
/// default, or in another mode than the first, are left to the tables.
pub(crate) fn rankings(summaries: &[CaseSummary]) -> Vec<Ranking> {
    let Some(mode) = summaries.first().map(|summary| summary.case.mode) else {
        return Vec::new();
    };
    let comparable: Vec<&CaseSummary> = summaries
        .iter()
        .filter(|case| case.case.mode == mode && case.case.kernel_buffer_asked_bytes.is_none())
        .filter(|case| !moves_nothing(&case.case.mechanism) && case.main().is_some())
        .collect();
    let mut placements: Vec<&str> = Vec::new();
    for case in &comparable {
        if !placements.contains(&case.case.placement.as_str()) {
            placements.push(&case.case.placement);
        }
    }
    let both = [(Kind::RoundTrip, Side::Smallest), (Kind::Stream, Side::Largest)];
    let all = both.iter().flat_map(|both| placements.iter().map(move |place| (both, place)));
    all.filter_map(|((workload, side), place)| rank(&comparable, *workload, *side, place)).collect()
}

#[derive(Clone, Copy)]
enum Side {
    Smallest,
    Largest,
}

fn rank(cases: &[&CaseSummary], workload: Kind, side: Side, placement: &str) -> Option<Ranking> {
    let here: Vec<&&CaseSummary> = cases
        .iter()
        .filter(|case| case.case.workload == workload && case.case.placement == placement)
        .collect();
    let sizes: BTreeSet<u64> = here.iter().map(|case| case.case.buffer_bytes).collect();
    let buffer_bytes = *match side {
        Side::Smallest => sizes.first()?,
        Side::Largest => sizes.last()?,
    };
    let mut ranked: Vec<(String, f64)> = here
        .iter()
        .filter(|case| case.case.buffer_bytes == buffer_bytes)
        .filter_map(|case| Some((case.series(), case.main()?.spread().median)))
        .collect();
    ranked.sort_by(|one, other| one.1.total_cmp(&other.1));
    if workload == Kind::Stream {
        ranked.reverse();
    }
    let mut ranked = ranked.into_iter();
    let (best, second) = (ranked.next()?, ranked.next()?);
    let factor = match workload {
        Kind::Stream => best.1 / second.1,
        Kind::RoundTrip => second.1 / best.1,
    };
    let second = (second.0, factor);
    Some(Ranking { workload, placement: placement.to_owned(), buffer_bytes, best, second })
}
