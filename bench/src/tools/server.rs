//! Server process of a tool: started, waited for, ended.

use std::net::{Ipv4Addr, TcpListener};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::command;
use crate::error::BenchError;

/// Maximum time until a server listens.
const START_TIMEOUT: Duration = Duration::from_secs(5);
/// Interval between checks. Nothing is measured meanwhile.
const POLL_INTERVAL: Duration = Duration::from_millis(2);
/// Kernel codes for a listening TCP socket and for a UDP socket without a peer.
const LISTENING: [&str; 2] = ["0A", "07"];

/// A server that is killed when this value is dropped.
#[derive(Debug)]
pub(super) struct Server(Child);

impl Server {
    /// Starts `command` and returns once it listens on `port`.
    pub(super) fn start(mut command: Command, port: u16) -> Result<Self, BenchError> {
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let child =
            child.spawn().map_err(|error| BenchError::Start("a server".to_owned(), error))?;
        let server = Self(child);
        let end = Instant::now() + START_TIMEOUT;
        while !is_open(port) {
            if Instant::now() > end {
                return Err(BenchError::Timeout {
                    program: "a server".into(),
                    deadline: START_TIMEOUT,
                });
            }
            std::thread::sleep(POLL_INTERVAL);
        }
        Ok(server)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may be gone already. Reaping it here makes its CPU time count as ours.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Returns `program` with the arguments `words`, killed when this program ends for any reason: servers never end by
/// themselves.
pub(super) fn with_parent_death_signal<const N: usize>(program: &str, words: [&str; N]) -> Command {
    let mut command = command("setpriv", ["--pdeathsig", "KILL", program]);
    command.args(words);
    command
}

/// Returns a free port on the loopback address. It changes each time, because connections to the last one may linger.
pub(super) fn free_port() -> Result<u16, BenchError> {
    let failed = |error| BenchError::Io("looking for a free port".to_owned(), error);
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(failed)?;
    Ok(listener.local_addr().map_err(failed)?.port())
}

/// Whether a socket listens on `port`, from the kernel's tables: a server for a single client would take a test
/// connection for that client.
fn is_open(port: u16) -> bool {
    ["tcp", "tcp6", "udp", "udp6"]
        .iter()
        .filter_map(|protocol| std::fs::read_to_string(format!("/proc/net/{protocol}")).ok())
        .any(|table| is_in(&table, port))
}

/// Whether `table`, in the format of `/proc/net/tcp`, has an open socket on `port`.
fn is_in(table: &str, port: u16) -> bool {
    let port = format!(":{port:04X}");
    table.lines().skip(1).any(|line| {
        let mut words = line.split_whitespace().skip(1);
        let is_on_port = words.next().is_some_and(|local| local.ends_with(&port));
        is_on_port && words.nth(1).is_some_and(|state| LISTENING.contains(&state))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_is_open_while_someone_listens() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        assert!(is_open(port));
        drop(listener);
        // A process that another test forks at this moment holds the socket until its exec.
        let end = Instant::now() + START_TIMEOUT;
        while is_open(port) {
            assert!(Instant::now() < end, "still open");
            std::thread::sleep(POLL_INTERVAL);
        }
    }

    #[test]
    fn a_connection_that_lingers_is_not_open() {
        let line = |state| {
            format!("head\n 0: 0100007F:5265 00000000:0000 {state} 00000000:00000000 00:0 0 0 0")
        };
        assert!(is_in(&line("0A"), 21_093));
        assert!(is_in(&line("07"), 21_093));
        assert!(!is_in(&line("06"), 21_093));
        assert!(!is_in(&line("0A"), 21_094));
        assert!(!is_in("head\nnot a table\n\n", 21_093));
    }

    #[test]
    fn a_server_ends_with_its_value() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let server = Server::start(command("sleep", ["60"]), port).unwrap();
        let process = std::path::PathBuf::from(format!("/proc/{}", server.0.id()));
        assert!(process.exists());
        let start = Instant::now();
        drop(server);
        assert!(!process.exists());
        assert!(start.elapsed() < Duration::from_secs(30), "it exited by itself");
    }
}
