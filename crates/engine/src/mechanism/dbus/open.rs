//! Opens a connection as the option `via` says.

use std::os::unix::net::UnixStream;

use ipcperf_model::Failure;

use super::link::{Link, Seat, failed};
use super::{broker, daemon};
use crate::channel::Setup;

/// Opens the connection that the option `via` selects.
pub(super) fn open(setup: &Setup<'_>) -> Result<Link, Failure> {
    match setup.option(&super::VIA) {
        "peer" => peer(),
        "broker" => broker::open(setup),
        _ => daemon::open(setup),
    }
}

fn peer() -> Result<Link, Failure> {
    let (one, other) = UnixStream::pair().map_err(|error| failed("socketpair(AF_UNIX)", &error))?;
    Ok(Link { sockets: [one, other], seats: [Seat::PeerCaller, Seat::PeerCallee], broker: None })
}
