//! The ends of `nng`, where it is built in.

use std::ffi::{CStr, CString, c_int};
use std::os::fd::IntoRawFd;
use std::ptr::null_mut;

use nng_sys::{
    NNG_OPT_RECVMAXSZ, nng_dial, nng_err, nng_fini, nng_init, nng_listener, nng_listener_create,
    nng_listener_set_int, nng_listener_start, nng_pair0_open, nng_recv, nng_send, nng_socket,
    nng_socket_close, nng_socket_set_size,
};
use rustix::io::Errno;

use crate::Failure;
use crate::mechanism::descriptor::refused;
use crate::mechanism::local::{Meets, listen_in_folder};
use crate::mechanism::{Channel, Endpoint, Granted, Opened, Setup};

/// `NNG_OPT_LISTEN_FD`.
const LISTEN_FD: &CStr = c"listen-fd";
/// What is added to an error number of the system's (`NNG_ESYSERR`).
const OF_THE_SYSTEM: u32 = 1 << 28;

pub(super) struct Nng;

impl Channel for Nng {
    type End = NngEnd;

    fn open(setup: &Setup<'_>) -> Result<Opened<NngEnd>, Failure> {
        let (listener, path) = listen_in_folder(setup)?;
        let address = CString::new(format!("ipc://{path}"))
            .map_err(|_| refused("naming the socket", Errno::INVAL))?;
        let end = |meets, address| NngEnd { place: Place::Outside(meets, address) };
        Ok(Opened {
            sender: end(Meets::Connects, address.clone()),
            receiver: end(Meets::Listens(listener), address),
            granted: Granted::default(),
        })
    }
}

/// Where an end stands: the library, which has threads, comes after the fork.
#[derive(Debug)]
enum Place {
    /// About to meet the other at this address.
    Outside(Meets, CString),
    Inside(Pair),
    /// Nowhere: the library refused.
    Lost,
}

/// One end of a pair of sockets.
#[derive(Debug)]
pub(super) struct NngEnd {
    place: Place,
}

impl NngEnd {
    fn pair(&self) -> Result<&Pair, Errno> {
        match &self.place {
            Place::Inside(pair) => Ok(pair),
            Place::Outside(..) | Place::Lost => Err(Errno::NOTCONN),
        }
    }
}

impl Endpoint for NngEnd {
    const KEEPS_BOUNDARIES: bool = true;
    const COUNTS_CALLS: bool = false;

    fn prepare(&mut self) -> Result<(), Errno> {
        if let Place::Outside(meets, address) = std::mem::replace(&mut self.place, Place::Lost) {
            self.place = Place::Inside(Pair::meet(meets, &address)?);
        }
        Ok(())
    }

    fn send(&mut self, bytes: &[u8]) -> Result<usize, Errno> {
        self.pair()?.send(bytes)?;
        Ok(bytes.len())
    }

    fn recv(&mut self, bytes: &mut [u8]) -> Result<usize, Errno> {
        self.pair()?.recv(bytes)
    }
}

/// A connected socket, and the library, which this process uses for nothing else.
#[derive(Debug)]
struct Pair {
    socket: nng_socket,
}

impl Pair {
    fn meet(meets: Meets, address: &CStr) -> Result<Self, Errno> {
        // SAFETY: a null pointer asks for the defaults; nothing of the library is in use yet.
        outcome(unsafe { nng_init(null_mut()) }.0)?;
        let mut pair = Self { socket: nng_socket::default() };
        // SAFETY: writes the new socket to where the pointer leads.
        number(unsafe { nng_pair0_open(&raw mut pair.socket) })?;
        // SAFETY: the name ends with a 0; the socket is open.
        number(unsafe { nng_socket_set_size(pair.socket, NNG_OPT_RECVMAXSZ.as_ptr().cast(), 0) })?;
        match meets {
            Meets::Connects => {
                // SAFETY: the address ends with a 0; nobody wants to know the dialer.
                number(unsafe { nng_dial(pair.socket, address.as_ptr(), null_mut(), 0) })?;
                pair.send(&[])?;
                pair.recv(&mut [])?;
            }
            Meets::Listens(socket) => {
                pair.listen(address, socket.into_raw_fd())?;
                pair.recv(&mut [])?;
                pair.send(&[])?;
            }
        }
        Ok(pair)
    }

    /// Waits at a `descriptor` that listens already, and is the library's from here on.
    fn listen(&self, address: &CStr, descriptor: c_int) -> Result<(), Errno> {
        let mut listener = nng_listener::default();
        // SAFETY: address and name end with a 0; the listener is written to where the pointer leads, and
        // belongs to the socket, which is open.
        unsafe {
            number(nng_listener_create(&raw mut listener, self.socket, address.as_ptr()))?;
            number(nng_listener_set_int(listener, LISTEN_FD.as_ptr(), descriptor))?;
            number(nng_listener_start(listener, 0))
        }
    }

    fn send(&self, bytes: &[u8]) -> Result<(), Errno> {
        // SAFETY: the socket is open; the library reads `bytes` while the call lasts.
        number(unsafe { nng_send(self.socket, bytes.as_ptr().cast(), bytes.len(), 0) })
    }

    /// Waits for a message that fits into `bytes`, and returns its length.
    fn recv(&self, bytes: &mut [u8]) -> Result<usize, Errno> {
        let mut length = bytes.len();
        let at = bytes.as_mut_ptr().cast();
        // SAFETY: the socket is open; no more is written than `length` says at first.
        number(unsafe { nng_recv(self.socket, at, &raw mut length, 0) })?;
        Ok(length)
    }
}

impl Drop for Pair {
    fn drop(&mut self) {
        // SAFETY: neither is used any more; a socket that never was opened is refused. All messages have
        // arrived before either party closes.
        unsafe {
            nng_socket_close(self.socket);
            nng_fini();
        }
    }
}

/// As [`outcome`], where the number has a sign.
fn number(returned: c_int) -> Result<(), Errno> {
    outcome(returned.cast_unsigned())
}

fn outcome(returned: u32) -> Result<(), Errno> {
    if returned == 0 { Ok(()) } else { Err(errno(returned)) }
}

/// What comes nearest to the library's `number` among the system's.
#[cold]
fn errno(number: u32) -> Errno {
    match nng_err(number) {
        nng_err::NNG_EINTR => Errno::INTR,
        nng_err::NNG_ENOMEM => Errno::NOMEM,
        nng_err::NNG_EMSGSIZE => Errno::MSGSIZE,
        nng_err::NNG_ECLOSED | nng_err::NNG_ECONNRESET | nng_err::NNG_ECONNSHUT => Errno::CONNRESET,
        nng_err::NNG_ECONNREFUSED => Errno::CONNREFUSED,
        nng_err::NNG_EADDRINVAL => Errno::NAMETOOLONG,
        _ if number & OF_THE_SYSTEM != 0 => {
            Errno::from_raw_os_error((number & !OF_THE_SYSTEM).cast_signed())
        }
        _ => Errno::IO,
    }
}
