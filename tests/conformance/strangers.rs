//! Other local processes that connect to whatever listens while a run is opened.

use std::collections::BTreeSet;
use std::net::{Ipv4Addr, SocketAddrV4, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use ipcperf_engine::mechanism;

use crate::laboratory::Laboratory;
use crate::results::ResultsFile;
use crate::skip::skip;

/// Runs of each mechanism, those that warm up left out.
const RUNS: usize = 48;

/// Whoever connects first must not become the peer.
#[test]
fn runs_are_made_whoever_connects_to_every_port() {
    let before = listening();
    with_stranger(
        || listening().difference(&before).copied().collect(),
        || {
            for name in ["tcp", "mptcp", "zeromq", "vsock"] {
                assert_measured(name, "");
            }
        },
    );
}

/// A port that is known beforehand is connected to the moment that somebody listens there.
#[test]
fn runs_are_made_whoever_connects_to_a_named_port() {
    let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    let port = free.local_addr().expect("its number").port();
    drop(free);
    with_stranger(|| vec![port], || assert_measured("tcp", &format!("--set tcp.port={port}")));
}

#[test]
fn a_port_that_another_program_uses_is_a_failure_with_a_way_out() {
    let taken = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    let port = taken.local_addr().expect("its number").port();
    let laboratory = Laboratory::open();
    let arguments = format!("-m tcp --set tcp.port={port} -b 64 --total 64 --repetitions 1");
    laboratory.finish(laboratory.measuring(&arguments)).expect(4);
    let file = ResultsFile::read(&laboratory.results());
    assert!(!file.failures.is_empty());
    for failure in file.failures.iter().map(ToString::to_string) {
        assert!(failure.contains(&format!("port {port} of 127.0.0.1")), "{failure}");
        assert!(failure.contains("choose another port"), "{failure}");
    }
}

/// Does `work` while a thread connects to each of `ports` again and again.
fn with_stranger(ports: impl Fn() -> Vec<u16> + Send, work: impl FnOnce()) {
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
                for port in ports() {
                    let address = SocketAddrV4::new(Ipv4Addr::LOCALHOST, port).into();
                    // Refused but for moments.
                    let _ = TcpStream::connect_timeout(&address, Duration::from_millis(20));
                }
            }
        });
        // A test that fails ends the thread too.
        let _ending = Ending(&is_over);
        work();
    });
}

fn assert_measured(name: &str, options: &str) {
    let mechanism = mechanism::find(name).expect("a mechanism");
    if let Err(missing) = mechanism.available() {
        return skip(name, &missing.reason);
    }
    let laboratory = Laboratory::open();
    let transport = if name == "zeromq" { "--set zeromq.transport=tcp" } else { options };
    let arguments = format!(
        "-m {name} {transport} -w round-trip -b 64 --total 6400 --verify --repetitions {RUNS} \
         --deadline 60"
    );
    laboratory.finish(laboratory.measuring(&arguments)).expect(0);
    let file = ResultsFile::read(&laboratory.results());
    assert!(file.samples.len() >= RUNS, "{name}: {}", file.samples.len());
    assert_eq!(file.failure_kinds(), Vec::<&str>::new(), "{name}");
    laboratory.assert_nothing_left();
}

/// The ports of the loopback address and of all addresses on which somebody listens.
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
