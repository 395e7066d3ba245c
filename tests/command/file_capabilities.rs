//! An executable with file capabilities (`setcap`), run by a user without any: the capabilities are for the instruments
//! and reach no code that the user names. Only root can create such a file.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::fs::{XattrFlags, setxattr};
use rustix::process::geteuid;

use crate::caller_environment::give_to_user;
use crate::custom::{SHARED, compile};
use crate::results::{ResultsFile, lines, text};
use crate::sandbox::{Finished, Sandbox, with_time};
use crate::skip::skip;

/// An unprivileged user.
const USER: u32 = 1_000;
const CAP_SYSLOG: u32 = 34;
const CAP_PERFMON: u32 = 38;
const CAP_BPF: u32 = 39;

/// The command as a file with capabilities, in a folder of `USER`.
struct Granting {
    sandbox: Sandbox,
    program: PathBuf,
}

impl Granting {
    /// Creates the file; `None` if this user or this file system cannot.
    fn open() -> Option<Self> {
        let what = "a file with capabilities";
        if !geteuid().is_root() {
            skip(what, "only root can make one");
            return None;
        }
        let sandbox = Sandbox::open();
        let program = give_to_user(&sandbox, USER);
        let granted = grant(&program, &[CAP_BPF, CAP_PERFMON, CAP_SYSLOG]);
        let granting = Self { sandbox, program };
        let gives = granted.is_ok() && granting.gives();
        if !gives {
            skip(what, &format!("this file system has none: {granted:?}"));
        }
        gives.then_some(granting)
    }

    /// Whether the kernel grants the capabilities of the file: it does not if the file system is mounted `nosuid`.
    fn gives(&self) -> bool {
        let machine = self.run("machine --json").expect(0).stdout;
        let machine: serde_json::Value = serde_json::from_str(&machine).expect("an object");
        !machine.to_string().contains("\"capabilities\":\"0000000000000000\"")
    }

    fn run(&self, arguments: &str) -> Finished {
        let mut command = Command::new(&self.program);
        command.uid(USER).gid(USER);
        self.sandbox.finish(self.sandbox.place(command, arguments))
    }

    fn measure(&self, arguments: &str) -> Finished {
        let out = self.results();
        let arguments = with_time(&format!("run --force --attempts 1 {arguments}"));
        self.run(&format!("{arguments} --out {}", out.display()))
    }

    fn results(&self) -> PathBuf {
        self.sandbox.path("data/results.jsonl")
    }

    /// Returns what each process that ran code of the user has recorded.
    fn seen(&self) -> Vec<String> {
        fs::read_to_string(self.seen_at()).unwrap_or_default().lines().map(str::to_owned).collect()
    }

    fn seen_at(&self) -> PathBuf {
        self.sandbox.path("data/seen")
    }
}

/// Sets `capabilities` of the file at `path`, permitted and effective, as `struct vfs_cap_data` of revision 2.
fn grant(path: &Path, capabilities: &[u32]) -> rustix::io::Result<()> {
    let bits = capabilities.iter().fold(0_u64, |bits, number| bits | 1 << number);
    let [revision_2, effective] = [0x0200_0000_u32, 1];
    let words = [revision_2 | effective, half(bits), 0, half(bits >> 32), 0];
    let value: Vec<u8> = words.into_iter().flat_map(u32::to_le_bytes).collect();
    setxattr(path, "security.capability", &value, XattrFlags::empty())
}

fn half(bits: u64) -> u32 {
    u32::try_from(bits & u64::from(u32::MAX)).expect("32 bits")
}

/// Compiles `c` into `name`; `None` if there is no compiler.
fn compiled(granting: &Granting, name: &str, c: &str, flags: &[&str]) -> Option<String> {
    let [source, to] = [format!("{name}.c"), name.to_owned()].map(|n| granting.sandbox.path(&n));
    let spy = SPY.replace("SEEN", &granting.seen_at().display().to_string());
    fs::write(&source, format!("{spy}\n{c}")).expect("a source");
    let made = compile(&source, &to, flags);
    if made.is_none() {
        skip(name, "there is no cc");
    }
    made.map(|()| to.display().to_string())
}

/// Records the capabilities of the calling process.
const SPY: &str = r#"
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "ipcperf.h"
__attribute__((constructor)) static void spy(void) {
    char text[8192];
    int from = open("/proc/self/status", O_RDONLY), to = open("SEEN", O_WRONLY | O_CREAT | O_APPEND, 0644);
    ssize_t length = read(from, text, sizeof text - 1);
    text[length > 0 ? length : 0] = 0;
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
        if (!strncmp(line, "Cap", 3) && strncmp(line, "CapBnd", 6)) dprintf(to, "%s\n", line);
}
"#;

/// Refuses to open: being loaded is enough for the test.
const LIBRARY: &str = r#"
static int o(const struct ipcperf_setup *s, void *e[2], uint64_t *g, char *w, size_t n)
{ (void)s; (void)e; (void)g; snprintf(w, n, "not today"); return -5; }
static ssize_t t(void *e, const void *b, size_t n) { (void)e; (void)b; return (ssize_t)n; }
static ssize_t r(void *e, void *b, size_t n) { (void)e; (void)b; return (ssize_t)n; }
static void c(void *e) { (void)e; }
const struct ipcperf_mechanism *ipcperf_mechanism(void)
{ static struct ipcperf_mechanism m = { IPCPERF_ABI, 0, 0, o, 0, t, r, c, 0 }; return &m; }
"#;

/// Returns the reason why `name` is not available in the output of `list --json`; `None` if it is.
pub(crate) fn unavailable(listed: &str, name: &str) -> Option<String> {
    let listed: Vec<serde_json::Value> = serde_json::from_str(listed).expect("an array");
    let entry = listed.into_iter().find(|entry| entry["name"] == name).expect(name);
    (entry["available"] != true).then(|| entry["reason"].to_string())
}

fn assert_nothing_granted(seen: &[String], least: usize) {
    assert!(seen.len() >= least, "{seen:?}");
    for line in seen {
        assert!(line.ends_with("\t0000000000000000"), "{line}");
    }
}

#[test]
fn what_a_file_grants_reaches_no_library_and_no_program() {
    let Some(granting) = Granting::open() else { return };
    let Some(library) = compiled(&granting, "spy.so", LIBRARY, &SHARED) else { return };
    granting.measure(&format!("-m lib:{library} -b 64 --total 640 --repetitions 1")).expect(4);
    let file = ResultsFile::read(&granting.results());
    assert!(text(&file.failures[0], "where").contains("not today"), "{:?}", file.failures);
    // The process that is asked for facts, and the workers of two runs; four sets of capabilities each.
    assert_nothing_granted(&granting.seen(), 3 * 4);
    fs::remove_file(granting.seen_at()).expect("what was seen");
    let main = "int main(void) { return 3; }\n";
    let Some(program) = compiled(&granting, "spy", main, &[]) else { return };
    granting.measure(&format!("-m exec:{program} -b 64 --total 640 --repetitions 1")).expect(4);
    assert_nothing_granted(&granting.seen(), 2 * 4);
    granting.sandbox.assert_nothing_left();
}

/// Every worker drops the capabilities, not only one with code of the user: programs that it starts are found through
/// the user's `PATH`.
#[test]
fn every_worker_is_without_what_the_file_grants() {
    let Some(granting) = Granting::open() else { return };
    let out = granting.results();
    let arguments =
        format!("run -m pipe -b 64 --total 1000000GB --timeout 60 --out {}", out.display());
    let mut command = Command::new(&granting.program);
    command.uid(USER).gid(USER);
    let command = granting.sandbox.start(granting.sandbox.place(command, &arguments));
    let processes = || {
        let below = crate::processes::descendants(command.id());
        (below.len() == 3).then_some(below)
    };
    let below = crate::processes::wait_for("a run", crate::sandbox::HANG, processes);
    for pid in below {
        let status = match fs::read_to_string(format!("/proc/{pid}/status")) {
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            status => status.expect("a status"),
        };
        for set in ["CapInh", "CapPrm", "CapEff", "CapAmb"] {
            assert!(status.contains(&format!("{set}:\t0000000000000000")), "{status}");
        }
    }
}

/// The instruments, which the capabilities are for, still work.
#[test]
fn an_instrument_has_what_the_file_grants() {
    let Some(granting) = Granting::open() else { return };
    let listed = granting.run("list instruments --json").expect(0);
    if let Some(why) = unavailable(&listed.stdout, "syscalls") {
        return skip("an instrument by a file's capabilities", &why);
    }
    let arguments = "-m pipe -b 64 --total 64kB --repetitions 1 --instrument syscalls,profile,counters \
                     --profile-event cpu-clock --counter-events task-clock";
    granting.measure(arguments).expect(0);
    let rows = lines(&granting.results());
    for instrument in ["syscalls", "profile", "counters"] {
        let of = |line: &&serde_json::Value| line["instrument"] == instrument;
        assert!(rows.iter().any(|line| of(&line)), "{instrument} saw nothing");
    }
    // Its workers run as their user again: process-vm needs permission to trace the peer.
    granting.measure("-m process-vm -b 64 --total 64kB --repetitions 1").expect(0);
}

#[test]
fn a_file_that_makes_its_user_another_is_refused() {
    let Some(granting) = Granting::open() else { return };
    fs::set_permissions(&granting.program, fs::Permissions::from_mode(0o4755)).expect("ours");
    let refused = granting.run("list mechanisms").expect(3);
    assert_eq!(refused.stderr.lines().count(), 1, "{}", refused.stderr);
    assert!(refused.stderr.contains("set-user-ID"), "{}", refused.stderr);
    assert_eq!(refused.stdout, "");
}
