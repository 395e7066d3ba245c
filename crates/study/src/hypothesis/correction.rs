//! Correction of the p-values of a claim's parts, by the method that the study chooses.
//!
//! Intervals are corrected by `Alphas` in `interval.rs`.

use ipcperf_stats::{benjamini_hochberg, holm};

use super::Part;
use super::key_values::KeyChoice;

/// Correction of p-values for multiple comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Correction {
    /// Holm (1979).
    Holm,
    /// Benjamini and Hochberg (1995).
    BenjaminiHochberg,
    /// No correction.
    None,
}

impl KeyChoice for Correction {
    fn from_choice(word: &str) -> Option<Self> {
        match word {
            "holm" => Some(Self::Holm),
            "benjamini-hochberg" => Some(Self::BenjaminiHochberg),
            "none" => Some(Self::None),
            _ => None,
        }
    }
}

/// Corrects the p-values of `parts`, which are compared together. Parts without a p-value do not count.
pub(super) fn correct_p_values<'p>(
    parts: impl Iterator<Item = &'p mut Part>,
    correction: Correction,
) {
    let with_p: Vec<&mut Part> = parts.filter(|part| part.p.is_some()).collect();
    let p: Vec<f64> = with_p.iter().filter_map(|part| part.p).collect();
    let corrected = match correction {
        Correction::None => Ok(p),
        Correction::Holm => holm(&p),
        Correction::BenjaminiHochberg => benjamini_hochberg(&p),
    };
    for (part, corrected) in with_p.into_iter().zip(corrected.unwrap_or_default()) {
        part.p_corrected = Some(corrected);
    }
}
