//! Network settings that affect sockets between processes of one machine.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Settings of sockets and the loopback interface.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Network {
    /// Default send buffer of sockets, bytes.
    pub wmem_default_bytes: Option<u64>,
    /// Maximum send buffer of sockets, bytes.
    pub wmem_max_bytes: Option<u64>,
    /// Default receive buffer of sockets, bytes.
    pub rmem_default_bytes: Option<u64>,
    /// Maximum receive buffer of sockets, bytes.
    pub rmem_max_bytes: Option<u64>,
    /// Send buffer of a TCP socket, bytes: minimum, default, maximum (`net.ipv4.tcp_wmem`).
    pub tcp_wmem: Option<String>,
    /// Receive buffer of a TCP socket, bytes: minimum, default, maximum (`net.ipv4.tcp_rmem`).
    pub tcp_rmem: Option<String>,
    /// Congestion control algorithm of TCP.
    pub tcp_congestion_control: Option<String>,
    /// Whether TCP coalesces small writes while earlier ones wait to be sent: 0 no.
    pub tcp_autocorking: Option<u64>,
    /// Maximum number of connections that wait to be accepted.
    pub somaxconn: Option<u64>,
    /// Maximum number of packets that wait to be processed by a CPU, including those of the loopback interface.
    pub netdev_max_backlog: Option<u64>,
    /// Time that a read of a socket spins before it sleeps, us (`net.core.busy_read`).
    pub busy_read_us: Option<u64>,
    /// Maximum packet size of the loopback interface, bytes.
    pub loopback_mtu_bytes: Option<u64>,
}
