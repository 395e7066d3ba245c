//! One worker process: started, waited for without polling, ended in time, and cleaned up after.

use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use ipcperf_engine::mechanism::draw_names;
use ipcperf_engine::names::RunNames;
use ipcperf_engine::worker::{Assignment, Gate};
use ipcperf_engine::{Failure, FailureKind, Report, RunSpec};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitOptions, WaitStatus, kill_process, kill_process_group, set_child_subreaper,
    waitpgid, waitpid,
};

use super::interrupt::Interrupt;
use super::watch::Watchers;
use super::worker_failed;
use crate::journal::Journal;

/// What ended the wait for a worker.
enum Wait {
    /// It closed its output: this is all it said.
    Said(Vec<u8>),
    /// It could not be watched.
    Unwatched(Failure),
    /// The deadline passed.
    TooLong,
    /// A signal asked the command to end.
    Interrupted,
}

/// From now on orphaned parties become children of this process, so that it can wait for them.
pub(super) fn adopt_orphans() {
    // Refused only by kernels before 3.4; then init reaps what a killed worker leaves.
    let _ = set_child_subreaper(Some(rustix::process::getpid()));
}

/// Carries out one run in a fresh worker, watched by `watchers`; its names stand in `journal` meanwhile. `None`
/// when a signal asked the command to end.
pub(super) fn carry_out(
    spec: &RunSpec,
    journal: &mut Journal,
    watchers: &mut Watchers,
    deadline: Duration,
    interrupt: &mut Interrupt,
) -> Option<Report> {
    let started = Instant::now();
    let names = match draw_names(spec) {
        Ok(names) => names,
        Err(failure) => return Some(Report::Failed(failure)),
    };
    journal.note(&names);
    let outcome =
        attempt(spec, &names, journal, |talk| wait(talk, watchers, started + deadline, interrupt));
    // The worker has removed them already, unless it was killed.
    journal.settle(&names.remove());
    let (waited, status) = match outcome {
        Ok(outcome) => outcome,
        Err(failure) => return Some(Report::Failed(failure)),
    };
    match waited {
        Wait::Said(text) => Some(understand(&text, status)),
        Wait::Unwatched(failure) => Some(Report::Failed(failure)),
        Wait::TooLong => Some(Report::Failed(too_long(deadline))),
        Wait::Interrupted => None,
    }
}

/// Starts a worker, waits for it by `wait`, and cleans up after it.
fn attempt(
    spec: &RunSpec,
    names: &RunNames,
    journal: &Journal,
    wait: impl FnOnce(&mut Talk) -> Wait,
) -> Result<(Wait, Option<WaitStatus>), Failure> {
    let journal = journal.path().map(Path::to_owned);
    let assignment = Assignment { spec: spec.clone(), names: names.clone(), journal };
    let (mut worker, mut talk) = start(&assignment)?;
    let waited = wait(&mut talk);
    Ok((waited, clean_up(&mut worker)))
}

/// Starts this program as a worker, in a process group of its own, and tells it what to do.
fn start(assignment: &Assignment) -> Result<(Child, Talk), Failure> {
    let failed = |what: &str, error: std::io::Error| Failure {
        errno: error.raw_os_error(),
        ..worker_failed(what)
            .with_remedy("free memory, or raise the limit on processes (ulimit -u)")
    };
    let program = std::env::current_exe().map_err(|e| failed("finding this program", e))?;
    // A socket, since descriptors may go with what is said.
    let (mut input, workers) = UnixStream::pair().map_err(|e| failed("a socket", e))?;
    let mut worker = Command::new(program)
        .arg0(crate::OWN_NAME)
        .arg(crate::WORKER)
        .arg(std::process::id().to_string())
        .stdin(OwnedFd::from(workers))
        .stdout(Stdio::piped())
        .process_group(0)
        .spawn()
        .map_err(|e| failed("starting a worker", e))?;
    let mut line = serde_json::to_vec(assignment).unwrap_or_default();
    line.push(b'\n');
    match (input.write_all(&line), worker.stdout.take()) {
        (Ok(()), Some(output)) => {
            let gate = (assignment.spec.gate == Gate::Closed).then_some(input);
            Ok((worker, Talk { output, gate }))
        }
        _ => Err(died(clean_up(&mut worker))),
    }
}

/// What goes to and fro between the command and a worker.
struct Talk {
    output: ChildStdout,
    /// Where the gate is opened, while it is closed.
    gate: Option<UnixStream>,
}

/// Sleeps until the worker has closed its output, a signal arrives, or `end` has come.
fn wait(talk: &mut Talk, watchers: &mut Watchers, end: Instant, interrupt: &mut Interrupt) -> Wait {
    let mut text = Vec::new();
    loop {
        let left = end.saturating_duration_since(Instant::now());
        let mut watched = [
            PollFd::new(&talk.output, PollFlags::IN),
            PollFd::from_borrowed_fd(interrupt.descriptor(), PollFlags::IN),
        ];
        if poll(&mut watched, Some(&timespec(left))) == Ok(0) {
            return Wait::TooLong;
        }
        let [spoke, signalled] = watched.each_ref().map(|one| !one.revents().is_empty());
        if signalled && interrupt.has_arrived() {
            return Wait::Interrupted;
        }
        if spoke && !listen(&mut talk.output, &mut text) {
            return Wait::Said(text);
        }
        if let Err(failure) = open_gate(&mut talk.gate, watchers, &mut text) {
            return Wait::Unwatched(failure);
        }
    }
}

/// Lets the parties begin once they have said who they are, and `watchers` watch them.
fn open_gate(
    gate: &mut Option<UnixStream>,
    watchers: &mut Watchers,
    text: &mut Vec<u8>,
) -> Result<(), Failure> {
    let Some(end) = text.iter().position(|&byte| byte == b'\n') else { return Ok(()) };
    let Some(parties) = gate.take() else { return Ok(()) };
    let line: Vec<u8> = text.drain(..=end).collect();
    watchers.arm(&line)?;
    watchers.let_begin(&parties)
}

fn timespec(left: Duration) -> Timespec {
    Timespec {
        tv_sec: i64::try_from(left.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: i64::from(left.subsec_nanos()),
    }
}

/// Reads what is there; false at the end.
fn listen(output: &mut ChildStdout, text: &mut Vec<u8>) -> bool {
    let mut piece = [0; 16 * 1024];
    match output.read(&mut piece) {
        Ok(0) | Err(_) => false,
        Ok(count) => {
            text.extend_from_slice(&piece[..count]);
            true
        }
    }
}

/// Ends whatever is left of the worker's process group, and reaps all of it. Returns how the worker itself
/// ended.
fn clean_up(worker: &mut Child) -> Option<WaitStatus> {
    let group = Pid::from_raw(i32::try_from(worker.id()).ok()?)?;
    // The worker is not reaped yet, so the group is still this one. Gone already is as good.
    let _ = kill_process_group(group, Signal::KILL);
    // One that died before it had its group is still in ours: it is ended and reaped by number.
    let _ = kill_process(group, Signal::KILL);
    let ended = reap(group);
    while matches!(waitpgid(group, WaitOptions::empty()), Ok(_) | Err(Errno::INTR)) {}
    ended
}

fn reap(worker: Pid) -> Option<WaitStatus> {
    loop {
        match waitpid(Some(worker), WaitOptions::empty()) {
            Ok(ended) => return ended.map(|(_, status)| status),
            Err(Errno::INTR) => {}
            Err(_) => return None,
        }
    }
}

fn understand(text: &[u8], status: Option<WaitStatus>) -> Report {
    serde_json::from_slice(text).unwrap_or_else(|_| Report::Failed(died(status)))
}

fn died(status: Option<WaitStatus>) -> Failure {
    let how = match status {
        Some(status) if status.signaled() => {
            format!("killed by signal {}", status.terminating_signal().unwrap_or_default())
        }
        Some(status) => format!("ended with status {}", status.exit_status().unwrap_or_default()),
        None => "gone".to_owned(),
    };
    Failure::new(FailureKind::Died, format!("the worker was {how}"))
}

fn too_long(deadline: Duration) -> Failure {
    let place = format!("no end after {} s", deadline.as_secs_f64());
    Failure::new(FailureKind::Deadline, place).with_remedy("raise --deadline, or lower --total")
}
