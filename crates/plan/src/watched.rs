//! Which instruments watch which runs, and the runs that nobody watches to hold them against.
//!
//! What an instrument that disturbs does to a run is measured: each case that one watches has an
//! undisturbed twin in the same block. What disturbs nothing watches both.

use ipcperf_model::case_id::Side;
use ipcperf_model::instrument::{Disturbs, kernel_objects};
use ipcperf_model::{Gate, Objects};
use ipcperf_observe::{Instrument, Source};

use super::watchers::{Events, Watcher};

/// Whether instruments that disturb may disturb one another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Grouping {
    /// Each gets runs of its own.
    #[default]
    Apart,
    /// All watch the same run.
    Together,
}

/// Who watches a case, if anybody does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Watched {
    /// By name.
    pub by: Vec<&'static str>,
    /// What those of them count of which events can be chosen.
    pub events: Events,
    /// The case that is watched, of which this one is the undisturbed twin.
    pub twin_of: Option<String>,
}

impl Watched {
    /// The instruments.
    pub fn instruments(&self) -> impl Iterator<Item = &'static Instrument> {
        self.by.iter().filter_map(|name| ipcperf_observe::find(name))
    }

    /// Those of them that disturb.
    pub fn disturbing(&self) -> impl Iterator<Item = &'static Instrument> {
        self.instruments().filter(|instrument| instrument.facts.disturbs == Disturbs::Yes)
    }

    /// Which of the two cases of its group it is.
    pub(super) const fn side(&self) -> Side {
        if self.twin_of.is_some() { Side::Twin } else { Side::Watched }
    }

    /// Whether the parties must wait to be watched.
    pub(super) fn gate(&self) -> Gate {
        let is_outside =
            |instrument: &Instrument| !matches!(instrument.source, Source::Worker { .. });
        if self.instruments().any(is_outside) { Gate::Closed } else { Gate::Open }
    }
}

impl Watched {
    /// Whether the parties look at their kernel objects.
    pub(super) fn objects(&self) -> Objects {
        if self.by.contains(&kernel_objects::FACTS.name) { Objects::Read } else { Objects::Unread }
    }
}

/// Number of cases that each cell makes where `watchers` watch it.
pub(super) fn cases_of_each(watchers: &[Watcher], grouping: Grouping) -> usize {
    let loud = watchers.iter().filter(|watcher| watcher.instrument.facts.disturbs == Disturbs::Yes);
    let groups = match grouping {
        Grouping::Together => loud.map(|watcher| watcher.part.0).max().unwrap_or(0),
        Grouping::Apart => loud.count(),
    };
    groups.saturating_mul(2).max(1)
}
