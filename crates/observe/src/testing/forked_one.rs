//! A peer for tests: a forked process that waits at a gate for a counter's descriptor, and reads it just before and
//! just after its work.

use std::io::{IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::ptr::null_mut;
use std::time::Duration;

use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketFlags, SocketType, recvmsg, sendmsg, socketpair,
};

use super::forked_pair::mark;
use crate::{Member, Reading, Scope, Targets};

/// Work of the process.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Work {
    /// Number of pages that it touches for the first time.
    pub(crate) pages: usize,
    /// Number of pages that the kernel touches for it for the first time.
    pub(crate) pages_by_kernel: usize,
    /// Number of times that it sleeps.
    pub(crate) sleeps: u64,
    /// Number of iterations of a loop of two instructions.
    pub(crate) loops: u64,
    /// Number of system calls that do nothing.
    pub(crate) calls: u64,
}

/// The process's own report.
#[derive(Clone, Debug)]
pub(crate) struct PeerReport {
    pub(crate) reading: Reading,
    pub(crate) switches: u64,
    pub(crate) cpu_ns: u64,
    pub(crate) elapsed_ns: u64,
}

/// Maximum number of words in a reading.
const WORDS: usize = 64;
const PAGE: usize = 4096;
/// Time limit, longer than any of the work, so that a test does not hang, s.
const TIMEOUT_SECONDS: u32 = 300;

/// The process's report, in memory shared with the test.
#[derive(Debug)]
#[repr(C)]
struct SharedReport {
    before: [u64; WORDS],
    after: [u64; WORDS],
    lengths: [usize; 2],
    switches: u64,
    cpu_ns: u64,
    elapsed_ns: u64,
}

/// A process at its gate. It is killed when dropped.
#[derive(Debug)]
pub(crate) struct ForkedOne {
    pub(crate) targets: Targets,
    child: libc::pid_t,
    gate: OwnedFd,
    report: *mut SharedReport,
}

impl ForkedOne {
    pub(crate) fn fork(work: Work) -> Self {
        let flags = SocketFlags::CLOEXEC;
        let (gate, other) =
            socketpair(AddressFamily::UNIX, SocketType::STREAM, flags, None).unwrap();
        let report = map_shared(size_of::<SharedReport>()).cast();
        // SAFETY: the child calls only functions listed in signal-safety(7) or equally simple ones, does not allocate,
        // and exits by `_exit`.
        let child = match unsafe { libc::fork() } {
            0 => run_child(work, &gate, &other, report),
            child => child,
        };
        assert!(child > 0, "fork");
        let pid = child.unsigned_abs();
        let member = Member { role: "both".to_owned(), pid, tid: pid, scope: Scope::Thread };
        Self { targets: Targets::new(vec![member]), child, gate, report }
    }

    /// Opens the gate and waits for the process to exit.
    pub(crate) fn run(&mut self, counter_fd: BorrowedFd<'_>) -> PeerReport {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        let counter_fds = [counter_fd];
        assert!(control.push(SendAncillaryMessage::ScmRights(&counter_fds)));
        sendmsg(&self.gate, &[IoSlice::new(&[0])], &mut control, SendFlags::empty()).unwrap();
        let mut status = 0;
        // SAFETY: the pointer is to a complete `int`; the child belongs to this test.
        assert_eq!(unsafe { libc::waitpid(self.child, &raw mut status, 0) }, self.child);
        self.child = 0;
        assert_eq!(status, 0, "the child failed");
        // SAFETY: the mapping has this size, any bytes are a valid value, and its writer has exited.
        let report = unsafe { &*self.report };
        let words = |words: &[u64], index: usize| words[..report.lengths[index]].to_vec();
        PeerReport {
            reading: Reading { before: words(&report.before, 0), after: words(&report.after, 1) },
            switches: report.switches,
            cpu_ns: report.cpu_ns,
            elapsed_ns: report.elapsed_ns,
        }
    }
}

impl Drop for ForkedOne {
    fn drop(&mut self) {
        // SAFETY: the child belongs to this test and has not been reaped yet; the mapping belongs to it as well.
        unsafe {
            if self.child > 0 {
                libc::kill(self.child, libc::SIGKILL);
                libc::waitpid(self.child, null_mut(), 0);
            }
            libc::munmap(self.report.cast(), size_of::<SharedReport>());
        }
    }
}

/// Maps untouched memory that a forked child shares.
fn map_shared(bytes: usize) -> *mut libc::c_void {
    let (access, kind) =
        (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_ANONYMOUS);
    // SAFETY: the kernel chooses the address of the new mapping, so it aliases nothing.
    let start = unsafe { libc::mmap(null_mut(), bytes, access, kind, -1, 0) };
    assert_ne!(start, libc::MAP_FAILED);
    start
}

/// Runs the child; never returns.
fn run_child(act: Work, tests_end: &OwnedFd, gate: &OwnedFd, report: *mut SharedReport) -> ! {
    // SAFETY: plain system calls; a failure ends the child. The pointer is to a complete mapping owned by the child.
    unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        libc::alarm(TIMEOUT_SECONDS);
        libc::close(tests_end.as_raw_fd());
        let pages = map_private(2 + act.pages + act.pages_by_kernel);
        let zeroes = libc::open(c"/dev/zero".as_ptr(), libc::O_RDONLY);
        let played = receive_counter_fd(gate)
            .is_some_and(|counter_fd| run_phases(act, counter_fd, pages, zeroes, &mut *report));
        libc::_exit(i32::from(!played));
    }
}

/// Maps untouched pages of the smallest size.
fn map_private(pages: usize) -> *mut u8 {
    let (access, kind) =
        (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: the kernel chooses the address of the new mapping, so it aliases nothing; the advice has no visible
    // effect.
    unsafe {
        let start = libc::mmap(null_mut(), pages.max(1) * PAGE, access, kind, -1, 0);
        libc::madvise(start, pages.max(1) * PAGE, libc::MADV_NOHUGEPAGE);
        start.cast()
    }
}

/// Receives the counter's descriptor through the gate.
fn receive_counter_fd(gate: &OwnedFd) -> Option<RawFd> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut byte = [0];
    recvmsg(gate, &mut [IoSliceMut::new(&mut byte)], &mut control, RecvFlags::empty()).ok()?;
    let RecvAncillaryMessage::ScmRights(mut counter_fds) = control.drain().next()? else {
        return None;
    };
    let counter_fd = counter_fds.next()?;
    let number = counter_fd.as_raw_fd();
    std::mem::forget(counter_fd);
    Some(number)
}

/// Runs two phases, of which the second counts: the first execution of code causes page faults as well.
fn run_phases(
    act: Work,
    counter_fd: RawFd,
    pages: *mut u8,
    zeroes: RawFd,
    report: &mut SharedReport,
) -> bool {
    let warm_up = Work { pages: 1, pages_by_kernel: 1, sleeps: 1, loops: 1, calls: 1 };
    // SAFETY: two pages more than `work` needs are mapped, and they come first.
    let others = unsafe { pages.add(2 * PAGE) };
    phase(warm_up, counter_fd, pages, zeroes, report)
        && phase(act, counter_fd, others, zeroes, report)
}

fn phase(
    act: Work,
    counter_fd: RawFd,
    pages: *mut u8,
    zeroes: RawFd,
    report: &mut SharedReport,
) -> bool {
    let begun = now_ns(libc::CLOCK_MONOTONIC);
    report.lengths[0] = read(counter_fd, &mut report.before);
    let (cpu_ns, switches) = (now_ns(libc::CLOCK_THREAD_CPUTIME_ID), mark());
    let done = work(act, pages, zeroes);
    let (after, cpu_after_ns) = (mark(), now_ns(libc::CLOCK_THREAD_CPUTIME_ID));
    report.lengths[1] = read(counter_fd, &mut report.after);
    report.elapsed_ns = now_ns(libc::CLOCK_MONOTONIC) - begun;
    report.cpu_ns = cpu_after_ns - cpu_ns;
    report.switches =
        after.voluntary + after.involuntary - switches.voluntary - switches.involuntary;
    done
}

fn work(act: Work, pages: *mut u8, zeroes: RawFd) -> bool {
    // SAFETY: the child owns the pages, enough for both kinds together; the calls are plain.
    unsafe {
        for page in 0..act.pages {
            pages.add(page * PAGE).write_volatile(1);
        }
        let bytes = act.pages_by_kernel * PAGE;
        let read = libc::read(zeroes, pages.add(act.pages * PAGE).cast(), bytes);
        for _ in 0..act.sleeps {
            std::thread::sleep(Duration::from_micros(50));
        }
        for _ in 0..act.calls {
            libc::getppid();
        }
        spin(act.loops);
        usize::try_from(read) == Ok(bytes)
    }
}

/// Runs a loop of two instructions for the given number of iterations.
fn spin(rounds: u64) {
    if rounds == 0 {
        return;
    }
    // SAFETY: the code counts its own register down to zero and does not access memory.
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
        std::hint::black_box(spin);
    }
}

fn read(counter_fd: RawFd, words: &mut [u64; WORDS]) -> usize {
    // SAFETY: the size passed is that of the buffer, and any bytes are valid words.
    let length = unsafe { libc::read(counter_fd, words.as_mut_ptr().cast(), size_of_val(words)) };
    usize::try_from(length).unwrap_or(0) / size_of::<u64>()
}

fn now_ns(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a complete `timespec`.
    unsafe { libc::clock_gettime(clock, &raw mut time) };
    time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_nsec.unsigned_abs()
}
