//! BPF programs: how they come into the kernel, and what they kept is read.
//!
//! ```text
//! Object -> Attached::load (constants set, programs attached) -> the run -> Attached::stop -> Kept
//! ```
//!
//! The programs are C beside this file, compiled beforehand (`scripts/bpf-objects`) and part of the binary,
//! so that a build asks for no clang. Each object is written for every kernel: what differs between kernels
//! and processors is settled when it is loaded, from the types that the kernel tells of itself.
//!
//! Nothing is pinned. Links, programs and maps live as long as the [`Attached`] that holds them, and no
//! longer than the process. While the parties run nobody reads: what was kept is fetched in one piece when
//! the programs are off again.

mod functions;
mod privilege;
mod refusal;
mod watched;

pub(crate) use watched::{MARK_CALL, MEMBERS, Watched};

use std::os::fd::{AsFd, AsRawFd};

use aya::maps::{HashMap, Map, MapData};
use aya::programs::{BtfTracePoint, Program, ProgramError};
use aya::{Btf, Ebpf, EbpfError, EbpfLoader, Pod};
use ipcperf_model::Unavailable;

/// A compiled object and what in it is attached where.
#[derive(Debug)]
pub(crate) struct Object {
    /// The bytes of the ELF file, aligned to 4 (`aya::include_bytes_aligned!`).
    pub(crate) bytes: &'static [u8],
    /// The programs that are for a tracepoint of the kernel, and which: `("entered", "sys_enter")`.
    pub(crate) programs: &'static [(&'static str, &'static str)],
}

/// Programs that are on. Dropped, they are off, and what they kept is gone.
#[derive(Debug)]
pub(crate) struct Attached(Ebpf);

impl Attached {
    /// Loads and attaches all programs of `object`. `set` gives the constants their values and the maps
    /// their sizes: [`EbpfLoader::override_global`] and [`EbpfLoader::map_max_entries`].
    ///
    /// # Errors
    /// Why that cannot be done here.
    pub(crate) fn load<'a>(
        object: &Object,
        set: impl FnOnce(&mut EbpfLoader<'a>),
    ) -> Result<Self, Unavailable> {
        Self::load_with(object, set, |_, _| Ok(())).map(|(attached, ())| attached)
    }

    /// As [`Self::load`]; `attach_others` attaches what is not for a tracepoint, by what the kernel tells of itself.
    ///
    /// # Errors
    /// Why that cannot be done here.
    pub(crate) fn load_with<'a, T>(
        object: &Object,
        set: impl FnOnce(&mut EbpfLoader<'a>),
        attach_others: impl FnOnce(&mut Self, &Btf) -> Result<T, Unavailable>,
    ) -> Result<(Self, T), Unavailable> {
        privilege::require()?;
        let _limit = privilege::lock_memory();
        let kernel = Btf::from_sys_fs().map_err(|error| refusal::no_types(&error))?;
        let mut loader = EbpfLoader::new();
        set(&mut loader);
        let mut loaded = loader.load(object.bytes).map_err(|error| refusal::of(&error))?;
        for (program, tracepoint) in object.programs {
            attach(&mut loaded, program, tracepoint, &kernel)
                .map_err(|error| refusal::of_tracepoint(tracepoint, &error))?;
        }
        let mut attached = Self(loaded);
        let others = attach_others(&mut attached, &kernel)?;
        Ok((attached, others))
    }

    /// Ends the watch: no program is run any more, and what was kept can be read.
    pub(crate) fn stop(self) -> Kept {
        let Self(mut loaded) = self;
        for (_, program) in loaded.programs_mut() {
            // It fails only for one that was not loaded, because the kernel has not what it is for.
            let _ = match program {
                Program::BtfTracePoint(program) => program.unload(),
                Program::FEntry(program) => program.unload(),
                Program::FExit(program) => program.unload(),
                _ => Ok(()),
            };
        }
        Kept(loaded)
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

/// What programs kept, now that they are off.
#[derive(Debug)]
pub(crate) struct Kept(Ebpf);

impl Kept {
    /// The whole of a section such as `.bss`, in which the object has one variable, of the type `T`.
    ///
    /// # Errors
    /// That it is of another size, or that the kernel does not hand it out.
    pub(crate) fn section<T: Pod>(&self, name: &str) -> Result<Box<T>, Unavailable> {
        match self.0.map(name) {
            Some(Map::Array(map)) => first_value(map).ok_or_else(|| refusal::unlike(name)),
            _ => Err(refusal::unlike(name)),
        }
    }

    /// All entries of a hash map.
    ///
    /// # Errors
    /// That it is of another type, or that the kernel does not hand it out.
    pub(crate) fn entries<K: Pod, V: Pod>(&self, name: &str) -> Result<Vec<(K, V)>, Unavailable> {
        let map = self.0.map(name).ok_or_else(|| refusal::unlike(name))?;
        HashMap::<_, K, V>::try_from(map)
            .and_then(|map| map.iter().collect())
            .map_err(|_| refusal::unlike(name))
    }
}

/// The arguments of `BPF_MAP_LOOKUP_ELEM`, as bpf(2) lays them out.
#[repr(C)]
struct LookUp {
    map: u32,
    unused: u32,
    key: u64,
    value: u64,
    flags: u64,
}

/// The value at index 0, straight into its box: values of megabytes do not fit on the stack, by way of which
/// aya would hand them over.
fn first_value<T: Pod>(map: &MapData) -> Option<Box<T>> {
    const BPF_MAP_LOOKUP_ELEM: libc::c_long = 1;
    if usize::try_from(map.info().ok()?.value_size()) != Ok(size_of::<T>()) {
        return None;
    }
    let (key, mut value) = (0_u32, Box::<T>::new_uninit());
    let arguments = LookUp {
        map: map.fd().as_fd().as_raw_fd().unsigned_abs(),
        unused: 0,
        key: (&raw const key).expose_provenance() as u64,
        value: value.as_mut_ptr().expose_provenance() as u64,
        flags: 0,
    };
    // SAFETY: the arguments are as long as said, the key is as long as an array's, and the value has room for
    // all that the kernel writes: the map's value size, which was compared.
    let done = unsafe {
        libc::syscall(libc::SYS_bpf, BPF_MAP_LOOKUP_ELEM, &raw const arguments, size_of::<LookUp>())
    };
    // SAFETY: the kernel has written all of it, and any bytes make a `Pod`.
    (done == 0).then(|| unsafe { value.assume_init() })
}

#[cfg(test)]
mod tests {
    use std::process::Command;
    use std::time::{Duration, Instant};

    use aya::programs::{loaded_links, loaded_programs};

    use super::*;
    use crate::testing::forked_pair::skipped;

    const OBJECT: Object = Object {
        bytes: aya::include_bytes_aligned!("bpf/syscalls.bpf.o"),
        programs: &[("entered", "sys_enter"), ("left", "sys_exit")],
    };

    fn ids(attached: &Attached) -> Vec<u32> {
        attached.0.programs().map(|(_, program)| program.info().unwrap().id()).collect()
    }

    /// Links and programs in the kernel that are of these programs.
    fn living(ids: &[u32]) -> (usize, usize) {
        let links = loaded_links().flatten().filter(|link| ids.contains(&link.program_id()));
        let programs = loaded_programs().flatten().filter(|program| ids.contains(&program.id()));
        (links.count(), programs.count())
    }

    #[test]
    fn dropped_it_leaves_neither_link_nor_program() {
        let attached = match Attached::load(&OBJECT, |_| {}) {
            Ok(attached) => attached,
            Err(why) => return skipped("dropped_it_leaves", &why.to_string()),
        };
        let ids = ids(&attached);
        let before = living(&ids);
        drop(attached);
        if before != (2, 2) {
            return skipped("dropped_it_leaves", "it takes root to see what the kernel holds");
        }
        // The kernel lets go of a program when no CPU can be running it any more.
        let deadline = Instant::now() + Duration::from_secs(10);
        while living(&ids) != (0, 0) {
            assert!(Instant::now() < deadline, "{:?} are left", living(&ids));
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    #[test]
    fn what_is_not_there_is_refused_in_a_line() {
        let nowhere = Object { programs: &[("entered", "no_such_tracepoint")], ..OBJECT };
        match Attached::load(&nowhere, |_| {}) {
            Err(why) if why.reason.contains("CAP_BPF") => skipped("what_is_not_there", &why.reason),
            Err(why) => assert_eq!(why.reason, "this kernel has no tracepoint no_such_tracepoint"),
            Ok(_) => panic!("attached to nothing"),
        }
    }

    #[test]
    fn the_objects_are_what_their_sources_make() {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/bpf-objects");
        let output = match Command::new(script).arg("--check").output() {
            Ok(output) => output,
            Err(error) => return skipped("the_objects", &format!("{script}: {error}")),
        };
        let said = String::from_utf8_lossy(&output.stderr);
        match output.status.code() {
            Some(0) => {}
            Some(3) => skipped("the_objects", said.trim()),
            _ => panic!("{said}"),
        }
    }
}
