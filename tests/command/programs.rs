//! Mode 2exec from outside: separately executed programs, and the commands in front of them.

use std::collections::BTreeSet;
use std::fs::{Permissions, set_permissions};
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::process::{Signal, geteuid};
use serde_json::Value;

use crate::available::available;
use crate::mistakes::refused;
use crate::processes::{descendants, signal, wait_for};
use crate::results::{ResultsFile, text};
use crate::sandbox::{HANG, Sandbox};
use crate::skip::skip;

/// Every mechanism whose peers meet.
const MEETING: [&str; 15] = [
    "fifo",
    "tcp",
    "udp",
    "shm-ring",
    "unix-stream-named",
    "unix-dgram",
    "unix-seqpacket",
    "posix-mq",
    "sysv-mq",
    "futex",
    "eventfd",
    "posix-sem",
    "sysv-sem",
    "sysv-shm",
    "mmap-file",
];
/// Mechanisms of which the peers find a System V object by its key.
const SYSTEM_V: [&str; 3] = ["sysv-mq", "sysv-sem", "sysv-shm"];
/// Command that makes the peer of another user.
const OTHER_USER: &str = "'setpriv --reuid 1000 --regid 1000 --clear-groups'";

/// Study of the effect of a command.
const STUDY: &str = r#"
name = "prefixes"
title = "Lower priority"
question = "Does a lower priority of the sender change the round trip?"

[sampling]
repetitions = 6

[[matrix]]
mechanism = "fifo"
workload = "round-trip"
buffer = "64"
mode = "2exec"
sender_prefix = ["none", "nice -n 1"]

[[hypothesis]]
id = "H1"
claim = "A lower priority changes the round trip."
test = "differs"
first = { sender_prefix = "nice -n 1" }
second = { sender_prefix = "none" }
"#;

/// Returns the mechanisms whose peers can meet here.
fn meeting() -> Vec<&'static str> {
    available(&MEETING)
}

/// Returns the arguments that make a short run of each of `mechanisms`.
fn short_runs(mechanisms: &[&str]) -> String {
    format!("-m {} -w round-trip -b 64 --total 6400 --mode 2exec", mechanisms.join(","))
}

/// Runs `arguments`, which contain words in single quotes.
fn measured(sandbox: &Sandbox, arguments: &str, code: i32) -> ResultsFile {
    measured_by(&ipcperf(), sandbox, arguments, code)
}

fn ipcperf() -> PathBuf {
    env!("CARGO_BIN_EXE_ipcperf").into()
}

/// Returns the command that `program` runs with `arguments`.
fn command(program: &Path, sandbox: &Sandbox, arguments: &str) -> Command {
    let results = sandbox.results();
    let arguments = format!("run --force --attempts 1 --out {} {arguments}", results.display());
    let mut command = Command::new(program);
    command.args(shlex::split(&arguments).expect("closed quotes"));
    sandbox.place(command, "")
}

fn measured_by(program: &Path, sandbox: &Sandbox, arguments: &str, code: i32) -> ResultsFile {
    sandbox.finish(command(program, sandbox, arguments)).expect(code);
    sandbox.assert_nothing_left();
    ResultsFile::read(&sandbox.results())
}

/// Why this machine cannot run `program` as root.
fn lack(program: &str) -> Option<String> {
    if !geteuid().is_root() {
        return Some(format!("only root may use {program} here"));
    }
    lack_for_anyone(program)
}

/// Why this machine cannot run `program`.
fn lack_for_anyone(program: &str) -> Option<String> {
    let found = Command::new(program).arg("--version").output();
    found.err().map(|error| format!("{program}: {error}"))
}

#[test]
fn commands_in_front_of_the_programs_are_levels_and_stay_in_the_results() {
    let sandbox = Sandbox::open();
    let mechanisms = meeting();
    let arguments = format!(
        "{} --sender-prefix none --sender-prefix 'nice -n 1' --repetitions 1",
        short_runs(&mechanisms)
    );
    let plan =
        sandbox.run("plan -m tcp -b 64 --mode 2exec --receiver-prefix sync").expect(0).stdout;
    assert!(plan.contains("receiver prefix sync"), "{plan}");
    let file = measured(&sandbox, &arguments, 0);
    // Two blocks of all mechanisms and two levels.
    assert_eq!(file.samples.len(), 2 * mechanisms.len() * 2, "{:?}", file.failures);
    let with_prefix = |sample: &&Value| sample["prefixes"]["sender"] == "nice -n 1";
    assert_eq!(file.samples.iter().filter(with_prefix).count(), 2 * mechanisms.len());
    let ids = file.samples.iter().filter(with_prefix).map(|sample| text(sample, "case_id"));
    ids.for_each(|id| assert!(id.ends_with("/sender-prefix=nice -n 1"), "{id}"));
    let results = sandbox.results().display().to_string();
    let shown = sandbox.run(&format!("show {results}")).expect(0).stdout;
    // The width of the table decides where the lines of its heading break.
    let words = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("sender prefix nice -n 1"), "{shown}");
    assert_eq!(shown.lines().find(|line| line.chars().count() > 100), None, "{shown}");
    let sheet = sandbox.run(&format!("export csv-runs {results}")).expect(0).stdout;
    assert!(
        sheet.lines().next().is_some_and(|header| header.contains("prefixes_sender")),
        "{sheet}"
    );
}

#[test]
fn programs_of_two_users_meet() {
    if let Some(why) = lack("setpriv") {
        return skip("programs of two users", &why);
    }
    let sandbox = Sandbox::open();
    let (program, mechanisms) = (sandbox.copy_command("ipcperf"), meeting());
    for role in ["sender", "receiver"] {
        let arguments =
            format!("{} --{role}-prefix {OTHER_USER} --repetitions 1", short_runs(&mechanisms));
        set_permissions(sandbox.path(""), Permissions::from_mode(0o700)).expect("permissions");
        let file = measured_by(&program, &sandbox, &arguments, 4);
        assert!(file.failures.iter().all(|failure| failure["role"] == role), "{:?}", file.failures);
        // The other user may pass through the folders now.
        for folder in ["", "tmp"] {
            let mode = Permissions::from_mode(0o711);
            set_permissions(sandbox.path(folder), mode).expect("permissions");
        }
        let file = measured_by(&program, &sandbox, &arguments, 0);
        assert_eq!(file.samples.len(), 2 * mechanisms.len(), "{role}: {:?}", file.failures);
    }
}

/// The command could not remove an object that a killed peer leaves: it belongs to another user.
#[test]
fn no_system_v_object_is_made_that_would_remain() {
    if let Some(why) = lack("setpriv") {
        return skip("programs of another user", &why);
    }
    let sandbox = Sandbox::open();
    let program = sandbox.copy_command("ipcperf");
    for folder in ["", "tmp"] {
        let mode = Permissions::from_mode(0o711);
        set_permissions(sandbox.path(folder), mode).expect("permissions");
    }
    let arguments = format!(
        "{} --sender-prefix {OTHER_USER} --receiver-prefix {OTHER_USER} --repetitions 1",
        short_runs(&available(&SYSTEM_V))
    );
    for failure in measured_by(&program, &sandbox, &arguments, 4).failures {
        assert_eq!(failure["what"], "set-up", "{failure}");
        assert!(text(&failure, "remedy").contains("the user of the command"), "{failure}");
    }
}

/// Where keys are unknown, descriptors and paths are not.
#[test]
fn an_ipc_namespace_hides_system_v_objects_alone() {
    if let Some(why) = lack("unshare") {
        return skip("peers in another IPC namespace", &why);
    }
    let (sandbox, mechanisms, hidden) = (Sandbox::open(), meeting(), available(&SYSTEM_V));
    let arguments =
        format!("{} --sender-prefix 'unshare -i' --repetitions 1", short_runs(&mechanisms));
    let file = measured(&sandbox, &arguments, 4);
    assert_eq!(file.samples.len(), 2 * (mechanisms.len() - hidden.len()), "{:?}", file.failures);
    assert_eq!(file.failures.len(), 2 * hidden.len());
    for failure in &file.failures {
        assert_eq!(failure["what"], "unreachable", "{failure}");
        assert!(text(failure, "where").contains("get with the key 0x"), "{failure}");
        assert!(text(failure, "remedy").contains("different namespaces (IPC)"), "{failure}");
    }
}

/// Neither the worker nor the command, which is gone, has made them.
#[test]
fn system_v_objects_of_programs_go_with_the_command() {
    for mechanism in available(&["sysv-mq", "sysv-sem"]) {
        let sandbox = Sandbox::open();
        let arguments = format!(
            "-m {mechanism} -b 64 --total 1000000GB --mode 2exec --timeout 600 --repetitions 1"
        );
        let command = sandbox.start(command(&ipcperf(), &sandbox, &arguments));
        let is_made = || {
            let names = sandbox.names_left();
            names.iter().any(|name| name.contains("with key")).then_some(())
        };
        wait_for("an object of the run", HANG, is_made);
        signal(command.id(), Signal::KILL);
        command.finish(HANG);
        sandbox.assert_nothing_left();
    }
}

/// A network namespace has a separate loopback interface; a path is not hidden.
#[test]
fn what_a_namespace_hides_is_a_failure_that_names_it() {
    if let Some(why) = lack("unshare") {
        return skip("peers in another namespace", &why);
    }
    let sandbox = Sandbox::open();
    let mechanisms = meeting();
    let arguments =
        format!("{} --sender-prefix 'unshare -n' --repetitions 1", short_runs(&mechanisms));
    let file = measured(&sandbox, &arguments, 4);
    // All but two.
    assert_eq!(file.samples.len(), 2 * (mechanisms.len() - 2), "{:?}", file.failures);
    let (of_tcp, of_udp): (Vec<_>, Vec<_>) =
        file.failures.iter().partition(|failure| failure["mechanism"] == "tcp");
    assert_eq!((of_tcp.len(), of_udp.len()), (2, 2));
    for failure in of_tcp {
        assert_eq!(
            (&failure["what"], &failure["transient"]),
            (&"unreachable".into(), &false.into())
        );
        assert!(text(failure, "where").contains("connecting to 127.0.0.1:"), "{failure}");
        assert!(text(failure, "remedy").contains("different namespaces (network)"), "{failure}");
    }
    // The sender fails, where ipcperf runs too.
    let receiver =
        "-m tcp -b 64 --total 6400 --mode 2exec --repetitions 1 --receiver-prefix 'unshare -n'";
    let file = measured(&sandbox, receiver, 4);
    let remedy = text(&file.failures[0], "remedy");
    assert!(remedy.contains("the peers run in different namespaces (network)"), "{remedy}");
    let clock = "-m fifo -b 64 --total 6400 --mode 2exec --repetitions 1 --sender-prefix 'unshare --time --boottime 9'";
    let file = measured(&sandbox, clock, 4);
    let place = text(&file.failures[0], "where");
    // Before Linux 5.6 there are no time namespaces, and unshare fails.
    assert!(place.contains("time namespace") || place.contains("exited"), "{place}");
}

/// The interface of another network namespace is up, but leads nowhere.
#[test]
fn datagrams_that_do_not_arrive_are_noticed_before_the_run() {
    if let Some(why) = lack("unshare").or_else(|| lack("ip")) {
        return skip("peers in another network", &why);
    }
    let sandbox = Sandbox::open();
    let script = sandbox.write_script("lo-up", "#!/bin/sh\nip link set lo up && exec \"$@\"");
    let prefix = format!("'unshare -n {}'", script.display());
    let arguments =
        format!("-m udp -b 64 --total 6400 --mode 2exec --sender-prefix {prefix} --repetitions 1");
    for failure in measured(&sandbox, &arguments, 4).failures {
        assert_eq!(failure["what"], "unreachable", "{failure}");
        assert!(text(&failure, "remedy").contains("different namespaces (network)"), "{failure}");
    }
}

fn has_mapped_a_ring(pid: u32) -> bool {
    // Gone by now, perhaps.
    let maps = std::fs::read_to_string(format!("/proc/{pid}/maps")).unwrap_or_default();
    maps.contains("ipcperf-ring")
}

/// The peers are no children of the worker, so the death of their parent does not end them.
#[test]
fn programs_that_another_one_has_started_end_with_the_command() {
    if let Some(why) = lack_for_anyone("setsid") {
        return skip("peers that another program has forked", &why);
    }
    let sandbox = Sandbox::open();
    let arguments = "-m shm-ring -b 64 --total 1000000GB --mode 2exec --timeout 600 --repetitions 1 \
                     --sender-prefix 'setsid -f -w' --receiver-prefix 'setsid -f -w'";
    let command = sandbox.start(command(&ipcperf(), &sandbox, arguments));
    // Before, the peers might not have read what they are to do.
    let have_met = || {
        let ids = descendants(command.id());
        (ids.into_iter().filter(|&id| has_mapped_a_ring(id)).count() == 2).then_some(())
    };
    wait_for("two peers that have met", HANG, have_met);
    signal(command.id(), Signal::KILL);
    command.finish(HANG);
    sandbox.assert_nothing_left();
}

#[test]
fn prefixes_are_factors_of_a_study() {
    let sandbox = Sandbox::open();
    let path = sandbox.path("prefixes.toml");
    std::fs::write(&path, STUDY).expect("a study");
    let path = path.display();
    sandbox.run(&format!("study check {path}")).expect(0);
    let out = sandbox.path("out.jsonl").display().to_string();
    let judged = sandbox.run(&format!("study run {path} --force --out {out}")).expect(0).stdout;
    assert!(judged.contains("H1"), "{judged}");
    let file = ResultsFile::read(&sandbox.path("out.jsonl"));
    let prefix = |sample: &Value| sample["prefixes"]["sender"].as_str().map(str::to_owned);
    let prefixes: BTreeSet<Option<String>> = file.samples.iter().map(prefix).collect();
    assert_eq!(prefixes, [None, Some("nice -n 1".to_owned())].into());
    set_permissions(sandbox.path("prefixes.toml"), Permissions::from_mode(0o666))
        .expect("permissions");
    let said = sandbox.run(&format!("study plan {path}")).expect(2).stderr;
    assert!(said.contains("nice -n 1") && said.contains("--allow-custom"), "{said}");
}

#[test]
fn a_command_that_starts_no_peer_is_a_failure_with_its_last_line() {
    let sandbox = Sandbox::open();
    let run = |prefix: &str| {
        let arguments = format!(
            "-m tcp -b 64 --total 6400 --mode 2exec --receiver-prefix {prefix} --repetitions 1"
        );
        measured(&sandbox, &arguments, 4).failures
    };
    for failure in run("'ls --no-such-option'") {
        assert_eq!((&failure["what"], &failure["role"]), (&"died".into(), &"receiver".into()));
        assert!(text(&failure, "where").contains("ls --help"), "{failure}");
    }
    for failure in run("true") {
        assert_eq!((&failure["what"], &failure["transient"]), (&"died".into(), &false.into()));
        assert!(text(&failure, "remedy").contains("--receiver-prefix"), "{failure}");
    }
    for failure in run("no-such-program") {
        assert_eq!((&failure["what"], &failure["transient"]), (&"set-up".into(), &false.into()));
        assert!(text(&failure, "remedy").contains("--receiver-prefix"), "{failure}");
    }
}

#[test]
fn what_separate_programs_cannot_do_is_refused() {
    for (arguments, words) in [
        ("-m tcp --sender-prefix nice", "--sender-prefix requires --mode 2exec"),
        ("-m tcp --mode 2exec --sender-prefix=", "takes a command"),
        ("-m tcp --mode 2exec --instrument syscalls", "--instrument"),
        ("-m pipe --mode 2exec", "pipe does not support mode 2exec"),
        ("-m unix-stream --mode 2exec", "mechanisms with 2exec: fifo, unix-stream-named, "),
        ("-m tcp --mode 2exec --first-touch before-fork --total 1MiB", "does not fork"),
    ] {
        refused(&format!("run {arguments}"), &[words]);
    }
}

/// The commands are run again by `resume`, so a file of another user must be allowed to name them.
#[test]
fn commands_from_the_file_of_another_user_need_permission() {
    if !geteuid().is_root() {
        return skip("a file of another user", "only root can make one");
    }
    let sandbox = Sandbox::open();
    let arguments =
        "-m fifo -b 64 --total 6400 --mode 2exec --sender-prefix 'nice -n 1' --repetitions 1";
    measured(&sandbox, arguments, 0);
    let results = sandbox.results();
    let whole = std::fs::read_to_string(&results).expect("results");
    let lines: Vec<&str> = whole.lines().collect();
    std::fs::write(&results, lines[..lines.len() - 2].join("\n") + "\n").expect("a torn file");
    chown(&results, Some(1000), Some(1000)).expect("a gift");
    let resume = format!("resume {}", results.display());
    let said = sandbox.run(&resume).expect(2).stderr;
    assert!(said.contains("nice -n 1") && said.contains("--allow-custom"), "{said}");
    sandbox.run(&format!("{resume} --allow-custom")).expect(0);
}
