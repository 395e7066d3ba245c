//! `mmap-file`: one slot in a file that both peers map, with futexes to wait on.

use ipcperf_model::mechanism::{
    Boundaries, Delivery, Helper, PayloadPath, PayloadTransfer, PeerDeath, Unrelated,
};
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use ipcperf_model::{Failure, Mode, Role};
use rustix::fs::{CWD, Mode as Access, OFlags, openat};
use rustix::io::Errno;

use super::TempDir;
use super::futex_doorbell::FutexDoorbell;
use super::setup_failure::setup_failure;
use super::slot::{SlotEnd, SlotMemory, memory_bytes, open_ends, own_end};
use super::waiting::{self, Spinning, WAIT_SPIN, WAITS};
use crate::channel::{Channel, Documentation, Granted, Mechanism, Meet, Meeting, Opened, Setup};

/// Facts about `mmap-file`.
pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "mmap-file",
    about: "slot in a mapped temporary file, signaled by a futex",
    boundaries: Boundaries::Preserved,
    delivery: Delivery::Reliable,
    path: PayloadPath::Memory,
    waits: WAITS,
    payload: PayloadTransfer::Copied,
    peer_death: PeerDeath::NotDetected,
    unrelated: Unrelated::Yes,
    helper: Helper::Disk,
    options: &[WAIT_SPIN],
    modes: &Mode::ALL,
    documentation: Documentation {
        how_it_works: "Both peers map one file (MAP_SHARED), and therefore the same pages of the \
            page cache. A mapped file provides no way to wait for data, so the peers wait as with \
            the mechanism futex. The memory is the only difference from that mechanism. The file's \
            name is removed before the peers start. In mode 2exec, the receiver creates the file, and \
            each peer maps it by its path.",
        message_boundaries: "Kept: the slot holds one message and its length.",
        minimum_kernel: "Linux 2.6.0.",
        defaults_that_matter: "The file is created in TMPDIR, or in /tmp if TMPDIR is not set. Its \
            space is allocated before it is mapped (fallocate, or by writing zeros). If the file \
            is on a disk, the kernel writes back pages that have been dirty for longer than \
            vm.dirty_expire_centisecs (30 s). After that, the first store to each page takes a \
            page fault again. On tmpfs, pages are never written back. The kernel buffers nothing, \
            so --kernel-buffer does not apply.",
        references: &["man:mmap(2)", "man:futex(2)"],
    },
    in_flight_messages: |_| 2,
    execute: waiting::execute::<MmapFile, Spinning>,
    meet: Some(waiting::meet::<MmapFile, Spinning>),
    ..Mechanism::BASE
};

/// Name of the file.
const FILE: &str = "slot";
/// Remedy if the file cannot be allocated.
const NO_SPACE: &str = "free disk space there, or set TMPDIR to a folder with more space";

struct MmapFile;

impl Channel for MmapFile {
    type End = SlotEnd<FutexDoorbell>;

    fn open(setup: &Setup<'_>) -> Result<Opened<Self::End>, Failure> {
        let scratch = TempDir::new()?;
        let file = create(&scratch.path(FILE)).map_err(|e| setup_failure("open(O_CREAT)", e))?;
        let bytes = memory_bytes(setup);
        let memory = SlotMemory::from_file(&file, bytes).map_err(|e| {
            let call = format!("allocating and mapping a file of {bytes} bytes in TMPDIR");
            setup_failure(&call, e).with_remedy(NO_SPACE)
        })?;
        open_ends(setup, memory, |spot| Ok(FutexDoorbell { location: spot }))
    }
}

impl Meet for MmapFile {
    fn meet(setup: &Setup<'_>, meeting: &Meeting<'_>) -> Result<(Self::End, Granted), Failure> {
        let bytes = memory_bytes(setup);
        let memory = match meeting.role() {
            Role::Receiver => create_shared(bytes, meeting)?,
            _ => open_shared(bytes, meeting)?,
        };
        let opened = open_ends(setup, memory, |spot| Ok(FutexDoorbell { location: spot }))?;
        Ok(own_end(opened, meeting.role()))
    }
}

/// Creates the file, which the other program finds once it has its full length, and maps it.
fn create_shared(bytes: usize, meeting: &Meeting<'_>) -> Result<SlotMemory, Failure> {
    let mut memory = Err(Errno::NOENT);
    let make = |path: &Path| -> io::Result<()> {
        memory = Ok(SlotMemory::from_file(&create(path)?, bytes)?);
        Ok(())
    };
    meeting.create(FILE, make).map_err(|failure| failure.with_remedy(NO_SPACE))?;
    memory.map_err(|errno| setup_failure("mapping the file", errno))
}

/// Maps the file that the other program has created.
fn open_shared(bytes: usize, meeting: &Meeting<'_>) -> Result<SlotMemory, Failure> {
    let path = meeting.path(FILE);
    let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let (what, is_absent) = (format!("opening {}", path.display()), |e| e == Errno::NOENT);
    let file = meeting.retry(&what, is_absent, || openat(CWD, &path, flags, Access::empty()))?;
    SlotMemory::from_peer(&file, bytes)
        .map_err(|errno| setup_failure(&format!("mapping {}", path.display()), errno))
}

fn create(path: &Path) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    openat(CWD, path, flags, Access::RUSR | Access::WUSR)
}
