//! `sysv-sem`: one slot of shared memory, and a set of System V semaphores.

use ipcperf_model::mechanism::{
    Boundaries, Delivery, Helper, PayloadPath, PayloadTransfer, PeerDeath, PeerWait, Unrelated,
};
use ipcperf_model::{Failure, Mode, Unavailable};
use rustix::io::Errno;

use super::setup_failure::setup_failure;
use super::slot::{Doorbell, SlotEnd, memory_available, open_ends, slot_memory};
use super::sysv;
use crate::channel::{Blocking, Channel, Documentation, Mechanism, Opened, Setup};
use crate::worker;

/// Facts about `sysv-sem`.
pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "sysv-sem",
    about: "slot in shared memory, signaled by System V semaphores",
    boundaries: Boundaries::Preserved,
    delivery: Delivery::Reliable,
    path: PayloadPath::SharedMemoryWithDoorbell,
    waits: PeerWait::Sleeps,
    payload: PayloadTransfer::Copied,
    peer_death: PeerDeath::NotDetected,
    unrelated: Unrelated::No(
        "its memory must be inherited or passed; only the semaphores have a \
        key",
    ),
    helper: Helper::None,
    modes: &Mode::ALL,
    documentation: Documentation {
        how_it_works: "A memfd has one slot for each direction. The sender copies its message into \
            the slot and adds 1 to a semaphore with semop. The receiver subtracts 1 and copies the \
            message out. Another semaphore of the same set wakes a sender that waits for the slot \
            to become free. Each of these operations is a system call. The kernel keeps a set of \
            semaphores until it is removed. The peer that exits first removes the set; if it still \
            exists after the run, the ipcperf command removes it.",
        message_boundaries: "Kept: the slot holds one message and its length.",
        minimum_kernel: "Linux 3.17 (memfd_create), with CONFIG_SYSVIPC.",
        defaults_that_matter: "Each semop performs one operation and does not use SEM_UNDO. With \
            SEM_UNDO, the kernel's adjustment values would overflow, because one peer only adds to \
            a semaphore and the other peer only subtracts from it. The kernel buffers no payload, \
            so --kernel-buffer does not apply.",
        references: &["man:semop(2)", "man:semget(2)", "man:sysvipc(7)"],
    },
    availability: available,
    in_flight_messages: |_| 2,
    execute: worker::execute::<SysvSem>,
    ..Mechanism::BASE
};

fn available() -> Result<(), Unavailable> {
    memory_available()?;
    // SAFETY: the call takes only numbers.
    sysv::available("semget", |key| unsafe { libc::semget(key, 0, 0) })
}

struct SysvSem;

impl Channel for SysvSem {
    type End = SlotEnd<SysvDoorbell>;

    fn open(setup: &Setup<'_>) -> Result<Opened<Self::End>, Failure> {
        sysv::remove_on_parent_death();
        // SAFETY: the call takes only numbers.
        let id =
            sysv::create(|key, flags| unsafe { libc::semget(key, 4, flags) }).map_err(|e| {
                setup_failure("semget", e)
                    .with_remedy("raise kernel.sem with sysctl, or see ipcs -s")
            })?;
        let opened = slot_memory(setup).and_then(|memory| {
            let wait = if setup.blocking == Blocking::Try { libc::IPC_NOWAIT } else { 0 };
            open_ends(setup, memory, |spot| {
                Ok(SysvDoorbell { id, number: spot.number, wait_flag: wait })
            })
        });
        if opened.is_err() {
            SysvDoorbell { id, number: 0, wait_flag: 0 }.remove();
        }
        opened
    }
}

#[derive(Clone, Copy, Debug)]
struct SysvDoorbell {
    id: libc::c_int,
    number: u16,
    wait_flag: libc::c_int,
}

impl SysvDoorbell {
    #[inline]
    fn add(self, change: i16, calls: &mut u64) -> Result<(), Errno> {
        *calls += 1;
        #[allow(clippy::cast_possible_truncation, reason = "IPC_NOWAIT has 12 bits")]
        let flags = self.wait_flag as i16;
        let mut operation = libc::sembuf { sem_num: self.number, sem_op: change, sem_flg: flags };
        // SAFETY: the pointer is to one operation, as the count says.
        sysv::object_outcome(unsafe { libc::semop(self.id, &raw mut operation, 1) }).map(drop)
    }
}

impl Doorbell for SysvDoorbell {
    #[inline]
    fn ring(&self, calls: &mut u64) -> Result<(), Errno> {
        self.add(1, calls)
    }

    #[inline]
    fn wait(&self, calls: &mut u64) -> Result<(), Errno> {
        self.add(-1, calls)
    }

    fn remove(&self) {
        // SAFETY: removing a set takes only numbers, and fails harmlessly if the set is gone.
        unsafe { libc::semctl(self.id, 0, libc::IPC_RMID) };
    }
}
