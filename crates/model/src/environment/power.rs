//! Frequency and idle states: how fast the CPUs run, and how fast they wake.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Frequency and idle states of the first CPU.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Power {
    /// Driver that sets the frequency.
    pub frequency_driver: Option<String>,
    /// Frequency governor of the first CPU.
    pub governor: Option<String>,
    /// Minimum frequency that the governor may choose, kHz.
    pub frequency_min_khz: Option<u64>,
    /// Maximum frequency that the governor may choose, kHz.
    pub frequency_max_khz: Option<u64>,
    /// Whether CPUs may exceed their rated frequency if temperature and load permit.
    pub boost: Option<bool>,
    /// Preference of the CPU between performance and power saving (`energy_performance_preference`).
    pub energy_preference: Option<String>,
    /// Driver that provides the idle states.
    pub idle_driver: Option<String>,
    /// Governor that chooses the idle state.
    pub idle_governor: Option<String>,
    /// Idle states of the first CPU, lightest first.
    pub idle_states: Option<Vec<String>>,
    /// Time to leave the deepest allowed idle state (exit latency), as reported by the idle driver, us.
    pub idle_exit_latency_us: Option<u64>,
}
