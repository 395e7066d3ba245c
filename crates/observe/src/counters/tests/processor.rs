//! Tests on counters of the processor, if there are any. Those emulated by `scripts/emulated-pmu` count every
//! instruction exactly.

use super::*;

/// Whether the processor counts instructions.
fn has_counters() -> bool {
    let has = available(&to_strings(&["instructions", "cycles"]));
    match has.map(|lacking| lacking.len()) {
        Ok(0) => return true,
        Ok(_) => report_skip("pmu", "the processor does not count both cycles and instructions"),
        Err(why) => report_skip("pmu", &why.to_string()),
    }
    false
}

/// Whether the counters are those emulated by the script.
fn is_emulated() -> bool {
    std::env::var("IPCPERF_EMULATED_PMU").is_ok_and(|value| value == "1")
}

const ROUNDS: u64 = 3_000_000;

fn instructions(rounds: u64) -> u64 {
    let act = Work { loops: rounds, ..Work::default() };
    let (observed, _) = count_child(&["cycles", "instructions"], act).unwrap();
    let row = row(&observed, "instructions", PrivilegeLevel::User);
    assert_eq!((row.count, row.running_share), (row.raw_count, Some(1.0)), "{row:?}");
    let ratio = observed.iter().filter_map(Observation::row::<EventRatio>).next().unwrap();
    assert_eq!((&*ratio.ratio, ratio.space), ("cycles-per-instruction", PrivilegeLevel::User));
    assert!(ratio.value.is_some_and(|value| value > 0.0));
    row.count.unwrap()
}

#[test]
fn instructions_are_counted_to_the_last_one() {
    if !has_counters() {
        return;
    }
    let [one, two, four] = [1, 2, 4].map(|times| instructions(times * ROUNDS));
    // A processor counts a few more instructions at each interrupt.
    let slack = if is_emulated() { 0 } else { ROUNDS / 100 };
    assert!((two - one).abs_diff(2 * ROUNDS) <= slack, "{one} {two}");
    assert!((four - two).abs_diff(4 * ROUNDS) <= slack, "{two} {four}");
    assert!((2 * ROUNDS..2 * ROUNDS + 5_000).contains(&one), "{one}");
}

#[test]
fn the_kernels_instructions_are_counted_apart() {
    if !has_counters() {
        return;
    }
    let kernel = |calls| {
        let (observed, _) =
            count_child(&["instructions"], Work { calls, ..Work::default() }).unwrap();
        count(&observed, "instructions", PrivilegeLevel::Kernel).unwrap()
    };
    let (few, many) = (kernel(1_000), kernel(11_000));
    // A system call executes at least some tens of instructions in the kernel.
    assert!(many - few > 10_000 * 20, "{few} {many}");
}

#[test]
fn all_of_a_group_count_at_once() {
    if !has_counters() {
        return;
    }
    let act = Work { loops: ROUNDS, ..Work::default() };
    let (observed, _) =
        count_child(&["instructions:u", "INST_RETIRED:u", "task-clock"], act).unwrap();
    let [one, other] =
        ["instructions", "INST_RETIRED"].map(|event| row(&observed, event, PrivilegeLevel::User));
    assert_eq!(one.count, other.count);
    assert_eq!(one.running_share, Some(1.0));
}

#[test]
fn a_part_holds_no_more_than_the_processor() {
    if !has_counters() {
        return;
    }
    let room = pmu().counters.unwrap();
    if is_emulated() {
        assert_eq!(room, 7);
    }
    // Two events under many names: more than the processor has counters for.
    let many = ["cycles", "instructions", "r08", "r11", "r008", "r011", "r0008", "r0011"];
    let parts = divide(&to_strings(&many)).unwrap();
    if is_emulated() {
        let lengths: Vec<_> = parts.iter().map(Vec::len).collect();
        assert_eq!(lengths, [7, 3, 7, 3], "{parts:?}");
    }
    for part in &parts {
        let mut solo = ForkedOne::fork(Work { loops: ROUNDS, ..Work::default() });
        let mut watch = arm(&solo.targets, part).unwrap();
        let own = solo.run(watch.counter_fds()[0].fd);
        watch.set_run_result(&RunResult { readings: vec![own.reading], ..RunResult::default() });
        let observed = watch.finish().unwrap();
        let counts: Vec<_> = observed.iter().filter_map(Observation::row::<EventCount>).collect();
        assert!(counts.iter().all(|row| row.running_share == Some(1.0)), "{counts:?}");
        assert!(counts.len() as u64 <= room, "{part:?}");
    }
}

#[test]
fn counters_that_take_turns_are_extrapolated() {
    if !has_counters() {
        return;
    }
    let rounds = 30 * ROUNDS;
    let mut solo = ForkedOne::fork(Work { loops: rounds, ..Work::default() });
    let room = pmu().counters.unwrap();
    let group = to_strings(&["instructions:u", "cycles:u", "instructions:k", "cycles:k"]);
    // More groups than the processor has counters for.
    let groups = usize::try_from(room).unwrap() / group.len() + 2;
    let mut watches: Vec<_> = (0..groups).map(|_| arm(&solo.targets, &group).unwrap()).collect();
    // The child reads its own counters. The others are read for it while it waits at its gate, and after it has exited.
    let before: Vec<_> = watches.iter().map(|watch| threads::readings(&**watch)).collect();
    let own = solo.run(watches[0].counter_fds()[0].fd);
    let after: Vec<_> = watches.iter().map(|watch| threads::readings(&**watch)).collect();
    drop(own);
    let readings = before.into_iter().zip(after);
    for (watch, (before, after)) in watches.drain(..).zip(readings) {
        let observed = threads::finish_with(watch, before, after);
        let row = row(&observed, "instructions", PrivilegeLevel::User);
        let share = row.running_share.unwrap();
        assert!(share > 0.05 && share < 0.95, "{row:?}");
        assert!(row.raw_count < row.count, "{row:?}");
        let error = row.count.unwrap().abs_diff(2 * rounds);
        assert!(error < rounds / 5, "{row:?}");
    }
}

#[test]
fn what_the_emulated_processor_lacks_is_said() {
    if !has_counters() || !is_emulated() {
        return;
    }
    let reason = |event: &str| available(&to_strings(&[event])).unwrap_err().reason;
    // The processor reports that it does not count this event ...
    assert_eq!(reason("L1D_CACHE_REFILL"), "L1D_CACHE_REFILL: not supported by this processor");
    // ... only a trial shows it for this one ...
    assert!(reason("MEM_READ").contains("does not count it"), "{}", reason("MEM_READ"));
    // ... and the kernel knows it for this one.
    assert_eq!(reason("LLC-loads"), "LLC-loads: not supported by this processor");
    let lacking = available(&[]).unwrap();
    assert!(!lacking.is_empty());
    let parts = divide(&[]).unwrap();
    assert_eq!(parts, [["cycles", "instructions"]]);
    let all: Vec<String> = (0..8).map(|_| "instructions:u".to_owned()).collect();
    assert_eq!(divide(&all).unwrap(), [["instructions:u"]]);
}
