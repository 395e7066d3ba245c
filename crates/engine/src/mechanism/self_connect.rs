//! Connects two sockets of this process to each other, even while other processes connect.
//!
//! Between `listen` and `accept` any local process can connect too, so the first accepted connection need not
//! be the run's own. Each is compared with the connecting socket: others are closed at once, and the next one
//! is awaited. Nothing here blocks, so other processes cannot delay a run for longer than [`TIMEOUT`].

use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use ipcperf_model::{Failure, FailureKind};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, ioctl_fionbio};
use rustix::net::addr::SocketAddrArg;
use rustix::net::sockopt::set_socket_linger;
use rustix::net::{connect, getpeername, getsockname, listen};

use super::setup_failure::setup_failure;
use crate::channel::{Blocking, Setup};
use crate::platform::close_on_exec::{SocketFlags, accept_with};
use crate::platform::socket_options::peer_pid;

/// Time for all attempts together. It is shorter than the default timeout of a run, so that the failure names
/// the cause.
const TIMEOUT: Duration = Duration::from_secs(5);
/// Time for one attempt. The kernel drops a connection that finds the listening socket's queue full and
/// retries it only after a second; a new attempt comes sooner.
const ATTEMPT_TIMEOUT: Duration = Duration::from_millis(200);
/// Pause after a failed attempt.
const RETRY_DELAY: Timespec = Timespec { tv_sec: 0, tv_nsec: 1_000_000 };
/// Length requested for the queue; the system grants at most `net.core.somaxconn`.
const BACKLOG: i32 = 4096;

/// Predicate that decides whether `accepted` is the other end of `sender`.
pub(super) type IsOwnConnection = fn(accepted: &OwnedFd, sender: &OwnedFd) -> Result<bool, Errno>;

/// Compares addresses: a TCP address identifies one connection at a time.
pub(super) fn has_peer_address(accepted: &OwnedFd, sender: &OwnedFd) -> Result<bool, Errno> {
    Ok(getpeername(accepted)? == Some(getsockname(sender)?))
}

/// Compares process IDs, for sockets whose connecting end has no name (Unix domain sockets). Only this
/// process connects under its ID, and it connects from one thread.
pub(super) fn is_from_this_process(accepted: &OwnedFd, _: &OwnedFd) -> Result<bool, Errno> {
    // A process of another PID namespace has the ID 0 here.
    Ok(u32::try_from(peer_pid(accepted)?) == Ok(std::process::id()))
}

/// A listening socket, and the number of foreign connections closed so far.
#[derive(Debug)]
struct Listener<'a> {
    socket: &'a OwnedFd,
    is_own: IsOwnConnection,
    foreign: u64,
}

/// Connects a socket created by `make` to `listener`, which is bound to `address`. Returns the connecting end
/// and the accepted one, in the blocking mode of `setup`. Calls `make` for each attempt.
pub(super) fn connect_pair(
    listener: &OwnedFd,
    address: &impl SocketAddrArg,
    make: impl Fn() -> Result<OwnedFd, Failure>,
    is_own: IsOwnConnection,
    setup: &Setup<'_>,
) -> Result<[OwnedFd; 2], Failure> {
    listen(listener, BACKLOG).map_err(|e| setup_failure("listen", e))?;
    ioctl_fionbio(listener, true).map_err(|e| setup_failure("ioctl(FIONBIO)", e))?;
    let (end, mut listener) =
        (Instant::now() + TIMEOUT, Listener { socket: listener, is_own, foreign: 0 });
    while Instant::now() < end {
        let sender = make()?;
        let tried =
            listener.try_connect(&sender, address).map_err(|e| setup_failure("connect", e))?;
        if let Some(receiver) = tried {
            for socket in [&sender, &receiver] {
                ioctl_fionbio(socket, setup.blocking == Blocking::Try)
                    .map_err(|e| setup_failure("ioctl(FIONBIO)", e))?;
            }
            return Ok([sender, receiver]);
        }
        poll(&mut [], Some(&RETRY_DELAY))
            .or_else(ignore_interruption)
            .map_err(|e| setup_failure("poll", e))?;
    }
    Err(connect_failure(listener.foreign))
}

fn connect_failure(foreign: u64) -> Failure {
    let seconds = TIMEOUT.as_secs();
    if foreign == 0 {
        let place = format!("this machine did not connect to itself within {seconds} s");
        let remedy = "check whether a packet filter drops the connection (nft list ruleset)";
        return Failure::from_errno(FailureKind::SetUp, place, Errno::TIMEDOUT.raw_os_error())
            .with_remedy(remedy);
    }
    let place = format!(
        "{foreign} connections of other processes, but none of this run, arrived within {seconds} s"
    );
    Failure::from_errno(FailureKind::SetUp, place, Errno::TIMEDOUT.raw_os_error())
        .with_remedy("stop the program that keeps connecting to ports of this machine")
}

impl Listener<'_> {
    /// Makes one attempt. Returns the accepted end, or `None` if another attempt is needed.
    fn try_connect(
        &mut self,
        sender: &OwnedFd,
        address: &impl SocketAddrArg,
    ) -> Result<Option<OwnedFd>, Errno> {
        ioctl_fionbio(sender, true)?;
        match connect(sender, address) {
            Ok(()) | Err(Errno::INPROGRESS) => self.await_own(sender),
            // The queue is full: of a Unix domain socket, or if the kernel refuses what it otherwise drops.
            Err(Errno::AGAIN | Errno::CONNREFUSED | Errno::CONNRESET | Errno::INTR) => {
                self.accept_own(sender)
            }
            Err(errno) => Err(errno),
        }
    }

    /// Accepts connections until the other end of `sender` arrives, the attempt fails, or its time is over.
    fn await_own(&mut self, sender: &OwnedFd) -> Result<Option<OwnedFd>, Errno> {
        let end = Instant::now() + ATTEMPT_TIMEOUT;
        loop {
            if let Some(own) = self.accept_own(sender)? {
                return Ok(Some(own));
            }
            let left = end.saturating_duration_since(Instant::now());
            let limit = Timespec { tv_sec: 0, tv_nsec: i64::from(left.subsec_nanos()) };
            let failed = PollFlags::ERR | PollFlags::HUP;
            let mut watched =
                [PollFd::new(self.socket, PollFlags::IN), PollFd::new(sender, PollFlags::empty())];
            poll(&mut watched, Some(&limit)).or_else(ignore_interruption)?;
            if left.is_zero() || watched[1].revents().intersects(failed) {
                // The other end may be in the queue nevertheless.
                return self.accept_own(sender);
            }
        }
    }

    /// Accepts queued connections up to the other end of `sender`, for no longer than one attempt.
    fn accept_own(&mut self, sender: &OwnedFd) -> Result<Option<OwnedFd>, Errno> {
        let end = Instant::now() + ATTEMPT_TIMEOUT;
        loop {
            match accept_with(self.socket, SocketFlags::CLOEXEC) {
                Ok(accepted) if (self.is_own)(&accepted, sender).unwrap_or(false) => {
                    return Ok(Some(accepted));
                }
                Ok(stranger) => self.close(stranger),
                Err(Errno::AGAIN) => return Ok(None),
                // The other side has given up this connection.
                Err(Errno::CONNABORTED | Errno::PROTO | Errno::INTR) => {}
                Err(errno) => return Err(errno),
            }
            if Instant::now() >= end {
                return Ok(None);
            }
        }
    }

    /// Closes a foreign connection with a reset, so that the port does not linger.
    fn close(&mut self, stranger: OwnedFd) {
        self.foreign += 1;
        // If the option is refused, the connection is closed like any other.
        let _ = set_socket_linger(&stranger, Some(Duration::ZERO));
        drop(stranger);
    }
}

fn ignore_interruption(errno: Errno) -> Result<usize, Errno> {
    if errno == Errno::INTR { Ok(0) } else { Err(errno) }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::io::Read;
    use std::net::{Ipv4Addr, TcpListener, TcpStream};

    use rustix::net::{AddressFamily, SocketType, socket_with};

    use super::*;

    /// Calls [`connect_pair`] at a socket to which `strangers` foreign connections have been made already.
    fn connect_with_foreign(
        strangers: usize,
        is_own: IsOwnConnection,
    ) -> (Result<[OwnedFd; 2], Failure>, Vec<TcpStream>) {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let strangers = (0..strangers).map(|_| TcpStream::connect(address).unwrap()).collect();
        let make = || {
            socket_with(AddressFamily::INET, SocketType::STREAM, SocketFlags::CLOEXEC, None)
                .map_err(|errno| setup_failure("socket", errno))
        };
        let options = BTreeMap::new();
        let setup = Setup::with_options(&options);
        (connect_pair(&listener.into(), &address, make, is_own, &setup), strangers)
    }

    #[test]
    fn connections_that_came_before_are_closed() {
        let (ends, strangers) = connect_with_foreign(3, has_peer_address);
        let [sender, receiver] = ends.unwrap();
        assert_eq!(getpeername(&receiver), Ok(Some(getsockname(&sender).unwrap())));
        for mut stranger in strangers {
            let error = stranger.read(&mut [0]).unwrap_err();
            assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset);
        }
        rustix::io::write(&sender, &[7]).unwrap();
        assert_eq!(rustix::io::read(&receiver, &mut [0_u8; 1][..]), Ok(1));
    }

    #[test]
    fn a_process_knows_its_own_connections() {
        let folder = std::env::temp_dir().join(format!("ipcperf-test-{}", std::process::id()));
        let listener = std::os::unix::net::UnixListener::bind(&folder).unwrap();
        let sender = std::os::unix::net::UnixStream::connect(&folder).unwrap().into();
        std::fs::remove_file(&folder).unwrap();
        let accepted = listener.accept().unwrap().0.into();
        assert_eq!(is_from_this_process(&accepted, &sender), Ok(true));
    }

    #[test]
    fn strangers_alone_are_a_failure_that_counts_them() {
        let failure = connect_with_foreign(2, |_, _| Ok(false)).0.unwrap_err();
        assert_eq!(failure.errno, Some(Errno::TIMEDOUT.raw_os_error()));
        assert!(failure.place.contains("connections of other processes"), "{failure}");
        assert!(failure.remedy.is_some());
    }
}
