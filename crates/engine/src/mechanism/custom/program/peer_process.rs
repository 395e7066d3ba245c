//! One peer: a process of the program, its control socket, and its failures.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use ipcperf_model::{Failure, FailureKind, Role, RoleUsage};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, getpid, getppid, set_parent_process_death_signal};

use super::protocol::{self, Done, PROTOCOL, ProgramAnswer, ProgramError, invalid_answer};
use crate::mechanism::process_log::last_log_line;
use crate::placement::set_affinity;
use crate::signal_dispositions::restore_file_size;
use crate::worker::proc_pid::ProcPid;
use crate::{exhaustion_remedy, harness_failure};

/// Descriptor numbers under which a program finds its control socket and its socket to the other peer.
const CONTROL_FD: i32 = 3;
const PEER_FD: i32 = 4;
/// Maximum length of a line from a program, bytes.
const MAX_LINE_BYTES: usize = 4_096;
/// Time that a program which has stopped talking has to exit.
const EXIT_TIMEOUT: Duration = Duration::from_secs(1);
/// Remedy that points to the description of the protocol.
pub(super) const PROTOCOL_REMEDY: &str = "see the protocol: ipcperf list exec";

/// Remedy for a program that cannot be started.
const START_REMEDY: &str = "check that the program exists and is executable, and that a script \
    starts with #!";

/// Cause of a failure. When both peers fail, the smaller cause explains the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Cause {
    /// The peer was killed by a signal.
    Killed,
    /// The peer reported the failure.
    Reported,
    /// The peer exited without a report.
    Exited,
    /// The peer wrote to one that was gone.
    BrokenPipe,
}

/// A failure of a peer, and its cause.
#[derive(Debug)]
pub(super) struct PeerFailure {
    pub(super) cause: Cause,
    pub(super) failure: Failure,
}

/// A process of the program, killed and reaped on drop.
#[derive(Debug)]
pub(super) struct PeerProcess {
    pub(super) role: Role,
    pub(super) control: UnixStream,
    pub(super) folder: PathBuf,
    child: Child,
    received: Vec<u8>,
    /// Whether the program has ever answered as the protocol says.
    has_answered: bool,
}

impl Drop for PeerProcess {
    fn drop(&mut self) {
        // A process that has exited needs no signal, but must still be reaped.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Occupies the descriptor numbers up to [`PEER_FD`], so that no descriptor made later has a number that
/// [`set_up_child`] overwrites in the new process.
pub(super) fn reserve_low_fds() -> Result<Vec<File>, Failure> {
    let mut placeholders = Vec::new();
    loop {
        let file = File::open("/dev/null")
            .map_err(|error| setup_io_failure("opening /dev/null", &error))?;
        if file.as_raw_fd() > PEER_FD {
            return Ok(placeholders);
        }
        placeholders.push(file);
    }
}

fn setup_io_failure(what: &str, error: &io::Error) -> Failure {
    match Errno::from_io_error(error) {
        Some(errno) if exhaustion_remedy(errno).is_some() => {
            harness_failure(FailureKind::SetUp, what, errno)
        }
        errno => {
            let errno = errno.map(Errno::raw_os_error);
            Failure { errno, ..Failure::new(FailureKind::SetUp, what) }
        }
    }
}

impl PeerProcess {
    /// Starts `program` as `role` on its CPU of `cpus`, with `other` as its socket to the other peer.
    pub(super) fn start(
        program: &Path,
        role: Role,
        cpus: Option<[u32; 2]>,
        other: UnixStream,
        folder: &Path,
    ) -> Result<Self, Failure> {
        let (control, theirs) =
            UnixStream::pair().map_err(|error| setup_io_failure("socketpair", &error))?;
        let ends = [OwnedFd::from(theirs), OwnedFd::from(other)];
        let log = File::create(log_path(folder, role)).map_err(|e| {
            setup_io_failure(
                "creating a \
            log file",
                &e,
            )
        })?;
        let also = log.try_clone().map_err(|e| setup_io_failure("creating a log file", &e))?;
        let cpu =
            cpus.map(|[sender, receiver]| if role == Role::Sender { sender } else { receiver });
        let mut command = Command::new(program);
        command.arg(role.name()).env("IPCPERF_PROTOCOL", PROTOCOL.to_string());
        command.stdin(Stdio::null()).stdout(log).stderr(also);
        let worker = getpid();
        // SAFETY: between fork and exec the closure only makes system calls and does not allocate.
        unsafe { command.pre_exec(move || set_up_child(worker, cpu, &ends)) };
        let child = command.spawn().map_err(|error| {
            let failure = setup_io_failure(&format!("starting {}", program.display()), &error)
                .with_role(role);
            if failure.transient { failure } else { failure.with_remedy(START_REMEDY) }
        })?;
        let folder = folder.to_owned();
        Ok(Self { role, control, folder, child, received: Vec::new(), has_answered: false })
    }

    /// Sends `text`. A failure to send is ignored: it is noticed when the answer is awaited.
    pub(super) fn send(&mut self, text: &str) {
        let _ = self.control.write_all(text.as_bytes());
    }

    /// Reads the available bytes and returns the answer if they complete one.
    pub(super) fn receive(&mut self) -> Result<Option<ProgramAnswer>, PeerFailure> {
        let mut piece = [0; 512];
        // A connection reset counts as end of file.
        let count = self.control.read(&mut piece).unwrap_or(0);
        if count == 0 {
            return Err(self.exit_failure());
        }
        self.received.extend_from_slice(&piece[..count]);
        let Some(end) = self.received.iter().position(|&byte| byte == b'\n') else {
            if self.received.len() > MAX_LINE_BYTES {
                return Err(self.reported_failure(invalid_answer("sent a line that is too long")));
            }
            return Ok(None);
        };
        let line: Vec<u8> = self.received.drain(..=end).collect();
        let answer = protocol::parse_answer(&String::from_utf8_lossy(&line))
            .map_err(|complaint| self.reported_failure(complaint))?;
        self.has_answered = true;
        Ok(Some(answer))
    }

    /// Returns the failure of a peer that sent an answer out of turn.
    pub(super) fn unexpected_answer(&self) -> PeerFailure {
        self.reported_failure(invalid_answer("sent an unexpected answer"))
    }

    fn reported_failure(
        &self,
        ProgramError { kind: what, text: words }: ProgramError,
    ) -> PeerFailure {
        let role = self.role.name();
        let place = match what {
            FailureKind::SetUp => format!("the {role} refused: {words}"),
            FailureKind::Answer => format!("the {role} {words}"),
            _ => format!("the {role} reported: {words}"),
        };
        let failure = Failure::new(what, place).with_role(self.role);
        let failure = if what == FailureKind::Answer {
            failure.with_remedy(PROTOCOL_REMEDY)
        } else {
            failure
        };
        PeerFailure { cause: Cause::Reported, failure }
    }

    /// Returns the failure of a peer that has closed its control socket, with its exit status if it has one.
    fn exit_failure(&mut self) -> PeerFailure {
        let role = self.role.name();
        let status = self.wait_exit();
        let signal = status.and_then(|status| status.signal());
        let (cause, what, place) = match (status, signal) {
            (None, _) => {
                let place = format!("the {role} closed descriptor {CONTROL_FD} but did not exit");
                (Cause::Reported, FailureKind::Answer, place)
            }
            (Some(_), Some(signal)) => {
                let cause = if signal == libc::SIGPIPE { Cause::BrokenPipe } else { Cause::Killed };
                (cause, FailureKind::Died, format!("the {role} was killed by signal {signal}"))
            }
            (Some(status), None) => {
                let code = status.code().unwrap_or_default();
                (Cause::Exited, FailureKind::Died, format!("the {role} exited with status {code}"))
            }
        };
        let place = match last_log_line(&log_path(&self.folder, self.role)) {
            Some(words) => format!("{place}: {words}"),
            None => place,
        };
        // Nothing in ipcperf sends this SIGKILL, so it came from outside, as when a peer of a built-in
        // mechanism is killed.
        let transient = signal == Some(libc::SIGKILL);
        let failure = Failure { transient, ..Failure::new(what, place) }.with_role(self.role);
        let failure = if cause == Cause::Exited && !self.has_answered {
            failure.with_remedy(PROTOCOL_REMEDY)
        } else {
            failure
        };
        PeerFailure { cause, failure }
    }

    /// Waits up to [`EXIT_TIMEOUT`] for the process to exit.
    pub(super) fn wait_exit(&mut self) -> Option<std::process::ExitStatus> {
        let end = Instant::now() + EXIT_TIMEOUT;
        loop {
            let status = self.child.try_wait().ok().flatten();
            if status.is_some() || Instant::now() > end {
                return status;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Returns the process ID, which is also the thread ID of its main thread.
    pub(super) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Returns the resource usage so far.
    pub(super) fn usage_snapshot(&self) -> Option<ProcPid> {
        ProcPid::read(self.child.id())
    }

    /// Returns the resource usage since `before`, with the system calls that the program counted.
    pub(super) fn usage(&self, before: Option<ProcPid>, done: &Done) -> Result<RoleUsage, Failure> {
        let used = before.zip(self.usage_snapshot()).map(|(before, now)| before.until(&now));
        let role = self.role;
        used.map(|used| RoleUsage { role, calls: done.calls, ..used }).ok_or_else(|| {
            let place = format!("the {} exited before it was sent `end`", role.name());
            Failure::new(FailureKind::Died, place).with_role(role)
        })
    }
}

fn log_path(folder: &Path, role: Role) -> PathBuf {
    folder.join(format!("{}.log", role.name()))
}

/// Prepares the new process: it dies with the worker in any case and stays on its CPU.
fn set_up_child(worker: Pid, cpu: Option<u32>, ends: &[OwnedFd; 2]) -> io::Result<()> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    if getppid() != Some(worker) {
        return Err(io::ErrorKind::NotFound.into());
    }
    restore_file_size();
    if let Some(cpu) = cpu {
        set_affinity(&[cpu])?;
    }
    for (end, number) in ends.iter().zip([CONTROL_FD, PEER_FD]) {
        // SAFETY: `dup2` takes two numbers, and no descriptor of this process has the second one.
        if unsafe { libc::dup2(end.as_raw_fd(), number) } == -1 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}
