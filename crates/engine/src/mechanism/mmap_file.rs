//! `mmap-file`: one slot in a file that both peers map, with futexes to wait on.

use ipcperf_model::mechanism::{
    Boundaries, Delivery, Helper, PayloadFate, PayloadWay, PeerDeath, PeerWait, Unrelated,
};
use ipcperf_model::{Failure, Mode};
use rustix::fs::{CWD, Mode as Access, OFlags, openat};

use super::Scratch;
use super::futex::FutexBell;
use super::refusal::refused;
use super::slot::{Shared, SlotEnd, ends, memory_bytes};
use crate::channel::{Channel, Documentation, Mechanism, Opened, Setup};
use crate::worker;

/// Facts about `mmap-file`.
pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "mmap-file",
    about: "one slot in a temporary file that both map, in each direction; waits on a futex",
    boundaries: Boundaries::Kept,
    delivery: Delivery::Reliable,
    way: PayloadWay::Memory,
    waits: PeerWait::Sleeps,
    payload: PayloadFate::Copied,
    peer_death: PeerDeath::NotTold,
    unrelated: Unrelated::Yes,
    helper: Helper::Disk,
    modes: &Mode::ALL,
    documentation: Documentation {
        how_it_works: "Both parties map one file (MAP_SHARED) and so the same pages of the page \
            cache. A file says nothing of when there is something in it: here the parties wait as \
            futex does, so that what differs from futex is the memory alone. The file loses its \
            name before the parties part.",
        message_boundaries: "Kept: the slot holds one message and its length.",
        minimum_kernel: "Linux 2.6.0.",
        defaults_that_matter: "The file is in TMPDIR, else /tmp; its room is taken before it is mapped \
            (fallocate, or by writing zeros). On a disk the kernel writes dirty pages back every vm.dirty_writeback_centisecs, after which the first store to \
            each takes a fault again; on tmpfs it never does. The kernel holds nothing, so \
            --kernel-buffer does not apply.",
        references: &["man:mmap(2)", "man:futex(2)"],
    },
    holds: |_| 2,
    execute: worker::execute::<MmapFile>,
    ..Mechanism::BASE
};

struct MmapFile;

impl Channel for MmapFile {
    type End = SlotEnd<FutexBell>;

    fn open(setup: &Setup<'_>) -> Result<Opened<Self::End>, Failure> {
        let scratch = Scratch::new()?;
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let file = openat(CWD, scratch.path("slot"), flags, Access::RUSR | Access::WUSR)
            .map_err(|e| refused("open(O_CREAT)", e))?;
        let bytes = memory_bytes(setup);
        let memory = Shared::of_file(&file, bytes).map_err(|e| {
            let call = format!("allocating and mapping a file of {bytes} bytes in TMPDIR");
            refused(&call, e)
                .with_remedy("make room there, or set TMPDIR to a folder with more of it")
        })?;
        ends(setup, memory, |spot| Ok(FutexBell { spot }))
    }
}
