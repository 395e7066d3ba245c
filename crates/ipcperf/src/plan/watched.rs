//! Which instruments watch which runs, and the runs that nobody watches to hold them against.
//!
//! What an instrument that disturbs does to a run is measured: each case that one watches has an
//! undisturbed twin in the same block. What disturbs nothing watches both.

use ipcperf_engine::worker::{Gate, Objects};
use ipcperf_observe::{Disturbs, Instrument, KERNEL_OBJECTS, Source};

use super::cell::Case;
use super::name::{Side, case_id};
use super::watchers::{Events, Watcher};

/// Whether instruments that disturb may disturb one another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Grouping {
    /// Each gets runs of its own.
    #[default]
    Apart,
    /// All watch the same run.
    Together,
}

/// Who watches a case, if anybody does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Watched {
    /// By name.
    pub(crate) by: Vec<&'static str>,
    /// What those of them count of which events can be chosen.
    pub(crate) events: Events,
    /// The case that is watched, of which this one is the undisturbed twin.
    pub(crate) twin_of: Option<String>,
}

impl Watched {
    /// The instruments.
    pub(crate) fn instruments(&self) -> impl Iterator<Item = &'static Instrument> {
        self.by.iter().filter_map(|name| ipcperf_observe::find(name))
    }

    /// Those of them that disturb.
    pub(crate) fn disturbing(&self) -> impl Iterator<Item = &'static Instrument> {
        self.instruments().filter(|instrument| instrument.disturbs == Disturbs::Yes)
    }

    /// Which of the two cases of its group it is.
    pub(super) const fn side(&self) -> Side {
        if self.twin_of.is_some() { Side::Twin } else { Side::Watched }
    }

    /// Whether the parties must wait to be watched.
    pub(super) fn gate(&self) -> Gate {
        let is_outside = |instrument: &Instrument| !matches!(instrument.source, Source::Worker);
        if self.instruments().any(is_outside) { Gate::Closed } else { Gate::Open }
    }
}

impl Watched {
    /// Whether the parties look at their kernel objects.
    pub(super) fn objects(&self) -> Objects {
        if self.by.contains(&KERNEL_OBJECTS) { Objects::Read } else { Objects::Unread }
    }
}

/// Number of cases that each cell makes where `watchers` watch it.
pub(super) fn cases_of_each(watchers: &[Watcher], grouping: Grouping) -> usize {
    let loud = watchers.iter().filter(|watcher| watcher.instrument.disturbs == Disturbs::Yes);
    let groups = match grouping {
        Grouping::Together => loud.map(|watcher| watcher.part.0).max().unwrap_or(0),
        Grouping::Apart => loud.count(),
    };
    groups.saturating_mul(2).max(1)
}

/// `case`, as it is watched by `watchers`: one case, or two for each instrument that disturbs, or for
/// all of those together.
pub(super) fn watched(case: Case, watchers: &[Watcher], grouping: Grouping) -> Vec<Case> {
    let (quiet, loud): (Vec<&Watcher>, Vec<&Watcher>) =
        watchers.iter().partition(|watcher| watcher.instrument.disturbs == Disturbs::No);
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
        let events = chosen.map(|one| (one.instrument.name, one.events.clone())).collect();
        let by = by.iter().map(|watcher| watcher.instrument.name).collect();
        self.watched = Watched { by, events, twin_of };
        self.spec.gate = self.watched.gate();
        self.spec.objects = self.watched.objects();
        self.id = self.made_id();
        self
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
