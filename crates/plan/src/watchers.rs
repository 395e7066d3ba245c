//! Which of the instruments that were asked for can watch here, and by which events.

use std::collections::BTreeMap;

use ipcperf_model::Unavailable;
use ipcperf_model::case_id::NamedInstrument;
use ipcperf_model::instrument::{counters, profile};
use ipcperf_observe::{Instrument, Source};

use crate::factor::Factor;
use crate::factor_error::{FactorError, Reason};
use crate::spelling as words;
use crate::typed::Words;

/// The instruments of which events can be chosen, and the factor that chooses them.
const CHOOSERS: [(&str, Factor); 2] =
    [(counters::FACTS.name, Factor::CounterEvents), (profile::FACTS.name, Factor::ProfileEvent)];

/// More events than this are a slip.
const MOST_EVENTS: usize = 1_024;

/// Events by the name of the instrument that they were chosen for.
pub type Events = BTreeMap<&'static str, Vec<String>>;

/// An instrument, and what of its events is had in one run.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Watcher {
    /// The instrument.
    pub instrument: &'static Instrument,
    /// None where there is nothing to choose.
    pub events: Vec<String>,
    /// Which of the instrument's parts this is, and of how many.
    pub part: (usize, usize),
    /// The words that chose its events, where its name must tell it from others by other events.
    pub(super) chosen: Vec<String>,
}

/// An instrument that was asked for, or an event of it, that cannot be had here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unwatched {
    /// Its name.
    pub instrument: &'static str,
    /// What is missing, and what would help.
    pub why: Unavailable,
    /// Whether it watches nothing, or without an event.
    pub extent: Extent,
    /// Cells that are not run because nobody else would watch them; none where they are run all the same.
    pub cells_left_out: usize,
    /// The matrices of the study that those are of.
    pub matrices: Vec<String>,
}

impl Unwatched {
    /// Whether the same is missing for the same reason.
    pub(super) fn is_alike(&self, other: &Self) -> bool {
        (self.instrument, &self.why, self.extent) == (other.instrument, &other.why, other.extent)
    }

    /// Adds the cells that `other` leaves out.
    pub(super) fn take_in(&mut self, other: Self) {
        self.cells_left_out = self.cells_left_out.saturating_add(other.cells_left_out);
        self.matrices.extend(other.matrices);
    }
}

/// How much of an instrument is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// It does not watch at all.
    Whole,
    /// It does without one of its events.
    Event,
}

impl Watcher {
    /// As the name of a case has it: with what chose its events where that is told, and the number of its part
    /// where there are several.
    pub(super) fn named(&self) -> NamedInstrument {
        let part = match self.part {
            (_, 1) => None,
            (part, _) => Some(part),
        };
        let instrument = self.instrument.facts.name.to_owned();
        NamedInstrument { instrument, events: self.chosen.clone(), part }
    }
}

/// Names each of `watchers` by the words that chose its events.
pub(super) fn named_by_events(watchers: &mut [Watcher], events: &Events) {
    for watcher in watchers {
        watcher.chosen = events.get(watcher.instrument.facts.name).cloned().unwrap_or_default();
    }
}

/// What was typed after `--instrument`.
pub(super) fn parse(typed: Option<Words<'_>>) -> Result<Vec<&'static Instrument>, FactorError> {
    typed.map_or(Ok(Vec::new()), |typed| words::list(Factor::Instrument, typed, instrument))
}

fn instrument(word: &str) -> Result<&'static Instrument, FactorError> {
    let names = ipcperf_observe::INSTRUMENTS.iter().map(|known| known.facts.name);
    ipcperf_observe::find(word).ok_or_else(|| FactorError::unknown(Factor::Instrument, word, names))
}

/// What was typed after `--events` and `--event`, or what is wrong with either.
pub(super) fn parse_events(typed: [Option<Words<'_>>; 2]) -> Result<Events, Vec<FactorError>> {
    let (mut events, mut errors) = (Events::new(), Vec::new());
    for ((name, factor), typed) in CHOOSERS.into_iter().zip(typed) {
        let Some(typed) = typed else { continue };
        let texts = typed.texts().into_iter();
        let chosen: Vec<String> = texts.flat_map(ipcperf_observe::counters::split).collect();
        if chosen.len() > MOST_EVENTS {
            let reason = Reason::TooMany(chosen.len() as u64, MOST_EVENTS as u64);
            errors.push(FactorError::new(factor, "", reason));
        }
        events.insert(name, chosen);
    }
    if errors.is_empty() { Ok(events) } else { Err(errors) }
}

/// Events that were chosen for instruments that are not among `instruments`.
pub(super) fn unused_events(
    events: &Events,
    instruments: &[&'static Instrument],
) -> Vec<FactorError> {
    let is_asked = |name: &str| instruments.iter().any(|one| one.facts.name == name);
    let unused = CHOOSERS.iter().filter(|(name, _)| events.contains_key(name) && !is_asked(name));
    let error = |(name, factor): &(&'static str, Factor)| {
        FactorError::new(*factor, "", Reason::IsFor(Factor::Instrument, name))
    };
    unused.map(error).collect()
}

/// The first word of each factor that was chosen as an event and is none.
pub(super) fn unknown_events(events: &Events) -> Vec<FactorError> {
    events.keys().filter_map(|instrument| check_events(events, instrument).err()).collect()
}

/// Whether the words that were chosen for `instrument` are events.
///
/// # Errors
/// That one is none.
pub(super) fn check_events(events: &Events, instrument: &str) -> Result<(), FactorError> {
    let chosen = events.get(instrument).map_or(&[][..], Vec::as_slice);
    let known = ipcperf_observe::find(instrument);
    known.map_or(Ok(()), |instrument| parts(instrument, chosen).map(drop))
}

/// Tries each of `asked`: those that work here, part by part, and what does not.
///
/// # Errors
/// That a word is no event.
pub(super) fn sort_out(
    asked: &[&'static Instrument],
    events: &Events,
) -> Result<(Vec<Watcher>, Vec<Unwatched>), FactorError> {
    let (mut working, mut missing) = (Vec::new(), Vec::new());
    for &instrument in asked {
        let lacks = |why, extent| Unwatched {
            instrument: instrument.facts.name,
            why,
            extent,
            cells_left_out: 0,
            matrices: Vec::new(),
        };
        let chosen = events.get(instrument.facts.name).map_or(&[][..], Vec::as_slice);
        let parts = parts(instrument, chosen)?;
        match instrument.lacks(chosen) {
            Ok(_) if parts.is_empty() => missing.push(lacks(nothing_left(), Extent::Whole)),
            Ok(events) => {
                working.extend(parts);
                missing.extend(events.into_iter().map(|why| lacks(why, Extent::Event)));
            }
            Err(why) => missing.push(lacks(why, Extent::Whole)),
        }
    }
    Ok((working, missing))
}

/// Why an instrument has no part, although it can watch: its events were there when it was tried, and are gone.
fn nothing_left() -> Unavailable {
    Unavailable {
        reason: "none of its events can be had any more".to_owned(),
        remedy: "see what else counts here: ipcperf doctor".to_owned(),
    }
}

fn parts(instrument: &'static Instrument, chosen: &[String]) -> Result<Vec<Watcher>, FactorError> {
    let name = instrument.facts.name;
    let wrong = |why| {
        let chooser = CHOOSERS.iter().find(|(chooser, _)| *chooser == name);
        let factor = chooser.map_or(Factor::Instrument, |(_, factor)| *factor);
        FactorError::new(factor, "", Reason::Event(name, why))
    };
    let parts = match instrument.source {
        Source::Worker { .. } | Source::Outside { .. } => vec![Vec::new()],
        Source::Events { divide, .. } => divide(chosen).map_err(wrong)?,
    };
    let count = parts.len();
    let watcher = |(index, events)| Watcher {
        instrument,
        events,
        part: (index + 1, count),
        chosen: Vec::new(),
    };
    Ok(parts.into_iter().enumerate().map(watcher).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_chose_the_events_stands_in_a_name_where_it_must() {
        let instrument = ipcperf_observe::find(counters::FACTS.name).unwrap();
        let part = (2, 3);
        let mut watchers = [Watcher { instrument, events: Vec::new(), part, chosen: Vec::new() }];
        let words = ["l1d", "mem"].map(str::to_owned).to_vec();
        named_by_events(&mut watchers, &Events::from([(counters::FACTS.name, words)]));
        assert_eq!(watchers[0].named().to_string(), "counters:l1d,mem.2");
    }

    #[test]
    fn events_are_for_their_instrument() {
        let events = parse_events([Some(Words::Text("cycles")), None]).unwrap();
        let unused = unused_events(&events, &[]);
        assert_eq!(unused[0].to_string(), "--events is for --instrument counters");
        assert_eq!(unused[0].reason_by_keys(), "events is for instrument counters");
    }

    #[test]
    fn a_word_that_is_no_event_is_told_with_its_factor() {
        let events = parse_events([Some(Words::Text("page-fautls")), None]).unwrap();
        let [unknown] = &unknown_events(&events)[..] else { panic!("one") };
        assert_eq!(unknown.factor, Factor::CounterEvents);
        assert!(unknown.remedy_by_keys().contains("page-faults"), "{unknown}");
    }
}
