//! A party for tests: a forked process that waits at a gate, where it gets a dial, and reads it just before
//! and just after what it does.

use std::io::{IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::ptr::null_mut;
use std::time::Duration;

use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketFlags, SocketType, recvmsg, sendmsg, socketpair,
};

use crate::testing::forked_pair::mark;
use crate::{Member, Parties, Reading, Scope};

/// What it does.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Act {
    /// Pages that it touches for the first time.
    pub(crate) pages: usize,
    /// Pages that it has the kernel touch for the first time.
    pub(crate) pages_by_kernel: usize,
    /// Times that it sleeps.
    pub(crate) naps: u64,
    /// Rounds of a loop of two instructions.
    pub(crate) loops: u64,
    /// System calls that do nothing.
    pub(crate) calls: u64,
}

/// What it says itself.
#[derive(Clone, Debug)]
pub(crate) struct Own {
    pub(crate) reading: Reading,
    pub(crate) switches: u64,
    pub(crate) cpu_ns: u64,
    pub(crate) elapsed_ns: u64,
}

/// Words of a dial, at most.
const WORDS: usize = 64;
const PAGE: usize = 4096;
/// Longer than anything it does, so that a test does not hang.
const MOST_SECONDS: u32 = 300;

/// What it says, in memory that it shares with the test.
#[derive(Debug)]
#[repr(C)]
struct Said {
    before: [u64; WORDS],
    after: [u64; WORDS],
    lengths: [usize; 2],
    switches: u64,
    cpu_ns: u64,
    elapsed_ns: u64,
}

/// A process at its gate. Dropped, it is killed.
#[derive(Debug)]
pub(crate) struct Solo {
    pub(crate) parties: Parties,
    child: libc::pid_t,
    gate: OwnedFd,
    said: *mut Said,
}

impl Solo {
    pub(crate) fn of(act: Act) -> Self {
        let flags = SocketFlags::CLOEXEC;
        let (gate, other) =
            socketpair(AddressFamily::UNIX, SocketType::STREAM, flags, None).unwrap();
        let said = mapped(size_of::<Said>()).cast();
        // SAFETY: the child makes only calls that signal-safety(7) lists or that are as plain, allocates
        // nothing, and leaves by `_exit`.
        let child = match unsafe { libc::fork() } {
            0 => play(act, &gate, &other, said),
            child => child,
        };
        assert!(child > 0, "fork");
        let pid = child.unsigned_abs();
        let member = Member { role: "both".to_owned(), pid, tid: pid, scope: Scope::Thread };
        Self { parties: Parties { members: vec![member] }, child, gate, said }
    }

    /// Opens the gate, and waits for it to end.
    pub(crate) fn play(&mut self, dial: BorrowedFd<'_>) -> Own {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        let dials = [dial];
        assert!(control.push(SendAncillaryMessage::ScmRights(&dials)));
        sendmsg(&self.gate, &[IoSlice::new(&[0])], &mut control, SendFlags::empty()).unwrap();
        let mut status = 0;
        // SAFETY: the pointer is to a whole int; the child is this test's own.
        assert_eq!(unsafe { libc::waitpid(self.child, &raw mut status, 0) }, self.child);
        self.child = 0;
        assert_eq!(status, 0, "the child failed");
        // SAFETY: the mapping is as large, any bytes are a valid one, and who wrote it is gone.
        let said = unsafe { &*self.said };
        let words = |words: &[u64], index: usize| words[..said.lengths[index]].to_vec();
        Own {
            reading: Reading { before: words(&said.before, 0), after: words(&said.after, 1) },
            switches: said.switches,
            cpu_ns: said.cpu_ns,
            elapsed_ns: said.elapsed_ns,
        }
    }
}

impl Drop for Solo {
    fn drop(&mut self) {
        // SAFETY: the child is this test's own and was not reaped yet; the mapping is its own as well.
        unsafe {
            if self.child > 0 {
                libc::kill(self.child, libc::SIGKILL);
                libc::waitpid(self.child, null_mut(), 0);
            }
            libc::munmap(self.said.cast(), size_of::<Said>());
        }
    }
}

/// Memory that a child shares, never touched.
fn mapped(bytes: usize) -> *mut libc::c_void {
    let (access, kind) =
        (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_ANONYMOUS);
    // SAFETY: a new mapping of the kernel's choice aliases nothing.
    let start = unsafe { libc::mmap(null_mut(), bytes, access, kind, -1, 0) };
    assert_ne!(start, libc::MAP_FAILED);
    start
}

/// The child: it never returns.
fn play(act: Act, tests_end: &OwnedFd, gate: &OwnedFd, said: *mut Said) -> ! {
    // SAFETY: plain calls; what fails ends the child. The pointer is to a whole mapping of its own.
    unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        libc::alarm(MOST_SECONDS);
        libc::close(tests_end.as_raw_fd());
        let pages = memory(2 + act.pages + act.pages_by_kernel);
        let zeroes = libc::open(c"/dev/zero".as_ptr(), libc::O_RDONLY);
        let played = dial(gate).is_some_and(|dial| perform(act, dial, pages, zeroes, &mut *said));
        libc::_exit(i32::from(!played));
    }
}

/// Pages that were never touched, of the smallest kind.
fn memory(pages: usize) -> *mut u8 {
    let (access, kind) =
        (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: a new mapping of the kernel's choice aliases nothing; advice changes nothing that is seen.
    unsafe {
        let start = libc::mmap(null_mut(), pages.max(1) * PAGE, access, kind, -1, 0);
        libc::madvise(start, pages.max(1) * PAGE, libc::MADV_NOHUGEPAGE);
        start.cast()
    }
}

/// The dial that comes through the gate.
fn dial(gate: &OwnedFd) -> Option<RawFd> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut byte = [0];
    recvmsg(gate, &mut [IoSliceMut::new(&mut byte)], &mut control, RecvFlags::empty()).ok()?;
    let RecvAncillaryMessage::ScmRights(mut dials) = control.drain().next()? else { return None };
    let dial = dials.next()?;
    let number = dial.as_raw_fd();
    std::mem::forget(dial);
    Some(number)
}

/// Does it twice, of which the second counts: code that was never run is a page fault as well.
fn perform(act: Act, dial: RawFd, pages: *mut u8, zeroes: RawFd, said: &mut Said) -> bool {
    let little = Act { pages: 1, pages_by_kernel: 1, naps: 1, loops: 1, calls: 1 };
    // SAFETY: there are as many pages before those of `act`.
    let others = unsafe { pages.add(2 * PAGE) };
    phase(little, dial, pages, zeroes, said) && phase(act, dial, others, zeroes, said)
}

fn phase(act: Act, dial: RawFd, pages: *mut u8, zeroes: RawFd, said: &mut Said) -> bool {
    let begun = now_ns(libc::CLOCK_MONOTONIC);
    said.lengths[0] = read(dial, &mut said.before);
    let (cpu_ns, switches) = (now_ns(libc::CLOCK_THREAD_CPUTIME_ID), mark());
    let done = work(act, pages, zeroes);
    let (after, cpu_after_ns) = (mark(), now_ns(libc::CLOCK_THREAD_CPUTIME_ID));
    said.lengths[1] = read(dial, &mut said.after);
    said.elapsed_ns = now_ns(libc::CLOCK_MONOTONIC) - begun;
    said.cpu_ns = cpu_after_ns - cpu_ns;
    said.switches = after.voluntary + after.involuntary - switches.voluntary - switches.involuntary;
    done
}

fn work(act: Act, pages: *mut u8, zeroes: RawFd) -> bool {
    // SAFETY: the pages are the child's own, as many as both kinds together; the calls are plain.
    unsafe {
        for page in 0..act.pages {
            pages.add(page * PAGE).write_volatile(1);
        }
        let bytes = act.pages_by_kernel * PAGE;
        let read = libc::read(zeroes, pages.add(act.pages * PAGE).cast(), bytes);
        for _ in 0..act.naps {
            std::thread::sleep(Duration::from_micros(50));
        }
        for _ in 0..act.calls {
            libc::getppid();
        }
        round(act.loops);
        usize::try_from(read) == Ok(bytes)
    }
}

/// So many rounds of two instructions.
fn round(rounds: u64) {
    if rounds == 0 {
        return;
    }
    // SAFETY: it counts a register of its own down to zero, and touches no memory.
    #[cfg(target_arch = "aarch64")]
    unsafe {
        std::arch::asm!("2: subs {0}, {0}, #1", "b.ne 2b", inout(reg) rounds => _, options(nomem, nostack));
    }
    // SAFETY: as above.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        std::arch::asm!("2: dec {0}", "jnz 2b", inout(reg) rounds => _, options(nomem, nostack));
    }
    #[cfg(not(any(target_arch = "aarch64", target_arch = "x86_64")))]
    for round in 0..rounds {
        std::hint::black_box(round);
    }
}

fn read(dial: RawFd, words: &mut [u64; WORDS]) -> usize {
    // SAFETY: the buffer is as long as is said; any bytes are words.
    let length = unsafe { libc::read(dial, words.as_mut_ptr().cast(), size_of_val(words)) };
    usize::try_from(length).unwrap_or(0) / size_of::<u64>()
}

fn now_ns(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a whole timespec.
    unsafe { libc::clock_gettime(clock, &raw mut time) };
    time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_nsec.unsigned_abs()
}
