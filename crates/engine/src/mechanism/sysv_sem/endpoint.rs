//! Implementation of `sysv-sem`.

use ipcperf_model::{Failure, Unavailable};
use rustix::io::Errno;

use crate::channel::{Blocking, Channel, Granted, Mechanism, Meet, Meeting, Opened, Setup};
use crate::leftovers::SystemV;
use crate::mechanism::setup_failure::setup_failure;
use crate::mechanism::slot::{Doorbell, SlotEnd, meet_ends, open_ends, slot_memory};
use crate::mechanism::sysv::{self, MeetingObject};
use crate::mechanism::waiting::{self, Spinning};
use crate::platform::memory::shared_memory_available;

/// The part of `sysv-sem` that needs Linux.
pub(super) const IMPLEMENTATION: Mechanism = Mechanism {
    availability: available,
    in_flight_messages: |_| 2,
    execute: waiting::execute::<SysvSem, Spinning>,
    meet: Some(waiting::meet::<SysvSem, Spinning>),
    ..Mechanism::BASE
};

fn available() -> Result<(), Unavailable> {
    shared_memory_available()?;
    // SAFETY: the call takes only numbers.
    sysv::available("semget", |key| unsafe { libc::semget(key, 0, 0) })
}

/// What to do if no set can be created.
const REMEDY: &str = "raise kernel.sem with sysctl, or free semaphores (see ipcs -s)";
/// Number of semaphores in a set: two for each direction.
const SEMAPHORES: libc::c_int = 4;

struct SysvSem;

impl Channel for SysvSem {
    type End = SlotEnd<SysvDoorbell>;

    fn open(setup: &Setup<'_>) -> Result<Opened<Self::End>, Failure> {
        sysv::remove_on_parent_death();
        let id = sysv::create(get).map_err(|e| setup_failure("semget", e).with_remedy(REMEDY))?;
        let opened = slot_memory(setup).and_then(|memory| {
            open_ends(setup, memory, |spot| Ok(SysvDoorbell::new(id, spot.number, setup)))
        });
        if opened.is_err() {
            SysvDoorbell::new(id, 0, setup).remove();
        }
        opened
    }
}

impl Meet for SysvSem {
    fn meet(setup: &Setup<'_>, meeting: &Meeting<'_>) -> Result<(Self::End, Granted), Failure> {
        let set = MeetingObject { kind: SystemV::Semaphores, meeting, remedy: REMEDY };
        let id = set.meet(get, |id, _| Ok(id))?;
        let met =
            meet_ends(setup, meeting, |spot, _| Ok(SysvDoorbell::new(id, spot.number, setup)));
        if met.is_err() {
            SysvDoorbell::new(id, 0, setup).remove();
        }
        met
    }
}

fn get(key: libc::key_t, flags: libc::c_int) -> libc::c_int {
    // SAFETY: the call takes only numbers.
    unsafe { libc::semget(key, SEMAPHORES, flags) }
}

#[derive(Clone, Copy, Debug)]
struct SysvDoorbell {
    id: libc::c_int,
    number: u16,
    wait_flag: libc::c_int,
}

impl SysvDoorbell {
    fn new(id: libc::c_int, number: u16, setup: &Setup<'_>) -> Self {
        let wait_flag = if setup.blocking == Blocking::Try { libc::IPC_NOWAIT } else { 0 };
        Self { id, number, wait_flag }
    }

    #[inline]
    fn add(self, change: i16, flags: libc::c_int, calls: &mut u64) -> Result<(), Errno> {
        *calls += 1;
        #[allow(clippy::cast_possible_truncation, reason = "IPC_NOWAIT has 12 bits")]
        let flags = flags as i16;
        let mut operation = libc::sembuf { sem_num: self.number, sem_op: change, sem_flg: flags };
        // SAFETY: the pointer is to one operation, as the count says.
        sysv::object_outcome(unsafe { libc::semop(self.id, &raw mut operation, 1) }).map(drop)
    }
}

impl Doorbell for SysvDoorbell {
    #[inline]
    fn ring(&self, calls: &mut u64) -> Result<(), Errno> {
        self.add(1, self.wait_flag, calls)
    }

    #[inline]
    fn wait(&self, calls: &mut u64) -> Result<(), Errno> {
        self.add(-1, self.wait_flag, calls)
    }

    #[inline]
    fn try_wait(&self, calls: &mut u64) -> Result<(), Errno> {
        self.add(-1, libc::IPC_NOWAIT, calls)
    }

    fn remove(&self) {
        // SAFETY: removing a set takes only numbers, and fails harmlessly if the set is gone.
        unsafe { libc::semctl(self.id, 0, libc::IPC_RMID) };
    }
}
