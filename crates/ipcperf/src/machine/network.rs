//! What the network's settings do to sockets between processes of one machine.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::kernel_limits::spaced;
use super::read::{line, number};

/// Sockets and the loopback interface.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Network {
    /// Default send buffer of sockets.
    pub(crate) wmem_default_bytes: Option<u64>,
    /// Largest send buffer of sockets.
    pub(crate) wmem_max_bytes: Option<u64>,
    /// Default receive buffer of sockets.
    pub(crate) rmem_default_bytes: Option<u64>,
    /// Largest receive buffer of sockets.
    pub(crate) rmem_max_bytes: Option<u64>,
    /// Send buffer of a TCP socket, bytes: least, default, most (`net.ipv4.tcp_wmem`).
    pub(crate) tcp_wmem: Option<String>,
    /// Receive buffer of a TCP socket, bytes: least, default, most (`net.ipv4.tcp_rmem`).
    pub(crate) tcp_rmem: Option<String>,
    /// TCP's congestion control.
    pub(crate) tcp_congestion_control: Option<String>,
    /// Whether TCP gathers small writes while others wait to be sent: 0 no.
    pub(crate) tcp_autocorking: Option<u64>,
    /// Connections that may wait to be accepted.
    pub(crate) somaxconn: Option<u64>,
    /// Packets that may wait for a CPU to take them in, the loopback interface's too.
    pub(crate) netdev_max_backlog: Option<u64>,
    /// How long a read of a socket spins before it sleeps (`net.core.busy_read`).
    pub(crate) busy_read_us: Option<u64>,
    /// Largest packet of the loopback interface.
    pub(crate) loopback_mtu_bytes: Option<u64>,
}

impl Network {
    pub(super) fn read() -> Self {
        let core = |name: &str| number(format!("/proc/sys/net/core/{name}"));
        let tcp = |name: &str| line(format!("/proc/sys/net/ipv4/{name}"));
        Self {
            wmem_default_bytes: core("wmem_default"),
            wmem_max_bytes: core("wmem_max"),
            rmem_default_bytes: core("rmem_default"),
            rmem_max_bytes: core("rmem_max"),
            tcp_wmem: tcp("tcp_wmem").map(|text| spaced(&text)),
            tcp_rmem: tcp("tcp_rmem").map(|text| spaced(&text)),
            tcp_congestion_control: tcp("tcp_congestion_control"),
            tcp_autocorking: tcp("tcp_autocorking").and_then(|text| text.parse().ok()),
            somaxconn: core("somaxconn"),
            netdev_max_backlog: core("netdev_max_backlog"),
            busy_read_us: core("busy_read"),
            loopback_mtu_bytes: number("/sys/class/net/lo/mtu"),
        }
    }
}
