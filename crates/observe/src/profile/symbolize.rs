//! Maps addresses to functions.

use std::collections::HashMap;
use std::fmt::{self, Debug, Formatter};
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use blazesym::symbolize::source::{Elf, Source};
use blazesym::symbolize::{Input, Symbolizer};
use ipcperf_model::instrument::profile::{Group, INFERRED_COPIES, KernelSymbols, Space, group_of};

use super::copy_detection::CopyRanges;
use super::kallsyms::KernelFunctions;
use super::libc_copy::LibcCopyFunctions;
use super::mappings::{FileLocation, Mappings};

/// Name of a kernel address whose symbol is hidden.
const KERNEL: &str = "[kernel]";
/// Object name of the kernel image.
const VMLINUX: &str = "vmlinux";
const UNKNOWN: &str = "[unknown]";
/// Executable file of this process, even if another file has since replaced it at its path.
const SELF_EXE: &str = "/proc/self/exe";
/// Suffix that the kernel adds to the path of a deleted file.
const DELETED: &str = " (deleted)";

/// Function, object and group of a code address.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Function {
    pub(super) space: Space,
    pub(super) object: String,
    pub(super) symbol: String,
    pub(super) group: Group,
    pub(super) origin: Origin,
}

/// Origin of the name of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Origin {
    /// A symbol table.
    Symbol,
    /// None: the name is a description of the location in brackets.
    Location,
    /// None: the address is in no executable mapping of the process.
    Nowhere,
}

impl Function {
    fn new(space: Space, object: &str, symbol: &str, origin: Origin) -> Self {
        let group = group_of(space, symbol);
        Self { space, object: object.to_owned(), symbol: symbol.to_owned(), group, origin }
    }

    /// Whether the address is in no executable mapping of the process.
    pub(super) fn is_unmapped(&self) -> bool {
        self.origin == Origin::Nowhere
    }
}

/// How kernel addresses are classified.
#[derive(Debug)]
pub(super) enum KernelResolver {
    /// By symbol.
    Symbols(KernelFunctions),
    /// By the inferred addresses of its copy loops.
    Inferred(CopyRanges),
}

impl KernelResolver {
    pub(super) const fn symbols(&self) -> KernelSymbols {
        match self {
            Self::Symbols(_) => KernelSymbols::Read,
            Self::Inferred(_) => KernelSymbols::Hidden,
        }
    }

    fn function(&self, address: u64) -> Function {
        let description = match self {
            Self::Symbols(functions) => match functions.find(address) {
                Some((symbol, object)) => {
                    return Function::new(Space::Kernel, object, symbol, Origin::Symbol);
                }
                None => UNKNOWN,
            },
            Self::Inferred(copies) if copies.contains(address) => INFERRED_COPIES,
            Self::Inferred(_) => KERNEL,
        };
        Function::new(Space::Kernel, VMLINUX, description, Origin::Location)
    }
}

/// Functions by address, each resolved once.
pub(super) struct SymbolCache<'a> {
    kernel: &'a KernelResolver,
    symbolizer: Symbolizer,
    library: LibcCopyFunctions,
    /// Path of this program's file as it appears in the lists of mappings.
    program: PathBuf,
    cache: HashMap<(usize, Space, u64), Rc<Function>>,
}

impl<'a> SymbolCache<'a> {
    pub(super) fn new(kernel: &'a KernelResolver) -> Self {
        let symbolizer = Symbolizer::builder().enable_code_info(false).build();
        // Without `/proc` there are no mappings either.
        let program = fs::read_link(SELF_EXE).unwrap_or_default();
        Self {
            kernel,
            symbolizer,
            library: LibcCopyFunctions::from_current_process(),
            program,
            cache: HashMap::new(),
        }
    }

    /// Returns the function at `address` of the owner with that index, whose code is mapped as in `mappings`.
    pub(super) fn resolve(
        &mut self,
        (owner, mappings): (usize, &Mappings),
        (space, address): (Space, u64),
    ) -> Rc<Function> {
        let key = (owner, space, address);
        if let Some(known) = self.cache.get(&key) {
            return Rc::clone(known);
        }
        let found = Rc::new(match space {
            Space::Kernel => self.kernel.function(address),
            Space::User => self.user_function(mappings.locate(address)),
        });
        self.cache.insert(key, Rc::clone(&found));
        found
    }

    fn user_function(&self, location: Option<FileLocation<'_>>) -> Function {
        let Some(location) = location else {
            return Function::new(Space::User, UNKNOWN, UNKNOWN, Origin::Nowhere);
        };
        let path = location.object.to_string_lossy();
        let object = location.object.file_name().map_or(path, |name| name.to_string_lossy());
        let object = object.trim_end_matches(DELETED);
        let named =
            self.symbol(location).or_else(|| self.library.name(location).map(str::to_owned));
        match named {
            Some(symbol) => Function::new(Space::User, object, &symbol, Origin::Symbol),
            None => {
                let location = format!("[{}]", object.trim_matches(['[', ']']));
                Function::new(Space::User, object, &location, Origin::Location)
            }
        }
    }

    /// Looks up the file's own symbol table; `None` if there is no symbol, or no file.
    fn symbol(&self, location: FileLocation<'_>) -> Option<String> {
        let is_file = Path::is_absolute(location.object);
        let source = Source::Elf(Elf::new(file_of(location.object, &self.program)));
        let found = is_file.then(|| {
            self.symbolizer.symbolize_single(&source, Input::FileOffset(location.offset)).ok()
        });
        found??.into_sym().map(|symbol| symbol.name.into_owned())
    }
}

impl Debug for SymbolCache<'_> {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("SymbolCache").field("cache", &self.cache).finish_non_exhaustive()
    }
}

/// Returns the path from which to read the file `object` of a mapping. Workers run the same executable as this process.
/// It may have been replaced or deleted since, so that its path leads to another file or to none.
fn file_of<'a>(object: &'a Path, program: &Path) -> &'a Path {
    if path_of(object) == path_of(program) { Path::new(SELF_EXE) } else { object }
}

/// Returns the path in an entry of the kernel's list, without the kernel's suffix.
fn path_of(entry: &Path) -> &[u8] {
    let entry = entry.as_os_str().as_encoded_bytes();
    entry.strip_suffix(DELETED.as_bytes()).unwrap_or(entry)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_of_this_program_has_its_name() {
        let kernel = KernelResolver::Inferred(CopyRanges::default());
        let mappings = Mappings::from_pid(std::process::id());
        let own = a_function_of_this_program_has_its_name as fn() as usize as u64;
        let function = SymbolCache::new(&kernel).resolve((0, &mappings), (Space::User, own));
        assert!(
            function.symbol.ends_with("a_function_of_this_program_has_its_name"),
            "{function:?}"
        );
        assert_eq!((function.space, function.group), (Space::User, Group::Other));
    }

    /// A deleted program is tested in an integration test: a test cannot delete its own executable.
    #[test]
    fn this_program_is_read_where_nobody_replaces_it() {
        let deleted = Path::new("/opt/ipcperf (deleted)");
        assert_eq!(file_of(deleted, deleted), Path::new(SELF_EXE));
        assert_eq!(file_of(Path::new("/opt/ipcperf"), deleted), Path::new(SELF_EXE));
        assert_eq!(file_of(Path::new("/lib/libc.so.6"), deleted), Path::new("/lib/libc.so.6"));
    }

    #[test]
    fn what_has_no_name_stands_in_brackets() {
        let kernel = KernelResolver::Inferred(CopyRanges::new(vec![(100, 200)]));
        let mut names = SymbolCache::new(&kernel);
        let mut at = |space, address| names.resolve((0, &Mappings::default()), (space, address));
        assert_eq!(at(Space::User, 5).symbol, "[unknown]");
        assert_eq!(at(Space::Kernel, 5).group, Group::Unresolved);
        assert_eq!(at(Space::Kernel, 150).group, Group::Copying);
    }
}
