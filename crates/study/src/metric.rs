//! Metrics: named numbers of a sample, and numbers observed by instruments.

use std::collections::BTreeMap;

use ipcperf_model::Role;
use ipcperf_model::suggestion::nearest;
use ipcperf_results::analysis::{cpu_ns_per_message, main_figure, ns_per_message};
use ipcperf_results::{ObservationRecord, Sample, role_key, role_keys};

use super::document::Entry;
use super::mistake::Mistakes;
use crate::better::{Better, float};
use crate::observation_metric::ObservationMetric;

/// A number taken from a sample.
pub struct SampleMetric {
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
    Role(String),
    /// A number observed by an instrument.
    Observed(ObservationMetric),
    /// Mean latency of paced traffic plus this many times the CPU time per message.
    Cost(f64),
}

/// Key of the table that selects [`Metric::Cost`].
const CPU_WEIGHT: &str = "cpu_weight";

/// Returns the sum of `key` over the roles that have it, or `None` if no role has it.
fn sum_over_roles(sample: &Sample, key: &str) -> Option<f64> {
    let roles = Role::ALL.into_iter();
    let values = roles.filter_map(|role| *sample.roles.get(&role_key(role, key))?);
    values.map(float).reduce(|sum, value| sum + value)
}

/// Returns `ns` if the sample is of a paced run.
fn paced(sample: &Sample, ns: Option<u64>) -> Option<f64> {
    sample.run.case.rate_per_s.and(ns).map(float)
}

fn latency_mean(sample: &Sample) -> Option<f64> {
    sample.run.case.rate_per_s?;
    sample.paced.one_way_ns_mean.or(sample.round_trip_ns_mean)
}

/// The metrics that have a name.
pub const METRICS: &[SampleMetric] = &[
    SampleMetric {
        name: "bandwidth",
        unit: "bytes/s",
        better: Better::Higher,
        about: "payload bytes received per second",
        value: |sample| sample.bandwidth_bytes_per_s.map(float),
    },
    SampleMetric {
        name: "round_trip",
        unit: "ns",
        better: Better::Lower,
        about: "mean round-trip time",
        value: |sample| sample.round_trip_ns_mean,
    },
    SampleMetric {
        name: "round_trips_per_s",
        unit: "1/s",
        better: Better::Higher,
        about: "round trips per second",
        value: |sample| sample.round_trip_ns_mean.map(|ns| 1e9 / ns),
    },
    SampleMetric {
        name: "round_trip_p50",
        unit: "ns",
        better: Better::Lower,
        about: "median round-trip time",
        value: |sample| sample.round_trip_ns_p50.map(float),
    },
    SampleMetric {
        name: "round_trip_p99",
        unit: "ns",
        better: Better::Lower,
        about: "99th percentile of the round-trip time",
        value: |sample| sample.round_trip_ns_p99.map(float),
    },
    SampleMetric {
        name: "latency_p50",
        unit: "ns",
        better: Better::Lower,
        about: "median latency of paced traffic from the schedule: one way, or of the round trip if messages are answered",
        value: |sample| paced(sample, sample.paced.one_way_ns_p50.or(sample.round_trip_ns_p50)),
    },
    SampleMetric {
        name: "latency_mean",
        unit: "ns",
        better: Better::Lower,
        about: "mean latency of paced traffic from the schedule",
        value: latency_mean,
    },
    SampleMetric {
        name: "latency_p99",
        unit: "ns",
        better: Better::Lower,
        about: "99th percentile of the latency of paced traffic from the schedule",
        value: |sample| paced(sample, sample.paced.one_way_ns_p99.or(sample.round_trip_ns_p99)),
    },
    SampleMetric {
        name: "latency_from_send_p99",
        unit: "ns",
        better: Better::Lower,
        about: "99th percentile of the latency of paced traffic from the send",
        value: |sample| paced(sample, sample.paced.service_ns_p99()),
    },
    SampleMetric {
        name: "main",
        unit: "",
        better: Better::Higher,
        about: "main metric of the workload: `bandwidth` for stream, `round_trip` for round-trip and request-reply, \
            `latency_p50` for paced traffic",
        value: main_figure,
    },
    SampleMetric {
        name: "ns_per_message",
        unit: "ns",
        better: Better::Lower,
        about: "elapsed time per message, or per round trip",
        value: ns_per_message,
    },
    SampleMetric {
        name: "elapsed",
        unit: "ns",
        better: Better::Lower,
        about: "time from just before the first byte is sent to just after the last byte is received",
        value: |sample| Some(float(sample.elapsed_ns)),
    },
    SampleMetric {
        name: "cpu",
        unit: "ns",
        better: Better::Lower,
        about: "user and system CPU time, summed over all roles",
        value: |sample| {
            Some(sum_over_roles(sample, "user_ns")? + sum_over_roles(sample, "system_ns")?)
        },
    },
    SampleMetric {
        name: "cpu_per_message",
        unit: "ns",
        better: Better::Lower,
        about: "CPU time per message, or per round trip: of all roles, and of the kernel threads that work for the \
            mechanism",
        value: cpu_ns_per_message,
    },
    SampleMetric {
        name: "user",
        unit: "ns",
        better: Better::Lower,
        about: "user CPU time, summed over all roles",
        value: |sample| sum_over_roles(sample, "user_ns"),
    },
    SampleMetric {
        name: "system",
        unit: "ns",
        better: Better::Lower,
        about: "system (kernel) CPU time, summed over all roles",
        value: |sample| sum_over_roles(sample, "system_ns"),
    },
    SampleMetric {
        name: "messages",
        unit: "",
        better: Better::Lower,
        about: "messages received, or round trips completed",
        value: |sample| Some(float(sample.messages)),
    },
    SampleMetric {
        name: "voluntary_switches",
        unit: "",
        better: Better::Lower,
        about: "voluntary context switches (a thread waited), summed over all roles",
        value: |sample| sum_over_roles(sample, "voluntary_switches"),
    },
    SampleMetric {
        name: "involuntary_switches",
        unit: "",
        better: Better::Lower,
        about: "involuntary context switches (a thread was preempted), summed over all roles",
        value: |sample| sum_over_roles(sample, "involuntary_switches"),
    },
    SampleMetric {
        name: "minor_faults",
        unit: "",
        better: Better::Lower,
        about: "minor page faults (without disk access), summed over all roles",
        value: |sample| sum_over_roles(sample, "minor_faults"),
    },
    SampleMetric {
        name: "kernel_buffer",
        unit: "bytes",
        better: Better::Higher,
        about: "size of the kernel's buffer between the peers, as granted by the kernel",
        value: |sample| sample.kernel_buffer_granted_bytes.map(float),
    },
];

impl Metric {
    /// The default metric: bandwidth of a stream, mean time of a round trip, time of a message if nothing is
    /// transferred.
    pub const MAIN: Self = Self::Named("main");

    /// Reads the name of a metric, or a table that selects numbers of an instrument.
    pub(super) fn read(entry: &Entry<'_, '_>, mistakes: &mut Mistakes) -> Option<Self> {
        if let Some(table) = entry.table() {
            if let Some(weight) = table.entries(&entry.path).find(|key| key.name == CPU_WEIGHT) {
                return Self::read_cost(&weight, mistakes);
            }
            return ObservationMetric::read(entry, mistakes).map(Self::Observed);
        }
        let Some(text) = entry.text() else {
            let remedy = "use the name of a metric, or a table { instrument = ..., field = ... }";
            mistakes.add(entry.location(), format!("must not be {}", entry.kind()), remedy);
            return None;
        };
        if let Some(known) = METRICS.iter().find(|known| known.name == text) {
            return Some(Self::Named(known.name));
        }
        let of_roles: Vec<String> = role_keys().collect();
        if of_roles.contains(&text) {
            return Some(Self::Role(text));
        }
        let names = METRICS.iter().map(|known| known.name);
        let all = names.clone().chain(of_roles.iter().map(String::as_str));
        let remedy = match nearest(&text, all) {
            Some(nearest) => format!("did you mean `{nearest}`?"),
            None => format!(
                "expected one of {}, or a metric of a role such as sender_cpu_ns",
                names.collect::<Vec<_>>().join(", ")
            ),
        };
        mistakes.add(entry.location(), format!("unknown metric `{text}`"), remedy);
        None
    }

    fn read_cost(weight: &Entry<'_, '_>, mistakes: &mut Mistakes) -> Option<Self> {
        let valid = weight.number().filter(|number| number.is_finite() && *number >= 0.0);
        if valid.is_none() {
            let what = format!("{CPU_WEIGHT} must be a number of at least 0");
            let remedy = "write the value of a unit of CPU time in units of latency, such as 0.1";
            mistakes.add(weight.location(), what, remedy);
        }
        valid.map(Self::Cost)
    }

    fn sample_metric(&self) -> Option<&'static SampleMetric> {
        let Self::Named(name) = self else { return None };
        METRICS.iter().find(|known| known.name == *name)
    }

    /// Returns the value for a run, or `None` if the run has none.
    pub fn value(&self, sample: &Sample, seen: &[&ObservationRecord]) -> Option<f64> {
        let value = match self {
            Self::Named(_) => (self.sample_metric()?.value)(sample),
            Self::Role(key) => (*sample.roles.get(key)?).map(float),
            Self::Observed(one) => one.value(sample, seen),
            Self::Cost(weight) => latency_mean(sample)
                .zip(cpu_ns_per_message(sample))
                .map(|(latency, cpu)| latency + weight * cpu),
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
            Self::Named(_) => self.sample_metric().map_or(Better::Higher, |known| known.better),
            Self::Role(_) | Self::Cost(_) => Better::Lower,
            Self::Observed(one) => one.better,
        }
    }

    /// Returns the instrument that the metric requires, if any.
    pub fn instrument(&self) -> Option<&str> {
        match self {
            Self::Observed(seen) => Some(&seen.instrument),
            Self::Named(_) | Self::Role(_) | Self::Cost(_) => None,
        }
    }

    /// Returns the same metric restricted to the instrument's rows that have `fields`.
    pub fn restricted_to(&self, fields: &BTreeMap<String, String>) -> Self {
        match self {
            Self::Observed(seen) => Self::Observed(seen.restricted_to(fields)),
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
            Self::Named(_) => self.sample_metric().map_or("", |known| known.unit),
            Self::Role(key) if key.ends_with("_ns") => "ns",
            Self::Cost(_) => "ns",
            Self::Role(_) => "",
            Self::Observed(seen) => &seen.unit,
        }
    }

    /// Returns a label for the metric.
    pub fn label(&self) -> String {
        match self {
            Self::Named(name) => (*name).to_owned(),
            Self::Role(key) => key.clone(),
            Self::Observed(seen) => seen.label(),
            Self::Cost(weight) => format!("latency + {weight} CPU"),
        }
    }
}
