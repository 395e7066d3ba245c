//! Compares the counts with what the observed peers report themselves.

mod processor;
mod threads;
mod unavailable;

use crate::testing::forked_one::{ForkedOne, PeerReport, Work};
use ipcperf_model::Unavailable;
use ipcperf_model::instrument::counters::{EventCount, EventRatio, PrivilegeLevel};
use ipcperf_model::observation::Observation;

use super::{arm, available, divide, known_events, pmu};
use crate::testing::forked_pair::report_skip;
use crate::{Reading, RunResult, Targets, Watch};

/// Converts event names to what an instrument takes.
fn to_strings(words: &[&str]) -> Vec<String> {
    words.iter().map(|&word| word.to_owned()).collect()
}

/// Whether all of `events` can be counted here, in the kernel too.
fn can_count(events: &[&str]) -> bool {
    let why = match available(&to_strings(events)) {
        Ok(lacking) => lacking.into_iter().next(),
        Err(why) => Some(why),
    };
    let Some(why) = why else { return true };
    report_skip("counters", &why.to_string());
    false
}

/// Counts `events` of a child that runs `act`. Returns the observations and the child's own report; `None` if the
/// events cannot be counted.
fn count_child(events: &[&str], work: Work) -> Option<(Vec<Observation>, PeerReport)> {
    if !can_count(events) {
        return None;
    }
    let mut process = ForkedOne::fork(work);
    let mut watch = arm(&process.targets, &to_strings(events)).unwrap();
    let report = process.run(watch.counter_fds()[0].fd);
    watch.set_run_result(&RunResult {
        readings: vec![report.reading.clone()],
        ..RunResult::default()
    });
    Some((watch.finish().unwrap(), report))
}

/// Returns the count of `event` in `space`.
fn count(recorded: &[Observation], event: &str, space: PrivilegeLevel) -> Option<u64> {
    row(recorded, event, space).count
}

fn row(recorded: &[Observation], event: &str, space: PrivilegeLevel) -> EventCount {
    let mut rows = recorded.iter().filter_map(Observation::row::<EventCount>);
    rows.find(|row| row.event == event && row.space == space).unwrap()
}

#[test]
fn page_faults_are_counted_to_the_last_one_where_they_come_from() {
    let act = Work { pages: 300, pages_by_kernel: 70, ..Work::default() };
    let events = ["page-faults", "minor-faults", "major-faults"];
    let Some((recorded, _)) = count_child(&events, act) else { return };
    for event in ["page-faults", "minor-faults"] {
        assert_eq!(count(&recorded, event, PrivilegeLevel::User), Some(300), "{event}");
        assert_eq!(count(&recorded, event, PrivilegeLevel::Kernel), Some(70), "{event}");
    }
    assert_eq!(count(&recorded, "major-faults", PrivilegeLevel::User), Some(0));
    let row = row(&recorded, "page-faults", PrivilegeLevel::User);
    assert_eq!((row.raw_count, row.running_share), (Some(300), Some(1.0)));
    assert!(recorded.iter().all(|one| one.role.as_deref() == Some("both")));
}

#[test]
fn switches_are_those_of_getrusage() {
    let act = Work { sleeps: 40, ..Work::default() };
    let Some((recorded, own)) = count_child(&["context-switches"], act) else { return };
    let switches = count(&recorded, "context-switches", PrivilegeLevel::Both).unwrap();
    // The thread may be preempted between the two ways of counting.
    assert!(switches.abs_diff(own.switches) <= 1, "{switches} {}", own.switches);
    assert!(switches >= 40);
}

#[test]
fn the_clock_is_the_threads_own() {
    let act = Work { loops: 20_000_000, ..Work::default() };
    let Some((recorded, own)) = count_child(&["task-clock", "cpu-clock"], act) else { return };
    for event in ["task-clock", "cpu-clock"] {
        let ns = count(&recorded, event, PrivilegeLevel::Both).unwrap();
        // The thread's own clock differs from this one, and stops while the host takes the CPU away.
        assert!(ns + ns / 100 >= own.cpu_ns && ns <= own.elapsed_ns, "{event} {ns} {own:?}");
    }
}

#[test]
fn a_watch_that_nobody_read_for_says_so() {
    if !can_count(&["task-clock"]) {
        return;
    }
    let process = ForkedOne::fork(Work::default());
    let mut watch = arm(&process.targets, &to_strings(&["task-clock"])).unwrap();
    watch.set_run_result(&RunResult { readings: vec![Reading::default()], ..RunResult::default() });
    let why = watch.finish().unwrap_err();
    assert!(why.reason.contains("no peer has read"), "{why}");
}

#[test]
fn every_word_that_is_listed_is_an_event_or_not_here() {
    let known = known_events();
    assert!(known.len() > 60, "{}", known.len());
    for known in known.into_iter().filter(|known| !known.about.starts_with("of ")) {
        assert!(!known.about.is_empty(), "{known:?}");
        if let Err(why) = divide(std::slice::from_ref(&known.name)) {
            assert!(!why.reason.contains("unknown event"), "{why}");
        }
    }
}

#[test]
fn what_is_there_is_told_without_a_run() {
    let pmu = pmu();
    assert_eq!(pmu.events.len(), 14);
    assert_eq!(pmu.names.is_empty(), pmu.counters.is_none(), "{pmu:?}");
}
