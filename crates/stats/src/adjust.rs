//! P-values of several tests at once.

use crate::{degenerate::Degenerate, moments::count};

/// The `p_values` of a family of tests, so adjusted that rejecting those at most alpha has one false
/// rejection or more with probability alpha or less, however the tests depend on each other (Holm 1979, *A
/// Simple Sequentially Rejective Multiple Test Procedure*, Scandinavian Journal of Statistics 6): the k-th
/// smallest of m times m - k + 1, never below the one before, at most 1. In the order given.
///
/// # Errors
///
/// A p-value that is not within 0 to 1.
pub fn holm(p_values: &[f64]) -> Result<Vec<f64>, Degenerate> {
    let order = ascending(p_values)?;
    let mut adjusted = vec![0.0; p_values.len()];
    let mut greatest: f64 = 0.0;
    for (before, &place) in order.iter().enumerate() {
        let left = count(p_values.len() - before);
        greatest = greatest.max(p_values[place] * left).min(1.0);
        adjusted[place] = greatest;
    }
    Ok(adjusted)
}

/// The `p_values` of a family of tests, so adjusted that of those rejected at most alpha, a share of alpha is
/// expected to be false, where tests are independent or depend positively (Benjamini and Hochberg 1995,
/// *Controlling the False Discovery Rate*, Journal of the Royal Statistical Society B 57): the k-th smallest
/// of m times m / k, never above the one after, at most 1. In the order given.
///
/// # Errors
///
/// A p-value that is not within 0 to 1.
pub fn benjamini_hochberg(p_values: &[f64]) -> Result<Vec<f64>, Degenerate> {
    let order = ascending(p_values)?;
    let m = count(p_values.len());
    let mut adjusted = vec![0.0; p_values.len()];
    let mut least: f64 = 1.0;
    for (before, &place) in order.iter().enumerate().rev() {
        least = least.min(p_values[place] * m / count(before + 1));
        // m / m of a p-value may round to less than it.
        adjusted[place] = least.max(p_values[place]);
    }
    Ok(adjusted)
}

/// The places of the p-values, smallest first.
fn ascending(p_values: &[f64]) -> Result<Vec<usize>, Degenerate> {
    if p_values.iter().any(|p| !(0.0..=1.0).contains(p)) {
        return Err(Degenerate::NotAProbability);
    }
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&a, &b| p_values[a].total_cmp(&p_values[b]));
    Ok(order)
}
