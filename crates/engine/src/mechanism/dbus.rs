//! Facts that `dbus-copy` and `dbus-memfd` share in the list of mechanisms.

#[cfg(target_os = "linux")]
pub(super) mod endpoint;

#[cfg(target_os = "linux")]
use endpoint::{broker_available, daemon_available};

use ipcperf_model::Mode;
use ipcperf_model::mechanism::Library;

#[cfg(not(target_os = "linux"))]
use super::needs_linux::{unavailable as broker_available, unavailable as daemon_available};
use crate::channel::{Choice, OptionSpec, OptionValues};

/// The client library.
pub(super) const ZBUS: Library =
    Library { name: "zbus", version: env!("VERSION_OF_ZBUS"), license: "MIT" };

/// Option of both mechanisms that selects the broker.
pub(super) const VIA: OptionSpec = OptionSpec {
    name: "via",
    about: "what forwards the messages: a private dbus-daemon (daemon), a private dbus-broker \
        (broker), or nothing (peer)",
    values: OptionValues::Choices(&[
        Choice { value: "daemon", availability: daemon_available },
        Choice { value: "broker", availability: broker_available },
        Choice { value: "peer", availability: || Ok(()) },
    ]),
    default: "daemon",
};

/// Modes with two peers: zbus has no nonblocking call.
pub(super) const MODES: [Mode; 2] = [Mode::TwoThreads, Mode::TwoProcesses];
