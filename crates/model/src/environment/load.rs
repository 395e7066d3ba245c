//! How busy the machine is with other things.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How busy the machine was when it was asked.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Load {
    /// Tasks that ran or wanted to, averaged over a minute.
    pub load_average_1min: Option<f64>,
    /// The same over five minutes.
    pub load_average_5min: Option<f64>,
    /// Tasks that run or want to, this one with them.
    pub runnable_tasks: Option<u64>,
    /// Share of the last ten seconds in which a task waited for a CPU.
    pub cpu_pressure_10s_share: Option<f64>,
}
