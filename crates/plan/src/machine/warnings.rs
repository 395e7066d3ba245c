//! Derives warnings from the environment, as a pure function of it. An unknown value gives no warning.

use ipcperf_model::environment::{Amount, Environment};

use super::control_group::quota_cpus;
use super::read::count_cpus;
use super::warning::Warning;

/// Capabilities by number, from `linux/capability.h`.
const CAP_IPC_LOCK: u32 = 14;
const CAP_SYS_ADMIN: u32 = 21;
const CAP_PERFMON: u32 = 38;

/// Clock sources whose reading is a system call or an access to a slow device.
const SLOW_CLOCKS: [&str; 5] = ["hpet", "acpi_pm", "jiffies", "refined-jiffies", "pit"];
/// Number of peers of a run, each of which needs a CPU.
const PEERS: f64 = 2.0;
/// Share of the CPUs above which the load average shows other activity.
const BUSY_SHARE: f64 = 0.5;
/// Share of CPU time stolen by the host above which the machine gets a warning, and a run is disturbed.
pub const STEAL_SHARE: f64 = 0.02;
/// More swap in use than the memory size divided by this does not come from idle services.
const SWAP_SHARE: u64 = 20;
const MIB: u64 = 1 << 20;
const LITTLE_MEMORY_BYTES: u64 = 1024 * MIB;
const SMALL_SHARED_MEMORY_BYTES: u64 = 128 * MIB;
const SMALL_BUFFER_BYTES: u64 = MIB;
const LOW_LOCKED_BYTES: u64 = 8 * MIB;

/// Checks, most severe first.
const CHECKS: [fn(&Environment) -> Option<Warning>; 25] = [
    debug_build,
    noise_detection_off,
    busy_machine,
    steal_seen,
    cpu_quota,
    halts_when_idle,
    governor_saves,
    slow_clock,
    ticks_vary,
    low_priority,
    other_policy,
    pages_move,
    seccomp_filter,
    few_cpus,
    little_memory,
    small_shared_memory,
    small_pipe_limit,
    small_socket_buffers,
    low_locked_memory,
    no_kernel_events,
    virtual_machine,
    boost,
    smt_active,
    priority_is_local,
    swap_used,
];

/// Returns the warnings for `environment`, most severe first.
pub fn warnings(environment: &Environment) -> Vec<Warning> {
    CHECKS.iter().filter_map(|check| check(environment)).collect()
}

fn debug_build(environment: &Environment) -> Option<Warning> {
    (environment.program.build_profile.as_deref()? == "debug").then_some(Warning::DebugBuild)
}

fn noise_detection_off(environment: &Environment) -> Option<Warning> {
    (!environment.program.noise_detection?).then_some(Warning::NoiseDetectionOff)
}

#[allow(clippy::cast_precision_loss, reason = "a number of CPUs")]
fn busy_machine(environment: &Environment) -> Option<Warning> {
    let (load, cpus) = (environment.load.load_average_1min?, environment.cpus.cpu_threads?);
    (load > cpus as f64 * BUSY_SHARE).then_some(Warning::BusyMachine { load, cpus })
}

fn steal_seen(environment: &Environment) -> Option<Warning> {
    let share = environment.virtualization.steal_share?;
    (share > STEAL_SHARE).then_some(Warning::StealSeen { share })
}

fn cpu_quota(environment: &Environment) -> Option<Warning> {
    let cpus = quota_cpus(environment.control_group.cgroup_cpu_max.as_deref()?)?;
    (cpus < PEERS).then_some(Warning::CpuQuota { cpus })
}

fn halts_when_idle(environment: &Environment) -> Option<Warning> {
    let facts = &environment.virtualization;
    let halts = facts.hypervisor? && facts.guest_halt_poll_ns? == 0;
    halts.then_some(Warning::HaltsWhenIdle)
}

fn governor_saves(environment: &Environment) -> Option<Warning> {
    let governor = environment.power.governor.clone()?;
    (governor != "performance").then_some(Warning::GovernorSaves { governor })
}

fn slow_clock(environment: &Environment) -> Option<Warning> {
    let clock = environment.clock.clock_source.clone()?;
    SLOW_CLOCKS.contains(&clock.as_str()).then_some(Warning::SlowClock { clock })
}

fn ticks_vary(environment: &Environment) -> Option<Warning> {
    if environment.kernel.architecture != "x86_64" {
        return None;
    }
    let flags = environment.cpus.cpu_flags.as_ref()?;
    let steady = ["constant_tsc", "nonstop_tsc"];
    let is_steady = steady.iter().all(|name| flags.iter().any(|flag| flag == name));
    (!is_steady).then_some(Warning::TicksVary)
}

fn low_priority(environment: &Environment) -> Option<Warning> {
    let nice = environment.scheduler.nice?;
    (nice > 0).then_some(Warning::LowPriority { nice })
}

fn other_policy(environment: &Environment) -> Option<Warning> {
    let policy = environment.scheduler.scheduling_policy.clone()?;
    (policy != "other").then_some(Warning::OtherPolicy { policy })
}

fn pages_move(environment: &Environment) -> Option<Warning> {
    let moves = environment.memory.numa_balancing? > 0 && environment.cpus.numa_nodes? > 1;
    moves.then_some(Warning::PagesMove)
}

fn seccomp_filter(environment: &Environment) -> Option<Warning> {
    let mode = environment.confinement.seccomp.as_deref()?;
    (mode == "filter").then_some(Warning::SeccompFilter)
}

fn few_cpus(environment: &Environment) -> Option<Warning> {
    let allowed = count_cpus(environment.cpus.allowed_cpus.as_deref()?)?;
    (allowed == 1).then_some(Warning::FewCpus)
}

/// Checks the memory of the machine or of the control group, whichever is less.
fn little_memory(environment: &Environment) -> Option<Warning> {
    let group = environment.control_group.cgroup_memory_max_bytes.and_then(Amount::as_number);
    let machine = environment.memory.memory_available_bytes;
    let bytes = machine.into_iter().chain(group).min()?;
    (bytes < LITTLE_MEMORY_BYTES).then_some(Warning::LittleMemory { bytes })
}

fn small_shared_memory(environment: &Environment) -> Option<Warning> {
    let bytes = environment.memory.shared_memory_free_bytes?;
    (bytes < SMALL_SHARED_MEMORY_BYTES).then_some(Warning::SmallSharedMemory { bytes })
}

fn small_pipe_limit(environment: &Environment) -> Option<Warning> {
    let bytes = environment.kernel_limits.pipe_max_size_bytes?;
    (bytes < SMALL_BUFFER_BYTES).then_some(Warning::SmallPipeLimit { bytes })
}

fn small_socket_buffers(environment: &Environment) -> Option<Warning> {
    let network = &environment.network;
    let bytes = network.wmem_max_bytes.into_iter().chain(network.rmem_max_bytes).min()?;
    (bytes < SMALL_BUFFER_BYTES).then_some(Warning::SmallSocketBuffers { bytes })
}

fn low_locked_memory(environment: &Environment) -> Option<Warning> {
    let bytes = environment.process_limits.ulimit_locked_memory_bytes?.as_number()?;
    let low = bytes < LOW_LOCKED_BYTES && !environment.confinement.has_capability(CAP_IPC_LOCK)?;
    low.then_some(Warning::LowLockedMemory { bytes })
}

fn no_kernel_events(environment: &Environment) -> Option<Warning> {
    let facts = &environment.confinement;
    let paranoid = facts.perf_event_paranoid?;
    let privileged = facts.has_capability(CAP_PERFMON)? || facts.has_capability(CAP_SYS_ADMIN)?;
    (paranoid > 1 && !privileged).then_some(Warning::NoKernelEvents { paranoid })
}

fn virtual_machine(environment: &Environment) -> Option<Warning> {
    environment.virtualization.hypervisor?.then_some(Warning::VirtualMachine)
}

fn boost(environment: &Environment) -> Option<Warning> {
    environment.power.boost?.then_some(Warning::Boost)
}

fn smt_active(environment: &Environment) -> Option<Warning> {
    environment.cpus.smt_active?.then_some(Warning::SmtActive)
}

fn priority_is_local(environment: &Environment) -> Option<Warning> {
    let nice = environment.scheduler.nice?;
    let local = nice < 0 && environment.scheduler.autogroup_enabled?;
    local.then_some(Warning::PriorityIsLocal { nice })
}

fn swap_used(environment: &Environment) -> Option<Warning> {
    let (bytes, memory) = (environment.memory.swap_used_bytes?, environment.memory.memory_bytes?);
    (bytes > memory / SWAP_SHARE).then_some(Warning::SwapUsed { bytes })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::warning::Severity;
    use super::*;

    /// Returns an ideal machine: every property that is checked is known and good.
    fn clean() -> Environment {
        let some = |text: &str| Some(text.to_owned());
        let mut clean = Environment::default();
        clean.program.build_profile = some("release");
        clean.kernel.architecture = "x86_64".to_owned();
        clean.cpus.allowed_cpus = some("0-7");
        clean.cpus.cpu_threads = Some(8);
        clean.cpus.cpu_flags = Some(vec!["constant_tsc".to_owned(), "nonstop_tsc".to_owned()]);
        clean.cpus.smt_active = Some(false);
        clean.cpus.numa_nodes = Some(1);
        clean.power.governor = some("performance");
        clean.power.boost = Some(false);
        clean.virtualization.hypervisor = Some(false);
        clean.virtualization.guest_halt_poll_ns = Some(0);
        clean.virtualization.steal_share = Some(0.0);
        clean.clock.clock_source = some("tsc");
        clean.memory.memory_bytes = Some(32 << 30);
        clean.memory.memory_available_bytes = Some(16 << 30);
        clean.memory.swap_used_bytes = Some(1 << 30);
        clean.memory.shared_memory_free_bytes = Some(16 << 30);
        clean.memory.numa_balancing = Some(1);
        clean.load.load_average_1min = Some(0.1);
        clean.scheduler.nice = Some(0);
        clean.scheduler.autogroup_enabled = Some(true);
        clean.scheduler.scheduling_policy = some("other");
        clean.kernel_limits.pipe_max_size_bytes = Some(1 << 20);
        clean.network.wmem_max_bytes = Some(4 << 20);
        clean.network.rmem_max_bytes = Some(4 << 20);
        clean.process_limits.ulimit_locked_memory_bytes = Some(Amount::Number(8 << 20));
        clean.control_group.cgroup_cpu_max = some("max 100000");
        clean.control_group.cgroup_memory_max_bytes = Some(Amount::UNLIMITED);
        clean.confinement.capabilities = some("0000000000000000");
        clean.confinement.perf_event_paranoid = Some(1);
        clean.confinement.seccomp = some("off");
        clean
    }

    type Planted = (fn(&mut Environment), Warning);

    fn planted_states() -> Vec<Planted> {
        let text = str::to_owned;
        vec![
            (|e| e.program.build_profile = Some("debug".to_owned()), Warning::DebugBuild),
            (|e| e.program.noise_detection = Some(false), Warning::NoiseDetectionOff),
            (|e| e.load.load_average_1min = Some(4.5), Warning::BusyMachine { load: 4.5, cpus: 8 }),
            (|e| e.virtualization.steal_share = Some(0.03), Warning::StealSeen { share: 0.03 }),
            (
                |e| e.control_group.cgroup_cpu_max = Some("150000 100000".to_owned()),
                Warning::CpuQuota { cpus: 1.5 },
            ),
            (
                |e| e.power.governor = Some("schedutil".to_owned()),
                Warning::GovernorSaves { governor: text("schedutil") },
            ),
            (
                |e| e.clock.clock_source = Some("hpet".to_owned()),
                Warning::SlowClock { clock: text("hpet") },
            ),
            (|e| e.cpus.cpu_flags = Some(vec!["constant_tsc".to_owned()]), Warning::TicksVary),
            (|e| e.scheduler.nice = Some(5), Warning::LowPriority { nice: 5 }),
            (
                |e| e.scheduler.scheduling_policy = Some("fifo".to_owned()),
                Warning::OtherPolicy { policy: text("fifo") },
            ),
            (|e| e.cpus.numa_nodes = Some(2), Warning::PagesMove),
            (|e| e.confinement.seccomp = Some("filter".to_owned()), Warning::SeccompFilter),
        ]
    }

    fn planted_limits() -> Vec<Planted> {
        vec![
            (|e| e.cpus.allowed_cpus = Some("3".to_owned()), Warning::FewCpus),
            (
                |e| e.memory.memory_available_bytes = Some(1 << 29),
                Warning::LittleMemory { bytes: 1 << 29 },
            ),
            (
                |e| e.control_group.cgroup_memory_max_bytes = Some(Amount::Number(1 << 28)),
                Warning::LittleMemory { bytes: 1 << 28 },
            ),
            (
                |e| e.memory.shared_memory_free_bytes = Some(64 << 20),
                Warning::SmallSharedMemory { bytes: 64 << 20 },
            ),
            (
                |e| e.kernel_limits.pipe_max_size_bytes = Some(65_536),
                Warning::SmallPipeLimit { bytes: 65_536 },
            ),
            (
                |e| e.network.rmem_max_bytes = Some(212_992),
                Warning::SmallSocketBuffers { bytes: 212_992 },
            ),
            (
                |e| e.process_limits.ulimit_locked_memory_bytes = Some(Amount::Number(65_536)),
                Warning::LowLockedMemory { bytes: 65_536 },
            ),
            (
                |e| e.confinement.perf_event_paranoid = Some(2),
                Warning::NoKernelEvents { paranoid: 2 },
            ),
        ]
    }

    fn planted_notes() -> Vec<Planted> {
        vec![
            (
                |e| {
                    e.virtualization.hypervisor = Some(true);
                    e.virtualization.guest_halt_poll_ns = Some(200_000);
                },
                Warning::VirtualMachine,
            ),
            (|e| e.power.boost = Some(true), Warning::Boost),
            (|e| e.cpus.smt_active = Some(true), Warning::SmtActive),
            (|e| e.scheduler.nice = Some(-5), Warning::PriorityIsLocal { nice: -5 }),
            (|e| e.memory.swap_used_bytes = Some(2 << 30), Warning::SwapUsed { bytes: 2 << 30 }),
        ]
    }

    #[test]
    fn each_planted_state_gives_itself_alone() {
        let groups = [planted_states(), planted_limits(), planted_notes()];
        for (plant, expected) in groups.into_iter().flatten() {
            let mut environment = clean();
            plant(&mut environment);
            assert_eq!(warnings(&environment), [expected]);
        }
    }

    #[test]
    fn a_guest_that_halts_is_a_guest_too() {
        let mut environment = clean();
        environment.virtualization.hypervisor = Some(true);
        assert_eq!(warnings(&environment), [Warning::HaltsWhenIdle, Warning::VirtualMachine]);
    }

    #[test]
    fn privilege_lifts_what_binds_others() {
        let mut environment = clean();
        environment.confinement.capabilities = Some("000001ffffffffff".to_owned());
        environment.confinement.perf_event_paranoid = Some(4);
        environment.process_limits.ulimit_locked_memory_bytes = Some(Amount::Number(0));
        assert_eq!(warnings(&environment), []);
    }

    #[test]
    fn a_clean_machine_gives_none_and_an_unknown_one_neither() {
        assert_eq!(warnings(&clean()), []);
        assert_eq!(warnings(&Environment::default()), []);
    }

    /// Covers every check: a new check needs a planted state.
    #[test]
    fn every_check_was_planted_and_the_gravest_come_first() {
        let mut all: Vec<Warning> = [planted_states(), planted_limits(), planted_notes()]
            .into_iter()
            .flatten()
            .map(|(_, warning)| warning)
            .collect();
        all.push(Warning::HaltsWhenIdle);
        let name = |warning: &Warning| serde_json::to_value(warning).unwrap()["name"].to_string();
        let names: BTreeSet<String> = all.iter().map(name).collect();
        assert_eq!(names.len(), CHECKS.len());
        let mut environment = Environment::default();
        for (plant, _) in
            [planted_states(), planted_limits(), planted_notes()].into_iter().flatten()
        {
            plant(&mut environment);
        }
        let graveness: Vec<Severity> =
            warnings(&environment).iter().map(Warning::severity).collect();
        assert!(graveness.len() > 12 && graveness.is_sorted(), "{graveness:?}");
    }

    /// Each warning states the property and the remedy in one line.
    #[test]
    fn every_warning_has_words_and_a_remedy_of_one_line() {
        for (_, warning) in
            [planted_states(), planted_limits(), planted_notes()].into_iter().flatten()
        {
            let (what, remedy) = (warning.to_string(), warning.remedy());
            assert!(what.len() > 20 && what.len() < 100, "{what}");
            assert!(remedy.len() > 8 && remedy.len() < 90, "{remedy}");
            assert!(!(what + remedy).contains('\n'));
        }
    }
}
