//! The io_uring of one peer, and what is registered with it.

use std::ops::Range;
use std::os::fd::{AsRawFd, OwnedFd};
use std::thread;
use std::time::Duration;

use io_uring::squeue::{Entry, Flags};
use io_uring::{IoUring, opcode, types};
use rustix::io::Errno;

use crate::channel::Setup;
use crate::platform::uring;

/// Resources registered with the kernel in advance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Registered {
    Nothing,
    Files,
    Buffers,
    Both,
}

impl Registered {
    pub(super) fn from_setup(setup: &Setup<'_>) -> Self {
        match setup.option(&super::REGISTERED) {
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

/// Address and length of bytes to send.
#[derive(Clone, Copy, Debug)]
pub(super) struct PendingSend {
    start: usize,
    pub(super) bytes: u32,
}

impl PendingSend {
    /// Refers to the first [`MAX_OP_BYTES`] of `bytes`, or all of them.
    pub(super) fn new(bytes: &[u8]) -> Self {
        let length = u32::try_from(bytes.len()).unwrap_or(MAX_OP_BYTES).min(MAX_OP_BYTES);
        Self { start: bytes.as_ptr().expose_provenance(), bytes: length }
    }

    /// Returns the rest after `sent` bytes have been sent.
    pub(super) fn remaining(self, sent: u32) -> Self {
        Self { start: self.start + sent as usize, bytes: self.bytes - sent }
    }
}

/// Maximum number of bytes that one operation is asked to move: a round number below the kernel's cap.
pub(super) const MAX_OP_BYTES: u32 = 1 << 30;

fn address_range(start: *const u8, bytes: usize) -> Range<usize> {
    start.addr()..start.addr() + bytes
}

/// Number of attempts, and the pause between them, to register buffers for which the kernel reports a lack of
/// memory.
const REGISTER_ATTEMPTS: u32 = 200;
const REGISTER_DELAY: Duration = Duration::from_millis(10);

/// Placeholder result of an operation that has not completed.
const IN_PROGRESS: i32 = i32::MIN;

/// A socket and the io_uring of the only thread that uses it.
pub(super) struct Ring {
    queues: IoUring,
    socket: types::Fd,
    /// Flag set in every operation: whether `socket` is a descriptor or an index of a registered file.
    flags: Flags,
    /// Address ranges of the registered buffers.
    buffers: Vec<Range<usize>>,
    /// Result of each operation of the chain.
    results: Vec<i32>,
    calls: u64,
}

impl Ring {
    /// Creates rings for chains of up to `operations` operations on `socket`, which must outlive them.
    pub(super) fn new(
        socket: &OwnedFd,
        operations: usize,
        registered: Registered,
    ) -> Result<Self, Errno> {
        let queues = uring::create(u32::try_from(operations).map_err(|_| Errno::INVAL)?)?;
        let mut ring = Self {
            queues,
            socket: types::Fd(socket.as_raw_fd()),
            flags: Flags::empty(),
            buffers: Vec::new(),
            results: vec![IN_PROGRESS; operations],
            calls: 0,
        };
        if registered.files() {
            let files = [socket.as_raw_fd()];
            ring.queues.submitter().register_files(&files).map_err(|error| uring::errno(&error))?;
            (ring.socket, ring.flags) = (types::Fd(0), Flags::FIXED_FILE);
        }
        Ok(ring)
    }

    /// Registers `buffers`, split into parts that the kernel accepts. Operations refer to the index of a
    /// part.
    pub(super) fn register(&mut self, buffers: &[&[u8]]) -> Result<(), Errno> {
        let parts: Vec<&[u8]> =
            buffers.iter().flat_map(|buffer| buffer.chunks(MAX_OP_BYTES as usize)).collect();
        let address = |buffer: &&[u8]| libc::iovec {
            iov_base: buffer.as_ptr().cast_mut().cast(),
            iov_len: buffer.len(),
        };
        let addresses: Vec<libc::iovec> = parts.iter().map(address).collect();
        self.register_addresses(&addresses)?;
        self.buffers = parts.iter().map(|part| address_range(part.as_ptr(), part.len())).collect();
        Ok(())
    }

    /// Registers `addresses`, with retries. A process that has ended is charged for its registered memory
    /// until the kernel has torn its rings down, so a run right after it may get `ENOMEM` for a moment.
    fn register_addresses(&self, addresses: &[libc::iovec]) -> Result<(), Errno> {
        for _ in 0..REGISTER_ATTEMPTS {
            // SAFETY: the kernel pins the pages from now on. It reads and writes them in operations only, and
            // each operation is given memory that is borrowed until it completes.
            let registered = unsafe { self.queues.submitter().register_buffers(addresses) };
            match registered.map_err(|error| uring::errno(&error)) {
                Err(Errno::NOMEM) => thread::sleep(REGISTER_DELAY),
                other => return other,
            }
        }
        Err(Errno::NOMEM)
    }

    /// Returns the index of the registered buffer that contains all `bytes` bytes from `start`.
    #[inline]
    fn buffer_index(&self, start: *const u8, bytes: u32) -> Option<u16> {
        let wanted = address_range(start, bytes as usize);
        let holds =
            |buffer: &Range<usize>| buffer.start <= wanted.start && wanted.end <= buffer.end;
        let number = self.buffers.iter().position(holds)?;
        u16::try_from(number).ok()
    }

    fn send(&self, piece: PendingSend) -> Entry {
        let start = std::ptr::with_exposed_provenance(piece.start);
        match self.buffer_index(start, piece.bytes) {
            Some(number) => {
                opcode::WriteFixed::new(self.socket, start, piece.bytes, number).build()
            }
            // `MSG_WAITALL`: sends everything, or ends the chain. `MSG_NOSIGNAL`: no SIGPIPE.
            None => opcode::Send::new(self.socket, start, piece.bytes)
                .flags(libc::MSG_WAITALL | libc::MSG_NOSIGNAL)
                .build(),
        }
    }

    fn receive(&self, into: &mut [u8]) -> Entry {
        let bytes = u32::try_from(into.len()).unwrap_or(MAX_OP_BYTES).min(MAX_OP_BYTES);
        match self.buffer_index(into.as_ptr(), bytes) {
            Some(number) => {
                opcode::ReadFixed::new(self.socket, into.as_mut_ptr(), bytes, number).build()
            }
            None => opcode::Recv::new(self.socket, into.as_mut_ptr(), bytes).build(),
        }
    }

    /// Sends `pieces` in order and then receives into `into`, if given. An operation that fails or stops
    /// halfway cancels those after it. Returns once all have completed, with the result of each: a byte
    /// count, or a negative error number.
    pub(super) fn submit(&mut self, pieces: &[PendingSend], into: Option<&mut [u8]>) -> &[i32] {
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
        let entry = entry.flags(self.flags | link).user_data(index as u64);
        self.results[index] = IN_PROGRESS;
        // SAFETY: `submit` borrows the memory that is received into and returns only when no operation is
        // in flight. The kernel only reads the memory that is sent from and checks itself that it is mapped;
        // the peer leaves it unchanged, as `Endpoint::turns` requires.
        let queued = unsafe { self.queues.submission().push(&entry) };
        debug_assert!(queued.is_ok(), "there is room for a whole chain");
    }

    /// Enters the kernel, usually once, until all `operations` have completed.
    fn await_all(&mut self, operations: usize) {
        let mut open = operations;
        while open > 0 {
            self.calls += 1;
            if let Err(error) = self.queues.submit_and_wait(open) {
                retry_or_abort(uring::errno(&error));
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

    /// Returns the number of `io_uring_enter` calls since the last query.
    pub(super) fn take_calls(&mut self) -> u64 {
        std::mem::take(&mut self.calls)
    }
}

/// Continues after a signal or a lack of memory, which do not affect operations in flight. After any other
/// error the process must abort: the kernel could still write to memory that is about to be reused, and
/// nothing could wait for it.
#[cold]
fn retry_or_abort(errno: Errno) {
    if !matches!(errno, Errno::INTR | Errno::AGAIN | Errno::BUSY) {
        std::process::abort();
    }
}

#[cfg(test)]
mod tests {
    use rustix::io::write;
    use rustix::net::{AddressFamily, Shutdown, SocketFlags, SocketType, shutdown, socketpair};

    use super::*;

    /// Without links the order usually holds until a socket is full, but never after a failure.
    #[test]
    fn what_follows_a_send_that_failed_is_cancelled() {
        if uring::available().is_err() {
            return;
        }
        let (unix, kind) = (AddressFamily::UNIX, SocketType::STREAM);
        let (socket, peer) = socketpair(unix, kind, SocketFlags::CLOEXEC, None).unwrap();
        let mut ring = Ring::new(&socket, 3, Registered::Nothing).unwrap();
        // There is data to receive, but the peer accepts none.
        write(&peer, &[7]).unwrap();
        shutdown(&peer, Shutdown::Read).unwrap();
        let (message, mut into) = ([1; 8], [0]);
        let results = ring.submit(&[PendingSend::new(&message); 2], Some(&mut into));
        assert_eq!(results, [-libc::EPIPE, -libc::ECANCELED, -libc::ECANCELED]);
        assert_eq!(into, [0]);
    }
}
