//! Prefaults the library's memory. The library maps it, but leaves the page faults to the first access.

use rustix::io::Errno;
use rustix::mm::{Advice, madvise};

/// Prefaults all pages of this process that are mapped from shared memory whose name begins with `prefix`.
pub(super) fn populate(prefix: &str) -> Result<(), Errno> {
    let maps = std::fs::read_to_string("/proc/self/maps").map_err(|_| Errno::IO)?;
    let named = format!("/dev/shm/{prefix}");
    maps.lines()
        .filter(|line| line.contains(&named))
        .filter_map(parse_range)
        .try_for_each(populate_range)
}

/// A range of the address space, and whether it is writable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct MappedRange {
    start: usize,
    bytes: usize,
    is_writable: bool,
}

/// Parses the range in a line such as `7f5a40000000-7f5a40200000 rw-s 00000000 00:1a 13 /dev/shm/name`.
fn parse_range(line: &str) -> Option<MappedRange> {
    let mut words = line.split_whitespace();
    let (start, end) = words.next()?.split_once('-')?;
    let address = |text| usize::from_str_radix(text, 16).ok();
    let start = address(start)?;
    let bytes = address(end)?.checked_sub(start)?;
    Some(MappedRange { start, bytes, is_writable: words.next()?.contains('w') })
}

fn populate_range(range: MappedRange) -> Result<(), Errno> {
    let advice =
        if range.is_writable { Advice::LinuxPopulateWrite } else { Advice::LinuxPopulateRead };
    // SAFETY: populating changes no contents, and the kernel refuses pages that are no longer mapped.
    match unsafe { madvise(range.start as *mut _, range.bytes, advice) } {
        // Before Linux 5.14 the first messages take the page faults.
        Err(Errno::INVAL) => Ok(()),
        // The file has no room for the page: a write would end in a signal.
        Err(Errno::FAULT) => Err(Errno::NOMEM),
        done => done,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_maps_is_understood() {
        let line = "7f5a40000000-7f5a40200000 rw-s 00000000 00:1a 13      /dev/shm/ipcperf-run-1-x";
        let whole = MappedRange { start: 0x7f5a_4000_0000, bytes: 0x20_0000, is_writable: true };
        assert_eq!(parse_range(line), Some(whole));
        let read_only = line.replace("rw-s", "r--s");
        assert_eq!(parse_range(&read_only), Some(MappedRange { is_writable: false, ..whole }));
        assert_eq!(parse_range("vdso"), None);
    }
}
