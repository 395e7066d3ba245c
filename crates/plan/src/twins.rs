//! Combines cases with instruments, and adds their uninstrumented twins.

use ipcperf_model::case_id::{CaseName, Side, case_id};
use ipcperf_model::instrument::Disturbs;

use super::cell::Case;
use super::watched::{Grouping, Watched};
use super::watchers::Watcher;

/// Returns `case` with its instruments: one case if none of them disturbs. Otherwise each disturbing instrument
/// makes two cases, or all of them together make two.
pub(super) fn watched(case: Case, watchers: &[Watcher], grouping: Grouping) -> Vec<Case> {
    let (quiet, loud): (Vec<&Watcher>, Vec<&Watcher>) =
        watchers.iter().partition(|watcher| watcher.instrument.facts.disturbs == Disturbs::No);
    let groups: Vec<Vec<&Watcher>> = match grouping {
        _ if loud.is_empty() => return vec![case.watched_by(&quiet, &[], None)],
        Grouping::Together => together(&loud),
        Grouping::Apart => loud.into_iter().map(|watcher| vec![watcher]).collect(),
    };
    groups.into_iter().flat_map(|group| with_twin(&case, &quiet, &group)).collect()
}

/// Returns the smallest possible number of groups in which no two parts belong to the same instrument.
fn together<'a>(watchers: &[&'a Watcher]) -> Vec<Vec<&'a Watcher>> {
    let of_part = |part| {
        let some = watchers.iter().filter(move |watcher| watcher.part.0 == part);
        some.copied().collect::<Vec<_>>()
    };
    (1..).map(of_part).take_while(|group| !group.is_empty()).collect()
}

/// Returns `case` instrumented with `group`, and its twin. Both are observed by the `quiet` instruments.
fn with_twin(case: &Case, quiet: &[&Watcher], group: &[&Watcher]) -> [Case; 2] {
    let all = [quiet, group].concat();
    let watched = case.clone().watched_by(&all, group, None);
    let twin_of = Some(watched.id.clone());
    let twin = case.clone().watched_by(quiet, group, twin_of);
    [twin, watched]
}

impl Case {
    /// Adds the instruments `by` to the case. The instruments of `group` become part of its name.
    fn watched_by(mut self, by: &[&Watcher], group: &[&Watcher], twin_of: Option<String>) -> Self {
        self.name.instruments = group.iter().map(|watcher| watcher.named()).collect();
        let chosen = by.iter().filter(|watcher| !watcher.events.is_empty());
        let events = chosen.map(|one| (one.instrument.facts.name, one.events.clone())).collect();
        let by = by.iter().map(|watcher| watcher.instrument.facts.name).collect();
        self.watched = Watched { by, events, twin_of };
        self.spec.gate = self.watched.gate();
        self.spec.objects = self.watched.objects();
        self.id = self.made_id();
        self
    }

    /// Returns the components of the name.
    pub fn case_name(&self) -> CaseName {
        CaseName::new(&self.spec, self.placement, self.name.clone(), self.watched.side())
    }

    /// Builds the name of the instrumented case of the same group from the specification.
    pub(super) fn watched_id(&self) -> String {
        case_id(&self.spec, self.placement, &self.name, Side::Watched)
    }

    /// Builds the name of the case from the specification.
    pub(super) fn made_id(&self) -> String {
        case_id(&self.spec, self.placement, &self.name, self.watched.side())
    }
}
