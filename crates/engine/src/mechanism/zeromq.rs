//! `zeromq`: a pair of ZeroMQ's PAIR sockets (libzmq).
//!
//! A socket listens before the fork, so that the sender need not retry. libzmq has threads, so its contexts
//! and sockets are created after the fork.

use std::ffi::CString;
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::os::fd::OwnedFd;

use ipcperf_model::mechanism::{
    Boundaries, Delivery, Helper, Library, PayloadPath, PayloadTransfer, PeerDeath, PeerWait,
    Unrelated,
};
use ipcperf_model::{Failure, Mode, RunSpec, WorkerReport};
use ipcperf_zmq::Pair;
use rustix::io::Errno;

use super::run_dir;
use super::setup_failure::setup_failure;
use super::sysv::errno_result;
use super::uds_path::{listen_at, run_dir_socket_path};
use crate::channel::{
    Channel, Documentation, Endpoint, Granted, Mechanism, Opened, OptionSpec, OptionValues, Setup,
};
use crate::worker;

/// Option that selects the transport.
const TRANSPORT: OptionSpec = OptionSpec {
    name: "transport",
    about: "transport of the sockets: a Unix domain stream socket, or TCP over loopback",
    values: OptionValues::OneOf(&["ipc", "tcp"]),
    default: "ipc",
};

/// Facts about `zeromq`.
pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "zeromq",
    about: "ZeroMQ: a pair of PAIR sockets, over a Unix domain socket or TCP (libzmq)",
    boundaries: Boundaries::Preserved,
    delivery: Delivery::Reliable,
    path: PayloadPath::Kernel,
    waits: PeerWait::Sleeps,
    payload: PayloadTransfer::Copied,
    peer_death: PeerDeath::NotDetected,
    unrelated: Unrelated::Yes,
    helper: Helper::LibraryThreads,
    options: &[TRANSPORT],
    modes: &[Mode::TwoProcesses],
    documentation: Documentation {
        how_it_works: "libzmq, compiled from source and linked in, runs an I/O thread in each \
            peer's process, on the peer's CPU; only this thread uses the connection. zmq_send \
            copies the message into memory of libzmq and queues it, and wakes the I/O thread if \
            that sleeps. The I/O thread writes many small messages at once; that of the receiver \
            separates and queues them. zmq_recv copies the message out. The usage of the I/O \
            thread counts as the peer's: CPU time, faults and context switches are those of the \
            whole process, and runs are judged by them. Time for which a peer waited for its CPU \
            while its own I/O thread used it does not count as waiting. With both peers in one \
            process the I/O threads could not be attributed, so there is no mode 2thread; a \
            program would use inproc:// there anyway. Contexts and sockets are created after the \
            fork; before the clock starts the sender sends 16 random bytes, which the receiver \
            recognizes and answers with an empty message.",
        message_boundaries: "Kept: one send, one receive, one message.",
        minimum_kernel: "Any.",
        defaults_that_matter: "Each peer queues up to 1000 messages, libzmq's default; for \
            messages above 64 KiB, as many as make 64 MiB, at least one. A sender whose queue is \
            full waits: PAIR drops nothing. A context has one I/O thread, so with both peers on \
            one CPU four threads share it. The death of a peer is not reported: libzmq tries to \
            reconnect, and queues meanwhile. With transport=tcp the kernel's ksoftirqd may deliver \
            some of the data; its CPU time is not counted, so more runs are marked as disturbed. \
            Linger is 0, because the peers agree that everything has arrived before they close. \
            The library makes the system calls, which are not counted. --kernel-buffer does not \
            apply. libzmq has been licensed under MPL-2.0 since version 4.3.5.",
        references: &[
            "[zmq_socket(3)](https://api.zeromq.org/4-3:zmq-socket)",
            "[zmq_ipc(7)](https://api.zeromq.org/4-3:zmq-ipc)",
            "[zmq_tcp(7)](https://api.zeromq.org/4-3:zmq-tcp)",
            "[the guide](https://zguide.zeromq.org)",
        ],
    },
    in_flight_messages: |setup| {
        if setup.workload.is_answered() { 4 } else { 2 * u64::from(high_water_mark(setup)) + 4 }
    },
    library: Some(Library {
        name: "libzmq",
        version: env!("VERSION_OF_ZEROMQ_SRC"),
        license: "MPL-2.0",
    }),
    execute,
    ..Mechanism::BASE
};

fn execute(spec: &RunSpec, mechanism: &Mechanism<'_>) -> WorkerReport {
    let report = worker::execute::<ZeroMq>(spec, mechanism);
    run_dir::remove();
    report
}

/// Maximum number of small messages queued on either side.
const MAX_QUEUED: u64 = 1000;
/// Maximum number of bytes queued on either side; one message is always allowed.
const MAX_QUEUED_BYTES: u64 = 64 << 20;

/// Returns the maximum number of messages queued on either side.
#[allow(clippy::cast_possible_truncation, reason = "1000 at most")]
fn high_water_mark(setup: &Setup<'_>) -> u16 {
    (MAX_QUEUED_BYTES / setup.buffer_bytes.max(1)).clamp(1, MAX_QUEUED) as u16
}

struct ZeroMq;

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
struct ZeroMqEnd {
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
