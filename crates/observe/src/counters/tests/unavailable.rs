//! Tests of events that cannot be counted, and the reasons.

use super::*;
use crate::{Member, Scope};

fn why(events: &[&str]) -> Unavailable {
    available(&to_strings(events)).unwrap_err()
}

#[test]
fn a_word_that_is_no_event_is_told_what_is_near() {
    let why = why(&["task-clock", "page-fautls"]);
    assert_eq!(why.reason, "unknown event `page-fautls`");
    assert!(why.remedy.starts_with("did you mean page-faults"), "{why}");
    assert_eq!(divide(&to_strings(&["page-fautls"])).unwrap_err(), why);
    let solo = ForkedOne::fork(Work::default());
    assert_eq!(arm(&solo.targets, &to_strings(&["page-fautls"])).unwrap_err(), why);
}

#[test]
fn without_counters_in_the_processor_one_line_says_so_and_the_rest_is_counted() {
    if !pmu().names.is_empty() {
        return;
    }
    for events in [&[][..], &["cycles"], &["cycles", "LLC-loads"], &["dcache"]] {
        let why = why(events).to_string();
        assert!(why.contains("no performance counters here"), "{events:?} {why}");
        assert!(why.contains("--counter-events task-clock"), "{why}");
    }
    let both = to_strings(&["cycles", "page-faults", "task-clock"]);
    let lacking = available(&both).unwrap();
    assert!(lacking.iter().any(|why| why.reason.starts_with("cycles: ")), "{lacking:?}");
    let [part] = &divide(&both).unwrap()[..] else { panic!("one part") };
    assert!(part[0].starts_with("page-faults"), "{part:?}");
    assert_eq!(part[1..], ["task-clock"]);
}

#[test]
fn what_is_not_here_is_left_out_and_what_is_nowhere_is_an_error() {
    let lacking = available(&to_strings(&["task-clock", "nowhere/event=1/"])).unwrap();
    assert!(lacking.iter().any(|why| why.reason.contains("`nowhere`")), "{lacking:?}");
    let wrong = why(&["task-clock", "software/event=1/"]);
    assert!(wrong.reason.contains("it has no term event"), "{wrong}");
}

#[test]
fn what_is_not_counted_apart_is_counted_together() {
    if !std::path::Path::new("/sys/bus/event_source/devices/msr/events/tsc").exists() {
        return;
    }
    let event = ["msr/tsc/"];
    let lacking = match available(&to_strings(&event)) {
        Ok(lacking) => lacking,
        Err(why) => return report_skip("counters", &why.to_string()),
    };
    assert!(lacking[0].reason.contains("in both together"), "{lacking:?}");
    let [part] = &divide(&to_strings(&event)).unwrap()[..] else { panic!("one part") };
    assert_eq!(part, &["msr/tsc/:uk"]);
    let mut solo = ForkedOne::fork(Work { loops: 1_000_000, ..Work::default() });
    let mut watch = arm(&solo.targets, part).unwrap();
    let own = solo.run(watch.counter_fds()[0].fd);
    watch.set_run_result(&RunResult { readings: vec![own.reading], ..RunResult::default() });
    let observed = watch.finish().unwrap();
    assert!(
        count(&observed, "msr/tsc/", PrivilegeLevel::Both) > Some(1_000_000 / 2),
        "{observed:?}"
    );
}

#[test]
fn who_is_gone_cannot_be_counted() {
    let mut child = std::process::Command::new("true").spawn().unwrap();
    child.wait().unwrap();
    if !can_count(&["task-clock"]) {
        return;
    }
    for scope in [Scope::Thread, Scope::Process] {
        let (pid, role) = (child.id(), "sender".to_owned());
        let members = vec![Member { role, pid, tid: pid, scope }];
        let why = arm(&Targets::new(members), &to_strings(&["task-clock"])).unwrap_err();
        assert!(why.reason.contains("has ended"), "{why}");
    }
}

/// Returns what `query` returns for a user who is not root, and the current level of `perf_event_paranoid`; `None` if
/// it cannot be tried.
fn unprivileged<T: Send + 'static>(query: impl FnOnce() -> T + Send + 'static) -> Option<(T, i64)> {
    let is_root = rustix::process::geteuid().is_root();
    let Some(level) = pmu().perf_event_paranoid.filter(|&level| is_root && level >= 2) else {
        report_skip("counters", "takes root, and a kernel that does not show itself to others");
        return None;
    };
    let thread = std::thread::spawn(move || {
        // SAFETY: a plain system call on numbers. Called directly rather than through the C library, it affects only
        // this thread.
        let left = unsafe { libc::syscall(libc::SYS_setresuid, 65_534, 65_534, 65_534) };
        assert_eq!(left, 0);
        query()
    });
    Some((thread.join().unwrap(), level))
}

#[test]
fn a_user_counts_his_program_and_is_told_what_he_does_not_see() {
    let events = to_strings(&["page-faults", "task-clock", "context-switches"]);
    let Some((lacking, level)) = unprivileged(move || available(&events)) else { return };
    if level > 2 {
        // Debian's own level, at which unprivileged users may not count anything.
        let why = lacking.unwrap_err().to_string();
        assert!(
            why.contains("page-faults: counting is not permitted (perf_event_paranoid is"),
            "{why}"
        );
        return;
    }
    let lacking = lacking.unwrap();
    let reasons: Vec<_> = lacking.iter().map(|why| why.reason.as_str()).collect();
    assert_eq!(reasons.len(), 2, "{reasons:?}");
    assert!(reasons[0].contains("may not count events in the kernel"), "{reasons:?}");
    assert!(reasons[1].starts_with("context-switches: counting is not permitted"), "{reasons:?}");
    let parts = unprivileged(|| divide(&to_strings(&["page-faults", "task-clock"])).unwrap());
    assert_eq!(parts.unwrap().0, [["page-faults:u", "task-clock"]]);
}

#[test]
fn absence_is_not_hidden_behind_what_is_not_permitted() {
    if !pmu().names.is_empty() {
        return;
    }
    let Some((why, level)) = unprivileged(|| why(&["cycles"])) else { return };
    assert!(level > 2 || why.reason.contains("no performance counters here"), "{why}");
}
