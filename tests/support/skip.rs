//! Saying that a test was skipped, so that it is seen.

use std::io::Write;

/// Says that something was not tested, and why; where skips are forbidden, that is a failure.
pub(crate) fn skip(what: &str, reason: &str) {
    let forbidden = std::env::var_os("IPCPERF_FORBID_SKIPS").is_some_and(|value| value == "1");
    assert!(!forbidden, "skipped, which is forbidden here: {what}: {reason}");
    // Not `println!`: what a passing test prints is swallowed.
    let _ = writeln!(std::io::stderr(), "skipped: {what}: {reason}");
}
