//! Implementation of `signal`.

use std::mem::MaybeUninit;
use std::ptr::null;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use ipcperf_model::{Failure, Unavailable, WorkerReport};
use rustix::event::Timespec;
use rustix::io::Errno;
use rustix::process::{Resource, getpid, getrlimit};

use crate::channel::{Blocking, Channel, Endpoint, Granted, Limit, Mechanism, Opened, Setup};
use crate::mechanism::setup_failure::setup_failure;
use crate::mechanism::sleep_flag::SleepFlag;
use crate::mechanism::slot::SlotMemory;
use crate::mechanism::waiting::{self, Spinning, TryTransfer};
use crate::platform::errno_result;

/// The part of `signal` that needs Linux.
pub(super) const IMPLEMENTATION: Mechanism = Mechanism {
    availability: available,
    limit: |_| {
        Some(Limit { bytes: WORD_BYTES as u64, reason: "a signal carries one word".to_owned() })
    },
    execute: |spec, mechanism| explain_limit(waiting::execute::<Signal, Spinning>(spec, mechanism)),
    ..Mechanism::BASE
};

/// Size of a signal's value, bytes.
const WORD_BYTES: usize = size_of::<usize>();

/// Maximum number of queued signals: far below the usual `RLIMIT_SIGPENDING`.
const MAX_QUEUED: u32 = 128;

/// Time to sleep if other processes have used up the limit on queued signals.
const RETRY_INTERVAL: Timespec = Timespec { tv_sec: 0, tv_nsec: 1_000_000 };

/// Time that a sender waits if it has no signals queued and cannot queue any.
const QUEUE_TIMEOUT: Duration = Duration::from_secs(1);

/// Remedy for a limit that leaves no room.
const RAISE_LIMIT_REMEDY: &str = "raise the limit on queued signals (ulimit -i 1024), or end the processes of this user that \
    have signals queued (grep SigQ /proc/PID/status)";

/// Adds the limit's name to a failure to queue any signal.
fn explain_limit(report: WorkerReport) -> WorkerReport {
    match report {
        WorkerReport::Failed(failure) if failure.errno == Some(Errno::NOBUFS.raw_os_error()) => {
            let limit = pending_limit().map_or("unlimited".to_owned(), |most| most.to_string());
            let place = format!("{}: RLIMIT_SIGPENDING ({limit}) is used up", failure.place);
            WorkerReport::Failed(Failure { place, ..failure.with_remedy(RAISE_LIMIT_REMEDY) })
        }
        other => other,
    }
}

/// Returns the number of signals that may be queued for this user's processes.
fn pending_limit() -> Option<u64> {
    getrlimit(Resource::Sigpending).current
}

fn available() -> Result<(), Unavailable> {
    // Signal 0 is checked and not sent.
    match queue(getpid().as_raw_nonzero().get(), 0, &[]) {
        Ok(()) => Ok(()),
        Err(errno) => Err(Unavailable {
            reason: format!("rt_sigqueueinfo: {errno}"),
            remedy: "needs a seccomp filter that allows rt_sigqueueinfo".to_owned(),
        }),
    }
}

/// Beginning of `siginfo_t`, in the kernel's layout for a queued signal.
#[derive(Clone, Copy)]
#[repr(C)]
struct SignalInfo {
    signal: i32,
    errno: i32,
    code: i32,
    queued: QueuedFields,
}

#[derive(Clone, Copy)]
#[repr(C)]
struct QueuedFields {
    pid: i32,
    uid: u32,
    value: usize,
}

#[repr(C)]
union RawSignalInfo {
    info: SignalInfo,
    raw: libc::siginfo_t,
}

/// Queues `signal` for `process` with up to a word of `bytes`, with one system call.
#[inline]
fn queue(process: i32, signal: i32, bytes: &[u8]) -> Result<(), Errno> {
    let mut value = [0; WORD_BYTES];
    value.get_mut(..bytes.len()).ok_or(Errno::MSGSIZE)?.copy_from_slice(bytes);
    let queued = QueuedFields { pid: 0, uid: 0, value: usize::from_ne_bytes(value) };
    let errno = i32::try_from(bytes.len()).map_err(|_| Errno::MSGSIZE)?;
    // SAFETY: all zero is a valid `siginfo_t`.
    let mut info = RawSignalInfo { raw: unsafe { std::mem::zeroed() } };
    info.info = SignalInfo { signal, errno, code: libc::SI_QUEUE, queued };
    // SAFETY: the pointer is to a whole `siginfo_t`.
    let done =
        unsafe { libc::syscall(libc::SYS_rt_sigqueueinfo, process, signal, &raw const info) };
    errno_result(if done == -1 { -1 } else { 0 }).map(drop)
}

struct Signal;

impl Channel for Signal {
    type End = SignalEnd;

    fn open(setup: &Setup<'_>) -> Result<Opened<SignalEnd>, Failure> {
        if pending_limit() == Some(0) {
            let failure = setup_failure("queueing a signal: RLIMIT_SIGPENDING is 0", Errno::AGAIN);
            return Err(failure.with_remedy(RAISE_LIMIT_REMEDY));
        }
        let (there, back) = (libc::SIGRTMIN() + 1, libc::SIGRTMIN() + 2);
        // Threads and processes started from here on inherit the mask.
        block(&[there, back]).map_err(|e| setup_failure("sigprocmask", e))?;
        let memory = SlotMemory::new_unnamed(size_of::<[SignalPeer; 2]>())
            .map_err(|e| setup_failure("memfd", e))?;
        let memory = Arc::new(memory);
        let end = |own, out, into| SignalEnd {
            memory: Arc::clone(&memory),
            own_index: own,
            outgoing_signal: out,
            incoming_set: signal_set(into),
            blocking: setup.blocking,
            sent: 0,
            refused_since: None,
            calls: 0,
            closes_on_drop: true,
        };
        let granted =
            Granted { kernel_buffer_bytes: Some(u64::from(MAX_QUEUED) * setup.buffer_bytes) };
        Ok(Opened { sender: end(0, there, back), receiver: end(1, back, there), granted })
    }
}

/// Returns the set that contains only `signal`.
fn signal_set(signal: i32) -> libc::sigset_t {
    let mut set = MaybeUninit::uninit();
    // SAFETY: `sigemptyset` initializes the set, and the signal exists.
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        libc::sigaddset(set.as_mut_ptr(), signal);
        set.assume_init()
    }
}

fn block(signals: &[i32]) -> Result<(), Errno> {
    for &signal in signals {
        // SAFETY: the set is initialized, and a null pointer declines the previous mask.
        let error = unsafe {
            libc::pthread_sigmask(libc::SIG_BLOCK, &signal_set(signal), std::ptr::null_mut())
        };
        if error != 0 {
            return Err(Errno::from_raw_os_error(error));
        }
    }
    Ok(())
}

/// State of a peer that the other peer reads. All zero is its initial state.
#[repr(C, align(128))]
struct SignalPeer {
    /// Process ID of the peer.
    pid: AtomicU32,
    /// Number of signals that the peer has taken, and whether the other sleeps until it takes more.
    taken: AtomicU32,
    sleeper: SleepFlag,
    /// 1 once the peer is gone.
    gone: AtomicU32,
}

#[derive(Debug)]
struct SignalEnd {
    memory: Arc<SlotMemory>,
    /// Index of this peer.
    own_index: usize,
    outgoing_signal: i32,
    incoming_set: libc::sigset_t,
    blocking: Blocking,
    sent: u32,
    /// Time at which the system first refused to queue a signal while none from this side was queued.
    refused_since: Option<Instant>,
    calls: u64,
    closes_on_drop: bool,
}

impl SignalEnd {
    fn peers(&self) -> &[SignalPeer; 2] {
        // SAFETY: the memory was made for this type, is page-aligned and zero at first (which is valid), and
        // is only accessed through these atomics; it lives as long as `self`.
        unsafe { self.memory.start().cast().as_ref() }
    }

    /// Sleeps until the other peer has taken signals, because [`MAX_QUEUED`] are queued or because other processes
    /// have used up the limit. In the second case only `limit` ends the sleep.
    #[cold]
    fn sleep(
        &mut self,
        blocking: Blocking,
        taken: u32,
        limit: Option<&Timespec>,
    ) -> Result<(), Errno> {
        if blocking == Blocking::Try {
            return Err(Errno::AGAIN);
        }
        let other = &self.peers()[1 - self.own_index];
        let is_gone = || other.gone.load(Ordering::Acquire) != 0;
        let is_unchanged = || other.taken.load(Ordering::Acquire) == taken;
        let calls = u64::from(other.sleeper.sleep_while(|| !is_gone() && is_unchanged(), limit));
        if is_gone() {
            return Err(Errno::PIPE);
        }
        self.calls += calls;
        Ok(())
    }

    /// Handles the system's refusal to queue more signals for this user: returns `NOBUFS` once that has
    /// lasted for [`QUEUE_TIMEOUT`] while none of this side's signals were queued. `taken` of them have been
    /// taken.
    #[cold]
    fn note_refusal(&mut self, taken: u32) -> Result<(), Errno> {
        if self.sent != taken {
            self.refused_since = None;
            return Ok(());
        }
        let since = *self.refused_since.get_or_insert_with(Instant::now);
        if since.elapsed() >= QUEUE_TIMEOUT { Err(Errno::NOBUFS) } else { Ok(()) }
    }

    /// Counts a signal that was taken, and wakes the other peer after each half of [`MAX_QUEUED`].
    #[inline]
    fn count(&mut self) {
        let own = &self.peers()[self.own_index];
        let taken = own.taken.load(Ordering::Relaxed).wrapping_add(1);
        own.taken.store(taken, Ordering::Release);
        if !taken.is_multiple_of(MAX_QUEUED / 2) {
            return;
        }
        // Waking a futex in mapped memory cannot fail.
        let woke = own.sleeper.wake().unwrap_or_default();
        self.calls += u64::from(woke);
    }
}

impl Endpoint for SignalEnd {
    const KEEPS_BOUNDARIES: bool = true;

    fn prepare(&mut self) -> Result<(), Errno> {
        // Comes before the peers synchronize: after that, each knows the other's process.
        let process = getpid().as_raw_nonzero().get().unsigned_abs();
        self.peers()[self.own_index].pid.store(process, Ordering::Release);
        Ok(())
    }

    #[inline]
    fn send(&mut self, bytes: &[u8]) -> Result<usize, Errno> {
        self.send_as(self.blocking, bytes)
    }

    #[inline]
    fn recv(&mut self, bytes: &mut [u8]) -> Result<usize, Errno> {
        self.recv_as(self.blocking, bytes)
    }

    fn take_calls(&mut self) -> Option<u64> {
        Some(std::mem::take(&mut self.calls))
    }

    fn close_after_fork(mut self) {
        self.closes_on_drop = false;
    }
}

impl TryTransfer for SignalEnd {
    #[inline]
    fn try_send(&mut self, bytes: &[u8]) -> Result<usize, Errno> {
        self.send_as(Blocking::Try, bytes)
    }

    #[inline]
    fn try_recv(&mut self, bytes: &mut [u8]) -> Result<usize, Errno> {
        self.recv_as(Blocking::Try, bytes)
    }
}

impl SignalEnd {
    /// Sends like [`Endpoint::send`]; returns `EAGAIN` instead of sleeping if `blocking` says so.
    #[inline]
    fn send_as(&mut self, blocking: Blocking, bytes: &[u8]) -> Result<usize, Errno> {
        loop {
            let other = &self.peers()[1 - self.own_index];
            let taken = other.taken.load(Ordering::Acquire);
            if self.sent.wrapping_sub(taken) >= MAX_QUEUED {
                self.sleep(blocking, taken, None)?;
                continue;
            }
            let process = other.pid.load(Ordering::Relaxed).cast_signed();
            self.calls += 1;
            match queue(process, self.outgoing_signal, bytes) {
                Ok(()) => break,
                Err(Errno::AGAIN) => {
                    self.note_refusal(taken)?;
                    self.sleep(blocking, taken, Some(&RETRY_INTERVAL))?;
                }
                Err(Errno::SRCH) => return Err(Errno::PIPE),
                Err(errno) => return Err(errno),
            }
        }
        self.refused_since = None;
        self.sent = self.sent.wrapping_add(1);
        Ok(bytes.len())
    }

    /// Receives like [`Endpoint::recv`]; returns `EAGAIN` instead of sleeping if `blocking` says so.
    #[inline]
    fn recv_as(&mut self, blocking: Blocking, bytes: &mut [u8]) -> Result<usize, Errno> {
        let at_once = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        let limit = if blocking == Blocking::Try { &raw const at_once } else { null() };
        // SAFETY: all zero is a valid `siginfo_t`.
        let mut info = RawSignalInfo { raw: unsafe { std::mem::zeroed() } };
        self.calls += 1;
        // SAFETY: the set and the result are initialized, and the limit is null or a time.
        errno_result(unsafe {
            libc::sigtimedwait(&self.incoming_set, (&raw mut info).cast(), limit)
        })?;
        // SAFETY: every bit pattern is a valid `SignalInfo`.
        let info = unsafe { info.info };
        self.count();
        let length = usize::try_from(info.errno).map_err(|_| Errno::BADMSG)?;
        let value = info.queued.value.to_ne_bytes();
        let value = value.get(..length).ok_or(Errno::BADMSG)?;
        bytes.get_mut(..length).ok_or(Errno::MSGSIZE)?.copy_from_slice(value);
        Ok(length)
    }
}

impl Drop for SignalEnd {
    fn drop(&mut self) {
        if !self.closes_on_drop {
            return;
        }
        let [own, other] = [self.own_index, 1 - self.own_index].map(|index| &self.peers()[index]);
        own.gone.store(1, Ordering::Release);
        own.taken.fetch_add(MAX_QUEUED, Ordering::AcqRel);
        // Waking a futex in mapped memory cannot fail.
        let _ = own.sleeper.wake();
        let process = other.pid.load(Ordering::Acquire).cast_signed();
        if process != 0 {
            // An empty message marks the end. A process that is gone needs none.
            let _ = queue(process, self.outgoing_signal, &[]);
        }
    }
}
