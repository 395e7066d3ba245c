//! `mmap-queue`: a queue of slots in shared memory, with a choice of locks and waits.

#[cfg(target_os = "linux")]
mod endpoint;

use ipcperf_model::Mode;
use ipcperf_model::mechanism::{
    Boundaries, Delivery, Helper, PayloadPath, PayloadTransfer, PeerDeath, PeerWait, Unrelated,
};

use crate::channel::{Documentation, Mechanism, OptionSpec, OptionValues};

#[cfg(not(target_os = "linux"))]
use super::needs_linux as endpoint;

/// Option that selects the lock or the counters of the queue.
const LOCK: OptionSpec = OptionSpec {
    name: "lock",
    about: "lock or counters with which a peer waits for a free or a full slot",
    values: OptionValues::OneOf(&[
        "futex",
        "fcntl-each",
        "fcntl-needed",
        "mutex",
        "posix-sem",
        "sysv-sem",
        "eventfd",
        "pipe",
    ]),
    default: "futex",
};

/// Facts about `mmap-queue`.
pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "mmap-queue",
    about: "queue in shared memory, with a choice of locks",
    boundaries: Boundaries::Preserved,
    delivery: Delivery::Reliable,
    path: PayloadPath::Memory,
    waits: PeerWait::ByOption { option: LOCK.name, spins: &["fcntl-each", "fcntl-needed"] },
    payload: PayloadTransfer::Copied,
    peer_death: PeerDeath::NotDetected,
    unrelated: Unrelated::No("its memory must be inherited or passed"),
    helper: Helper::None,
    options: &[LOCK],
    modes: &Mode::INHERITED,
    documentation: Documentation {
        how_it_works: "Each direction has a queue in a mapped memfd. Each slot of the queue holds \
            one message. A queue has as many slots as fit into 256 KiB, but at least 2 and at most \
            64. The sender waits for a free slot, and the receiver waits for a full slot. The \
            option lock selects how they wait:\n\n\
            - lock=fcntl-each: a peer takes a record lock, copies a message into or out of the \
            queue, and releases the lock. This takes two calls per message. If the queue is full \
            or empty, the peer releases the lock, yields (sched_yield) and tries again. This takes \
            three calls per attempt.\n\
            - lock=fcntl-needed: a peer first checks the queue without a lock. If it can copy a \
            message into or out of the queue, it does so without any call. Otherwise, it takes the \
            lock and tries again, as with fcntl-each.\n\
            - lock=mutex: a peer holds a robust mutex while it copies a message into or out of the \
            queue, and waits on a condition variable.\n\
            - lock=futex: the queue has two counters in shared memory: one for its full slots and \
            one for its free slots. A peer makes a call only to sleep or to wake the other peer.\n\
            - lock=posix-sem: the two counters are POSIX semaphores. The C library makes a call \
            only to sleep or to wake the other peer.\n\
            - lock=sysv-sem: the two counters are System V semaphores. Each peer makes two calls \
            per message, one for each semaphore. A peer that has to wait sleeps in such a call. \
            The kernel keeps a set of System V semaphores until it is removed. The peer that exits \
            first removes the set. If the set still exists after the run, the ipcperf command \
            removes it.\n\
            - lock=eventfd: the two counters are eventfds. For each message, each peer reads one \
            of them and writes to the other. A peer that has to wait sleeps in poll, and then \
            reads the eventfd again.\n\
            - lock=pipe: the two counters are pipes that contain one byte per slot. For each \
            message, each peer reads from one of them and writes to the other.",
        message_boundaries: "Kept: each slot holds one message and its length.",
        minimum_kernel: "Linux 3.17 (memfd_create). lock=sysv-sem needs CONFIG_SYSVIPC.",
        defaults_that_matter: "The record locks belong to an open file (F_OFD_SETLKW, Linux 3.15). \
            The older kind of record lock belongs to the whole process, so it does not exclude \
            other threads of that process. Both kinds cost the same. With every lock except pipe, \
            a peer that waits checks every 100 ms whether the process of the other peer still \
            exists. ipcperf adds this check, because futexes and most other locks do not report \
            the death of a peer. Peer death is listed as not detected, because the default, \
            lock=futex, does not detect it without this check. With lock=pipe, a peer that waits \
            gets end of file. With lock=mutex and lock=posix-sem, the C library makes the calls, \
            so ipcperf cannot count all of them. It counts one call for each wait on the condition \
            variable or the semaphore. It does not count calls that wait for the mutex or wake the \
            other peer. --kernel-buffer does not apply.",
        references: &[
            "man:fcntl_locking(2)",
            "man:pthread_mutexattr_setrobust(3)",
            "man:sem_overview(7)",
            "man:semop(2)",
            "man:eventfd(2)",
            "man:futex(2)",
        ],
    },
    ..endpoint::IMPLEMENTATION
};
