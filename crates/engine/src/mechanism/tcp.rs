//! `tcp`: a TCP connection over the loopback interface.

use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::OwnedFd;

use ipcperf_model::mechanism::{
    Boundaries, Delivery, Helper, PayloadPath, PayloadTransfer, PeerDeath, Unrelated,
};
use ipcperf_model::{Failure, Mode, Role, Unavailable};
use rustix::io::Errno;
use rustix::net::sockopt::{set_socket_reuseaddr, set_tcp_nodelay};
use rustix::net::{AddressFamily, Protocol, SocketType, bind, getsockname};

use super::meeting_socket::{accept_peer, any_user, connect_to_peer};
use super::self_connect::{connect_pair, has_peer_address};
use super::setup_failure::setup_failure;
use super::socket::{SocketEnd, open_endpoints, own_endpoint, set_buffers};
use super::waiting::{self, AnyWait, WAIT, WAITS};
use crate::channel::{
    Channel, Documentation, Granted, MULTIPLEX, ManyPeers, Mechanism, Meet, Meeting, Opened,
    OptionSpec, OptionValues, Setup,
};
use crate::platform::close_on_exec::{SocketFlags, socket_with};

/// Option that sets `TCP_NODELAY`.
const NODELAY: OptionSpec = OptionSpec {
    name: "nodelay",
    about: "on: send small writes at once (TCP_NODELAY); off: Nagle's algorithm may combine them",
    values: OptionValues::OneOf(&["on", "off"]),
    default: "on",
};

/// Option that sets the port.
const PORT: OptionSpec = OptionSpec {
    name: "port",
    about: "port to listen on; any: a free port",
    values: OptionValues::Number(1..=65_535),
    default: "any",
};

/// Facts about `tcp`.
pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "tcp",
    about: "TCP over the loopback interface",
    boundaries: Boundaries::None,
    delivery: Delivery::Reliable,
    path: PayloadPath::Kernel,
    waits: WAITS,
    payload: PayloadTransfer::Copied,
    peer_death: PeerDeath::EofOrError,
    unrelated: Unrelated::Yes,
    helper: Helper::KernelThread("ksoftirqd"),
    many_peers: ManyPeers::Multiplexed,
    options: &[NODELAY, PORT, WAIT, MULTIPLEX],
    modes: &Mode::ALL,
    documentation: Documentation {
        how_it_works: "The data passes through the whole network stack, but not over a network. \
            Segments of up to 64 KiB are queued, acknowledged and delivered to the receiving \
            socket, mostly within the sender's own system call. In mode 2exec, the receiver listens and the \
            sender connects; the receiver accepts only the connection that names the secret of the run.",
        message_boundaries: "None: a read returns what has arrived, up to the requested size.",
        minimum_kernel: "Any.",
        defaults_that_matter: "By default (nodelay=on), ipcperf sets TCP_NODELAY. The kernel itself does not set \
            it by default. Buffers grow automatically (net.ipv4.tcp_wmem, net.ipv4.tcp_rmem). If --kernel-buffer \
            requests a size, the buffers keep this size. ipcperf requests the size before it makes the connection. \
            If a buffer were made smaller afterwards, the connection would stall on segments for which the buffer \
            has no room.",
        references: &["man:tcp(7)", "man:ip(7)", "man:socket(7)"],
    },
    availability: || available(SocketType::STREAM),
    execute: waiting::execute::<Tcp, AnyWait>,
    meet: Some(waiting::meet::<Tcp, AnyWait>),
    ..Mechanism::BASE
};

/// Checks that a socket can be bound to the loopback address.
pub(super) fn available(kind: SocketType) -> Result<(), Unavailable> {
    bind_loopback(kind, SocketFlags::CLOEXEC, None, ANY_PORT).map(drop).map_err(|errno| {
        Unavailable {
            reason: format!("no socket on 127.0.0.1: {errno}"),
            remedy: "bring the loopback interface up: ip link set lo up".to_owned(),
        }
    })
}

/// Port number with which the system chooses a free port.
pub(super) const ANY_PORT: u16 = 0;

/// Creates a socket bound to `port` of the loopback address. A port given by number is reusable even if a
/// lingering connection has just used it.
pub(super) fn bind_loopback(
    kind: SocketType,
    flags: SocketFlags,
    protocol: Option<Protocol>,
    port: u16,
) -> Result<OwnedFd, Errno> {
    let socket = socket_with(AddressFamily::INET, kind, flags, protocol)?;
    if port != ANY_PORT {
        set_socket_reuseaddr(&socket, true)?;
    }
    bind(&socket, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, port))?;
    Ok(socket)
}

struct Tcp;

impl Channel for Tcp {
    type End = SocketEnd<false>;

    fn open(setup: &Setup<'_>) -> Result<Opened<Self::End>, Failure> {
        let (sender, receiver) = connect_loopback(setup, None)?;
        open_endpoints(sender, receiver, setup)
    }
}

impl Meet for Tcp {
    fn meet(setup: &Setup<'_>, meeting: &Meeting<'_>) -> Result<(Self::End, Granted), Failure> {
        let socket = match meeting.role() {
            Role::Receiver => {
                let listener = listener(setup, None)?;
                let address = own_address(&listener)?;
                publish_port(&listener, "port", meeting)?;
                accept_peer(&listener, &address.to_string(), any_user, meeting)?
            }
            _ => {
                let address = published_address("port", meeting)?;
                let make = || make(setup, None);
                connect_to_peer(make, &address, &address.to_string(), meeting)?
            }
        };
        set_nodelay(&socket, setup)?;
        own_endpoint(socket, setup)
    }
}

/// Returns the address of a socket that [`bind_loopback`] has made.
pub(super) fn own_address(socket: &OwnedFd) -> Result<SocketAddrV4, Failure> {
    getsockname(socket)
        .and_then(SocketAddrV4::try_from)
        .map_err(|errno| setup_failure("getsockname", errno))
}

/// Makes the port of `socket` known to the other peer, under `name`.
pub(super) fn publish_port(
    socket: &OwnedFd,
    name: &str,
    meeting: &Meeting<'_>,
) -> Result<(), Failure> {
    meeting.publish(name, &own_address(socket)?.port().to_string())
}

/// Waits for the port that the other peer has published under `name`, and returns its address.
pub(super) fn published_address(
    name: &str,
    meeting: &Meeting<'_>,
) -> Result<SocketAddrV4, Failure> {
    let port = meeting.published(name)?.parse();
    let port = port.map_err(|_| setup_failure("reading a port", Errno::BADMSG))?;
    Ok(SocketAddrV4::new(Ipv4Addr::LOCALHOST, port))
}

/// Creates a socket with the buffers that `setup` requests, bound to the port that it names.
fn listener(setup: &Setup<'_>, protocol: Option<Protocol>) -> Result<OwnedFd, Failure> {
    let (stream, flags) = (SocketType::STREAM, SocketFlags::CLOEXEC);
    let port = setup.number(&PORT).and_then(|port| port.try_into().ok()).unwrap_or(ANY_PORT);
    let listener =
        bind_loopback(stream, flags, protocol, port).map_err(|e| bind_failure(port, e))?;
    set_buffers(&listener, setup)?;
    Ok(listener)
}

/// Creates a socket that will connect, with the buffers that `setup` requests.
fn make(setup: &Setup<'_>, protocol: Option<Protocol>) -> Result<OwnedFd, Failure> {
    let (stream, flags) = (SocketType::STREAM, SocketFlags::CLOEXEC);
    let socket = socket_with(AddressFamily::INET, stream, flags, protocol)
        .map_err(|e| setup_failure("socket(AF_INET)", e))?;
    set_buffers(&socket, setup)?;
    Ok(socket)
}

fn set_nodelay(socket: &OwnedFd, setup: &Setup<'_>) -> Result<(), Failure> {
    set_tcp_nodelay(socket, setup.option(&NODELAY) == "on")
        .map_err(|e| setup_failure("TCP_NODELAY", e))
}

/// Returns both ends of a connection. Buffers are requested before it is made: the segment size and the
/// window are negotiated then, and a small buffer set later stalls on segments for which it has no room.
pub(super) fn connect_loopback(
    setup: &Setup<'_>,
    protocol: Option<Protocol>,
) -> Result<(OwnedFd, OwnedFd), Failure> {
    let listener = listener(setup, protocol)?;
    let address = getsockname(&listener).map_err(|e| setup_failure("getsockname", e))?;
    let make = || make(setup, protocol);
    let [sender, receiver] = connect_pair(&listener, &address, make, has_peer_address, setup)?;
    for socket in [&sender, &receiver] {
        set_nodelay(socket, setup)?;
    }
    Ok((sender, receiver))
}

/// Returns the failure to bind to `port` of the loopback address.
fn bind_failure(port: u16, errno: Errno) -> Failure {
    if port == ANY_PORT {
        return setup_failure("binding to a free port of 127.0.0.1", errno);
    }
    let failure = setup_failure(&format!("binding to port {port} of 127.0.0.1"), errno);
    match errno {
        Errno::ADDRINUSE => failure.with_remedy(format!(
            "another program uses port {port} (to find it: ss -tlnp sport = :{port}); choose another port, or port=any"
        )),
        Errno::ACCESS => failure.with_remedy(
            "choose a port from net.ipv4.ip_unprivileged_port_start (1024) on, or port=any",
        ),
        _ => failure,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::net::{TcpListener, TcpStream};
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;
    use std::time::Duration;

    use rustix::net::sockopt::{Timeout, set_socket_timeout};

    use super::*;

    #[test]
    fn a_port_in_use_is_a_failure_that_names_it_and_a_way_out() {
        let taken = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = taken.local_addr().unwrap().port();
        let options = BTreeMap::from([("port".to_owned(), port.to_string())]);
        let failure = connect_loopback(&Setup::with_options(&options), None).unwrap_err();
        assert_eq!(failure.errno, Some(Errno::ADDRINUSE.raw_os_error()));
        assert!(failure.place.contains(&format!("port {port}")), "{failure}");
        assert!(failure.remedy.unwrap().contains("another port"));
    }

    /// Another client connects to the named port repeatedly during the test.
    #[test]
    fn both_ends_are_those_of_one_connection_whoever_connects_meanwhile() {
        let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap();
        let options = BTreeMap::from([("port".to_owned(), free.port().to_string())]);
        let setup = Setup::with_options(&options);
        let is_over = AtomicBool::new(false);
        let arrived: Vec<_> = thread::scope(|scope| {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    // Refused most of the time.
                    let _ = TcpStream::connect(free);
                }
            });
            let arrived = (0..300).map(|_| byte_sent(connect_loopback(&setup, None))).collect();
            is_over.store(true, Ordering::Relaxed);
            arrived
        });
        assert!(arrived.iter().all(|got| *got == Ok(7)), "{arrived:?}");
    }

    /// Sends a byte to the other end, which has 5 s to receive it.
    fn byte_sent(ends: Result<(OwnedFd, OwnedFd), Failure>) -> Result<u8, String> {
        let (sender, receiver) = ends.map_err(|failure| failure.to_string())?;
        set_socket_timeout(&receiver, Timeout::Recv, Some(Duration::from_secs(5)))
            .map_err(|errno| errno.to_string())?;
        rustix::io::write(&sender, &[7]).map_err(|errno| errno.to_string())?;
        let mut got = [0];
        rustix::io::read(&receiver, &mut got).map_err(|errno| errno.to_string())?;
        Ok(got[0])
    }
}
