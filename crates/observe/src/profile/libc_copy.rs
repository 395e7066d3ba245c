//! Where the C library copies: its functions for it are chosen for the processor when it is loaded, and their
//! names are not among those that a stripped library keeps.

use std::ffi::CStr;
use std::path::PathBuf;

use super::mappings::{Mappings, Place};

/// What the functions are called, whichever was chosen.
const NAMES: [(&str, &CStr); 2] = [("memcpy", c"memcpy"), ("memmove", c"memmove")];
/// How long they are at most, about: no table says it.
const MOST_BYTES: u64 = 2 << 10;

/// Where the library of this very process copies: that of the parties is the same file.
#[derive(Debug, Default)]
pub(super) struct Library(Vec<Entry>);

#[derive(Debug)]
struct Entry {
    name: &'static str,
    object: PathBuf,
    offset: u64,
}

impl Library {
    /// That of this process. One without a file has its names in the program.
    pub(super) fn own() -> Self {
        let here = Mappings::of(std::process::id());
        let entries = NAMES.iter().filter_map(|&(name, symbol)| {
            // SAFETY: the name ends with a zero byte, and nothing is done with what it leads to.
            let address = unsafe { libc::dlsym(libc::RTLD_DEFAULT, symbol.as_ptr()) };
            let place = here.place(address as u64)?;
            Some(Entry { name, object: place.object.to_owned(), offset: place.offset })
        });
        Self(entries.collect())
    }

    /// The function at `place`, if it is one of them.
    pub(super) fn name(&self, place: Place<'_>) -> Option<&'static str> {
        let is_in = |entry: &&Entry| {
            let range = entry.offset..entry.offset + MOST_BYTES;
            entry.object == place.object && range.contains(&place.offset)
        };
        self.0.iter().find(is_in).map(|entry| entry.name)
    }
}
