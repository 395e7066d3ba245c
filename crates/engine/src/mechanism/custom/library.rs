//! Loads a library and checks it against the header before anything in it is used.

use std::error::Error as _;
use std::ffi::CStr;
use std::path::Path;

use ipcperf_model::Unavailable;
use libloading::Library;
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use super::abi::{
    ABI, CMechanism, ENTRY_SYMBOL, Entry, KEEPS_BOUNDARIES, LibraryFunctions, ONE_THREAD, Open,
    TWO_THREADS,
};
use super::silence_stdout::StdoutSilencer;
use crate::mechanism::foreign_text::sanitize;
use crate::privilege::Unprivileged;

/// Facts that a library reports about itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LibraryFacts {
    /// Description in one line.
    pub about: String,
    /// Whether one receive returns one message.
    pub keeps_boundaries: bool,
    /// Whether two threads of one process may use the two endpoints.
    pub two_threads: bool,
    /// Whether one thread may use both endpoints, neither of which then blocks.
    pub one_thread: bool,
}

/// Checks that this build of ipcperf can load libraries. A statically linked program has no dynamic loader.
///
/// # Errors
/// The reason why it cannot, with the alternatives.
pub fn check_library_support() -> Result<(), Unavailable> {
    if cfg!(all(target_env = "musl", target_feature = "crt-static")) {
        return Err(Unavailable {
            reason: "this ipcperf is statically linked (musl) and cannot load libraries".to_owned(),
            remedy: "use an ipcperf for glibc (its archive ends in -gnu), or make the mechanism a program: exec:FILE"
                .to_owned(),
        });
    }
    Ok(())
}

/// Returns the facts that the library at `path` reports. Loads the library into this process, which it may
/// crash: call it in a separate process.
///
/// # Errors
/// The reason why the library cannot be used, as text.
pub fn library_facts(path: &Path) -> Result<LibraryFacts, String> {
    let unprivileged = Unprivileged::new().map_err(|failure| failure.to_string())?;
    let _muted = StdoutSilencer::new().map_err(|errno| {
        format!(
            "cannot silence standard output: \
        {errno}"
        )
    })?;
    load(path, unprivileged).map(LoadedLibrary::facts)
}

/// A library whose table has every required entry. It is never unloaded.
#[derive(Clone, Copy, Debug)]
pub(super) struct LoadedLibrary {
    pub(super) open: Open,
    pub(super) functions: LibraryFunctions,
    flags: u32,
    about: Option<&'static CStr>,
}

/// Loads the library at `path`. Its code runs from then on, so the caller must have dropped the capabilities
/// of the program's file first ([`Unprivileged`]).
///
/// # Errors
/// The reason why the library cannot be used, as text.
pub(super) fn load(path: &Path, _: Unprivileged) -> Result<LoadedLibrary, String> {
    // SAFETY: the user who names a library asks for its code to run. The library is responsible for what it
    // does; nothing in this process relies on its behavior.
    let library = unsafe { Library::new(path) }.map_err(|error| load_error(&error))?;
    let library: &'static Library = Box::leak(Box::new(library));
    // SAFETY: the type is the one that the header gives to the function of this name.
    let entry = unsafe { library.get::<Entry>(ENTRY_SYMBOL) }
        .map_err(|_| "it has no function ipcperf_mechanism".to_owned())?;
    // SAFETY: the header requires the function to return null or a table that is never changed or freed.
    let table = unsafe { entry().as_ref() }
        .ok_or_else(|| "its function ipcperf_mechanism returned NULL".to_owned())?;
    check_table(table)
}

/// Returns the dynamic loader's own message, which is the source of the error of `libloading`.
fn load_error(error: &libloading::Error) -> String {
    sanitize(&error.source().map_or_else(|| error.to_string(), ToString::to_string))
}

/// Checks a table against the header. The ABI number is checked first: with another number, the layout of the
/// rest differs.
fn check_table(table: &'static CMechanism) -> Result<LoadedLibrary, String> {
    if table.abi != ABI {
        return Err(format!(
            "it was built for IPCPERF_ABI {}; this version of ipcperf has {ABI}",
            table.abi
        ));
    }
    let missing = |name: &str| format!("its function table has no {name}");
    // SAFETY: the header requires it to be null or a string that is never changed or freed.
    let about = (!table.about.is_null()).then(|| unsafe { CStr::from_ptr(table.about) });
    Ok(LoadedLibrary {
        open: table.open.ok_or_else(|| missing("open"))?,
        functions: LibraryFunctions {
            prepare: table.prepare,
            send: table.send.ok_or_else(|| missing("send"))?,
            recv: table.recv.ok_or_else(|| missing("recv"))?,
            close: table.close.ok_or_else(|| missing("close"))?,
            disown: table.disown,
        },
        flags: table.flags,
        about,
    })
}

impl LoadedLibrary {
    pub(super) fn keeps_boundaries(self) -> bool {
        self.flags & KEEPS_BOUNDARIES != 0
    }

    fn facts(self) -> LibraryFacts {
        let about = self.about.map(|words| sanitize(&words.to_string_lossy()));
        LibraryFacts {
            about: about.unwrap_or_else(|| "custom library".to_owned()),
            keeps_boundaries: self.keeps_boundaries(),
            two_threads: self.flags & TWO_THREADS != 0,
            one_thread: self.flags & ONE_THREAD != 0,
        }
    }
}

/// Interprets the return value of a library call: a count of at most `max`, or a negated error number.
#[inline]
pub(super) fn checked_count(returned: isize, max: usize) -> Result<usize, Errno> {
    match usize::try_from(returned) {
        Ok(count) if count <= max => Ok(count),
        Ok(_) => Err(Errno::PROTO),
        Err(_) => Err(errno(returned)),
    }
}

/// Converts a negated error number. Numbers that Linux does not define become `EPROTO`.
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
        assert_eq!(checked_count(8, 8), Ok(8));
        assert_eq!(checked_count(0, 8), Ok(0));
        assert_eq!(checked_count(9, 8), Err(Errno::PROTO));
        assert_eq!(checked_count(-32, 8), Err(Errno::PIPE));
        assert_eq!(checked_count(-4096, 8), Err(Errno::PROTO));
        assert_eq!(checked_count(isize::MIN, 8), Err(Errno::PROTO));
    }

    #[test]
    fn what_is_no_library_is_told_in_words() {
        let load = |path: &str| load(Path::new(path), Unprivileged::new().unwrap());
        assert!(load("/dev/null").is_err());
        assert!(load("/not/there.so").unwrap_err().contains("there.so"));
    }
}
