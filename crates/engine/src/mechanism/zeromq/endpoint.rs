//! Endpoints of `zeromq`, if it is built in.
//!
//! A socket listens before the fork, so that the sender need not retry. libzmq has threads, so its contexts and sockets
//! are created after the fork.

use std::ffi::CString;
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::os::fd::OwnedFd;

use ipcperf_model::Failure;
use ipcperf_zmq::Pair;
use rustix::io::Errno;

use super::{TRANSPORT, high_water_mark};
use crate::channel::{Channel, Endpoint, Granted, Opened, Setup};
use crate::mechanism::setup_failure::setup_failure;
use crate::mechanism::uds_path::{listen_at, run_dir_socket_path};
use crate::platform::errno_result;

pub(super) struct ZeroMq;

impl Channel for ZeroMq {
    type End = ZeroMqEnd;

    fn open(setup: &Setup<'_>) -> Result<Opened<ZeroMqEnd>, Failure> {
        let (listener, address) = match setup.option(&TRANSPORT) {
            "tcp" => listen_tcp()?,
            _ => listen_ipc(setup)?,
        };
        let greeting = Greeting::random().map_err(|e| setup_failure("getrandom", e))?;
        let end = |role, address| ZeroMqEnd {
            state: ZeroMqState::Unconnected(role, address),
            high_water_mark: high_water_mark(setup),
            greeting,
        };
        Ok(Opened {
            sender: end(ZeroMqRole::Connector, address.clone()),
            receiver: end(ZeroMqRole::Listener(listener), address),
            granted: Granted::default(),
        })
    }
}

/// Creates a listening socket in the run's folder, and returns it with its libzmq address.
fn listen_ipc(setup: &Setup<'_>) -> Result<(OwnedFd, CString), Failure> {
    let path = run_dir_socket_path(setup)?;
    Ok((listen_at(path.as_ref())?.into(), address(format!("ipc://{path}"))?))
}

/// Creates a listening socket on the loopback interface, and returns it with its libzmq address.
fn listen_tcp() -> Result<(OwnedFd, CString), Failure> {
    let failed = |error: io::Error| setup_failure("listening on 127.0.0.1", errno(error));
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(failed)?;
    let name = listener.local_addr().map_err(failed)?;
    Ok((listener.into(), address(format!("tcp://{name}"))?))
}

fn address(text: String) -> Result<CString, Failure> {
    CString::new(text).map_err(|_| setup_failure("naming the socket", Errno::INVAL))
}

/// Way in which an endpoint connects.
#[derive(Debug)]
enum ZeroMqRole {
    Connector,
    Listener(OwnedFd),
}

/// State of an endpoint: libzmq is started after the fork.
#[derive(Debug)]
enum ZeroMqState {
    /// About to connect at this address.
    Unconnected(ZeroMqRole, CString),
    /// Connected.
    Connected(Pair),
    /// Unusable: libzmq reported an error.
    Failed,
}

/// First message of the connecting endpoint. A TCP port is open to every local process, and a PAIR socket
/// talks to the first peer that connects: without this check a foreign connection would be measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Greeting([u8; 16]);

impl Greeting {
    fn random() -> Result<Self, Errno> {
        let mut bytes = [0; 16];
        // SAFETY: the kernel writes at most `bytes.len()` bytes. A request this small is always filled
        // completely.
        let got = unsafe { libc::getrandom(bytes.as_mut_ptr().cast(), bytes.len(), 0) };
        errno_result(if got == -1 { -1 } else { 0 })?;
        Ok(Self(bytes))
    }

    /// Receives a message, which must be this one.
    fn expect(self, pair: &mut Pair) -> io::Result<()> {
        let mut got = [0; 16];
        let length = pair.recv(&mut got)?;
        let is_own = length == got.len() && Self(got) == self;
        if is_own { Ok(()) } else { Err(Errno::CONNREFUSED.into()) }
    }
}

/// One endpoint of a pair of sockets.
#[derive(Debug)]
pub(super) struct ZeroMqEnd {
    state: ZeroMqState,
    high_water_mark: u16,
    greeting: Greeting,
}

impl ZeroMqEnd {
    fn pair(&mut self) -> Result<&mut Pair, Errno> {
        match &mut self.state {
            ZeroMqState::Connected(pair) => Ok(pair),
            ZeroMqState::Unconnected(..) | ZeroMqState::Failed => Err(Errno::NOTCONN),
        }
    }

    fn connect(&self, role: ZeroMqRole, address: &CString) -> io::Result<Pair> {
        let mut pair = Pair::new()?;
        pair.set_high_water(self.high_water_mark)?;
        // Nothing is lost: an endpoint closes only after it has synchronized with the other, which follows
        // the last message.
        pair.drop_unsent()?;
        match role {
            ZeroMqRole::Connector => {
                pair.connect(address)?;
                pair.send(&self.greeting.0)?;
                pair.recv(&mut [])?;
            }
            ZeroMqRole::Listener(listener) => {
                pair.refuse_old_protocols()?;
                pair.bind_to(listener, address)?;
                self.greeting.expect(&mut pair)?;
                pair.send(&[])?;
            }
        }
        Ok(pair)
    }
}

impl Endpoint for ZeroMqEnd {
    const KEEPS_BOUNDARIES: bool = true;
    const COUNTS_CALLS: bool = false;

    fn prepare(&mut self) -> Result<(), Errno> {
        if let ZeroMqState::Unconnected(role, address) =
            std::mem::replace(&mut self.state, ZeroMqState::Failed)
        {
            self.state = ZeroMqState::Connected(self.connect(role, &address).map_err(errno)?);
        }
        Ok(())
    }

    #[inline]
    fn send(&mut self, bytes: &[u8]) -> Result<usize, Errno> {
        self.pair()?.send(bytes).map_err(errno)?;
        Ok(bytes.len())
    }

    #[inline]
    fn recv(&mut self, bytes: &mut [u8]) -> Result<usize, Errno> {
        let length = self.pair()?.recv(bytes).map_err(errno)?;
        if length <= bytes.len() { Ok(length) } else { Err(Errno::MSGSIZE) }
    }
}

#[cold]
#[allow(clippy::needless_pass_by_value, reason = "errors are mapped by value")]
fn errno(error: io::Error) -> Errno {
    Errno::from_io_error(&error).unwrap_or(Errno::IO)
}
