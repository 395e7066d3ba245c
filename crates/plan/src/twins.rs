//! Cases with their instruments, and their uninstrumented twins.

use ipcperf_model::case_id::{CaseName, Side, case_id};
use ipcperf_model::instrument::Disturbs;

use super::cell::Case;
use super::watched::{Grouping, Watched};
use super::watchers::Watcher;

/// `case`, as it is watched by `watchers`: one case, or two for each instrument that disturbs, or for
/// all of those together.
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

/// As few groups as there can be: no two parts of one instrument in any of them.
fn together<'a>(watchers: &[&'a Watcher]) -> Vec<Vec<&'a Watcher>> {
    let of_part = |part| {
        let some = watchers.iter().filter(move |watcher| watcher.part.0 == part);
        some.copied().collect::<Vec<_>>()
    };
    (1..).map(of_part).take_while(|group| !group.is_empty()).collect()
}

/// `case` watched by `group`, and its twin; each is watched by what is `quiet`.
fn with_twin(case: &Case, quiet: &[&Watcher], group: &[&Watcher]) -> [Case; 2] {
    let all = [quiet, group].concat();
    let watched = case.clone().watched_by(&all, group, None);
    let twin_of = Some(watched.id.clone());
    let twin = case.clone().watched_by(quiet, group, twin_of);
    [twin, watched]
}

impl Case {
    /// The case as `by` watch it; its name tells it from the others by the instruments of `group`.
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

    /// What its name is made of.
    pub fn case_name(&self) -> CaseName {
        CaseName::new(&self.spec, self.placement, self.name.clone(), self.watched.side())
    }

    /// The name of the case of its group that is watched, made from what it is.
    pub(super) fn watched_id(&self) -> String {
        case_id(&self.spec, self.placement, &self.name, Side::Watched)
    }

    /// Its name, made from what it is.
    pub(super) fn made_id(&self) -> String {
        case_id(&self.spec, self.placement, &self.name, self.watched.side())
    }
}
