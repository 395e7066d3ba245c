//! Whether the machine, not the case, held a run up: the rule by which ipcperf marks runs.
//!
//! Only for parties that are alone on their CPUs. Of two that share one, each waits while the other
//! runs; and their CPU time, which the kernel books at ticks and switches, is too coarse to hold
//! against 20 ms in which hardly a switch happens.

use ipcperf_engine::mechanism::Nearness;
use ipcperf_engine::{Measurement, RunSpec};

/// Most of the elapsed time that a party alone on its CPU may wait for it.
const MOST_DELAY: f64 = 0.02;

/// Whether others kept a party of this run of `spec` from its CPU.
#[allow(clippy::cast_precision_loss, reason = "times of milliseconds in ns")]
pub(crate) fn is_disturbed(spec: &RunSpec, measured: &Measurement) -> bool {
    let is_shared = measured.roles.len() > 1 && spec.nearness() == Nearness::OneCpu;
    let delays_ns = measured.roles.iter().filter_map(|role| role.run_delay_ns);
    let longest_ns = delays_ns.max().unwrap_or(0);
    !is_shared && longest_ns as f64 > MOST_DELAY * measured.elapsed_ns as f64
}

#[cfg(test)]
mod tests {
    use ipcperf_engine::workload::Kind;
    use ipcperf_engine::{Role, RoleUsage};

    use super::*;
    use crate::program::spec;

    fn role(role: Role, run_delay_ns: u64) -> RoleUsage {
        RoleUsage {
            role,
            user_ns: 0,
            system_ns: 0,
            minor_faults: 0,
            voluntary_switches: 0,
            involuntary_switches: 0,
            calls: 0,
            short_writes: 0,
            short_reads: 0,
            run_delay_ns: Some(run_delay_ns),
        }
    }

    fn disturbed(cpus: [u32; 2], sender_ns: u64, receiver_ns: u64) -> bool {
        let measured = Measurement {
            elapsed_ns: 1_000,
            total_bytes: 64,
            messages: 1,
            arrived_bytes: 64,
            lost_messages: None,
            calibration_phases: 0,
            round_trips: None,
            kernel_buffer_granted_bytes: None,
            cacheline_round_trip_ns: None,
            steal_ns: None,
            roles: vec![role(Role::Sender, sender_ns), role(Role::Receiver, receiver_ns)],
        };
        is_disturbed(&spec("pipe", Kind::Stream, cpus, 64), &measured)
    }

    #[test]
    fn waiting_for_a_cpu_of_its_own_disturbs() {
        assert!(!disturbed([0, 1], 10, 20));
        assert!(disturbed([0, 1], 10, 21));
    }

    #[test]
    fn waiting_for_each_other_does_not() {
        assert!(!disturbed([0, 0], 500, 500));
    }
}
