//! Compares the counts with what the observed peers report themselves.

mod processor;
mod refused;
mod threads;

use crate::testing::forked_one::{Act, Own, Solo};
use ipcperf_model::Unavailable;
use ipcperf_model::instrument::counters::{Count, Ratio, Space};
use ipcperf_model::observation::Observation;

use super::{arm, available, divide, known, pmu};
use crate::testing::forked_pair::skipped;
use crate::{Parties, Played, Reading, Watch};

/// Converts event names to what an instrument takes.
fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|&word| word.to_owned()).collect()
}

/// Whether all of `events` can be counted here, in the kernel too.
fn can_count(events: &[&str]) -> bool {
    let why = match available(&words(events)) {
        Ok(lacking) => lacking.into_iter().next(),
        Err(why) => Some(why),
    };
    let Some(why) = why else { return true };
    skipped("counters", &why.to_string());
    false
}

/// Counts `events` of a child that runs `act`. Returns the observations and the child's own report; `None` if the
/// events cannot be counted.
fn counted(events: &[&str], act: Act) -> Option<(Vec<Observation>, Own)> {
    if !can_count(events) {
        return None;
    }
    let mut solo = Solo::of(act);
    let mut watch = arm(&solo.parties, &words(events)).unwrap();
    let own = solo.play(watch.dials()[0].descriptor);
    watch.told(&Played { readings: vec![own.reading.clone()], ..Played::default() });
    Some((watch.finish().unwrap(), own))
}

/// Returns the count of `event` in `space`.
fn count(told: &[Observation], event: &str, space: Space) -> Option<u64> {
    row(told, event, space).count
}

fn row(told: &[Observation], event: &str, space: Space) -> Count {
    let mut rows = told.iter().filter_map(Observation::row::<Count>);
    rows.find(|row| row.event == event && row.space == space).unwrap()
}

#[test]
fn page_faults_are_counted_to_the_last_one_where_they_come_from() {
    let act = Act { pages: 300, pages_by_kernel: 70, ..Act::default() };
    let events = ["page-faults", "minor-faults", "major-faults"];
    let Some((told, _)) = counted(&events, act) else { return };
    for event in ["page-faults", "minor-faults"] {
        assert_eq!(count(&told, event, Space::User), Some(300), "{event}");
        assert_eq!(count(&told, event, Space::Kernel), Some(70), "{event}");
    }
    assert_eq!(count(&told, "major-faults", Space::User), Some(0));
    let row = row(&told, "page-faults", Space::User);
    assert_eq!((row.raw_count, row.counted_share), (Some(300), Some(1.0)));
    assert!(told.iter().all(|one| one.role.as_deref() == Some("both")));
}

#[test]
fn switches_are_those_of_getrusage() {
    let act = Act { naps: 40, ..Act::default() };
    let Some((told, own)) = counted(&["context-switches"], act) else { return };
    let switches = count(&told, "context-switches", Space::Both).unwrap();
    // The thread may be preempted between the two ways of counting.
    assert!(switches.abs_diff(own.switches) <= 1, "{switches} {}", own.switches);
    assert!(switches >= 40);
}

#[test]
fn the_clock_is_the_threads_own() {
    let act = Act { loops: 20_000_000, ..Act::default() };
    let Some((told, own)) = counted(&["task-clock", "cpu-clock"], act) else { return };
    for event in ["task-clock", "cpu-clock"] {
        let ns = count(&told, event, Space::Both).unwrap();
        // The thread's own clock differs from this one, and stops while the host takes the CPU away.
        assert!(ns + ns / 100 >= own.cpu_ns && ns <= own.elapsed_ns, "{event} {ns} {own:?}");
    }
}

#[test]
fn a_watch_that_nobody_read_for_says_so() {
    if !can_count(&["task-clock"]) {
        return;
    }
    let solo = Solo::of(Act::default());
    let mut watch = arm(&solo.parties, &words(&["task-clock"])).unwrap();
    watch.told(&Played { readings: vec![Reading::default()], ..Played::default() });
    let why = watch.finish().unwrap_err();
    assert!(why.reason.contains("no party has read"), "{why}");
}

#[test]
fn every_word_that_is_listed_is_an_event_or_not_here() {
    let known = known();
    assert!(known.len() > 60, "{}", known.len());
    for known in known.into_iter().filter(|known| !known.about.starts_with("of ")) {
        assert!(!known.about.is_empty(), "{known:?}");
        if let Err(why) = divide(std::slice::from_ref(&known.name)) {
            assert!(!why.reason.contains("there is no event"), "{why}");
        }
    }
}

#[test]
fn what_is_there_is_told_without_a_run() {
    let pmu = pmu();
    assert_eq!(pmu.events.len(), 14);
    assert_eq!(pmu.names.is_empty(), pmu.counters.is_none(), "{pmu:?}");
}
