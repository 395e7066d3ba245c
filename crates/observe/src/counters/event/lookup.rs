//! Lists all known events, and suggests similar ones for an unknown name.

use ipcperf_model::Unavailable;
use ipcperf_model::instrument::counters::Known;

use super::{Machine, generic};
use crate::counters::SETS;

/// Minimum similarity of a suggestion, from 0 to 1.
const SIMILAR: f64 = 0.85;
/// Maximum number of suggestions.
const SHOWN: usize = 3;

/// Unknown event `word`, with suggestions.
pub(super) fn no_word(word: &str, machine: &Machine) -> Unavailable {
    let near = near(word, known(machine).map(|known| known.name));
    let listed = "a number as rHEX, SOURCE/TERMS/, or a name below /sys/bus/event_source/devices";
    Unavailable {
        reason: format!("there is no event {word}"),
        remedy: match &near[..] {
            [] => {
                let sets: Vec<_> = SETS.iter().map(|set| set.name).collect();
                format!(
                    "known are cycles, LLC-loads, MEM_READ and others, sets {}, {listed}",
                    sets.join(", ")
                )
            }
            near => format!("did you mean {}? Known are also {listed}", near.join(" or ")),
        },
    }
}

/// Returns every event name known on this machine, with its description.
pub(super) fn known(machine: &Machine) -> impl Iterator<Item = Known> {
    let own = |name: &str, about: &str| Known { name: name.to_owned(), about: about.to_owned() };
    let sets = SETS
        .iter()
        .map(move |set| own(set.name, &format!("{}: {}", set.about, set.events.join(", "))));
    let names = machine.core.lines().map(move |line| own(line.name, line.of));
    let events = machine.devices.iter().flat_map(move |device| {
        device.events().map(move |name| own(name, &format!("of {}", device.name)))
    });
    generic::names()
        .map(move |(name, about)| own(&name, about))
        .chain(sets)
        .chain(names)
        .chain(events)
}

/// Returns the names in `known` that are similar to `word`, the most similar first.
fn near(word: &str, known: impl Iterator<Item = String>) -> Vec<String> {
    let word = word.to_lowercase();
    let like = |known: &str| match strsim::osa_distance(&word, known) {
        0 | 1 => 1.0,
        _ => strsim::jaro_winkler(&word, known),
    };
    let mut near: Vec<_> = known.map(|known| (like(&known.to_lowercase()), known)).collect();
    near.retain(|one| one.0 >= SIMILAR);
    near.sort_by(|one, other| other.0.total_cmp(&one.0));
    near.into_iter().map(|one| one.1).take(SHOWN).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counters::aliases::Core;

    #[test]
    fn a_slip_is_understood_and_nonsense_is_told_what_there_is() {
        let machine = Machine { core: Core::Armv8, devices: Vec::new() };
        let remedy = |wrong| no_word(wrong, &machine).remedy;
        assert!(remedy("cylces").starts_with("did you mean cycles"), "{}", remedy("cylces"));
        assert!(remedy("mem_reed").contains("MEM_READ"), "{}", remedy("mem_reed"));
        assert!(remedy("LLC-lods").contains("LLC-loads"));
        assert!(remedy("zzz").contains("tlbmem"), "{}", remedy("zzz"));
    }
}
