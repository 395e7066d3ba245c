//! Divides events into groups that fit into the processor's counters.

use ipcperf_model::instrument::counters::PrivilegeLevel;

use crate::counters::event::Event;

/// Names of cycles and instructions, which are in every group so that other counts can be related to them.
const BASE_EVENTS: [&str; 7] = [
    "cycles",
    "cpu-cycles",
    "instructions",
    "INSTR_EXECUTED",
    "CLOCK_CYCLES",
    "INST_RETIRED",
    "CPU_CYCLES",
];

/// Divides `events` into as few groups as `fits` allows: one if all fit. Otherwise the program and the kernel are
/// counted in separate groups, so that each run counts twice as many events, whose counts can be related to each
/// other.
pub(super) fn divide(events: &[Event], fits: impl Fn(&[Event]) -> bool) -> Vec<Vec<String>> {
    if events.is_empty() {
        return Vec::new();
    }
    if fits(events) {
        return vec![events.iter().map(full_name).collect()];
    }
    let sides = [&[PrivilegeLevel::User, PrivilegeLevel::Both][..], &[PrivilegeLevel::Kernel]];
    sides.iter().flat_map(|side| pack(&restrict_to(events, side), &fits)).collect()
}

/// Returns the event name that requests `event` in all its spaces.
fn full_name(event: &Event) -> String {
    match event.spaces[..] {
        [space] => event.name_with_modifier(space),
        _ => event.name.clone(),
    }
}

/// Returns the part of `events` that is counted in one of the spaces in `spaces`.
fn restrict_to(events: &[Event], spaces: &[PrivilegeLevel]) -> Vec<Event> {
    let events = events.iter().filter_map(|event| {
        let space = *event.spaces.iter().find(|space| spaces.contains(space))?;
        Some(Event { spaces: vec![space], ..event.clone() })
    });
    events.collect()
}

/// Divides `events` into groups; cycles and instructions are in each group that has room for them.
fn pack(events: &[Event], fits: &impl Fn(&[Event]) -> bool) -> Vec<Vec<String>> {
    let is_companion = |event: &Event| BASE_EVENTS.contains(&event.name.as_str());
    let (companions, rest): (Vec<_>, Vec<_>) = events.iter().cloned().partition(is_companion);
    let (mut groups, left) = pack_with(&companions, rest, fits);
    let ungrouped = if groups.is_empty() { [companions, left].concat() } else { left };
    groups.extend(pack_with(&[], ungrouped, fits).0);
    groups.iter().map(|part| part.iter().map(full_name).collect()).collect()
}

/// Divides `rest` into groups that all contain `first`. Returns the groups, and the events that fit into none.
fn pack_with(
    first: &[Event],
    mut rest: Vec<Event>,
    fits: &impl Fn(&[Event]) -> bool,
) -> (Vec<Vec<Event>>, Vec<Event>) {
    let mut groups = Vec::new();
    loop {
        let (part, left) = fill_group(first, &rest, fits);
        if left.len() == rest.len() {
            return (groups, left);
        }
        groups.push(part);
        rest = left;
    }
}

/// Adds as many of `rest` to `first` as fit, in order. Returns the group, and the events that do not fit.
fn fill_group(
    first: &[Event],
    rest: &[Event],
    fits: &impl Fn(&[Event]) -> bool,
) -> (Vec<Event>, Vec<Event>) {
    let (mut group, mut left) = (first.to_vec(), Vec::new());
    for event in rest {
        group.push(event.clone());
        if !fits(&group) {
            left.extend(group.pop());
        }
    }
    (group, left)
}

#[cfg(test)]
mod tests {
    use perf_event_open_sys::bindings::PERF_TYPE_SOFTWARE;
    use proptest::prelude::*;

    use super::*;
    use crate::counters::event::Machine;

    fn events(words: &[&str]) -> Vec<Event> {
        words.iter().map(|word| Machine::current().resolve(word).unwrap()).collect()
    }

    /// A processor with this number of counters, which also counts any number of software events.
    fn room_for(counters: usize) -> impl Fn(&[Event]) -> bool {
        move |events| {
            let hard = events.iter().filter(|event| event.code.kind != PERF_TYPE_SOFTWARE);
            hard.map(|event| event.spaces.len()).sum::<usize>() <= counters
        }
    }

    #[test]
    fn what_fits_is_one_part() {
        let events = events(&["cycles", "instructions", "r1", "r2:k", "task-clock"]);
        assert_eq!(
            divide(&events, room_for(8)),
            [["cycles", "instructions", "r1", "r2:k", "task-clock"]]
        );
    }

    #[test]
    fn what_does_not_is_counted_by_side_with_cycles_and_instructions_in_each() {
        let events = events(&["cycles", "r1", "instructions", "r2", "r3", "task-clock"]);
        assert_eq!(
            divide(&events, room_for(4)),
            [
                vec!["cycles:u", "instructions:u", "r1:u", "r2:u", "task-clock"],
                vec!["cycles:u", "instructions:u", "r3:u"],
                vec!["cycles:k", "instructions:k", "r1:k", "r2:k"],
                vec!["cycles:k", "instructions:k", "r3:k"],
            ]
        );
    }

    #[test]
    fn where_there_is_no_room_beside_them_others_go_alone() {
        let events = events(&["cycles", "instructions", "r1:u", "r2:u", "r3:u"]);
        assert_eq!(
            divide(&events, room_for(2)),
            [
                vec!["cycles:u", "instructions:u"],
                vec!["r1:u", "r2:u"],
                vec!["r3:u"],
                vec!["cycles:k", "instructions:k"],
            ]
        );
        assert_eq!(
            divide(&events[..2], room_for(2)),
            [["cycles:u", "instructions:u"], ["cycles:k", "instructions:k"]]
        );
    }

    proptest! {
        #[test]
        fn nothing_is_lost_and_no_part_is_too_large(count in 1_usize..20, room in 1_usize..12) {
            let words: Vec<_> = (1..=count).map(|number| format!("r{number:x}")).collect();
            let events = events(&words.iter().map(String::as_str).collect::<Vec<_>>());
            let parts = divide(&events, room_for(room));
            for word in &words {
                let sides = [format!("{word}:u"), format!("{word}:k")];
                let whole = parts.iter().flatten().filter(|one| *one == word).count();
                let apart = parts.iter().flatten().filter(|one| sides.contains(one)).count();
                prop_assert!((whole, apart) == (1, 0) || (whole, apart) == (0, 2));
            }
            prop_assert!(parts.iter().all(|part| part.len() <= room));
        }
    }
}
