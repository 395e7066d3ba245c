//! Grouping of cases into tables, and the headings of these.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fmt;

use ipcperf_model::size::Bytes;
use ipcperf_model::workload::WorkloadKind;
use ipcperf_model::{Condition, ConditionValue};
use ipcperf_results::CaseIdentity;
use ipcperf_results::analysis::CaseSummary;

/// Minimum share of the runs for a CPU distance class to get tables. Those of a rarer class would be nearly empty;
/// `--json` contains all classes.
pub(crate) const MIN_CLASS_SHARE: f64 = 0.05;

/// Properties shared by the cases of one table.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Heading {
    workload: WorkloadKind,
    pacing: Pacing,
    mode: &'static str,
    placement: String,
    cpus: Vec<u32>,
    /// CPU distance class.
    class: Option<String>,
    /// Other requested conditions that differ from the defaults.
    conditions: Vec<Condition>,
}

impl Heading {
    fn from_summary(summary: &CaseSummary) -> Self {
        let case = &summary.case;
        Self {
            workload: case.workload,
            pacing: Pacing::from_case(summary),
            mode: case.mode.name(),
            placement: case.placement.clone(),
            cpus: cpus(case),
            class: summary.cpu_pair_class.clone(),
            conditions: case.non_defaults(),
        }
    }

    /// Whether `summary` belongs under the heading. A refused cell has no CPUs, and one without a result has no class;
    /// these belong wherever everything else matches.
    pub(crate) fn covers(&self, summary: &CaseSummary) -> bool {
        let (case, class) = (&summary.case, &summary.cpu_pair_class);
        self.workload == case.workload
            && self.pacing == Pacing::from_case(summary)
            && self.mode == case.mode.name()
            && self.placement == case.placement
            && self.conditions == case.non_defaults()
            && (case.cpus.is_empty() || cpus(case) == self.cpus)
            && (class.is_none() || *class == self.class)
    }

    /// Returns the workload.
    pub(crate) const fn workload(&self) -> WorkloadKind {
        self.workload
    }

    /// Whether the cases are paced.
    pub(crate) fn is_paced(&self) -> bool {
        self.pacing == Pacing::Scheduled
    }

    /// Whether its CPUs have the distance class `class`.
    pub(crate) fn has_class(&self, class: Option<&String>) -> bool {
        self.class.as_ref() == class
    }

    /// Describes what was requested, without what was found. The text is the same for files of different machines.
    pub(crate) fn request_text(&self) -> String {
        let (metric, mode, placement) = (self.metric_label(), self.mode, &self.placement);
        format!("{metric}, {mode}, placement {placement}{}", self.conditions_text())
    }

    /// Describes mode, placement, CPUs and conditions.
    pub(crate) fn configuration(&self) -> String {
        let (mode, placement) = (self.mode, &self.placement);
        let class = self.class.as_ref().map_or_else(String::new, |class| format!(", {class}"));
        let cpus = self.cpus_text();
        let conditions = self.conditions_text();
        format!("{mode}, placement {placement} ({cpus}{class}){conditions}")
    }

    /// Describes the same more briefly, for the heading of a small figure.
    pub(crate) fn short_configuration(&self) -> String {
        let (mode, placement, conditions) = (self.mode, &self.placement, self.conditions_text());
        match &self.class {
            Some(class) => format!("{mode}, {placement} ({class}){conditions}"),
            None => format!("{mode}, {placement}{conditions}"),
        }
    }

    fn cpus_text(&self) -> String {
        match self.cpus.as_slice() {
            [] => "any CPU".to_owned(),
            [one] => format!("CPU {one}"),
            [sender, receiver] if sender == receiver => format!("both on CPU {sender}"),
            [sender, receiver] => format!("CPUs {sender} and {receiver}"),
            several => {
                let numbers: Vec<String> = several.iter().map(u32::to_string).collect();
                format!("CPUs {}", numbers.join(", "))
            }
        }
    }

    fn conditions_text(&self) -> String {
        conditions_text(&self.conditions)
    }

    pub(crate) const fn metric_label(&self) -> &'static str {
        match (self.pacing, self.workload) {
            (_, WorkloadKind::Paced) => "Paced: one-way latency",
            (_, WorkloadKind::Stream) => "Stream: bandwidth",
            (Pacing::Unscheduled, WorkloadKind::FanIn) => "Fan-in: bandwidth of the receiver",
            (Pacing::Unscheduled, WorkloadKind::FanOut) => "Fan-out: bandwidth of all receivers",
            (Pacing::Unscheduled, WorkloadKind::Pairs) => "Pairs: bandwidth of all pairs",
            (Pacing::Unscheduled, WorkloadKind::PairsRoundTrip) => "Pairs: mean round trip",
            (Pacing::Unscheduled, WorkloadKind::Server) => "Server: mean time of a request",
            (Pacing::Scheduled, WorkloadKind::FanIn) => "Paced fan-in: one-way latency",
            (Pacing::Scheduled, WorkloadKind::FanOut) => "Paced fan-out: one-way latency",
            (Pacing::Scheduled, WorkloadKind::Pairs) => "Paced pairs: one-way latency",
            (Pacing::Scheduled, WorkloadKind::PairsRoundTrip) => "Paced pairs: round-trip latency",
            (Pacing::Scheduled, WorkloadKind::Server) => "Paced server: latency of a request",
            (Pacing::Unscheduled, WorkloadKind::RoundTrip) => "Round trip: mean time",
            (Pacing::Unscheduled, WorkloadKind::RequestReply) => "Request-reply: mean time",
            (Pacing::Scheduled, WorkloadKind::RoundTrip) => "Paced round trip: latency",
            (Pacing::Scheduled, WorkloadKind::RequestReply) => {
                "Paced request-reply: round-trip latency"
            }
        }
    }

    /// Returns the heading of a table.
    pub(crate) fn of_table(&self, repetitions: &str, error_bar: ErrorBar) -> TableHeading {
        TableHeading {
            cases: format!("{}, {}", self.metric_label(), self.configuration()),
            values: format!("{}, n = {repetitions}", error_bar.description()),
        }
    }
}

/// Returns the CPUs of sender and receiver; of several peers, those on which any of them ran, so that cases with different
/// numbers of peers share a table.
fn cpus(case: &CaseIdentity) -> Vec<u32> {
    match case.peers {
        None => case.cpus.clone(),
        Some(_) => case.cpus.iter().copied().collect::<BTreeSet<u32>>().into_iter().collect(),
    }
}

/// Whether messages are sent at scheduled times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Pacing {
    Scheduled,
    Unscheduled,
}

impl Pacing {
    const fn from_case(summary: &CaseSummary) -> Self {
        match summary.case.rate_per_s {
            Some(_) => Self::Scheduled,
            None => Self::Unscheduled,
        }
    }
}

/// Heading of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableHeading {
    /// Description of the metric and the cases.
    cases: String,
    /// Description of the values in the cells.
    values: String,
}

impl TableHeading {
    /// Returns the heading on two lines.
    pub(crate) fn on_two_lines(&self) -> String {
        format!("{};\n  {}", self.cases, self.values)
    }
}

impl fmt::Display for TableHeading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.cases, self.values)
    }
}

/// Formats conditions that differ from the defaults: `, kernel buffer match, touch both`.
pub(crate) fn conditions_text(conditions: &[Condition]) -> String {
    let words = conditions.iter().map(|Condition { flag, value }| {
        let value = match value {
            ConditionValue::Bytes(bytes) => Bytes(*bytes).to_string(),
            ConditionValue::Word(word) => word.clone(),
        };
        format!(", {} {value}", flag.replace('-', " "))
    });
    words.collect()
}

/// Number shown next to a median.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorBar {
    /// Spread of the repetitions.
    Iqr,
    /// Precision of the median.
    ConfidenceInterval,
}

impl ErrorBar {
    const fn description(self) -> &'static str {
        match self {
            Self::Iqr => "median (IQR as % of the median)",
            Self::ConfidenceInterval => "median ± half-width of its 95 % interval",
        }
    }
}

/// Returns the headings for the tables of `summaries`, streams first.
pub(crate) fn headings(summaries: &[CaseSummary]) -> Vec<Heading> {
    let rare = rare_classes(summaries);
    let is_rare = |class: &Option<String>| class.as_ref().is_some_and(|c| rare.contains(c));
    let (mut headings, mut seen) = (Vec::new(), HashSet::new());
    for summary in summaries.iter().filter(|summary| summary.refused.is_none()) {
        let heading = Heading::from_summary(summary);
        if !is_rare(&heading.class) && seen.insert(heading.clone()) {
            headings.push(heading);
        }
    }
    let classed = headings.iter().filter(|heading| heading.class.is_some());
    let classed: HashSet<Heading> =
        classed.map(|heading| Heading { class: None, ..heading.clone() }).collect();
    headings.retain(|heading| heading.class.is_some() || !classed.contains(heading));
    headings.sort_by_key(|heading| heading.workload);
    headings
}

/// Returns the measured cases under each heading that has a table, in the order of the headings.
pub(crate) fn by_heading(summaries: &[CaseSummary]) -> Vec<(Heading, Vec<&CaseSummary>)> {
    let mut cases: HashMap<Heading, Vec<&CaseSummary>> = HashMap::new();
    for summary in summaries.iter().filter(|summary| summary.refused.is_none()) {
        cases.entry(Heading::from_summary(summary)).or_default().push(summary);
    }
    let headings = headings(summaries).into_iter();
    headings.filter_map(|heading| cases.remove(&heading).map(|cases| (heading, cases))).collect()
}

/// Returns the CPU distance classes with a share of less than [`MIN_CLASS_SHARE`] of the valid runs.
#[allow(clippy::cast_precision_loss, reason = "a share of counts")]
fn rare_classes(summaries: &[CaseSummary]) -> HashSet<&String> {
    let mut runs: BTreeMap<&String, usize> = BTreeMap::new();
    for summary in summaries {
        let counted = summary.main().map_or(0, |figure| figure.spread().n);
        if let Some(class) = &summary.cpu_pair_class {
            *runs.entry(class).or_default() += counted;
        }
    }
    let all: usize = runs.values().sum();
    let is_rare = |(_, runs): &(&String, usize)| (*runs as f64) < MIN_CLASS_SHARE * all as f64;
    runs.into_iter().filter(is_rare).map(|(class, _)| class).collect()
}

#[cfg(test)]
mod tests {
    use ipcperf_results::analysis::summarize;
    use ipcperf_results::testing::sample;

    use super::*;

    /// Returns the classes of the headings for runs at `far`, some of which were at `near`.
    fn classes(near: usize, far: usize) -> Vec<Option<String>> {
        let names = [("46ns", near), ("375ns", far)];
        let classes = names.iter().flat_map(|(name, count)| std::iter::repeat_n(*name, *count));
        let samples: Vec<_> = (1..)
            .zip(classes)
            .map(|(block, class)| {
                let mut sample = sample("pipe", WorkloadKind::Stream, 64, block, 1_000_000);
                sample.cpu_pair_class = Some(class.to_owned());
                sample
            })
            .collect();
        let case = samples[0].run.case.case_id.clone();
        let summaries = summarize(&[case], &[], &samples, &[], None);
        headings(&summaries).into_iter().map(|heading| heading.class).collect()
    }

    #[test]
    fn each_distance_has_its_tables_but_one_that_is_seldom_seen() {
        assert_eq!(classes(4, 20).len(), 2);
        assert_eq!(classes(1, 40), [Some("375ns".to_owned())]);
    }
}
