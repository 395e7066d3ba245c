//! Reads the settings of the scheduler, and the scheduling of this process.

use std::fs;

use ipcperf_model::environment::Scheduler;

use super::read::{read_flag, read_line, read_number};

/// Reads the scheduling.
pub(super) fn read() -> Scheduler {
    let (nice, policy) = fs::read_to_string("/proc/self/stat")
        .map_or((None, None), |stat| (nice(&stat), policy(&stat)));
    Scheduler {
        autogroup: read_line("/proc/self/autogroup"),
        autogroup_enabled: read_flag("/proc/sys/kernel/sched_autogroup_enabled"),
        nice,
        scheduling_policy: policy,
        timer_slack_ns: read_number("/proc/self/timerslack_ns"),
        sched_rt_runtime_us: read_number("/proc/sys/kernel/sched_rt_runtime_us"),
        sched_base_slice_ns: read_number("/sys/kernel/debug/sched/base_slice_ns"),
        sched_migration_cost_ns: read_number("/sys/kernel/debug/sched/migration_cost_ns"),
    }
}

/// Returns field `number` of `/proc/PID/stat`, counted from 1 as in its manual page. The name, before the third
/// field, may contain spaces and parentheses.
fn field(stat: &str, number: usize) -> Option<&str> {
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_whitespace().nth(number.checked_sub(3)?)
}

fn nice(stat: &str) -> Option<i64> {
    field(stat, 19)?.parse().ok()
}

/// Returns the name of the scheduling policy, numbered as in `sched.h`.
fn policy(stat: &str) -> Option<String> {
    let name = match field(stat, 41)? {
        "0" => "other",
        "1" => "fifo",
        "2" => "round-robin",
        "3" => "batch",
        "5" => "idle",
        "6" => "deadline",
        "7" => "extension",
        _ => return None,
    };
    Some(name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_counted_after_the_name() {
        let fields: Vec<String> = (3..=52).map(|number| format!("{number}")).collect();
        let stat = format!("1 (a) b) {}", fields.join(" "));
        assert_eq!(field(&stat, 3), Some("3"));
        assert_eq!(nice(&stat), Some(19));
        assert_eq!(policy(&stat), None);
        assert_eq!(policy(&stat.replace(" 41 ", " 3 ")).unwrap(), "batch");
        assert_eq!((field("", 3), field("1 (a)", 3)), (None, None));
    }
}
