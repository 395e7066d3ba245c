//! Support for tests that require what not every machine has.

use super::forked_pair::report_skip;
use crate::{Source, find};

/// Whether the instrument `name` is unavailable here; if so, reports the test as skipped.
pub(crate) fn skip_if_unavailable(name: &str) -> bool {
    let Source::External { available, .. } = find(name).unwrap().source else { return false };
    let Err(reason) = available() else { return false };
    report_skip(name, &reason.to_string());
    true
}
