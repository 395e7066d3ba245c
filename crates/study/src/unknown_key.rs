//! The mistake for an unknown key.

use ipcperf_model::suggestion::suggestion;

use super::document::Entry;
use super::mistake::Mistakes;

/// Reports an unknown key and suggests the nearest known one.
pub(super) fn unknown_key<'k>(
    entry: &Entry<'_, '_>,
    known: impl Iterator<Item = &'k str> + Clone,
    mistakes: &mut Mistakes,
) {
    mistakes.add(entry.location(), "unknown key", suggestion(entry.name, known));
}
