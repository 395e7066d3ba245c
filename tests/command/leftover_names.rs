//! Names in the file system, which exist while a mechanism is opened. If the command is killed at that moment, the
//! names are removed all the same, and the worker ends.

use std::fs;
use std::process::Command;

use rustix::process::Signal;

use crate::processes::{children, descendants, signal, wait_for};
use crate::results::runs_recorded;
use crate::sandbox::{HANG, NEVER_S, Sandbox};
use crate::skip::skip;
use crate::system_calls::try_strace;

/// The moment lasts tens of microseconds; strace delays the worker to extend it.
const DELAY: &str = "inject=mknodat,bind:delay_enter=300000";

#[test]
fn a_command_killed_while_there_are_names_leaves_none() {
    if let Err(reason) = try_strace() {
        return skip("names left by a killed command", &reason);
    }
    for mechanism in ["fifo", "unix-stream-named"] {
        let sandbox = Sandbox::open();
        let mut strace = Command::new("strace");
        strace.args(["-f", "-qq", "-e", "trace=mknodat,bind", "-e", DELAY, "-o", "/dev/null"]);
        strace.arg(env!("CARGO_BIN_EXE_ipcperf")).args(["run", "-m", mechanism, "--out"]);
        strace.arg(sandbox.results());
        // A worker that survived would run for ever.
        let endless = sandbox.place(strace, &format!("--total 1000000GB --timeout {NEVER_S}"));
        let strace = sandbox.start(endless);
        let names = || fs::read_dir(sandbox.path("tmp")).expect("a folder").next().map(drop);
        wait_for("name", HANG, names);
        let command = wait_for("command", HANG, || children(strace.id()).first().copied());
        signal(command, Signal::KILL);
        strace.finish(HANG);
        sandbox.assert_nothing_left();
    }
}

/// The kernel does not remove System V objects and named shared memory by itself: the worker does if the command is
/// killed, and the command does if the worker is killed.
#[test]
fn what_lasts_for_a_run_goes_whoever_is_killed() {
    for mechanism in ["sysv-mq", "sysv-sem", "iceoryx2-pubsub", "iceoryx2-reqres"] {
        for victim in 0..4 {
            let sandbox = Sandbox::open();
            let arguments = format!(
                "-m {mechanism} -b 64 --total 1000000GB --timeout {NEVER_S} --repetitions 1"
            );
            let command = sandbox.begin(&arguments);
            let whole = || Some(descendants(command.id())).filter(|all| all.len() == 3);
            let mut all = wait_for("all processes", HANG, whole);
            all.insert(0, command.id());
            signal(all[victim], Signal::KILL);
            if victim > 0 {
                // The second run starts; then everything is killed.
                wait_for("end of the first run", HANG, || {
                    (runs_recorded(&sandbox.results()) >= 1).then_some(())
                });
                signal(command.id(), Signal::KILL);
            }
            command.finish(HANG);
            sandbox.assert_nothing_left();
        }
    }
}
