//! Interruption during a run: results are kept, and no process is left.

use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::Command;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};

use crate::processes::{descendants, signal, wait_for};
use crate::results::{ResultsFile, number, runs_recorded};
use crate::sandbox::{GRACE, HANG, NEVER_S, Sandbox, Started};
use crate::skip::skip;

/// Three cases, and more runs than a test waits for.
const LONG: &str = "-m pipe,tcp,shm-ring -b 64 --repetitions 1000";

/// Starts the long command in its own process group, and waits until some runs are stored and another is in progress.
fn under_way(sandbox: &Sandbox) -> Started {
    let mut command = sandbox.measuring(LONG);
    command.process_group(0);
    let command = sandbox.start(command);
    let printed = || (runs_recorded(&sandbox.results()) >= 4).then_some(());
    wait_for("four runs", GRACE, printed);
    wait_for("a run under way", GRACE, || {
        Some(()).filter(|()| descendants(command.id()).len() == 3)
    });
    command
}

/// Checks that all results were kept and that the command died of `asked`, so that its parent sees the interruption.
fn assert_kept(sandbox: &Sandbox, command: Started, asked: Signal) {
    let finished = command.finish(GRACE);
    assert_eq!(finished.status.signal(), Some(asked.as_raw()), "{:?}", finished.status);
    assert!(finished.stderr.contains("interrupted"), "{}", finished.stderr);
    let file = ResultsFile::read(&sandbox.results());
    assert_eq!(file.footer["complete"], false);
    assert!(file.samples.len() >= 4);
    assert_eq!(number(&file.footer, "samples"), file.samples.len() as u64);
    assert!(file.failures.is_empty(), "{:?}", file.failures);
    let shown = sandbox.run(&format!("show {}", sandbox.results().display())).expect(0);
    assert!(shown.stdout.contains("shm-ring"), "{}", shown.stdout);
    for printed in [&finished.stdout, &shown.stdout] {
        assert!(printed.contains("Incomplete: ") && printed.contains(" of 1000; "), "{printed}");
    }
    sandbox.assert_nothing_left();
}

#[test]
fn a_signal_that_asks_to_end_keeps_what_was_measured() {
    for asked in [Signal::INT, Signal::TERM, Signal::HUP] {
        let sandbox = Sandbox::open();
        let command = under_way(&sandbox);
        signal(command.id(), asked);
        assert_kept(&sandbox, command, asked);
    }
}

/// A terminal sends Ctrl-C to the whole group: no peer must die of it and be reported as a failure.
#[test]
fn a_signal_to_the_whole_group_does_the_same() {
    let sandbox = Sandbox::open();
    let command = under_way(&sandbox);
    let group = Pid::from_raw(i32::try_from(command.id()).expect("a number")).expect("a group");
    kill_process_group(group, Signal::INT).expect("the group is there");
    assert_kept(&sandbox, command, Signal::INT);
}

/// If an interrupted program exits by itself, with any code, the shell continues its loop.
#[test]
fn ctrl_c_ends_a_loop_of_the_shell() {
    if Command::new("bash").arg("--version").output().is_err() {
        return skip("a loop of a shell", "there is no bash");
    }
    let program = env!("CARGO_BIN_EXE_ipcperf");
    for arguments in [
        "compat ipc-static 2proc",
        "compat pipesend 1000000000000 64",
        "run -m pipe -b 64 --total 1000000GB",
    ] {
        let sandbox = Sandbox::open();
        let mut shell = Command::new("bash");
        shell
            .args(["-c", &format!("for i in 1 2 3; do echo turn $i; {program} {arguments}; done")]);
        shell.process_group(0).current_dir(sandbox.path("data"));
        let shell = sandbox.start(sandbox.place(shell, ""));
        // The child of the shell, its worker and two peers.
        wait_for("a run under way", GRACE, || (descendants(shell.id()).len() == 4).then_some(()));
        let group = Pid::from_raw(shell.id().cast_signed()).expect("a group");
        kill_process_group(group, Signal::INT).expect("the group is there");
        let finished = shell.finish(GRACE);
        assert_eq!(
            finished.status.signal(),
            Some(Signal::INT.as_raw()),
            "{arguments}: {finished:?}"
        );
        assert_eq!(finished.stdout.matches("turn ").count(), 1, "{arguments}: {finished:?}");
        sandbox.assert_nothing_left();
    }
}

/// Signals ignored by `nohup` or for background jobs of a script stay ignored.
#[test]
fn a_signal_that_was_ignored_from_the_start_does_nothing() {
    let sandbox = Sandbox::open();
    let mut shell = Command::new("sh");
    let program = env!("CARGO_BIN_EXE_ipcperf");
    shell.args([
        "-c",
        &format!("trap '' INT; exec {program} compat ipc -B -n 300 -t 33554432 2proc"),
    ]);
    let command = sandbox.start(sandbox.place(shell, ""));
    wait_for("a run under way", HANG, || (descendants(command.id()).len() == 3).then_some(()));
    signal(command.id(), Signal::INT);
    let finished = command.finish(HANG).expect(0);
    assert_eq!(finished.stdout.matches("datum:").count(), 300);
}

#[test]
fn two_signals_in_a_row_end_it_no_worse() {
    let sandbox = Sandbox::open();
    let command = under_way(&sandbox);
    // Stopped, so that both are pending when it continues, however slow this thread is.
    for next in [Signal::STOP, Signal::TERM, Signal::INT, Signal::CONT] {
        signal(command.id(), next);
    }
    // A shell must see Ctrl-C.
    assert_kept(&sandbox, command, Signal::INT);
}

/// After SIGKILL, the file has no footer.
#[test]
fn what_a_killed_command_wrote_can_be_shown() {
    let sandbox = Sandbox::open();
    let command = under_way(&sandbox);
    signal(command.id(), Signal::KILL);
    assert_eq!(command.finish(GRACE).status.code(), None);
    let shown = sandbox.run(&format!("show {}", sandbox.results().display())).expect(0);
    assert!(shown.stderr.contains("warning"), "{}", shown.stderr);
    assert!(shown.stderr.contains("no footer"), "{}", shown.stderr);
    assert!(shown.stdout.contains("pipe"), "{}", shown.stdout);
}

/// After SIGKILL the command cannot end anything: an endless run ends by itself.
#[test]
fn a_killed_command_takes_its_processes_along() {
    for mode in ["1thread", "2thread", "2proc"] {
        let sandbox = Sandbox::open();
        let arguments =
            format!("-m pipe -b 64 --total 1000000GB --mode {mode} --timeout {NEVER_S}");
        let command = sandbox.begin(&arguments);
        let processes = if mode == "2proc" { 3 } else { 1 };
        wait_for("a run under way", GRACE, || {
            Some(()).filter(|()| descendants(command.id()).len() == processes)
        });
        std::thread::sleep(Duration::from_millis(50));
        signal(command.id(), Signal::KILL);
        assert_eq!(command.finish(GRACE).status.code(), None);
        sandbox.assert_nothing_left();
    }
}
