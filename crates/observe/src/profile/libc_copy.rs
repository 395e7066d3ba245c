//! Location of the C library's copy functions. The dynamic loader selects the variant for the processor, and a stripped
//! library does not keep the names of the variants.

use std::ffi::CStr;
use std::path::PathBuf;

use super::mappings::{Mappings, Place};

/// Public names of the functions, whichever variant is selected.
const NAMES: [(&str, &CStr); 2] = [("memcpy", c"memcpy"), ("memmove", c"memmove")];
/// Approximate maximum length of a copy function: no table gives it, bytes.
const MOST_BYTES: u64 = 2 << 10;

/// Copy functions of the C library of this process: the peers use the same file.
#[derive(Debug, Default)]
pub(super) struct Library(Vec<Entry>);

#[derive(Debug)]
struct Entry {
    name: &'static str,
    object: PathBuf,
    offset: u64,
}

impl Library {
    /// Finds the copy functions of this process. A statically linked program has their names in its own symbol table.
    pub(super) fn own() -> Self {
        let here = Mappings::of(std::process::id());
        let entries = NAMES.iter().filter_map(|&(name, symbol)| {
            // SAFETY: the name ends with a zero byte, and the returned address is not dereferenced.
            let address = unsafe { libc::dlsym(libc::RTLD_DEFAULT, symbol.as_ptr()) };
            let place = here.place(address as u64)?;
            Some(Entry { name, object: place.object.to_owned(), offset: place.offset })
        });
        Self(entries.collect())
    }

    /// Returns the name of the copy function at `place`, if it is one.
    pub(super) fn name(&self, place: Place<'_>) -> Option<&'static str> {
        let is_in = |entry: &&Entry| {
            let range = entry.offset..entry.offset + MOST_BYTES;
            entry.object == place.object && range.contains(&place.offset)
        };
        self.0.iter().find(is_in).map(|entry| entry.name)
    }
}
