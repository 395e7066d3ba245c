//! Tests on counters of the processor, if there are any. Those emulated by `scripts/emulated-pmu` count every
//! instruction exactly.

use super::*;

/// Whether the processor counts instructions.
fn has_counters() -> bool {
    let has = available(&words(&["instructions", "cycles"]));
    match has.map(|lacking| lacking.len()) {
        Ok(0) => return true,
        Ok(_) => skipped("pmu", "the processor counts not both cycles and instructions"),
        Err(why) => skipped("pmu", &why.to_string()),
    }
    false
}

/// Whether the counters are those emulated by the script.
fn is_emulated() -> bool {
    std::env::var("IPCPERF_EMULATED_PMU").is_ok_and(|value| value == "1")
}

const ROUNDS: u64 = 3_000_000;

fn instructions(rounds: u64) -> u64 {
    let act = Act { loops: rounds, ..Act::default() };
    let (told, _) = counted(&["cycles", "instructions"], act).unwrap();
    let row = row(&told, "instructions", Space::User);
    assert_eq!((row.count, row.counted_share), (row.raw_count, Some(1.0)), "{row:?}");
    let ratio = told.iter().filter_map(Observation::row::<Ratio>).next().unwrap();
    assert_eq!((&*ratio.ratio, ratio.space), ("cycles-per-instruction", Space::User));
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
        let (told, _) = counted(&["instructions"], Act { calls, ..Act::default() }).unwrap();
        count(&told, "instructions", Space::Kernel).unwrap()
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
    let act = Act { loops: ROUNDS, ..Act::default() };
    let (told, _) = counted(&["instructions:u", "INST_RETIRED:u", "task-clock"], act).unwrap();
    let [one, other] = ["instructions", "INST_RETIRED"].map(|event| row(&told, event, Space::User));
    assert_eq!(one.count, other.count);
    assert_eq!(one.counted_share, Some(1.0));
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
    let parts = divide(&words(&many)).unwrap();
    if is_emulated() {
        let lengths: Vec<_> = parts.iter().map(Vec::len).collect();
        assert_eq!(lengths, [7, 3, 7, 3], "{parts:?}");
    }
    for part in &parts {
        let mut solo = Solo::of(Act { loops: ROUNDS, ..Act::default() });
        let mut watch = arm(&solo.parties, part).unwrap();
        let own = solo.play(watch.dials()[0].descriptor);
        watch.told(&Played { readings: vec![own.reading], ..Played::default() });
        let told = watch.finish().unwrap();
        let counts: Vec<_> = told.iter().filter_map(Observation::row::<Count>).collect();
        assert!(counts.iter().all(|row| row.counted_share == Some(1.0)), "{counts:?}");
        assert!(counts.len() as u64 <= room, "{part:?}");
    }
}

#[test]
fn counters_that_take_turns_are_extrapolated() {
    if !has_counters() {
        return;
    }
    let rounds = 30 * ROUNDS;
    let mut solo = Solo::of(Act { loops: rounds, ..Act::default() });
    let room = pmu().counters.unwrap();
    let group = words(&["instructions:u", "cycles:u", "instructions:k", "cycles:k"]);
    // More groups than the processor has counters for.
    let groups = usize::try_from(room).unwrap() / group.len() + 2;
    let mut watches: Vec<_> = (0..groups).map(|_| arm(&solo.parties, &group).unwrap()).collect();
    // The child reads its own counters. The others are read for it while it waits at its gate, and after it has exited.
    let before: Vec<_> = watches.iter().map(|watch| threads::readings(&**watch)).collect();
    let own = solo.play(watches[0].dials()[0].descriptor);
    let after: Vec<_> = watches.iter().map(|watch| threads::readings(&**watch)).collect();
    drop(own);
    let readings = before.into_iter().zip(after);
    for (watch, (before, after)) in watches.drain(..).zip(readings) {
        let told = threads::told(watch, before, after);
        let row = row(&told, "instructions", Space::User);
        let share = row.counted_share.unwrap();
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
    let reason = |event: &str| available(&words(&[event])).unwrap_err().reason;
    // The processor reports that it does not count this event ...
    assert_eq!(reason("L1D_CACHE_REFILL"), "L1D_CACHE_REFILL: nothing here counts it");
    // ... only a trial shows it for this one ...
    assert!(reason("MEM_READ").contains("counts nothing by it"), "{}", reason("MEM_READ"));
    // ... and the kernel knows it for this one.
    assert_eq!(reason("LLC-loads"), "LLC-loads: nothing here counts it");
    let lacking = available(&[]).unwrap();
    assert!(!lacking.is_empty());
    let parts = divide(&[]).unwrap();
    assert_eq!(parts, [["cycles", "instructions"]]);
    let all: Vec<String> = (0..8).map(|_| "instructions:u".to_owned()).collect();
    assert_eq!(divide(&all).unwrap(), [["instructions:u"]]);
}
