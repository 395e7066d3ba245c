//! Log files of processes that the worker starts.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use super::foreign_text::sanitize;

/// Maximum length of a line, bytes.
const MAX_LINE_BYTES: u64 = 4_096;

/// Returns the last line of `log`, which usually explains why the process ended; `None` if nothing was printed.
pub(super) fn last_log_line(log: &Path) -> Option<String> {
    let mut log = File::open(log).ok()?;
    let tail = log.metadata().ok()?.len().saturating_sub(MAX_LINE_BYTES);
    let mut text = Vec::new();
    log.seek(SeekFrom::Start(tail)).ok()?;
    log.take(MAX_LINE_BYTES).read_to_end(&mut text).ok()?;
    let line = sanitize(String::from_utf8_lossy(&text).trim_end().lines().next_back()?);
    (!line.is_empty()).then_some(line)
}
