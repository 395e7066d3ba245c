//! Visible reports of skipped tests.

use std::io::Write;

/// Reports that something was not tested, and why. If skips are forbidden, that is a failure, except for the names
/// listed in `IPCPERF_MAY_SKIP` (separated by commas).
pub(crate) fn skip(what: &str, reason: &str) {
    let set = |name| std::env::var(name).unwrap_or_default();
    let excepted = set("IPCPERF_MAY_SKIP").split(',').any(|name| name == what);
    let forbidden = set("IPCPERF_FORBID_SKIPS") == "1" && !excepted;
    assert!(!forbidden, "skipped, which is forbidden here: {what}: {reason}");
    // `println!` would not do: the output of a passing test is hidden.
    let _ = writeln!(std::io::stderr(), "skipped: {what}: {reason}");
}
