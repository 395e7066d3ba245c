//! Support for tests that require what not every machine has.

use super::forked_pair::skipped;
use crate::{Source, find};

/// Whether the instrument `name` is unavailable here; if so, reports the test as skipped.
pub(crate) fn lacks(name: &str) -> bool {
    let Source::Outside { available, .. } = find(name).unwrap().source else { return false };
    let Err(reason) = available() else { return false };
    skipped(name, &reason.to_string());
    true
}
