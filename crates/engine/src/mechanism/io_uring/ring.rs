//! The queues of one party, and what the kernel was told of beforehand.

use std::ops::Range;
use std::os::fd::{AsRawFd, OwnedFd};
use std::time::Duration;
use std::{io, thread};

use io_uring::squeue::{Entry, Flags};
use io_uring::{IoUring, Probe, opcode, types};
use rustix::io::Errno;

use crate::channel::Setup;

/// What the kernel is told of beforehand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Registered {
    Nothing,
    Files,
    Buffers,
    Both,
}

impl Registered {
    pub(super) fn of(setup: &Setup<'_>) -> Self {
        match setup.option("registered", "none") {
            "files" => Self::Files,
            "buffers" => Self::Buffers,
            "both" => Self::Both,
            _ => Self::Nothing,
        }
    }

    fn files(self) -> bool {
        matches!(self, Self::Files | Self::Both)
    }

    pub(super) fn buffers(self) -> bool {
        matches!(self, Self::Buffers | Self::Both)
    }
}

/// Bytes that are to be sent: where they are, and how many.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    start: usize,
    pub(super) bytes: u32,
}

impl Piece {
    /// At most [`MOST`] of `bytes`, from the front.
    pub(super) fn of(bytes: &[u8]) -> Self {
        let length = u32::try_from(bytes.len()).unwrap_or(MOST).min(MOST);
        Self { start: bytes.as_ptr().expose_provenance(), bytes: length }
    }

    /// What is left of it once `sent` bytes have gone.
    pub(super) fn after(self, sent: u32) -> Self {
        Self { start: self.start + sent as usize, bytes: self.bytes - sent }
    }
}

/// The most that one operation is asked to move: a round number below what the kernel caps it at.
pub(super) const MOST: u32 = 1 << 30;

fn addresses_of(start: *const u8, bytes: usize) -> Range<usize> {
    start.addr()..start.addr() + bytes
}

/// How often, and how far apart, buffers are offered that the kernel says it has no memory for.
const TRIES: u32 = 200;
const PAUSE: Duration = Duration::from_millis(10);

/// The result of an operation that has none yet.
const UNDER_WAY: i32 = i32::MIN;

fn errno(error: &io::Error) -> Errno {
    Errno::from_io_error(error).unwrap_or(Errno::IO)
}

/// Makes queues for `operations`. They are told that one thread alone uses them, and does in its own
/// calls what is left to do; kernels before 6.1 cannot be told.
fn queues(operations: u32) -> Result<IoUring, Errno> {
    let made = IoUring::builder().setup_single_issuer().setup_defer_taskrun().build(operations);
    match made {
        Err(error) if errno(&error) == Errno::INVAL => IoUring::new(operations),
        other => other,
    }
    .map_err(|error| errno(&error))
}

/// Makes all three calls once. `EOPNOTSUPP` where the kernel's are too old.
pub(super) fn try_out() -> Result<(), Errno> {
    let mut queues = queues(1)?;
    let mut probe = Probe::new();
    queues.submitter().register_probe(&mut probe).map_err(|error| match errno(&error) {
        Errno::INVAL => Errno::OPNOTSUPP,
        other => other,
    })?;
    // Of the same version as the chains that a short send ends.
    if !queues.params().is_feature_native_workers() || !probe.is_supported(opcode::Send::CODE) {
        return Err(Errno::OPNOTSUPP);
    }
    // SAFETY: an operation that does nothing refers to no memory.
    let queued = unsafe { queues.submission().push(&opcode::Nop::new().build()) };
    queued.map_err(|_| Errno::NOBUFS)?;
    queues.submit_and_wait(1).map(drop).map_err(|error| errno(&error))
}

/// A socket and the queues of the one thread that uses it.
pub(super) struct Ring {
    queues: IoUring,
    socket: types::Fd,
    /// Set in every operation: says whether `socket` is a descriptor or a number among the registered.
    kind: Flags,
    /// The addresses of the registered buffers.
    buffers: Vec<Range<usize>>,
    /// What each operation of the chain came to.
    results: Vec<i32>,
    calls: u64,
}

impl Ring {
    /// For chains of up to `operations` on `socket`, which must outlive it.
    pub(super) fn new(
        socket: &OwnedFd,
        operations: usize,
        registered: Registered,
    ) -> Result<Self, Errno> {
        let queues = queues(u32::try_from(operations).map_err(|_| Errno::INVAL)?)?;
        let mut ring = Self {
            queues,
            socket: types::Fd(socket.as_raw_fd()),
            kind: Flags::empty(),
            buffers: Vec::new(),
            results: vec![UNDER_WAY; operations],
            calls: 0,
        };
        if registered.files() {
            let files = [socket.as_raw_fd()];
            ring.queues.submitter().register_files(&files).map_err(|error| errno(&error))?;
            (ring.socket, ring.kind) = (types::Fd(0), Flags::FIXED_FILE);
        }
        Ok(ring)
    }

    /// Registers `buffers`, in parts that the kernel takes: operations are told the part's number.
    pub(super) fn register(&mut self, buffers: &[&[u8]]) -> Result<(), Errno> {
        let parts: Vec<&[u8]> =
            buffers.iter().flat_map(|buffer| buffer.chunks(MOST as usize)).collect();
        let address = |buffer: &&[u8]| libc::iovec {
            iov_base: buffer.as_ptr().cast_mut().cast(),
            iov_len: buffer.len(),
        };
        let addresses: Vec<libc::iovec> = parts.iter().map(address).collect();
        self.register_addresses(&addresses)?;
        self.buffers = parts.iter().map(|part| addresses_of(part.as_ptr(), part.len())).collect();
        Ok(())
    }

    /// A process that has ended is charged with what it had registered until the kernel finds time to
    /// take its queues apart: a run right after it is told that there is no memory, for a moment.
    fn register_addresses(&self, addresses: &[libc::iovec]) -> Result<(), Errno> {
        for _ in 0..TRIES {
            // SAFETY: the kernel holds the pages from now on; it reads and writes them in operations
            // alone, and each of those is given memory that is borrowed until it is over.
            let registered = unsafe { self.queues.submitter().register_buffers(addresses) };
            match registered.map_err(|error| errno(&error)) {
                Err(Errno::NOMEM) => thread::sleep(PAUSE),
                other => return other,
            }
        }
        Err(Errno::NOMEM)
    }

    /// The number of the registered buffer in which all of `bytes` from `start` lie.
    #[inline]
    fn number(&self, start: *const u8, bytes: u32) -> Option<u16> {
        let wanted = addresses_of(start, bytes as usize);
        let holds =
            |buffer: &Range<usize>| buffer.start <= wanted.start && wanted.end <= buffer.end;
        let number = self.buffers.iter().position(holds)?;
        u16::try_from(number).ok()
    }

    fn send(&self, piece: Piece) -> Entry {
        let start = std::ptr::with_exposed_provenance(piece.start);
        match self.number(start, piece.bytes) {
            Some(number) => {
                opcode::WriteFixed::new(self.socket, start, piece.bytes, number).build()
            }
            // All or nothing, but for what ends a chain; no SIGPIPE.
            None => opcode::Send::new(self.socket, start, piece.bytes)
                .flags(libc::MSG_WAITALL | libc::MSG_NOSIGNAL)
                .build(),
        }
    }

    fn receive(&self, into: &mut [u8]) -> Entry {
        let bytes = u32::try_from(into.len()).unwrap_or(MOST).min(MOST);
        match self.number(into.as_ptr(), bytes) {
            Some(number) => {
                opcode::ReadFixed::new(self.socket, into.as_mut_ptr(), bytes, number).build()
            }
            None => opcode::Recv::new(self.socket, into.as_mut_ptr(), bytes).build(),
        }
    }

    /// Has the kernel send `pieces` one after the other and then receive into `into`, where given; what
    /// follows one that fails or stops half-way is cancelled. Returns when all of it is over, with what
    /// each came to: bytes, or an error below 0.
    pub(super) fn carry_out(&mut self, pieces: &[Piece], into: Option<&mut [u8]>) -> &[i32] {
        let operations = pieces.len() + usize::from(into.is_some());
        for (index, piece) in pieces.iter().enumerate() {
            self.queue(self.send(*piece), index, operations);
        }
        if let Some(into) = into {
            self.queue(self.receive(into), operations - 1, operations);
        }
        self.await_all(operations);
        &self.results[..operations]
    }

    fn queue(&mut self, entry: Entry, index: usize, operations: usize) {
        let link = if index + 1 < operations { Flags::IO_LINK } else { Flags::empty() };
        let entry = entry.flags(self.kind | link).user_data(index as u64);
        self.results[index] = UNDER_WAY;
        // SAFETY: what is received into is borrowed by `carry_out`, which returns only when no operation
        // is under way. What is sent from the kernel only reads, and looks itself whether it is there;
        // the party leaves it as it is, as `Endpoint::turns` has it.
        let queued = unsafe { self.queues.submission().push(&entry) };
        debug_assert!(queued.is_ok(), "there is room for a whole chain");
    }

    /// Enters the kernel, as a rule once, until all `operations` are over.
    fn await_all(&mut self, operations: usize) {
        let mut open = operations;
        while open > 0 {
            self.calls += 1;
            if let Err(error) = self.queues.submit_and_wait(open) {
                go_on_after(errno(&error));
            }
            for done in self.queues.completion() {
                let index = usize::try_from(done.user_data()).unwrap_or(usize::MAX);
                if let Some(result) = self.results.get_mut(index) {
                    *result = done.result();
                    open -= 1;
                }
            }
        }
    }

    /// Calls of `io_uring_enter` since this was last asked.
    pub(super) fn take_calls(&mut self) -> u64 {
        std::mem::take(&mut self.calls)
    }
}

/// A signal, or want of memory: what is under way goes on. After anything else the kernel could still
/// write to memory that is about to be someone else's, and nobody could wait for it.
#[cold]
fn go_on_after(errno: Errno) {
    if !matches!(errno, Errno::INTR | Errno::AGAIN | Errno::BUSY) {
        std::process::abort();
    }
}

#[cfg(test)]
mod tests {
    use rustix::io::write;
    use rustix::net::{AddressFamily, Shutdown, SocketFlags, SocketType, shutdown, socketpair};

    use super::*;

    /// Without links the order holds as a rule, until a socket is full. After a failure it never does.
    #[test]
    fn what_follows_a_send_that_failed_is_cancelled() {
        if try_out().is_err() {
            return;
        }
        let (unix, kind) = (AddressFamily::UNIX, SocketType::STREAM);
        let (socket, peer) = socketpair(unix, kind, SocketFlags::CLOEXEC, None).unwrap();
        let mut ring = Ring::new(&socket, 3, Registered::Nothing).unwrap();
        // There is something to receive, but nobody to send to.
        write(&peer, &[7]).unwrap();
        shutdown(&peer, Shutdown::Read).unwrap();
        let (message, mut into) = ([1; 8], [0]);
        let results = ring.carry_out(&[Piece::of(&message); 2], Some(&mut into));
        assert_eq!(results, [-libc::EPIPE, -libc::ECANCELED, -libc::ECANCELED]);
        assert_eq!(into, [0]);
    }
}
