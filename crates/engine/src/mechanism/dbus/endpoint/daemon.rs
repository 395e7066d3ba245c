//! `via=daemon`: a private dbus-daemon for the run.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use ipcperf_model::{Failure, FailureKind, Unavailable};

use super::link::{DbusLink, connect_to_bus, setup_io_failure};
use super::process::{self, Program};
use crate::channel::Setup;
use crate::mechanism::TempDir;

const PROGRAM: Program = Program { name: "dbus-daemon", package: "dbus-daemon" };

/// Checks that the program is installed.
pub(super) fn available() -> Result<(), Unavailable> {
    PROGRAM.available()
}

/// Starts the daemon, waits until it listens, and connects both peers.
pub(super) fn open(setup: &Setup<'_>) -> Result<DbusLink, Failure> {
    // The socket needs its name in the file system only until both peers are connected.
    let folder = TempDir::new()?;
    let (socket, configuration) = (folder.path("bus"), folder.path("bus.conf"));
    std::fs::write(&configuration, config_xml(&socket))
        .map_err(|error| setup_io_failure("writing the configuration of dbus-daemon", &error))?;
    let mut command = Command::new(PROGRAM.name);
    command.arg("--config-file").arg(&configuration);
    command.args(["--nofork", "--nopidfile", "--nosyslog", "--print-address"]);
    command.stdout(Stdio::piped());
    let log = folder.path("log");
    let pid = process::start(command, setup.cpus, &log, None, |child| {
        // The daemon prints its address once it listens.
        let mut address = String::new();
        let output = child.stdout.take();
        output.map(|output| BufReader::new(output).read_line(&mut address));
        if address.is_empty() { Err(start_failure(&log)) } else { Ok(()) }
    })?;
    connect_to_bus(&socket, pid)
}

fn start_failure(log: &Path) -> Failure {
    let last_line = process::last_broker_line(log);
    Failure::new(FailureKind::SetUp, format!("dbus-daemon exited before it listened: {last_line}"))
}

/// Returns a configuration in which anyone who can reach the socket may do anything and no limit binds: a
/// message may have the 128 MiB of the specification, and everything that the peers can have in flight fits.
fn config_xml(socket: &Path) -> String {
    let path = escape_address(socket);
    format!(
        r#"<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>session</type>
  <listen>unix:path={path}</listen>
  <auth>EXTERNAL</auth>
  <policy context="default">
    <allow send_destination="*"/>
    <allow receive_sender="*"/>
    <allow own="*"/>
  </policy>
  <limit name="max_incoming_bytes">1000000000</limit>
  <limit name="max_outgoing_bytes">1000000000</limit>
  <limit name="max_message_size">134217728</limit>
  <limit name="max_incoming_unix_fds">4096</limit>
  <limit name="max_outgoing_unix_fds">4096</limit>
  <limit name="max_message_unix_fds">64</limit>
  <limit name="auth_timeout">60000</limit>
</busconfig>
"#
    )
}

/// Escapes `path` for a D-Bus address: all but a few safe bytes become `%` and two hex digits. No byte with a
/// meaning in XML remains.
fn escape_address(path: &Path) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_/.*".contains(&byte);
    let bytes = path.as_os_str().as_encoded_bytes().iter();
    bytes
        .map(
            |&byte| {
                if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02x}") }
            },
        )
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_may_hold_anything() {
        assert_eq!(escape_address(Path::new("/tmp/a-b_c.1/bus")), "/tmp/a-b_c.1/bus");
        assert_eq!(escape_address(Path::new("/tmp/a b&<é,%")), "/tmp/a%20b%26%3c%c3%a9%2c%25");
    }
}
