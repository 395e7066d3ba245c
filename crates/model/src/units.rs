//! Formats figures with their units for display, with three significant digits.

use crate::size::Bytes;

/// Formats `value` in the largest of `units` (factor and name, ascending) in which it is at least 1.
fn format_scaled(value: f64, units: &[(f64, &str)]) -> String {
    let fitting = units.iter().rev().find(|(factor, _)| value >= *factor * 0.9995);
    let (factor, name) = fitting.or_else(|| units.first()).copied().unwrap_or((1.0, ""));
    let value = value / factor;
    let digits = match value {
        v if v >= 99.95 => 0,
        v if v >= 9.995 => 1,
        _ => 2,
    };
    format!("{value:.digits$} {name}")
}

/// Formats bytes per second with decimal units.
pub fn bandwidth(bytes_per_s: f64) -> String {
    format_scaled(bytes_per_s, &[(1.0, "B/s"), (1e3, "kB/s"), (1e6, "MB/s"), (1e9, "GB/s")])
}

/// Formats a number of messages per second with three digits, in the form of `--rate`: `410k/s`.
pub fn rate(per_s: f64) -> String {
    format_scaled(per_s, &[(1.0, "/s"), (1e3, "k/s"), (1e6, "M/s")]).replace(' ', "")
}

/// Formats bytes: exactly if that is short, else with three digits of a binary unit.
#[allow(clippy::cast_precision_loss, reason = "for people, and three digits are left")]
pub fn bytes(bytes: u64) -> String {
    const SHORT: usize = 8;
    let exact = Bytes(bytes).to_string();
    if exact.len() <= SHORT {
        return exact;
    }
    let units = [(1, "B"), (1 << 10, "KiB"), (1 << 20, "MiB"), (1 << 30, "GiB"), (1 << 40, "TiB")];
    format_scaled(bytes as f64, &units.map(|(factor, name): (u64, _)| (factor as f64, name)))
}

/// Formats a frequency given in kHz.
pub fn frequency(khz: f64) -> String {
    format_scaled(khz, &[(1.0, "kHz"), (1e3, "MHz"), (1e6, "GHz")])
}

/// Formats a number without a unit, however small.
pub fn unitless(number: f64) -> String {
    if number > 0.0 && number < 0.0995 {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "2 to 308")]
        let digits = (2.0 - number.log10().floor()) as usize;
        return format!("{number:.digits$}");
    }
    let units = [(1.0, ""), (1e3, "thousand"), (1e6, "million"), (1e9, "billion")];
    format_scaled(number, &units).trim_end().to_owned()
}

/// Formats a time given in ns.
pub fn time(ns: f64) -> String {
    format_scaled(ns, &[(1.0, "ns"), (1e3, "µs"), (1e6, "ms"), (1e9, "s")])
}

/// Formats a time given in ns that may be far below 1 ns.
pub fn short_time(ns: f64) -> String {
    if ns < 0.0995 { format_scaled(ns * 1e3, &[(1e-3, "fs"), (1.0, "ps")]) } else { time(ns) }
}

/// Formats bytes on an axis, in whole binary units.
pub fn axis_bytes(bytes: f64) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let (mut value, mut unit) = (bytes, 0);
    while value >= 1024.0 && unit + 1 < units.len() {
        (value, unit) = (value / 1024.0, unit + 1);
    }
    format!("{value} {}", units[unit])
}

/// Formats a share as a percentage.
pub fn percent(share: f64) -> String {
    let percent = share * 100.0;
    match percent {
        p if p >= 9.95 => format!("{p:.0} %"),
        p if p >= 0.095 || p == 0.0 => format!("{p:.1} %"),
        p => format!("{p:.2} %"),
    }
}

/// Formats a waiting time in seconds, minutes or hours.
pub fn duration(duration: std::time::Duration) -> String {
    let seconds = duration.as_secs_f64();
    match seconds {
        s if s < 9.95 => format!("{s:.1} s"),
        s if s < 120.0 => format!("{s:.0} s"),
        s if s < 7_200.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3_600.0),
    }
}

/// Formats a factor such as `3.4 times`.
pub fn factor(factor: f64) -> String {
    if factor < 9.95 { format!("{factor:.1} times") } else { format!("{factor:.0} times") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits_and_the_right_unit() {
        assert_eq!(time(0.856), "0.86 ns");
        assert_eq!(time(83.44), "83.4 ns");
        assert_eq!(time(999.96), "1.00 µs");
        assert_eq!(time(28_400.0), "28.4 µs");
        assert_eq!(bandwidth(4.612e9), "4.61 GB/s");
        assert_eq!(bandwidth(129.6e9), "130 GB/s");
        assert_eq!(bandwidth(512.0), "512 B/s");
        assert_eq!(percent(0.0214), "2.1 %");
        assert_eq!(percent(0.25), "25 %");
        assert_eq!(percent(0.0), "0.0 %");
        assert_eq!(percent(0.0002), "0.02 %");
        assert_eq!(factor(1.23), "1.2 times");
        assert_eq!(unitless(0.001_946), "0.00195");
        assert_eq!(unitless(16.0), "16.0");
        assert_eq!(unitless(34_560.0), "34.6 thousand");
        assert_eq!(frequency(3_400_000.0), "3.40 GHz");
    }

    #[test]
    fn bytes_are_exact_where_that_is_short() {
        assert_eq!(bytes(4096), "4 KiB");
        assert_eq!(bytes(212_992), "208 KiB");
        assert_eq!(bytes(1_000_000), "1 MB");
        assert_eq!(bytes(65_507), "65507 B");
        assert_eq!(bytes(25_276_510_208), "23.5 GiB");
        assert_eq!(bytes(u64::MAX), "16777216 TiB");
    }
}
