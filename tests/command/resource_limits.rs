//! Small resource limits: what can work works, everything else gives an error message, nothing hangs and nothing is
//! left behind.

use std::os::unix::process::CommandExt;
use std::process::Command;

use rustix::process::geteuid;

use crate::caller_environment::give_to_user;
use crate::results::{ResultsFile, text};
use crate::sandbox::{Finished, Sandbox};
use crate::skip::skip;

/// Limits in the syntax of prlimit(1). With fewer than four files, the system cannot load a program with shared
/// libraries.
const LIMITS: [&str; 25] = [
    "--nofile=4",
    "--nofile=5",
    "--nofile=6",
    "--nofile=7",
    "--nofile=8",
    "--nofile=10",
    "--nofile=12",
    "--nofile=16",
    "--nofile=20",
    "--stack=65536",
    "--stack=262144",
    "--stack=65536:",
    "--fsize=0",
    "--fsize=4096",
    "--as=100000000",
    "--as=200000000",
    "--as=2000000000",
    "--data=30000000",
    "--data=100000000",
    "--memlock=0",
    "--msgqueue=0",
    "--sigpending=0",
    "--cpu=1:60",
    "--core=0",
    "--nice=0",
];
/// Commands that are run under each limit: reading, planning, and measuring with and without names in the file system.
const COMMANDS: [&str; 5] = [
    "list mechanisms",
    "plan -m pipe,tcp -b 64,4096",
    "show SHOWN",
    "run --force --attempts 1 -m pipe,shm-ring,fifo,posix-mq --mode 1thread,2thread,2proc -b 64 --total 6400 \
     --repetitions 1 --timeout 20 --out RESULTS",
    "run --force --attempts 1 -m unix-stream -b 64 --total 1000000GB --timeout 2 --repetitions 1 --out RESULTS",
];
/// Exit codes: done, bad input, nothing can run, some runs failed, results could not be written, and died of SIGXCPU,
/// which asked the command to end.
const CODES: [i32; 6] = [0, 2, 3, 4, 5, 152];

/// Runs the command under `limit`; `None` if there is no prlimit.
fn limited(sandbox: &Sandbox, limit: &str, arguments: &str) -> Option<Finished> {
    let mut command = Command::new("prlimit");
    command.arg(limit).arg("--").arg(env!("CARGO_BIN_EXE_ipcperf"));
    match Command::new("prlimit").arg("--version").output() {
        Ok(_) => Some(sandbox.finish(sandbox.place(command, arguments))),
        Err(error) => {
            skip("limits of resources", &format!("prlimit: {error}"));
            None
        }
    }
}

/// Creates a complete results file.
fn shown(sandbox: &Sandbox) -> String {
    let path = sandbox.path("shown.jsonl");
    let short = "run -m pipe -b 64 --total 640 --repetitions 1 --out";
    sandbox.run(&format!("{short} {}", path.display())).expect(0);
    path.display().to_string()
}

#[test]
fn little_of_a_resource_ends_in_words_or_goes_well() {
    let sandbox = Sandbox::open();
    let shown = shown(&sandbox);
    let results = sandbox.results().display().to_string();
    for limit in LIMITS {
        for command in COMMANDS {
            let arguments = command.replace("SHOWN", &shown).replace("RESULTS", &results);
            let Some(finished) = limited(&sandbox, limit, &arguments) else { return };
            assert_orderly(&finished, &format!("{limit}: {command}"));
            sandbox.assert_nothing_left();
        }
    }
}

fn assert_orderly(finished: &Finished, what: &str) {
    let Finished { status, stderr, .. } = finished;
    let is_documented = status.code().is_some_and(|code| CODES.contains(&code));
    assert!(is_documented, "{what}: {status:?}: {stderr}");
    for words in ["panicked", "overflow", "memory allocation", "RUST_BACKTRACE"] {
        assert!(!stderr.contains(words), "{what}: {stderr}");
    }
}

/// A limit that cannot be raised is named, with the remedy.
#[test]
fn a_limit_that_is_too_low_is_named() {
    let sandbox = Sandbox::open();
    let named = [
        ("--stack=65536:65536", "ulimit -s"),
        ("--as=100000000:100000000", "ulimit -v"),
        ("--data=30000000:30000000", "ulimit -d"),
    ];
    for (limit, words) in named {
        let Some(refused) = limited(&sandbox, limit, "list mechanisms") else { return };
        let refused = refused.expect(3);
        assert_eq!(refused.stderr.lines().count(), 1, "{limit}: {}", refused.stderr);
        assert!(refused.stderr.contains(words), "{limit}: {}", refused.stderr);
    }
}

/// A soft limit is raised as far as the hard limit allows.
#[test]
fn a_small_stack_that_may_grow_is_enough() {
    let sandbox = Sandbox::open();
    let arguments = format!(
        "run -m pipe --mode 1thread,2thread,2proc -b 64 --total 640 --repetitions 1 --out {}",
        sandbox.results().display()
    );
    let Some(finished) = limited(&sandbox, "--stack=65536:unlimited", &arguments) else {
        return;
    };
    finished.expect(0);
}

/// Workers that lack resources name the resource, are retried, and are due on `resume`.
#[test]
fn a_worker_for_which_there_is_no_room_is_due_again() {
    let sandbox = Sandbox::open();
    let results = sandbox.results().display().to_string();
    let run = format!(
        "run --force --attempts 1 -m pipe --mode 2proc -b 64 --total 640 --repetitions 1 --out {results}"
    );
    let of_worker = |failure: &serde_json::Value| failure["transient"] == true;
    let mut was_crowded = false;
    for files in 5..30 {
        let limit = format!("--nofile={files}");
        let Some(finished) = limited(&sandbox, &limit, &run) else { return };
        if finished.status.code() != Some(4) {
            continue;
        }
        let file = ResultsFile::read(&sandbox.results());
        if !file.failures.iter().all(of_worker) {
            continue;
        }
        was_crowded = true;
        let remedy = text(&file.failures[0], "remedy");
        assert!(remedy.contains("ulimit -n"), "{limit}: {:?}", file.failures);
        assert_eq!(file.footer["complete"], false, "{limit}");
        sandbox.run(&format!("resume {results}")).expect(0);
        let file = ResultsFile::read(&sandbox.results());
        assert_eq!((file.samples.len(), &file.footer["complete"]), (2, &true.into()), "{limit}");
    }
    assert!(was_crowded, "no number of open files is too few for a worker alone");
    sandbox.assert_nothing_left();
}

#[test]
fn a_user_with_too_many_processes_is_told_so() {
    if !geteuid().is_root() {
        return skip("a user with too many processes", "root alone can be another user");
    }
    let sandbox = Sandbox::open();
    let user = 54_322;
    let program = give_to_user(&sandbox, user);
    let results = sandbox.results().display().to_string();
    let run = format!(
        "run --attempts 1 -m pipe --mode 2proc -b 64 --total 640 --repetitions 1 --out {results}"
    );
    let mut command = Command::new("prlimit");
    command.arg("--nproc=1:1").arg("--").arg(&program).uid(user).gid(user);
    sandbox.finish(sandbox.place(command, &run)).expect(4);
    let file = ResultsFile::read(&sandbox.results());
    assert_eq!(file.failures.len(), 2, "{:?}", file.failures);
    for failure in &file.failures {
        assert_eq!((&failure["what"], &failure["transient"]), (&"worker".into(), &true.into()));
        assert!(text(failure, "remedy").contains("ulimit -u"), "{failure}");
    }
    assert_eq!(file.footer["complete"], false);
    let mut resume = sandbox.place(Command::new(&program), &format!("resume {results}"));
    resume.uid(user).gid(user);
    sandbox.finish(resume).expect(0);
    let file = ResultsFile::read(&sandbox.results());
    assert_eq!((file.samples.len(), &file.footer["complete"]), (2, &true.into()));
    sandbox.assert_nothing_left();
}
