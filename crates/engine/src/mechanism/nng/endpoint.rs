//! Endpoints of `nng`, if it is built in.

use std::ffi::{CStr, CString, c_int};
use std::ptr::null_mut;

use ipcperf_model::Failure;
use nng_sys::{
    NNG_FLAG_NONBLOCK, NNG_OPT_RECONNMINT, NNG_OPT_RECVMAXSZ, nng_dial, nng_err, nng_fini,
    nng_init, nng_listen, nng_pair0_open, nng_recv, nng_send, nng_socket, nng_socket_close,
    nng_socket_set_ms, nng_socket_set_size,
};
use rustix::io::Errno;

use crate::channel::{Channel, Endpoint, Granted, Opened, Setup};
use crate::mechanism::setup_failure::setup_failure;
use crate::mechanism::uds_path::run_dir_socket_path;

/// Time before a dialer that found no listener tries again, ms.
const RECONNECT_MS: i32 = 1;
/// Flag that NNG adds to system error numbers (`NNG_ESYSERR`).
const SYSTEM_ERROR: u32 = 1 << 28;

pub(super) struct Nng;

impl Channel for Nng {
    type End = NngEnd;

    fn open(setup: &Setup<'_>) -> Result<Opened<NngEnd>, Failure> {
        let address = CString::new(format!("ipc://{}", run_dir_socket_path(setup)?))
            .map_err(|_| setup_failure("naming the socket", Errno::INVAL))?;
        let end = |seat, address| NngEnd { state: NngState::Unconnected(seat, address) };
        Ok(Opened {
            sender: end(NngRole::Dialer, address.clone()),
            receiver: end(NngRole::Listener, address),
            granted: Granted::default(),
        })
    }
}

/// Way in which an endpoint connects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NngRole {
    Dialer,
    Listener,
}

/// State of an endpoint: the library has threads, so it is started after the fork.
#[derive(Debug)]
enum NngState {
    /// About to connect at this address.
    Unconnected(NngRole, CString),
    Connected(NngPair),
    /// Unusable: the library reported an error.
    Failed,
}

/// One endpoint of a pair of sockets.
#[derive(Debug)]
pub(super) struct NngEnd {
    state: NngState,
}

impl NngEnd {
    fn pair(&self) -> Result<&NngPair, Errno> {
        match &self.state {
            NngState::Connected(pair) => Ok(pair),
            NngState::Unconnected(..) | NngState::Failed => Err(Errno::NOTCONN),
        }
    }
}

impl Endpoint for NngEnd {
    const KEEPS_BOUNDARIES: bool = true;
    const COUNTS_CALLS: bool = false;

    fn prepare(&mut self) -> Result<(), Errno> {
        if let NngState::Unconnected(seat, address) =
            std::mem::replace(&mut self.state, NngState::Failed)
        {
            self.state = NngState::Connected(NngPair::connect(seat, &address)?);
        }
        Ok(())
    }

    #[inline]
    fn send(&mut self, bytes: &[u8]) -> Result<usize, Errno> {
        self.pair()?.send(bytes)?;
        Ok(bytes.len())
    }

    #[inline]
    fn recv(&mut self, bytes: &mut [u8]) -> Result<usize, Errno> {
        self.pair()?.recv(bytes)
    }
}

/// A connected socket, and the library, which this process uses for nothing else.
#[derive(Debug)]
struct NngPair {
    socket: nng_socket,
}

impl NngPair {
    fn connect(seat: NngRole, address: &CStr) -> Result<Self, Errno> {
        // SAFETY: a null pointer selects the defaults, and nothing in the library is in use yet.
        check(unsafe { nng_init(null_mut()) }.0)?;
        let mut pair = Self { socket: nng_socket::default() };
        // SAFETY: the call writes the new socket to the pointer.
        check_signed(unsafe { nng_pair0_open(&raw mut pair.socket) })?;
        // SAFETY: the name is NUL-terminated, and the socket is open.
        check_signed(unsafe {
            nng_socket_set_size(pair.socket, NNG_OPT_RECVMAXSZ.as_ptr().cast(), 0)
        })?;
        match seat {
            NngRole::Dialer => {
                pair.dial(address)?;
                pair.send(&[])?;
                pair.recv(&mut [])?;
            }
            NngRole::Listener => {
                // SAFETY: the address is NUL-terminated, and a null pointer declines the listener.
                check_signed(unsafe { nng_listen(pair.socket, address.as_ptr(), null_mut(), 0) })?;
                pair.recv(&mut [])?;
                pair.send(&[])?;
            }
        }
        Ok(pair)
    }

    /// Connects as soon as the other side listens; returns at once.
    fn dial(&self, address: &CStr) -> Result<(), Errno> {
        let at_once = NNG_FLAG_NONBLOCK.cast_signed();
        let pause = NNG_OPT_RECONNMINT.as_ptr().cast();
        // SAFETY: name and address are NUL-terminated, the socket is open, and a null pointer declines the
        // dialer.
        unsafe {
            check_signed(nng_socket_set_ms(self.socket, pause, RECONNECT_MS))?;
            check_signed(nng_dial(self.socket, address.as_ptr(), null_mut(), at_once))
        }
    }

    fn send(&self, bytes: &[u8]) -> Result<(), Errno> {
        // SAFETY: the socket is open, and the library reads `bytes` only during the call.
        check_signed(unsafe { nng_send(self.socket, bytes.as_ptr().cast(), bytes.len(), 0) })
    }

    /// Waits for a message that fits into `bytes` and returns its length.
    fn recv(&self, bytes: &mut [u8]) -> Result<usize, Errno> {
        let mut length = bytes.len();
        let at = bytes.as_mut_ptr().cast();
        // SAFETY: the socket is open, and the call writes no more bytes than the initial `length`.
        check_signed(unsafe { nng_recv(self.socket, at, &raw mut length, 0) })?;
        Ok(length)
    }
}

impl Drop for NngPair {
    fn drop(&mut self) {
        // SAFETY: neither is used afterwards, and a socket that was never opened is refused. All messages
        // have arrived before either peer closes.
        unsafe {
            nng_socket_close(self.socket);
            nng_fini();
        }
    }
}

/// Checks a signed return value, as [`check`] does.
fn check_signed(returned: c_int) -> Result<(), Errno> {
    check(returned.cast_unsigned())
}

fn check(returned: u32) -> Result<(), Errno> {
    if returned == 0 { Ok(()) } else { Err(errno(returned)) }
}

/// Maps the library's error `check_signed` to the closest system error number.
#[cold]
fn errno(number: u32) -> Errno {
    match nng_err(number) {
        nng_err::NNG_EINTR => Errno::INTR,
        nng_err::NNG_ENOMEM => Errno::NOMEM,
        nng_err::NNG_EMSGSIZE => Errno::MSGSIZE,
        nng_err::NNG_ECLOSED | nng_err::NNG_ECONNRESET | nng_err::NNG_ECONNSHUT => Errno::CONNRESET,
        nng_err::NNG_ECONNREFUSED => Errno::CONNREFUSED,
        nng_err::NNG_EADDRINVAL => Errno::NAMETOOLONG,
        _ if number & SYSTEM_ERROR != 0 => {
            Errno::from_raw_os_error((number & !SYSTEM_ERROR).cast_signed())
        }
        _ => Errno::IO,
    }
}
