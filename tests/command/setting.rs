//! Settings of the calling process: arguments that are not text, an invalid home, a umask, ignored signals.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use rustix::process::{Signal, geteuid};

use crate::laboratory::{Finished, HANG, Laboratory};
use crate::processes::{signal, wait_for};
use crate::results::{self, ResultsFile, runs_told};
use crate::skip::skip;
use crate::whole::assert_whole;

const SHORT: &str = "run -m pipe -b 64 --total 640 --repetitions 1";
/// A user who is not in the password database.
const NOBODY_AT_ALL: u32 = 54_321;

/// Gives `laboratory` to `user`, with a copy of the command that this user can execute.
pub(crate) fn lend(laboratory: &Laboratory, user: u32) -> PathBuf {
    for name in ["", "tmp", "data"] {
        chown(laboratory.path(name), Some(user), Some(user)).expect("a gift");
    }
    let program = laboratory.path("ipcperf");
    fs::copy(env!("CARGO_BIN_EXE_ipcperf"), &program).expect("a copy");
    program
}

/// Returns `words` followed by bytes that are not valid UTF-8.
fn no_text(words: &str) -> OsString {
    OsString::from_vec([words.as_bytes(), b"\xff\xfe"].concat())
}

/// Checks that the command succeeded or ended with a one-line error.
fn assert_no_panic(finished: &Finished, what: &str) {
    let Finished { status, stderr, .. } = finished;
    assert!(!stderr.contains("panicked"), "{what}: {stderr}");
    // Compatibility programs end like the originals and print their usage.
    if what.starts_with("as ") && status.code().is_some() {
        return;
    }
    assert!(matches!(status.code(), Some(0 | 2 | 3 | 5)), "{what}: {status:?}: {stderr}");
    let said = stderr.lines().filter(|line| !line.starts_with("ipcperf: warning:")).count();
    assert!(status.success() || said == 1, "{what}: {stderr}");
}

#[test]
fn words_that_are_no_text_are_refused_in_a_line() {
    let laboratory = Laboratory::open();
    let before = [
        "",
        "run -m",
        "run -m pipe -b",
        "run -m pipe --set",
        "run -m pipe --placement",
        "run -m pipe --export",
        "run -m pipe --repetitions",
        "run -m pipe --instrument",
        "plan",
        "plan -m",
        "list",
        "show",
        "report",
        "report -o",
        "export",
        "export csv",
        "resume",
        "study show",
        "study run",
        "study check",
        "study judge",
        "completions",
        "as",
        "as ipc",
        "as ipc-static",
        "as bw_pipe -P",
        "as --about",
        "trace -m",
        "worker",
        "doctor",
        "machine",
        "survey --out",
    ];
    for words in before {
        let mut command = laboratory.command(words);
        command.arg(no_text("lib:/x"));
        let finished = laboratory.finish(command);
        if words == "worker" {
            continue;
        }
        assert_no_panic(&finished, words);
    }
}

#[test]
fn a_path_may_be_any_bytes() {
    let laboratory = Laboratory::open();
    let out = laboratory.path("").join(no_text("results"));
    let temporary = laboratory.path("").join(no_text("temporary"));
    fs::create_dir(&temporary).expect("a folder");
    let mut command = laboratory.command(
        "run --attempts 1 -m fifo,unix-stream-named -b 64 --total 640 --repetitions 1 --out",
    );
    command.arg(&out).env("TMPDIR", &temporary).env("UNRELATED", no_text(""));
    laboratory.finish(command).expect(0);
    let file = ResultsFile::read(&out);
    assert!(file.header["command"].to_string().contains('\u{fffd}'), "{}", file.header["command"]);
    assert_eq!(file.samples.len(), 4);
    for words in ["show", "resume", "export csv"] {
        let mut command = laboratory.command(words);
        command.arg(&out);
        laboratory.finish(command).expect(0);
    }
    assert_eq!(fs::read_dir(&temporary).expect("the folder").count(), 0);
}

/// Returns the number of results files below `home`.
fn kept_below(home: &Path) -> usize {
    let folder = home.join(".local/share/ipcperf");
    fs::read_dir(folder).map_or(0, Iterator::count)
}

#[test]
fn a_relative_folder_for_data_is_none() {
    let laboratory = Laboratory::open();
    let mut command = laboratory.command(SHORT);
    command.env("XDG_DATA_HOME", "data").env("HOME", laboratory.path("home"));
    command.current_dir(laboratory.path(""));
    laboratory.finish(command).expect(0);
    assert_eq!(kept_below(&laboratory.path("home")), 1);
    assert_eq!(fs::read_dir(laboratory.path("data")).expect("a folder").count(), 0);
}

#[test]
fn without_a_home_a_file_must_be_named() {
    if !geteuid().is_root() {
        return skip("a user without a home", "only root can be one");
    }
    let laboratory = Laboratory::open();
    let program = lend(&laboratory, NOBODY_AT_ALL);
    for home in [None, Some(""), Some("relative")] {
        let mut command = laboratory.place(Command::new(&program), SHORT);
        command.env_remove("XDG_DATA_HOME").env_remove("HOME").uid(NOBODY_AT_ALL);
        command.current_dir(laboratory.path("tmp"));
        command.envs(home.map(|home| ("HOME", home)));
        let refused = laboratory.finish(command).expect(5);
        assert_eq!(refused.stderr.lines().count(), 1, "{}", refused.stderr);
        assert!(refused.stderr.contains("--out FILE"), "{}", refused.stderr);
        assert_eq!(fs::read_dir(laboratory.path("tmp")).expect("a folder").count(), 0);
    }
}

/// Returns the command with `arguments`, started by a shell that has executed `first`.
fn after(laboratory: &Laboratory, first: &str, arguments: &str) -> Command {
    program_after(Path::new(env!("CARGO_BIN_EXE_ipcperf")), laboratory, first, arguments)
}

fn program_after(program: &Path, laboratory: &Laboratory, first: &str, arguments: &str) -> Command {
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(format!("{first}; exec \"$0\" \"$@\"")).arg(program);
    laboratory.place(shell, arguments)
}

#[test]
fn a_umask_takes_nothing_from_the_owner() {
    let laboratory = Laboratory::open();
    let home = laboratory.path("home");
    let is_root = geteuid().is_root();
    // Root may enter a folder whatever its permissions.
    let user = if is_root { NOBODY_AT_ALL } else { geteuid().as_raw() };
    let program = lend(&laboratory, user);
    let run = |umask: &str, arguments: &str| {
        let mut command = program_after(&program, &laboratory, umask, arguments);
        command.env_remove("XDG_DATA_HOME").env("HOME", &home);
        if is_root {
            command.uid(user);
        }
        laboratory.finish(command).expect(0);
    };
    run("umask 777", SHORT);
    assert_eq!(kept_below(&home), 1);
    let folder = fs::read_dir(home.join(".local/share/ipcperf")).expect("a folder");
    let path = folder.flatten().next().expect("a file").path();
    run("umask 22", &format!("show {}", path.display()));
    let figures =
        format!("report {0} -o {0}.html --figures {1}/a/b", path.display(), home.display());
    run("umask 777", &figures);
}

/// `nohup` and background jobs of a script: ignored signals stay ignored, and workers are not affected.
#[test]
fn an_ignored_signal_stays_ignored() {
    let laboratory = Laboratory::open();
    let arguments = format!(
        "run --attempts 1 -m pipe,null -b 64 --total 64kB --repetitions 150 --out {}",
        laboratory.results().display()
    );
    let command = laboratory.start(after(&laboratory, "trap '' HUP INT QUIT", &arguments));
    let some = || (runs_told(&laboratory.results()) >= 2).then_some(());
    wait_for("two runs", HANG, some);
    for ignored in [Signal::HUP, Signal::INT, Signal::QUIT] {
        signal(command.id(), ignored);
    }
    command.finish(HANG).expect(0);
    assert_whole(&laboratory.results());
    laboratory.assert_nothing_left();
}

/// Signals that are not ignored still end the command.
#[test]
fn a_signal_that_is_not_ignored_ends_it_as_ever() {
    let laboratory = Laboratory::open();
    let arguments = format!(
        "run -m pipe -b 64 --total 1000000GB --deadline 100 --out {}",
        laboratory.results().display()
    );
    let command = laboratory.start(after(&laboratory, "trap '' HUP", &arguments));
    let header = || fs::read_to_string(laboratory.results()).is_ok_and(|text| text.contains('\n'));
    wait_for("header", HANG, || header().then_some(()));
    std::thread::sleep(Duration::from_millis(100));
    signal(command.id(), Signal::HUP);
    std::thread::sleep(Duration::from_millis(100));
    signal(command.id(), Signal::TERM);
    command.finish(HANG).expect(143);
    laboratory.assert_nothing_left();
}

/// A file-size limit is treated like a full disk, even if SIGXFSZ is not ignored.
#[test]
fn a_limit_on_a_files_size_ends_as_a_full_disk_does() {
    let laboratory = Laboratory::open();
    let results = laboratory.results();
    let arguments =
        format!("run -m pipe -b 64 --total 6400 --repetitions 40 --out {}", results.display());
    let full = laboratory.finish(after(&laboratory, "ulimit -f 16", &arguments)).expect(5);
    assert!(full.stderr.contains("what was written is kept"), "{}", full.stderr);
    laboratory.run(&format!("show {}", results.display())).expect(0);
    laboratory.run(&format!("resume {}", results.display())).expect(0);
    assert_eq!(ResultsFile::read(&results).footer["complete"], true);
    laboratory.assert_nothing_left();
}

/// Custom programs start with the default signal dispositions.
#[test]
fn a_program_of_ones_own_has_the_signals_that_it_expects() {
    let laboratory = Laboratory::open();
    let program = laboratory.path("dispositions");
    let text = "#!/bin/sh\nread -r words <&3\necho refuse $(grep SigIgn /proc/self/status) >&3\n";
    fs::write(&program, text).expect("a script");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(&program, mode).expect("its permissions");
    let arguments = format!("-m exec:{} -b 64 --total 640 --repetitions 1", program.display());
    laboratory.finish(laboratory.measuring(&arguments)).expect(4);
    let file = ResultsFile::read(&laboratory.results());
    let place = results::text(&file.failures[0], "where");
    let mask = place.rsplit(' ').next().expect("a mask");
    let mask = u64::from_str_radix(mask, 16).expect("hexadecimal digits");
    for number in [libc::SIGPIPE, libc::SIGXFSZ] {
        assert_eq!(mask >> (number - 1) & 1, 0, "signal {number} is ignored: {place}");
    }
}
