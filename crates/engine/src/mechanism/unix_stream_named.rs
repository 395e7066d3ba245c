//! `unix-stream-named`: a Unix domain stream socket, connected by name.

use ipcperf_model::mechanism::{
    Boundaries, Delivery, Helper, PayloadFate, PayloadWay, PeerDeath, PeerWait, Unrelated,
};
use ipcperf_model::{Failure, FailureKind, Mode};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketType, bind, socket_with};

use super::Scratch;
use super::meeting::{self, is_of_this_process};
use super::refusal::refused;
use super::socket::{SocketEnd, flags, joined};
use crate::channel::{Channel, Documentation, Mechanism, Opened, OptionSpec, OptionValues, Setup};
use crate::leftovers::of_run;
use crate::worker;

/// Option that selects the kind of address.
const ADDRESS: OptionSpec = OptionSpec {
    name: "address",
    about: "a path in the file system, or a name in the abstract namespace",
    values: OptionValues::OneOf(&["path", "abstract"]),
    default: "path",
};

/// Facts about `unix-stream-named`.
pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "unix-stream-named",
    about: "Unix domain stream socket, bound to a name and connected to",
    boundaries: Boundaries::None,
    delivery: Delivery::Reliable,
    way: PayloadWay::Kernel,
    waits: PeerWait::Sleeps,
    payload: PayloadFate::Copied,
    peer_death: PeerDeath::Told,
    unrelated: Unrelated::Yes,
    helper: Helper::Nobody,
    options: &[ADDRESS],
    modes: &Mode::ALL,
    documentation: Documentation {
        how_it_works: "bind, listen, connect and accept instead of socketpair: how unrelated \
            processes meet. Once connected, data takes the way of unix-stream. The connection is \
            made before the clock starts, and the name is gone by then.",
        message_boundaries: "None, as with unix-stream.",
        minimum_kernel: "Any; abstract names are Linux's own (2.2).",
        defaults_that_matter: "As with unix-stream. A path is guarded by the permissions of its \
            folder; an abstract name by the network namespace alone.",
        references: &["man:unix(7)", "man:bind(2)", "man:connect(2)"],
    },
    execute: worker::execute::<UnixStreamNamed>,
    ..Mechanism::BASE
};

struct UnixStreamNamed;

impl Channel for UnixStreamNamed {
    type End = SocketEnd<false>;

    fn open(setup: &Setup<'_>) -> Result<Opened<Self::End>, Failure> {
        if setup.option(&ADDRESS) == "abstract" {
            let name = of_run()?.base();
            let address = SocketAddrUnix::new_abstract_name(name.as_bytes());
            return meet(&address.map_err(|e| refused("naming the socket", e))?, setup);
        }
        let scratch = Scratch::new()?;
        let address = SocketAddrUnix::new(scratch.path("socket")).map_err(|_| {
            Failure::new(FailureKind::SetUp, "the socket's path exceeds 107 bytes")
                .with_remedy("set TMPDIR to a shorter path")
        })?;
        meet(&address, setup)
    }
}

fn meet(address: &SocketAddrUnix, setup: &Setup<'_>) -> Result<Opened<SocketEnd<false>>, Failure> {
    let make = || {
        socket_with(AddressFamily::UNIX, SocketType::STREAM, flags(setup), None)
            .map_err(|e| refused("socket(AF_UNIX)", e))
    };
    let listener = make()?;
    bind(&listener, address).map_err(|e| refused("bind", e))?;
    let [sender, receiver] = meeting::meet(&listener, address, make, is_of_this_process, setup)?;
    joined(sender, receiver, setup)
}
