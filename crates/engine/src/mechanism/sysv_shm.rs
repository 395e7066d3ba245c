//! `sysv-shm`: one slot in a System V segment, with futexes to wait on.

use std::ptr::{NonNull, null, null_mut};

use ipcperf_model::mechanism::{
    Boundaries, Delivery, Helper, PayloadPath, PayloadTransfer, PeerDeath, PeerWait, Unrelated,
};
use ipcperf_model::{Failure, Mode};
use rustix::io::Errno;

use super::futex::FutexDoorbell;
use super::slot::{SlotEnd, SlotMemory, memory_bytes, memory_failure, open_ends};
use super::sysv;
use crate::channel::{Channel, Documentation, Mechanism, Opened, Setup};
use crate::worker;

/// Facts about `sysv-shm`.
pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "sysv-shm",
    about: "slot in System V shared memory, signaled by a futex",
    boundaries: Boundaries::Preserved,
    delivery: Delivery::Reliable,
    path: PayloadPath::Memory,
    waits: PeerWait::Sleeps,
    payload: PayloadTransfer::Copied,
    peer_death: PeerDeath::NotDetected,
    unrelated: Unrelated::Yes,
    helper: Helper::None,
    modes: &Mode::ALL,
    documentation: Documentation {
        how_it_works: "shmget creates a segment, which other processes can find by its key; shmat \
            maps it. System V shared memory provides no way to wait for data, so the peers wait as \
            with the mechanism futex. The memory is the only difference from that mechanism. The \
            segment is marked for removal as soon as it is attached, and disappears with the last \
            peer.",
        message_boundaries: "Kept: the slot holds one message and its length.",
        minimum_kernel: "Linux 2.6.0, with CONFIG_SYSVIPC.",
        defaults_that_matter: "Pages have the usual size (no SHM_HUGETLB). kernel.shmmax limits \
            the size of a segment. The kernel buffers nothing, so --kernel-buffer does not apply.",
        references: &["man:shmget(2)", "man:shmat(2)", "man:sysvipc(7)", "man:futex(2)"],
    },
    // SAFETY: the call takes only numbers.
    availability: || sysv::available("shmget", |key| unsafe { libc::shmget(key, 0, 0) }),
    in_flight_messages: |_| 2,
    execute: worker::execute::<SysvShm>,
    ..Mechanism::BASE
};

struct SysvShm;

impl Channel for SysvShm {
    type End = SlotEnd<FutexDoorbell>;

    fn open(setup: &Setup<'_>) -> Result<Opened<Self::End>, Failure> {
        let memory = segment(memory_bytes(setup)).map_err(memory_failure)?;
        open_ends(setup, memory, |spot| Ok(FutexDoorbell { location: spot }))
    }
}

/// Creates a segment of `bytes` bytes, attaches it, and marks it for removal with its last detach.
fn segment(bytes: usize) -> Result<SlotMemory, Errno> {
    sysv::remove_on_parent_death();
    // SAFETY: the call takes only numbers.
    let id = sysv::create(|key, flags| unsafe { libc::shmget(key, bytes, flags) })?;
    // SAFETY: attaching at an address chosen by the kernel aliases nothing; -1 is an error.
    let start = unsafe { libc::shmat(id, null(), 0) };
    let attached = sysv::errno_result(if start.addr() == usize::MAX { -1 } else { 0 });
    // SAFETY: the segment was just created, and removing it takes no structure.
    unsafe { libc::shmctl(id, libc::IPC_RMID, null_mut()) };
    attached?;
    let start = NonNull::new(start.cast()).ok_or(Errno::NOMEM)?;
    // SAFETY: a new segment is zero. The call above mapped it with this length, and unmapping all of it
    // detaches it, as Linux allows.
    Ok(unsafe { SlotMemory::from_mapping(start, bytes) })
}
