//! Load of the machine by other activity.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Load of the machine at the time of the query.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Load {
    /// Load average over one minute: mean number of tasks that run or wait.
    pub load_average_1min: Option<f64>,
    /// Load average over five minutes.
    pub load_average_5min: Option<f64>,
    /// Number of runnable tasks, including ipcperf itself.
    pub runnable_tasks: Option<u64>,
    /// Share of the last ten seconds in which at least one task waited for a CPU (pressure stall information).
    pub cpu_pressure_10s_share: Option<f64>,
}
