//! Criteria of a disturbed run: how the figures of a single run show that other activity on the machine disturbed it.
//!
//! `runner/noise_detection.rs` of the command applies them, decides which runs are excluded, and retries disturbed ones. The
//! criteria are those of `docs/method.md`: a peer alone on its CPU never waits for it for long; if two peers share one
//! CPU, one of them always runs; and the distance between two CPUs is the same after a run as before it.

use ipcperf_model::mechanism::Helper;
use ipcperf_model::{Measurement, Role, RunSpec};

use crate::channel::{PeerPlacement, peer_placement};
use crate::mechanism::find;

/// Maximum share of the elapsed time that a peer alone on its CPU may wait for it.
const MAX_DELAY_SHARE: f64 = 0.02;
/// Minimum share of the elapsed time that the peers on one CPU must run, taken together.
const MIN_CPU_SHARE: f64 = 0.96;
/// Maximum factor between the probes before and after a run; a larger one means that they measured two different
/// distances. The probes of one pair of CPUs differ by a few percent.
const MAX_PROBE_RATIO: f64 = 1.25;
/// Minimum duration of a judged run, ns. In shorter runs the few microseconds around the timed region, which the
/// kernel's counters include, weigh too much.
const MIN_JUDGED_NS: u64 = 4_000_000;

/// Kind of disturbance of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disturbance {
    /// A peer alone on its CPU had to wait for it.
    RunDelay,
    /// On the CPU that the peers share, neither ran for part of the time.
    MissingCpuTime,
    /// The cache-line probe never found both peers running at the same time.
    NoProbe,
    /// The probes before and after disagree about the distance between the CPUs.
    ProbesDisagree,
}

/// Returns how this run of `spec` was disturbed, judged by its own figures. Steal time, which the kernel counts in
/// ticks longer than a run, is judged by the caller over several runs.
#[must_use]
pub fn find_disturbance(spec: &RunSpec, measured: &Measurement) -> Option<Disturbance> {
    if waits_for_others(spec, measured) {
        return None;
    }
    let is_long = measured.elapsed_ns >= MIN_JUDGED_NS;
    match peer_placement(spec) {
        // Probes first: a run delay says nothing about a run that an instrument slowed down.
        PeerPlacement::SeparateCpus => probes_disagree(measured)
            .or_else(|| (is_long && was_delayed(spec, measured)).then_some(Disturbance::RunDelay)),
        // Between the messages of a paced run, nothing runs.
        PeerPlacement::OneCpu if spec.pacing.is_some() => None,
        PeerPlacement::OneCpu if is_long && lacks_cpu_time(spec, measured) => {
            Some(Disturbance::MissingCpuTime)
        }
        PeerPlacement::OneCpu | PeerPlacement::Unpinned => None,
    }
}

/// Whether the peers wait for a broker or a disk: their own figures then do not reveal a disturbance.
fn waits_for_others(spec: &RunSpec, measured: &Measurement) -> bool {
    find(&spec.mechanism).is_some_and(|known| match known.helper {
        Helper::Broker => measured.roles.iter().any(|role| role.role == Role::Broker),
        Helper::Disk => true,
        Helper::None | Helper::KernelThread(_) | Helper::WorkQueue | Helper::LibraryThreads => {
            false
        }
    })
}

/// Whether a peer waited too long for its CPU. Time in which a kernel thread works for the mechanism does not count.
#[allow(clippy::cast_precision_loss, reason = "shares of milliseconds in ns")]
fn was_delayed(spec: &RunSpec, measured: &Measurement) -> bool {
    let delays_ns = measured.roles.iter().filter_map(|role| role.run_delay_ns);
    let longest_ns = delays_ns.max().unwrap_or(0) as f64;
    let max_ns = MAX_DELAY_SHARE * measured.elapsed_ns as f64;
    helper_ns(spec, measured).is_some_and(|helped_ns| longest_ns > max_ns + helped_ns as f64)
}

#[allow(clippy::cast_precision_loss, reason = "shares of milliseconds in ns")]
fn lacks_cpu_time(spec: &RunSpec, measured: &Measurement) -> bool {
    let peers_ns: Option<u64> = measured.roles.iter().map(|role| role.cpu_ns).sum();
    let used_ns = peers_ns.zip(helper_ns(spec, measured)).map(|(peers, helped)| peers + helped);
    used_ns.is_some_and(|used_ns| (used_ns as f64) < MIN_CPU_SHARE * measured.elapsed_ns as f64)
}

/// CPU time of kernel threads that worked for the mechanism; 0 if it has none. `None` if they are not visible, or may have
/// worked on other CPUs: missing or awaited CPU time then cannot be judged.
fn helper_ns(spec: &RunSpec, measured: &Measurement) -> Option<u64> {
    match find(&spec.mechanism)?.helper {
        Helper::KernelThread(_) => measured.kernel_thread_ns,
        Helper::WorkQueue => None,
        // The figures of a peer include its own threads.
        Helper::None | Helper::Broker | Helper::Disk | Helper::LibraryThreads => Some(0),
    }
}

fn probes_disagree(measured: &Measurement) -> Option<Disturbance> {
    let Some([before_ns, after_ns]) = measured.cacheline_round_trip_ns else {
        return Some(Disturbance::NoProbe);
    };
    let disagree = before_ns.max(after_ns) > MAX_PROBE_RATIO * before_ns.min(after_ns);
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
            counter_readings: Vec::new(),
            repeats: Vec::new(),
            peers: Vec::new(),
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
            paced: None,
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
        find_disturbance(&spec("pipe", [0, 1]), &measured([(0, 10), (0, delay_ns)], probes))
    }

    fn together(sender_ns: u64, receiver_ns: u64) -> Option<Disturbance> {
        // Each waits while the other runs, which is no disturbance.
        let roles = [(sender_ns, RUN_NS / 2), (receiver_ns, RUN_NS / 2)];
        find_disturbance(&spec("pipe", [0, 0]), &measured(roles, None))
    }

    #[test]
    fn a_peer_alone_on_its_cpu_does_not_wait_for_it() {
        let probes = Some([300.0, 310.0]);
        assert_eq!(apart(RUN_NS / 50, probes), None);
        assert_eq!(apart(RUN_NS / 50 + 1, probes), Some(Disturbance::RunDelay));
    }

    #[test]
    fn probes_that_disagree_are_not_hidden_by_a_delay() {
        assert_eq!(apart(RUN_NS / 10, Some([46.0, 375.0])), Some(Disturbance::ProbesDisagree));
        assert_eq!(apart(RUN_NS / 10, None), Some(Disturbance::NoProbe));
    }

    #[test]
    fn of_two_on_one_cpu_one_always_runs() {
        assert_eq!(together(RUN_NS / 2, RUN_NS / 2), None);
        assert_eq!(together(RUN_NS * 46 / 100, RUN_NS / 2), None);
        assert_eq!(together(RUN_NS * 45 / 100, RUN_NS / 2), Some(Disturbance::MissingCpuTime));
    }

    #[test]
    fn what_the_kernels_thread_ran_was_not_missing() {
        let tcp = spec("tcp", [0, 0]);
        let roles = [(RUN_NS / 2, 0), (RUN_NS * 4 / 10, 0)];
        let helped = |kernel_thread_ns| {
            let measured = Measurement { kernel_thread_ns, ..measured(roles, None) };
            find_disturbance(&tcp, &measured)
        };
        assert_eq!(helped(Some(RUN_NS * 8 / 100)), None);
        assert_eq!(helped(Some(RUN_NS * 4 / 100)), Some(Disturbance::MissingCpuTime));
        assert_eq!(helped(None), None, "it cannot be seen");
    }

    #[test]
    fn waiting_for_the_kernels_thread_is_part_of_the_case() {
        let tcp = spec("tcp", [0, 1]);
        let waited = |kernel_thread_ns| {
            let roles = [(0, 0), (0, RUN_NS / 10)];
            let probes = Some([300.0, 300.0]);
            let measured = Measurement { kernel_thread_ns, ..measured(roles, probes) };
            find_disturbance(&tcp, &measured)
        };
        assert_eq!(waited(Some(RUN_NS * 9 / 100)), None);
        assert_eq!(waited(Some(RUN_NS * 7 / 100)), Some(Disturbance::RunDelay));
        assert_eq!(waited(None), None, "it cannot be seen");
    }

    #[test]
    fn who_waits_for_a_disk_is_judged_by_steal_alone() {
        let waited = measured([(RUN_NS / 10, 0), (RUN_NS / 10, RUN_NS / 2)], None);
        assert_eq!(find_disturbance(&spec("file-ref", [0, 0]), &waited), None);
        assert_eq!(
            find_disturbance(&spec("dgram-fds", [0, 0]), &waited),
            Some(Disturbance::MissingCpuTime)
        );
        let moved = measured([(0, 0), (0, 0)], Some([46.0, 375.0]));
        assert_eq!(find_disturbance(&spec("file-ref", [0, 1]), &moved), None);
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
        assert_eq!(find_disturbance(&spec("pipe", [0, 0]), &short), None);
    }
}
