//! Axes: the choice between linear and logarithmic, mapping of values to positions, and tick marks.

use super::axis_unit::AxisUnit;
use super::quantity::Quantity;
use super::scale::Scale;

impl Quantity {
    /// Returns the scale of the axis. This function decides for every axis whether it is linear or logarithmic.
    ///
    /// The quantity of a study's axis carries its scale, which is chosen where the quantity is created:
    ///
    /// - the horizontal axis by `factor_axis` (`presentation/plot_data.rs`): logarithmic, or rows;
    /// - the vertical axis of a figure by `plot` (`presentation/figures.rs`): logarithmic, or linear if the study file
    ///   has `scale = "linear"`;
    /// - the vertical axis of a claim by `plot` (`presentation/claims.rs`): logarithmic, or linear for shares;
    /// - p-values (`presentation/p_values.rs`): linear.
    pub const fn scale(&self) -> Scale {
        match self {
            Self::BufferBytes | Self::MessageBytes => Scale::Log2,
            Self::CumulatedShare => Scale::Fraction,
            Self::Case => Scale::Categorical,
            Self::Study(studied) => studied.scale,
            Self::Bandwidth
            | Self::RoundTripMean
            | Self::SingleRoundTrip
            | Self::ShareOfLimit
            | Self::CpuPerByte
            | Self::CpuPerMessage
            | Self::CpuPerRoundTrip
            | Self::PacedLatency
            | Self::PacedCpu
            | Self::Counter(..) => Scale::Log10,
        }
    }
}

/// An axis that covers all values for which it was created.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Axis {
    pub(super) quantity: Quantity,
    low: f64,
    high: f64,
}

/// Maximum number of ticks that fit a panel.
const MAX_TICKS: f64 = 6.0;
/// Margin beyond the outermost values, as a share of the axis.
const MARGIN: f64 = 0.03;
/// Factor by which the axis of a single value extends on each side.
const SINGLE_VALUE_FACTOR: f64 = 1.5;

impl Axis {
    /// Creates the axis of `quantity` that covers `values`. Values without a position on its scale are ignored.
    pub(super) fn from_values(
        quantity: Quantity,
        values: impl Iterator<Item = f64>,
    ) -> Option<Self> {
        let fits = |value: &f64| is_on_scale(quantity.scale(), *value);
        let (low, high) = match quantity.scale() {
            Scale::Fraction => (0.0, 1.0),
            _ => values.filter(fits).fold(None, extend_range)?,
        };
        let (low, high) = match quantity.scale() {
            Scale::Fraction => (low, high),
            Scale::Categorical => (low - 0.5, high + 0.5),
            Scale::Linear => linear_range(low, high),
            Scale::Log2 | Scale::Log10 if high / low < 1.2 => {
                (low / SINGLE_VALUE_FACTOR, high * SINGLE_VALUE_FACTOR)
            }
            Scale::Log2 | Scale::Log10 => {
                let margin = (high / low).powf(MARGIN);
                (low / margin, high * margin)
            }
        };
        Some(Self { quantity, low, high })
    }

    /// Creates the axis of `quantity` from `low` to `high`, which must have a position on its scale.
    pub(super) const fn from_range(quantity: Quantity, low: f64, high: f64) -> Self {
        Self { quantity, low, high }
    }

    /// Returns the position of `value`, from 0 to 1 along the axis, or `None` if it has none.
    pub(super) fn position(&self, value: f64) -> Option<f64> {
        let scale = self.quantity.scale();
        let position = match scale {
            Scale::Log2 | Scale::Log10 => {
                (value.ln() - self.low.ln()) / (self.high.ln() - self.low.ln())
            }
            Scale::Fraction | Scale::Categorical | Scale::Linear => {
                (value - self.low) / (self.high - self.low)
            }
        };
        (is_on_scale(scale, value) && position.is_finite()).then_some(position)
    }

    /// Whether `value` is on the axis.
    pub(super) fn contains(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }

    /// Returns `value` clamped to the axis.
    pub(super) fn clamp(&self, value: f64) -> f64 {
        value.clamp(self.low, self.high)
    }

    /// Returns the title: the quantity, and the unit of the tick labels.
    pub(super) fn title(&self) -> String {
        let name = self.quantity.name();
        self.unit().map_or_else(|| name.to_owned(), |unit| format!("{name} ({})", unit.name))
    }

    /// Returns the unit of all tick labels, which the title names. `None` if the name of the quantity already includes
    /// the unit, if each tick label has its own unit, or if the quantity has no unit.
    fn unit(&self) -> Option<AxisUnit> {
        AxisUnit::choose(self.quantity.units(), self.high)
    }

    /// Returns the tick values with their labels.
    pub(super) fn ticks(&self) -> Vec<(f64, String)> {
        let values = match self.quantity.scale() {
            Scale::Log2 => self.log2_ticks(),
            Scale::Log10 => self.log10_ticks(),
            Scale::Fraction => vec![0.0, 0.25, 0.5, 0.75, 1.0],
            Scale::Categorical => Vec::new(),
            Scale::Linear => self.linear_ticks(),
        };
        let unit = self.unit();
        let label = |value| match unit {
            Some(unit) => unit.tick_label(value),
            None => self.quantity.tick_label(value),
        };
        values.into_iter().map(|value| (value, label(value))).collect()
    }

    fn log2_ticks(&self) -> Vec<f64> {
        let (first, last) = (self.low.log2().ceil(), self.high.log2().floor());
        let step = ((last - first + 1.0) / MAX_TICKS).ceil().max(1.0);
        steps(first, last, step).map(f64::exp2).collect()
    }

    /// Returns powers of ten if there are several; otherwise 1, 2 and 5 of each, or finer steps.
    fn log10_ticks(&self) -> Vec<f64> {
        let decades = self.high.log10() - self.low.log10();
        let (first, last) = (self.low.log10().floor(), self.high.log10().ceil());
        if decades > 3.0 {
            let step = (decades / MAX_TICKS).ceil().max(1.0);
            let powers = steps(first, last, step).map(|power| 10_f64.powf(power));
            return powers.filter(|&value| self.contains(value)).collect();
        }
        let mantissas: &[f64] = match decades {
            d if d > 1.2 => &[1.0, 3.0],
            d if d > 0.6 => &[1.0, 2.0, 5.0],
            _ => return self.linear_ticks(),
        };
        let values = steps(first, last, 1.0)
            .flat_map(|power| mantissas.iter().map(move |m| m * 10_f64.powf(power)));
        values.filter(|&value| self.contains(value)).collect()
    }

    /// Returns round values at equal distances, for an axis shorter than a decade.
    fn linear_ticks(&self) -> Vec<f64> {
        let rough = (self.high - self.low) / (MAX_TICKS - 2.0);
        let power = 10_f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].map(|m| m * power).into_iter().find(|&s| s >= rough);
        let step = step.unwrap_or(rough);
        let (first, last) = ((self.low / step).ceil(), (self.high / step).floor());
        // Adding 0 turns -0 into 0; otherwise the label would have a minus sign.
        steps(first, last, 1.0).map(|k| k * step + 0.0).collect()
    }
}

/// Counts from `from` to `to` in steps of `step`. The number of values is limited, because a file may contain anything.
fn steps(from: f64, to: f64, step: f64) -> impl Iterator<Item = f64> {
    const MAX_STEPS: usize = 64;
    std::iter::successors(Some(from), move |at| Some(at + step))
        .take_while(move |at| *at <= to + step * 1e-9)
        .take(MAX_STEPS)
}

fn is_on_scale(scale: Scale, value: f64) -> bool {
    match scale {
        Scale::Log2 | Scale::Log10 => value.is_finite() && value > 0.0,
        Scale::Fraction | Scale::Categorical | Scale::Linear => value.is_finite(),
    }
}

/// Returns the ends of an axis that includes 0.
fn linear_range(low: f64, high: f64) -> (f64, f64) {
    let (low, high) = (low.min(0.0), high.max(0.0));
    let room = (high - low) * MARGIN;
    match () {
        () if low.total_cmp(&high).is_eq() => (0.0, 1.0),
        () if low < 0.0 => (low - room, high + room),
        () => (low, high + room),
    }
}

#[allow(clippy::unnecessary_wraps, reason = "the accumulator of a fold")]
fn extend_range(range: Option<(f64, f64)>, value: f64) -> Option<(f64, f64)> {
    Some(range.map_or((value, value), |(low, high)| (low.min(value), high.max(value))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(quantity: Quantity, values: &[f64]) -> Axis {
        Axis::from_values(quantity, values.iter().copied()).unwrap()
    }

    fn labels(quantity: Quantity, values: &[f64]) -> Vec<String> {
        axis(quantity, values).ticks().into_iter().map(|(_, label)| label).collect()
    }

    #[test]
    fn ticks_are_round_and_few() {
        let sizes = labels(Quantity::BufferBytes, &[64.0, 4_194_304.0]);
        assert_eq!(sizes, ["64 B", "512 B", "4 KiB", "32 KiB", "256 KiB", "2 MiB"]);
        let wide = labels(Quantity::Bandwidth, &[2e6, 2e10]);
        assert_eq!(wide, ["0.01", "0.1", "1", "10"]);
        let narrow = labels(Quantity::RoundTripMean, &[2_000.0, 9_000.0]);
        assert_eq!(narrow, ["2", "5"]);
        assert_eq!(labels(Quantity::CumulatedShare, &[]), ["0", "25", "50", "75", "100"]);
    }

    #[test]
    fn the_title_names_the_unit_of_the_labels() {
        let title = |quantity, values: &[f64]| axis(quantity, values).title();
        assert_eq!(title(Quantity::Bandwidth, &[2e6, 2e10]), "bandwidth (GB/s)");
        let times = [800.0, 90_000.0];
        assert_eq!(title(Quantity::RoundTripMean, &times), "mean round-trip time (µs)");
        assert_eq!(title(Quantity::ShareOfLimit, &[0.01, 1.0]), "share of the hardware limit (%)");
        assert_eq!(title(Quantity::BufferBytes, &[64.0, 512.0]), "buffer size (bytes)");
    }

    #[test]
    fn an_axis_that_begins_just_below_nothing_has_no_negative_nothing() {
        let axis = Axis::from_range(Quantity::CumulatedShare, 0.0, 1.0);
        let below = Axis { low: -0.004, high: 0.104, ..axis };
        assert!(
            below.linear_ticks().iter().all(|value| value.is_sign_positive()),
            "{:?}",
            below.linear_ticks()
        );
    }

    #[test]
    fn one_value_lies_in_the_middle() {
        let axis = Axis::from_values(Quantity::Bandwidth, [5e9].into_iter()).unwrap();
        assert!((axis.position(5e9).unwrap() - 0.5).abs() < 1e-9);
        assert!(!axis.ticks().is_empty());
    }

    #[test]
    fn what_has_no_place_is_left_out() {
        let absurd = [0.0, -1.0, f64::NAN, f64::INFINITY];
        assert_eq!(Axis::from_values(Quantity::Bandwidth, absurd.into_iter()), None);
        let axis = Axis::from_values(Quantity::Bandwidth, [1e-300, 1e300].into_iter()).unwrap();
        assert!(axis.ticks().len() <= 64);
        assert_eq!(axis.position(0.0), None);
    }
}
