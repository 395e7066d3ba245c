//! Which of the instruments that were asked for can watch here, and by which events.

use std::collections::BTreeMap;

use ipcperf_model::Unavailable;
use ipcperf_model::case_id::NamedInstrument;
use ipcperf_model::instrument::{counters, profile};
use ipcperf_observe::{Instrument, Source};

use crate::error::Error;
use crate::spelling as words;

/// The instruments of which events can be chosen, and the flag that chooses them.
const CHOOSERS: [(&str, &str); 2] =
    [(counters::FACTS.name, "--events"), (profile::FACTS.name, "--event")];

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
pub(super) fn parse(text: Option<&str>) -> Result<Vec<&'static Instrument>, Error> {
    text.map_or(Ok(Vec::new()), |text| words::list(text, instrument))
}

fn instrument(word: &str) -> Result<&'static Instrument, Error> {
    ipcperf_observe::find(word).ok_or_else(|| {
        let names = ipcperf_observe::INSTRUMENTS.iter().map(|known| known.facts.name);
        words::unknown("instrument", word, names)
    })
}

/// What was typed after `--events` and `--event`.
///
/// # Errors
/// Usage where the instrument is not among those that were asked for.
pub(super) fn parse_events(
    typed: [Option<&str>; 2],
    instruments: &[&'static Instrument],
) -> Result<Events, Error> {
    let mut events = Events::new();
    for ((name, flag), text) in CHOOSERS.into_iter().zip(typed) {
        let Some(text) = text else { continue };
        if !instruments.iter().any(|instrument| instrument.facts.name == name) {
            return Err(Error::usage(format!("{flag} is for --instrument {name}")));
        }
        let chosen = ipcperf_observe::counters::split(text);
        if chosen.len() > MOST_EVENTS {
            let count = chosen.len();
            let words = format!("{flag} names {count} events; {MOST_EVENTS} are the most");
            return Err(Error::usage(words));
        }
        events.insert(name, chosen);
    }
    Ok(events)
}

/// Whether the words that were chosen for `instrument` are events.
///
/// # Errors
/// Usage where one is none.
pub fn check_events(events: &Events, instrument: &str) -> Result<(), Error> {
    let chosen = events.get(instrument).map_or(&[][..], Vec::as_slice);
    let known = ipcperf_observe::find(instrument);
    known.map_or(Ok(()), |instrument| parts(instrument, chosen).map(drop))
}

/// Tries each of `asked`: those that work here, part by part, and what does not.
///
/// # Errors
/// Usage where a word is no event.
pub(super) fn sort_out(
    asked: &[&'static Instrument],
    events: &Events,
) -> Result<(Vec<Watcher>, Vec<Unwatched>), Error> {
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

fn parts(instrument: &'static Instrument, chosen: &[String]) -> Result<Vec<Watcher>, Error> {
    let parts = match instrument.source {
        Source::Worker { .. } | Source::Outside { .. } => vec![Vec::new()],
        Source::Events { divide, .. } => divide(chosen)
            .map_err(|why| Error::usage(format!("{}: {why}", instrument.facts.name)))?,
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
        let refused = parse_events([Some("cycles"), None], &[]).unwrap_err().to_string();
        assert!(refused.contains("--events is for --instrument counters"), "{refused}");
    }
}
