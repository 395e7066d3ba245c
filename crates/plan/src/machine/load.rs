//! Reads the load of the machine by other activity.

use ipcperf_model::environment::Load;

use super::read::read_line;

/// Reads the load.
pub(super) fn read() -> Load {
    let load = read_line("/proc/loadavg").unwrap_or_default();
    let words: Vec<&str> = load.split(' ').collect();
    Load {
        load_average_1min: words.first().and_then(|word| word.parse().ok()),
        load_average_5min: words.get(1).and_then(|word| word.parse().ok()),
        runnable_tasks: words.get(3).and_then(|word| word.split('/').next()?.parse().ok()),
        cpu_pressure_10s_share: read_line("/proc/pressure/cpu").and_then(|text| pressure(&text)),
    }
}

/// Parses the first average of `some avg10=0.21 avg60=...` as a share.
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
