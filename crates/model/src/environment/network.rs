//! Network settings that affect sockets between processes of one machine.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Settings of sockets and the loopback interface.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Network {
    /// Default size of the send buffer of a socket, bytes.
    pub wmem_default_bytes: Option<u64>,
    /// Maximum size of the send buffer of a socket, bytes.
    pub wmem_max_bytes: Option<u64>,
    /// Default size of the receive buffer of a socket, bytes.
    pub rmem_default_bytes: Option<u64>,
    /// Maximum size of the receive buffer of a socket, bytes.
    pub rmem_max_bytes: Option<u64>,
    /// Minimum, default and maximum size of the send buffer of a TCP socket, bytes (`net.ipv4.tcp_wmem`).
    pub tcp_wmem: Option<String>,
    /// Minimum, default and maximum size of the receive buffer of a TCP socket, bytes (`net.ipv4.tcp_rmem`).
    pub tcp_rmem: Option<String>,
    /// Congestion control algorithm of TCP.
    pub tcp_congestion_control: Option<String>,
    /// Whether TCP combines small writes while earlier writes wait to be sent (`net.ipv4.tcp_autocorking`): 0 no, 1
    /// yes.
    pub tcp_autocorking: Option<u64>,
    /// Maximum number of connections that may wait to be accepted on a listening socket (`net.core.somaxconn`).
    pub somaxconn: Option<u64>,
    /// Maximum number of received packets that may wait for each CPU, including packets of the loopback interface
    /// (`net.core.netdev_max_backlog`).
    pub netdev_max_backlog: Option<u64>,
    /// Time for which a read of a socket spins before it sleeps, us (`net.core.busy_read`).
    pub busy_read_us: Option<u64>,
    /// Maximum packet size of the loopback interface, bytes.
    pub loopback_mtu_bytes: Option<u64>,
}
