//! Kernel buffers that are larger or smaller than requested, in the names of rows.

use std::collections::{BTreeSet, HashMap};

use ipcperf_model::size::Bytes;
use ipcperf_results::CaseIdentity;

use super::cells::CaseRow;

/// Requested and granted size, bytes.
type Sizes = (u64, u64);

/// Returns `rows`, the cases under one heading. The name of a series says so if the kernel granted all of its cases one
/// other size than they request. If the sizes depend on the message, a name would be wrong for most cells.
pub(super) fn with_granted_sizes<'a>(
    rows: &[&CaseRow<'a>],
    requested_buffer_bytes: fn(&CaseIdentity) -> Option<u64>,
) -> Vec<CaseRow<'a>> {
    let mut sizes: HashMap<&str, BTreeSet<Sizes>> = HashMap::new();
    for row in rows {
        let requested = requested_buffer_bytes(&row.case.case);
        if let Some(both) = requested.zip(row.case.kernel_buffer_granted_bytes) {
            sizes.entry(&row.series).or_default().insert(both);
        }
    }
    let named = rows.iter().map(|row| {
        let note = sizes.get(row.series.as_str()).and_then(note).unwrap_or_default();
        CaseRow { case: row.case, series: format!("{}{note}", row.series) }
    });
    named.collect()
}

/// Names the sizes if there is one pair of different ones.
fn note(sizes: &BTreeSet<Sizes>) -> Option<String> {
    let (requested, granted) = sizes.first().filter(|_| sizes.len() == 1)?;
    let words = || format!(" ({} requested, {} granted)", Bytes(*requested), Bytes(*granted));
    (requested != granted).then(words)
}
