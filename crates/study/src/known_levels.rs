//! The levels of factors that the cases of a study have.

use std::collections::{BTreeMap, BTreeSet};

use super::matrix::Matrix;

/// The levels that the cases of all matrices have, by factor: made once, as a file may select thousands of times.
#[derive(Debug, Default)]
pub struct KnownLevels<'a>(BTreeMap<&'a str, BTreeSet<&'a str>>);

impl<'a> KnownLevels<'a> {
    pub(super) fn of(matrices: &'a [Matrix]) -> Self {
        let mut known: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for (factor, levels) in matrices.iter().flat_map(Matrix::factors) {
            known.entry(factor).or_default().extend(levels.iter().map(String::as_str));
        }
        Self(known)
    }

    /// The levels of `factor`; `None` where no matrix has any.
    pub fn of_factor(&self, factor: &str) -> Option<&BTreeSet<&'a str>> {
        self.0.get(factor).filter(|levels| !levels.is_empty())
    }
}
