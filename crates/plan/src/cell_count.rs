//! How many cells a matrix may have.

use crate::error::Error;

/// More cells than this is a slip, not a plan.
pub const MOST_CELLS: usize = 100_000;

/// That `count` cells are a plan.
///
/// # Errors
/// Usage where they are too many.
pub(super) fn check_count(count: usize) -> Result<(), Error> {
    if count > MOST_CELLS {
        let words = format!("the matrix has {count} cells; {MOST_CELLS} are the most");
        return Err(Error::usage(words));
    }
    Ok(())
}
