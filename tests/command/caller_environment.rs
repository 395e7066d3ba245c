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

use crate::complete_file::assert_whole;
use crate::processes::{signal, wait_for};
use crate::results::{self, ResultsFile, runs_recorded};
use crate::sandbox::{Finished, HANG, Sandbox};
use crate::skip::skip;

const SHORT: &str = "run -m pipe -b 64 --total 640 --repetitions 1 --timeout 600";
/// A user who is not in the password database.
const NOBODY_AT_ALL: u32 = 54_321;

/// Gives `sandbox` to `user`, with a copy of the command that this user can execute.
pub(crate) fn give_to_user(sandbox: &Sandbox, user: u32) -> PathBuf {
    for name in ["", "tmp", "data"] {
        chown(sandbox.path(name), Some(user), Some(user)).expect("a gift");
    }
    sandbox.copy_command("ipcperf")
}

/// Returns `words` followed by bytes that are not valid UTF-8.
fn invalid_utf8(words: &str) -> OsString {
    OsString::from_vec([words.as_bytes(), b"\xff\xfe"].concat())
}

/// Checks that the command succeeded or ended with a one-line error.
fn assert_no_panic(finished: &Finished, what: &str) {
    let Finished { status, stderr, .. } = finished;
    assert!(!stderr.contains("panicked"), "{what}: {stderr}");
    // Compatibility programs end like the originals and print their usage.
    if what.starts_with("compat ") && status.code().is_some() {
        return;
    }
    assert!(matches!(status.code(), Some(0 | 2 | 3 | 5)), "{what}: {status:?}: {stderr}");
    let said = stderr.lines().filter(|line| !line.starts_with("ipcperf: warning:")).count();
    assert!(status.success() || said == 1, "{what}: {stderr}");
}

#[test]
fn words_that_are_no_text_are_refused_in_a_line() {
    let sandbox = Sandbox::open();
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
        "compat",
        "compat ipc",
        "compat ipc-static",
        "compat bw_pipe -P",
        "compat --about",
        "trace -m",
        "worker",
        "doctor",
        "machine",
        "survey --out",
    ];
    for words in before {
        let mut command = sandbox.command(words);
        command.arg(invalid_utf8("lib:/x"));
        let finished = sandbox.finish(command);
        if words == "worker" {
            continue;
        }
        assert_no_panic(&finished, words);
    }
}

#[test]
fn a_path_may_be_any_bytes() {
    let sandbox = Sandbox::open();
    let out = sandbox.path("").join(invalid_utf8("results"));
    let temporary = sandbox.path("").join(invalid_utf8("temporary"));
    fs::create_dir(&temporary).expect("a folder");
    let mut command = sandbox.command(
        "run --attempts 1 -m fifo,unix-stream-named -b 64 --total 640 --repetitions 1 --timeout 600 --out",
    );
    command.arg(&out).env("TMPDIR", &temporary).env("UNRELATED", invalid_utf8(""));
    sandbox.finish(command).expect(0);
    let file = ResultsFile::read(&out);
    assert!(file.header["command"].to_string().contains('\u{fffd}'), "{}", file.header["command"]);
    assert_eq!(file.samples.len(), 4);
    for words in ["show", "resume", "export csv"] {
        let mut command = sandbox.command(words);
        command.arg(&out);
        sandbox.finish(command).expect(0);
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
    let sandbox = Sandbox::open();
    let mut command = sandbox.command(SHORT);
    command.env("XDG_DATA_HOME", "data").env("HOME", sandbox.path("home"));
    command.current_dir(sandbox.path(""));
    sandbox.finish(command).expect(0);
    assert_eq!(kept_below(&sandbox.path("home")), 1);
    assert_eq!(fs::read_dir(sandbox.path("data")).expect("a folder").count(), 0);
}

#[test]
fn without_a_home_a_file_must_be_named() {
    if !geteuid().is_root() {
        return skip("a user without a home", "only root can be one");
    }
    let sandbox = Sandbox::open();
    let program = give_to_user(&sandbox, NOBODY_AT_ALL);
    for home in [None, Some(""), Some("relative")] {
        let mut command = sandbox.place(Command::new(&program), SHORT);
        command.env_remove("XDG_DATA_HOME").env_remove("HOME").uid(NOBODY_AT_ALL);
        command.current_dir(sandbox.path("tmp"));
        command.envs(home.map(|home| ("HOME", home)));
        let refused = sandbox.finish(command).expect(5);
        assert_eq!(refused.stderr.lines().count(), 1, "{}", refused.stderr);
        assert!(refused.stderr.contains("--out FILE"), "{}", refused.stderr);
        assert_eq!(fs::read_dir(sandbox.path("tmp")).expect("a folder").count(), 0);
    }
}

/// Returns the command with `arguments`, started by a shell that has executed `first`.
fn after(sandbox: &Sandbox, first: &str, arguments: &str) -> Command {
    program_after(Path::new(env!("CARGO_BIN_EXE_ipcperf")), sandbox, first, arguments)
}

fn program_after(program: &Path, sandbox: &Sandbox, first: &str, arguments: &str) -> Command {
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(format!("{first}; exec \"$0\" \"$@\"")).arg(program);
    sandbox.place(shell, arguments)
}

#[test]
fn a_umask_takes_nothing_from_the_owner() {
    let sandbox = Sandbox::open();
    let home = sandbox.path("home");
    let is_root = geteuid().is_root();
    // Root may enter a folder whatever its permissions.
    let user = if is_root { NOBODY_AT_ALL } else { geteuid().as_raw() };
    let program = give_to_user(&sandbox, user);
    let run = |umask: &str, arguments: &str| {
        let mut command = program_after(&program, &sandbox, umask, arguments);
        command.env_remove("XDG_DATA_HOME").env("HOME", &home);
        if is_root {
            command.uid(user);
        }
        sandbox.finish(command).expect(0);
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
    let sandbox = Sandbox::open();
    let arguments = format!(
        "run --attempts 1 -m pipe,null -b 64 --total 64kB --repetitions 150 --timeout 600 --out {}",
        sandbox.results().display()
    );
    let command = sandbox.start(after(&sandbox, "trap '' HUP INT QUIT", &arguments));
    let some = || (runs_recorded(&sandbox.results()) >= 2).then_some(());
    wait_for("two runs", HANG, some);
    for ignored in [Signal::HUP, Signal::INT, Signal::QUIT] {
        signal(command.id(), ignored);
    }
    command.finish(HANG).expect(0);
    assert_whole(&sandbox.results());
    sandbox.assert_nothing_left();
}

/// Signals that are not ignored still end the command.
#[test]
fn a_signal_that_is_not_ignored_ends_it_as_ever() {
    let sandbox = Sandbox::open();
    let arguments = format!(
        "run -m pipe -b 64 --total 1000000GB --timeout 100 --out {}",
        sandbox.results().display()
    );
    let command = sandbox.start(after(&sandbox, "trap '' HUP", &arguments));
    let header = || fs::read_to_string(sandbox.results()).is_ok_and(|text| text.contains('\n'));
    wait_for("header", HANG, || header().then_some(()));
    std::thread::sleep(Duration::from_millis(100));
    signal(command.id(), Signal::HUP);
    std::thread::sleep(Duration::from_millis(100));
    signal(command.id(), Signal::TERM);
    command.finish(HANG).expect(143);
    sandbox.assert_nothing_left();
}

/// A file-size limit is treated like a full disk, even if SIGXFSZ is not ignored.
#[test]
fn a_limit_on_a_files_size_ends_as_a_full_disk_does() {
    let sandbox = Sandbox::open();
    let results = sandbox.results();
    let arguments =
        format!("run -m pipe -b 64 --total 6400 --repetitions 60 --out {}", results.display());
    let full = sandbox.finish(after(&sandbox, "ulimit -f 80", &arguments)).expect(5);
    assert!(full.stderr.contains("results so far are kept"), "{}", full.stderr);
    sandbox.run(&format!("show {}", results.display())).expect(0);
    sandbox.run(&format!("resume {}", results.display())).expect(0);
    assert_eq!(ResultsFile::read(&results).footer["complete"], true);
    sandbox.assert_nothing_left();
}

/// Custom programs start with the default signal dispositions.
#[test]
fn a_program_of_ones_own_has_the_signals_that_it_expects() {
    let sandbox = Sandbox::open();
    let text = "#!/bin/sh\nread -r words <&3\necho refuse $(grep SigIgn /proc/self/status) >&3\n";
    let program = sandbox.write_script("dispositions", text);
    let arguments = format!("-m exec:{} -b 64 --total 640 --repetitions 1", program.display());
    sandbox.finish(sandbox.measuring(&arguments)).expect(4);
    let file = ResultsFile::read(&sandbox.results());
    let place = results::text(&file.failures[0], "where");
    let mask = place.rsplit(' ').next().expect("a mask");
    let mask = u64::from_str_radix(mask, 16).expect("hexadecimal digits");
    for number in [libc::SIGPIPE, libc::SIGXFSZ] {
        assert_eq!(mask >> (number - 1) & 1, 0, "signal {number} is ignored: {place}");
    }
}
