//! Combines cases with instruments, and adds their uninstrumented twins.

use ipcperf_model::case_id::{CaseName, Side, case_id};
use ipcperf_model::instrument::Intrusive;

use super::case_instruments::{CaseInstruments, Grouping};
use super::cell::Case;
use super::instruments::InstrumentPart;

/// Returns `case` with its instruments: one case if none of them disturbs. Otherwise each disturbing instrument
/// makes two cases, or all of them together make two.
pub(super) fn add_instruments(
    case: Case,
    parts: &[InstrumentPart],
    grouping: Grouping,
) -> Vec<Case> {
    let (non_intrusive, intrusive): (Vec<&InstrumentPart>, Vec<&InstrumentPart>) =
        parts.iter().partition(|part| part.instrument.facts.intrusive == Intrusive::No);
    let groups: Vec<Vec<&InstrumentPart>> = match grouping {
        _ if intrusive.is_empty() => return vec![case.with_instruments(&non_intrusive, &[], None)],
        Grouping::Together => together(&intrusive),
        Grouping::Apart => intrusive.into_iter().map(|part| vec![part]).collect(),
    };
    groups.into_iter().flat_map(|group| with_twin(&case, &non_intrusive, &group)).collect()
}

/// Returns the smallest possible number of groups in which no two parts belong to the same instrument.
fn together<'a>(parts: &[&'a InstrumentPart]) -> Vec<Vec<&'a InstrumentPart>> {
    let of_part = |part| {
        let some = parts.iter().filter(move |candidate| candidate.part.0 == part);
        some.copied().collect::<Vec<_>>()
    };
    (1..).map(of_part).take_while(|group| !group.is_empty()).collect()
}

/// Returns `case` instrumented with `group`, and its twin. Both are observed by the `non_intrusive` instruments.
fn with_twin(
    case: &Case,
    non_intrusive: &[&InstrumentPart],
    group: &[&InstrumentPart],
) -> [Case; 2] {
    let all = [non_intrusive, group].concat();
    let watched = case.clone().with_instruments(&all, group, None);
    let twin_of = Some(watched.id.clone());
    let twin = case.clone().with_instruments(non_intrusive, group, twin_of);
    [twin, watched]
}

impl Case {
    /// Adds the instruments `by` to the case. The instruments of `group` become part of its name.
    fn with_instruments(
        mut self,
        by: &[&InstrumentPart],
        group: &[&InstrumentPart],
        twin_of: Option<String>,
    ) -> Self {
        self.name.instruments = group.iter().map(|part| part.to_named()).collect();
        let chosen = by.iter().filter(|part| !part.events.is_empty());
        let events = chosen.map(|one| (one.instrument.facts.name, one.events.clone())).collect();
        let by = by.iter().map(|part| part.instrument.facts.name).collect();
        self.instruments = CaseInstruments { names: by, events, twin_of };
        self.spec.gate = self.instruments.gate();
        self.spec.objects = self.instruments.objects();
        self.id = self.build_id();
        self
    }

    /// Returns the components of the name.
    pub fn case_name(&self) -> CaseName {
        CaseName::new(&self.spec, self.placement, self.name.clone(), self.instruments.side())
    }

    /// Builds the name of the instrumented case of the same group from the specification.
    pub(super) fn instrumented_id(&self) -> String {
        case_id(&self.spec, self.placement, &self.name, Side::Instrumented)
    }

    /// Builds the name of the case from the specification.
    pub(super) fn build_id(&self) -> String {
        case_id(&self.spec, self.placement, &self.name, self.instruments.side())
    }
}
