//! Hardware limits for display on a terminal.

use ipcperf_model::hardware_limits::{CachelineLimit, CopyLimit, HardwareLimits};
use ipcperf_model::size::Bytes;
use ipcperf_model::units;

use super::cells::{align_second_column, new_table};

/// Formats the hardware limits, and reasons for those that could not be measured.
pub(crate) fn limits_table(limits: &HardwareLimits, columns: usize) -> String {
    let mut table = new_table(columns);
    table.set_header(["Hardware limits", ""]);
    for (name, figure) in limit_rows(limits) {
        table.add_row([name, figure]);
    }
    align_second_column(&mut table);
    let missing = limits.missing.iter().map(|reason| format!("not measured: {reason}"));
    std::iter::once(table.to_string()).chain(missing).collect::<Vec<_>>().join("\n")
}

/// Returns each measured limit with its name.
#[allow(clippy::cast_precision_loss, reason = "rates for people")]
pub fn limit_rows(limits: &HardwareLimits) -> Vec<(String, String)> {
    let rate = |rate: Option<u64>| rate.map(|rate| units::bandwidth(rate as f64));
    let copies = limits.copy.iter().map(|copy: &CopyLimit| {
        (format!("copy, {}, hot", Bytes(copy.bytes)), rate(copy.hot_bytes_per_s))
    });
    let costs = [
        ("copy, cold (over 256 MiB)", rate(limits.copy_cold_bytes_per_s)),
        ("system call", limits.system_call_ns.map(units::time)),
        ("context switch on one CPU", limits.switch_ns.map(units::time)),
        ("futex wake across CPUs", limits.futex_wake_ns.map(units::time)),
    ];
    let lines = limits.cacheline.iter().map(|line: &CachelineLimit| {
        let ([one, other], kind) = (line.cpus, line.kind.placement());
        let name = format!("cache-line round trip, {kind} (CPUs {one} and {other})");
        (name, line.round_trip_ns.map(units::time))
    });
    let all = copies.chain(costs.map(|(name, cost)| (name.to_owned(), cost))).chain(lines);
    all.filter_map(|(name, figure)| Some((name, figure?))).collect()
}

#[cfg(test)]
mod tests {
    use ipcperf_model::hardware_limits::PairKind;

    use super::*;

    #[test]
    fn what_was_measured_has_a_row_and_what_was_not_a_reason() {
        let limits = HardwareLimits {
            copy: vec![CopyLimit { bytes: 65_536, hot_bytes_per_s: Some(128_000_000_000) }],
            system_call_ns: Some(121.3),
            cacheline: vec![CachelineLimit {
                kind: PairKind::Split,
                cpus: [0, 1],
                round_trip_ns: Some(283.7),
            }],
            missing: vec!["copy, cold: too little memory".to_owned()],
            ..HardwareLimits::default()
        };
        insta::assert_snapshot!(limits_table(&limits, 116));
    }
}
