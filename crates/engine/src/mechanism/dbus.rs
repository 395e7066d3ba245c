//! D-Bus through the crate `zbus`: method calls from the sender to the receiver, through a daemon or
//! directly. A [`Carrier`] decides what the body of a message holds.
//!
//! The peers' sockets are connected before the fork. zbus starts tasks, so it is started after the fork. Each
//! peer drives zbus on its own thread (a single-threaded tokio runtime).

mod broker;
mod daemon;
mod link;
mod open;
mod party;
mod policy;
mod process;
mod window;

use std::os::unix::net::UnixStream;

use ipcperf_model::mechanism::Library;
use ipcperf_model::{Failure, Mode, Report, RunSpec, Unavailable};
use link::{Link, Seat};
use party::Party;
use rustix::io::Errno;
use zbus::Message;
use zbus::message::{Body, Builder, Flags, Type};

use crate::channel::{
    Channel, Choice, Endpoint, Granted, Mechanism, Opened, OptionSpec, OptionValues, Setup,
};
use crate::worker;
pub(super) use party::errno;
use window::Window;

/// The client library.
pub(super) const ZBUS: Library =
    Library { name: "zbus", version: env!("VERSION_OF_ZBUS"), licence: "MIT" };

/// Option of both mechanisms that selects the broker.
pub(super) const VIA: OptionSpec = OptionSpec {
    name: "via",
    about: "who stands between: a private dbus-daemon, a private dbus-broker, or nobody",
    values: OptionValues::Choices(&[
        Choice { word: "daemon", availability: daemon::available },
        Choice { word: "broker", availability: broker::available },
        Choice { word: "peer", availability: anywhere },
    ]),
    default: "daemon",
};

fn anywhere() -> Result<(), Unavailable> {
    Ok(())
}

/// Modes with two peers: zbus has no nonblocking call.
pub(super) const MODES: [Mode; 2] = [Mode::TwoThreads, Mode::TwoProcesses];

/// Maximum length of an array in a message, bytes. Source: the D-Bus specification, "Marshaling (Wire
/// Format)".
pub(super) const LONGEST_ARRAY_BYTES: u64 = 64 << 20;

/// Bus name of the receiver.
const RECEIVER: &str = "org.ipcperf.Receiver";
const OBJECT: &str = "/org/ipcperf";
const METHOD: &str = "Take";

/// Encoding of a payload in the body of a message.
pub(super) trait Carrier: Sized + Send + 'static {
    /// Creates the carrier of an endpoint that has at most `sends` unacknowledged messages, and whose peer
    /// has at most `receives`.
    fn of(setup: &Setup<'_>, sends: usize, receives: usize) -> Result<Self, Failure>;

    /// Maps and touches memory, in the process of the peer that uses it.
    fn prepare(&mut self) -> Result<(), Errno>;

    /// Builds the message of `envelope` with `bytes` as payload.
    fn load(&mut self, envelope: Builder<'_>, bytes: &[u8]) -> Result<Message, Errno>;

    /// Copies the payload of `body` to the front of `into` and returns its length.
    fn unload(&mut self, body: &Body, into: &mut [u8]) -> Result<usize, Errno>;
}

/// Executes `spec` and ends the broker that it started.
pub(super) fn execute<C: Carrier>(spec: &RunSpec, mechanism: &Mechanism<'_>) -> Report {
    process::end(worker::execute::<Dbus<C>>(spec, mechanism))
}

struct Dbus<C>(std::marker::PhantomData<C>);

impl<C: Carrier> Channel for Dbus<C> {
    type End = DbusEnd<C>;

    fn open(setup: &Setup<'_>) -> Result<Opened<DbusEnd<C>>, Failure> {
        let window = Window::for_messages_of(setup.buffer_bytes);
        let (asking, hearing, there, back) = if setup.workload.is_answered() {
            (Talk::Asking, Talk::Answering(None), 1, 1)
        } else {
            (Talk::Telling(window), Talk::Acknowledging, window.most(), 0)
        };
        let Link { sockets: [caller, callee], seats: [first, second], broker } = open::open(setup)?;
        let end = |place, talk, carrier| DbusEnd { place, talk, carrier, broker };
        Ok(Opened {
            sender: end(Place::Outside(caller, first), asking, C::of(setup, there, back)?),
            receiver: end(Place::Outside(callee, second), hearing, C::of(setup, back, there)?),
            granted: Granted::default(),
        })
    }
}

/// State of an endpoint: zbus is started after the fork.
#[derive(Debug)]
enum Place {
    /// At a socket on which nothing has been sent yet.
    Outside(UnixStream, Seat),
    /// Connected.
    Inside(Box<Party>),
    /// Unusable: the handshake on its socket failed.
    Lost,
}

/// Role of an endpoint in the exchange.
#[derive(Debug)]
enum Talk {
    /// Makes calls that are answered one by one with a payload.
    Asking,
    /// Makes calls, some of which ask for an empty reply that acknowledges what has arrived.
    Telling(Window),
    /// Answers the call received last.
    Answering(Option<Message>),
    /// Replies to the calls that ask for a reply.
    Acknowledging,
}

/// One endpoint of a D-Bus connection.
#[derive(Debug)]
pub(super) struct DbusEnd<C> {
    place: Place,
    talk: Talk,
    carrier: C,
    broker: Option<u32>,
}

impl Place {
    fn party(&mut self) -> Result<&mut Party, Errno> {
        match self {
            Self::Inside(party) => Ok(party),
            Self::Outside(..) | Self::Lost => Err(Errno::NOTCONN),
        }
    }
}

/// Whether a call asks for a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reply {
    Asked,
    NotAsked,
}

impl<C: Carrier> DbusEnd<C> {
    fn call(&mut self, bytes: &[u8], reply: Reply) -> Result<(), Errno> {
        let party = self.place.party()?;
        let envelope = party.call(OBJECT, METHOD).and_then(|envelope| match reply {
            Reply::Asked => Ok(envelope),
            Reply::NotAsked => envelope.with_flags(Flags::NoReplyExpected),
        });
        let message = self.carrier.load(envelope.map_err(errno)?, bytes)?;
        party.send(&message)
    }

    /// Waits while the window is full, then makes a call.
    fn tell(&mut self, bytes: &[u8]) -> Result<(), Errno> {
        let Talk::Telling(window) = &mut self.talk else { return Err(Errno::PROTO) };
        while window.is_full() {
            self.place.party()?.next(Type::MethodReturn)?;
            window.acknowledge();
        }
        let reply = window.next();
        self.call(bytes, reply)
    }

    fn answer(&mut self, bytes: &[u8]) -> Result<(), Errno> {
        let Talk::Answering(call) = &mut self.talk else { return Err(Errno::PROTO) };
        let call = call.take().ok_or(Errno::PROTO)?;
        let envelope = Message::method_return(&call.header()).map_err(errno)?;
        let message = self.carrier.load(envelope, bytes)?;
        self.place.party()?.send(&message)
    }

    fn hear(&mut self, bytes: &mut [u8]) -> Result<usize, Errno> {
        let party = self.place.party()?;
        let call = party.next(Type::MethodCall)?;
        let got = self.carrier.unload(&call.body(), bytes)?;
        let is_asked = !call.primary_header().flags().contains(Flags::NoReplyExpected);
        match &mut self.talk {
            Talk::Answering(kept) => *kept = Some(call),
            _ if is_asked => {
                let reply = Message::method_return(&call.header());
                party.send(&reply.and_then(|reply| reply.build(&())).map_err(errno)?)?;
            }
            _ => {}
        }
        Ok(got)
    }
}

impl<C: Carrier> Endpoint for DbusEnd<C> {
    const KEEPS_BOUNDARIES: bool = true;
    const COUNTS_CALLS: bool = false;

    fn prepare(&mut self) -> Result<(), Errno> {
        self.carrier.prepare()?;
        if let Place::Outside(socket, seat) = std::mem::replace(&mut self.place, Place::Lost) {
            self.place = Place::Inside(Box::new(Party::join(socket, seat)?));
        }
        Ok(())
    }

    fn send(&mut self, bytes: &[u8]) -> Result<usize, Errno> {
        match self.talk {
            Talk::Asking => self.call(bytes, Reply::Asked),
            Talk::Telling(_) => self.tell(bytes),
            Talk::Answering(_) | Talk::Acknowledging => self.answer(bytes),
        }?;
        Ok(bytes.len())
    }

    fn recv(&mut self, bytes: &mut [u8]) -> Result<usize, Errno> {
        match self.talk {
            Talk::Asking | Talk::Telling(_) => {
                let reply = self.place.party()?.next(Type::MethodReturn)?;
                self.carrier.unload(&reply.body(), bytes)
            }
            Talk::Answering(_) | Talk::Acknowledging => self.hear(bytes),
        }
    }

    fn broker(&self) -> Option<u32> {
        self.broker
    }
}
