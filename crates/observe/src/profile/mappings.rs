//! Memory mappings of a process. They are read while the process runs, because samples are resolved after it has
//! exited.

use std::fs;
use std::path::{Path, PathBuf};

/// Executable mappings of a process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Mappings(Vec<Mapping>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Mapping {
    from: u64,
    to: u64,
    offset: u64,
    object: PathBuf,
}

/// A location in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FileLocation<'a> {
    /// Path of the file, or a name in brackets for a mapping without a file.
    pub(super) object: &'a Path,
    /// Offset from the start of the file, bytes.
    pub(super) offset: u64,
}

impl Mappings {
    /// Reads the mappings of process `pid`; empty if they cannot be read.
    pub(super) fn from_pid(pid: u32) -> Self {
        Self::parse(&fs::read_to_string(format!("/proc/{pid}/maps")).unwrap_or_default())
    }

    /// Parses lines such as `7f00-7f10 r-xp 00001000 fe:00 1234    /usr/lib/libc.so.6`.
    fn parse(lines: &str) -> Self {
        Self(lines.lines().filter_map(parse_line).collect())
    }

    /// Returns the file location that `address` is mapped from.
    pub(super) fn locate(&self, address: u64) -> Option<FileLocation<'_>> {
        let mapping =
            self.0.iter().find(|mapping| (mapping.from..mapping.to).contains(&address))?;
        let offset = address - mapping.from + mapping.offset;
        Some(FileLocation { object: &mapping.object, offset })
    }
}

fn parse_line(line: &str) -> Option<Mapping> {
    let mut fields = line.splitn(6, ' ');
    let (range, permissions, offset) = (fields.next()?, fields.next()?, fields.next()?);
    if !permissions.contains('x') {
        return None;
    }
    let (from, to) = range.split_once('-')?;
    let number = |digits| u64::from_str_radix(digits, 16).ok();
    let object = fields.nth(2).unwrap_or_default().trim_start();
    let object = if object.is_empty() { "[anonymous]" } else { object };
    Some(Mapping {
        from: number(from)?,
        to: number(to)?,
        offset: number(offset)?,
        object: object.into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINES: &str = "\
55d0-55e0 r--p 00000000 fe:00 12                         /usr/bin/with a space
55e0-55f0 r-xp 00010000 fe:00 12                         /usr/bin/with a space
7f00-7f10 rwxp 00000000 00:00 0 
7ff0-7ff8 r-xp 00000000 00:00 0                          [vdso]
";

    #[test]
    fn an_address_leads_to_a_place_in_a_file() {
        let mappings = Mappings::parse(LINES);
        let place = mappings.locate(0x55e4).unwrap();
        assert_eq!(
            (place.object.to_str(), place.offset),
            (Some("/usr/bin/with a space"), 0x1_0004)
        );
        assert_eq!(mappings.locate(0x7f04).unwrap().object, Path::new("[anonymous]"));
        assert_eq!(mappings.locate(0x7ff1).unwrap().object, Path::new("[vdso]"));
        assert_eq!(mappings.locate(0x55d4), None);
        assert_eq!(mappings.locate(0x55f0), None);
    }

    #[test]
    fn this_process_has_code() {
        let here = Mappings::from_pid(std::process::id());
        let own = this_process_has_code as fn() as usize as u64;
        let place = here.locate(own).unwrap();
        assert_eq!(place.object, std::env::current_exe().unwrap());
        assert_eq!(Mappings::from_pid(u32::MAX), Mappings::default());
    }
}
