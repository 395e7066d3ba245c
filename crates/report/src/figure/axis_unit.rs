//! Unit of an axis: its title names the unit once, so that tick labels are plain numbers.

/// A unit: its size in the base unit of the quantity, and its name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct AxisUnit {
    factor: f64,
    pub(super) name: &'static str,
}

/// Units of times in ns.
pub(super) const TIMES: &[AxisUnit] = &[
    unit(1e-6, "fs"),
    unit(1e-3, "ps"),
    unit(1.0, "ns"),
    unit(1e3, "µs"),
    unit(1e6, "ms"),
    unit(1e9, "s"),
];
/// Units of bandwidths in bytes per second.
pub(super) const BANDWIDTHS: &[AxisUnit] =
    &[unit(1.0, "B/s"), unit(1e3, "kB/s"), unit(1e6, "MB/s"), unit(1e9, "GB/s")];
/// Unit of shares.
pub(super) const PERCENT: &[AxisUnit] = &[unit(0.01, "%")];

/// Minimum ratio of the upper end of an axis to its unit. Thus, numbers have few digits on both ends of most axes.
const MIN_RATIO: f64 = 2.0;
/// Numbers that are written without an exponent.
const PLAIN: std::ops::Range<f64> = 1e-4..1e6;
/// Decimals of a tick label, before trailing zeros are removed.
const DECIMALS: usize = 6;

const fn unit(factor: f64, name: &'static str) -> AxisUnit {
    AxisUnit { factor, name }
}

impl AxisUnit {
    /// Returns the largest of `units`, which are in ascending order, that is small enough for an axis up to `high`, or
    /// the smallest. `None` if there are no units.
    pub(super) fn choose(units: &[Self], high: f64) -> Option<Self> {
        let fitting = units.iter().rfind(|unit| high >= unit.factor * MIN_RATIO);
        fitting.or(units.first()).copied()
    }

    /// Formats a tick label without the unit and without trailing zeros.
    pub(super) fn tick_label(self, value: f64) -> String {
        let number = value / self.factor;
        if number != 0.0 && !PLAIN.contains(&number.abs()) {
            return format!("{number:.0e}");
        }
        let text = format!("{number:.DECIMALS$}");
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_unit_gives_short_numbers_on_both_ends() {
        let name = |units, high| AxisUnit::choose(units, high).map(|unit| unit.name);
        assert_eq!(name(TIMES, 1_500.0), Some("ns"));
        assert_eq!(name(TIMES, 4_000.0), Some("µs"));
        assert_eq!(name(TIMES, 40_000.0), Some("µs"));
        assert_eq!(name(BANDWIDTHS, 1.5e9), Some("MB/s"));
        assert_eq!(name(BANDWIDTHS, 2e10), Some("GB/s"));
        assert_eq!(name(BANDWIDTHS, 1.0), Some("B/s"), "there is no smaller unit");
        assert_eq!(name(&[], 1.0), None);
    }

    #[test]
    fn tick_labels_are_plain_numbers() {
        let microseconds = AxisUnit::choose(TIMES, 40_000.0).unwrap();
        let labels = [50.0, 500.0, 20_000.0].map(|value| microseconds.tick_label(value));
        assert_eq!(labels, ["0.05", "0.5", "20"]);
        assert_eq!(PERCENT[0].tick_label(0.25), "25");
        assert_eq!(BANDWIDTHS[0].tick_label(1e300), "1e300");
    }
}
