//! Minimal binding to libzmq, which is compiled from source with only a C++ compiler: sockets of type PAIR.
//!
//! This is a separate crate because the existing wrappers of libzmq use a version of 2021 or need a newer compiler than
//! this project's, and so that libzmq is recompiled only when it changes.

mod ffi;

use std::ffi::{CStr, c_int, c_void};
use std::io;
use std::os::fd::{IntoRawFd, OwnedFd};
use std::ptr::NonNull;

/// A socket of type PAIR, which is connected to one other, in a separate context. libzmq moves its messages on a thread
/// that it starts.
#[derive(Debug)]
pub struct Pair {
    context: NonNull<c_void>,
    socket: NonNull<c_void>,
}

// SAFETY: libzmq allows a socket to move between threads, but not to be used by two at once; each call that uses it,
// except the last, takes `&mut self`.
unsafe impl Send for Pair {}

impl Pair {
    /// Creates an unconnected socket.
    ///
    /// # Errors
    /// Returns libzmq's error: out of memory, descriptors or threads.
    pub fn new() -> io::Result<Self> {
        // SAFETY: takes no arguments.
        let context = NonNull::new(unsafe { ffi::zmq_ctx_new() }).ok_or_else(last_error)?;
        // SAFETY: the context is alive.
        let socket = NonNull::new(unsafe { ffi::zmq_socket(context.as_ptr(), ffi::PAIR) });
        let Some(socket) = socket else {
            let error = last_error();
            terminate(context);
            return Err(error);
        };
        Ok(Self { context, socket })
    }

    /// Sets the high-water marks: a send waits while `messages` are queued on this side, and libzmq accepts no more
    /// than that for the receiver. Call it before the socket is connected.
    ///
    /// # Errors
    /// Returns libzmq's error.
    pub fn set_high_water(&mut self, messages: u16) -> io::Result<()> {
        self.set_int(ffi::SNDHWM, messages.into())?;
        self.set_int(ffi::RCVHWM, messages.into())
    }

    /// Makes closing the socket discard unsent messages. By default closing waits for them, forever if the peer is
    /// gone.
    ///
    /// # Errors
    /// Returns libzmq's error.
    pub fn drop_unsent(&mut self) -> io::Result<()> {
        self.set_int(ffi::LINGER, 0)
    }

    /// Listens for the peer at `address`.
    ///
    /// # Errors
    /// Returns libzmq's error.
    pub fn bind(&mut self, address: &CStr) -> io::Result<()> {
        // SAFETY: the socket is alive, and the address is NUL-terminated.
        check(unsafe { ffi::zmq_bind(self.socket.as_ptr(), address.as_ptr()) }).map(drop)
    }

    /// Waits for the peer on `listener`, which already listens, at `address`.
    ///
    /// # Errors
    /// Returns libzmq's error.
    pub fn bind_to(&mut self, listener: OwnedFd, address: &CStr) -> io::Result<()> {
        self.set_int(ffi::USE_FD, listener.into_raw_fd())?;
        self.bind(address)
    }

    /// Connects to the peer that listens at `address`, or will. Returns at once.
    ///
    /// # Errors
    /// Returns libzmq's error.
    pub fn connect(&mut self, address: &CStr) -> io::Result<()> {
        // SAFETY: the socket is alive, and the address is NUL-terminated.
        check(unsafe { ffi::zmq_connect(self.socket.as_ptr(), address.as_ptr()) }).map(drop)
    }

    /// Sends a copy of `message`; waits while too many messages are queued.
    ///
    /// # Errors
    /// Returns libzmq's error; [`io::ErrorKind::Interrupted`] after a signal.
    #[inline]
    pub fn send(&mut self, message: &[u8]) -> io::Result<()> {
        let (at, bytes) = (message.as_ptr().cast(), message.len());
        // SAFETY: the socket is alive; the message is read only during the call.
        check(unsafe { ffi::zmq_send(self.socket.as_ptr(), at, bytes, 0) }).map(drop)
    }

    /// Waits for a message, copies as much of it as fits to the front of `into`, and returns its full length.
    ///
    /// # Errors
    /// As for [`Pair::send`].
    #[inline]
    pub fn recv(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let (at, bytes) = (into.as_mut_ptr().cast(), into.len());
        // SAFETY: the socket is alive; no more is written than fits into `into`.
        check(unsafe { ffi::zmq_recv(self.socket.as_ptr(), at, bytes, 0) })
    }

    /// Makes the socket refuse peers that do not speak the current protocol, ZMTP 3. By default, libzmq takes whatever else
    /// arrives for the beginning of ZMTP 1, so that any connection which sends some bytes is the one peer of this socket.
    ///
    /// # Errors
    /// Returns libzmq's error.
    pub fn refuse_old_protocols(&mut self) -> io::Result<()> {
        // With a domain for authentication, libzmq refuses protocols without it (zmtp_engine.cpp). Nobody answers for this
        // domain, so everybody else is admitted.
        self.set(ffi::ZAP_DOMAIN, b"ipcperf")
    }

    fn set_int(&mut self, option: c_int, value: c_int) -> io::Result<()> {
        self.set(option, &value.to_ne_bytes())
    }

    fn set(&mut self, option: c_int, value: &[u8]) -> io::Result<()> {
        let (socket, at) = (self.socket.as_ptr(), value.as_ptr().cast());
        // SAFETY: the socket is alive; `value.len()` bytes are read.
        check(unsafe { ffi::zmq_setsockopt(socket, option, at, value.len()) }).map(drop)
    }
}

impl Drop for Pair {
    fn drop(&mut self) {
        // SAFETY: the socket is alive, and not used any more. The call cannot fail.
        unsafe { ffi::zmq_close(self.socket.as_ptr()) };
        terminate(self.context);
    }
}

/// Terminates a context without sockets, and its threads.
fn terminate(context: NonNull<c_void>) {
    // SAFETY: the context is alive until the call succeeds; it fails only after a signal.
    while unsafe { ffi::zmq_ctx_term(context.as_ptr()) } != 0
        && last_error().kind() == io::ErrorKind::Interrupted
    {}
}

/// Converts the result of a call; -1 means that libzmq has set an error number.
#[inline]
fn check(returned: c_int) -> io::Result<usize> {
    usize::try_from(returned).map_err(|_| last_error())
}

#[cold]
fn last_error() -> io::Error {
    // SAFETY: reads an error number of the calling thread.
    io::Error::from_raw_os_error(unsafe { ffi::zmq_errno() })
}
