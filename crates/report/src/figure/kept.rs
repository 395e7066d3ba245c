//! Words that figures are made with and that are known only when files are read.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// `text` for as long as the program runs: each only once, and there are few.
pub(super) fn kept(text: &str) -> &'static str {
    static KEPT: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = kept.get(text) {
        return known;
    }
    let new: &'static str = Box::leak(text.to_owned().into_boxed_str());
    kept.insert(new);
    new
}
