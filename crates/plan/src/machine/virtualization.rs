//! Reads the virtualization: the hypervisor below, guests above, and the CPU time that they take.

use std::fs;

use ipcperf_engine::host;
use ipcperf_model::environment::Virtualization;

use super::read::{KeyValues, read_line, read_number};

/// Reads the virtualization.
pub(super) fn read() -> Virtualization {
    let cpu = KeyValues::from_first_section("/proc/cpuinfo");
    let firmware = |name: &str| read_line(format!("/sys/class/dmi/id/{name}"));
    Virtualization {
        hypervisor: cpu.value("flags").map(|flags| flags.split(' ').any(|f| f == "hypervisor")),
        hypervisor_signature: host::hypervisor_signature()
            .or_else(|| read_line("/sys/hypervisor/type")),
        machine_vendor: firmware("sys_vendor"),
        machine_product: firmware("product_name"),
        guest_halt_poll_ns: read_number("/sys/module/haltpoll/parameters/guest_halt_poll_ns"),
        kvm_halt_poll_ns: read_number("/sys/module/kvm/parameters/halt_poll_ns"),
        steal_share: fs::read_to_string("/proc/stat").ok().and_then(|text| steal(&text)),
    }
}

/// Returns the eighth column of the first line (steal) divided by the sum of the first eight. The guest time that
/// follows is already included in the user time.
#[allow(clippy::cast_precision_loss, reason = "a share for people; ticks fit 53 bits by far")]
fn steal(stat: &str) -> Option<f64> {
    let columns = stat.lines().next()?.strip_prefix("cpu ")?.split_whitespace().take(8);
    let ticks: Vec<u64> = columns.map_while(|column| column.parse().ok()).collect();
    let (stolen, total) = (*ticks.get(7)?, ticks.iter().sum::<u64>());
    (total > 0).then(|| stolen as f64 / total as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steal_is_a_share_of_all_time() {
        assert_eq!(steal("cpu  10 0 10 70 0 0 0 10 500 0\ncpu0 1\n"), Some(0.1));
        assert_eq!(steal("cpu  10 0 10 70\n"), None);
        assert_eq!(steal("cpu  0 0 0 0 0 0 0 0 0 0\n"), None);
        assert_eq!(steal(""), None);
    }
}
