//! Requested instruments that are available here, and their events.

use std::collections::BTreeMap;

use ipcperf_model::Unavailable;
use ipcperf_model::case_id::NamedInstrument;
use ipcperf_model::instrument::{counters, profile};
use ipcperf_observe::{Instrument, Source};

use crate::factor::Factor;
use crate::factor_error::{FactorError, Reason};
use crate::spelling;
use crate::typed::TypedLevels;

/// Instruments with a choice of events, and the factor that chooses them.
const EVENT_FACTORS: [(&str, Factor); 2] =
    [(counters::FACTS.name, Factor::CounterEvents), (profile::FACTS.name, Factor::ProfileEvent)];

/// Maximum number of events: more are a mistake.
const MAX_EVENTS: usize = 1_024;

/// Events by the name of the instrument that they were chosen for.
pub type Events = BTreeMap<&'static str, Vec<String>>;

/// Instrument with the events that it counts in one run.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct InstrumentPart {
    /// Instrument that observes the run.
    pub instrument: &'static Instrument,
    /// Events to count; empty if the instrument offers no choice.
    pub events: Vec<String>,
    /// Number of this part of the instrument, from 1, and the number of parts.
    pub part: (usize, usize),
    /// Words that chose the events, if the case name must distinguish this instrument from one with other events.
    pub(super) name_events: Vec<String>,
}

/// Requested instrument, or one of its events, that is unavailable here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnavailableInstrument {
    /// Name of the instrument.
    pub instrument: &'static str,
    /// Missing component and remedy.
    pub why: Unavailable,
    /// Whether the whole instrument is unavailable, or one event.
    pub missing_part: MissingPart,
    /// Number of cells that are not run because no other instrument would observe them; 0 if they are run anyway.
    pub cells_left_out: usize,
    /// Matrices of the study that contain these cells.
    pub matrices: Vec<String>,
}

impl UnavailableInstrument {
    /// Whether the same part is missing for the same reason.
    pub(super) fn has_same_cause(&self, other: &Self) -> bool {
        (self.instrument, &self.why, self.missing_part)
            == (other.instrument, &other.why, other.missing_part)
    }

    /// Adds the cells that `other` leaves out.
    pub(super) fn merge(&mut self, other: Self) {
        self.cells_left_out = self.cells_left_out.saturating_add(other.cells_left_out);
        self.matrices.extend(other.matrices);
    }
}

/// Unavailable part of an instrument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MissingPart {
    /// The whole instrument.
    Whole,
    /// One of its events.
    Event,
}

impl InstrumentPart {
    /// Returns the instrument as it appears in a case name: with the words that chose its events if they are part
    /// of the name, and with the number of its part if there are several.
    pub(super) fn to_named(&self) -> NamedInstrument {
        let part = match self.part {
            (_, 1) => None,
            (part, _) => Some(part),
        };
        let instrument = self.instrument.facts.name.to_owned();
        NamedInstrument { instrument, events: self.name_events.clone(), part }
    }
}

/// Stores in each of `parts` the words that chose its events.
pub(super) fn set_name_events(parts: &mut [InstrumentPart], events: &Events) {
    for part in parts {
        part.name_events = events.get(part.instrument.facts.name).cloned().unwrap_or_default();
    }
}

/// Parses the value of `--instrument`.
pub(super) fn parse(
    typed: Option<TypedLevels<'_>>,
) -> Result<Vec<&'static Instrument>, FactorError> {
    typed.map_or(Ok(Vec::new()), |typed| {
        spelling::parse_list(Factor::Instrument, typed, parse_instrument)
    })
}

fn parse_instrument(word: &str) -> Result<&'static Instrument, FactorError> {
    let names = ipcperf_observe::INSTRUMENTS.iter().map(|known| known.facts.name);
    ipcperf_observe::find(word).ok_or_else(|| FactorError::unknown(Factor::Instrument, word, names))
}

/// Parses the values of `--counter-events` and `--profile-event`, or returns the errors in both.
pub(super) fn parse_events(
    typed: [Option<TypedLevels<'_>>; 2],
) -> Result<Events, Vec<FactorError>> {
    let (mut events, mut errors) = (Events::new(), Vec::new());
    for ((name, factor), typed) in EVENT_FACTORS.into_iter().zip(typed) {
        let Some(typed) = typed else { continue };
        let texts = typed.texts().into_iter();
        let chosen: Vec<String> = texts.flat_map(ipcperf_observe::counters::split_list).collect();
        if chosen.len() > MAX_EVENTS {
            let reason = Reason::TooMany(chosen.len() as u64, MAX_EVENTS as u64);
            errors.push(FactorError::new(factor, "", reason));
        }
        events.insert(name, chosen);
    }
    if errors.is_empty() { Ok(events) } else { Err(errors) }
}

/// Returns the errors for events that were chosen for instruments that are not requested.
pub(super) fn unused_events(
    events: &Events,
    instruments: &[&'static Instrument],
) -> Vec<FactorError> {
    let is_requested = |name: &str| instruments.iter().any(|one| one.facts.name == name);
    let unused =
        EVENT_FACTORS.iter().filter(|(name, _)| events.contains_key(name) && !is_requested(name));
    let error = |(name, factor): &(&'static str, Factor)| {
        FactorError::new(*factor, "", Reason::IsFor(Factor::Instrument, vec![*name]))
    };
    unused.map(error).collect()
}

/// Returns the first unknown event of each factor.
pub(super) fn unknown_events(events: &Events) -> Vec<FactorError> {
    events.keys().filter_map(|instrument| check_events(events, instrument).err()).collect()
}

/// Checks that the words chosen for `instrument` are events.
///
/// # Errors
/// Returns the first word that is not an event.
pub(super) fn check_events(events: &Events, instrument: &str) -> Result<(), FactorError> {
    let chosen = events.get(instrument).map_or(&[][..], Vec::as_slice);
    let known = ipcperf_observe::find(instrument);
    known.map_or(Ok(()), |instrument| parts(instrument, chosen).map(drop))
}

/// Tests each requested instrument. Returns the parts of those that work here, and the ones that are unavailable.
///
/// # Errors
/// Returns the first word that is not an event.
pub(super) fn check_availability(
    requested: &[&'static Instrument],
    events: &Events,
) -> Result<(Vec<InstrumentPart>, Vec<UnavailableInstrument>), FactorError> {
    let (mut working, mut missing) = (Vec::new(), Vec::new());
    for &instrument in requested {
        let lacks = |why, missing_part| UnavailableInstrument {
            instrument: instrument.facts.name,
            why,
            missing_part,
            cells_left_out: 0,
            matrices: Vec::new(),
        };
        let chosen = events.get(instrument.facts.name).map_or(&[][..], Vec::as_slice);
        let parts = parts(instrument, chosen)?;
        match instrument.check_available(chosen) {
            Ok(_) if parts.is_empty() => missing.push(lacks(no_events_left(), MissingPart::Whole)),
            Ok(events) => {
                working.extend(parts);
                missing.extend(events.into_iter().map(|why| lacks(why, MissingPart::Event)));
            }
            Err(why) => missing.push(lacks(why, MissingPart::Whole)),
        }
    }
    Ok((working, missing))
}

/// Returns the reason why an available instrument has no parts: its events existed when it was tested, but no
/// longer do.
fn no_events_left() -> Unavailable {
    Unavailable {
        reason: "none of its events is available any more".to_owned(),
        remedy: "to list the available events: ipcperf doctor".to_owned(),
    }
}

fn parts(
    instrument: &'static Instrument,
    chosen: &[String],
) -> Result<Vec<InstrumentPart>, FactorError> {
    let name = instrument.facts.name;
    let wrong = |why| {
        let chooser = EVENT_FACTORS.iter().find(|(chooser, _)| *chooser == name);
        let factor = chooser.map_or(Factor::Instrument, |(_, factor)| *factor);
        FactorError::new(factor, "", Reason::Event(why))
    };
    let parts = match instrument.source {
        Source::Worker { .. } | Source::External { .. } => vec![Vec::new()],
        Source::Events { divide, .. } => divide(chosen).map_err(wrong)?,
    };
    let count = parts.len();
    let to_part = |(index, events)| InstrumentPart {
        instrument,
        events,
        part: (index + 1, count),
        name_events: Vec::new(),
    };
    Ok(parts.into_iter().enumerate().map(to_part).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_chose_the_events_stands_in_a_name_where_it_must() {
        let instrument = ipcperf_observe::find(counters::FACTS.name).unwrap();
        let part = (2, 3);
        let mut watchers =
            [InstrumentPart { instrument, events: Vec::new(), part, name_events: Vec::new() }];
        let words = ["l1d", "mem"].map(str::to_owned).to_vec();
        set_name_events(&mut watchers, &Events::from([(counters::FACTS.name, words)]));
        assert_eq!(watchers[0].to_named().to_string(), "counters:l1d,mem.2");
    }

    #[test]
    fn events_are_for_their_instrument() {
        let events = parse_events([Some(TypedLevels::Text("cycles")), None]).unwrap();
        let unused = unused_events(&events, &[]);
        assert_eq!(unused[0].to_string(), "--counter-events requires --instrument counters");
        assert_eq!(unused[0].reason_by_keys(), "counter_events requires instrument counters");
    }

    #[test]
    fn a_word_that_is_no_event_is_told_with_its_factor() {
        let events = parse_events([Some(TypedLevels::Text("page-fautls")), None]).unwrap();
        let [unknown] = &unknown_events(&events)[..] else { panic!("one") };
        assert_eq!(unknown.factor, Factor::CounterEvents);
        assert!(unknown.remedy_by_keys().contains("page-faults"), "{unknown}");
    }
}
