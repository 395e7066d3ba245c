//! Reference lines and marks from the machine: hardware limits and caches.

use std::collections::{BTreeMap, HashMap};

use ipcperf_model::mechanism::PayloadWay;
use ipcperf_model::workload::Kind;
use ipcperf_results::analysis::{CaseSummary, Summarised, takes_wake_ups};

use super::axis::Axis;
use super::chart::{Content, Guide};
use super::description::{Description, Reference};
use super::group::Group;
use super::layout::Layout;

/// Hardware limit that a reference line shows, in the order of the legend.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Limit {
    /// Limit of peers that sleep between messages.
    Sleep,
    /// Limit of a transfer out of the sender's memory.
    Reach,
    /// Limit of a transfer through shared memory.
    Memory,
    /// Limit of a transfer through the kernel.
    Kernel,
    /// Limit of every case, on an axis of shares.
    Whole,
}

impl Limit {
    /// Returns the name in the legend.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Kernel => "limit through the kernel",
            Self::Reach => "limit out of the sender's memory",
            Self::Sleep => "limit of peers that sleep",
            Self::Memory => "limit through shared memory",
            Self::Whole => "the limit",
        }
    }

    /// Returns the SVG `stroke-dasharray`.
    pub(super) const fn dashes(self) -> &'static str {
        match self {
            Self::Memory => "2 2",
            Self::Reach => "5 2 1 2",
            Self::Sleep => "8 3",
            Self::Kernel | Self::Whole => "5 3",
        }
    }
}

/// Returns the guides requested by `description`.
pub(super) fn guides(
    description: &Description,
    layout: Layout,
    group: &Group,
    content: &Content,
) -> Vec<Guide> {
    let mut guides = Vec::new();
    for reference in description.references {
        match (reference, layout) {
            (Reference::Limit, Layout::Plane) => guides.extend(limits_of(&group.cases)),
            (Reference::Limit, Layout::Rows) => guides.extend(limits_of_rows(group, content)),
            (Reference::Whole, Layout::Plane) => guides.extend(whole(group)),
            (Reference::Whole, Layout::Rows) => {
                #[allow(clippy::cast_precision_loss, reason = "rows are few")]
                let last = content.rows.len() as f64 - 0.5;
                guides.push(Guide {
                    limit: Limit::Whole,
                    lines: vec![vec![[1.0, -0.5], [1.0, last]]],
                });
            }
            (Reference::Caches, _) => {}
        }
    }
    guides
}

/// Returns the hardware limit of `cases` at each size, by how the peers wait and the path of the payload.
pub(super) fn limits_of(cases: &[&CaseSummary]) -> Vec<Guide> {
    let mut by_way: BTreeMap<Limit, BTreeMap<u64, f64>> = BTreeMap::new();
    for case in cases {
        if let Some((limit, at)) = limit(case) {
            by_way.entry(limit).or_default().entry(case.case.buffer_bytes).or_insert(at);
        }
    }
    #[allow(clippy::cast_precision_loss, reason = "buffer sizes on an axis")]
    let line = |limits: BTreeMap<u64, f64>| {
        vec![limits.into_iter().map(|(bytes, limit)| [bytes as f64, limit]).collect()]
    };
    by_way.into_iter().map(|(limit, limits)| Guide { limit, lines: line(limits) }).collect()
}

/// Returns the hardware limits if each case has a row: a stroke in each row.
fn limits_of_rows(group: &Group, content: &Content) -> Vec<Guide> {
    let mut by_way: BTreeMap<Limit, Vec<Vec<[f64; 2]>>> = BTreeMap::new();
    let cases: HashMap<String, &&CaseSummary> =
        group.cases.iter().map(|case| (case.series(), case)).collect();
    for (row, name) in content.rows.iter().enumerate() {
        if let Some((limit, at)) = cases.get(name).and_then(|case| limit(case)) {
            #[allow(clippy::cast_precision_loss, reason = "rows are few")]
            let row = row as f64;
            by_way.entry(limit).or_default().push(vec![[at, row - 0.3], [at, row + 0.3]]);
        }
    }
    by_way.into_iter().map(|(limit, lines)| Guide { limit, lines }).collect()
}

/// Returns the hardware limit of a case, and its value in the unit of the metric.
#[allow(clippy::cast_precision_loss, reason = "a rate for a picture")]
fn limit(case: &CaseSummary) -> Option<(Limit, f64)> {
    let limit = match case.case.facts.as_ref()?.way {
        _ if takes_wake_ups(&case.case) => Limit::Sleep,
        // Shared memory with a doorbell call is subject to the limit of the kernel.
        PayloadWay::Kernel | PayloadWay::RungMemory => Limit::Kernel,
        PayloadWay::Reach => Limit::Reach,
        PayloadWay::Memory => Limit::Memory,
        PayloadWay::Nowhere => return None,
    };
    let least_ns = case.roof.as_ref()?.least_ns;
    let at = match case.case.workload {
        Kind::RoundTrip | Kind::RequestReply => least_ns,
        Kind::Stream => case.case.buffer_bytes as f64 * 1e9 / least_ns,
    };
    Some((limit, at))
}

#[allow(clippy::cast_precision_loss, reason = "buffer sizes on an axis")]
fn whole(group: &Group) -> Option<Guide> {
    let sizes = || group.cases.iter().map(|case| case.case.buffer_bytes as f64);
    let (least, most) =
        (sizes().fold(f64::INFINITY, f64::min), sizes().fold(f64::NEG_INFINITY, f64::max));
    let line = vec![[least, 1.0], [most, 1.0]];
    (least <= most).then(|| Guide { limit: Limit::Whole, lines: vec![line] })
}

/// Returns the caches of the machine within the horizontal axis, if the description asks for them.
pub(super) fn caches(
    description: &Description,
    file: &Summarised,
    x: &Axis,
) -> Vec<(f64, &'static str)> {
    if !description.references.contains(&Reference::Caches) {
        return Vec::new();
    }
    caches_on(file, x)
}

/// Returns the caches of the machine of `file` that are within `x`.
#[allow(clippy::cast_precision_loss, reason = "sizes of caches on an axis")]
pub(super) fn caches_on(file: &Summarised, x: &Axis) -> Vec<(f64, &'static str)> {
    let cpus = &file.results.header.environment.cpus;
    let sizes =
        [(cpus.cache_l1d_bytes, "L1d"), (cpus.cache_l2_bytes, "L2"), (cpus.cache_l3_bytes, "L3")];
    let known = sizes.into_iter().filter_map(|(bytes, name)| Some((bytes? as f64, name)));
    known.filter(|(bytes, _)| x.holds(*bytes)).collect()
}
