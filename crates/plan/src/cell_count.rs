//! Limit on the number of cells of a matrix.

use crate::error::Error;

/// Maximum number of cells: a larger matrix is a mistake rather than a plan.
pub const MAX_CELLS: usize = 100_000;

/// Checks that a plan may have `count` cells.
///
/// # Errors
/// Returns a usage error if there are more than [`MAX_CELLS`].
pub(super) fn check_count(count: usize) -> Result<(), Error> {
    if count > MAX_CELLS {
        let words = format!("the matrix has {count} cells; the maximum is {MAX_CELLS}");
        return Err(Error::usage(words));
    }
    Ok(())
}
