//! Reads the network settings that affect sockets between processes of one machine.

use ipcperf_model::environment::Network;

use super::kernel_limits::normalize_spaces;
use super::read::{read_line, read_number};

/// Reads the settings.
pub(super) fn read() -> Network {
    let core = |name: &str| read_number(format!("/proc/sys/net/core/{name}"));
    let tcp = |name: &str| read_line(format!("/proc/sys/net/ipv4/{name}"));
    Network {
        wmem_default_bytes: core("wmem_default"),
        wmem_max_bytes: core("wmem_max"),
        rmem_default_bytes: core("rmem_default"),
        rmem_max_bytes: core("rmem_max"),
        tcp_wmem: tcp("tcp_wmem").map(|text| normalize_spaces(&text)),
        tcp_rmem: tcp("tcp_rmem").map(|text| normalize_spaces(&text)),
        tcp_congestion_control: tcp("tcp_congestion_control"),
        tcp_autocorking: tcp("tcp_autocorking").and_then(|text| text.parse().ok()),
        somaxconn: core("somaxconn"),
        netdev_max_backlog: core("netdev_max_backlog"),
        busy_read_us: core("busy_read"),
        loopback_mtu_bytes: read_number("/sys/class/net/lo/mtu"),
    }
}
