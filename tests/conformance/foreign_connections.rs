//! Other local processes that connect to listening sockets while a run is set up.

use std::collections::BTreeSet;
use std::io::Write;
use std::net::{Ipv4Addr, SocketAddrV4, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use ipcperf_engine::mechanism;
use rustix::net::sockopt::set_socket_reuseaddr;
use rustix::net::{
    AddressFamily, SendFlags, SocketAddrUnix, SocketType, bind, connect, getsockname, send, socket,
};

use crate::results::ResultsFile;
use crate::sandbox::Sandbox;
use crate::skip::skip;

/// Bytes that a stranger sends: more than peers tell each other before a run.
const NONSENSE: [u8; 256] = [b'?'; 256];
/// Runs of each mechanism, without the first block.
const RUNS: usize = 48;

/// The first process that connects must not become the peer.
#[test]
fn runs_are_made_whoever_connects_to_every_port() {
    let before = listening();
    let connect = || listening().difference(&before).copied().for_each(connect_to);
    with_stranger(connect, || {
        assert_measured("tcp", "");
        assert_measured("mptcp", "");
        assert_measured("zeromq", "--set zeromq.transport=tcp");
        assert_measured("vsock", "");
    });
}

#[test]
fn runs_are_made_whoever_connects_to_every_abstract_name() {
    with_stranger(connect_to_abstract_names, || {
        let options = "--set unix-stream-named.address=abstract";
        assert_measured("unix-stream-named", options);
        assert_measured("unix-stream-named", &format!("{options} --mode 2exec"));
    });
}

/// Datagrams reach a socket from the moment when it is bound.
#[test]
fn runs_are_made_whoever_sends_to_every_path() {
    with_stranger(send_to_paths, || {
        for name in ["unix-dgram", "unix-seqpacket", "unix-stream-named", "eventfd", "posix-mq"] {
            assert_measured(name, "--mode 2exec");
        }
    });
}

/// A port that is known in advance gets a foreign connection the moment it listens.
#[test]
fn runs_are_made_whoever_connects_to_a_named_port() {
    let (_reserved, port) = reserved_port();
    let options = format!("--set tcp.port={port}");
    with_stranger(
        || connect_to(port),
        || {
            assert_measured("tcp", &options);
            assert_measured("tcp", &format!("{options} --mode 2exec"));
        },
    );
}

/// Returns a free port, with a socket that reserves it: while the socket exists, the kernel chooses the port for no
/// other program. It does not listen, so that a program that names the port can.
fn reserved_port() -> (OwnedFd, u16) {
    let socket = socket(AddressFamily::INET, SocketType::STREAM, None).expect("a socket");
    set_socket_reuseaddr(&socket, true).expect("an option");
    bind(&socket, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0)).expect("a port");
    let address = getsockname(&socket).expect("its address");
    let address = SocketAddrV4::try_from(address).expect("of IPv4");
    (socket, address.port())
}

#[test]
fn a_port_that_another_program_uses_is_a_failure_with_a_way_out() {
    let taken = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    let port = taken.local_addr().expect("its number").port();
    let sandbox = Sandbox::open();
    let arguments = format!("-m tcp --set tcp.port={port} -b 64 --total 64 --repetitions 1");
    sandbox.finish(sandbox.measuring(&arguments)).expect(4);
    let file = ResultsFile::read(&sandbox.results());
    assert!(!file.failures.is_empty());
    for failure in file.failures.iter().map(ToString::to_string) {
        assert!(failure.contains(&format!("port {port} of 127.0.0.1")), "{failure}");
        assert!(failure.contains("choose another port"), "{failure}");
    }
}

/// Connects to `port` of this machine if something listens there, and sends nonsense.
fn connect_to(port: u16) {
    let address = SocketAddrV4::new(Ipv4Addr::LOCALHOST, port).into();
    // Refused most of the time.
    if let Ok(mut stream) = TcpStream::connect_timeout(&address, Duration::from_millis(20)) {
        let _ = stream.write_all(&NONSENSE);
    }
}

/// Connects to every abstract socket with a name like ours.
fn connect_to_abstract_names() {
    let table = std::fs::read_to_string("/proc/net/unix").unwrap_or_default();
    let names = table.lines().filter_map(|line| line.split_whitespace().nth(7)?.strip_prefix('@'));
    for name in names.filter(|name| name.contains("ipcperf")) {
        let address = SocketAddr::from_abstract_name(name).expect("a name that exists");
        // Usually gone by now.
        if let Ok(mut stream) = UnixStream::connect_addr(&address) {
            let _ = stream.write_all(&NONSENSE);
        }
    }
}

/// Sends nonsense to every socket at a path like ours, whatever its type.
fn send_to_paths() {
    let table = std::fs::read_to_string("/proc/net/unix").unwrap_or_default();
    let paths = table.lines().filter_map(|line| line.split_whitespace().nth(7));
    for path in paths.filter(|path| path.starts_with('/') && path.contains("ipcperf-run-")) {
        let Ok(address) = SocketAddrUnix::new(path) else { continue };
        for kind in [SocketType::DGRAM, SocketType::SEQPACKET, SocketType::STREAM] {
            let socket = socket(AddressFamily::UNIX, kind, None).expect("a socket");
            // Another type, or gone by now.
            if connect(&socket, &address).is_ok() {
                let _ = send(&socket, &NONSENSE, SendFlags::DONTWAIT | SendFlags::NOSIGNAL);
            }
        }
    }
}

/// Does `work` while a thread calls `disturb` repeatedly.
fn with_stranger(disturb: impl Fn() + Sync, work: impl FnOnce()) {
    struct Ending<'a>(&'a AtomicBool);
    impl Drop for Ending<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                disturb();
            }
        });
        // Ends the thread if the test fails, too.
        let _ending = Ending(&is_over);
        work();
    });
}

fn assert_measured(name: &str, options: &str) {
    let mechanism = mechanism::find(&name.into()).expect("a mechanism");
    if let Err(missing) = mechanism.available() {
        return skip(name, &missing.reason);
    }
    let sandbox = Sandbox::open();
    let arguments = format!(
        "-m {name} {options} -w round-trip -b 64 --total 6400 --verify --repetitions {RUNS} \
         --timeout 60"
    );
    sandbox.finish(sandbox.measuring(&arguments)).expect(0);
    let file = ResultsFile::read(&sandbox.results());
    assert!(file.samples.len() >= RUNS, "{name}: {}", file.samples.len());
    assert_eq!(file.failure_kinds(), Vec::<&str>::new(), "{name}");
    sandbox.assert_nothing_left();
}

/// Returns the TCP ports in state LISTEN, on loopback and on all addresses.
fn listening() -> BTreeSet<u16> {
    const LISTEN: &str = "0A";
    let table = std::fs::read_to_string("/proc/net/tcp").unwrap_or_default();
    let port = |line: &str| {
        let mut fields = line.split_whitespace();
        let (_, port) = fields.nth(1)?.split_once(':')?;
        let port = u16::from_str_radix(port, 16).ok()?;
        (fields.nth(1)? == LISTEN).then_some(port)
    };
    table.lines().skip(1).filter_map(port).collect()
}
