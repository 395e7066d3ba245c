//! Reads the version and the settings of the kernel.

use std::fs;

use ipcperf_model::environment::Kernel;

use super::read::{read_line, read_number};

/// Parameters of the kernel command line that affect IPC, or the part of their name before a dot. Other parameters
/// are private and are not stored.
const PARAMETERS: [&str; 38] = [
    "amd_pstate",
    "apparmor",
    "audit",
    "clocksource",
    "cpufreq",
    "cpuidle",
    "cpuidle_haltpoll",
    "haltpoll",
    "hugepages",
    "idle",
    "init_on_alloc",
    "init_on_free",
    "intel_idle",
    "intel_pstate",
    "irqaffinity",
    "isolcpus",
    "kvm",
    "lsm",
    "maxcpus",
    "mem",
    "mitigations",
    "noautogroup",
    "nohz",
    "nohz_full",
    "nopti",
    "nosmt",
    "nr_cpus",
    "numa_balancing",
    "page_poison",
    "preempt",
    "processor",
    "psi",
    "pti",
    "rcu_nocbs",
    "selinux",
    "slub_debug",
    "spectre_v2",
    "tsc",
];

/// Reads the kernel.
pub(super) fn read() -> Kernel {
    let uname = rustix::system::uname();
    let text = |text: &std::ffi::CStr| text.to_str().ok().map(str::to_owned);
    let (release, build) = (text(uname.release()), text(uname.version()));
    let uptime = read_line("/proc/uptime");
    Kernel {
        kernel: text(uname.sysname()).zip(release.as_ref()).map(|(s, r)| format!("{s} {r}")),
        preemption: chosen_preemption().or_else(|| built_preemption(build.as_deref()?)),
        kernel_build: build,
        architecture: std::env::consts::ARCH.to_owned(),
        kernel_hz: release.and_then(|release| configured_hz(&release)),
        kernel_parameters: read_line("/proc/cmdline").map(|line| parameters(&line)),
        isolated_cpus: read_line("/sys/devices/system/cpu/isolated"),
        nohz_full_cpus: read_line("/sys/devices/system/cpu/nohz_full"),
        mitigations: mitigations(),
        boot_id: read_line("/proc/sys/kernel/random/boot_id"),
        uptime_s: uptime.and_then(|text| text.split('.').next()?.parse().ok()),
    }
}

/// Returns the preemption model that was chosen at boot or later, which the file shows in parentheses. Only root
/// can read it.
fn chosen_preemption() -> Option<String> {
    let all = read_line("/sys/kernel/debug/sched/preempt")?;
    let (_, rest) = all.split_once('(')?;
    rest.split_once(')').map(|(chosen, _)| chosen.to_owned())
}

/// Returns the preemption model that the kernel was built with, from its version string.
fn built_preemption(build: &str) -> Option<String> {
    if read_number("/sys/kernel/realtime") == Some(1) {
        return Some("realtime".to_owned());
    }
    let built = build.split(' ').find_map(|word| match word {
        "PREEMPT_RT" => Some("realtime"),
        "PREEMPT_DYNAMIC" => Some("dynamic"),
        "PREEMPT_LAZY" => Some("lazy"),
        "PREEMPT" => Some("full"),
        _ => None,
    });
    built.map(str::to_owned)
}

/// Reads the configuration file that distributions install. The compressed copy in `/proc` takes longer to unpack
/// than reading everything else.
fn configured_hz(release: &str) -> Option<u64> {
    let configuration = fs::read_to_string(format!("/boot/config-{release}")).ok()?;
    let mut values = configuration.lines().filter_map(|line| line.strip_prefix("CONFIG_HZ="));
    values.next()?.parse().ok()
}

/// Returns the words of the command line that affect IPC. Words after `--` are for the init process.
fn parameters(line: &str) -> Vec<String> {
    let words = line.split_whitespace().take_while(|&word| word != "--");
    let relevant = words.filter(|word| {
        let name = word.split(['=', '.']).next().unwrap_or_default();
        PARAMETERS.contains(&name)
    });
    relevant.map(str::to_owned).collect()
}

fn mitigations() -> Vec<String> {
    let Ok(entries) = fs::read_dir("/sys/devices/system/cpu/vulnerabilities") else {
        return Vec::new();
    };
    let mut states: Vec<String> = entries
        .flatten()
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let state = fs::read_to_string(entry.path()).ok()?;
            Some(format!("{name}: {}", state.trim()))
        })
        .collect();
    states.sort();
    states
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_that_bear_on_ipc_are_kept_and_no_other() {
        let line = "root=UUID=1 isolcpus=1 haltpoll.guest_halt_poll_ns=0 nosmt secret=x -- idle=1";
        assert_eq!(parameters(line), ["isolcpus=1", "haltpoll.guest_halt_poll_ns=0", "nosmt"]);
    }

    #[test]
    fn the_build_says_where_the_kernel_may_be_preempted() {
        let built = |build| built_preemption(build).unwrap_or_default();
        assert_eq!(built("#1 SMP PREEMPT_DYNAMIC Debian"), "dynamic");
        assert_eq!(built("#1 SMP PREEMPT_RT Thu"), "realtime");
        assert_eq!(built("#1 SMP PREEMPT Thu"), "full");
        assert_eq!(built_preemption("#1 SMP Thu"), None);
    }
}
