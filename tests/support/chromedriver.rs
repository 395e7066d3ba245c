//! A chromedriver process for each browser: started on a free port, controlled with JSON over HTTP, and ended with all
//! its children.

use std::fs::{self, File};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::Value;
use tempfile::TempDir;
use ureq::Agent;

use crate::processes;

/// Time limit, far longer than any browser action takes on a busy machine.
const HANG: Duration = Duration::from_secs(600);
/// Time limit for the start on a busy machine, and maximum number of attempts.
const START: Duration = Duration::from_secs(180);
const ATTEMPTS: usize = 4;
/// Maximum size of an answer; a screenshot of a long page has a few MB.
const LONGEST_ANSWER_BYTES: u64 = 256 << 20;

/// A running chromedriver, and the folder for its files and those of the browser.
pub(crate) struct Chromedriver {
    process: Child,
    folder: TempDir,
    agent: Agent,
    port: u16,
}

/// Returns the name of a required program that is missing.
pub(crate) fn missing() -> Option<&'static str> {
    let needed = ["chromium", "chromedriver", "setpriv"];
    needed.into_iter().find(|program| find(program).is_none())
}

/// Returns the path of `program` in `PATH`.
pub(crate) fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(program)).find(|path| path.is_file())
}

impl Chromedriver {
    /// Starts a chromedriver. It picks a port and listens on it for IPv4 and IPv6 in turn; if the port is taken
    /// meanwhile, another attempt is made.
    pub(crate) fn start() -> Self {
        let mut said = Vec::new();
        for _ in 0..ATTEMPTS {
            match Self::attempt() {
                Ok(driver) => return driver,
                Err(why) => said.push(why),
            }
        }
        panic!("no chromedriver listens: {said:?}");
    }

    /// Starts a chromedriver, or returns its error output.
    fn attempt() -> Result<Self, String> {
        let folder = tempfile::tempdir().expect("a folder for the browser");
        let said = folder.path().join("chromedriver.log");
        let mut command = command(folder.path());
        let output = File::create(&said).expect("a file for output");
        command.stderr(output.try_clone().expect("a second descriptor")).stdout(output);
        let process = command.spawn().expect("chromedriver starts");
        let mut driver = Self { process, folder, agent: agent(), port: 0 };
        let port = processes::find_within(START, || {
            let ended = driver.process.try_wait().expect("the state of a child").is_some();
            port(&said).map(Some).or(ended.then_some(None))
        });
        driver.port = port.flatten().ok_or_else(|| {
            let said = fs::read_to_string(&said).unwrap_or_default();
            format!("{:?}: {said}", driver.process.try_wait())
        })?;
        Ok(driver)
    }

    /// Returns the folder for its files and those of the browser.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Sends `body` to `path` and returns the value of the answer.
    pub(crate) fn post(&self, path: &str, body: &Value) -> Value {
        let request = self.agent.post(self.address(path)).content_type("application/json");
        let answer = request.send(body.to_string());
        let mut answer = answer.unwrap_or_else(|error| panic!("{path}: {error}"));
        let text = answer.body_mut().with_config().limit(LONGEST_ANSWER_BYTES).read_to_string();
        let text = text.unwrap_or_else(|error| panic!("{path}: {error}"));
        let mut answer: Value = serde_json::from_str(&text).expect("chromedriver answers in JSON");
        let value = answer["value"].take();
        assert!(value["error"].is_null(), "{path}: {}: {}", value["error"], value["message"]);
        value
    }

    /// Deletes the object at `path`; it may be gone already.
    pub(crate) fn delete(&self, path: &str) {
        let _ = self.agent.delete(self.address(path)).call();
    }

    fn address(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}/{path}", self.port)
    }

    fn followers(&self) -> Vec<u32> {
        followers(self.folder.path())
    }
}

impl Drop for Chromedriver {
    fn drop(&mut self) {
        let followers = self.followers();
        if let Some(group) = i32::try_from(self.process.id()).ok().and_then(Pid::from_raw) {
            let _ = kill_process_group(group, Signal::KILL);
        }
        for pid in followers {
            processes::signal(pid, Signal::KILL);
        }
        let _ = self.process.wait();
        // Remaining processes would write into the folder that is about to be deleted.
        processes::wait_for("end of the browser", HANG, || {
            self.followers().is_empty().then_some(())
        });
    }
}

/// Returns the command line. chromedriver dies with the thread that starts it, so that an interrupted test leaves no
/// browser behind.
fn command(folder: &Path) -> Command {
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "KILL", "chromedriver", "--port=0"]);
    for variable in ["HOME", "TMPDIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"] {
        command.env(variable, folder);
    }
    command.stdin(Stdio::null()).process_group(0);
    command
}

/// Returns the processes of the driver with its files in `folder`, including those of the browser. Crash handlers leave
/// the process group, so processes are identified by their environment.
pub(crate) fn followers(folder: &Path) -> Vec<u32> {
    processes::with_environment(&format!("XDG_CACHE_HOME={}", folder.display()))
}

/// Returns the port that it reports.
fn port(said: &Path) -> Option<u16> {
    let said = fs::read_to_string(said).ok()?;
    let (_, port) = said.split_once("started successfully on port ")?;
    port.split_once('.')?.0.parse().ok()
}

/// Ignores proxy settings of the environment: chromedriver is on this machine.
fn agent() -> Agent {
    let config = Agent::config_builder().proxy(None).http_status_as_error(false);
    config.timeout_global(Some(HANG)).build().into()
}
