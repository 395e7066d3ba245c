//! `via=broker`: a private dbus-broker for the run, controlled as its launcher would control it.
//!
//! A method call on an inherited socket passes the listening socket and the policy to it:
//! `org.bus1.DBus.Broker`, as in `src/launch/launcher.c` of its source.

use std::os::fd::AsFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::process::Command;

use ipcperf_model::{Failure, FailureKind, Unavailable};
use zbus::zvariant::{Fd, ObjectPath, SerializeValue};

use super::connection::{connection_builder, new_runtime};
use super::link::{DbusLink, connect_to_bus, setup_io_failure};
use super::policy::allow_all;
use super::process::{self, Controller, Program};
use crate::channel::Setup;
use crate::mechanism::TempDir;

const PROGRAM: Program = Program { name: "dbus-broker", package: "dbus-broker" };
/// Limit on the bytes that each user may have in flight; dbus-broker counts in 32 bits.
const MAX_IN_FLIGHT_BYTES: &str = "4000000000";
/// Machine ID. dbus-broker requires one, but nothing reads it here.
const MACHINE_ID: &str = "00000000000000000000000000000001";

/// Checks that the program is installed.
pub(super) fn available() -> Result<(), Unavailable> {
    PROGRAM.available()
}

/// Starts the broker, passes it a listening socket, and connects both peers.
pub(super) fn open(setup: &Setup<'_>) -> Result<DbusLink, Failure> {
    // The socket needs its name in the file system only until both peers are connected.
    let folder = TempDir::new()?;
    let socket = folder.path("bus");
    let listener = UnixListener::bind(&socket).map_err(|error| setup_io_failure("bind", &error))?;
    listener.set_nonblocking(true).map_err(|error| setup_io_failure("ioctl(FIONBIO)", &error))?;
    let (ours, its) = UnixStream::pair().map_err(|error| setup_io_failure("socketpair", &error))?;
    let mut command = Command::new(PROGRAM.name);
    command.args([
        "--machine-id",
        MACHINE_ID,
        "--max-bytes",
        MAX_IN_FLIGHT_BYTES,
        "--max-fds",
        "4096",
    ]);
    let log = folder.path("log");
    let pid = process::start(command, setup.cpus, &log, Some(its.into()), |_| Ok(()))?;
    let controller =
        set_up_listener(ours, &listener).map_err(|error| listen_failure(&error, &log))?;
    process::keep_controller(controller);
    connect_to_bus(&socket, pid)
}

/// Makes the broker listen on `listener` and allow everything to everyone.
fn set_up_listener(socket: UnixStream, listener: &UnixListener) -> zbus::Result<Controller> {
    let runtime = new_runtime()?;
    let path = ObjectPath::from_static_str_unchecked("/org/bus1/DBus/Listener/0");
    let policy = allow_all();
    let connection = runtime.block_on(async {
        let connection = connection_builder(socket)?.p2p().build().await?;
        let arguments = (path, Fd::from(listener.as_fd()), SerializeValue(&policy));
        let (object, interface) = ("/org/bus1/DBus/Broker", Some("org.bus1.DBus.Broker"));
        let nobody = None::<&str>;
        connection.call_method(nobody, object, interface, "AddListener", &arguments).await?;
        Ok::<_, zbus::Error>(connection)
    })?;
    Ok(Controller { _connection: connection, _runtime: runtime })
}

fn listen_failure(error: &zbus::Error, log: &Path) -> Failure {
    let last_line = process::last_broker_line(log);
    let place = format!("dbus-broker refused to listen: {error} {last_line}");
    Failure::new(FailureKind::SetUp, place.trim_end())
        .with_remedy("use dbus-broker 32 or newer: older versions expect a policy of another type")
}
