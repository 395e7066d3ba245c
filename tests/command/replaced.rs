//! The executable is replaced or deleted while it measures: the remaining runs are not affected.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::complete_file::assert_whole;
use crate::file_capabilities::unavailable;
use crate::processes::{children, wait_for};
use crate::results::{ResultsFile, lines, runs_recorded, text};
use crate::sandbox::{HANG, NEVER_S, Sandbox, with_time};
use crate::skip::skip;

/// Enough runs that some are left when the file is gone.
const MANY: &str = "-m pipe,null -b 64 --total 64kB --repetitions 100";

/// Returns a copy of the command that may be removed.
fn copy(sandbox: &Sandbox) -> PathBuf {
    sandbox.copy_command("ipcperf-copy")
}

/// Measures `arguments` with a copy of the command, and calls `spoil` on the copy after some runs.
fn measure(sandbox: &Sandbox, arguments: &str, spoil: fn(&Path)) {
    let copy = copy(sandbox);
    let arguments = format!("run --attempts 1 {arguments} --out {}", sandbox.results().display());
    let arguments = with_time(&arguments);
    let command = sandbox.start(sandbox.place(Command::new(&copy), &arguments));
    wait_for("two runs", HANG, || (runs_recorded(&sandbox.results()) >= 2).then_some(()));
    spoil(&copy);
    command.finish(HANG).expect(0);
    sandbox.assert_nothing_left();
}

fn delete(path: &Path) {
    fs::remove_file(path).expect("the copy");
}

/// Replaces it with a file that cannot be executed, as a build that fails half-way does.
fn replace(path: &Path) {
    let other = path.with_extension("other");
    fs::write(&other, "not a program\n").expect("another file");
    fs::set_permissions(&other, fs::Permissions::from_mode(0o644)).expect("its permissions");
    fs::rename(&other, path).expect("a replacement");
}

#[test]
fn a_replaced_or_deleted_program_measures_to_the_end() {
    for spoil in [delete, replace] {
        let sandbox = Sandbox::open();
        measure(&sandbox, MANY, spoil);
        let file = assert_whole(&sandbox.results());
        assert!(file.failures.is_empty(), "{:?}", file.failures.first());
    }
}

/// It is executed through a descriptor, whose number would be its name in process lists.
#[test]
fn a_worker_has_a_name_of_its_own() {
    let sandbox = Sandbox::open();
    let command = sandbox.begin(&format!("-m pipe -b 64 --total 1000000GB --timeout {NEVER_S}"));
    let name = || {
        let worker = children(command.id()).first().copied()?;
        let name = fs::read_to_string(format!("/proc/{worker}/comm")).ok()?;
        // Before exec it has the name of the command.
        (name == "ipcperf\n").then_some(worker)
    };
    let worker = wait_for("worker called ipcperf", HANG, name);
    // In full listings it has no path: before exec it has that of the command.
    let first_word = || {
        let words = fs::read(format!("/proc/{worker}/cmdline")).ok()?;
        (words.split(|&byte| byte == 0).next()? == b"ipcperf").then_some(())
    };
    wait_for("worker whose first word is ipcperf", HANG, first_word);
}

/// Function names are read from the running file, not from whatever is at its path now.
#[test]
fn the_profile_of_a_deleted_program_has_its_names() {
    let sandbox = Sandbox::open();
    let listed = sandbox.run("list instruments --json").expect(0);
    if let Some(why) = unavailable(&listed.stdout, "profile") {
        return skip("the profile of a deleted program", &why);
    }
    let arguments = "-m shm-ring -b 64 --total 64MB --repetitions 8 --instrument profile \
                     --profile-event cpu-clock";
    measure(&sandbox, arguments, delete);
    let of_program: Vec<String> = lines(&sandbox.results())
        .iter()
        .filter(|line| line["object"] == "ipcperf-copy")
        .map(|line| text(line, "symbol").to_owned())
        .collect();
    assert!(of_program.iter().any(|symbol| symbol.contains("ipcperf_")), "{of_program:?}");
    let unnamed = |symbol: &&String| symbol.starts_with('[');
    assert_eq!(of_program.iter().find(unnamed), None, "a function without its name");
    assert!(!ResultsFile::read(&sandbox.results()).samples.is_empty());
}
