//! `via=broker`: a dbus-broker of the run's own, driven as its launcher would drive it.
//!
//! It is told of the listening socket and of the policy by a method call on a socket that it
//! inherits: `org.bus1.DBus.Broker`, as in `src/launch/launcher.c` of its sources.

use std::os::fd::AsFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::process::Command;

use ipcperf_model::{Failure, FailureKind, Unavailable};
use zbus::zvariant::{Fd, ObjectPath, SerializeValue};

use super::link::{Link, failed, to_bus};
use super::party::{current_thread, on};
use super::policy::allow_all;
use super::process::{self, Controller, Program};
use crate::channel::Setup;
use crate::mechanism::Scratch;

const PROGRAM: Program = Program { name: "dbus-broker", package: "dbus-broker" };
/// What each user may have under way, bytes; it counts in 32 bits.
const MOST_BYTES: &str = "4000000000";
/// It takes one for granted; nobody asks for it.
const MACHINE: &str = "00000000000000000000000000000001";

/// Whether the program is here.
pub(super) fn available() -> Result<(), Unavailable> {
    PROGRAM.available()
}

/// Starts it, hands it a listening socket, and connects both parties.
pub(super) fn open(setup: &Setup<'_>) -> Result<Link, Failure> {
    // Once both are connected nobody needs a name in the file system any more.
    let folder = Scratch::new()?;
    let socket = folder.path("bus");
    let listener = UnixListener::bind(&socket).map_err(|error| failed("bind", &error))?;
    listener.set_nonblocking(true).map_err(|error| failed("ioctl(FIONBIO)", &error))?;
    let (ours, its) = UnixStream::pair().map_err(|error| failed("socketpair", &error))?;
    let mut command = Command::new(PROGRAM.name);
    command.args(["--machine-id", MACHINE, "--max-bytes", MOST_BYTES, "--max-fds", "4096"]);
    let log = folder.path("log");
    let pid = process::start(command, setup.cpus, &log, Some(its.into()), |_| Ok(()))?;
    let controller = drive(ours, &listener).map_err(|error| refused(&error, &log))?;
    process::keep(controller);
    to_bus(&socket, pid)
}

/// Has the broker listen on `listener` and let everyone do everything.
fn drive(socket: UnixStream, listener: &UnixListener) -> zbus::Result<Controller> {
    let runtime = current_thread()?;
    let path = ObjectPath::from_static_str_unchecked("/org/bus1/DBus/Listener/0");
    let policy = allow_all();
    let connection = runtime.block_on(async {
        let connection = on(socket)?.p2p().build().await?;
        let arguments = (path, Fd::from(listener.as_fd()), SerializeValue(&policy));
        let (object, interface) = ("/org/bus1/DBus/Broker", Some("org.bus1.DBus.Broker"));
        let nobody = None::<&str>;
        connection.call_method(nobody, object, interface, "AddListener", &arguments).await?;
        Ok::<_, zbus::Error>(connection)
    })?;
    Ok(Controller { _connection: connection, _runtime: runtime })
}

fn refused(error: &zbus::Error, log: &Path) -> Failure {
    let said = process::last_words(log);
    let place = format!("dbus-broker refused to listen: {error} {said}");
    Failure::new(FailureKind::SetUp, place.trim_end())
        .with_remedy("use dbus-broker 32 or newer: older ones have a policy of another type")
}
