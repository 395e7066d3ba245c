//! Names in the file system live while a mechanism is opened. Should the command be killed in that
//! moment, they go all the same, and the worker with them.

use std::fs;
use std::process::Command;

use rustix::process::Signal;

use crate::laboratory::{GRACE, HANG, Laboratory};
use crate::processes::{children, signal, wait_for};
use crate::skip::skip;
use crate::system_calls::try_strace;

/// The moment lasts tens of microseconds; strace holds the worker up in it.
const HELD_UP: &str = "inject=mknodat,bind:delay_enter=300000";

#[test]
fn a_command_killed_while_there_are_names_leaves_none() {
    if let Err(reason) = try_strace() {
        return skip("names left by a killed command", &reason);
    }
    for mechanism in ["fifo", "unix-stream-named"] {
        let laboratory = Laboratory::open();
        let mut strace = Command::new("strace");
        strace.args(["-f", "-qq", "-e", "trace=mknodat,bind", "-e", HELD_UP, "-o", "/dev/null"]);
        strace.arg(env!("CARGO_BIN_EXE_ipcperf")).args(["run", "-m", mechanism, "--out"]);
        strace.arg(laboratory.results());
        // A worker that lived on would run for ever.
        let endless = laboratory.place(strace, "--total 1000000GB --deadline 600");
        let strace = laboratory.start(endless);
        let names = || fs::read_dir(laboratory.path("tmp")).expect("a folder").next().map(drop);
        wait_for("name", HANG, names);
        let command = wait_for("command", GRACE, || children(strace.id()).first().copied());
        signal(command, Signal::KILL);
        strace.finish(HANG);
        laboratory.assert_nothing_left();
    }
}
