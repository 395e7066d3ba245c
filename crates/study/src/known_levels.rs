//! Levels of the factors of a study's cases.

use std::collections::{BTreeMap, BTreeSet};

use super::matrix::Matrix;

/// Levels of the cases of all matrices, by factor. Built once, because a file may have thousands of selections.
#[derive(Debug, Default)]
pub struct KnownLevels<'a>(BTreeMap<&'a str, BTreeSet<&'a str>>);

impl<'a> KnownLevels<'a> {
    pub(super) fn from_matrices(matrices: &'a [Matrix]) -> Self {
        let mut known: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for (factor, levels) in matrices.iter().flat_map(Matrix::factors) {
            known.entry(factor).or_default().extend(levels.iter().map(String::as_str));
        }
        Self(known)
    }

    /// Returns the levels of `factor`, or `None` if no matrix has any.
    pub fn get(&self, factor: &str) -> Option<&BTreeSet<&'a str>> {
        self.0.get(factor).filter(|levels| !levels.is_empty())
    }
}
