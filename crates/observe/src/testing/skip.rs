//! For tests of what not every machine has.

use crate::testing::forked_pair::skipped;
use crate::{Source, find};

/// Whether the instrument `name` cannot be armed here: what is tested of it is skipped, then.
pub(crate) fn lacks(name: &str) -> bool {
    let Source::Outside { available, .. } = find(name).unwrap().source else { return false };
    let Err(reason) = available() else { return false };
    skipped(name, &reason.to_string());
    true
}
