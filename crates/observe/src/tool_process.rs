//! An external tool that is started, attached to the peers, and ended after the run.
//!
//! The tool writes to unnamed files in memory, so it never waits for a reader, and ipcperf sleeps during the run. It
//! has a separate process group, so that Ctrl-C reaches only ipcperf, and it dies with the thread that started it.
//! Processes that the tool has started die with ipcperf.

use std::fs::File;
use std::io::{self, ErrorKind, Seek};
use std::os::unix::fs::FileExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use ipcperf_model::Unavailable;
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::process::{
    Pid, Resource, Rlimit, Signal, getpid, getppid, kill_process, set_parent_process_death_signal,
    setrlimit,
};

use crate::group_reaper::GroupReaper;

/// Polling interval while a tool attaches or ends. No run is in progress then.
const POLL_INTERVAL: Duration = Duration::from_millis(2);
/// Time after which a tool is asked again to end: bpftrace misses a signal that arrives while it is not sleeping, and
/// strace one that arrives just before it sleeps.
const SIGTERM_INTERVAL: Duration = Duration::from_millis(200);
/// Maximum length of a tool's last message that is passed on, characters.
const MAX_MESSAGE_CHARS: usize = 200;

/// A tool that can be started.
#[derive(Debug)]
pub(crate) struct Tool {
    /// File name of the program.
    pub(crate) program: &'static str,
    /// Argument that makes it print its version.
    pub(crate) version_argument: &'static str,
    /// Returns a remedy for the given error message of the tool.
    pub(crate) remedy: fn(&str) -> &'static str,
    /// Maximum size of its output, bytes: the output is in memory.
    pub(crate) max_output_bytes: u64,
    /// Maximum time for the tool to attach, and to end.
    pub(crate) timeout: Duration,
}

/// A running tool. Dropping it kills the tool and everything it has started.
#[derive(Debug)]
pub(crate) struct ToolProcess {
    tool: &'static Tool,
    reaper: GroupReaper,
    child: Child,
    out: File,
    err: File,
}

/// Output of a tool so far.
#[derive(Debug)]
pub(crate) struct ToolOutput {
    /// Standard output.
    pub(crate) out: String,
    /// Standard error.
    pub(crate) err: String,
}

impl Tool {
    /// Starts the tool.
    pub(crate) fn start(
        &'static self,
        arguments: &[String],
        environment: &[(&str, &str)],
    ) -> Result<ToolProcess, Unavailable> {
        let started = GroupReaper::start().and_then(|reaper| {
            let (child, [out, err]) = self.spawn(arguments, environment, reaper.group())?;
            Ok(ToolProcess { tool: self, reaper, child, out, err })
        });
        started.map_err(|error| self.not_started(&error))
    }

    /// Returns the first line of its version output.
    pub(crate) fn version(&'static self) -> Result<String, Unavailable> {
        let mut tool = self.start(&[self.version_argument.to_owned()], &[])?;
        tool.wait_for_end(|_| ())?;
        let output = tool.output();
        Ok(output.out.lines().next().unwrap_or_default().trim().to_owned())
    }

    fn spawn(
        &self,
        arguments: &[String],
        environment: &[(&str, &str)],
        group: Pid,
    ) -> io::Result<(Child, [File; 2])> {
        let memory_file =
            || Ok::<_, io::Error>(File::from(memfd_create(self.program, MemfdFlags::CLOEXEC)?));
        let (out, err) = (memory_file()?, memory_file()?);
        let (parent, max_bytes) = (getpid(), self.max_output_bytes);
        let mut command = Command::new(self.program);
        command.args(arguments).envs(environment.iter().copied());
        command.process_group(group.as_raw_nonzero().get());
        command.stdin(Stdio::null()).stdout(out.try_clone()?).stderr(err.try_clone()?);
        // SAFETY: between fork and exec the closure makes system calls only, and does not allocate.
        unsafe { command.pre_exec(move || prepare_child(parent, max_bytes)) };
        Ok((command.spawn()?, [out, err]))
    }

    fn not_started(&self, error: &io::Error) -> Unavailable {
        let program = self.program;
        if error.kind() == ErrorKind::NotFound {
            let reason = format!("{program} is not in PATH");
            return Unavailable { reason, remedy: format!("install {program}") };
        }
        let remedy = format!("check that {program} can be started");
        Unavailable { reason: format!("cannot start {program}: {error}"), remedy }
    }
}

/// Whether `status` is that of a tool which exits by the signal that asked it to end, as strace does.
fn is_sigterm_exit(status: ExitStatus) -> bool {
    status.signal() == Some(libc::SIGTERM) || status.code() == Some(128 + libc::SIGTERM)
}

/// Makes the forked process, before it executes the tool, die with its parent, and limits the size of its files.
fn prepare_child(parent: Pid, max_bytes: u64) -> io::Result<()> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    if getppid() != Some(parent) {
        return Err(io::Error::from_raw_os_error(libc::ESRCH));
    }
    // SAFETY: no handler is installed. ipcperf may have inherited SIGXFSZ as ignored; the default action ends a tool
    // that writes too much.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_DFL) };
    let limit = Rlimit { current: Some(max_bytes), maximum: Some(max_bytes) };
    Ok(setrlimit(Resource::Fsize, limit)?)
}

impl ToolProcess {
    /// Waits until `is_ready` accepts the tool's output. `is_ready` is called repeatedly.
    pub(crate) fn wait_until(
        &mut self,
        mut is_ready: impl FnMut(&ToolOutput) -> bool,
    ) -> Result<(), Unavailable> {
        let end = Instant::now() + self.tool.timeout;
        loop {
            // The status first: a tool may report that it is ready and end before the next line is reached.
            let status = self.status()?;
            if is_ready(&self.output()) {
                return Ok(());
            }
            if let Some(status) = status {
                return Err(self.attach_error(status));
            }
            if Instant::now() > end {
                return Err(self.timed_out("attach"));
            }
            sleep(POLL_INTERVAL);
        }
    }

    /// Asks the tool to end, unless it has ended because the processes it observed are gone. Returns its standard
    /// output.
    pub(crate) fn terminate(mut self) -> Result<File, Unavailable> {
        let early_status = self.status()?;
        let status = match early_status {
            Some(status) => status,
            None => self.wait_for_end(Self::send_sigterm)?,
        };
        if !(status.success() || early_status.is_none() && is_sigterm_exit(status)) {
            return Err(self.early_exit(status));
        }
        let mut out = self.out.try_clone().map_err(|error| self.tool.not_started(&error))?;
        out.rewind().map_err(|error| self.tool.not_started(&error))?;
        Ok(out)
    }

    /// Sends SIGTERM rather than SIGINT: SIGTERM may be repeated while bpftrace prints, while SIGINT would cut its
    /// output off.
    fn send_sigterm(&self) {
        // The process has not been reaped yet, so its ID is still valid. If it ends at this moment, that is fine too.
        let _ = kill_process(self.pid(), Signal::TERM);
    }

    /// Returns the process ID of the tool.
    pub(crate) fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    fn status(&mut self) -> Result<Option<ExitStatus>, Unavailable> {
        self.child.try_wait().map_err(|error| self.tool.not_started(&error))
    }

    /// Waits until the tool ends, and calls `ask` at intervals.
    fn wait_for_end(&mut self, request_end: impl Fn(&Self)) -> Result<ExitStatus, Unavailable> {
        let mut again = Instant::now();
        let end = again + self.tool.timeout;
        while Instant::now() < end {
            if let Some(status) = self.status()? {
                return Ok(status);
            }
            if Instant::now() >= again {
                request_end(self);
                again += SIGTERM_INTERVAL;
            }
            sleep(POLL_INTERVAL);
        }
        Err(self.timed_out("end"))
    }

    fn output(&self) -> ToolOutput {
        ToolOutput { out: read_start(&self.out), err: read_start(&self.err) }
    }

    fn last_message(&self) -> String {
        let output = self.output();
        let last =
            |text: &str| text.lines().rfind(|line| !line.trim().is_empty()).map(str::to_owned);
        let message =
            error_message(&output.err).or_else(|| last(&output.err)).or_else(|| last(&output.out));
        message.unwrap_or_default().trim().chars().take(MAX_MESSAGE_CHARS).collect()
    }

    fn attach_error(&self, status: ExitStatus) -> Unavailable {
        let message = self.last_message();
        if message.is_empty() {
            return self.early_exit(status);
        }
        let remedy = (self.tool.remedy)(&message).to_owned();
        Unavailable { reason: message, remedy }
    }

    fn early_exit(&self, status: ExitStatus) -> Unavailable {
        let (program, message) = (self.tool.program, self.last_message());
        if status.signal() == Some(libc::SIGXFSZ) {
            let reason = format!("{program} wrote more than {} bytes", self.tool.max_output_bytes);
            return Unavailable {
                reason,
                remedy: "transfer fewer messages, with a smaller --total".to_owned(),
            };
        }
        let reason = format!("{program} ended unexpectedly: {status}");
        let reason = if message.is_empty() { reason } else { format!("{reason}: {message}") };
        Unavailable { reason, remedy: "repeat the run".to_owned() }
    }

    fn timed_out(&self, what: &str) -> Unavailable {
        let (program, seconds) = (self.tool.program, self.tool.timeout.as_secs());
        let reason = format!("{program} did not {what} within {seconds} s");
        Unavailable { reason, remedy: "repeat the run when the machine is less busy".to_owned() }
    }
}

/// Returns the text after the last `ERROR:`; the lines that follow it only show the position in the script.
fn error_message(stderr: &str) -> Option<String> {
    stderr.lines().rev().find_map(|line| Some(line.split_once("ERROR: ")?.1.to_owned()))
}

impl Drop for ToolProcess {
    fn drop(&mut self) {
        // If a seccomp filter refuses the signal, the tool lives until ipcperf exits, so it must not be waited for.
        if self.reaper.kill().is_ok() {
            // Fails only if the tool is already gone.
            let _ = self.child.wait();
        }
    }
}

/// Whether no process `pid` exists, not even one that waits to be reaped.
#[cfg(test)]
pub(crate) fn is_gone(pid: Pid) -> bool {
    rustix::process::test_kill_process(pid).is_err()
}

/// Returns the first 64 KiB of `file`. It is called while a tool attaches and has written little.
fn read_start(file: &File) -> String {
    let mut bytes = vec![0; 64 << 10];
    let length = file.read_at(&mut bytes, 0).unwrap_or(0);
    String::from_utf8_lossy(&bytes[..length]).into_owned()
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::sync::LazyLock;

    use super::*;

    const SHELL: Tool = Tool {
        program: "sh",
        version_argument: "-c",
        remedy: |_| "change the script",
        max_output_bytes: 1 << 20,
        timeout: Duration::from_secs(300),
    };

    /// The shell with a short timeout, sufficient for a script that reports at once that it is ready. The timeout is
    /// multiplied by `IPCPERF_TIMES_SLOWER`, for emulators.
    static SHORT_TIMEOUT: LazyLock<Tool> = LazyLock::new(|| {
        let factor = std::env::var("IPCPERF_TIMES_SLOWER");
        let factor = factor.map_or(1, |text| text.parse().expect("IPCPERF_TIMES_SLOWER"));
        Tool { timeout: Duration::from_secs(3) * factor, ..SHELL }
    });

    fn start(script: &str) -> ToolProcess {
        started(&SHELL, script)
    }

    fn started(tool: &'static Tool, script: &str) -> ToolProcess {
        tool.start(&["-c".to_owned(), script.to_owned()], &[("WORD", "ready")]).unwrap()
    }

    fn ready(said: &ToolOutput) -> bool {
        said.out.contains("ready")
    }

    #[test]
    fn it_is_waited_for_ended_and_read() {
        let mut tool = start(
            "sleep 0.05; trap 'echo over; exit 0' TERM; echo $WORD; while :; do sleep 0.01; done",
        );
        let pid = tool.pid();
        tool.wait_until(ready).unwrap();
        let mut text = String::new();
        tool.terminate().unwrap().read_to_string(&mut text).unwrap();
        assert_eq!(text, "ready\nover\n");
        assert!(is_gone(pid));
    }

    #[test]
    fn what_ends_early_is_refused_in_its_own_last_words() {
        let mut tool = start("echo first >&2; echo 'not today' >&2; exit 3");
        let refusal = tool.wait_until(ready).unwrap_err();
        assert_eq!(
            (refusal.reason.as_str(), refusal.remedy.as_str()),
            ("not today", "change the script")
        );
        let mut tool =
            start("printf 'stdin:1: ERROR: no such call\\nread x\\n~~~~\\n' >&2; exit 1");
        assert_eq!(tool.wait_until(ready).unwrap_err().reason, "no such call");
        let refusal = start("kill -9 $$").wait_until(ready).unwrap_err();
        assert!(refusal.reason.contains("signal: 9"), "{refusal}");
    }

    #[test]
    fn what_never_attaches_or_never_ends_is_not_waited_for_long() {
        let mut tool = started(&SHORT_TIMEOUT, "exec sleep 3600");
        let pid = tool.pid();
        let refusal = tool.wait_until(ready).unwrap_err();
        assert!(refusal.reason.contains("did not attach"), "{refusal}");
        drop(tool);
        assert!(is_gone(pid));
        let script = "trap '' TERM; echo ready; while :; do sleep 0.01; done";
        let mut tool = started(&SHORT_TIMEOUT, script);
        let pid = tool.pid();
        tool.wait_until(ready).unwrap();
        let refusal = tool.terminate().unwrap_err();
        assert!(refusal.reason.contains("did not end"), "{refusal}");
        assert!(is_gone(pid));
    }

    #[test]
    fn what_misses_a_signal_gets_another() {
        let script = "trap 'test $missed && exit 0; missed=1' TERM; echo ready; while :; do sleep 0.01; done";
        let mut tool = start(script);
        tool.wait_until(ready).unwrap();
        assert!(tool.terminate().is_ok());
    }

    #[test]
    fn it_writes_no_more_than_it_may() {
        let mut tool = start("echo ready; exec head -c 2000000 /dev/zero");
        tool.wait_until(ready).unwrap();
        let _ = tool.wait_for_end(|_| ());
        let refusal = tool.terminate().unwrap_err();
        assert!(refusal.reason.contains("more than 1048576 bytes"), "{refusal}");
    }

    #[test]
    fn it_dies_with_the_thread_that_started_it() {
        let mut tool = std::thread::spawn(|| start("exec sleep 3600")).join().unwrap();
        let status = tool.wait_for_end(|_| ()).unwrap();
        assert_eq!(status.signal(), Some(libc::SIGKILL));
    }

    /// Returns the process that `tool` reports to have started.
    fn started_by(tool: &ToolProcess) -> Pid {
        let said = tool.output().out;
        Pid::from_raw(said.lines().next().unwrap().parse().unwrap()).unwrap()
    }

    /// Whether `pid`, which another process has to reap, disappears within the timeout.
    fn disappears(pid: Pid) -> bool {
        let end = Instant::now() + SHELL.timeout;
        while !is_gone(pid) && Instant::now() < end {
            sleep(POLL_INTERVAL);
        }
        is_gone(pid)
    }

    #[test]
    fn what_it_has_started_goes_with_it_and_with_the_command() {
        let script = "sleep 3600 & echo $!; echo ready; exec sleep 3600";
        let mut tool = start(script);
        tool.wait_until(ready).unwrap();
        let started = started_by(&tool);
        drop(tool);
        assert!(disappears(started));
        let mut tool = start(script);
        tool.wait_until(ready).unwrap();
        let started = started_by(&tool);
        tool.reaper.close_stdin();
        assert!(disappears(started));
        assert_eq!(tool.wait_for_end(|_| ()).unwrap().signal(), Some(libc::SIGKILL));
    }

    #[test]
    fn what_is_not_there_is_to_be_installed() {
        const MISSING_TOOL: Tool = Tool { program: "ipcperf-no-such-tool", ..SHELL };
        let refusal = MISSING_TOOL.version().unwrap_err();
        assert!(refusal.reason.contains("PATH"), "{refusal}");
        assert_eq!(refusal.remedy, "install ipcperf-no-such-tool");
    }
}
