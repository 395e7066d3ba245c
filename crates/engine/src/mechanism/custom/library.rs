//! A library: loaded, and held against the header before anything in it is used.

use std::error::Error as _;
use std::ffi::CStr;
use std::path::Path;

use libloading::Library;
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use super::abi::{ABI, ENTRY, Entry, KEEPS_BOUNDARIES, ONE_THREAD, Open, TWO_THREADS, Table};
use crate::mechanism::custom::abi::Calls;
use crate::mechanism::custom::silence_stdout::Muted;
use crate::privilege::Unprivileged;

/// Longest text that is taken from a library.
const LONGEST_WORDS: usize = 200;

/// What a library says of itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LibraryFacts {
    /// What it is, in one line.
    pub about: String,
    /// Whether one receive returns one message.
    pub keeps_boundaries: bool,
    /// Whether its two ends may be used by two threads of one process.
    pub two_threads: bool,
    /// Whether one thread may use both ends, none of which then waits.
    pub one_thread: bool,
}

/// What the library at `path` says of itself. It is loaded into this process, which it may take down:
/// for a process of its own.
///
/// # Errors
/// Why it cannot be used, in words.
pub fn library_facts(path: &Path) -> Result<LibraryFacts, String> {
    let unprivileged = Unprivileged::new().map_err(|failure| failure.to_string())?;
    let _muted = Muted::new().map_err(|errno| format!("no output to mute: {errno}"))?;
    load(path, unprivileged).map(Loaded::facts)
}

/// A library whose table has all that it must have. It is never unloaded.
#[derive(Clone, Copy, Debug)]
pub(super) struct Loaded {
    pub(super) open: Open,
    pub(super) calls: Calls,
    flags: u32,
    about: Option<&'static CStr>,
}

/// Loads the library at `path`, whose code runs from then on: the capabilities of the program's file are none of its
/// business.
///
/// # Errors
/// Why it cannot be used, in words.
pub(super) fn load(path: &Path, _: Unprivileged) -> Result<Loaded, String> {
    // SAFETY: whoever names a library asks for its code to be run; what it does is the library's own
    // affair, and nothing of this process is promised to it.
    let library = unsafe { Library::new(path) }.map_err(|error| unloaded(&error))?;
    let library: &'static Library = Box::leak(Box::new(library));
    // SAFETY: the type is the one the header gives to a function of this name.
    let entry = unsafe { library.get::<Entry>(ENTRY) }
        .map_err(|_| "it has no function ipcperf_mechanism".to_owned())?;
    // SAFETY: the header has the function return null or a table that is never changed or freed.
    let table = unsafe { entry().as_ref() }
        .ok_or_else(|| "its ipcperf_mechanism returned nothing".to_owned())?;
    checked(table)
}

/// What the system says of what it cannot load, which stands behind what `libloading` does.
fn unloaded(error: &libloading::Error) -> String {
    plain(&error.source().map_or_else(|| error.to_string(), ToString::to_string))
}

/// Holds a table against the header. The number comes first: with another all else is elsewhere.
fn checked(table: &'static Table) -> Result<Loaded, String> {
    if table.abi != ABI {
        return Err(format!("it was made for IPCPERF_ABI {}, and this is {ABI}", table.abi));
    }
    let none = |name: &str| format!("its table has no {name}");
    // SAFETY: the header has it be null or a string that is never changed or freed.
    let about = (!table.about.is_null()).then(|| unsafe { CStr::from_ptr(table.about) });
    Ok(Loaded {
        open: table.open.ok_or_else(|| none("open"))?,
        calls: Calls {
            prepare: table.prepare,
            send: table.send.ok_or_else(|| none("send"))?,
            recv: table.recv.ok_or_else(|| none("recv"))?,
            close: table.close.ok_or_else(|| none("close"))?,
            disown: table.disown,
        },
        flags: table.flags,
        about,
    })
}

impl Loaded {
    pub(super) fn keeps_boundaries(self) -> bool {
        self.flags & KEEPS_BOUNDARIES != 0
    }

    fn facts(self) -> LibraryFacts {
        let about = self.about.map(|words| plain(&words.to_string_lossy()));
        LibraryFacts {
            about: about.unwrap_or_else(|| "a library of one's own".to_owned()),
            keeps_boundaries: self.keeps_boundaries(),
            two_threads: self.flags & TWO_THREADS != 0,
            one_thread: self.flags & ONE_THREAD != 0,
        }
    }
}

/// A stranger's words, fit for one line.
pub(crate) fn plain(words: &str) -> String {
    let spaced = |letter: char| if letter.is_control() { ' ' } else { letter };
    words.trim().chars().map(spaced).take(LONGEST_WORDS).collect()
}

/// What a call of a library says: a count up to `most`, or the system's number for an error, negated.
#[inline]
pub(super) fn outcome(returned: isize, most: usize) -> Result<usize, Errno> {
    match usize::try_from(returned) {
        Ok(count) if count <= most => Ok(count),
        Ok(_) => Err(Errno::PROTO),
        Err(_) => Err(errno(returned)),
    }
}

/// Numbers that the system does not have are told as a breach of the protocol.
#[cold]
pub(super) fn errno(returned: isize) -> Errno {
    match i32::try_from(returned) {
        Ok(number @ -4095..=-1) => Errno::from_raw_os_error(-number),
        _ => Errno::PROTO,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_beyond_what_was_asked_and_an_unknown_error_are_breaches() {
        assert_eq!(outcome(8, 8), Ok(8));
        assert_eq!(outcome(0, 8), Ok(0));
        assert_eq!(outcome(9, 8), Err(Errno::PROTO));
        assert_eq!(outcome(-32, 8), Err(Errno::PIPE));
        assert_eq!(outcome(-4096, 8), Err(Errno::PROTO));
        assert_eq!(outcome(isize::MIN, 8), Err(Errno::PROTO));
    }

    #[test]
    fn a_strangers_words_are_one_line() {
        assert_eq!(plain(" a\nb\u{1b}[31m "), "a b [31m");
        assert_eq!(plain(&"x".repeat(1_000)).len(), LONGEST_WORDS);
    }

    #[test]
    fn what_is_no_library_is_told_in_words() {
        let load = |path: &str| load(Path::new(path), Unprivileged::new().unwrap());
        assert!(load("/dev/null").is_err());
        assert!(load("/not/there.so").unwrap_err().contains("there.so"));
    }
}
