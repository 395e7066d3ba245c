//! Frequency and idling: how fast the CPUs run, and how fast they wake.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::read::{flag, line, number};

/// Frequency and idling, of the first CPU.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Power {
    /// What sets the frequency.
    pub(crate) frequency_driver: Option<String>,
    /// The frequency governor of the first CPU.
    pub(crate) governor: Option<String>,
    /// Lowest frequency it may choose.
    pub(crate) frequency_min_khz: Option<u64>,
    /// Highest frequency it may choose.
    pub(crate) frequency_max_khz: Option<u64>,
    /// Whether CPUs may run faster than rated while it is cool and quiet.
    pub(crate) boost: Option<bool>,
    /// What the CPU itself prefers, speed or saving.
    pub(crate) energy_preference: Option<String>,
    /// What puts an idle CPU to sleep.
    pub(crate) idle_driver: Option<String>,
    /// What chooses how deeply it sleeps.
    pub(crate) idle_governor: Option<String>,
    /// The sleeps there are, lightest first.
    pub(crate) idle_states: Option<Vec<String>>,
    /// Time to wake from the deepest sleep allowed, as its driver has it.
    pub(crate) idle_exit_latency_us: Option<u64>,
}

const FREQUENCY: &str = "/sys/devices/system/cpu/cpu0/cpufreq";
const IDLE: &str = "/sys/devices/system/cpu/cpuidle";

impl Power {
    pub(super) fn read() -> Self {
        let frequency = |name: &str| line(format!("{FREQUENCY}/{name}"));
        let states = idle_states();
        let allowed = states.iter().filter(|state| state.disabled != Some(true));
        Self {
            frequency_driver: frequency("scaling_driver"),
            governor: frequency("scaling_governor"),
            frequency_min_khz: number(format!("{FREQUENCY}/scaling_min_freq")),
            frequency_max_khz: number(format!("{FREQUENCY}/scaling_max_freq")),
            boost: boost(),
            energy_preference: frequency("energy_performance_preference"),
            idle_driver: line(format!("{IDLE}/current_driver")),
            idle_governor: line(format!("{IDLE}/current_governor"))
                .or_else(|| line(format!("{IDLE}/current_governor_ro"))),
            idle_exit_latency_us: allowed.filter_map(|state| state.latency_us).max(),
            idle_states: (!states.is_empty())
                .then(|| states.into_iter().map(|state| state.name).collect()),
        }
    }
}

/// The general switch, or that of Intel's own driver, which is the other way round.
fn boost() -> Option<bool> {
    let general = flag("/sys/devices/system/cpu/cpufreq/boost");
    let intel = || flag("/sys/devices/system/cpu/intel_pstate/no_turbo").map(|none| !none);
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
            name: line(format!("{folder}/name"))?,
            latency_us: number(format!("{folder}/latency")),
            disabled: flag(format!("{folder}/disable")),
        })
    };
    (0..16).map_while(state).collect()
}
