//! Keys of tests that look for a difference that matters.

use super::compare::Statistic;
use super::key_values::{KeyError, KeyValues};
use super::shared_keys::{NEGLIGIBLE, STATISTIC};

/// Statistic of a comparison, and the share below which a difference does not matter.
#[derive(Clone, Copy, Debug)]
pub(super) struct ComparisonKeys {
    pub(super) statistic: Statistic,
    pub(super) negligible: f64,
}

impl ComparisonKeys {
    pub(super) fn parse(keys: &KeyValues<'_>) -> Result<Self, KeyError> {
        Ok(Self { statistic: keys.value(&STATISTIC)?, negligible: keys.value(&NEGLIGIBLE)? })
    }
}
