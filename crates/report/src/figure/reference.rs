//! Reference lines and marks from the machine: hardware limits and caches.

use std::collections::{BTreeMap, HashMap};

use ipcperf_model::mechanism::PayloadPath;
use ipcperf_results::analysis::{AnalyzedFile, CaseSummary, has_wake_ups};

use super::axis::Axis;
use super::chart::{Content, Guide};
use super::figure_spec::{FigureSpec, Reference};
use super::group::Group;
use super::layout::Layout;
use super::limit_kind::LimitKind;

/// Returns the guides requested by `description`.
pub(super) fn guides(
    description: &FigureSpec,
    layout: Layout,
    group: &Group,
    content: &Content,
) -> Vec<Guide> {
    let mut guides = Vec::new();
    for reference in description.references {
        match (reference, layout) {
            (Reference::Limit, Layout::Plane) => guides.extend(limit_curves(&group.cases)),
            (Reference::Limit, Layout::Rows) => guides.extend(row_limits(group, content)),
            (Reference::HundredPercent, Layout::Plane) => guides.extend(full_limit_line(group)),
            (Reference::HundredPercent, Layout::Rows) => {
                #[allow(clippy::cast_precision_loss, reason = "rows are few")]
                let last = content.rows.len() as f64 - 0.5;
                guides.push(Guide {
                    limit: LimitKind::Whole,
                    lines: vec![vec![[1.0, -0.5], [1.0, last]]],
                });
            }
            (Reference::Caches, _) => {}
        }
    }
    guides
}

/// Returns the hardware limit of `cases` at each size, by how the peers wait and the path of the payload.
pub(super) fn limit_curves(cases: &[&CaseSummary]) -> Vec<Guide> {
    let mut by_way: BTreeMap<LimitKind, BTreeMap<u64, f64>> = BTreeMap::new();
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
fn row_limits(group: &Group, content: &Content) -> Vec<Guide> {
    let mut by_way: BTreeMap<LimitKind, Vec<Vec<[f64; 2]>>> = BTreeMap::new();
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
fn limit(case: &CaseSummary) -> Option<(LimitKind, f64)> {
    let limit = match case.case.facts.as_ref()?.path {
        _ if has_wake_ups(&case.case) => LimitKind::Sleep,
        // Shared memory with a doorbell call is subject to the limit of the kernel.
        PayloadPath::Kernel | PayloadPath::SharedMemoryWithDoorbell => LimitKind::Kernel,
        PayloadPath::CrossMemoryRead => LimitKind::CrossMemoryRead,
        PayloadPath::Memory => LimitKind::Memory,
        PayloadPath::Nowhere => return None,
    };
    let least_ns = case.hardware_limit.as_ref()?.min_ns;
    let at = match case.case.workload.is_answered() {
        true => least_ns,
        false => case.case.mean_message_bytes() * 1e9 / least_ns,
    };
    Some((limit, at))
}

#[allow(clippy::cast_precision_loss, reason = "buffer sizes on an axis")]
fn full_limit_line(group: &Group) -> Option<Guide> {
    let sizes = || group.cases.iter().map(|case| case.case.buffer_bytes as f64);
    let (least, most) =
        (sizes().fold(f64::INFINITY, f64::min), sizes().fold(f64::NEG_INFINITY, f64::max));
    let line = vec![[least, 1.0], [most, 1.0]];
    (least <= most).then(|| Guide { limit: LimitKind::Whole, lines: vec![line] })
}

/// Returns the caches of the machine within the horizontal axis, if the description asks for them.
pub(super) fn caches(
    description: &FigureSpec,
    file: &AnalyzedFile,
    x: &Axis,
) -> Vec<(f64, &'static str)> {
    if !description.references.contains(&Reference::Caches) {
        return Vec::new();
    }
    caches_within(file, x)
}

/// Returns the caches of the machine of `file` that are within `x`.
#[allow(clippy::cast_precision_loss, reason = "sizes of caches on an axis")]
pub(super) fn caches_within(file: &AnalyzedFile, x: &Axis) -> Vec<(f64, &'static str)> {
    let cpus = &file.results.header.environment.cpus;
    let sizes =
        [(cpus.cache_l1d_bytes, "L1d"), (cpus.cache_l2_bytes, "L2"), (cpus.cache_l3_bytes, "L3")];
    let known = sizes.into_iter().filter_map(|(bytes, name)| Some((bytes? as f64, name)));
    known.filter(|(bytes, _)| x.contains(*bytes)).collect()
}
