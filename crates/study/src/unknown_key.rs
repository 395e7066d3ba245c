//! The mistake of a key that does not exist.

use ipcperf_model::suggestion::nearest;

use super::document::Entry;
use super::mistake::Mistakes;

/// A key that is none, with the nearest that is.
pub(super) fn unknown_key<'k>(
    entry: &Entry<'_, '_>,
    known: impl Iterator<Item = &'k str> + Clone,
    mistakes: &mut Mistakes,
) {
    let remedy = match nearest(entry.name, known.clone()) {
        Some(nearest) => format!("did you mean `{nearest}`?"),
        None => format!("known are {}", known.collect::<Vec<_>>().join(", ")),
    };
    mistakes.add(entry.place(), "there is no such key", remedy);
}
