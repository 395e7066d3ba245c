//! `unix-stream-named`: a Unix domain stream socket, connected by name.

use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;

use ipcperf_model::mechanism::{
    Boundaries, Delivery, Helper, PayloadPath, PayloadTransfer, PeerDeath, Unrelated,
};
use ipcperf_model::{Failure, Mode, Role};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketType, bind};

use super::TempDir;
use super::meeting_socket::{accept_peer, connect_to_peer, expected_user, path_address};
use super::self_connect::{self, is_from_this_process};
use super::setup_failure::setup_failure;
use super::socket::{SocketEnd, flags, open_endpoints, own_endpoint};
use super::waiting::{self, AnyWait, WAIT, WAITS};
use crate::channel::{
    Channel, Choice, Documentation, Granted, MULTIPLEX, ManyPeers, Mechanism, Meet, Meeting,
    Opened, OptionSpec, OptionValues, Setup,
};
use crate::leftovers::run_names;
use crate::platform::close_on_exec::socket_with;
use crate::platform::socket_options::{abstract_address, abstract_names_available};

/// Option that selects the kind of address.
const ADDRESS: OptionSpec = OptionSpec {
    name: "address",
    about: "path: a path in the file system; abstract: a name in the abstract namespace",
    values: OptionValues::Choices(&[
        Choice { value: "path", availability: || Ok(()) },
        Choice { value: "abstract", availability: abstract_names_available },
    ]),
    default: "path",
};

/// Facts about `unix-stream-named`.
pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "unix-stream-named",
    about: "Unix stream socket, connected by a path or a name",
    boundaries: Boundaries::None,
    delivery: Delivery::Reliable,
    path: PayloadPath::Kernel,
    waits: WAITS,
    payload: PayloadTransfer::Copied,
    peer_death: PeerDeath::EofOrError,
    unrelated: Unrelated::Yes,
    helper: Helper::None,
    many_peers: ManyPeers::Multiplexed,
    options: &[ADDRESS, WAIT, MULTIPLEX],
    modes: &Mode::ALL,
    documentation: Documentation {
        how_it_works: "The two sockets are connected with bind, listen, connect and accept, as two \
            unrelated processes would do it. socketpair is not used. The data takes the same path \
            as with unix-stream. ipcperf connects the sockets and removes their path or name \
            before the clock starts. In mode 2exec, the receiver listens and the sender connects.",
        message_boundaries: "None, as with unix-stream.",
        minimum_kernel: "Any. Abstract names need Linux 2.2; other operating systems do not have \
            them.",
        defaults_that_matter: "The defaults are the same as for unix-stream. The permissions of the folder that \
            contains the path decide who can connect by this path. Every process in the same network namespace can \
            connect by an abstract name.",
        references: &["man:unix(7)", "man:bind(2)", "man:connect(2)"],
    },
    execute: waiting::execute::<UnixStreamNamed, AnyWait>,
    meet: Some(waiting::meet::<UnixStreamNamed, AnyWait>),
    ..Mechanism::BASE
};

struct UnixStreamNamed;

impl Channel for UnixStreamNamed {
    type End = SocketEnd<false>;

    fn open(setup: &Setup<'_>) -> Result<Opened<Self::End>, Failure> {
        if setup.option(&ADDRESS) == "abstract" {
            let name = run_names()?.prefix();
            let address = abstract_address(name.as_bytes());
            return connect_named(
                &address.map_err(|e| setup_failure("naming the socket", e))?,
                setup,
            );
        }
        let scratch = TempDir::new()?;
        connect_named(&path_address(&scratch.path("socket"))?, setup)
    }
}

impl Meet for UnixStreamNamed {
    fn meet(setup: &Setup<'_>, meeting: &Meeting<'_>) -> Result<(Self::End, Granted), Failure> {
        let path = meeting.socket_path("socket");
        let address = match setup.option(&ADDRESS) {
            "abstract" => abstract_address(path.as_os_str().as_bytes())
                .map_err(|e| setup_failure("naming the socket", e))?,
            _ => path_address(&path)?,
        };
        let shown = path.display().to_string();
        let make = || make(setup);
        let socket = match meeting.role() {
            Role::Receiver => {
                let listener = make()?;
                bind(&listener, &address).map_err(|e| setup_failure("bind", e))?;
                accept_peer(&listener, &shown, expected_user, meeting)?
            }
            _ => connect_to_peer(make, &address, &shown, meeting)?,
        };
        own_endpoint(socket, setup)
    }
}

fn make(setup: &Setup<'_>) -> Result<OwnedFd, Failure> {
    socket_with(AddressFamily::UNIX, SocketType::STREAM, flags(setup), None)
        .map_err(|e| setup_failure("socket(AF_UNIX)", e))
}

fn connect_named(
    address: &SocketAddrUnix,
    setup: &Setup<'_>,
) -> Result<Opened<SocketEnd<false>>, Failure> {
    let make = || make(setup);
    let listener = make()?;
    bind(&listener, address).map_err(|e| setup_failure("bind", e))?;
    let [sender, receiver] =
        self_connect::connect_pair(&listener, address, make, is_from_this_process, setup)?;
    open_endpoints(sender, receiver, setup)
}
