//! A full disk: exit code 5, no finished sample is lost, and `resume` continues once there is space.

use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::PathBuf;
use std::process::Command;

use rustix::mount::{MountFlags, UnmountFlags, mount, mount_remount, unmount};

use crate::complete_file::{assert_consistent, assert_whole};
use crate::processes::wait_for;
use crate::results::{ResultsFile, number, runs_recorded};
use crate::sandbox::{Finished, GRACE, HANG, Sandbox, with_time};
use crate::skip::skip;
use crate::system_calls::try_strace;

/// Space for about sixty samples in addition to the reserve that the command keeps.
const SMALL: &str = "320k";
/// More samples than fit.
const MANY: &str = "-m pipe -b 64 --total 6400 --repetitions 150";
/// More samples than fit on a disk of 1 MiB, where the run must not end before the disk is full.
const VERY_MANY: &str = "-m pipe -b 64 --total 6400 --repetitions 700";

/// A separate disk for results that is small enough to be filled.
struct SmallDisk<'a> {
    sandbox: &'a Sandbox,
}

impl<'a> SmallDisk<'a> {
    /// Mounts a disk of `size`; `None` if that is not permitted.
    fn mount(sandbox: &'a Sandbox, size: &str) -> Option<Self> {
        let disk = Self { sandbox };
        fs::create_dir(disk.path("")).expect("a folder");
        let options = std::ffi::CString::new(format!("size={size}")).expect("no zero inside");
        let mounted =
            mount("tmpfs", disk.path(""), "tmpfs", MountFlags::empty(), options.as_c_str());
        if let Err(errno) = mounted {
            skip("a full disk", &format!("mounting a small tmpfs: {errno}"));
            return None;
        }
        Some(disk)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.sandbox.path("disk").join(name)
    }

    fn results(&self) -> PathBuf {
        self.path("results.jsonl")
    }

    fn run(&self, arguments: &str) -> String {
        with_time(&format!("run {arguments} --out {}", self.results().display()))
    }

    /// Uses up the space that is left.
    fn fill(&self) {
        let mut file = File::create(self.path("filler")).expect("a file");
        let full = loop {
            if let Err(error) = file.write_all(&[0; 4096]) {
                break error;
            }
        };
        assert_eq!(full.kind(), ErrorKind::StorageFull, "{full}");
    }

    /// Enlarges the disk and completes the file with `resume`.
    fn enlarge_and_resume(&self) {
        mount_remount(self.path(""), MountFlags::empty(), c"size=64m").expect("a larger disk");
        let before = ResultsFile::read(&self.results()).samples;
        self.sandbox.run(&format!("resume {}", self.results().display())).expect(0);
        let whole = assert_whole(&self.results());
        assert_eq!(before, whole.samples[..before.len()], "what was measured stays as it is");
        self.sandbox.assert_nothing_left();
    }
}

impl Drop for SmallDisk<'_> {
    fn drop(&mut self) {
        // Fails if it is not mounted or already gone; then the folder is an ordinary one.
        let _ = unmount(self.path(""), UnmountFlags::DETACH);
    }
}

/// Checks that the command reported the full disk and the remedy in one line. The file must hold whole lines and end in
/// a footer that marks it as incomplete.
fn assert_unwritable(disk: &SmallDisk<'_>, finished: Finished) -> ResultsFile {
    let full = finished.expect(5);
    let beside_warnings = |line: &&str| !line.starts_with("ipcperf: warning:");
    assert_eq!(full.stderr.lines().filter(beside_warnings).count(), 1, "{}", full.stderr);
    for word in
        ["cannot write results to", "No space left", "free disk space and run ipcperf resume"]
    {
        assert!(full.stderr.contains(word), "no `{word}`: {}", full.stderr);
    }
    let text = fs::read_to_string(disk.results()).expect("results");
    assert!(text.ends_with('\n'), "a torn line");
    let file = assert_consistent(&disk.results());
    assert_eq!(file.footer["complete"], false);
    let shown = disk.sandbox.run(&format!("show {}", disk.results().display())).expect(0);
    assert_eq!(shown.stderr, "", "nothing to warn of");
    disk.sandbox.assert_nothing_left();
    file
}

#[test]
fn a_disk_that_fills_up_loses_no_sample() {
    let sandbox = Sandbox::open();
    let Some(disk) = SmallDisk::mount(&sandbox, SMALL) else { return };
    let file = assert_unwritable(&disk, sandbox.run(&disk.run(MANY)));
    assert!(file.samples.len() > 10 && file.samples.len() < 151, "{}", file.samples.len());
    let resumed = sandbox.run(&format!("resume {}", disk.results().display()));
    let file = assert_unwritable(&disk, resumed);
    assert!(file.samples.len() < 151, "{}", file.samples.len());
    disk.enlarge_and_resume();
}

/// Space is reserved before each run, so every worker that was started has its line.
#[test]
fn no_run_is_made_that_could_not_be_kept() {
    let sandbox = Sandbox::open();
    let Some(disk) = SmallDisk::mount(&sandbox, SMALL) else { return };
    if let Err(reason) = try_strace() {
        return skip("counting workers", &reason);
    }
    let mut strace = Command::new("strace");
    strace.args(["-f", "-qq", "-e", "trace=execve", "-o"]).arg(sandbox.path("trace"));
    strace.arg(env!("CARGO_BIN_EXE_ipcperf"));
    let full = sandbox.finish(sandbox.place(strace, &disk.run(MANY)));
    let file = assert_unwritable(&disk, full);
    let trace = fs::read_to_string(sandbox.path("trace")).expect("a trace");
    let is_worker = |line: &&str| line.contains("execve(") && line.contains("\"worker\"");
    let workers = trace.lines().filter(is_worker).count();
    assert_eq!(workers as u64, number(&file.footer, "samples"), "each worker has its sample");
}

#[test]
fn a_disk_without_any_room_for_results_is_told_before_anything_runs() {
    let sandbox = Sandbox::open();
    let Some(disk) = SmallDisk::mount(&sandbox, "64k") else { return };
    let file = assert_unwritable(&disk, sandbox.run(&disk.run("-m pipe -b 64 --repetitions 2")));
    assert!(file.samples.is_empty(), "{:?}", file.samples);
    disk.enlarge_and_resume();
}

#[test]
fn a_disk_that_others_fill_meanwhile_loses_no_sample() {
    let sandbox = Sandbox::open();
    let Some(disk) = SmallDisk::mount(&sandbox, "1m") else { return };
    // More samples than fit, even without the filler.
    let command = sandbox.start(sandbox.command(&disk.run(VERY_MANY)));
    let printed = || (runs_recorded(&disk.results()) >= 5).then_some(());
    wait_for("five runs", GRACE, printed);
    disk.fill();
    let file = assert_unwritable(&disk, command.finish(HANG));
    assert!(file.samples.len() >= 5, "{}", file.samples.len());
    fs::remove_file(disk.path("filler")).expect("the filler");
    disk.enlarge_and_resume();
}
