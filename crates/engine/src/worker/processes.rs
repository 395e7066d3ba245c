//! Peers as processes forked from the worker, which only supervises them.
//!
//! Each peer writes its report into a pipe. An end of file without a report means that the peer died; the worker then
//! kills the others and reports which peer died and of what signal or status.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::panic::{AssertUnwindSafe, catch_unwind};

use ipcperf_model::{Failure, FailureKind, Role, RunSpec};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitOptions, WaitStatus, getpid, getppid, kill_process, waitpid,
};
use serde::de::DeserializeOwned;

use super::connections::Connections;
use super::peer::PeerRunner;
use super::peer_report::PeerReport;
use super::peer_results::{PeerResult, collect_reports, grace, missing_end};
use super::running_peer::RunningPeer;
use super::threads::panic_failure;
use super::{Ends, objects};
use crate::channel::peer_placement;
use crate::harness_failure;
use crate::platform::close_on_exec::{PipeFlags, pipe_with};
use crate::platform::parent_death::set_parent_process_death_signal;

/// A process that runs a peer, as the worker sees it.
#[derive(Debug)]
pub(super) struct Child {
    pub(super) role: Role,
    pub(super) pid: Pid,
    /// Where it writes its report.
    pub(super) report: OwnedFd,
}

/// Forks all peers and returns their reports, in their order.
pub(super) fn run(
    spec: &RunSpec,
    ends: Ends,
    connections: &Connections,
) -> Result<Vec<PeerReport>, Failure> {
    // Each fork inherits all ends; each process closes those that it does not use.
    let mut peers: Vec<Option<RunningPeer>> = ends.peers.into_iter().map(Some).collect();
    let (placement, helper) = (peer_placement(spec), ends.helper);
    let mut children = Vec::with_capacity(peers.len());
    for number in 0..peers.len() {
        let role = peers[number].as_ref().map_or(Role::Both, |peer| peer.role);
        let child = fork(role, || {
            // The child also inherited the worker's pipes to the peers before it.
            children.clear();
            let own = peers[number].take();
            close_ends(&mut peers);
            let peer = own.ok_or_else(missing_end)?;
            PeerRunner { spec, peer, connections, placement, helper }.run()
        });
        match child {
            Ok(child) => children.push(child),
            Err(failure) => {
                children.iter().for_each(kill_and_reap);
                return Err(failure);
            }
        }
    }
    close_ends(&mut peers);
    let children: Vec<&Child> = children.iter().collect();
    collect_reports(wait_for_reports(&children).into_iter().flatten())
}

fn close_ends(peers: &mut [Option<RunningPeer>]) {
    for peer in peers.iter_mut().filter_map(Option::take) {
        peer.ends.close_after_fork();
    }
}

/// Forks a process that runs `play`, reports, and exits.
fn fork(role: Role, play: impl FnOnce() -> PeerResult) -> Result<Child, Failure> {
    let set_up = |call: &str, errno| harness_failure(FailureKind::SetUp, call, errno);
    let (read, write) = pipe_with(PipeFlags::CLOEXEC).map_err(|e| set_up("pipe2", e))?;
    let worker = getpid();
    // SAFETY: the worker has one thread, so the child's copy of memory and locks is consistent;
    // the child leaves by `_exit` and never returns into the worker's frames.
    match unsafe { libc::fork() } {
        0 => {
            drop(read);
            objects::exclude(&write);
            run_child(worker, role, play, write)
        }
        pid => match Pid::from_raw(pid) {
            Some(pid) if pid.as_raw_nonzero().get() > 0 => Ok(Child { role, pid, report: read }),
            _ => Err(set_up("fork", last_errno())),
        },
    }
}

fn last_errno() -> Errno {
    Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::AGAIN)
}

/// Runs the forked peer. It is killed when the worker dies.
fn run_child(worker: Pid, role: Role, play: impl FnOnce() -> PeerResult, write: OwnedFd) -> ! {
    // Fails only for an invalid signal number.
    let _ = set_parent_process_death_signal(Some(Signal::KILL));
    let orphaned = getppid() != Some(worker);
    if !orphaned {
        let answer = catch_unwind(AssertUnwindSafe(play))
            .unwrap_or_else(|panic| Err(panic_failure(&*panic)))
            .map_err(|failure| failure.with_role(role));
        let text = serde_json::to_vec(&answer).unwrap_or_default();
        // If the write fails, the worker has abandoned this run.
        let _ = File::from(write).write_all(&text);
    }
    // SAFETY: ends the process at once; `exit` would flush buffers copied from the worker.
    unsafe { libc::_exit(0) }
}

/// Waits for the answers of all peers, and returns them in their order. After a failure, waits briefly for those of the other
/// peers, and kills those that give none.
pub(super) fn wait_for_reports<R: DeserializeOwned>(
    children: &[&Child],
) -> Vec<Option<Result<R, Failure>>> {
    let mut answers: Vec<Option<Result<R, Failure>>> = children.iter().map(|_| None).collect();
    while answers.iter().any(Option::is_none) {
        let failure = answers.iter().flatten().find_map(|answer| answer.as_ref().err());
        let limit = failure.and_then(|failure| Timespec::try_from(grace(failure)).ok());
        let Some(index) = next_report(children, &answers, limit.as_ref()) else { break };
        answers[index] = Some(read_report(children[index]));
    }
    for (child, answer) in children.iter().zip(&answers) {
        if answer.is_none() {
            kill_and_reap(child);
        }
    }
    answers
}

/// Index of a child that has not answered and is readable; `None` after `limit`.
fn next_report<R>(
    children: &[&Child],
    answers: &[Option<R>],
    limit: Option<&Timespec>,
) -> Option<usize> {
    let open: Vec<usize> = (0..children.len()).filter(|&index| answers[index].is_none()).collect();
    loop {
        let mut watched: Vec<PollFd<'_>> =
            open.iter().map(|&i| PollFd::new(&children[i].report, PollFlags::IN)).collect();
        match poll(&mut watched, limit) {
            Ok(0) => return None,
            Ok(_) => {
                let ready = watched.iter().position(|one| !one.revents().is_empty());
                return ready.map(|position| open[position]);
            }
            Err(Errno::INTR) => {}
            Err(_) => return None,
        }
    }
}

/// Reads the answer of a child, its last line, and reaps it.
fn read_report<R: DeserializeOwned>(child: &Child) -> Result<R, Failure> {
    let mut text = Vec::new();
    let read = child.report.try_clone().and_then(|fd| File::from(fd).read_to_end(&mut text));
    let status = reap(child);
    if read.is_err() || text.is_empty() {
        return Err(died(child.role, status));
    }
    // A program that starts a peer may write lines before it.
    let last = text.trim_ascii_end().rsplit(|&byte| byte == b'\n').next().unwrap_or_default();
    serde_json::from_slice(last).unwrap_or_else(|_| Err(died(child.role, status)))
}

fn died(role: Role, status: Option<WaitStatus>) -> Failure {
    let how = match status {
        Some(status) if status.signaled() => {
            format!("was killed by signal {}", status.terminating_signal().unwrap_or_default())
        }
        Some(status) => format!("exited with status {}", status.exit_status().unwrap_or_default()),
        None => "ended; its exit status is unknown".to_owned(),
    };
    let signal = status.and_then(WaitStatus::terminating_signal);
    Failure::from_signal(signal, format!("the {} {how}", role.name())).with_role(role)
}

fn reap(child: &Child) -> Option<WaitStatus> {
    loop {
        match waitpid(Some(child.pid), WaitOptions::empty()) {
            Ok(status) => return status.map(|(_, status)| status),
            Err(Errno::INTR) => {}
            Err(_) => return None,
        }
    }
}

pub(super) fn kill_and_reap(child: &Child) {
    // The child may already be gone; the error does not matter.
    let _ = kill_process(child.pid, Signal::KILL);
    reap(child);
}
