//! A worker process: starts it, waits for it without polling, enforces its deadline and cleans up after it.

use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdout, Stdio};
use std::time::{Duration, Instant};

use ipcperf_engine::exhausted;
use ipcperf_engine::mechanism::draw_names;
use ipcperf_engine::serve::Assignment;
use ipcperf_model::{Failure, FailureKind, Gate, Report, RunSpec};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::{Pid, WaitStatus};

use super::interrupt::{Interrupt, timespec};
use super::watch::Watchers;
use super::worker_failed;
use crate::journal::Journal;
use ipcperf_plan::children::{Children, end_group};
use ipcperf_plan::program_file;

/// Event that ended the wait for a worker.
enum Wait {
    /// It closed its output; this is all of it.
    Said(Vec<u8>),
    /// An instrument could not be attached.
    Unwatched(Failure),
    /// The deadline passed.
    TooLong,
    /// A signal asked the command to end.
    Interrupted,
}

/// Parameters of a worker.
#[derive(Debug)]
pub(super) struct Start<'a> {
    pub(super) spec: &'a RunSpec,
    /// Name (`comm`) of the processes of the run; `None` keeps the name of this program.
    pub(super) comm: Option<&'a str>,
    /// Maximum duration of the run.
    pub(super) deadline: Duration,
}

/// Executes one run in a fresh worker, observed by `watchers`; meanwhile `journal` holds its names. Returns `None` if a
/// signal asked the command to end.
pub(super) fn carry_out(
    start: &Start<'_>,
    journal: &mut Journal,
    watchers: &mut Watchers,
    interrupt: &mut Interrupt,
) -> Option<Report> {
    let started = Instant::now();
    let &Start { spec, comm, deadline } = start;
    let names = match draw_names(spec) {
        Ok(names) => names,
        Err(failure) => return Some(Report::Failed(failure)),
    };
    journal.note(&names);
    let path = journal.path().map(Path::to_owned);
    let comm = comm.map(str::to_owned);
    let assignment = Assignment { spec: spec.clone(), names, journal: path, comm };
    let outcome = attempt(&assignment, watchers, started + deadline, interrupt);
    // The worker has already removed them, unless it was killed.
    journal.settle(&assignment.names.remove());
    match outcome {
        Ok((Wait::Interrupted, _)) => None,
        Err(failure) | Ok((_, Err(failure))) => Some(Report::Failed(failure)),
        Ok((Wait::Said(text), Ok(status))) => Some(understand(&text, status)),
        Ok((Wait::Unwatched(failure), _)) => Some(Report::Failed(failure)),
        Ok((Wait::TooLong, _)) => Some(Report::Failed(too_long(deadline))),
    }
}

/// Result of the wait, and exit status of the worker.
type Attempted = (Wait, Result<Option<WaitStatus>, Failure>);

/// Starts a worker, waits for it until `end`, and cleans up after it.
fn attempt(
    assignment: &Assignment,
    watchers: &mut Watchers,
    end: Instant,
    interrupt: &mut Interrupt,
) -> Result<Attempted, Failure> {
    let mut others = Children::now();
    let (worker, mut talk) = start(assignment, &others)?;
    let waited = wait(&mut talk, watchers, &mut others, end, interrupt);
    Ok((waited, clean_up(&worker, &others)))
}

/// Starts this program as a worker, in its own process group, and sends it its assignment.
fn start(assignment: &Assignment, others: &Children) -> Result<(Child, Talk), Failure> {
    let again = program_file::again(crate::WORKER);
    let mut program = again.map_err(|e| not_started("finding this program", &e))?;
    // A socket, because file descriptors may be passed along with the text.
    let (mut input, workers) = UnixStream::pair().map_err(|e| not_started("a socket", &e))?;
    let mut worker = program
        .arg(std::process::id().to_string())
        .stdin(OwnedFd::from(workers))
        .stdout(Stdio::piped())
        .process_group(0)
        .spawn()
        .map_err(|e| not_started("starting a worker", &e))?;
    let mut line = serde_json::to_vec(assignment).unwrap_or_default();
    line.push(b'\n');
    match (input.write_all(&line), worker.stdout.take()) {
        (Ok(()), Some(output)) => {
            let gate = (assignment.spec.gate == Gate::Closed).then_some(input);
            Ok((worker, Talk { output, gate }))
        }
        _ => Err(died(clean_up(&worker, others)?)),
    }
}

/// Returns the failure to start a worker, with a remedy derived from the system's error.
fn not_started(what: &str, error: &std::io::Error) -> Failure {
    let errno = Errno::from_io_error(error);
    let remedy = match errno {
        // The executable is opened or found through `/proc`.
        None | Some(Errno::NOENT) => Some("mount /proc: mount -t proc proc /proc"),
        Some(errno) => exhausted(errno),
    };
    Failure {
        errno: error.raw_os_error(),
        remedy: remedy.map(str::to_owned),
        transient: true,
        ..worker_failed(what)
    }
}

/// Channels between the command and a worker.
struct Talk {
    output: ChildStdout,
    /// Socket over which the gate is opened, while it is closed.
    gate: Option<UnixStream>,
}

/// Waits until the worker has closed its output, a signal arrives, or `end` is reached.
fn wait(
    talk: &mut Talk,
    watchers: &mut Watchers,
    others: &mut Children,
    end: Instant,
    interrupt: &mut Interrupt,
) -> Wait {
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
        if let Err(failure) = open_gate(&mut talk.gate, watchers, others, &mut text) {
            return Wait::Unwatched(failure);
        }
    }
}

/// Lets the peers start once they have reported their processes and `watchers` observe them. Processes that the
/// watchers start survive the cleanup of the run, as the `others` do.
fn open_gate(
    gate: &mut Option<UnixStream>,
    watchers: &mut Watchers,
    others: &mut Children,
    text: &mut Vec<u8>,
) -> Result<(), Failure> {
    let Some(end) = text.iter().position(|&byte| byte == b'\n') else { return Ok(()) };
    let Some(parties) = gate.take() else { return Ok(()) };
    let line: Vec<u8> = text.drain(..=end).collect();
    let before = Children::now();
    let armed = watchers.arm(&line);
    others.add_since(&before);
    armed?;
    watchers.let_begin(&parties)
}

/// Reads available output; returns false at its end.
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

/// Ends and reaps all remaining processes of the run, except the `others`, which are not part of it. Returns the exit
/// status of the worker.
///
/// # Errors
/// Fails if a process of the run cannot be ended.
fn clean_up(worker: &Child, others: &Children) -> Result<Option<WaitStatus>, Failure> {
    let (status, end) = end_group(Pid::from_child(worker));
    let ended = others.end_others(end);
    ended.map(|()| status).map_err(|left| {
        let left: Vec<String> = left.iter().map(i32::to_string).collect();
        let place = format!("processes of the run cannot be ended: {}", left.join(", "));
        worker_failed(place)
            .with_remedy("let this process call kill(2): see the filter of system calls")
    })
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
    let signal = status.and_then(WaitStatus::terminating_signal);
    Failure::killed_by(signal, format!("the worker was {how}"))
}

fn too_long(deadline: Duration) -> Failure {
    let place = format!("no end after {} s", deadline.as_secs_f64());
    Failure::new(FailureKind::Deadline, place).with_remedy("raise --deadline, or lower --total")
}
