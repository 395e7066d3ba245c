//! Implementation of `sysv-shm`.

use std::ptr::{NonNull, null, null_mut};

use ipcperf_model::Failure;
use rustix::io::Errno;

use crate::channel::{Channel, Mechanism, Opened, Setup};
use crate::mechanism::futex_doorbell::FutexDoorbell;
use crate::mechanism::slot::{SlotEnd, SlotMemory, memory_bytes, memory_failure, open_ends};
use crate::mechanism::sysv;
use crate::mechanism::waiting::{self, Spinning};
use crate::platform::errno_result;

/// The part of `sysv-shm` that needs Linux.
pub(super) const IMPLEMENTATION: Mechanism = Mechanism {
    // SAFETY: the call takes only numbers.
    availability: || sysv::available("shmget", |key| unsafe { libc::shmget(key, 0, 0) }),
    in_flight_messages: |_| 2,
    execute: waiting::execute::<SysvShm, Spinning>,
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
    let attached = errno_result(if start.addr() == usize::MAX { -1 } else { 0 });
    // SAFETY: the segment was just created, and removing it takes no structure.
    unsafe { libc::shmctl(id, libc::IPC_RMID, null_mut()) };
    attached?;
    let start = NonNull::new(start.cast()).ok_or(Errno::NOMEM)?;
    // SAFETY: a new segment is zero. The call above mapped it with this length, and unmapping all of it
    // detaches it, as Linux allows.
    Ok(unsafe { SlotMemory::from_mapping(start, bytes) })
}
