//! A worker process: starts it, waits for it without polling, enforces its deadline and cleans up after it.

use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdout, Stdio};
use std::time::{Duration, Instant};

use ipcperf_engine::assignment::Assignment;
use ipcperf_engine::exhaustion_remedy;
use ipcperf_engine::mechanism::draw_names;
use ipcperf_model::{Failure, FailureKind, Gate, RunSpec, WorkerReport};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::{Pid, WaitStatus};

use super::instruments::RunInstruments;
use super::interrupt::{Interrupt, timespec};
use super::worker_failure;
use crate::journal::Journal;
use ipcperf_plan::children::{Children, kill_group};
use ipcperf_plan::program_file;

/// Event that ended the wait for a worker.
enum WaitEnd {
    /// It closed its output; this is all of it.
    Output(Vec<u8>),
    /// An instrument could not be attached.
    AttachFailed(Failure),
    /// The deadline passed.
    TimedOut,
    /// A signal asked the command to end.
    Interrupted,
}

/// Parameters of a worker.
#[derive(Debug)]
pub(super) struct WorkerParams<'a> {
    pub(super) spec: &'a RunSpec,
    /// Name (`comm`) of the processes of the run; `None` keeps the name of this program.
    pub(super) comm: Option<&'a str>,
    /// Maximum duration of the run.
    pub(super) timeout: Duration,
}

/// Executes one run in a fresh worker, observed by `watchers`; meanwhile `journal` holds its names. Returns `None` if a
/// signal asked the command to end.
pub(super) fn execute(
    start: &WorkerParams<'_>,
    journal: &mut Journal,
    watchers: &mut RunInstruments,
    interrupt: &mut Interrupt,
) -> Option<WorkerReport> {
    let started = Instant::now();
    let &WorkerParams { spec, comm, timeout: deadline } = start;
    let names = match draw_names(spec) {
        Ok(names) => names,
        Err(failure) => return Some(WorkerReport::Failed(failure)),
    };
    journal.record(&names);
    let path = journal.path().map(Path::to_owned);
    let comm = comm.map(str::to_owned);
    let assignment = Assignment { spec: spec.clone(), names, journal: path, comm };
    let outcome = attempt(&assignment, watchers, started + deadline, interrupt);
    // The worker has already removed them, unless it was killed.
    journal.end_run(&assignment.names.remove());
    match outcome {
        Ok((WaitEnd::Interrupted, _)) => None,
        Err(failure) | Ok((_, Err(failure))) => Some(WorkerReport::Failed(failure)),
        Ok((WaitEnd::Output(text), Ok(status))) => Some(parse_report(&text, status)),
        Ok((WaitEnd::AttachFailed(failure), _)) => Some(WorkerReport::Failed(failure)),
        Ok((WaitEnd::TimedOut, _)) => Some(WorkerReport::Failed(timeout_failure(deadline))),
    }
}

/// Result of the wait, and exit status of the worker.
type AttemptResult = (WaitEnd, Result<Option<WaitStatus>, Failure>);

/// Starts a worker, waits for it until `end`, and cleans up after it.
fn attempt(
    assignment: &Assignment,
    watchers: &mut RunInstruments,
    end: Instant,
    interrupt: &mut Interrupt,
) -> Result<AttemptResult, Failure> {
    let mut others = Children::now();
    let (worker, mut talk) = start_worker(assignment, &others)?;
    let waited = wait(&mut talk, watchers, &mut others, end, interrupt);
    Ok((waited, clean_up(&worker, &others)))
}

/// Starts this program as a worker, in its own process group, and sends it its assignment.
fn start_worker(
    assignment: &Assignment,
    others: &Children,
) -> Result<(Child, WorkerChannels), Failure> {
    let again = program_file::restart_command(crate::WORKER);
    let mut program = again.map_err(|e| start_failure("finding the executable of ipcperf", &e))?;
    // A socket, because file descriptors may be passed along with the text.
    let (mut input, workers) =
        UnixStream::pair().map_err(|e| start_failure("creating a socket", &e))?;
    let mut worker = program
        .arg(std::process::id().to_string())
        .stdin(OwnedFd::from(workers))
        .stdout(Stdio::piped())
        .process_group(0)
        .spawn()
        .map_err(|e| start_failure("starting a worker", &e))?;
    let mut line = serde_json::to_vec(assignment).unwrap_or_default();
    line.push(b'\n');
    match (input.write_all(&line), worker.stdout.take()) {
        (Ok(()), Some(output)) => {
            let gate = (assignment.spec.gate == Gate::Closed).then_some(input);
            Ok((worker, WorkerChannels { output, gate }))
        }
        _ => Err(death_failure(clean_up(&worker, others)?)),
    }
}

/// Returns the failure to start a worker, with a remedy derived from the system's error.
fn start_failure(what: &str, error: &std::io::Error) -> Failure {
    let errno = Errno::from_io_error(error);
    let remedy = match errno {
        // The executable is opened or found through `/proc`.
        None | Some(Errno::NOENT) if cfg!(target_os = "linux") => {
            Some("mount /proc: mount -t proc proc /proc")
        }
        errno => errno.and_then(exhaustion_remedy),
    };
    Failure {
        errno: error.raw_os_error(),
        remedy: remedy.map(str::to_owned),
        transient: true,
        ..worker_failure(what)
    }
}

/// Channels between the command and a worker.
struct WorkerChannels {
    output: ChildStdout,
    /// Socket over which the gate is opened, while it is closed.
    gate: Option<UnixStream>,
}

/// Waits until the worker has closed its output, a signal arrives, or `end` is reached.
fn wait(
    talk: &mut WorkerChannels,
    watchers: &mut RunInstruments,
    others: &mut Children,
    end: Instant,
    interrupt: &mut Interrupt,
) -> WaitEnd {
    let mut text = Vec::new();
    loop {
        let left = end.saturating_duration_since(Instant::now());
        let mut poll_fds = [
            PollFd::new(&talk.output, PollFlags::IN),
            PollFd::from_borrowed_fd(interrupt.descriptor(), PollFlags::IN),
        ];
        if poll(&mut poll_fds, Some(&timespec(left))) == Ok(0) {
            return WaitEnd::TimedOut;
        }
        let [spoke, signalled] = poll_fds.each_ref().map(|one| !one.revents().is_empty());
        if signalled && interrupt.take_arrived() {
            return WaitEnd::Interrupted;
        }
        if spoke && !read_available(&mut talk.output, &mut text) {
            return WaitEnd::Output(text);
        }
        if let Err(failure) = open_gate(&mut talk.gate, watchers, others, &mut text) {
            return WaitEnd::AttachFailed(failure);
        }
    }
}

/// Lets the peers start once they have reported their processes and `watchers` observe them. Processes that the
/// watchers start survive the cleanup of the run, as the `others` do.
fn open_gate(
    gate: &mut Option<UnixStream>,
    watchers: &mut RunInstruments,
    others: &mut Children,
    text: &mut Vec<u8>,
) -> Result<(), Failure> {
    let Some(end) = text.iter().position(|&byte| byte == b'\n') else { return Ok(()) };
    let Some(gate) = gate.take() else { return Ok(()) };
    let line: Vec<u8> = text.drain(..=end).collect();
    let before = Children::now();
    let armed = watchers.attach(&line);
    others.add_since(&before);
    armed?;
    watchers.open_gate(&gate)
}

/// Reads available output; returns false at its end.
fn read_available(output: &mut ChildStdout, text: &mut Vec<u8>) -> bool {
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
    let (status, end) = kill_group(Pid::from_child(worker));
    let ended = others.kill_others(end);
    ended.map(|()| status).map_err(|left| {
        let left: Vec<String> = left.iter().map(i32::to_string).collect();
        let place = format!("cannot kill processes of the run: {}", left.join(", "));
        worker_failure(place).with_remedy("allow kill(2) in the seccomp filter")
    })
}

fn parse_report(text: &[u8], status: Option<WaitStatus>) -> WorkerReport {
    serde_json::from_slice(text).unwrap_or_else(|_| WorkerReport::Failed(death_failure(status)))
}

fn death_failure(status: Option<WaitStatus>) -> Failure {
    let how = match status {
        Some(status) if status.signaled() => {
            format!("was killed by signal {}", status.terminating_signal().unwrap_or_default())
        }
        Some(status) => format!("exited with status {}", status.exit_status().unwrap_or_default()),
        None => "disappeared".to_owned(),
    };
    let signal = status.and_then(WaitStatus::terminating_signal);
    Failure::from_signal(signal, format!("the worker {how}"))
}

fn timeout_failure(deadline: Duration) -> Failure {
    let place = format!("the run did not end within {} s", deadline.as_secs_f64());
    Failure::new(FailureKind::Timeout, place).with_remedy("raise --timeout, or lower --total")
}
