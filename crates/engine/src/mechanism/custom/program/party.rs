//! One party: a process of the program, its control socket, and what it met.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use ipcperf_model::{Failure, FailureKind, Role, RoleUsage};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, getpid, getppid, set_parent_process_death_signal};

use super::talk::{self, Answer, Complaint, Done, PROTOCOL, no_answer};
use crate::mechanism::plain;
use crate::placement::confine;
use crate::signals::restore_file_size;
use crate::worker::proc_pid::Books;
use crate::{exhausted, harness_failure};

/// Where a program finds what is said to it, and the other party.
const CONTROL: i32 = 3;
const OTHER: i32 = 4;
/// Longest line that a program may say.
const LONGEST_LINE: usize = 4_096;
/// How long a program that says no more gets to be gone.
const PATIENCE: Duration = Duration::from_secs(1);
/// Where to read what a program must say.
pub(super) const PAGE: &str = "docs/your-own-mechanism.md has the protocol";

/// What a program is that can be started.
const STARTABLE: &str = "it must be there, be executable, and begin with #! where it is a script";

/// Which of two failures explains the other: the first of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Cause {
    /// Somebody killed it.
    Killed,
    /// It says what it met.
    Told,
    /// It left without a word.
    Left,
    /// It wrote to one that was gone.
    Effect,
}

/// What a party met, and how much that explains.
#[derive(Debug)]
pub(super) struct Met {
    pub(super) cause: Cause,
    pub(super) failure: Failure,
}

/// A process of the program; killed and reaped when this is dropped.
#[derive(Debug)]
pub(super) struct Party {
    pub(super) role: Role,
    pub(super) control: UnixStream,
    pub(super) folder: PathBuf,
    child: Child,
    heard: Vec<u8>,
}

impl Drop for Party {
    fn drop(&mut self) {
        // One that is gone needs no signal; it is reaped all the same.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Sees to it that no descriptor made from now on has a number that the programs will use for another:
/// what these numbers stand for is replaced in the new process.
pub(super) fn keep_low_numbers() -> Result<Vec<File>, Failure> {
    let mut kept = Vec::new();
    loop {
        let file = File::open("/dev/null").map_err(|error| failed("opening /dev/null", &error))?;
        if file.as_raw_fd() > OTHER {
            return Ok(kept);
        }
        kept.push(file);
    }
}

fn failed(what: &str, error: &io::Error) -> Failure {
    match Errno::from_io_error(error) {
        Some(errno) if exhausted(errno).is_some() => {
            harness_failure(FailureKind::SetUp, what, errno)
        }
        errno => {
            let errno = errno.map(Errno::raw_os_error);
            Failure { errno, ..Failure::new(FailureKind::SetUp, what) }
        }
    }
}

impl Party {
    /// Starts `program` as `role` on its CPU of `cpus`, with `other` as its way to the other party.
    pub(super) fn start(
        program: &Path,
        role: Role,
        cpus: Option<[u32; 2]>,
        other: UnixStream,
        folder: &Path,
    ) -> Result<Self, Failure> {
        let (control, theirs) = UnixStream::pair().map_err(|error| failed("socketpair", &error))?;
        let ends = [OwnedFd::from(theirs), OwnedFd::from(other)];
        let log = File::create(log(folder, role)).map_err(|e| failed("making a log", &e))?;
        let also = log.try_clone().map_err(|e| failed("making a log", &e))?;
        let cpu =
            cpus.map(|[sender, receiver]| if role == Role::Sender { sender } else { receiver });
        let mut command = Command::new(program);
        command.arg(role.name()).env("IPCPERF_PROTOCOL", PROTOCOL.to_string());
        command.stdin(Stdio::null()).stdout(log).stderr(also);
        let worker = getpid();
        // SAFETY: between fork and exec the closure makes system calls alone and allocates nothing.
        unsafe { command.pre_exec(move || become_party(worker, cpu, &ends)) };
        let child = command.spawn().map_err(|error| {
            let failure = failed(&format!("starting {}", program.display()), &error).by(role);
            if failure.transient { failure } else { failure.with_remedy(STARTABLE) }
        })?;
        Ok(Self { role, control, folder: folder.to_owned(), child, heard: Vec::new() })
    }

    /// Says `text`. Should nobody hear it, that is met where an answer is awaited.
    pub(super) fn tell(&mut self, text: &str) {
        let _ = self.control.write_all(text.as_bytes());
    }

    /// Reads what has come, and returns the answer that it completes.
    pub(super) fn hear(&mut self) -> Result<Option<Answer>, Met> {
        let mut piece = [0; 512];
        // One that resets the socket is as gone as one that closes it.
        let count = self.control.read(&mut piece).unwrap_or(0);
        if count == 0 {
            return Err(self.gone());
        }
        self.heard.extend_from_slice(&piece[..count]);
        let Some(end) = self.heard.iter().position(|&byte| byte == b'\n') else {
            if self.heard.len() > LONGEST_LINE {
                return Err(self.told(no_answer("said a line that has no end")));
            }
            return Ok(None);
        };
        let line: Vec<u8> = self.heard.drain(..=end).collect();
        talk::understand(&String::from_utf8_lossy(&line))
            .map(Some)
            .map_err(|complaint| self.told(complaint))
    }

    /// That it gave an answer out of its turn.
    pub(super) fn misplaced(&self) -> Met {
        self.told(no_answer("gave an answer to what it was not asked"))
    }

    fn told(&self, Complaint { what, words }: Complaint) -> Met {
        let role = self.role.name();
        let place = match what {
            FailureKind::SetUp => format!("the {role} refused: {words}"),
            FailureKind::Answer => format!("the {role} {words}"),
            _ => format!("the {role} said: {words}"),
        };
        let failure = Failure::new(what, place).by(self.role);
        let failure = if what == FailureKind::Answer { failure.with_remedy(PAGE) } else { failure };
        Met { cause: Cause::Told, failure }
    }

    /// That it says no more, and how it ended, where it did.
    fn gone(&mut self) -> Met {
        let role = self.role.name();
        let status = self.await_end();
        let signal = status.and_then(|status| status.signal());
        let (cause, what, place) = match (status, signal) {
            (None, _) => {
                let place = format!("the {role} closed descriptor {CONTROL} and went on");
                (Cause::Told, FailureKind::Answer, place)
            }
            (Some(_), Some(signal)) => {
                let cause = if signal == libc::SIGPIPE { Cause::Effect } else { Cause::Killed };
                (cause, FailureKind::Died, format!("the {role} was killed by signal {signal}"))
            }
            (Some(status), None) => {
                let code = status.code().unwrap_or_default();
                (Cause::Left, FailureKind::Died, format!("the {role} exited with status {code}"))
            }
        };
        let place = match last_words(&log(&self.folder, self.role)) {
            Some(words) => format!("{place}: {words}"),
            None => place,
        };
        // As where a party of ours is killed: from elsewhere.
        let transient = signal == Some(libc::SIGKILL);
        Met { cause, failure: Failure { transient, ..Failure::new(what, place) }.by(self.role) }
    }

    /// Waits a while for its end.
    pub(super) fn await_end(&mut self) -> Option<std::process::ExitStatus> {
        let end = Instant::now() + PATIENCE;
        loop {
            let status = self.child.try_wait().ok().flatten();
            if status.is_some() || Instant::now() > end {
                return status;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Its process, whose first thread has the same number.
    pub(super) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// What it has used so far.
    pub(super) fn books(&self) -> Option<Books> {
        Books::of(self.child.id())
    }

    /// What it used since `before`, and the calls that it counted.
    pub(super) fn usage(&self, before: Option<Books>, done: &Done) -> Result<RoleUsage, Failure> {
        let used = before.zip(self.books()).map(|(before, now)| before.until(&now));
        let role = self.role;
        used.map(|used| RoleUsage { role, calls: done.calls, ..used }).ok_or_else(|| {
            let place = format!("the {} left before it was dismissed", role.name());
            Failure::new(FailureKind::Died, place).by(role)
        })
    }
}

fn log(folder: &Path, role: Role) -> PathBuf {
    folder.join(format!("{}.log", role.name()))
}

/// The last line of what a program printed, which tells why it ended.
fn last_words(log: &Path) -> Option<String> {
    let mut log = File::open(log).ok()?;
    let tail = log.metadata().ok()?.len().saturating_sub(LONGEST_LINE as u64);
    let mut text = Vec::new();
    log.seek(SeekFrom::Start(tail)).ok()?;
    log.take(LONGEST_LINE as u64).read_to_end(&mut text).ok()?;
    let words = plain(String::from_utf8_lossy(&text).trim_end().lines().next_back()?);
    (!words.is_empty()).then_some(words)
}

/// In the new process: it dies with the worker, whatever happens, and stays on its CPU.
fn become_party(worker: Pid, cpu: Option<u32>, ends: &[OwnedFd; 2]) -> io::Result<()> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    if getppid() != Some(worker) {
        return Err(io::ErrorKind::NotFound.into());
    }
    restore_file_size();
    if let Some(cpu) = cpu {
        confine(&[cpu])?;
    }
    for (end, number) in ends.iter().zip([CONTROL, OTHER]) {
        // SAFETY: it takes two numbers; nothing of this process is at the second.
        if unsafe { libc::dup2(end.as_raw_fd(), number) } == -1 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}
