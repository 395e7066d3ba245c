//! Reads frequency and idle states: how fast the CPUs run, and how fast they wake.

use ipcperf_model::environment::Power;

use super::read::{read_flag, read_line, read_number};

const FREQUENCY: &str = "/sys/devices/system/cpu/cpu0/cpufreq";
const IDLE: &str = "/sys/devices/system/cpu/cpuidle";

/// Reads the frequency and the idle states.
pub(super) fn read() -> Power {
    let frequency = |name: &str| read_line(format!("{FREQUENCY}/{name}"));
    let states = idle_states();
    let allowed = states.iter().filter(|state| state.disabled != Some(true));
    Power {
        frequency_driver: frequency("scaling_driver"),
        governor: frequency("scaling_governor"),
        frequency_min_khz: read_number(format!("{FREQUENCY}/scaling_min_freq")),
        frequency_max_khz: read_number(format!("{FREQUENCY}/scaling_max_freq")),
        boost: boost(),
        energy_preference: frequency("energy_performance_preference"),
        idle_driver: read_line(format!("{IDLE}/current_driver")),
        idle_governor: read_line(format!("{IDLE}/current_governor"))
            .or_else(|| read_line(format!("{IDLE}/current_governor_ro"))),
        idle_exit_latency_us: allowed.filter_map(|state| state.latency_us).max(),
        idle_states: (!states.is_empty())
            .then(|| states.into_iter().map(|state| state.name).collect()),
    }
}

/// Reads the general switch, or the one of Intel's driver, which has the opposite meaning.
fn boost() -> Option<bool> {
    let general = read_flag("/sys/devices/system/cpu/cpufreq/boost");
    let intel = || read_flag("/sys/devices/system/cpu/intel_pstate/no_turbo").map(|none| !none);
    general.or_else(intel)
}

struct IdleState {
    name: String,
    latency_us: Option<u64>,
    disabled: Option<bool>,
}

fn idle_states() -> Vec<IdleState> {
    let state = |index| {
        let folder = format!("/sys/devices/system/cpu/cpu0/cpuidle/state{index}");
        Some(IdleState {
            name: read_line(format!("{folder}/name"))?,
            latency_us: read_number(format!("{folder}/latency")),
            disabled: read_flag(format!("{folder}/disable")),
        })
    };
    (0..16).map_while(state).collect()
}
