//! Saying that a test was skipped, so that it is seen.

use std::io::Write;

/// Says that something was not tested, and why; where skips are forbidden, that is a failure but for
/// what `IPCPERF_MAY_SKIP` names (with commas between them).
pub(crate) fn skip(what: &str, reason: &str) {
    let set = |name| std::env::var(name).unwrap_or_default();
    let excepted = set("IPCPERF_MAY_SKIP").split(',').any(|name| name == what);
    let forbidden = set("IPCPERF_FORBID_SKIPS") == "1" && !excepted;
    assert!(!forbidden, "skipped, which is forbidden here: {what}: {reason}");
    // Not `println!`: what a passing test prints is swallowed.
    let _ = writeln!(std::io::stderr(), "skipped: {what}: {reason}");
}
