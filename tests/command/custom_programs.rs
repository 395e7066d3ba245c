//! `exec:PROGRAM`: the examples, and programs that violate the protocol.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;

use ipcperf_engine::placement::Topology;
use rustix::process::Signal;
use serde_json::Value;

use crate::custom::{compile, example};
use crate::processes::{children, descendants, signal, wait_for};
use crate::results::{ResultsFile, lines, number, runs_recorded, text};
use crate::sandbox::{GRACE, HANG, NEVER_S, Sandbox, Started, with_time};
use crate::skip::skip;

/// Compiles the C example in `sandbox`.
fn socket(sandbox: &Sandbox) -> Option<String> {
    let to = sandbox.path("socket");
    let made = compile(&example("socket.c"), &to, &[]).map(|()| format!("exec:{}", to.display()));
    if made.is_none() {
        skip("the example of a program", "there is no cc");
    }
    made
}

/// Creates a shell script in `sandbox` that answers by the branches `cases`.
fn script(sandbox: &Sandbox, name: &str, cases: &str) -> PathBuf {
    let text = format!(
        "#!/bin/sh\nrole=$1\nwhile read -r word rest; do\ncase $word in\n{cases}\nend) exit 0;;\nesac\ndone <&3\n"
    );
    sandbox.write_script(name, &text)
}

const READY: &str = "prepare) echo ready >&3;;";

#[test]
fn the_program_in_c_moves_every_workload_and_verifies() {
    let sandbox = Sandbox::open();
    let Some(name) = socket(&sandbox) else { return };
    for (bytes, total) in [(1, 5_000), (64, 20_020), (200_003, 1_000_100)] {
        let arguments = format!(
            "-m {name} -w stream,round-trip,request-reply --reply echo,13 -b {bytes} --total {total} \
             --placement same,free --verify --repetitions 1"
        );
        sandbox.finish(sandbox.measuring(&arguments)).expect(0);
        let samples = ResultsFile::read(&sandbox.results()).samples;
        assert_eq!(samples.len(), 2 * 2 * 4);
        samples.iter().for_each(|sample| assert_moved(sample, u64::div_ceil(total, bytes)));
    }
    sandbox.assert_nothing_left();
}

fn assert_moved(sample: &Value, messages: u64) {
    assert_eq!(number(sample, "messages"), messages, "{sample}");
    let is_stream = text(sample, "workload") == "stream";
    assert_eq!(sample["bandwidth_bytes_per_s"].is_u64(), is_stream, "{sample}");
    assert_eq!(sample["round_trip_ns_mean"].is_f64(), !is_stream, "{sample}");
    assert!(sample["round_trip_ns_p50"].is_null(), "{sample}");
}

/// Calibration, resource usage, probes and figures are the same as for any mechanism.
#[test]
fn a_program_is_calibrated_watched_and_ranked_like_any_other() {
    let sandbox = Sandbox::open();
    let Some(name) = socket(&sandbox) else { return };
    let placements = match Topology::read().expect("the CPUs").cpus.len() {
        1 => "same",
        _ => "same,split",
    };
    let arguments = format!(
        "-m pipe,{name} -w stream,round-trip -b 64 --placement {placements} --repetitions 2"
    );
    let shown = sandbox.finish(sandbox.measuring(&arguments)).expect(0).stdout;
    assert!(shown.contains(&name), "{shown}");
    for sample in ResultsFile::read(&sandbox.results()).samples {
        assert!(number(&sample, "elapsed_ns") >= 16_000_000, "{sample}");
        assert!(number(&sample, "sender_cpu_ns") > 0, "{sample}");
        assert!(number(&sample, "receiver_cpu_ns") > 0, "{sample}");
        let is_own = text(&sample, "mechanism") == name;
        assert_eq!(sample["sender_calls"].is_null(), is_own, "{sample}");
    }
}

/// Noise detection excludes runs by their probes, including a run without a probe.
#[test]
fn the_cpus_of_a_program_are_probed() {
    if Topology::read().expect("the CPUs").cpus.len() == 1 {
        return skip("the probes of two CPUs", "there is but one CPU");
    }
    let sandbox = Sandbox::open();
    let Some(name) = socket(&sandbox) else { return };
    let out = sandbox.results();
    let run = format!("run -m {name} -b 64 --total 64kB --placement split --repetitions 3");
    let run = with_time(&format!("{run} --out {}", out.display()));
    let run = sandbox.detecting_noise(&run);
    sandbox.finish(run).expect(0);
    let samples = ResultsFile::read(&out).samples;
    assert!(samples.len() > 3);
    for sample in samples {
        let probed = sample["cacheline_round_trip_before_ns"].is_f64();
        assert!(probed || sample["excluded"].is_string(), "{sample}");
    }
}

#[test]
fn the_program_in_python_streams_and_refuses_the_rest_in_words() {
    if Command::new("python3").arg("--version").output().is_err() {
        return skip("the example in Python", "there is no python3");
    }
    let sandbox = Sandbox::open();
    let name = format!("exec:{}", example("fifo.py").display());
    let arguments = format!(
        "-m {name} -w stream,round-trip -b 1,64,20003 --total 100100 --verify --repetitions 1"
    );
    sandbox.finish(sandbox.measuring(&arguments)).expect(4);
    let file = ResultsFile::read(&sandbox.results());
    assert_eq!((file.samples.len(), file.failures.len()), (6, 6));
    for failure in &file.failures {
        assert_eq!(text(failure, "what"), "set-up", "{failure}");
        assert!(
            text(failure, "where").ends_with("refused: this program supports streams only"),
            "{failure}"
        );
    }
    sandbox.assert_nothing_left();
}

/// Runs `name` next to `pipe`, which must succeed, and returns the failure of the first run of `name`.
fn failure_beside_pipe(sandbox: &Sandbox, name: &str, rest: &str) -> (String, String) {
    let arguments = format!("-m {name},pipe -b 64 --total 640 --repetitions 1 {rest}");
    sandbox.finish(sandbox.measuring(&arguments)).expect(4);
    let file = ResultsFile::read(&sandbox.results());
    assert_eq!((file.samples.len(), file.failures.len()), (2, 2), "{:?}", file.failures);
    sandbox.assert_nothing_left();
    let failure = &file.failures[0];
    let place = text(failure, "where").to_owned();
    assert_eq!(place.lines().count(), 1, "{place}");
    (text(failure, "what").to_owned(), place)
}

/// Returns the failure of a script with these `cases`.
fn failure_of_script(cases: &str, rest: &str) -> (String, String) {
    let sandbox = Sandbox::open();
    let name = format!("exec:{}", script(&sandbox, "script", cases).display());
    failure_beside_pipe(&sandbox, &name, rest)
}

fn assert_failure(cases: &str, what: &str, words: &str) {
    let (kind, place) = failure_of_script(cases, "");
    assert!(kind == what && place.contains(words), "`{cases}`: {kind}: {place}");
}

#[test]
fn a_program_that_says_what_it_met_is_quoted() {
    assert_failure("prepare) echo refuse not today >&3; exit;;", "set-up", "refused: not today");
    assert_failure(
        &format!("{READY}\ngo) echo error no luck >&3; exit;;"),
        "call",
        "reported: no luck",
    );
    assert_failure(
        &format!("{READY}\ngo) echo corrupt at 7 >&3; exit;;"),
        "corrupt",
        "reported: at 7",
    );
    let words = "prepare) echo oh no >&2; exit 7;;";
    assert_failure(words, "died", "exited with status 7: oh no");
}

#[test]
fn what_is_no_answer_is_told() {
    assert_failure(
        "prepare) echo garbage >&3;;",
        "answer",
        "sent `garbage`, which is not a valid answer",
    );
    assert_failure("prepare) head -c 9000 /dev/zero >&3;;", "answer", "a line that is too long");
    assert_failure("prepare) echo done messages=1 >&3;;", "answer", "sent an unexpected answer");
    assert_failure("prepare) exec 3>&- <&-; sleep 9;;", "answer", "closed descriptor 3");
}

#[test]
fn absurd_numbers_are_told() {
    let done = |numbers: &str| format!("{READY}\ngo) echo done {numbers} >&3;;");
    let absurd = |numbers: &str, words: &str| assert_failure(&done(numbers), "answer", words);
    absurd("begin_ns=2 end_ns=1 messages=10", "its loop began at 2 ns and ended at 1 ns");
    absurd("begin_ns=1 end_ns=2 messages=10", "but ipcperf started it at");
    absurd("begin_ns=18446744073709551616 end_ns=1 messages=10", "not an unsigned 64-bit integer");
    absurd("begin_ns=-1", "not an unsigned 64-bit integer");
    absurd("begin_ns=1 end_ns=2 messages=9", "9 messages arrived, but 10 were requested");
    absurd("messages=10", "without begin_ns");
    absurd("begin=1", "which is an unknown key");
}

#[test]
fn a_program_that_cannot_be_started_is_told() {
    let sandbox = Sandbox::open();
    let plain = sandbox.path("plain");
    fs::write(&plain, "words\n").expect("a file");
    for (path, words) in
        [(plain.clone(), "not executable"), (sandbox.path("gone"), "does not exist")]
    {
        let arguments = format!("run -m exec:{} -b 64", path.display());
        let alone = sandbox.run(&arguments).expect(3);
        assert_eq!(alone.stderr.lines().count(), 1, "{}", alone.stderr);
        assert!(alone.stderr.contains(words), "{}", alone.stderr);
    }
    // It looks like a program, but its interpreter does not exist.
    fs::write(&plain, "#!/not/there\n").expect("a file");
    fs::set_permissions(&plain, fs::Permissions::from_mode(0o755)).expect("its permissions");
    let name = format!("exec:{}", plain.display());
    let (kind, place) = failure_beside_pipe(&sandbox, &name, "");
    assert!(kind == "set-up" && place.starts_with("starting "), "{kind}: {place}");
}

#[test]
fn a_program_that_exits_at_once_or_never_answers_fails_its_run_alone() {
    assert_failure("*) exit 0;;", "died", "exited with status 0");
    // Alone: a pipe may take longer than this timeout while the machine is busy.
    let sandbox = Sandbox::open();
    let name = script(&sandbox, "script", "prepare) sleep 100;;");
    let arguments =
        format!("-m exec:{} -b 64 --total 640 --repetitions 1 --timeout 0.5", name.display());
    sandbox.finish(sandbox.measuring(&arguments)).expect(4);
    let file = ResultsFile::read(&sandbox.results());
    assert_eq!(file.failure_kinds(), ["timeout"; 2]);
    let is_told = |one| text(one, "where") == "the run did not end within 0.5 s";
    assert!(file.failures.iter().all(is_told), "{:?}", file.failures);
    sandbox.assert_nothing_left();
}

#[test]
fn a_program_that_does_not_check_is_not_run_to_verify() {
    let (kind, place) = failure_of_script(READY, "--verify");
    assert_eq!((kind.as_str(), place.contains("--verify needs")), ("set-up", true), "{place}");
}

/// Returns available instruments: those that find the timed region by marks, and one whose counters the worker reads.
fn instruments(sandbox: &Sandbox) -> Vec<String> {
    let listed = sandbox.run("list instruments --json").expect(0).stdout;
    let listed: Vec<Value> = serde_json::from_str(&listed).expect("an array");
    let here = listed.iter().filter(|entry| entry["available"] == true);
    let names = here.map(|entry| text(entry, "name").to_owned());
    names
        .filter(|name| ["syscalls", "sched", "counters", "strace"].contains(&name.as_str()))
        .collect()
}

#[test]
fn a_program_that_marks_its_loop_can_be_watched() {
    let sandbox = Sandbox::open();
    let Some(name) = socket(&sandbox) else { return };
    let instruments = instruments(&sandbox);
    if instruments.is_empty() {
        return skip("a program that is watched", "no instrument watches here");
    }
    let arguments = format!(
        "-m {name} -b 4096 --total 65536 --repetitions 1 --instrument {}",
        instruments.join(",")
    );
    sandbox.finish(sandbox.measuring(&arguments)).expect(0);
    let seen = lines(&sandbox.results());
    let seen: Vec<&Value> = seen.iter().filter(|line| line["kind"] == "observation").collect();
    for instrument in &instruments {
        assert!(seen.iter().any(|row| row["instrument"] == **instrument), "{instrument}: {seen:?}");
    }
    let calls = seen.iter().filter(|row| row["instrument"] == "syscalls");
    let mut printed = 0;
    for row in calls.filter(|row| row["role"] == "sender") {
        // The timed loop only: 16 messages, without the conversation with ipcperf.
        assert_eq!(
            (text(row, "syscall"), number(row, "returned_bytes")),
            ("write", 65_536),
            "{row}"
        );
        printed += 1;
    }
    assert_eq!(printed > 0, instruments.iter().any(|name| name == "syscalls"));
    sandbox.assert_nothing_left();
}

/// Without marks around the loop, instruments would observe more than the timed region.
#[test]
fn a_program_without_marks_is_not_watched_and_told_why() {
    let sandbox = Sandbox::open();
    let Some(instrument) = instruments(&sandbox).into_iter().next() else {
        return skip("a program that is watched", "no instrument watches here");
    };
    let refuses = format!("{READY}\ngo) echo error no luck >&3; exit;;");
    let name = format!("exec:{}", script(&sandbox, "script", &refuses).display());
    let arguments =
        format!("-m {name} -b 64 --total 640 --repetitions 1 --instrument {instrument}");
    sandbox.finish(sandbox.measuring(&arguments)).expect(4);
    let failures = ResultsFile::read(&sandbox.results()).failures;
    let watched = failures.iter().filter(|one| text(one, "case_id").contains("/instrument="));
    let printed: Vec<(&str, &str)> =
        watched.map(|one| (text(one, "where"), text(one, "remedy"))).collect();
    assert_eq!(printed.len(), 2, "{failures:?}");
    assert!(
        printed.iter().all(|(place, _)| place.contains("does not mark its loop")),
        "{printed:?}"
    );
    assert!(
        printed.iter().all(|(_, remedy)| remedy.contains("answer `ready marks`")),
        "{printed:?}"
    );
}

/// Starts an endless run of the example and waits until both peers are running.
fn under_way(sandbox: &Sandbox, name: &str) -> (Started, [u32; 3]) {
    let arguments =
        format!("-m {name} -b 64 --total 1000000GB --timeout {NEVER_S} --repetitions 1");
    let command = sandbox.begin(&arguments);
    let all = wait_for("both peers", HANG, || {
        let is_there = |pid: &u32| fs::read_to_string(format!("/proc/{pid}/comm")).ok();
        let all = descendants(command.id());
        let peers = all.iter().filter(|pid| is_there(pid).is_some_and(|comm| comm == "socket\n"));
        if peers.count() == 2 { all.try_into().ok() } else { None }
    });
    (command, all)
}

#[test]
fn a_peer_that_is_killed_fails_its_run_at_once() {
    let sandbox = Sandbox::open();
    let Some(name) = socket(&sandbox) else { return };
    let (command, [worker, sender, receiver]) = under_way(&sandbox, &name);
    signal(receiver, Signal::KILL);
    wait_for("end of the run", GRACE, || (runs_recorded(&sandbox.results()) > 0).then_some(()));
    assert!(!children(command.id()).contains(&worker) && sender != worker);
    let next = wait_for("the next run", HANG, || {
        Some(descendants(command.id())).filter(|all| all.len() == 3)
    });
    signal(next[1], Signal::KILL);
    command.finish(HANG).expect(4);
    let file = ResultsFile::read(&sandbox.results());
    let places: Vec<&str> = file.failures.iter().map(|failure| text(failure, "where")).collect();
    let killed = ["the receiver was killed by signal 9", "the sender was killed by signal 9"];
    assert_eq!(places, killed);
    sandbox.assert_nothing_left();
}

#[test]
fn whatever_ends_a_run_nothing_is_left() {
    let sandbox = Sandbox::open();
    let Some(name) = socket(&sandbox) else { return };
    let (command, _) = under_way(&sandbox, &name);
    signal(command.id(), Signal::INT);
    command.finish(HANG).expect(130);
    sandbox.assert_nothing_left();
    let (command, [worker, ..]) = under_way(&sandbox, &name);
    signal(worker, Signal::KILL);
    let printed = || (runs_recorded(&sandbox.results()) > 0).then_some(());
    wait_for("end of the run", GRACE, printed);
    signal(command.id(), Signal::KILL);
    drop(command);
    sandbox.assert_nothing_left();
}

/// A killed command cannot clean up: the worker does.
#[test]
fn a_killed_command_leaves_nothing_of_a_program() {
    let sandbox = Sandbox::open();
    let Some(name) = socket(&sandbox) else { return };
    let (command, _) = under_way(&sandbox, &name);
    signal(command.id(), Signal::KILL);
    drop(command);
    sandbox.assert_nothing_left();
}

/// This also holds if it is killed before its worker has started the program: repeatedly, as soon as a folder exists.
#[test]
fn a_command_that_is_killed_while_a_program_starts_leaves_nothing() {
    let sandbox = Sandbox::open();
    let Some(name) = socket(&sandbox) else { return };
    let arguments =
        format!("-m {name} -b 64 --total 1000000GB --timeout {NEVER_S} --repetitions 1");
    for _ in 0..10 {
        let command = sandbox.start(sandbox.measuring(&arguments));
        let folder = || fs::read_dir(sandbox.path("tmp")).ok()?.next();
        wait_for("the run's folder", HANG, folder).expect("an entry");
        signal(command.id(), Signal::KILL);
        drop(command);
        sandbox.assert_nothing_left();
    }
}
