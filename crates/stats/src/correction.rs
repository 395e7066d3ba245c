//! Holm's and Benjamini and Hochberg's correction of p-values.

use crate::{degenerate::Degenerate, moments::as_f64};

/// Corrects the `p_values` of a family of tests such that rejecting those at most alpha makes one or more false
/// rejections with probability alpha or less, however the tests depend on each other (Holm 1979, *A Simple Sequentially
/// Rejective Multiple Test Procedure*, Scandinavian Journal of Statistics 6). The k-th smallest of m is multiplied by
/// m - k + 1, is never below the one before, and is at most 1. The results are in the order given.
///
/// # Errors
///
/// Returns an error for a p-value outside 0 to 1.
pub fn holm(p_values: &[f64]) -> Result<Vec<f64>, Degenerate> {
    let order = ascending(p_values)?;
    let mut corrected = vec![0.0; p_values.len()];
    let mut greatest: f64 = 0.0;
    for (before, &place) in order.iter().enumerate() {
        let left = as_f64(p_values.len() - before);
        greatest = greatest.max(p_values[place] * left).min(1.0);
        corrected[place] = greatest;
    }
    Ok(corrected)
}

/// Corrects the `p_values` of a family of tests such that, of those rejected at most alpha, an expected share of alpha
/// is false, if tests are independent or positively dependent (Benjamini and Hochberg 1995, *Controlling the False
/// Discovery Rate*, Journal of the Royal Statistical Society B 57). The k-th smallest of m is multiplied by m / k, is
/// never above the one after, and is at most 1. The results are in the order given.
///
/// # Errors
///
/// Returns an error for a p-value outside 0 to 1.
pub fn benjamini_hochberg(p_values: &[f64]) -> Result<Vec<f64>, Degenerate> {
    let order = ascending(p_values)?;
    let m = as_f64(p_values.len());
    let mut corrected = vec![0.0; p_values.len()];
    let mut smallest: f64 = 1.0;
    for (before, &place) in order.iter().enumerate().rev() {
        smallest = smallest.min(p_values[place] * m / as_f64(before + 1));
        // Multiplying a p-value by m / m may round it down.
        corrected[place] = smallest.max(p_values[place]);
    }
    Ok(corrected)
}

/// Indices of the p-values, smallest first.
fn ascending(p_values: &[f64]) -> Result<Vec<usize>, Degenerate> {
    if p_values.iter().any(|p| !(0.0..=1.0).contains(p)) {
        return Err(Degenerate::NotAProbability);
    }
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&a, &b| p_values[a].total_cmp(&p_values[b]));
    Ok(order)
}
