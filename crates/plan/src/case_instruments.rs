//! Assignment of instruments to cases, with uninstrumented twins for comparison.
//!
//! The effect of an instrument that disturbs is measured: each case that it observes has an uninstrumented twin in
//! the same block. Instruments that do not disturb observe both.

use ipcperf_model::case_id::Side;
use ipcperf_model::instrument::{Intrusive, kernel_objects};
use ipcperf_model::{Gate, KernelObjectLimits};
use ipcperf_observe::{Instrument, Source};

use super::instruments::{Events, InstrumentPart};

/// Whether disturbing instruments may share runs, and so disturb each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Grouping {
    /// Each disturbing instrument gets separate runs.
    #[default]
    Apart,
    /// All instruments observe the same run.
    Together,
}

/// Instruments that observe a case.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CaseInstruments {
    /// Names of the instruments.
    pub names: Vec<&'static str>,
    /// Chosen events, for the instruments that offer a choice.
    pub events: Events,
    /// Name of the instrumented case of which this one is the uninstrumented twin.
    pub twin_of: Option<String>,
}

impl CaseInstruments {
    /// Returns the instruments.
    pub fn instruments(&self) -> impl Iterator<Item = &'static Instrument> {
        self.names.iter().filter_map(|name| ipcperf_observe::find(name))
    }

    /// Returns the instruments that disturb.
    pub fn intrusive(&self) -> impl Iterator<Item = &'static Instrument> {
        self.instruments().filter(|instrument| instrument.facts.intrusive == Intrusive::Yes)
    }

    /// Returns the side of the pair that this case is.
    pub(super) const fn side(&self) -> Side {
        if self.twin_of.is_some() { Side::Twin } else { Side::Instrumented }
    }

    /// Returns whether the peers must wait until instruments have attached.
    pub(super) fn gate(&self) -> Gate {
        let is_outside =
            |instrument: &Instrument| !matches!(instrument.source, Source::Worker { .. });
        if self.instruments().any(is_outside) { Gate::Closed } else { Gate::Open }
    }

    /// Returns whether the peers read the limits of their kernel objects.
    pub(super) fn objects(&self) -> KernelObjectLimits {
        if self.names.contains(&kernel_objects::FACTS.name) {
            KernelObjectLimits::Read
        } else {
            KernelObjectLimits::Unread
        }
    }
}

/// Number of cases that each cell makes with the instruments `parts`.
pub(super) fn cases_per_cell(parts: &[InstrumentPart], grouping: Grouping) -> usize {
    let intrusive = parts.iter().filter(|part| part.instrument.facts.intrusive == Intrusive::Yes);
    let groups = match grouping {
        Grouping::Together => intrusive.map(|part| part.part.0).max().unwrap_or(0),
        Grouping::Apart => intrusive.count(),
    };
    groups.saturating_mul(2).max(1)
}
