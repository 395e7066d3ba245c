//! Mode 2exec from outside: separately executed programs, and the commands in front of them.

use std::fs::{Permissions, set_permissions};
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::Path;
use std::process::Command;

use rustix::process::geteuid;
use serde_json::Value;

use crate::mistakes::refused;
use crate::results::{ResultsFile, text};
use crate::sandbox::Sandbox;
use crate::skip::skip;

/// Short runs of every mechanism whose peers meet by name.
const MEETING: &str =
    "-m fifo,tcp,shm-ring,unix-stream-named -w round-trip -b 64 --total 6400 --mode 2exec";
/// Command that makes the peer of another user.
const OTHER_USER: &str = "'setpriv --reuid 1000 --regid 1000 --clear-groups'";

/// Runs `arguments`, which contain words in single quotes.
fn measured(sandbox: &Sandbox, arguments: &str, code: i32) -> ResultsFile {
    measured_by(Path::new(env!("CARGO_BIN_EXE_ipcperf")), sandbox, arguments, code)
}

fn measured_by(program: &Path, sandbox: &Sandbox, arguments: &str, code: i32) -> ResultsFile {
    let results = sandbox.results();
    let arguments = format!("run --force --attempts 1 --out {} {arguments}", results.display());
    let mut command = Command::new(program);
    command.args(shlex::split(&arguments).expect("closed quotes"));
    sandbox.finish(sandbox.place(command, "")).expect(code);
    sandbox.assert_nothing_left();
    ResultsFile::read(&sandbox.results())
}

/// Why this machine cannot run `program` as root.
fn lack(program: &str) -> Option<String> {
    if !geteuid().is_root() {
        return Some(format!("only root may use {program} here"));
    }
    let found = Command::new(program).arg("--version").output();
    found.err().map(|error| format!("{program}: {error}"))
}

#[test]
fn commands_in_front_of_the_programs_are_levels_and_stay_in_the_results() {
    let sandbox = Sandbox::open();
    let arguments =
        format!("{MEETING} --sender-prefix none --sender-prefix 'nice -n 1' --repetitions 1");
    let plan =
        sandbox.run("plan -m tcp -b 64 --mode 2exec --receiver-prefix sync").expect(0).stdout;
    assert!(plan.contains("receiver prefix sync"), "{plan}");
    let file = measured(&sandbox, &arguments, 0);
    // Two blocks of four mechanisms and two levels.
    assert_eq!(file.samples.len(), 2 * 4 * 2, "{:?}", file.failures);
    let with_prefix = |sample: &&Value| sample["prefixes"]["sender"] == "nice -n 1";
    assert_eq!(file.samples.iter().filter(with_prefix).count(), 2 * 4);
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
    let program = sandbox.copy_command("ipcperf");
    for role in ["sender", "receiver"] {
        let arguments = format!("{MEETING} --{role}-prefix {OTHER_USER} --repetitions 1");
        set_permissions(sandbox.path(""), Permissions::from_mode(0o700)).expect("permissions");
        let file = measured_by(&program, &sandbox, &arguments, 4);
        assert!(file.failures.iter().all(|failure| failure["role"] == role), "{:?}", file.failures);
        // The other user may pass through the folders now.
        for folder in ["", "tmp"] {
            let mode = Permissions::from_mode(0o711);
            set_permissions(sandbox.path(folder), mode).expect("permissions");
        }
        let file = measured_by(&program, &sandbox, &arguments, 0);
        assert_eq!(file.samples.len(), 2 * 4, "{role}: {:?}", file.failures);
    }
}

/// A network namespace has a loopback interface of its own; a path is not hidden.
#[test]
fn what_a_namespace_hides_is_a_failure_that_names_it() {
    if let Some(why) = lack("unshare") {
        return skip("peers in another namespace", &why);
    }
    let sandbox = Sandbox::open();
    let file =
        measured(&sandbox, &format!("{MEETING} --sender-prefix 'unshare -n' --repetitions 1"), 4);
    assert_eq!(file.samples.len(), 2 * 3, "{:?}", file.failures);
    assert_eq!(file.failures.len(), 2, "of tcp");
    for failure in &file.failures {
        assert_eq!(
            (&failure["what"], &failure["transient"]),
            (&"unreachable".into(), &false.into())
        );
        assert!(text(failure, "where").contains("connecting to 127.0.0.1:"), "{failure}");
        assert!(text(failure, "remedy").contains("another namespace (network)"), "{failure}");
    }
    let clock = "-m fifo -b 64 --total 6400 --mode 2exec --repetitions 1 --sender-prefix 'unshare --time --boottime 9'";
    let file = measured(&sandbox, clock, 4);
    let place = text(&file.failures[0], "where");
    // Before Linux 5.6 there are no time namespaces, and unshare fails.
    assert!(place.contains("time namespace") || place.contains("exited"), "{place}");
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
