//! Implementation of `sysv-shm`.

use std::ptr::{NonNull, null, null_mut};

use ipcperf_model::Failure;
use rustix::io::Errno;

use crate::channel::{Channel, Granted, Mechanism, Meet, Meeting, Opened, Setup};
use crate::leftovers::SystemV;
use crate::mechanism::futex_doorbell::FutexDoorbell;
use crate::mechanism::slot::{
    SlotEnd, SlotMemory, memory_bytes, memory_failure, open_ends, own_end,
};
use crate::mechanism::sysv::{self, MeetingObject, Origin};
use crate::mechanism::waiting::{self, Spinning};
use crate::platform::errno_result;

/// The part of `sysv-shm` that needs Linux.
pub(super) const IMPLEMENTATION: Mechanism = Mechanism {
    // SAFETY: the call takes only numbers.
    availability: || sysv::available("shmget", |key| unsafe { libc::shmget(key, 0, 0) }),
    in_flight_messages: |_| 2,
    execute: waiting::execute::<SysvShm, Spinning>,
    meet: Some(waiting::meet::<SysvShm, Spinning>),
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

/// Name of the file by which the program that has found the segment shows that it has attached it.
const ATTACHED: &str = "attached";

impl Meet for SysvShm {
    fn meet(setup: &Setup<'_>, meeting: &Meeting<'_>) -> Result<(Self::End, Granted), Failure> {
        let memory = shared_segment(memory_bytes(setup), meeting)?;
        let opened = open_ends(setup, memory, |spot| Ok(FutexDoorbell { location: spot }))?;
        Ok(own_end(opened, meeting.role()))
    }
}

/// Attaches a segment of `bytes` bytes that both programs share. It is marked for removal once both have attached it: it
/// cannot be found by its key afterwards.
fn shared_segment(bytes: usize, meeting: &Meeting<'_>) -> Result<SlotMemory, Failure> {
    // SAFETY: the call takes only numbers.
    let get = |key, flags| unsafe { libc::shmget(key, bytes, flags) };
    let remedy =
        "raise kernel.shmmni or kernel.shmmax with sysctl, or remove segments (see ipcs -m)";
    let segment = MeetingObject { kind: SystemV::Memory, meeting, remedy };
    let (memory, id, origin) = segment
        .meet(get, |id, origin| Ok((attach(id, bytes).map_err(memory_failure)?, id, origin)))?;
    match origin {
        Origin::Found => meeting.publish(ATTACHED, "")?,
        Origin::Created => {
            let attached = meeting.published(ATTACHED);
            remove(id);
            attached?;
        }
    }
    Ok(memory)
}

/// Creates a segment of `bytes` bytes, attaches it, and marks it for removal with its last detach.
fn segment(bytes: usize) -> Result<SlotMemory, Errno> {
    sysv::remove_on_parent_death();
    // SAFETY: the call takes only numbers.
    let id = sysv::create(|key, flags| unsafe { libc::shmget(key, bytes, flags) })?;
    let memory = attach(id, bytes);
    remove(id);
    memory
}

/// Marks a segment for removal with its last detach.
fn remove(id: libc::c_int) {
    // SAFETY: removing a segment takes no structure, and fails harmlessly if it is gone.
    unsafe { libc::shmctl(id, libc::IPC_RMID, null_mut()) };
}

/// Attaches a segment of at least `bytes` bytes that was created for these slots.
fn attach(id: libc::c_int, bytes: usize) -> Result<SlotMemory, Errno> {
    // SAFETY: attaching at an address chosen by the kernel aliases nothing; -1 is an error.
    let start = unsafe { libc::shmat(id, null(), 0) };
    errno_result(if start.addr() == usize::MAX { -1 } else { 0 })?;
    let start = NonNull::new(start.cast()).ok_or(Errno::NOMEM)?;
    // SAFETY: a new segment is zero, and only the slots change it. The call above mapped at least this length, and unmapping
    // all of it detaches it, as Linux allows.
    Ok(unsafe { SlotMemory::from_mapping(start, bytes) })
}
