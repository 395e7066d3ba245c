//! BPF programs: loads and attaches them, and reads their maps.
//!
//! ```text
//! BpfObject -> AttachedPrograms::load (sets constants, attaches programs) -> the run -> detach -> BpfMaps
//! ```
//!
//! The programs are C sources in this folder. They are compiled beforehand (`scripts/bpf-objects`) and embedded in the
//! binary, so a build does not need clang. Each object works on every kernel: differences between kernels and
//! processors are resolved at load time from the kernel's type information (BTF).
//!
//! Nothing is pinned. Links, programs and maps live as long as the [`AttachedPrograms`] that owns them, and no longer
//! than the process. Nothing reads the maps while the peers run: they are read once, after the programs are detached.

mod functions;
mod members;
mod privilege;
mod refusal;

pub(crate) use members::{MARK_SYSCALL_NR, MAX_MEMBERS, MemberConstants};

use std::os::fd::{AsFd, AsRawFd};

use aya::maps::{Array, HashMap, Map, MapData};
use aya::programs::{BtfTracePoint, Program, ProgramError};
use aya::{Btf, Ebpf, EbpfError, EbpfLoader, Pod};
use ipcperf_model::Unavailable;

/// A compiled object, and where its programs attach.
#[derive(Debug)]
pub(crate) struct BpfObject {
    /// Content of the ELF file, aligned to 4 bytes (`aya::include_bytes_aligned!`).
    pub(crate) bytes: &'static [u8],
    /// Programs for kernel tracepoints, each with its tracepoint: `("handle_enter", "sys_enter")`.
    pub(crate) programs: &'static [(&'static str, &'static str)],
}

/// Attached programs. Dropping the value detaches them and frees their maps.
#[derive(Debug)]
pub(crate) struct AttachedPrograms(Ebpf);

impl AttachedPrograms {
    /// Loads and attaches all programs of `object`. `set` sets the values of constants and the sizes of maps:
    /// [`EbpfLoader::override_global`] and [`EbpfLoader::map_max_entries`].
    ///
    /// # Errors
    /// The reason why that is not possible here.
    pub(crate) fn load<'a>(
        object: &BpfObject,
        set: impl FnOnce(&mut EbpfLoader<'a>),
    ) -> Result<Self, Unavailable> {
        Self::load_with(object, set, |_, _| Ok(())).map(|(attached, ())| attached)
    }

    /// Like [`Self::load`]; `attach_others` attaches the programs that are not for tracepoints, using the kernel's BTF.
    ///
    /// # Errors
    /// The reason why that is not possible here.
    pub(crate) fn load_with<'a, T>(
        object: &BpfObject,
        set: impl FnOnce(&mut EbpfLoader<'a>),
        attach_others: impl FnOnce(&mut Self, &Btf) -> Result<T, Unavailable>,
    ) -> Result<(Self, T), Unavailable> {
        privilege::check_privileges()?;
        let _limit = privilege::raise_memlock_limit();
        let kernel = Btf::from_sys_fs().map_err(|error| refusal::no_btf(&error))?;
        let mut loader = EbpfLoader::new();
        set(&mut loader);
        let mut loaded = loader.load(object.bytes).map_err(|error| refusal::from_error(&error))?;
        for (program, tracepoint) in object.programs {
            attach(&mut loaded, program, tracepoint, &kernel)
                .map_err(|error| refusal::for_tracepoint(tracepoint, &error))?;
        }
        let mut attached = Self(loaded);
        let others = attach_others(&mut attached, &kernel)?;
        Ok((attached, others))
    }

    /// Attaches `program` to a tracepoint that not every kernel has.
    ///
    /// # Errors
    /// The reason why that is not possible, starting with the tracepoint's name.
    pub(crate) fn attach_to_tracepoint(
        &mut self,
        program: &str,
        tracepoint: &str,
        kernel: &Btf,
    ) -> Result<(), Unavailable> {
        attach(&mut self.0, program, tracepoint, kernel)
            .map_err(|error| refusal::for_tracepoint(tracepoint, &error))
    }

    /// Detaches all programs, so that their maps can be read.
    pub(crate) fn detach(self) -> BpfMaps {
        let Self(mut loaded) = self;
        for (_, program) in loaded.programs_mut() {
            // Fails only if the program was not loaded, because the kernel lacks what it attaches to.
            let _ = match program {
                Program::BtfTracePoint(program) => program.unload(),
                Program::FEntry(program) => program.unload(),
                Program::FExit(program) => program.unload(),
                _ => Ok(()),
            };
        }
        BpfMaps(loaded)
    }
}

fn attach(
    loaded: &mut Ebpf,
    program: &str,
    tracepoint: &str,
    kernel: &Btf,
) -> Result<(), EbpfError> {
    let program = loaded.program_mut(program).ok_or(ProgramError::NotLoaded)?;
    let program: &mut BtfTracePoint = program.try_into()?;
    program.load(tracepoint, kernel)?;
    program.attach()?;
    Ok(())
}

/// Maps of detached programs.
#[derive(Debug)]
pub(crate) struct BpfMaps(Ebpf);

impl BpfMaps {
    /// Reads a whole section such as `.bss`, in which the object has a single variable, of type `T`.
    ///
    /// # Errors
    /// The section has another size, or the kernel refuses to read it.
    pub(crate) fn read_section<T: Pod>(&self, name: &str) -> Result<Box<T>, Unavailable> {
        match self.0.map(name) {
            Some(Map::Array(map)) => first_value(map).ok_or_else(|| refusal::layout_mismatch(name)),
            _ => Err(refusal::layout_mismatch(name)),
        }
    }

    /// Reads the first `count` values of an array, or as many as it has.
    ///
    /// # Errors
    /// The map has another type, or the kernel refuses to read it.
    pub(crate) fn read_array<V: Pod>(&self, name: &str, count: u32) -> Result<Vec<V>, Unavailable> {
        let mismatch = || refusal::layout_mismatch(name);
        let map = Array::<_, V>::try_from(self.0.map(name).ok_or_else(mismatch)?)
            .map_err(|_| mismatch())?;
        let values = 0..count.min(map.len());
        values.map(|index| map.get(&index, 0).map_err(|_| mismatch())).collect()
    }

    /// Reads all entries of a hash map.
    ///
    /// # Errors
    /// The map has another type, or the kernel refuses to read it.
    pub(crate) fn read_entries<K: Pod, V: Pod>(
        &self,
        name: &str,
    ) -> Result<Vec<(K, V)>, Unavailable> {
        let map = self.0.map(name).ok_or_else(|| refusal::layout_mismatch(name))?;
        HashMap::<_, K, V>::try_from(map)
            .and_then(|map| map.iter().collect())
            .map_err(|_| refusal::layout_mismatch(name))
    }
}

/// Arguments of `BPF_MAP_LOOKUP_ELEM`, laid out as in bpf(2).
#[repr(C)]
struct MapLookupAttr {
    map: u32,
    unused: u32,
    key: u64,
    value: u64,
    flags: u64,
}

/// Reads the value at index 0 directly into its box: values of several megabytes do not fit on the stack, through which
/// aya would pass them.
fn first_value<T: Pod>(map: &MapData) -> Option<Box<T>> {
    const BPF_MAP_LOOKUP_ELEM: libc::c_long = 1;
    if usize::try_from(map.info().ok()?.value_size()) != Ok(size_of::<T>()) {
        return None;
    }
    let (key, mut value) = (0_u32, Box::<T>::new_uninit());
    let arguments = MapLookupAttr {
        map: map.fd().as_fd().as_raw_fd().unsigned_abs(),
        unused: 0,
        key: (&raw const key).expose_provenance() as u64,
        value: value.as_mut_ptr().expose_provenance() as u64,
        flags: 0,
    };
    // SAFETY: the size passed is that of the arguments, the key has the size of an array key, and the value has room
    // for all that the kernel writes, which is the map's value size that was compared above.
    let done = unsafe {
        libc::syscall(
            libc::SYS_bpf,
            BPF_MAP_LOOKUP_ELEM,
            &raw const arguments,
            size_of::<MapLookupAttr>(),
        )
    };
    // SAFETY: the kernel has written the whole value, and any bytes are a valid `Pod`.
    (done == 0).then(|| unsafe { value.assume_init() })
}

#[cfg(test)]
mod tests {
    use std::process::Command;
    use std::time::{Duration, Instant};

    use aya::programs::{loaded_links, loaded_programs};

    use super::*;
    use crate::testing::forked_pair::report_skip;

    const OBJECT: BpfObject = BpfObject {
        bytes: aya::include_bytes_aligned!("bpf/syscalls.bpf.o"),
        programs: &[("handle_enter", "sys_enter"), ("handle_exit", "sys_exit")],
    };

    fn ids(attached: &AttachedPrograms) -> Vec<u32> {
        attached.0.programs().map(|(_, program)| program.info().unwrap().id()).collect()
    }

    /// Returns how many links and programs with these IDs exist in the kernel.
    fn count_loaded(ids: &[u32]) -> (usize, usize) {
        let links = loaded_links().flatten().filter(|link| ids.contains(&link.program_id()));
        let programs = loaded_programs().flatten().filter(|program| ids.contains(&program.id()));
        (links.count(), programs.count())
    }

    #[test]
    fn dropped_it_leaves_neither_link_nor_program() {
        let attached = match AttachedPrograms::load(&OBJECT, |_| {}) {
            Ok(attached) => attached,
            Err(why) => return report_skip("dropped_it_leaves", &why.to_string()),
        };
        let ids = ids(&attached);
        let before = count_loaded(&ids);
        drop(attached);
        if before != (2, 2) {
            return report_skip("dropped_it_leaves", "it takes root to see what the kernel holds");
        }
        // The kernel frees a program once no CPU can be running it any more.
        let deadline = Instant::now() + Duration::from_secs(10);
        while count_loaded(&ids) != (0, 0) {
            assert!(Instant::now() < deadline, "{:?} are left", count_loaded(&ids));
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    #[test]
    fn what_is_not_there_is_refused_in_a_line() {
        let nowhere = BpfObject { programs: &[("handle_enter", "no_such_tracepoint")], ..OBJECT };
        match AttachedPrograms::load(&nowhere, |_| {}) {
            Err(why) if why.reason.contains("CAP_BPF") => {
                report_skip("what_is_not_there", &why.reason);
            }
            Err(why) => assert_eq!(why.reason, "this kernel has no tracepoint no_such_tracepoint"),
            Ok(_) => panic!("attached to nothing"),
        }
    }

    #[test]
    fn the_objects_are_what_their_sources_make() {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/bpf-objects");
        let output = match Command::new(script).arg("--check").output() {
            Ok(output) => output,
            Err(error) => return report_skip("the_objects", &format!("{script}: {error}")),
        };
        let message = String::from_utf8_lossy(&output.stderr);
        match output.status.code() {
            Some(0) => {}
            Some(3) => report_skip("the_objects", message.trim()),
            _ => panic!("{message}"),
        }
    }
}
