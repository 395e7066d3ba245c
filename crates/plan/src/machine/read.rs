//! Reads the small files with the settings of the kernel. A file that is missing or unreadable yields `None`.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Read as _;
use std::path::Path;
use std::str::FromStr;

/// Maximum length of the first section of a file with a section for each CPU; the first section is enough.
const MAX_SECTION_BYTES: u64 = 16 << 10;

/// Returns the trimmed contents of a file. An empty file yields an empty string, not `None`.
pub(super) fn read_line(path: impl AsRef<Path>) -> Option<String> {
    Some(fs::read_to_string(path).ok()?.trim_end_matches('\0').trim().to_owned())
}

/// Parses the number in a file.
pub(super) fn read_number<T: FromStr>(path: impl AsRef<Path>) -> Option<T> {
    read_line(path)?.parse().ok()
}

/// Parses a Boolean file: `1` or `Y` for true, `0` or `N` for false.
pub(super) fn read_flag(path: impl AsRef<Path>) -> Option<bool> {
    match read_line(path)?.as_str() {
        "1" | "Y" => Some(true),
        "0" | "N" => Some(false),
        _ => None,
    }
}

/// Number of CPUs in a list in the notation of the kernel, such as `0-3,8`.
pub(super) fn count_cpus(list: &str) -> Option<u64> {
    let mut count = 0;
    for range in list.split(',').filter(|range| !range.is_empty()) {
        let (start, end) = range.split_once('-').unwrap_or((range, range));
        let (start, end): (u64, u64) = (start.parse().ok()?, end.parse().ok()?);
        count += end.checked_sub(start)? + 1;
    }
    Some(count)
}

/// Number of different texts in the files; `None` if none of them exists.
pub(super) fn count_distinct(paths: impl Iterator<Item = String>) -> Option<u64> {
    let texts: BTreeSet<String> = paths.filter_map(read_line).collect();
    (!texts.is_empty()).then_some(texts.len() as u64)
}

/// Lines of the form `key: value`.
pub(super) struct KeyValues(String);

impl KeyValues {
    /// Reads a whole file.
    pub(super) fn from_file(path: &str) -> Self {
        Self(fs::read_to_string(path).unwrap_or_default())
    }

    /// Reads a file up to the first empty line. This is the first CPU of `/proc/cpuinfo`, which is long and slow to
    /// read on a large machine.
    pub(super) fn from_first_section(path: &str) -> Self {
        let mut bytes = Vec::new();
        let Ok(file) = File::open(path) else {
            return Self(String::new());
        };
        let _ = file.take(MAX_SECTION_BYTES).read_to_end(&mut bytes);
        let text = String::from_utf8_lossy(&bytes);
        Self(text.split("\n\n").next().unwrap_or_default().to_owned())
    }

    /// Returns the value of `key`.
    pub(super) fn value(&self, key: &str) -> Option<&str> {
        let mut pairs = self.0.lines().filter_map(|line| line.split_once(':'));
        pairs.find(|(name, _)| name.trim() == key).map(|(_, value)| value.trim())
    }

    /// Returns the number at `key`.
    pub(super) fn number(&self, key: &str) -> Option<u64> {
        self.value(key)?.parse().ok()
    }

    /// Returns the bytes at `key`, which the file states in kB.
    pub(super) fn bytes(&self, key: &str) -> Option<u64> {
        let kib: u64 = self.value(key)?.strip_suffix(" kB")?.parse().ok()?;
        Some(kib * 1024)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_found_by_their_whole_key() {
        let pairs = KeyValues("MemTotal:  8 kB\nMem: 3\nmodel name\t: A: b\n".to_owned());
        assert_eq!(pairs.bytes("MemTotal"), Some(8192));
        assert_eq!(pairs.number("Mem"), Some(3));
        assert_eq!(pairs.value("model name"), Some("A: b"));
        assert_eq!((pairs.value("Total"), pairs.number("MemTotal")), (None, None));
    }

    #[test]
    fn cpus_of_a_list_are_counted() {
        assert_eq!(count_cpus("0-3,8"), Some(5));
        assert_eq!(count_cpus("7"), Some(1));
        assert_eq!(count_cpus(""), Some(0));
        assert_eq!((count_cpus("0-x"), count_cpus("3-1")), (None, None));
    }

    #[test]
    fn what_is_not_there_is_none_and_what_is_empty_is_empty() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        assert_eq!(
            (read_line(&path), read_number::<u64>(&path), read_flag(&path)),
            (None, None, None)
        );
        fs::write(&path, "\n").unwrap();
        assert_eq!(
            (read_line(&path), read_number::<u64>(&path), read_flag(&path)),
            (Some(String::new()), None, None)
        );
        fs::write(&path, "1\n").unwrap();
        assert_eq!((read_number(&path), read_flag(&path)), (Some(1_u64), Some(true)));
    }

    #[test]
    fn only_the_first_cpu_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cpuinfo");
        fs::write(&path, "cpu : 0\n\ncpu : 1\nlater : 2\n").unwrap();
        let pairs = KeyValues::from_first_section(path.to_str().unwrap());
        assert_eq!((pairs.value("cpu"), pairs.value("later")), (Some("0"), None));
    }
}
