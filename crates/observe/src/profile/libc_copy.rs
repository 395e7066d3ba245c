//! Location of the C library's copy functions. The dynamic loader selects the variant for the processor, and a stripped
//! library does not keep the names of the variants.

use std::ffi::CStr;
use std::path::PathBuf;

use super::mappings::{FileLocation, Mappings};

/// Public names of the functions, whichever variant is selected.
const NAMES: [(&str, &CStr); 2] = [("memcpy", c"memcpy"), ("memmove", c"memmove")];
/// Approximate maximum length of a copy function: no table gives it, bytes.
const MAX_FUNCTION_BYTES: u64 = 2 << 10;

/// Copy functions of the C library of this process: the peers use the same file.
#[derive(Debug, Default)]
pub(super) struct LibcCopyFunctions(Vec<CopyFunction>);

#[derive(Debug)]
struct CopyFunction {
    name: &'static str,
    object: PathBuf,
    offset: u64,
}

impl LibcCopyFunctions {
    /// Finds the copy functions of this process. A statically linked program has their names in its own symbol table.
    pub(super) fn from_current_process() -> Self {
        let mappings = Mappings::from_pid(std::process::id());
        let entries = NAMES.iter().filter_map(|&(name, symbol)| {
            // SAFETY: the name ends with a zero byte, and the returned address is not dereferenced.
            let address = unsafe { libc::dlsym(libc::RTLD_DEFAULT, symbol.as_ptr()) };
            let location = mappings.locate(address as u64)?;
            Some(CopyFunction { name, object: location.object.to_owned(), offset: location.offset })
        });
        Self(entries.collect())
    }

    /// Returns the name of the copy function at `location`, if it is one.
    pub(super) fn name(&self, location: FileLocation<'_>) -> Option<&'static str> {
        let is_in = |entry: &&CopyFunction| {
            let range = entry.offset..entry.offset + MAX_FUNCTION_BYTES;
            entry.object == location.object && range.contains(&location.offset)
        };
        self.0.iter().find(is_in).map(|entry| entry.name)
    }
}
