//! Mechanisms on a machine without some resource: a typed failure with a remedy, never a signal or a hang.

use std::process::Command;
use std::time::Duration;

use ipcperf_engine::mechanism;
use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};
use rustix::process::{Pid, Resource, Rlimit, prlimit};
use serde_json::Value;

use crate::processes::{descendants, wait_for};
use crate::results::{ResultsFile, number, runs_recorded, text};
use crate::sandbox::{GRACE, Sandbox};
use crate::skip::skip;

/// Value of `ENOSPC`.
const NO_SPACE: u64 = 28;

/// The folder for temporary files of a sandbox, on a file system of limited size.
struct SmallFolder<'a>(&'a Sandbox);

impl<'a> SmallFolder<'a> {
    /// Mounts a file system of `size`; `None` if that is not permitted.
    fn mount(sandbox: &'a Sandbox, size: &str) -> Option<Self> {
        let options = std::ffi::CString::new(format!("size={size}")).expect("no zero inside");
        let folder = sandbox.path("tmp");
        match mount("tmpfs", folder, "tmpfs", MountFlags::empty(), options.as_c_str()) {
            Ok(()) => Some(Self(sandbox)),
            Err(errno) => {
                skip("a full TMPDIR", &format!("mounting a small tmpfs: {errno}"));
                None
            }
        }
    }
}

impl Drop for SmallFolder<'_> {
    fn drop(&mut self) {
        // Fails if it is already unmounted; then the folder is an ordinary one.
        let _ = unmount(self.0.path("tmp"), UnmountFlags::DETACH);
    }
}

/// Runs `mechanism`, which must fail each time for lack of space with `remedy` in its remedy.
fn assert_no_room(sandbox: &Sandbox, command: Command, remedy: &str) {
    sandbox.finish(command).expect(4);
    let file = ResultsFile::read(&sandbox.results());
    assert!(!file.failures.is_empty());
    for failure in &file.failures {
        assert_eq!(failure["errno"].as_u64(), Some(NO_SPACE), "{failure}");
        assert!(text(failure, "remedy").contains(remedy), "{failure}");
    }
    assert!(file.samples.is_empty(), "{:?}", file.samples);
}

#[test]
fn a_full_folder_for_temporary_files_is_told_with_a_way_out() {
    // The files of the iceoryx2 library are small.
    for (name, size) in [
        ("mmap-file", "64k"),
        ("file-ref", "64k"),
        ("iceoryx2-pubsub", "4k"),
        ("iceoryx2-reqres", "4k"),
    ] {
        let known = mechanism::find(&name.into()).expect("a mechanism");
        if let Err(missing) = known.available() {
            skip(name, &missing.reason);
            continue;
        }
        for mode in known.modes.iter().map(|mode| mode.name()) {
            let sandbox = Sandbox::open();
            let Some(_folder) = SmallFolder::mount(&sandbox, size) else { return };
            let arguments = format!(
                "-m {name} -b 100000 -w stream,round-trip --mode {mode} --total 1MB \
                 --repetitions 1 --timeout 60"
            );
            assert_no_room(&sandbox, sandbox.measuring(&arguments), "TMPDIR");
            sandbox.assert_nothing_left();
        }
    }
}

/// Shared memory of sufficient size has been filled by others.
#[test]
fn full_shared_memory_is_told_with_a_way_out() {
    const FILLED: &str = "mount --make-rprivate / && mount -t tmpfs -o size=8m tmpfs /dev/shm \
        && head -c 8300000 /dev/zero >/dev/shm/filler && exec \"$0\" \"$@\"";
    let unshare = |command: &str| {
        let mut unshare = Command::new("unshare");
        unshare.args(["--mount", "sh", "-c", command]);
        unshare
    };
    let allowed = unshare("mount --make-rprivate /").output();
    if !allowed.is_ok_and(|output| output.status.success()) {
        return skip("full shared memory", "no mount namespace of one's own: be root");
    }
    for name in ["iceoryx2-pubsub", "iceoryx2-reqres"] {
        let sandbox = Sandbox::open();
        let mut command = unshare(FILLED);
        command.arg(env!("CARGO_BIN_EXE_ipcperf"));
        let out = sandbox.results().display().to_string();
        let arguments = format!(
            "run --force --attempts 1 --out {out} -m {name} -b 10000 --mode 2proc,2thread \
             --total 1MB --repetitions 1 --timeout 60"
        );
        assert_no_room(&sandbox, sandbox.place(command, &arguments), "/dev/shm");
        sandbox.assert_nothing_left();
    }
}

#[test]
fn no_queued_signals_at_all_are_told_at_once() {
    if let Err(error) = Command::new("prlimit").arg("--version").output() {
        return skip("a limit on queued signals", &format!("prlimit: {error}"));
    }
    let sandbox = Sandbox::open();
    let mut command = Command::new("prlimit");
    command.args(["--sigpending=0:0", env!("CARGO_BIN_EXE_ipcperf")]);
    let out = sandbox.results().display().to_string();
    let arguments = format!(
        "run --force --attempts 1 --out {out} -m signal -b 8 --mode 2proc,2thread,1thread \
         --total 800 --repetitions 1 --timeout 60"
    );
    sandbox.finish(sandbox.place(command, &arguments)).expect(4);
    assert_limit_named(&ResultsFile::read(&sandbox.results()).failures);
}

/// Other processes of the user reach the limit during a run.
#[test]
fn queued_signals_that_run_out_are_told_before_the_deadline() {
    let sandbox = Sandbox::open();
    let command = sandbox
        .begin("-m signal -b 8 --mode 2proc --total 1000000GB --repetitions 1 --timeout 120");
    let processes = wait_for("processes", GRACE, || {
        let found = descendants(command.id());
        (found.len() >= 3).then_some(found)
    });
    for process in processes {
        let process = i32::try_from(process).ok().and_then(Pid::from_raw);
        let none = Rlimit { current: Some(0), maximum: Some(0) };
        // The worker ends when the first peer fails.
        let _ = prlimit(process, Resource::Sigpending, none);
    }
    let printed = || (runs_recorded(&sandbox.results()) >= 1).then_some(());
    wait_for("end of the run", Duration::from_secs(60), printed);
    drop(command);
    assert_limit_named(&ResultsFile::read(&sandbox.results()).failures);
}

fn assert_limit_named(failures: &[Value]) {
    assert!(!failures.is_empty());
    for failure in failures {
        assert!(text(failure, "where").contains("RLIMIT_SIGPENDING"), "{failure}");
        assert!(text(failure, "remedy").contains("ulimit -i"), "{failure}");
        assert!(number(failure, "errno") > 0, "{failure}");
    }
}
