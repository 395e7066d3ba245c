//! Noise detection: whether other activity on the machine disturbed a run.
//!
//! The rules are those of `docs/method.md`: a peer alone on its CPU never waits for it for long; if two peers share one
//! CPU, one of them always runs; and the distance between two CPUs is the same after a run as before it.

use ipcperf_model::mechanism::Helper;
use ipcperf_model::{Measurement, Role, RunSpec};

use crate::channel::{Nearness, nearness};
use crate::mechanism::find;

/// Maximum share of the elapsed time that a peer alone on its CPU may wait for it.
const MOST_DELAY: f64 = 0.02;
/// Minimum share of the elapsed time that the peers on one CPU must run, taken together.
const LEAST_CPU: f64 = 0.96;
/// Maximum factor between the probes before and after a run; a larger one means that they measured two different
/// distances. The probes of one pair of CPUs differ by a few percent.
const AGREEMENT: f64 = 1.25;
/// Minimum duration of a judged run, ns. In shorter runs the few microseconds around the timed region, which the
/// kernel's counters include, weigh too much.
const JUDGED_FROM_NS: u64 = 4_000_000;

/// Kind of disturbance of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disturbance {
    /// A peer alone on its CPU had to wait for it.
    Waited,
    /// On the CPU that the peers share, neither ran for part of the time.
    Missing,
    /// The cache-line probe never found both peers running at the same time.
    NoProbe,
    /// The probes before and after disagree about the distance between the CPUs.
    ProbesDisagree,
}

/// Returns how this run of `spec` was disturbed, judged by its own figures. Steal time, which the kernel counts in
/// ticks longer than a run, is judged by the caller over several runs.
#[must_use]
pub fn disturbance(spec: &RunSpec, measured: &Measurement) -> Option<Disturbance> {
    if waits_for_others(spec, measured) {
        return None;
    }
    let is_long = measured.elapsed_ns >= JUDGED_FROM_NS;
    match nearness(spec) {
        Nearness::Apart if is_long && waited(spec, measured) => Some(Disturbance::Waited),
        Nearness::Apart => probes_disagree(measured),
        Nearness::OneCpu if is_long && is_missing(spec, measured) => Some(Disturbance::Missing),
        Nearness::OneCpu | Nearness::Unpinned => None,
    }
}

/// Whether the peers wait for a broker or a disk: their own figures then do not reveal a disturbance.
fn waits_for_others(spec: &RunSpec, measured: &Measurement) -> bool {
    find(&spec.mechanism).is_some_and(|known| match known.helper {
        Helper::Broker => measured.roles.iter().any(|role| role.role == Role::Broker),
        Helper::Disk => true,
        Helper::Nobody | Helper::KernelThread(_) | Helper::OwnThreads => false,
    })
}

/// Whether a peer waited too long for its CPU. Time in which a kernel thread works for the mechanism does not count.
#[allow(clippy::cast_precision_loss, reason = "shares of milliseconds in ns")]
fn waited(spec: &RunSpec, measured: &Measurement) -> bool {
    let delays_ns = measured.roles.iter().filter_map(|role| role.run_delay_ns);
    let longest_ns = delays_ns.max().unwrap_or(0) as f64;
    let most_ns = MOST_DELAY * measured.elapsed_ns as f64;
    helped_ns(spec, measured).is_some_and(|helped_ns| longest_ns > most_ns + helped_ns as f64)
}

#[allow(clippy::cast_precision_loss, reason = "shares of milliseconds in ns")]
fn is_missing(spec: &RunSpec, measured: &Measurement) -> bool {
    let parties_ns: Option<u64> = measured.roles.iter().map(|role| role.cpu_ns).sum();
    let used_ns =
        parties_ns.zip(helped_ns(spec, measured)).map(|(parties, helped)| parties + helped);
    used_ns.is_some_and(|used_ns| (used_ns as f64) < LEAST_CPU * measured.elapsed_ns as f64)
}

/// CPU time of kernel threads that worked for the mechanism; 0 if it has none. `None` if they are not visible: missing
/// or awaited CPU time then cannot be judged.
fn helped_ns(spec: &RunSpec, measured: &Measurement) -> Option<u64> {
    match find(&spec.mechanism)?.helper {
        Helper::KernelThread(_) => measured.kernel_thread_ns,
        // The figures of a peer include its own threads.
        Helper::Nobody | Helper::Broker | Helper::Disk | Helper::OwnThreads => Some(0),
    }
}

fn probes_disagree(measured: &Measurement) -> Option<Disturbance> {
    let Some([before_ns, after_ns]) = measured.cacheline_round_trip_ns else {
        return Some(Disturbance::NoProbe);
    };
    let disagree = before_ns.max(after_ns) > AGREEMENT * before_ns.min(after_ns);
    disagree.then_some(Disturbance::ProbesDisagree)
}

#[cfg(test)]
mod tests {
    use ipcperf_model::RoleUsage;

    use super::*;
    use crate::testing::spec;

    const RUN_NS: u64 = 20_000_000;

    fn role(role: Role, cpu_ns: u64, run_delay_ns: u64) -> RoleUsage {
        RoleUsage {
            role,
            user_ns: 0,
            system_ns: 0,
            minor_faults: 0,
            voluntary_switches: 0,
            involuntary_switches: 0,
            calls: Some(0),
            short_writes: 0,
            short_reads: 0,
            cpu_ns: Some(cpu_ns),
            run_delay_ns: Some(run_delay_ns),
        }
    }

    fn measured(roles: [(u64, u64); 2], probes: Option<[f64; 2]>) -> Measurement {
        let [sender, receiver] = roles;
        Measurement {
            objects: Vec::new(),
            dials: Vec::new(),
            repeats: Vec::new(),
            began_ns: 0,
            elapsed_ns: RUN_NS,
            total_bytes: 64,
            messages: 1,
            arrived_bytes: 64,
            lost_messages: None,
            calibration_phases: 0,
            slices_ns: Vec::new(),
            kernel_thread_ns: None,
            round_trips: None,
            kernel_buffer_granted_bytes: None,
            cacheline_round_trip_ns: probes,
            steal_ns: None,
            roles: vec![
                role(Role::Sender, sender.0, sender.1),
                role(Role::Receiver, receiver.0, receiver.1),
            ],
        }
    }

    fn apart(delay_ns: u64, probes: Option<[f64; 2]>) -> Option<Disturbance> {
        disturbance(&spec("pipe", [0, 1]), &measured([(0, 10), (0, delay_ns)], probes))
    }

    fn together(sender_ns: u64, receiver_ns: u64) -> Option<Disturbance> {
        // Each waits while the other runs, which is no disturbance.
        let roles = [(sender_ns, RUN_NS / 2), (receiver_ns, RUN_NS / 2)];
        disturbance(&spec("pipe", [0, 0]), &measured(roles, None))
    }

    #[test]
    fn a_party_alone_on_its_cpu_does_not_wait_for_it() {
        let probes = Some([300.0, 310.0]);
        assert_eq!(apart(RUN_NS / 50, probes), None);
        assert_eq!(apart(RUN_NS / 50 + 1, probes), Some(Disturbance::Waited));
    }

    #[test]
    fn of_two_on_one_cpu_one_always_runs() {
        assert_eq!(together(RUN_NS / 2, RUN_NS / 2), None);
        assert_eq!(together(RUN_NS * 46 / 100, RUN_NS / 2), None);
        assert_eq!(together(RUN_NS * 45 / 100, RUN_NS / 2), Some(Disturbance::Missing));
    }

    #[test]
    fn what_the_kernels_thread_ran_was_not_missing() {
        let tcp = spec("tcp", [0, 0]);
        let roles = [(RUN_NS / 2, 0), (RUN_NS * 4 / 10, 0)];
        let helped = |kernel_thread_ns| {
            let measured = Measurement { kernel_thread_ns, ..measured(roles, None) };
            disturbance(&tcp, &measured)
        };
        assert_eq!(helped(Some(RUN_NS * 8 / 100)), None);
        assert_eq!(helped(Some(RUN_NS * 4 / 100)), Some(Disturbance::Missing));
        assert_eq!(helped(None), None, "it cannot be seen");
    }

    #[test]
    fn waiting_for_the_kernels_thread_is_part_of_the_case() {
        let tcp = spec("tcp", [0, 1]);
        let waited = |kernel_thread_ns| {
            let roles = [(0, 0), (0, RUN_NS / 10)];
            let probes = Some([300.0, 300.0]);
            let measured = Measurement { kernel_thread_ns, ..measured(roles, probes) };
            disturbance(&tcp, &measured)
        };
        assert_eq!(waited(Some(RUN_NS * 9 / 100)), None);
        assert_eq!(waited(Some(RUN_NS * 7 / 100)), Some(Disturbance::Waited));
        assert_eq!(waited(None), None, "it cannot be seen");
    }

    #[test]
    fn who_waits_for_a_disk_is_judged_by_steal_alone() {
        let waited = measured([(RUN_NS / 10, 0), (RUN_NS / 10, RUN_NS / 2)], None);
        assert_eq!(disturbance(&spec("file-ref", [0, 0]), &waited), None);
        assert_eq!(disturbance(&spec("dgram-fds", [0, 0]), &waited), Some(Disturbance::Missing));
        let moved = measured([(0, 0), (0, 0)], Some([46.0, 375.0]));
        assert_eq!(disturbance(&spec("file-ref", [0, 1]), &moved), None);
    }

    #[test]
    fn the_distance_must_be_the_same_before_and_after() {
        assert_eq!(apart(0, Some([46.0, 375.0])), Some(Disturbance::ProbesDisagree));
        assert_eq!(apart(0, Some([375.0, 46.0])), Some(Disturbance::ProbesDisagree));
        assert_eq!(apart(0, Some([46.0, 55.0])), None);
        assert_eq!(apart(0, None), Some(Disturbance::NoProbe));
    }

    #[test]
    fn a_run_of_an_instant_is_not_judged_by_its_cpu_time() {
        let short = Measurement { elapsed_ns: 1_000_000, ..measured([(0, 0), (0, 0)], None) };
        assert_eq!(disturbance(&spec("pipe", [0, 0]), &short), None);
    }
}
