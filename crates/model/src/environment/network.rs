//! What the network's settings do to sockets between processes of one machine.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Sockets and the loopback interface.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Network {
    /// Default send buffer of sockets.
    pub wmem_default_bytes: Option<u64>,
    /// Largest send buffer of sockets.
    pub wmem_max_bytes: Option<u64>,
    /// Default receive buffer of sockets.
    pub rmem_default_bytes: Option<u64>,
    /// Largest receive buffer of sockets.
    pub rmem_max_bytes: Option<u64>,
    /// Send buffer of a TCP socket, bytes: least, default, most (`net.ipv4.tcp_wmem`).
    pub tcp_wmem: Option<String>,
    /// Receive buffer of a TCP socket, bytes: least, default, most (`net.ipv4.tcp_rmem`).
    pub tcp_rmem: Option<String>,
    /// TCP's congestion control.
    pub tcp_congestion_control: Option<String>,
    /// Whether TCP gathers small writes while others wait to be sent: 0 no.
    pub tcp_autocorking: Option<u64>,
    /// Connections that may wait to be accepted.
    pub somaxconn: Option<u64>,
    /// Packets that may wait for a CPU to take them in, the loopback interface's too.
    pub netdev_max_backlog: Option<u64>,
    /// How long a read of a socket spins before it sleeps (`net.core.busy_read`).
    pub busy_read_us: Option<u64>,
    /// Largest packet of the loopback interface.
    pub loopback_mtu_bytes: Option<u64>,
}
