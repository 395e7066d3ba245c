//! How busy the machine is with other things.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::read::line;

/// How busy the machine was when it was asked.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Load {
    /// Tasks that ran or wanted to, averaged over a minute.
    pub(crate) load_average_1min: Option<f64>,
    /// The same over five minutes.
    pub(crate) load_average_5min: Option<f64>,
    /// Tasks that run or want to, this one with them.
    pub(crate) runnable_tasks: Option<u64>,
    /// Share of the last ten seconds in which a task waited for a CPU.
    pub(crate) cpu_pressure_10s_share: Option<f64>,
}

impl Load {
    pub(super) fn read() -> Self {
        let load = line("/proc/loadavg").unwrap_or_default();
        let words: Vec<&str> = load.split(' ').collect();
        Self {
            load_average_1min: words.first().and_then(|word| word.parse().ok()),
            load_average_5min: words.get(1).and_then(|word| word.parse().ok()),
            runnable_tasks: words.get(3).and_then(|word| word.split('/').next()?.parse().ok()),
            cpu_pressure_10s_share: line("/proc/pressure/cpu").and_then(|text| pressure(&text)),
        }
    }
}

/// The first average of `some avg10=0.21 avg60=...`, as a share.
fn pressure(text: &str) -> Option<f64> {
    let (_, rest) = text.strip_prefix("some ")?.split_once("avg10=")?;
    let percent: f64 = rest.split(' ').next()?.parse().ok()?;
    Some(percent / 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pressure_is_a_share() {
        assert_eq!(pressure("some avg10=25.00 avg60=1.00\nfull avg10=9.00"), Some(0.25));
        assert_eq!(pressure("full avg10=9.00"), None);
    }
}
