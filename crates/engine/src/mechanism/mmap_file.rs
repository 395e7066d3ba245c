//! `mmap-file`: one slot in a file that both peers map, with futexes to wait on.

use ipcperf_model::mechanism::{
    Boundaries, Delivery, Helper, PayloadPath, PayloadTransfer, PeerDeath, Unrelated,
};
use ipcperf_model::{Failure, Mode};
use rustix::fs::{CWD, Mode as Access, OFlags, openat};

use super::TempDir;
use super::futex_doorbell::FutexDoorbell;
use super::setup_failure::setup_failure;
use super::slot::{SlotEnd, SlotMemory, memory_bytes, open_ends};
use super::waiting::{self, Spinning, WAIT_SPIN, WAITS};
use crate::channel::{Channel, Documentation, Mechanism, Opened, Setup};

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
    modes: &Mode::INHERITED,
    documentation: Documentation {
        how_it_works: "Both peers map one file (MAP_SHARED), and therefore the same pages of the \
            page cache. A mapped file provides no way to wait for data, so the peers wait as with \
            the mechanism futex. The memory is the only difference from that mechanism. The file's \
            name is removed before the peers start.",
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
    ..Mechanism::BASE
};

struct MmapFile;

impl Channel for MmapFile {
    type End = SlotEnd<FutexDoorbell>;

    fn open(setup: &Setup<'_>) -> Result<Opened<Self::End>, Failure> {
        let scratch = TempDir::new()?;
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let file = openat(CWD, scratch.path("slot"), flags, Access::RUSR | Access::WUSR)
            .map_err(|e| setup_failure("open(O_CREAT)", e))?;
        let bytes = memory_bytes(setup);
        let memory = SlotMemory::from_file(&file, bytes).map_err(|e| {
            let call = format!("allocating and mapping a file of {bytes} bytes in TMPDIR");
            setup_failure(&call, e)
                .with_remedy("free disk space there, or set TMPDIR to a folder with more space")
        })?;
        open_ends(setup, memory, |spot| Ok(FutexDoorbell { location: spot }))
    }
}
