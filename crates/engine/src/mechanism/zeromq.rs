//! `zeromq`: a pair of ZeroMQ's PAIR sockets (libzmq).
//!
//! A socket listens before the fork, so that the sender need not retry. libzmq has threads, so its contexts
//! and sockets are created after the fork.

use std::ffi::CString;
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::os::fd::OwnedFd;

use ipcperf_model::mechanism::{
    Boundaries, Delivery, Helper, Library, PayloadFate, PayloadWay, PeerDeath, PeerWait, Unrelated,
};
use ipcperf_model::{Failure, Mode, Report, RunSpec};
use ipcperf_zmq::Pair;
use rustix::io::Errno;

use super::refusal::refused;
use super::run_dir;
use super::sysv::outcome;
use super::uds_path::{listen_at, path_in_folder};
use crate::channel::{
    Channel, Documentation, Endpoint, Granted, Mechanism, Opened, OptionSpec, OptionValues, Setup,
};
use crate::worker;

/// Option that selects the transport.
const TRANSPORT: OptionSpec = OptionSpec {
    name: "transport",
    about: "what the sockets speak over: a Unix domain stream socket, or TCP over loopback",
    values: OptionValues::OneOf(&["ipc", "tcp"]),
    default: "ipc",
};

/// Facts about `zeromq`.
pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "zeromq",
    about: "ZeroMQ: a pair of PAIR sockets, over a Unix domain socket or TCP (libzmq)",
    boundaries: Boundaries::Kept,
    delivery: Delivery::Reliable,
    way: PayloadWay::Kernel,
    waits: PeerWait::Sleeps,
    payload: PayloadFate::Copied,
    peer_death: PeerDeath::NotTold,
    unrelated: Unrelated::Yes,
    helper: Helper::OwnThreads,
    options: &[TRANSPORT],
    modes: &[Mode::TwoProcesses],
    documentation: Documentation {
        how_it_works: "libzmq, compiled from source and linked in, has in each party's process an I/O \
            thread, on the party's CPU, which alone touches the connection. zmq_send copies the \
            message into memory of libzmq's and queues it, waking the I/O thread where that sleeps; \
            the I/O thread writes many small messages at once, and the receiver's takes them apart \
            and queues them. zmq_recv copies the message out. What the I/O thread uses is counted as \
            the role's: its CPU time, faults and switches are those of the whole process, and a run is \
            judged by them. Time for which a party waited for its CPU while its own I/O thread had it \
            is not counted as waited. With both parties in one process nobody could tell whose thread \
            it was: hence no mode 2thread, where one would use inproc:// anyway. Contexts and sockets are \
            made after the fork, and before the clock starts the sender sends 16 random bytes, which the \
            receiver knows and answers with an empty message.",
        message_boundaries: "Kept: one send, one receive, one message.",
        minimum_kernel: "Any.",
        defaults_that_matter: "Each side queues up to 1000 messages, libzmq's default; of messages \
            above 64 KiB so many as make 64 MiB, at least one. A sender whose queue is full waits: PAIR \
            drops nothing. A context has one I/O thread. With both parties on one CPU four threads \
            take turns. The peer's death is told to nobody: libzmq tries to connect again, and queues \
            meanwhile. With transport=tcp the kernel's ksoftirqd may deliver a part, and is not counted: \
            more runs are marked as disturbed. Linger is 0, as the parties agree that all has arrived before they close. \
            Calls of the system are the library's, and not counted. --kernel-buffer does not apply. \
            libzmq has been under the MPL-2.0 since version 4.3.5.",
        references: &[
            "[zmq_socket(3)](https://api.zeromq.org/4-3:zmq-socket)",
            "[zmq_ipc(7)](https://api.zeromq.org/4-3:zmq-ipc)",
            "[zmq_tcp(7)](https://api.zeromq.org/4-3:zmq-tcp)",
            "[the guide](https://zguide.zeromq.org)",
        ],
    },
    holds: |setup| {
        if setup.workload.is_answered() { 4 } else { 2 * u64::from(high_water(setup)) + 4 }
    },
    library: Some(Library {
        name: "libzmq",
        version: env!("VERSION_OF_ZEROMQ_SRC"),
        licence: "MPL-2.0",
    }),
    execute,
    ..Mechanism::BASE
};

fn execute(spec: &RunSpec, mechanism: &Mechanism<'_>) -> Report {
    let report = worker::execute::<ZeroMq>(spec, mechanism);
    run_dir::remove();
    report
}

/// Maximum number of small messages queued on either side.
const MOST_QUEUED: u64 = 1000;
/// Maximum number of bytes queued on either side; one message is always allowed.
const MOST_QUEUED_BYTES: u64 = 64 << 20;

/// Returns the maximum number of messages queued on either side.
#[allow(clippy::cast_possible_truncation, reason = "1000 at most")]
fn high_water(setup: &Setup<'_>) -> u16 {
    (MOST_QUEUED_BYTES / setup.buffer_bytes.max(1)).clamp(1, MOST_QUEUED) as u16
}

struct ZeroMq;

impl Channel for ZeroMq {
    type End = ZeroMqEnd;

    fn open(setup: &Setup<'_>) -> Result<Opened<ZeroMqEnd>, Failure> {
        let (listener, address) = match setup.option(&TRANSPORT) {
            "tcp" => on_loopback()?,
            _ => in_folder(setup)?,
        };
        let greeting = Greeting::random().map_err(|e| refused("getrandom", e))?;
        let end = |meets, address| ZeroMqEnd {
            place: Place::Outside(meets, address),
            queued: high_water(setup),
            greeting,
        };
        Ok(Opened {
            sender: end(Meets::Connects, address.clone()),
            receiver: end(Meets::Listens(listener), address),
            granted: Granted::default(),
        })
    }
}

/// Creates a listening socket in the run's folder, and returns it with its libzmq address.
fn in_folder(setup: &Setup<'_>) -> Result<(OwnedFd, CString), Failure> {
    let path = path_in_folder(setup)?;
    Ok((listen_at(path.as_ref())?.into(), address(format!("ipc://{path}"))?))
}

/// Creates a listening socket on the loopback interface, and returns it with its libzmq address.
fn on_loopback() -> Result<(OwnedFd, CString), Failure> {
    let failed = |error: io::Error| refused("listening on 127.0.0.1", errno(error));
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(failed)?;
    let name = listener.local_addr().map_err(failed)?;
    Ok((listener.into(), address(format!("tcp://{name}"))?))
}

fn address(text: String) -> Result<CString, Failure> {
    CString::new(text).map_err(|_| refused("naming the socket", Errno::INVAL))
}

/// Way in which an endpoint connects.
#[derive(Debug)]
enum Meets {
    Connects,
    Listens(OwnedFd),
}

/// State of an endpoint: libzmq is started after the fork.
#[derive(Debug)]
enum Place {
    /// About to connect at this address.
    Outside(Meets, CString),
    /// Connected.
    Inside(Pair),
    /// Unusable: libzmq reported an error.
    Lost,
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
        outcome(if got == -1 { -1 } else { 0 })?;
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
    place: Place,
    queued: u16,
    greeting: Greeting,
}

impl ZeroMqEnd {
    fn pair(&mut self) -> Result<&mut Pair, Errno> {
        match &mut self.place {
            Place::Inside(pair) => Ok(pair),
            Place::Outside(..) | Place::Lost => Err(Errno::NOTCONN),
        }
    }

    fn meet(&self, meets: Meets, address: &CString) -> io::Result<Pair> {
        let mut pair = Pair::new()?;
        pair.set_high_water(self.queued)?;
        // Nothing is lost: an endpoint closes only after it has synchronized with the other, which follows
        // the last message.
        pair.drop_unsent()?;
        match meets {
            Meets::Connects => {
                pair.connect(address)?;
                pair.send(&self.greeting.0)?;
                pair.recv(&mut [])?;
            }
            Meets::Listens(listener) => {
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
        if let Place::Outside(meets, address) = std::mem::replace(&mut self.place, Place::Lost) {
            self.place = Place::Inside(self.meet(meets, &address).map_err(errno)?);
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
