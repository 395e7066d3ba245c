//! Processes started by a run end with it, even after setsid(2) or a double fork. If the command may not end them, it
//! reports that.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::panic::resume_unwind;
use std::process::Command;
use std::thread;

use rustix::process::Signal;
use seccompiler::{SeccompAction, SeccompFilter, apply_filter};

use crate::custom::{SHARED, compile};
use crate::processes::{signal, wait_for};
use crate::results::{ResultsFile, text};
use crate::sandbox::{Finished, HANG, Sandbox};
use crate::skip::skip;

/// A shell script that starts a process in a new session, and one that forks twice, before it reports ready.
const LEAVES: &str = r#"#!/bin/sh
while read -r word rest; do
case $word in
prepare)
    setsid sleep 1000 </dev/null >/dev/null 2>&1 3>&- 4>&- &
    setsid sh -c 'sleep 1001 & sleep 1002 & exit' </dev/null >/dev/null 2>&1 3>&- 4>&-
    echo ready >&3;;
go) echo error no luck >&3; exit;;
end) exit 0;;
esac
done <&3
"#;

/// Creates a new session twice when it is loaded.
const LIBRARY: &str = r#"
#include <unistd.h>
__attribute__((constructor)) static void leave(void) {
    if (fork()) return;
    setsid();
    if (fork()) _exit(0);
    setsid();
    for (int fd = 0; fd < 64; fd++) close(fd);
    for (;;) pause();
}
"#;

#[test]
fn a_program_that_leaves_its_session_goes_with_its_run() {
    if Command::new("setsid").arg("true").status().is_err() {
        return skip("leaving a session", "there is no setsid");
    }
    let sandbox = Sandbox::open();
    let program = sandbox.path("leaves");
    fs::write(&program, LEAVES).expect("a script");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("its permissions");
    let arguments = format!("-m exec:{},pipe -b 64 --total 640 --repetitions 1", program.display());
    sandbox.finish(sandbox.measuring(&arguments)).expect(4);
    sandbox.assert_nothing_left();
    let file = ResultsFile::read(&sandbox.results());
    assert_eq!((file.samples.len(), file.failures.len()), (2, 2), "{:?}", file.failures);
    // Both peers say so; the scheduler decides which is heard first.
    let mut all = file.failures.iter().map(|failure| text(failure, "where"));
    assert!(all.all(|place| place.ends_with("reported: no luck")), "{:?}", file.failures);
}

/// After exec, children of the shell become children of the command; these and their children must be left alone.
#[test]
fn what_was_there_before_is_let_alone() {
    let sandbox = Sandbox::open();
    let noted = sandbox.path("noted");
    // After it is recorded, its parent ends, and it becomes a child of the command.
    let before = "(sleep 0.3; sleep 1003 & echo $! >\"$NOTED\") & exec \"$0\" \"$@\"";
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(before).arg(env!("CARGO_BIN_EXE_ipcperf")).env("NOTED", &noted);
    let arguments = format!(
        "run --attempts 1 -m pipe,null -b 64 --total 64kB --repetitions 40 --timeout 600 --out {}",
        sandbox.results().display()
    );
    sandbox.finish(sandbox.place(shell, &arguments)).expect(0);
    let pid: u32 = wait_for("process that was noted", HANG, || {
        fs::read_to_string(&noted).ok()?.trim().parse().ok()
    });
    let is_there = fs::read_to_string(format!("/proc/{pid}/cmdline"));
    signal(pid, Signal::KILL);
    assert!(is_there.is_ok_and(|words| words.contains("1003")), "it was ended");
}

#[test]
fn a_library_that_leaves_its_session_goes_with_the_question() {
    let sandbox = Sandbox::open();
    let [source, to] = ["leaves.c", "leaves.so"].map(|name| sandbox.path(name));
    fs::write(&source, LIBRARY).expect("a source");
    if compile(&source, &to, &SHARED).is_none() {
        return skip("a library that leaves its session", "there is no cc");
    }
    sandbox.run(&format!("plan -m pipe,lib:{} -b 64", to.display())).expect(0);
    sandbox.assert_nothing_left();
}

/// Runs the command with `arguments` while the kernel fails `call` with `errno`.
fn run_without(call: libc::c_long, errno: i32, sandbox: &Sandbox, arguments: &str) -> Finished {
    let confined = || {
        let refused = SeccompAction::Errno(errno.unsigned_abs());
        let architecture = std::env::consts::ARCH.try_into().expect("a known architecture");
        let rules = BTreeMap::from([(call, Vec::new())]);
        let filter = SeccompFilter::new(rules, SeccompAction::Allow, refused, architecture);
        let program: seccompiler::BpfProgram =
            filter.and_then(TryInto::try_into).expect("a program");
        // Applies to this thread only, which ends; its children inherit it.
        apply_filter(&program).expect("a filter");
        sandbox.finish(sandbox.measuring(arguments))
    };
    thread::scope(|scope| scope.spawn(confined).join().unwrap_or_else(|panic| resume_unwind(panic)))
}

#[test]
fn a_run_that_may_not_be_killed_is_not_waited_for() {
    let sandbox = Sandbox::open();
    let endless = "-m pipe --mode 2proc -b 64 --total 1000000GB --timeout 1 --repetitions 1";
    run_without(libc::SYS_kill, libc::EPERM, &sandbox, endless).expect(4);
    let file = ResultsFile::read(&sandbox.results());
    assert_eq!(file.failures.len(), 2, "{:?}", file.failures);
    for failure in &file.failures {
        assert_eq!(text(failure, "what"), "worker", "{failure}");
        assert!(text(failure, "where").contains("cannot kill processes"), "{failure}");
        assert!(text(failure, "remedy").contains("kill(2)"), "{failure}");
    }
    sandbox.assert_nothing_left();
}

/// A run that succeeds never needs to kill a process.
#[test]
fn a_run_that_goes_well_needs_no_kill() {
    let sandbox = Sandbox::open();
    let short = "-m pipe,tcp -b 64 --total 6400 --repetitions 1";
    run_without(libc::SYS_kill, libc::EPERM, &sandbox, short).expect(0);
    assert_eq!(ResultsFile::read(&sandbox.results()).samples.len(), 4);
    sandbox.assert_nothing_left();
}

/// A CPU that existed when the plan was made and is gone: the kernel reports that it does not exist.
#[test]
fn a_run_whose_cpu_is_gone_is_due_again() {
    let sandbox = Sandbox::open();
    let placed = "-m pipe -b 64 --total 6400 --placement same --repetitions 2";
    run_without(libc::SYS_sched_setaffinity, libc::EINVAL, &sandbox, placed).expect(4);
    let file = ResultsFile::read(&sandbox.results());
    assert_eq!((file.samples.len(), file.failures.len()), (0, 3), "{:?}", file.failures);
    for failure in &file.failures {
        assert!(text(failure, "where").contains("pinning to CPU"), "{failure}");
        assert_eq!(failure["transient"], true, "{failure}");
    }
    assert_eq!(file.footer["complete"], false);
    let results = sandbox.results();
    sandbox.run(&format!("resume {}", results.display())).expect(0);
    let file = ResultsFile::read(&results);
    assert_eq!((file.samples.len(), file.failures.len()), (3, 3));
    assert_eq!(file.footer["complete"], true);
}
