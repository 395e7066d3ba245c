//! D-Bus, spoken by the crate `zbus`: method calls from the sender to the receiver, by way of a daemon or
//! directly. What goes into the body of a message is the [`Carrier`]'s.
//!
//! The parties' sockets are connected before the fork; zbus, which would start tasks, comes after it.
//! Each party drives it on its own thread (a tokio runtime of one thread).

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

/// The client.
pub(super) const ZBUS: Library =
    Library { name: "zbus", version: env!("VERSION_OF_ZBUS"), licence: "MIT" };

/// The option of both mechanisms.
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

/// Two parties: zbus has no call that only tries.
pub(super) const MODES: [Mode; 2] = [Mode::TwoThreads, Mode::TwoProcesses];

/// Bytes of the longest array in a message: the D-Bus specification, "Marshaling (Wire Format)".
pub(super) const LONGEST_ARRAY_BYTES: u64 = 64 << 20;

/// What a bus calls the receiver.
const RECEIVER: &str = "org.ipcperf.Receiver";
const OBJECT: &str = "/org/ipcperf";
const METHOD: &str = "Take";

/// How a payload travels in the body of a message.
pub(super) trait Carrier: Sized + Send + 'static {
    /// For an end whose messages are acknowledged when `sends` are out at the latest, opposite one
    /// whose messages are when `receives` are.
    fn of(setup: &Setup<'_>, sends: usize, receives: usize) -> Result<Self, Failure>;

    /// Maps and touches memory, in the party that uses it.
    fn prepare(&mut self) -> Result<(), Errno>;

    /// The message that `envelope` becomes with `bytes` in it.
    fn load(&mut self, envelope: Builder<'_>, bytes: &[u8]) -> Result<Message, Errno>;

    /// Fills `into` from the front with what came in `body`, and returns how many bytes that is.
    fn unload(&mut self, body: &Body, into: &mut [u8]) -> Result<usize, Errno>;
}

/// Carries out `spec`, and ends the daemon it started.
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

/// Where an end stands: zbus comes after the fork.
#[derive(Debug)]
enum Place {
    /// At a socket on which nothing was said yet.
    Outside(UnixStream, Seat),
    /// In a conversation.
    Inside(Box<Party>),
    /// Nowhere: what was said on its socket was not understood.
    Lost,
}

/// Which part an end has in the conversation.
#[derive(Debug)]
enum Talk {
    /// Its calls are answered one by one, with a payload.
    Asking,
    /// Some of its calls ask for a reply, which is empty: it says what has arrived.
    Telling(Window),
    /// It answers the call that it heard last.
    Answering(Option<Message>),
    /// It replies to the calls that ask for it.
    Acknowledging,
}

/// One end of a conversation on D-Bus.
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

/// Whether a call waits for its reply.
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

    /// Waits while as many calls are out as may be; then calls.
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
