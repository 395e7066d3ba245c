//! Quantities on axes: name, unit, scale, and their values in summaries.

use std::collections::BTreeMap;
use std::sync::Arc;

use ipcperf_model::size::Bytes;
use ipcperf_model::units;
use ipcperf_results::analysis::{
    CaseSummary, CountKind, CountedValue, PacedSummary, RoleCost, Spread,
};

use super::axis_unit::{AxisUnit, BANDWIDTHS, PERCENT, TIMES};
use super::scale::Scale;
use crate::wording::amount;

/// A quantity on an axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// Bytes passed to one call.
    BufferBytes,
    /// Bytes of one message.
    MessageBytes,
    /// Bytes per second.
    Bandwidth,
    /// Mean round-trip time of a run.
    RoundTripMean,
    /// Duration of a single round trip.
    SingleRoundTrip,
    /// Hardware limit as a share of the measured time.
    ShareOfLimit,
    /// CPU time of a role per byte.
    CpuPerByte,
    /// CPU time of a role per message or round trip.
    CpuPerMessage,
    /// CPU time of all roles together per round trip.
    CpuPerRoundTrip,
    /// Median latency of paced traffic from its schedule.
    PacedLatency,
    /// CPU time of all roles together per message or round trip of paced traffic, without that of the pacer.
    PacedCpu,
    /// A counted event of a role, by name.
    Counter(Arc<str>, CountKind),
    /// Cumulative share of the values.
    CumulatedShare,
    /// One row for each case.
    Case,
    /// A metric or factor of a study.
    Study(StudyQuantity),
}

/// A metric or factor of a study.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StudyQuantity {
    /// Name, with the unit if the axis does not choose it.
    name: Arc<str>,
    /// Unit as in metrics: `ns`, `bytes/s`; empty if there is none.
    unit: Arc<str>,
    pub(super) scale: Scale,
}

impl Quantity {
    /// Creates a quantity of a study called `name`, in `unit`, on `scale`.
    pub fn from_study(name: &str, unit: &str, scale: Scale) -> Self {
        let name = match unit {
            "" | "ns" | "bytes/s" => name.to_owned(),
            unit => format!("{name} ({unit})"),
        };
        Self::Study(StudyQuantity { name: name.into(), unit: unit.into(), scale })
    }

    /// Returns the name in the title of the axis. If [`Quantity::units`] is empty, it includes the unit, if any.
    pub(super) fn name(&self) -> &str {
        match self {
            Self::BufferBytes => "buffer size (bytes)",
            Self::MessageBytes => "message size (bytes)",
            Self::Bandwidth => "bandwidth",
            Self::RoundTripMean => "mean round-trip time",
            Self::SingleRoundTrip => "round-trip time",
            Self::ShareOfLimit => "share of the hardware limit",
            Self::CpuPerByte => "CPU time per byte",
            Self::CpuPerMessage => "CPU time per message",
            Self::CpuPerRoundTrip => "CPU time per round trip, all roles",
            Self::PacedLatency => "median latency",
            Self::PacedCpu => "CPU time per message, all roles",
            Self::Counter(_, CountKind::PerMessage) => "events per message",
            Self::Counter(_, CountKind::NsPerMessage) => "time per message",
            Self::Counter(_, CountKind::Ratio) => "ratio",
            Self::Counter(_, CountKind::Share) => "share of the samples",
            Self::CumulatedShare => "round trips that took at most this long",
            Self::Case => "mechanism",
            Self::Study(studied) => &studied.name,
        }
    }

    /// Returns the units that an axis can use, in ascending order; the axis chooses one that fits its values. Empty if
    /// the name or each tick label includes the unit, or if the quantity has no unit.
    pub(super) fn units(&self) -> &'static [AxisUnit] {
        match self {
            Self::Bandwidth => BANDWIDTHS,
            Self::RoundTripMean
            | Self::SingleRoundTrip
            | Self::CpuPerByte
            | Self::CpuPerMessage
            | Self::CpuPerRoundTrip
            | Self::PacedLatency
            | Self::PacedCpu
            | Self::Counter(_, CountKind::NsPerMessage) => TIMES,
            Self::ShareOfLimit | Self::CumulatedShare | Self::Counter(_, CountKind::Share) => {
                PERCENT
            }
            Self::Study(studied) => match &*studied.unit {
                "ns" => TIMES,
                "bytes/s" => BANDWIDTHS,
                _ => &[],
            },
            Self::BufferBytes
            | Self::MessageBytes
            | Self::Counter(_, CountKind::PerMessage | CountKind::Ratio)
            | Self::Case => &[],
        }
    }

    /// Formats a value with its unit.
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "buffer sizes are whole and not negative; beyond 2^53 for people"
    )]
    pub(super) fn format(&self, value: f64) -> String {
        match self {
            Self::BufferBytes | Self::MessageBytes => Bytes(value as u64).to_string(),
            Self::Bandwidth => units::bandwidth(value),
            Self::RoundTripMean
            | Self::SingleRoundTrip
            | Self::CpuPerMessage
            | Self::CpuPerRoundTrip
            | Self::PacedLatency
            | Self::PacedCpu => units::time(value),
            Self::CpuPerByte => units::short_time(value),
            Self::ShareOfLimit | Self::CumulatedShare | Self::Counter(_, CountKind::Share) => {
                units::percent(value)
            }
            Self::Counter(_, CountKind::NsPerMessage) => units::time(value),
            Self::Counter(..) => units::unitless(value),
            Self::Case => String::new(),
            Self::Study(studied) => amount(value, &studied.unit),
        }
    }

    /// Formats a value as a tick label with its unit, without trailing zeros.
    pub(super) fn tick_label(&self, value: f64) -> String {
        if self.scale() == Scale::Log2 {
            return units::axis_bytes(value);
        }
        let words = self.format(value);
        match words.split_once(' ') {
            Some((number, unit)) if number.contains('.') => {
                format!("{} {unit}", number.trim_end_matches('0').trim_end_matches('.'))
            }
            None if words.contains('.') => {
                words.trim_end_matches('0').trim_end_matches('.').to_owned()
            }
            _ => words,
        }
    }

    /// Whether each role of a case has its own value.
    pub(super) const fn is_per_role(&self) -> bool {
        matches!(self, Self::CpuPerByte | Self::CpuPerMessage | Self::Counter(..))
    }

    /// Whether only paced cases have values.
    pub(super) const fn is_paced(&self) -> bool {
        matches!(self, Self::PacedLatency | Self::PacedCpu)
    }

    /// Returns the value for a case, or for one of its roles, over its repetitions.
    pub(super) fn evaluate(&self, case: &CaseSummary, role: Option<&str>) -> Option<Spread> {
        let cost = || role_cost(case, role?);
        match self {
            Self::Bandwidth => case.bandwidth_bytes_per_s,
            Self::RoundTripMean => case.round_trip_ns_mean,
            Self::ShareOfLimit => share_of_limit(case),
            Self::CpuPerByte => cost()?.cpu_ns_per_byte,
            Self::CpuPerMessage => Some(cost()?.cpu_ns_per_message),
            Self::CpuPerRoundTrip => case.cpu_ns_per_message,
            Self::PacedLatency => carried(case)?.latency_ns_p50,
            Self::PacedCpu => carried(case)?.cpu_ns_per_message,
            Self::Counter(name, kind) => counter_spread(case, role?, name, *kind),
            Self::BufferBytes
            | Self::MessageBytes
            | Self::SingleRoundTrip
            | Self::CumulatedShare
            | Self::Case
            | Self::Study(_) => None,
        }
    }
}

/// Returns the figures of a paced case that are reliable: it was not always disturbed, and carries its rate.
fn carried(case: &CaseSummary) -> Option<&PacedSummary> {
    case.paced.as_ref().filter(|paced| !paced.only_disturbed && !paced.is_saturated())
}

fn counter_spread(case: &CaseSummary, role: &str, name: &str, kind: CountKind) -> Option<Spread> {
    let is_meant =
        |one: &&CountedValue| one.role == role && one.what.name == name && one.what.kind == kind;
    case.counted.iter().find(is_meant).map(|one| one.spread)
}

fn role_cost<'a>(case: &'a CaseSummary, role: &str) -> Option<&'a RoleCost> {
    let roles: &BTreeMap<String, RoleCost> = &case.roles;
    roles.get(role)
}

/// Returns the share of the hardware limit. Its spread follows from the metric: it is proportional to a bandwidth, and
/// inversely proportional to a time.
fn share_of_limit(case: &CaseSummary) -> Option<Spread> {
    let (roof, spread) = (case.hardware_limit?, case.main()?.spread());
    let from_bandwidth = case.bandwidth_bytes_per_s.is_some();
    let share = |value: f64| match from_bandwidth {
        true => roof.share * value / spread.median,
        false => roof.share * spread.median / value,
    };
    let ends = spread.quartiles().map(|half| half.map(share));
    let [q1, q3] = [f64::min, f64::max].map(|end| ends.map(|[one, other]| end(one, other)));
    Some(Spread { median: roof.share, q1, q3, n: spread.n })
}
