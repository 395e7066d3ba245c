//! Lists all known events, and suggests similar ones for an unknown name.

use ipcperf_model::Unavailable;
use ipcperf_model::instrument::counters::KnownEvent;

use super::{Machine, generic};
use crate::counters::EVENT_SETS;

/// Minimum similarity of a suggestion, from 0 to 1.
const MIN_SIMILARITY: f64 = 0.85;
/// Maximum number of suggestions.
const MAX_SUGGESTIONS: usize = 3;

/// Forms of events without a name, each with an example.
const OTHER_FORMS: &str = "a raw code (r1b), PMU/TERMS/ (cpu/event=0x3c/)";
/// Commands that list the events of a machine.
const LISTS: &str = "to list events: ipcperf doctor, and ls /sys/bus/event_source/devices/*/events";

/// Unknown event `event`, with suggestions.
pub(super) fn unknown_event(event: &str, machine: &Machine) -> Unavailable {
    // The name of a set is known, but is no event where a single event is expected.
    let others = known_events(machine).map(|known| known.name).filter(|name| name != event);
    let suggestions = suggest(event, others);
    let remedy = match &suggestions[..] {
        [] => {
            let sets: Vec<_> = EVENT_SETS.iter().map(|set| set.name).collect();
            format!(
                "write an event as for perf (cycles, LLC-loads), {OTHER_FORMS}, or a set of events ({}); {LISTS}",
                sets.join(", ")
            )
        }
        near => format!("did you mean {}? Other forms: {OTHER_FORMS}; {LISTS}", near.join(" or ")),
    };
    Unavailable { reason: format!("unknown event `{event}`"), remedy }
}

/// Returns every event name known on this machine, with its description.
pub(super) fn known_events(machine: &Machine) -> impl Iterator<Item = KnownEvent> {
    let entry =
        |name: &str, about: &str| KnownEvent { name: name.to_owned(), about: about.to_owned() };
    let sets = EVENT_SETS
        .iter()
        .map(move |set| entry(set.name, &format!("{}: {}", set.about, set.events.join(", "))));
    let names = machine.core.aliases().map(move |line| entry(line.name, line.description));
    let events = machine.devices.iter().flat_map(move |device| {
        device.events().map(move |name| entry(name, &format!("event of {}", device.name)))
    });
    generic::names()
        .map(move |(name, about)| entry(&name, about))
        .chain(sets)
        .chain(names)
        .chain(events)
}

/// Returns the names in `known_events` that are similar to `event`, the most similar first.
fn suggest(event: &str, known: impl Iterator<Item = String>) -> Vec<String> {
    let event = event.to_lowercase();
    let similarity = |known: &str| match strsim::osa_distance(&event, known) {
        0 | 1 => 1.0,
        _ => strsim::jaro_winkler(&event, known),
    };
    let mut ranked: Vec<_> =
        known.map(|known| (similarity(&known.to_lowercase()), known)).collect();
    ranked.retain(|one| one.0 >= MIN_SIMILARITY);
    ranked.sort_by(|one, other| other.0.total_cmp(&one.0));
    ranked.into_iter().map(|one| one.1).take(MAX_SUGGESTIONS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counters::aliases::Core;

    #[test]
    fn a_slip_is_understood_and_nonsense_is_told_what_there_is() {
        let machine = Machine { core: Core::Armv8, devices: Vec::new() };
        let remedy = |wrong| unknown_event(wrong, &machine).remedy;
        assert!(remedy("cylces").starts_with("did you mean cycles"), "{}", remedy("cylces"));
        assert!(remedy("mem_reed").contains("MEM_READ"), "{}", remedy("mem_reed"));
        assert!(remedy("LLC-lods").contains("LLC-loads"));
        assert!(remedy("zzz").contains("tlbmem"), "{}", remedy("zzz"));
    }
}
