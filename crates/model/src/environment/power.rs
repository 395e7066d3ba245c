//! Frequency and idling: how fast the CPUs run, and how fast they wake.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Frequency and idling, of the first CPU.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Power {
    /// What sets the frequency.
    pub frequency_driver: Option<String>,
    /// The frequency governor of the first CPU.
    pub governor: Option<String>,
    /// Lowest frequency it may choose.
    pub frequency_min_khz: Option<u64>,
    /// Highest frequency it may choose.
    pub frequency_max_khz: Option<u64>,
    /// Whether CPUs may run faster than rated while it is cool and quiet.
    pub boost: Option<bool>,
    /// What the CPU itself prefers, speed or saving.
    pub energy_preference: Option<String>,
    /// What puts an idle CPU to sleep.
    pub idle_driver: Option<String>,
    /// What chooses how deeply it sleeps.
    pub idle_governor: Option<String>,
    /// The sleeps there are, lightest first.
    pub idle_states: Option<Vec<String>>,
    /// Time to wake from the deepest sleep allowed, as its driver has it.
    pub idle_exit_latency_us: Option<u64>,
}
