//! Descriptors: none piles up from run to run, and each party holds its own ends only.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::time::Duration;

use ipcperf_engine::Mode;

use crate::carried::carried;
use crate::laboratory::{GRACE, HANG, Laboratory};
use crate::mechanisms::{for_each, processes};
use crate::processes::{descendants, wait_for};
use crate::results::runs_told;

#[test]
fn no_descriptor_piles_up_from_run_to_run() {
    let laboratory = Laboratory::open();
    let arguments = "-m pipe,fifo,unix-stream-named,shm-ring -b 64 --total 64000 --repetitions 30";
    let command = laboratory.begin(arguments);
    let (mut early, mut late) = (Vec::new(), Vec::new());
    let mut told = 0;
    while told < 4 * 31 {
        told = runs_told(&laboratory.results());
        match told {
            0..=30 => early.extend(open_descriptors(command.id())),
            80.. => late.extend(open_descriptors(command.id())),
            _ => {}
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    command.finish(HANG).expect(0);
    let most_early = early.iter().max().expect("looked early");
    let least_late = late.iter().min().expect("looked late");
    assert!(least_late <= most_early, "{early:?} before, {late:?} after");
}

fn open_descriptors(pid: u32) -> Option<usize> {
    fs::read_dir(format!("/proc/{pid}/fd")).map(Iterator::count).ok()
}

/// An end that the other process holds too never shows end of file when its owner is gone.
#[test]
fn each_end_is_held_by_one_party_only() {
    for_each(|mechanism| {
        let laboratory = Laboratory::open();
        let (name, bytes) = (mechanism.name, carried(mechanism, 64));
        let arguments =
            format!("-m {name} -b {bytes} --total 1000000GB --deadline 5 --repetitions 1");
        let command = laboratory.begin(&arguments);
        let number = processes(mechanism, Mode::TwoProcesses);
        let whole = || Some(descendants(command.id())).filter(|all| all.len() == number);
        let all = wait_for("all processes", GRACE, whole);
        std::thread::sleep(Duration::from_millis(100));
        let mut holders: BTreeMap<String, BTreeSet<u32>> = BTreeMap::new();
        // What the tests themselves inherited belongs to no party.
        let inherited = ends(std::process::id());
        for pid in all {
            for end in ends(pid).into_iter().filter(|end| !inherited.contains(end)) {
                holders.entry(end).or_default().insert(pid);
            }
        }
        let shared: Vec<_> = holders.iter().filter(|(_, holders)| holders.len() > 1).collect();
        assert!(shared.is_empty(), "{name}: held by several: {shared:?}");
    });
}

/// The pipes and sockets that `pid` holds beyond its standard streams, each with its direction.
fn ends(pid: u32) -> Vec<String> {
    let folder = format!("/proc/{pid}/fd");
    let numbers = fs::read_dir(&folder).expect("a live process").flatten();
    let numbers = numbers.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let beyond = numbers.filter(|&number| number > 2);
    beyond.filter_map(|number| end(&folder, pid, number)).collect()
}

fn end(folder: &str, pid: u32, number: u32) -> Option<String> {
    let target = fs::read_link(format!("{folder}/{number}")).ok()?.display().to_string();
    let info = fs::read_to_string(format!("/proc/{pid}/fdinfo/{number}")).ok()?;
    let flags = info.lines().find(|line| line.starts_with("flags:"))?.chars().last()?;
    let is_end = ["pipe:", "socket:"].iter().any(|kind| target.starts_with(kind));
    is_end.then(|| format!("{target} access {flags}"))
}
