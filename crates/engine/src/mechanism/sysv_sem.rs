//! `sysv-sem`: one slot of shared memory, and a set of System V semaphores.

use ipcperf_model::mechanism::{
    Boundaries, Delivery, Helper, PayloadFate, PayloadWay, PeerDeath, PeerWait, Unrelated,
};
use ipcperf_model::{Failure, Mode, Unavailable};
use rustix::io::Errno;

use super::refusal::refused;
use super::slot::{Bell, SlotEnd, ends, memory, memory_available};
use super::sysv;
use crate::channel::{Blocking, Channel, Documentation, Mechanism, Opened, Setup};
use crate::worker;

/// Facts about `sysv-sem`.
pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "sysv-sem",
    about: "one slot of shared memory in each direction; a System V semaphore tells of each message",
    boundaries: Boundaries::Kept,
    delivery: Delivery::Reliable,
    way: PayloadWay::RungMemory,
    waits: PeerWait::Sleeps,
    payload: PayloadFate::Copied,
    peer_death: PeerDeath::NotTold,
    unrelated: Unrelated::No("its memory is inherited or passed on; the semaphores have a key"),
    helper: Helper::Nobody,
    modes: &Mode::ALL,
    documentation: Documentation {
        how_it_works: "A memfd holds one slot in each direction. The sender copies its message in \
            and adds 1 to a semaphore with semop; the receiver takes 1 off and copies the message \
            out. Another semaphore of the set tells a sender that waits for room. Each operation \
            is a system call. A set outlives its processes: the party that leaves first removes \
            it, and the command once more.",
        message_boundaries: "Kept: the slot holds one message and its length.",
        minimum_kernel: "Linux 3.17 (memfd_create), with CONFIG_SYSVIPC.",
        defaults_that_matter: "One operation a call, without SEM_UNDO, whose books would overflow: \
            one party only adds, the other only takes off. The kernel holds no payload, so \
            --kernel-buffer does not apply.",
        references: &["man:semop(2)", "man:semget(2)", "man:sysvipc(7)"],
    },
    availability: available,
    holds: |_| 2,
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
    type End = SlotEnd<SysvBell>;

    fn open(setup: &Setup<'_>) -> Result<Opened<Self::End>, Failure> {
        sysv::remove_when_the_command_dies();
        // SAFETY: the call takes only numbers.
        let id = sysv::make(|key, flags| unsafe { libc::semget(key, 4, flags) }).map_err(|e| {
            refused("semget", e).with_remedy("raise kernel.sem with sysctl, or see ipcs -s")
        })?;
        let opened = memory(setup).and_then(|memory| {
            let wait = if setup.blocking == Blocking::Try { libc::IPC_NOWAIT } else { 0 };
            ends(setup, memory, |spot| Ok(SysvBell { id, number: spot.number, wait }))
        });
        if opened.is_err() {
            SysvBell { id, number: 0, wait: 0 }.retire();
        }
        opened
    }
}

#[derive(Clone, Copy, Debug)]
struct SysvBell {
    id: libc::c_int,
    number: u16,
    wait: libc::c_int,
}

impl SysvBell {
    #[inline]
    fn add(self, change: i16, calls: &mut u64) -> Result<(), Errno> {
        *calls += 1;
        #[allow(clippy::cast_possible_truncation, reason = "IPC_NOWAIT has 12 bits")]
        let flags = self.wait as i16;
        let mut operation = libc::sembuf { sem_num: self.number, sem_op: change, sem_flg: flags };
        // SAFETY: the pointer is to one operation, as the count says.
        sysv::outcome_of_object(unsafe { libc::semop(self.id, &raw mut operation, 1) }).map(drop)
    }
}

impl Bell for SysvBell {
    #[inline]
    fn ring(&self, calls: &mut u64) -> Result<(), Errno> {
        self.add(1, calls)
    }

    #[inline]
    fn take(&self, calls: &mut u64) -> Result<(), Errno> {
        self.add(-1, calls)
    }

    fn retire(&self) {
        // SAFETY: removing a set takes only numbers, and fails harmlessly if the set is gone.
        unsafe { libc::semctl(self.id, 0, libc::IPC_RMID) };
    }
}
