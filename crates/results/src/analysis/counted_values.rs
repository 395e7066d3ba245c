//! Values from counters and profiles, summarized for each case over its instrumented runs, in a form that can be
//! plotted.

use std::collections::{BTreeMap, HashMap};

use ipcperf_model::instrument::counters::{EventCount, EventRatio, PrivilegeLevel};
use ipcperf_model::instrument::profile::ProfileRow;
use ipcperf_model::observation::Observation;
use schemars::JsonSchema;
use serde::Serialize;

use super::{CaseSummary, Spread};
use crate::{ObservationRecord, Results, Sample};

/// Counted or sampled value of one role of a case.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CountedValue {
    /// Role that the value belongs to.
    pub role: String,
    /// Quantity that was counted.
    #[serde(flatten)]
    pub what: CountedQuantity,
    /// Median and quartiles over the valid instrumented runs.
    #[serde(flatten)]
    pub spread: Spread,
}

/// Quantity that was counted.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
pub struct CountedQuantity {
    /// Name of the event, of the ratio, or of the group of symbols.
    pub name: String,
    /// Kind of the values.
    pub kind: CountKind,
}

/// Kind of a counted value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CountKind {
    /// Events per message or round trip, in the program and in the kernel together.
    PerMessage,
    /// Time per message or round trip, ns, for events that are clocks.
    NsPerMessage,
    /// Ratio of the counts of two events.
    Ratio,
    /// Share of the samples of a role.
    Share,
}

/// Valid instrumented runs by cell and CPU distance class.
type Cells<'a> = HashMap<(&'a str, Option<&'a str>), Vec<&'a Sample>>;

/// Adds the counted values to `summaries`.
pub(super) fn add_counted(summaries: &mut [CaseSummary], results: &Results) {
    let mut observations: HashMap<&str, Vec<&ObservationRecord>> = HashMap::new();
    for one in &results.observations {
        observations.entry(&one.run_id).or_default().push(one);
    }
    let mut cells = Cells::new();
    let counting = |sample: &&Sample| sample.excluded.is_none() && sample.twin_of.is_none();
    for sample in results.samples.iter().filter(counting) {
        let cell = sample.run.case.cell();
        cells.entry((cell, sample.cpu_pair_class.as_deref())).or_default().push(sample);
    }
    for summary in summaries.iter_mut().filter(|summary| !summary.case.is_instrumented()) {
        let runs = cells.get(&(summary.case.cell(), summary.cpu_pair_class.as_deref()));
        summary.counted = runs.map_or_else(Vec::new, |runs| counted(runs, &observations));
    }
}

fn counted(
    runs: &[&Sample],
    observations: &HashMap<&str, Vec<&ObservationRecord>>,
) -> Vec<CountedValue> {
    let mut values: BTreeMap<(String, CountedQuantity), Vec<f64>> = BTreeMap::new();
    for run in runs {
        let rows = observations.get(run.run.run_id.as_str()).map_or(&[][..], Vec::as_slice);
        for (key, value) in values_of_run(run, rows) {
            values.entry(key).or_default().push(value);
        }
    }
    let spread = |((role, what), values): ((String, CountedQuantity), Vec<f64>)| {
        Some(CountedValue { role, what, spread: Spread::from_values(&values)? })
    };
    values.into_iter().filter_map(spread).collect()
}

/// Returns the values of one run by role.
fn values_of_run(
    run: &Sample,
    rows: &[&ObservationRecord],
) -> BTreeMap<(String, CountedQuantity), f64> {
    let mut counts: BTreeMap<(String, String), Vec<EventCount>> = BTreeMap::new();
    let mut numbers = BTreeMap::new();
    for row in rows {
        let Some(role) = row.role.clone() else { continue };
        let observation = row.to_observation();
        if let Some(count) = observation.row::<EventCount>() {
            counts.entry((role, count.event.clone())).or_default().push(count);
        } else if let Some((name, kind, value)) = ratio_or_share(&observation) {
            numbers.insert((role, CountedQuantity { name, kind }), value);
        }
    }
    for ((role, _), counts) in counts {
        numbers.extend(per_message(run, &counts).map(|(what, value)| ((role, what), value)));
    }
    numbers
}

fn ratio_or_share(observation: &Observation) -> Option<(String, CountKind, f64)> {
    if let Some(EventRatio { ratio, space, value }) = observation.row() {
        return (space == PrivilegeLevel::Both).then_some((ratio, CountKind::Ratio, value?));
    }
    match observation.row()? {
        ProfileRow::Group(one) => Some((one.group.name().to_owned(), CountKind::Share, one.share)),
        ProfileRow::Summary(_) | ProfileRow::Symbol(_) | ProfileRow::Stack(_) => None,
    }
}

/// Returns the count of an event per message. The counts in user mode and in the kernel are added up. If only one
/// of them was requested, the name has the suffix that requests it. If one of them is unknown, so is the sum.
#[allow(clippy::cast_precision_loss, reason = "rates, good to 53 bits")]
fn per_message(run: &Sample, counts: &[EventCount]) -> Option<(CountedQuantity, f64)> {
    let in_space = |space| counts.iter().find(|count| count.space == space);
    let first = counts.first()?;
    let event = first.event.clone();
    let (name, count) =
        match [PrivilegeLevel::Both, PrivilegeLevel::User, PrivilegeLevel::Kernel].map(in_space) {
            [Some(both), _, _] => (event, both.count?),
            [None, Some(user), Some(kernel)] => (event, user.count?.saturating_add(kernel.count?)),
            [None, Some(user), None] => (format!("{event}:u"), user.count?),
            [None, None, kernel] => (format!("{event}:k"), kernel?.count?),
        };
    let messages = (run.messages > 0).then_some(run.messages as f64)?;
    let kind = if first.is_time() { CountKind::NsPerMessage } else { CountKind::PerMessage };
    Some((CountedQuantity { name, kind }, count as f64 / messages))
}

#[cfg(test)]
mod tests {
    use ipcperf_model::workload::WorkloadKind;

    use super::*;
    use crate::testing::sample;

    fn count(event: &str, space: PrivilegeLevel, count: Option<u64>) -> EventCount {
        EventCount { event: event.to_owned(), space, count, running_share: None, raw_count: count }
    }

    /// Returns the name and the value for the counts of a hundred messages.
    fn rate_per_message(counts: &[EventCount]) -> Option<(String, f64)> {
        let mut run = sample("pipe", WorkloadKind::Stream, 64, 1, 1_000);
        run.messages = 100;
        per_message(&run, counts).map(|(what, value)| (what.name, value))
    }

    #[test]
    fn program_and_kernel_are_one_number_unless_one_was_asked_for() {
        let (user, kernel) = (
            count("r1b", PrivilegeLevel::User, Some(100)),
            count("r1b", PrivilegeLevel::Kernel, Some(300)),
        );
        assert_eq!(
            rate_per_message(&[user.clone(), kernel.clone()]),
            Some(("r1b".to_owned(), 4.0))
        );
        assert_eq!(rate_per_message(std::slice::from_ref(&user)), Some(("r1b:u".to_owned(), 1.0)));
        assert_eq!(
            rate_per_message(std::slice::from_ref(&kernel)),
            Some(("r1b:k".to_owned(), 3.0))
        );
        let both = count("r1b", PrivilegeLevel::Both, Some(390));
        assert_eq!(rate_per_message(&[user, kernel, both]), Some(("r1b".to_owned(), 3.9)));
    }

    #[test]
    fn what_is_missing_of_one_is_missing_of_the_sum() {
        let user = count("r1b", PrivilegeLevel::User, Some(100));
        assert_eq!(rate_per_message(&[user, count("r1b", PrivilegeLevel::Kernel, None)]), None);
        assert_eq!(rate_per_message(&[]), None);
    }
}
