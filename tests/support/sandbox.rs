//! A separate folder for each test, in which the real binary runs. Its temporary files go there, and its leftovers can
//! be distinguished from those of other tests.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use ipcperf_engine::leftovers::RunNames;
use rustix::process::Signal;
use tempfile::TempDir;

use crate::processes;

/// Time limit against hangs: more than ten times what the longest command of a test takes while others keep one CPU
/// busy. No test depends on how long something takes within this limit.
pub(crate) const HANG: Duration = Duration::from_secs(1_800);
/// Time limit for events that happen by themselves: the start of a process, or the clean-up after a kill. They normally
/// take milliseconds, or seconds on a busy machine. Alternative endings are delayed by [`NEVER_S`].
pub(crate) const GRACE: Duration = Duration::from_secs(120);
/// Timeout, in seconds, of a run that must end in another way: longer than every limit here.
pub(crate) const NEVER_S: u64 = 36_000;
/// Timeout, in seconds, of a run that must end by itself: only a run that hangs reaches it.
const GENEROUS_S: u64 = 600;
/// Time for a worker whose command was killed to clean up, after a test has failed.
const CLEAN_UP: Duration = Duration::from_secs(20);

/// Variable that turns noise detection off: tests of a few runs must not depend on other load.
const KEEP_DISTURBED: &str = "IPCPERF_KEEP_DISTURBED";

/// Restores the default action of signals that are ignored if the tests run in the background of a shell or under
/// `nohup`: the command would keep ignoring them.
fn take_signals_as_ever() -> io::Result<()> {
    for signal in [libc::SIGINT, libc::SIGQUIT, libc::SIGHUP] {
        // SAFETY: no handler is involved.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
    Ok(())
}

/// A private folder in which the command runs.
pub(crate) struct Sandbox {
    folder: TempDir,
    /// Number of commands started here. Each has its own files for output: threads of a test may share a sandbox.
    started: AtomicU64,
}

/// A running command.
pub(crate) struct Started {
    child: Child,
    stdout: PathBuf,
    stderr: PathBuf,
}

/// A command that has ended.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) status: ExitStatus,
    /// CPU time of the command and of the children that it waited for. Unlike elapsed time, it does not depend on other
    /// load.
    pub(crate) cpu_time: Duration,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Sandbox {
    pub(crate) fn open() -> Self {
        let folder = tempfile::tempdir().expect("a folder for temporary files");
        for name in ["tmp", "data"] {
            fs::create_dir(folder.path().join(name)).expect("a folder inside");
        }
        Self { folder, started: AtomicU64::new(0) }
    }

    /// Returns the path of `name` in the folder.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Copies the command to the file `name` in the folder, and returns its path.
    ///
    /// Another process writes the file: a process that another test thread forks meanwhile would inherit a descriptor
    /// for writing from this one, and a file cannot be executed while such a descriptor is open (`ETXTBSY`).
    pub(crate) fn copy_command(&self, name: &str) -> PathBuf {
        let copy = self.path(name);
        let made = Command::new("cp").arg(env!("CARGO_BIN_EXE_ipcperf")).arg(&copy).status();
        assert!(made.is_ok_and(|status| status.success()), "no copy at {}", copy.display());
        copy
    }

    /// Writes the executable script `text` to the file `name` in the folder, and returns its path. Another process
    /// writes it, as in [`Sandbox::copy_command`].
    pub(crate) fn write_script(&self, name: &str, text: &str) -> PathBuf {
        let script = self.path(name);
        let mut shell = Command::new("sh");
        shell.args(["-c", "printf %s \"$1\" >\"$0\" && chmod 755 \"$0\""]).arg(&script).arg(text);
        assert!(shell.status().is_ok_and(|status| status.success()), "no script {name}");
        script
    }

    /// Returns the path of the results of [`Sandbox::measuring`].
    pub(crate) fn results(&self) -> PathBuf {
        self.path("results.jsonl")
    }

    /// Returns the command with `arguments`, separated by spaces.
    pub(crate) fn command(&self, arguments: &str) -> Command {
        self.place(Command::new(env!("CARGO_BIN_EXE_ipcperf")), arguments)
    }

    /// Returns the same with noise detection, the default for users: runs may be excluded and retried, so a test must
    /// not rely on a particular run.
    pub(crate) fn detecting_noise(&self, arguments: &str) -> Command {
        let mut command = self.command(arguments);
        command.env_remove(KEEP_DISTURBED);
        command
    }

    /// Returns `program` with `arguments`, in this folder and without noise detection.
    pub(crate) fn place(&self, mut program: Command, arguments: &str) -> Command {
        program
            .args(arguments.split_whitespace())
            .env("TMPDIR", self.path("tmp"))
            .env("XDG_DATA_HOME", self.path("data"))
            .env(KEEP_DISTURBED, "1")
            .env("XDG_STATE_HOME", self.path("state"))
            .env("IPCPERF_KEEP_JOURNALS", "1")
            .env_remove("XDG_RUNTIME_DIR")
            .env_remove("COLUMNS")
            .stdin(Stdio::null());
        // SAFETY: between fork and exec the closure only makes system calls and allocates nothing.
        unsafe { program.pre_exec(take_signals_as_ever) };
        program
    }

    /// Returns `ipcperf run` with `arguments`, with results in [`Sandbox::results`]. Each run is made once, with a
    /// generous timeout.
    pub(crate) fn measuring(&self, arguments: &str) -> Command {
        let mut command = self.command("run --force --attempts 1 --out");
        command.arg(self.results()).args(with_time(arguments).split_whitespace());
        command
    }

    /// Starts `command` with its output in files, so that it never waits for a reader.
    pub(crate) fn start(&self, mut command: Command) -> Started {
        let number = self.started.fetch_add(1, Ordering::Relaxed);
        let output = |name: &str| self.path(&format!("{name}-{number}"));
        let (stdout, stderr) = (output("stdout"), output("stderr"));
        let file = |path: &Path| File::create(path).expect("a file for output");
        command.stdout(file(&stdout)).stderr(file(&stderr));
        let child = command.spawn().expect("the command starts");
        Started { child, stdout, stderr }
    }

    /// Starts `ipcperf run` with `arguments` and waits until it has measured the hardware limits and is about to make
    /// runs.
    pub(crate) fn begin(&self, arguments: &str) -> Started {
        let command = self.start(self.measuring(arguments));
        let header = || fs::read_to_string(self.results()).is_ok_and(|text| text.contains('\n'));
        processes::wait_for("header", HANG, || header().then_some(()));
        command
    }

    /// Runs `command` until it ends.
    pub(crate) fn finish(&self, command: Command) -> Finished {
        self.start(command).finish(HANG)
    }

    /// Runs the command with `arguments` until it ends.
    pub(crate) fn run(&self, arguments: &str) -> Finished {
        self.finish(self.command(arguments))
    }

    /// Returns the environment entry that identifies processes of this folder.
    fn mark(&self) -> String {
        format!("TMPDIR={}", self.path("tmp").display())
    }

    /// Asserts that nothing is left of what ran here: no process, and no name among temporary files, in shared memory,
    /// in the abstract namespace or among System V objects. Pending clean-up gets [`GRACE`].
    pub(crate) fn assert_nothing_left(&self) {
        let end = Instant::now() + processes::patience(GRACE);
        loop {
            let left = self.leftovers();
            if left.is_empty() {
                return;
            }
            assert!(Instant::now() < end, "left behind: {left:?}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    fn leftovers(&self) -> Vec<String> {
        let processes = processes::with_environment(&self.mark());
        let mut left: Vec<String> = processes.iter().map(|pid| format!("process {pid}")).collect();
        left.extend(names_in(&self.path("tmp")).into_iter().map(|name| format!("file {name}")));
        left.extend(self.names_left());
        left
    }

    /// Returns the folder in which commands write their journals.
    pub(crate) fn journals(&self) -> PathBuf {
        self.path("state/ipcperf")
    }

    /// Returns the names of the runs made here, as far as their journals exist.
    fn runs(&self) -> Vec<RunNames> {
        let journals = names_in(&self.journals());
        let texts =
            journals.iter().filter_map(|name| fs::read_to_string(self.journals().join(name)).ok());
        let texts = texts.collect::<Vec<_>>().join("\n");
        texts.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    /// Returns the random part of the names of each run made here, in no particular order.
    pub(crate) fn tokens(&self) -> Vec<String> {
        self.runs().iter().map(|names| names.token().to_string()).collect()
    }

    /// Returns the objects that exist under the names of runs made here.
    pub(crate) fn names_left(&self) -> Vec<String> {
        let runs = self.runs();
        let queues = runs.iter().flat_map(RunNames::existing).map(|one| one.to_string());
        let mut left: Vec<String> = queues.collect();
        let tokens: Vec<String> = self.tokens();
        let is_ours = |name: &String| tokens.iter().any(|token| name.contains(token));
        left.extend(names_in(Path::new("/dev/shm")).into_iter().filter(is_ours));
        left.extend(sockets().into_iter().filter(is_ours));
        let keys: BTreeSet<i32> =
            runs.iter().flat_map(|names| names.token().system_v_keys()).collect();
        let objects = system_v().into_iter().filter(|(_, key)| keys.contains(key));
        left.extend(objects.map(|(kind, key)| format!("{kind} with key {key}")));
        left
    }
}

impl Drop for Sandbox {
    /// Removes everything that a failed test left behind and that would disturb other tests. Its command has ended by
    /// now, and remaining processes get time to clean up.
    fn drop(&mut self) {
        if !std::thread::panicking() {
            return;
        }
        let living = || processes::with_environment(&self.mark());
        processes::find_within(CLEAN_UP, || living().is_empty().then_some(()));
        for pid in living() {
            processes::signal(pid, Signal::KILL);
        }
        for names in self.runs() {
            names.remove();
        }
    }
}

impl Started {
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits for its end, which must come within `limit`, scaled for emulators.
    pub(crate) fn finish(mut self, limit: Duration) -> Finished {
        let ended = processes::ends_within(self.id(), processes::patience(limit));
        assert!(ended, "the command did not end within {limit:?}");
        // Before the wait, which discards the figures of the process.
        let cpu_time = processes::cpu_time(self.id());
        let status = self.child.wait().expect("the command can be waited for");
        let text = |path| fs::read_to_string(path).expect("output is text");
        Finished { status, cpu_time, stdout: text(&self.stdout), stderr: text(&self.stderr) }
    }
}

impl Drop for Started {
    /// Kills a command that is still running.
    fn drop(&mut self) {
        if let Ok(None) = self.child.try_wait() {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

impl Finished {
    /// Returns the exit code in the notation of a shell: 128 plus the number of the signal that it died of.
    pub(crate) fn code(&self) -> Option<i32> {
        self.status.code().or_else(|| self.status.signal().map(|number| 128 + number))
    }

    /// Asserts the exit code, in the notation of a shell.
    pub(crate) fn expect(self, code: i32) -> Self {
        assert_eq!(self.code(), Some(code), "{:?}: {}", self.status, self.stderr);
        self
    }
}

/// Returns the arguments of a run with a generous timeout, unless they set one.
pub(crate) fn with_time(arguments: &str) -> String {
    if arguments.contains("--timeout") {
        return arguments.to_owned();
    }
    format!("{arguments} --timeout {GENEROUS_S}")
}

fn names_in(folder: &Path) -> BTreeSet<String> {
    let Ok(entries) = fs::read_dir(folder) else {
        return BTreeSet::new();
    };
    entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

/// Returns the names of Unix sockets: paths and abstract names.
fn sockets() -> Vec<String> {
    let table = fs::read_to_string("/proc/net/unix").expect("the table of Unix sockets");
    let names = table.lines().filter_map(|line| line.split_whitespace().nth(7));
    names.map(str::to_owned).collect()
}

/// Returns the kind and key of every System V object.
fn system_v() -> Vec<(&'static str, i32)> {
    let of_kind = |kind| {
        let table = fs::read_to_string(format!("/proc/sysvipc/{kind}")).unwrap_or_default();
        let keys =
            table.lines().skip(1).filter_map(|line| line.split_whitespace().next()?.parse().ok());
        keys.map(|key| (kind, key)).collect::<Vec<_>>()
    };
    ["msg", "sem", "shm"].into_iter().flat_map(of_kind).collect()
}
