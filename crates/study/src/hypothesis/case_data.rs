//! Measured values by case and block. Only valid runs count.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use ipcperf_model::case_id::NamedInstrument;
use ipcperf_model::{Mode, Role};
use ipcperf_plan::{Factor, normalized_custom, options_prefix};
use ipcperf_results::analysis::is_disturbed;
use ipcperf_results::{
    CaseIdentity, ObservationRecord, Results, Sample, SpecRecord, UnavailableInstrumentRecord,
};

use crate::{Levels, Metric, Selection, canonical};

/// Name of the level that holds a case's chosen events. Selections cannot name it.
pub(super) const EVENTS: &str = "counter_events";

/// A valid run and the observations of instruments.
pub(super) struct Run<'a> {
    /// The run.
    pub(super) sample: &'a Sample,
    observations: Vec<&'a ObservationRecord>,
}

/// A case in one CPU distance class, with its valid runs. The uninstrumented twins of one case are a single cell, and
/// so are the parts of one instrument.
pub(super) struct Cell<'a> {
    /// Level of each factor.
    pub(super) levels: Levels,
    /// Matrices of the study that contain it.
    pub(super) matrices: Vec<String>,
    class: Option<&'a str>,
    runs: Vec<Run<'a>>,
}

/// All cells of a results file.
pub struct Cells<'a> {
    results: &'a Results,
    cells: Vec<Cell<'a>>,
    specs: HashMap<&'a str, &'a SpecRecord>,
    /// The CPU distance class of most runs, by placement.
    majority_classes: HashMap<String, &'a str>,
}

impl<'a> Cells<'a> {
    /// Collects the cells of `results`.
    pub fn from_results(results: &'a Results) -> Self {
        let plan = &results.header.plan;
        let specs = plan.cases.iter().map(String::as_str).zip(&plan.specs).collect();
        let majority_classes = majority_classes(results);
        let mut cells = Self { results, cells: Vec::new(), specs, majority_classes };
        let mut by_run: HashMap<&str, Vec<&ObservationRecord>> = HashMap::new();
        for one in &results.observations {
            by_run.entry(&one.run_id).or_default().push(one);
        }
        let mut cell_indices: HashMap<(Levels, Option<&str>), usize> = HashMap::new();
        for sample in results.samples.iter().filter(|sample| sample.excluded.is_none()) {
            let key = (levels(&sample.run.case, &sample.instruments), cpu_distance_class(sample));
            let at = *cell_indices.entry(key.clone()).or_insert_with(|| cells.add(key));
            cells.add_matrices(at, sample);
            let observations = by_run.get(sample.run.run_id.as_str()).cloned().unwrap_or_default();
            cells.cells[at].runs.push(Run { sample, observations });
        }
        cells
    }

    fn add(&mut self, (levels, class): (Levels, Option<&'a str>)) -> usize {
        self.cells.push(Cell { levels, matrices: Vec::new(), class, runs: Vec::new() });
        self.cells.len() - 1
    }

    /// Adds the matrices of `sample` to the cell at `at`. Twins shared by several matrices are one cell.
    fn add_matrices(&mut self, at: usize, sample: &Sample) {
        let spec = self.specs.get(sample.run.case.case_id.as_str());
        for matrix in spec.into_iter().flat_map(|spec| &spec.matrices) {
            if !self.cells[at].matrices.contains(matrix) {
                self.cells[at].matrices.push(matrix.clone());
            }
        }
    }

    /// Returns the cells in `selection`. If the CPU pair varies, only cells in the class of most runs of their
    /// placement are returned. The class does not depend on the selection, because compared cases must be equally far
    /// apart.
    pub(super) fn select(&self, selection: &Selection) -> Vec<&Cell<'a>> {
        let selection = self.resolve_paths(selection);
        let selected =
            self.cells.iter().filter(|cell| selection.contains(&cell.levels, &cell.matrices));
        selected.filter(|cell| cell.class.is_none() || self.is_in_majority_class(cell)).collect()
    }

    /// Returns `selection` with the paths that the results contain. Relative paths start from the directory of the
    /// measurement, so results can be judged anywhere.
    fn resolve_paths<'s>(&self, selection: &'s Selection) -> Cow<'s, Selection> {
        let custom = self.results.header.plan.custom.as_ref();
        match custom.and_then(|custom| custom.folder.as_ref()) {
            Some(folder) => Cow::Owned(selection.with_absolute_paths(Path::new(folder))),
            None => Cow::Borrowed(selection),
        }
    }

    fn is_in_majority_class(&self, cell: &Cell<'_>) -> bool {
        let placement = cell.levels.get("placement").map_or("", String::as_str);
        self.majority_classes.get(placement).copied() == cell.class
    }

    /// Explains why nothing in `selection` was measured.
    pub fn explain_unmeasured(&self, selection: &Selection, metric: &Metric) -> String {
        self.absence_reasons(selection, metric.instrument()).unwrap_or_else(|| {
            format!("{} of {} was not measured", metric.label(), selection.description())
        })
    }

    /// Returns the instruments that `selections` name but that are unavailable, each with the reason and the remedy.
    pub fn missing_instruments(&self, selections: &[Selection]) -> Vec<String> {
        let unavailable = &self.results.header.plan.unavailable_instruments;
        let is_named = |name: &str| selections.iter().any(|one| one.has_level("instrument", name));
        let missing =
            unavailable.iter().filter(|one| !one.partly_available && is_named(&one.instrument));
        missing.map(|one| format!("{}: {} ({})", one.instrument, one.reason, one.remedy)).collect()
    }

    /// Explains why `instrument` observed nothing in `selection`.
    pub fn explain_unobserved(&self, selection: &Selection, instrument: &str) -> String {
        self.absence_reasons(selection, Some(instrument)).unwrap_or_else(|| {
            format!("{instrument} observed no run of {}", selection.description())
        })
    }

    fn absence_reasons(&self, selection: &Selection, instrument: Option<&str>) -> Option<String> {
        let plan = &self.results.header.plan;
        let selection = &self.resolve_paths(selection);
        let mut reasons: Vec<String> = Vec::new();
        for absent in &plan.unavailable {
            if selection.allows("mechanism", &mechanism_level(&absent.mechanism)) {
                reasons
                    .push(format!("{}: {} ({})", absent.mechanism, absent.reason, absent.remedy));
            }
        }
        for missing in &plan.unavailable_instruments {
            let is_needed = instrument == Some(missing.instrument.as_str())
                || selection.has_level("instrument", &missing.instrument)
                || self.is_left_out(selection, missing);
            if is_needed {
                reasons.push(format!(
                    "{}: {} ({})",
                    missing.instrument, missing.reason, missing.remedy
                ));
            }
        }
        let refused = plan.refused.iter();
        let refused = refused.filter(|one| selection.would_contain(&levels(&one.case, &[])));
        reasons.extend(refused.map(|one| format!("{}: {}", one.case.case_id, one.reason)).take(1));
        reasons.extend(self.failure_summary(selection));
        let is_planned =
            || self.results.samples.iter().any(|one| self.contains_resolved(selection, one));
        if reasons.is_empty() && self.results.header.quick && !is_planned() {
            reasons.push("--quick leaves it out (measure without --quick)".to_owned());
        }
        (!reasons.is_empty()).then(|| reasons.join("; "))
    }

    /// Whether `selection` contains cells that were not run because their instrument is unavailable.
    fn is_left_out(&self, selection: &Selection, missing: &UnavailableInstrumentRecord) -> bool {
        let is_named = |matrix: &String| selection.has_level("matrix", matrix);
        let is_any = || {
            let was_run =
                self.results.samples.iter().any(|one| self.contains_resolved(selection, one));
            missing.cells_left_out > 0 && !selection.has_factor("matrix") && !was_run
        };
        missing.matrices.iter().any(is_named) || is_any()
    }

    /// Returns the number of excluded runs in `selections`, by reason.
    pub fn excluded_counts(&self, selections: &[Selection]) -> BTreeMap<&'static str, usize> {
        let selections: Vec<Cow<'_, Selection>> =
            selections.iter().map(|one| self.resolve_paths(one)).collect();
        let mut counts = BTreeMap::new();
        for sample in &self.results.samples {
            let Some(reason) = sample.excluded else { continue };
            let levels = levels(&sample.run.case, &sample.instruments);
            let matrices = self.matrices(&sample.run.case);
            if selections.iter().any(|selection| selection.contains(&levels, matrices)) {
                *counts.entry(reason.describe_runs()).or_default() += 1;
            }
        }
        counts
    }

    /// Returns the levels of the cases in `selection` that ran but have no valid run, so that their values are unknown.
    pub(super) fn lost(&self, selection: &Selection) -> BTreeSet<Levels> {
        let selection = self.resolve_paths(selection);
        let levels_if_selected = |case: &CaseIdentity, instruments: &[String]| {
            let levels = levels(case, instruments);
            selection.contains(&levels, self.matrices(case)).then_some(levels)
        };
        let (mut counted, mut ran) = (BTreeSet::new(), BTreeSet::new());
        for sample in &self.results.samples {
            let side = if sample.excluded.is_none() { &mut counted } else { &mut ran };
            side.extend(levels_if_selected(&sample.run.case, &sample.instruments));
        }
        ran.extend(
            self.results.failures.iter().filter_map(|one| levels_if_selected(&one.run.case, &[])),
        );
        ran.difference(&counted).cloned().collect()
    }

    /// Whether `selection` contains `sample`.
    pub fn contains(&self, selection: &Selection, sample: &Sample) -> bool {
        self.contains_resolved(&self.resolve_paths(selection), sample)
    }

    /// Whether `selection`, whose paths are already those of the results, contains `sample`.
    fn contains_resolved(&self, selection: &Selection, sample: &Sample) -> bool {
        selection.contains(
            &levels(&sample.run.case, &sample.instruments),
            self.matrices(&sample.run.case),
        )
    }

    /// Returns the matrices of the study that contain `case`.
    fn matrices(&self, case: &CaseIdentity) -> &[String] {
        self.specs.get(case.case_id.as_str()).map_or(&[][..], |spec| &spec.matrices)
    }

    /// Returns how many runs failed or were disturbed, as a message.
    fn failure_summary(&self, selection: &Selection) -> Option<String> {
        let is_selected = |case: &CaseIdentity, instruments: &[String]| {
            selection.contains(&levels(case, instruments), self.matrices(case))
        };
        let failed =
            self.results.failures.iter().filter(|one| is_selected(&one.run.case, &[])).count();
        let disturbed = self.results.samples.iter().filter(|one| is_disturbed(one));
        let disturbed =
            disturbed.filter(|one| is_selected(&one.run.case, &one.instruments)).count();
        let counts = [(failed, "failed"), (disturbed, "were disturbed")];
        let words = counts.iter().filter(|(count, _)| *count > 0);
        let words: Vec<String> = words.map(|(count, what)| format!("{count} {what}")).collect();
        (!words.is_empty())
            .then(|| format!("of its runs, {}: measure it again", words.join(" and ")))
    }
}

impl<'a> Cell<'a> {
    /// Returns the values of `metric` by block. Several runs in a block are averaged.
    pub(super) fn values(&self, metric: &Metric) -> BTreeMap<u32, f64> {
        let mut sums: BTreeMap<u32, (f64, f64)> = BTreeMap::new();
        for run in &self.runs {
            if let Some(value) = metric.value(run.sample, &run.observations) {
                let (sum, count) = sums.entry(run.sample.run.block).or_default();
                (*sum, *count) = (*sum + value, *count + 1.0);
            }
        }
        sums.into_iter().map(|(block, (sum, count))| (block, sum / count)).collect()
    }

    /// Returns one of its runs.
    pub(super) fn example(&self) -> Option<&'a Sample> {
        self.runs.first().map(|run| run.sample)
    }
}

/// Returns the CPU distance class of most valid runs, by placement. The first by name wins a tie.
fn majority_classes(results: &Results) -> HashMap<String, &str> {
    let mut runs: BTreeMap<(String, &str), usize> = BTreeMap::new();
    for sample in results.samples.iter().filter(|sample| sample.excluded.is_none()) {
        if let Some(class) = cpu_distance_class(sample) {
            *runs.entry((sample.run.case.placement.clone(), class)).or_default() += 1;
        }
    }
    let mut majorities: HashMap<String, (&str, usize)> = HashMap::new();
    for ((placement, class), count) in runs {
        let majority = majorities.entry(placement).or_insert((class, count));
        if count > majority.1 {
            *majority = (class, count);
        }
    }
    majorities.into_iter().map(|(placement, (class, _))| (placement, class)).collect()
}

/// Returns the CPU distance class that separates the runs of a case. With free placement the class is part of the
/// variation, so it separates nothing.
fn cpu_distance_class(sample: &Sample) -> Option<&str> {
    sample.cpu_pair_class.as_deref().filter(|_| sample.run.case.placement != "free")
}

/// Returns the level of each factor of a case.
fn levels(case: &CaseIdentity, instruments: &[String]) -> Levels {
    let plain = [
        ("mechanism", mechanism_level(&case.mechanism)),
        ("workload", case.workload.name().to_owned()),
        ("mode", case.mode.name().to_owned()),
        ("placement", case.placement.clone()),
        ("kernel_buffer", case.kernel_buffer.clone()),
        ("touch", case.touch.name().to_owned()),
        ("payload", case.payload.to_string()),
        ("buffers", case.buffers.name().to_owned()),
        ("first_touch", case.first_touch.name().to_owned()),
        ("instrument", instrument_level(case, instruments)),
    ];
    let mut levels: Levels =
        plain.into_iter().map(|(name, level)| (name.to_owned(), level)).collect();
    levels.extend(case.amount().map(|amount| ("total".to_owned(), amount.to_level())));
    if let Some(events) = chosen_events(case, instruments) {
        levels.insert(EVENTS.to_owned(), events);
    }
    if let Some(pacing) = case.pacing() {
        levels.insert("rate".to_owned(), pacing.rate_per_s.to_string());
        levels.insert("arrivals".to_owned(), pacing.arrivals.to_string());
        levels.insert("pacer".to_owned(), pacing.pacer.name().to_owned());
    }
    // A mixture takes the place of a size: cases with different mixtures would have no size in common.
    let (factor, size) = match case.message_sizes {
        None => (Factor::Buffer, case.buffer_bytes.to_string()),
        Some(sizes) => (Factor::Messages, sizes.to_string()),
    };
    levels.insert(factor.key().to_owned(), size);
    if let Some(peers) = case.peers {
        levels.insert("peers".to_owned(), peers.to_string());
    }
    levels.extend(prefix_levels(case));
    if let Some(reply) = case.reply {
        levels.insert("reply".to_owned(), reply.to_string());
    }
    let options = case.options.iter();
    let prefix = options_prefix(&case.mechanism);
    levels.extend(options.map(|(name, value)| {
        let factor = format!("{prefix}.{name}");
        let level = option_level(&factor, value);
        (factor, level)
    }));
    levels
}

/// Returns the commands in front of the peers' programs; a case of another mode has no such level.
fn prefix_levels(case: &CaseIdentity) -> impl Iterator<Item = (String, String)> {
    let factors = [(Factor::SenderPrefix, Role::Sender), (Factor::ReceiverPrefix, Role::Receiver)];
    let factors = factors.into_iter().filter(|_| case.mode == Mode::TwoPrograms);
    factors.map(|(factor, role)| {
        let command = case.prefixes.for_role(role).unwrap_or(factor.default_text());
        (factor.key().to_owned(), command.to_owned())
    })
}

/// Returns the level of an option. Options of custom mechanisms are stored as typed, but selections hold sizes in
/// bytes.
fn option_level(factor: &str, value: &str) -> String {
    match canonical(factor, value).as_slice() {
        [level] => level.clone(),
        _ => value.to_owned(),
    }
}

/// Returns the level of the mechanism factor. A custom mechanism has its path in the shortest form.
fn mechanism_level(name: &str) -> String {
    normalized_custom(name).unwrap_or_else(|| name.to_owned())
}

/// Returns the chosen events of a case's instruments, if its name contains them.
fn chosen_events(case: &CaseIdentity, instruments: &[String]) -> Option<String> {
    let named = named_instruments(case, instruments)?.iter();
    let chosen = named.filter(|one| !one.events.is_empty()).map(|one| one.events.join(","));
    let chosen: Vec<String> = chosen.collect();
    (!chosen.is_empty()).then(|| chosen.join("+"))
}

/// Returns the instruments that affect a case. An instrument that does not affect the timing does not make another
/// case.
fn instrument_level(case: &CaseIdentity, instruments: &[String]) -> String {
    let named = named_instruments(case, instruments).unwrap_or_default();
    let names: Vec<&str> = named.iter().map(|one| one.instrument.as_str()).collect();
    if names.is_empty() { "none".to_owned() } else { names.join("+") }
}

/// Returns the instruments in the name of a case. `None` for a twin, and for a run without `instruments`.
fn named_instruments<'c>(
    case: &'c CaseIdentity,
    instruments: &[String],
) -> Option<&'c [NamedInstrument]> {
    let name =
        case.name.as_ref().filter(|name| name.is_instrumented() && !instruments.is_empty())?;
    Some(&name.parts.instruments)
}

#[cfg(test)]
mod tests {
    use ipcperf_model::case_id::{NameParts, NamedAmount, NamedInstrument, Side};
    use ipcperf_model::workload::WorkloadKind;
    use ipcperf_results::testing::{sample, with_name_parts};

    use super::levels;

    #[test]
    fn what_moves_another_amount_is_another_case() {
        let total_level = |amount: Option<NamedAmount>| {
            let one = sample("pipe", WorkloadKind::Stream, 64, 1, 1_000);
            let one =
                with_name_parts(one, NameParts { amount, ..NameParts::default() }, Side::Twin);
            levels(&one.run.case, &[]).get("total").cloned()
        };
        assert_eq!(total_level(None), None);
        assert_eq!(total_level(Some(NamedAmount::Bytes(4096))).as_deref(), Some("4096"));
        assert_eq!(total_level(Some(NamedAmount::Messages(1))).as_deref(), Some("1 message"));
    }

    #[test]
    fn events_that_were_chosen_are_a_level_and_parts_are_none() {
        let instrument_levels = |events: &[&str], part: Option<usize>, side| {
            let one = sample("pipe", WorkloadKind::Stream, 64, 1, 1_000);
            let events = events.iter().map(|&event| event.to_owned()).collect();
            let counters = NamedInstrument { instrument: "counters".to_owned(), events, part };
            let parts = NameParts { instruments: vec![counters], ..NameParts::default() };
            let one = with_name_parts(one, parts, side);
            let levels = levels(&one.run.case, &["counters".to_owned()]);
            (levels["instrument"].clone(), levels.get("counter_events").cloned())
        };
        let (counters, chosen) = ("counters".to_owned(), Some("l1d,mem.rd".to_owned()));
        let two = &["l1d", "mem.rd"];
        assert_eq!(instrument_levels(&[], Some(2), Side::Instrumented), (counters.clone(), None));
        assert_eq!(
            instrument_levels(two, Some(2), Side::Instrumented),
            (counters.clone(), chosen.clone())
        );
        assert_eq!(instrument_levels(two, None, Side::Instrumented), (counters, chosen));
        assert_eq!(instrument_levels(two, None, Side::Twin), ("none".to_owned(), None));
    }

    #[test]
    fn events_of_every_instrument_are_in_the_level() {
        let named = |instrument: &str, event: &str| NamedInstrument {
            instrument: instrument.to_owned(),
            events: vec![event.to_owned()],
            part: None,
        };
        let instruments = vec![named("counters", "l1d"), named("profile", "cycles")];
        let parts = NameParts { instruments, ..NameParts::default() };
        let one = with_name_parts(
            sample("pipe", WorkloadKind::Stream, 64, 1, 1_000),
            parts,
            Side::Instrumented,
        );
        assert_eq!(levels(&one.run.case, &["profile".to_owned()])["counter_events"], "l1d+cycles");
    }
}
