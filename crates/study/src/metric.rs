//! Metrics: named numbers of a sample, and numbers observed by instruments.

use std::collections::BTreeMap;

use ipcperf_model::Role;
use ipcperf_model::suggestion::nearest;
use ipcperf_results::analysis::{main_figure, ns_per_message};
use ipcperf_results::{ObservationRecord, Sample, keys_of_roles, role_key};

use super::document::Entry;
use super::mistake::Mistakes;
use crate::better::{Better, float};
use crate::observation_metric::Seen;

/// A number taken from a sample.
pub struct OfSample {
    /// Name of the metric.
    pub name: &'static str,
    /// Unit of the metric.
    pub unit: &'static str,
    /// Direction in which it improves.
    pub better: Better,
    /// One-line description.
    pub about: &'static str,
    value: fn(&Sample) -> Option<f64>,
}

/// A metric.
#[derive(Clone, Debug, PartialEq)]
pub enum Metric {
    /// A metric of [`METRICS`], by name.
    Named(&'static str),
    /// A number recorded for each role, by its key in the results.
    OfRole(String),
    /// A number observed by an instrument.
    Seen(Seen),
}

/// Returns the sum of `key` over the roles that have it, or `None` if no role has it.
fn over_roles(sample: &Sample, key: &str) -> Option<f64> {
    let roles = Role::ALL.into_iter();
    let values = roles.filter_map(|role| *sample.roles.get(&role_key(role, key))?);
    values.map(float).reduce(|sum, value| sum + value)
}

/// The metrics that have a name.
pub const METRICS: &[OfSample] = &[
    OfSample {
        name: "bandwidth",
        unit: "bytes/s",
        better: Better::Higher,
        about: "bytes that arrived each second",
        value: |sample| sample.bandwidth_bytes_per_s.map(float),
    },
    OfSample {
        name: "round_trip",
        unit: "ns",
        better: Better::Lower,
        about: "the mean time there and back",
        value: |sample| sample.round_trip_ns_mean,
    },
    OfSample {
        name: "round_trips_per_s",
        unit: "1/s",
        better: Better::Higher,
        about: "round trips each second",
        value: |sample| sample.round_trip_ns_mean.map(|ns| 1e9 / ns),
    },
    OfSample {
        name: "round_trip_p50",
        unit: "ns",
        better: Better::Lower,
        about: "the median time there and back",
        value: |sample| sample.round_trip_ns_p50.map(float),
    },
    OfSample {
        name: "round_trip_p99",
        unit: "ns",
        better: Better::Lower,
        about: "the 99th percentile of the time there and back",
        value: |sample| sample.round_trip_ns_p99.map(float),
    },
    OfSample {
        name: "main",
        unit: "",
        better: Better::Higher,
        about: "what a case is about: bandwidth of a stream, the mean of a round trip",
        value: main_figure,
    },
    OfSample {
        name: "ns_per_message",
        unit: "ns",
        better: Better::Lower,
        about: "elapsed time over messages, or over round trips",
        value: ns_per_message,
    },
    OfSample {
        name: "elapsed",
        unit: "ns",
        better: Better::Lower,
        about: "from just before the first byte is sent to just after the last is received",
        value: |sample| Some(float(sample.elapsed_ns)),
    },
    OfSample {
        name: "cpu",
        unit: "ns",
        better: Better::Lower,
        about: "user and system time of all roles together",
        value: |sample| Some(over_roles(sample, "user_ns")? + over_roles(sample, "system_ns")?),
    },
    OfSample {
        name: "user",
        unit: "ns",
        better: Better::Lower,
        about: "user time of all roles together",
        value: |sample| over_roles(sample, "user_ns"),
    },
    OfSample {
        name: "system",
        unit: "ns",
        better: Better::Lower,
        about: "system time of all roles together",
        value: |sample| over_roles(sample, "system_ns"),
    },
    OfSample {
        name: "messages",
        unit: "",
        better: Better::Lower,
        about: "messages, or round trips, that arrived",
        value: |sample| Some(float(sample.messages)),
    },
    OfSample {
        name: "voluntary_switches",
        unit: "",
        better: Better::Lower,
        about: "switches of all roles because they waited",
        value: |sample| over_roles(sample, "voluntary_switches"),
    },
    OfSample {
        name: "involuntary_switches",
        unit: "",
        better: Better::Lower,
        about: "switches of all roles because others were to run",
        value: |sample| over_roles(sample, "involuntary_switches"),
    },
    OfSample {
        name: "minor_faults",
        unit: "",
        better: Better::Lower,
        about: "page faults of all roles that needed no disk",
        value: |sample| over_roles(sample, "minor_faults"),
    },
    OfSample {
        name: "kernel_buffer",
        unit: "bytes",
        better: Better::Higher,
        about: "what the kernel granted between the parties",
        value: |sample| sample.kernel_buffer_granted_bytes.map(float),
    },
];

impl Metric {
    /// The default metric: bandwidth of a stream, mean time of a round trip, time of a message if nothing is
    /// transferred.
    pub const MAIN: Self = Self::Named("main");

    /// Reads the name of a metric, or a table that selects numbers of an instrument.
    pub(super) fn read(entry: &Entry<'_, '_>, mistakes: &mut Mistakes) -> Option<Self> {
        if entry.table().is_some() {
            return Seen::read(entry, mistakes).map(Self::Seen);
        }
        let Some(text) = entry.text() else {
            let remedy =
                "give it the name of a metric, or a table { instrument = ..., field = ... }";
            mistakes.add(entry.place(), format!("it cannot be {}", entry.kind()), remedy);
            return None;
        };
        if let Some(known) = METRICS.iter().find(|known| known.name == text) {
            return Some(Self::Named(known.name));
        }
        let of_roles: Vec<String> = keys_of_roles().collect();
        if of_roles.contains(&text) {
            return Some(Self::OfRole(text));
        }
        let names = METRICS.iter().map(|known| known.name);
        let all = names.clone().chain(of_roles.iter().map(String::as_str));
        let remedy = match nearest(&text, all) {
            Some(nearest) => format!("did you mean `{nearest}`?"),
            None => format!(
                "known are {}, and those of a role such as sender_cpu_ns",
                names.collect::<Vec<_>>().join(", ")
            ),
        };
        mistakes.add(entry.place(), format!("there is no metric `{text}`"), remedy);
        None
    }

    fn known(&self) -> Option<&'static OfSample> {
        let Self::Named(name) = self else { return None };
        METRICS.iter().find(|known| known.name == *name)
    }

    /// Returns the value for a run, or `None` if the run has none.
    pub fn value(&self, sample: &Sample, seen: &[&ObservationRecord]) -> Option<f64> {
        let value = match self {
            Self::Named(_) => (self.known()?.value)(sample),
            Self::OfRole(key) => (*sample.roles.get(key)?).map(float),
            Self::Seen(one) => one.value(sample, seen),
        };
        value.filter(|value| value.is_finite())
    }

    /// Returns the direction of improvement for runs like `sample`. The main metric may be a bandwidth or a time.
    pub fn better(&self, sample: Option<&Sample>) -> Better {
        match self {
            Self::Named("main")
                if sample.is_some_and(|one| one.bandwidth_bytes_per_s.is_none()) =>
            {
                Better::Lower
            }
            Self::Named(_) => self.known().map_or(Better::Higher, |known| known.better),
            Self::OfRole(_) => Better::Lower,
            Self::Seen(one) => one.better,
        }
    }

    /// Returns the instrument that the metric requires, if any.
    pub fn instrument(&self) -> Option<&str> {
        match self {
            Self::Seen(seen) => Some(&seen.instrument),
            Self::Named(_) | Self::OfRole(_) => None,
        }
    }

    /// Returns the same metric restricted to the instrument's rows that have `fields`.
    pub fn of_rows(&self, fields: &BTreeMap<String, String>) -> Self {
        match self {
            Self::Seen(seen) => Self::Seen(seen.of_rows(fields)),
            plain => plain.clone(),
        }
    }

    /// Returns the unit, or an empty string.
    pub fn unit(&self, sample: Option<&Sample>) -> &str {
        match self {
            Self::Named("main") => match sample {
                Some(one) if one.bandwidth_bytes_per_s.is_some() => "bytes/s",
                _ => "ns",
            },
            Self::Named(_) => self.known().map_or("", |known| known.unit),
            Self::OfRole(key) if key.ends_with("_ns") => "ns",
            Self::OfRole(_) => "",
            Self::Seen(seen) => &seen.unit,
        }
    }

    /// Returns a label for the metric.
    pub fn words(&self) -> String {
        match self {
            Self::Named(name) => (*name).to_owned(),
            Self::OfRole(key) => key.clone(),
            Self::Seen(seen) => seen.words(),
        }
    }
}
