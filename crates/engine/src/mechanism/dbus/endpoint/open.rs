//! Opens a connection as the option `via` says.

use std::os::unix::net::UnixStream;

use ipcperf_model::Failure;

use super::link::{DbusLink, DbusRole, setup_io_failure};
use super::{broker, daemon};
use crate::channel::Setup;
use crate::mechanism::dbus::VIA;

/// Opens the connection that the option `via` selects.
pub(super) fn open(setup: &Setup<'_>) -> Result<DbusLink, Failure> {
    match setup.option(&VIA) {
        "peer" => peer(),
        "broker" => broker::open(setup),
        _ => daemon::open(setup),
    }
}

fn peer() -> Result<DbusLink, Failure> {
    let (one, other) =
        UnixStream::pair().map_err(|error| setup_io_failure("socketpair(AF_UNIX)", &error))?;
    Ok(DbusLink {
        sockets: [one, other],
        roles: [DbusRole::PeerCaller, DbusRole::PeerCallee],
        broker_pid: None,
    })
}
