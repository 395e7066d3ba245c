//! Command and worker killed together: neither can remove their names, so the next start does.
//!
//! `IPCPERF_KILLED_TOGETHER` sets the number of kills, `IPCPERF_SEED` the moments.

use std::fs;
use std::os::unix::fs::{MetadataExt, chown};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use ipcperf_engine::leftovers::RunToken;
use rand::rngs::ChaCha8Rng;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use rustix::process::{Signal, geteuid};
use serde_json::{Value, json};

use crate::available::available;
use crate::processes::{descendants, signal, wait_for};
use crate::sandbox::{HANG, Sandbox, Started};
use crate::skip::skip;

/// Default seed for the moments.
const SEED: u64 = 20_261_122;
/// Mechanisms whose names exist for the whole run, with three processes.
const LASTING: [&str; 6] =
    ["sysv-mq", "sysv-sem", "file-ref", "iceoryx2-pubsub", "iceoryx2-reqres", "zeromq"];
/// A command that starts, cleans up and ends.
const NEXT: &str = "-m pipe -b 64 --total 6400 --repetitions 1";

fn endless(mechanism: &str) -> String {
    format!("-m {mechanism} -b 64 --total 1000000GB --timeout 600 --repetitions 1")
}

/// Kills the command and all its descendants, so that none can clean up after the others.
fn kill_together(command: Started) {
    // A stopped command does not react to the death of its worker.
    signal(command.id(), Signal::STOP);
    // A process that has exited no longer holds the lock of the journal, even before it is reaped.
    wait_for("the death of all workers", HANG, || {
        let mut running = descendants(command.id());
        running.retain(|&pid| is_running(pid));
        running.iter().for_each(|&pid| signal(pid, Signal::KILL));
        running.is_empty().then_some(())
    });
    signal(command.id(), Signal::KILL);
    command.finish(HANG);
}

fn is_running(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().next());
    state.is_some_and(|state| !["Z", "X"].contains(&state))
}

/// Starts endless runs of `mechanism` and kills all processes once names exist.
fn leave_names(sandbox: &Sandbox, mechanism: &str) {
    let command = sandbox.begin(&endless(mechanism));
    wait_for("all processes", HANG, || (descendants(command.id()).len() == 3).then_some(()));
    wait_for("names", HANG, || (!sandbox.names_left().is_empty()).then_some(()));
    kill_together(command);
}

fn leftovers(sandbox: &Sandbox, arguments: &str) -> Vec<Value> {
    let printed = sandbox.run(arguments).expect(0);
    let printed: Value = serde_json::from_str(&printed.stdout).expect("one object");
    printed["leftovers"].as_array().expect("an array").clone()
}

#[test]
fn what_was_killed_together_is_shown_and_removed_when_asked() {
    // One mechanism per kind of name.
    for mechanism in ["sysv-mq", "file-ref", "iceoryx2-pubsub"] {
        let sandbox = Sandbox::open();
        leave_names(&sandbox, mechanism);
        let shown = leftovers(&sandbox, "doctor --json");
        assert!(!shown.is_empty(), "{mechanism}: nothing is shown");
        assert!(shown.iter().all(|one| one["state"] == "found" && one["command_pid"].is_u64()));
        assert!(!sandbox.names_left().is_empty(), "{mechanism}: looking removed names");
        let page = sandbox.run("doctor --clean").expect(0).stdout;
        for one in &shown {
            let name = one["name"].as_str().expect("a name");
            // The table may break a long name, but not its beginning.
            let begin: String = name.chars().take(8).collect();
            assert!(page.contains(&begin) && page.contains("removed"), "{name} is not in {page}");
        }
        sandbox.assert_nothing_left();
        assert_eq!(leftovers(&sandbox, "doctor --json"), Vec::<Value>::new());
    }
}

#[test]
fn what_was_killed_together_is_removed_by_the_next_start() {
    for mechanism in available(&LASTING) {
        let sandbox = Sandbox::open();
        leave_names(&sandbox, mechanism);
        sandbox.finish(sandbox.measuring(NEXT)).expect(0);
        sandbox.assert_nothing_left();
    }
}

/// The kill may hit while names are created, used or removed.
#[test]
fn whatever_moment_they_are_killed_at_the_next_start_leaves_nothing() {
    let number = |name: &str, default| {
        std::env::var(name).map_or(default, |text| text.parse().expect("a number"))
    };
    let (kills, seed) = (number("IPCPERF_KILLED_TOGETHER", 24), number("IPCPERF_SEED", SEED));
    println!("{kills} killed together; again: IPCPERF_SEED={seed}");
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let named =
        [&LASTING[..], &["fifo", "unix-stream-named", "posix-mq", "sysv-shm", "grpc"]].concat();
    let named = available(&named);
    for kill in 0..kills {
        let mechanism = named.choose(&mut random).expect("mechanisms");
        let sandbox = Sandbox::open();
        let runs = format!("-m {mechanism} -b 64 --total 6400 --repetitions 1000 --timeout 600");
        let command = sandbox.begin(&runs);
        std::thread::sleep(Duration::from_micros(random.random_range(0..60_000)));
        kill_together(command);
        sandbox.finish(sandbox.measuring(NEXT)).expect(0);
        println!("kill {kill} of seed {seed}: {mechanism}");
        sandbox.assert_nothing_left();
    }
}

/// Neither the next start nor an explicit request removes its names, and its worker continues.
#[test]
fn a_command_that_lives_is_not_swept() {
    let sandbox = Sandbox::open();
    let command = sandbox.begin(&endless("sysv-mq"));
    wait_for("all processes", HANG, || (descendants(command.id()).len() == 3).then_some(()));
    let names =
        wait_for("names", HANG, || Some(sandbox.names_left()).filter(|all| !all.is_empty()));
    assert_eq!(leftovers(&sandbox, "doctor --clean --json"), Vec::<Value>::new());
    let mut next = sandbox.command("run --out");
    next.arg(sandbox.path("next.jsonl")).args(NEXT.split_whitespace());
    sandbox.finish(next).expect(0);
    assert_eq!(sandbox.names_left(), names);
    assert_eq!(descendants(command.id()).len(), 3);
    // Only the worker still locks the journal, while it removes its names.
    signal(command.id(), Signal::KILL);
    command.finish(HANG);
    sandbox.assert_nothing_left();
}

/// Writes the journal of a dead command, with `lines` after the owner's line.
fn write_journal(sandbox: &Sandbox, lines: &[Value]) -> PathBuf {
    let folder = sandbox.journals();
    fs::create_dir_all(&folder).expect("a folder");
    let owner = json!({"pid": 4_000_000, "started_ticks": 1, "began": "2026-01-01T00:00:00Z",
        "pid_namespace": null, "ipc_namespace": link("ipc"), "host": null, "boot": boot()});
    let lines: Vec<String> = [&owner].into_iter().chain(lines).map(Value::to_string).collect();
    let path = folder.join("journal-aaaaaaaaaaaaaaaaaaaaaaaaaa.jsonl");
    fs::write(&path, lines.join("\n") + "\n").expect("a journal");
    path
}

fn boot() -> String {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").expect("an id");
    boot.trim().to_owned()
}

fn link(namespace: &str) -> String {
    let link = fs::read_link(format!("/proc/self/ns/{namespace}")).expect("a namespace");
    link.to_string_lossy().into_owned()
}

fn victim(path: &Path) -> &Path {
    fs::create_dir_all(path).expect("a folder");
    fs::write(path.join("precious"), "").expect("a file");
    path
}

/// Names are derived from the tokens in a journal: a path chosen by someone else has no effect.
#[test]
fn a_journal_with_other_names_removes_nothing() {
    let sandbox = Sandbox::open();
    let token = RunToken::random().expect("a token");
    let folder = sandbox.path("folder");
    let (target, linked) = (sandbox.path("target"), sandbox.path("linked"));
    for path in [&folder, &target] {
        victim(path);
    }
    fs::create_dir(&linked).expect("a folder");
    let own = linked.join(format!("ipcperf-run-{token}"));
    std::os::unix::fs::symlink(&target, &own).expect("a link");
    let path = |path: &Path| path.to_str().expect("a plain path").to_owned();
    let places = json!([path(&folder), path(&folder) + "/..", "relative", path(&linked)]);
    let lines = [
        json!({"token": token, "places": places, "began_s": 0}),
        json!({"token": "../../../../../../etc/ab", "places": ["/"], "began_s": 0}),
        json!({"token": "", "places": [path(&folder)], "began_s": 0}),
        json!({"folder": path(&folder), "remove": "everything"}),
        json!([1, 2, 3]),
    ];
    let journal = write_journal(&sandbox, &lines);
    assert_eq!(leftovers(&sandbox, "doctor --clean --json"), Vec::<Value>::new());
    assert!(folder.join("precious").exists() && target.join("precious").exists());
    assert!(own.symlink_metadata().is_ok(), "the link was removed");
    assert!(!journal.exists(), "a journal without names stays");
}

/// Control: names that are derived from the token of a journal are removed.
#[test]
fn a_journal_with_names_of_its_own_removes_them() {
    let sandbox = Sandbox::open();
    let token = RunToken::random().expect("a token");
    let folder = sandbox.path("data").join(format!("ipcperf-run-{token}"));
    victim(&folder);
    let places = json!([sandbox.path("data").to_str().expect("a plain path")]);
    write_journal(&sandbox, &[json!({"token": token, "places": places, "began_s": 0})]);
    let removed = leftovers(&sandbox, "doctor --clean --json");
    assert_eq!(removed.len(), 1);
    assert_eq!(removed[0]["state"], "removed");
    assert!(!folder.exists());
}

#[test]
fn what_belongs_to_another_user_stays_whatever_a_journal_says() {
    if !geteuid().is_root() {
        return skip("another user's names in a journal", "only root can make them");
    }
    let sandbox = Sandbox::open();
    let token = RunToken::random().expect("a token");
    let folder = sandbox.path("data").join(format!("ipcperf-run-{token}"));
    let memory = PathBuf::from(format!("/dev/shm/ipcperf-run-{token}-memory"));
    fs::write(&memory, "").expect("shared memory");
    for path in [victim(&folder), &memory] {
        chown(path, Some(1000), Some(1000)).expect("a gift");
    }
    // Belongs to this user, but is older than the run that would have created it.
    let key = token.system_v_keys().next().expect("a key");
    // SAFETY: all arguments of the call are numbers.
    let queue = unsafe { libc::msgget(key, libc::IPC_CREAT | libc::IPC_EXCL | 0o600) };
    let places = json!([sandbox.path("data").to_str().expect("a plain path")]);
    let later = i64::MAX;
    write_journal(&sandbox, &[json!({"token": token, "places": places, "began_s": later})]);
    let removed = leftovers(&sandbox, "doctor --clean --json");
    let stayed = [folder.join("precious").exists(), memory.exists()];
    fs::remove_file(&memory).expect("shared memory");
    // SAFETY: as above; the pointer may be null when a queue is removed.
    let queue_stayed = unsafe { libc::msgctl(queue, libc::IPC_RMID, std::ptr::null_mut()) } == 0;
    assert_eq!(removed, Vec::<Value>::new());
    assert_eq!(stayed, [true, true]);
    assert!(queue_stayed || queue == -1, "the queue was removed");
}

/// If the journal cannot be written, one line says so and everything is measured.
#[test]
fn where_no_journal_can_be_written_all_is_measured_and_one_line_says_so() {
    let sandbox = Sandbox::open();
    let mut command = sandbox.measuring(NEXT);
    command.env("XDG_STATE_HOME", "/sys/kernel").env("TMPDIR", "/sys/kernel").env("HOME", "");
    let done = sandbox.finish(command).expect(0);
    let lines: Vec<&str> = done.stderr.lines().filter(|line| line.contains("journal")).collect();
    assert_eq!(lines.len(), 1, "{}", done.stderr);
    assert!(lines[0].contains("XDG_STATE_HOME"), "{}", lines[0]);
}

/// Without a home folder, the journal is in the folder for temporary files, in a private folder named after the user
/// ID.
#[test]
fn without_a_home_the_journal_is_in_a_private_folder_among_temporary_files() {
    let sandbox = Sandbox::open();
    let mut command = sandbox.measuring(&endless("pipe"));
    command.env_remove("XDG_STATE_HOME").env("HOME", "");
    let command = sandbox.start(command);
    let folder = sandbox.path("tmp").join(format!("ipcperf-{}", geteuid().as_raw()));
    let journal = || fs::read_dir(&folder).ok()?.flatten().next();
    let journal = wait_for("journal", HANG, journal);
    let mode = |path: &Path| fs::metadata(path).expect("it is there").mode() & 0o777;
    assert_eq!([mode(&folder), mode(&journal.path())], [0o700, 0o600]);
    kill_together(command);
}

/// Another user who creates that folder first only prevents the journal from being written.
#[test]
fn a_folder_for_journals_that_is_another_users_is_not_used() {
    if !geteuid().is_root() {
        return skip("another user's folder for journals", "only root can make it");
    }
    let sandbox = Sandbox::open();
    let folder = sandbox.path("tmp/ipcperf-0");
    fs::create_dir(&folder).expect("a folder");
    chown(&folder, Some(1000), Some(1000)).expect("a gift");
    let mut command = sandbox.measuring(NEXT);
    command.env_remove("XDG_STATE_HOME").env("HOME", "");
    let done = sandbox.finish(command).expect(0);
    assert!(done.stderr.contains("belongs to another user"), "{}", done.stderr);
    assert_eq!(fs::read_dir(&folder).expect("a folder").count(), 0);
}

/// A command that ends normally leaves no journal.
#[test]
fn a_command_that_ends_removes_its_journal() {
    let sandbox = Sandbox::open();
    for arguments in
        [NEXT.to_owned(), "-m sysv-mq,fifo -b 64 --total 6400 --repetitions 2".to_owned()]
    {
        let mut command: Command = sandbox.measuring(&arguments);
        command.env_remove("IPCPERF_KEEP_JOURNALS");
        sandbox.finish(command).expect(0);
        assert_eq!(fs::read_dir(sandbox.journals()).expect("a folder").count(), 0);
    }
}
