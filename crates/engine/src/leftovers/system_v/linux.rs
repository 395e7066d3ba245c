//! System calls on System V objects.

#[cfg(not(target_env = "musl"))]
use libc::semid_ds as SemaphoreStatus;
use std::mem::MaybeUninit;

use rustix::io::Errno;
use rustix::process::geteuid;

use super::SystemV;
use crate::leftovers::RunNames;
use crate::platform::errno_result;

/// All kinds.
const KINDS: [SystemV; 3] = [SystemV::Queue, SystemV::Semaphores, SystemV::Memory];

/// Properties that identify an object.
struct ObjectStatus {
    key: i32,
    creator: u32,
    /// Time of creation or last change, s since the epoch.
    changed_s: i64,
}

/// Status of a set of semaphores, as `semctl` reports it: `struct semid64_ds` of the kernel (`asm/sembuf.h`), which the
/// crate libc does not define for musl.
#[cfg(target_env = "musl")]
#[repr(C)]
struct SemaphoreStatus {
    sem_perm: libc::ipc_perm,
    _sem_otime: libc::c_long,
    #[cfg(target_arch = "x86_64")]
    _unused: libc::c_ulong,
    sem_ctime: libc::c_long,
    _rest: [libc::c_ulong; 4],
}

/// An object that was created.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CreatedObject {
    pub(crate) key: libc::key_t,
    pub(crate) id: libc::c_int,
}

/// Creates an object under the first free key of `names`, through `get`, which takes a key and flags.
pub(crate) fn create(
    names: &RunNames,
    get: impl Fn(libc::key_t, libc::c_int) -> libc::c_int,
) -> Result<CreatedObject, Errno> {
    let flags = libc::IPC_CREAT | libc::IPC_EXCL | 0o600;
    let mut made = Err(Errno::EXIST);
    for key in names.token().system_v_keys() {
        made = errno_result(get(key, flags)).map(|id| CreatedObject { key, id });
        if made != Err(Errno::EXIST) {
            break;
        }
    }
    made
}

/// Existing objects that the run of `names` created. Makes only system calls, so that a signal handler may iterate over
/// them.
pub(in crate::leftovers) fn existing(names: &RunNames) -> impl Iterator<Item = (SystemV, i32)> {
    let (token, began_s) = (names.token(), names.began_s());
    KINDS.into_iter().flat_map(move |kind| {
        let found = token.system_v_keys().filter_map(move |key| kind.find(key));
        found
            .filter(move |&(key, id)| kind.is_owned(id, key, began_s))
            .map(move |(_, id)| (kind, id))
    })
}

/// Removes the objects of the run of `names`; may be called in a signal handler.
pub(crate) fn remove_all(names: &RunNames) {
    for (kind, id) in existing(names) {
        // The object may already be gone; the error does not matter.
        let _ = kind.remove(id);
    }
}

impl SystemV {
    /// Finds the object under `key`; returns the key and the object's id.
    fn find(self, key: i32) -> Option<(i32, i32)> {
        // SAFETY: the calls take only numbers, and create nothing without IPC_CREAT.
        let id = unsafe {
            match self {
                Self::Queue => libc::msgget(key, 0),
                Self::Semaphores => libc::semget(key, 0, 0),
                Self::Memory => libc::shmget(key, 0, 0),
            }
        };
        (id >= 0).then_some((key, id))
    }

    /// Whether object `id` has `key`, belongs to this user, and is no older than `began_s`.
    fn is_owned(self, id: i32, key: i32, began_s: i64) -> bool {
        self.status(id).is_some_and(|facts| {
            facts.key == key && facts.creator == geteuid().as_raw() && facts.changed_s >= began_s
        })
    }

    fn status(self, id: i32) -> Option<ObjectStatus> {
        match self {
            Self::Queue => {
                let mut facts = MaybeUninit::<libc::msqid_ds>::zeroed();
                // SAFETY: the pointer is to a whole msqid_ds, which is valid when zeroed.
                let facts = unsafe {
                    let got = libc::msgctl(id, libc::IPC_STAT, facts.as_mut_ptr());
                    (got == 0).then(|| facts.assume_init())
                }?;
                Some(ObjectStatus::from_permissions(&facts.msg_perm, facts.msg_ctime))
            }
            Self::Semaphores => {
                let mut facts = MaybeUninit::<SemaphoreStatus>::zeroed();
                // SAFETY: with IPC_STAT the fourth argument is a pointer to a whole semid_ds, which is valid when zeroed.
                let facts = unsafe {
                    let got = libc::semctl(id, 0, libc::IPC_STAT, facts.as_mut_ptr());
                    (got != -1).then(|| facts.assume_init())
                }?;
                Some(ObjectStatus::from_permissions(&facts.sem_perm, facts.sem_ctime))
            }
            Self::Memory => {
                let mut facts = MaybeUninit::<libc::shmid_ds>::zeroed();
                // SAFETY: the pointer is to a whole shmid_ds, which is valid when zeroed.
                let facts = unsafe {
                    let got = libc::shmctl(id, libc::IPC_STAT, facts.as_mut_ptr());
                    (got != -1).then(|| facts.assume_init())
                }?;
                Some(ObjectStatus::from_permissions(&facts.shm_perm, facts.shm_ctime))
            }
        }
    }

    /// Makes `user` the owner of object `id`, which this user has created. Permissions of the owner are those of its creator
    /// too, and nobody else's.
    pub(crate) fn share(self, id: i32, user: u32) -> Result<(), Errno> {
        // SAFETY: all zero is a valid value of these plain numbers, and each call reads or writes only a whole one.
        let shared = unsafe {
            match self {
                Self::Queue => {
                    let mut facts: libc::msqid_ds = std::mem::zeroed();
                    errno_result(libc::msgctl(id, libc::IPC_STAT, &raw mut facts))?;
                    facts.msg_perm.uid = user;
                    libc::msgctl(id, libc::IPC_SET, &raw mut facts)
                }
                Self::Semaphores => {
                    let mut facts: SemaphoreStatus = std::mem::zeroed();
                    errno_result(libc::semctl(id, 0, libc::IPC_STAT, &raw mut facts))?;
                    facts.sem_perm.uid = user;
                    libc::semctl(id, 0, libc::IPC_SET, &raw mut facts)
                }
                Self::Memory => {
                    let mut facts: libc::shmid_ds = std::mem::zeroed();
                    errno_result(libc::shmctl(id, libc::IPC_STAT, &raw mut facts))?;
                    facts.shm_perm.uid = user;
                    libc::shmctl(id, libc::IPC_SET, &raw mut facts)
                }
            }
        };
        errno_result(shared).map(drop)
    }

    /// Removes object `id`. The kernel does not reuse an id soon: it includes a sequence number of its slot.
    pub(crate) fn remove(self, id: i32) -> Result<(), Errno> {
        // SAFETY: removal takes only numbers; the pointers for the object's data may be null.
        let removed = unsafe {
            match self {
                Self::Queue => libc::msgctl(id, libc::IPC_RMID, std::ptr::null_mut()),
                Self::Semaphores => libc::semctl(id, 0, libc::IPC_RMID),
                Self::Memory => libc::shmctl(id, libc::IPC_RMID, std::ptr::null_mut()),
            }
        };
        errno_result(removed).map(drop)
    }
}

impl ObjectStatus {
    fn from_permissions(permissions: &libc::ipc_perm, changed_s: impl Into<i64>) -> Self {
        #[cfg(not(target_env = "musl"))]
        let key = permissions.__key;
        #[cfg(target_env = "musl")]
        #[allow(deprecated, reason = "a later version of libc has another name for it")]
        let key = permissions.__ipc_perm_key;
        Self { key, creator: permissions.cuid, changed_s: changed_s.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queue(key: i32, flags: i32) -> i32 {
        // SAFETY: the call takes only numbers.
        unsafe { libc::msgget(key, flags) }
    }

    /// Some kernels lack System V IPC, and some environments forbid it.
    fn made(names: &RunNames) -> Option<i32> {
        create(names, queue).ok().map(|made| made.id)
    }

    #[test]
    fn an_object_of_the_run_is_found_and_removed() {
        let names = RunNames::new([]).unwrap();
        let Some(id) = made(&names) else { return };
        assert_eq!(existing(&names).collect::<Vec<_>>(), [(SystemV::Queue, id)]);
        remove_all(&names);
        assert_eq!(existing(&names).count(), 0);
    }

    #[test]
    fn a_key_that_is_taken_is_left_alone() {
        let names = RunNames::new([]).unwrap();
        let first = names.token().system_v_keys().next().unwrap();
        let taken = queue(first, libc::IPC_CREAT | libc::IPC_EXCL | 0o600);
        if taken == -1 {
            return;
        }
        let id = made(&names).unwrap();
        assert_ne!(id, taken);
        let second = SystemV::Queue.status(id).unwrap().key;
        assert_eq!(names.token().system_v_keys().nth(1), Some(second));
        SystemV::Queue.remove(taken).unwrap();
        SystemV::Queue.remove(id).unwrap();
    }

    /// An object older than the names belongs to another program, even under a key of the run.
    #[test]
    fn an_older_object_under_a_key_of_the_run_is_not_the_runs() {
        let names = RunNames::new([]).unwrap();
        let Some(id) = made(&names) else { return };
        let later = RunNames { began_s: names.began_s() + 2, ..names };
        assert_eq!(existing(&later).count(), 0);
        remove_all(&later);
        let key = SystemV::Queue.status(id).map(|facts| facts.key);
        assert_eq!(key, later.token().system_v_keys().next());
        SystemV::Queue.remove(id).unwrap();
    }
}
