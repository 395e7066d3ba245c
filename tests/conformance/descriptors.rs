//! File descriptors: none accumulate from run to run, and each peer holds only its own ends.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::time::Duration;

use ipcperf_model::Mode;

use crate::max_message::largest_message;
use crate::mechanisms::{for_each, processes};
use crate::processes::{descendants, find_within, wait_for};
use crate::results::runs_recorded;
use crate::sandbox::{GRACE, HANG, NEVER_S, Sandbox};

/// Number of first and of last runs in which descriptors are counted, number of runs that must lie between them, and
/// number of trials, since a busy machine may leave too few observations.
const LOOKED_AT: usize = 50;
const BETWEEN: usize = 100;
const TRIALS: usize = 5;

#[test]
fn no_descriptor_piles_up_from_run_to_run() {
    let counted = (0..TRIALS).find_map(|_| descriptors_early_and_late());
    let (early, late) = counted.expect("runs were looked at early and late");
    let (most_early, least_late) = (early.iter().max(), late.iter().min());
    assert!(least_late <= most_early, "{early:?} before, {late:?} after");
}

/// Returns the number of descriptors of the command in its first and in its last runs; `None` if a busy machine left
/// too few observations.
fn descriptors_early_and_late() -> Option<(Vec<usize>, Vec<usize>)> {
    let sandbox = Sandbox::open();
    let arguments = "-m pipe,fifo,unix-stream-named,shm-ring -b 64 --total 64000 --repetitions 60";
    let command = sandbox.begin(arguments);
    let mut looks: Vec<(usize, usize)> = Vec::new();
    // A command that has ended has none.
    while let Some(open) = open_descriptors(command.id()).filter(|&open| open > 0) {
        looks.push((runs_recorded(&sandbox.results()), open));
        std::thread::sleep(Duration::from_millis(1));
    }
    command.finish(HANG).expect(0);
    let (first, last) = (looks.first()?.0, looks.last()?.0);
    let chosen = |is_meant: &dyn Fn(usize) -> bool| -> Vec<usize> {
        looks.iter().filter(|(printed, _)| is_meant(*printed)).map(|(_, open)| *open).collect()
    };
    let early = chosen(&|printed| printed <= first + LOOKED_AT);
    let late = chosen(&|printed| printed + LOOKED_AT >= last);
    (last - first >= 2 * LOOKED_AT + BETWEEN).then_some((early, late))
}

fn open_descriptors(pid: u32) -> Option<usize> {
    fs::read_dir(format!("/proc/{pid}/fd")).map(Iterator::count).ok()
}

/// If the other process holds an end too, end of file never occurs when its owner is gone.
#[test]
fn each_end_is_held_by_one_peer_only() {
    for_each(|mechanism| {
        let sandbox = Sandbox::open();
        let (name, bytes) = (mechanism.name, largest_message(mechanism, 64));
        let arguments =
            format!("-m {name} -b {bytes} --total 1000000GB --timeout {NEVER_S} --repetitions 1");
        let command = sandbox.begin(&arguments);
        let number = processes(mechanism, Mode::TwoProcesses);
        let whole = || Some(descendants(command.id())).filter(|all| all.len() == number);
        let all = wait_for("all processes", GRACE, whole);
        // Peers close ends that are not theirs as soon as they run.
        let shared = || shared_ends(command.id(), &all);
        let alone = || shared().is_empty().then_some(());
        let found = find_within(GRACE, alone);
        assert!(found.is_some(), "{name}: held by several: {:?}", shared());
    });
}

/// Returns the ends that several of `processes`, descendants of `command`, hold, with their holders.
fn shared_ends(command: u32, processes: &[u32]) -> BTreeMap<String, BTreeSet<u32>> {
    let mut holders: BTreeMap<String, BTreeSet<u32>> = BTreeMap::new();
    // Ends inherited from the tests belong to no peer.
    let inherited = ends(std::process::id());
    for &pid in processes {
        let streams = kept_streams(command, pid);
        let known = |end: &String| inherited.contains(end) || streams.contains(end);
        for end in ends(pid).into_iter().filter(|end| !known(end)) {
            holders.entry(end).or_default().insert(pid);
        }
    }
    holders.retain(|_, holders| holders.len() > 1);
    holders
}

/// Returns the streams between `pid` and `command` if they were moved away from the standard descriptors, which a
/// library must not use: pipes whose other end the command has, and the first socket. All processes that wait at the
/// gate need them.
fn kept_streams(command: u32, pid: u32) -> Vec<String> {
    let input = fs::read_link(format!("/proc/{pid}/fd/0")).unwrap_or_default();
    if input != Path::new("/dev/null") {
        return Vec::new();
    }
    let of_command = ends(command);
    let pipe = |end: &String| end.split(' ').next().unwrap_or_default().to_owned();
    let is_between = |end: &&String| {
        end.starts_with("pipe:") && of_command.iter().any(|other| pipe(other) == pipe(end))
    };
    let ends = ends(pid);
    let socket = ends.iter().find(|end| end.starts_with("socket:"));
    ends.iter().filter(is_between).chain(socket).cloned().collect()
}

/// Returns the pipes and sockets that `pid` holds in addition to its standard streams, each with its direction, by
/// number.
fn ends(pid: u32) -> Vec<String> {
    let folder = format!("/proc/{pid}/fd");
    let numbers = fs::read_dir(&folder).expect("a live process").flatten();
    let numbers = numbers.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let mut beyond: Vec<u32> = numbers.filter(|&number| number > 2).collect();
    beyond.sort_unstable();
    beyond.into_iter().filter_map(|number| end(&folder, pid, number)).collect()
}

fn end(folder: &str, pid: u32, number: u32) -> Option<String> {
    let target = fs::read_link(format!("{folder}/{number}")).ok()?.display().to_string();
    let info = fs::read_to_string(format!("/proc/{pid}/fdinfo/{number}")).ok()?;
    let flags = info.lines().find(|line| line.starts_with("flags:"))?.chars().last()?;
    let is_end = ["pipe:", "socket:"].iter().any(|kind| target.starts_with(kind));
    is_end.then(|| format!("{target} access {flags}"))
}
