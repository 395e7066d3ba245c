//! Results that cannot be written: exit code 5, and everything written before is kept.

use std::path::Path;
use std::process::Command;

use crate::results::lines;
use crate::sandbox::{Finished, Sandbox, with_time};

const CASE: &str = "run -m pipe -b 64 --total 6400 --repetitions 1";

fn unwritable(sandbox: &Sandbox, path: &str) -> Finished {
    let finished = sandbox.run(&with_time(&format!("{CASE} --force --out {path}"))).expect(5);
    assert_eq!(finished.stderr.lines().count(), 1, "{}", finished.stderr);
    assert!(finished.stderr.contains(path), "{}", finished.stderr);
    assert!(finished.stderr.contains("cannot write results"), "{}", finished.stderr);
    sandbox.assert_nothing_left();
    finished
}

#[test]
fn a_folder_that_is_not_there_is_told() {
    let sandbox = Sandbox::open();
    let path = sandbox.path("nowhere/results.jsonl");
    let told = unwritable(&sandbox, path.to_str().expect("a plain path"));
    assert!(told.stderr.contains("create the folder"), "{}", told.stderr);
    assert!(!told.stderr.contains("are kept"), "nothing was written: {}", told.stderr);
    assert!(!Path::new(&path).exists());
}

/// `/sys` accepts no new files, not even from root.
#[test]
fn a_folder_that_may_not_be_written_is_told() {
    unwritable(&Sandbox::open(), "/sys/ipcperf.jsonl");
}

#[test]
fn a_folder_in_place_of_a_file_is_told() {
    let sandbox = Sandbox::open();
    let folder = sandbox.path("data");
    unwritable(&sandbox, folder.to_str().expect("a plain path"));
}

#[test]
fn a_folder_is_not_said_to_be_replaceable() {
    let sandbox = Sandbox::open();
    let folder = sandbox.path("data").display().to_string();
    let refused = sandbox.run(&with_time(&format!("{CASE} --out {folder}"))).expect(2);
    assert!(refused.stderr.contains(&format!("{folder} is a folder")), "{}", refused.stderr);
    assert!(!refused.stderr.contains("--force"), "{}", refused.stderr);
}

/// `ipcperf resume` has no `--out`.
#[test]
fn a_folder_that_is_resumed_gets_a_remedy_that_fits() {
    let sandbox = Sandbox::open();
    let refused = sandbox.run(&format!("resume {}", sandbox.path("data").display())).expect(5);
    assert!(refused.stderr.contains("name a results file, not a folder"), "{}", refused.stderr);
    assert!(!refused.stderr.contains("--out"), "{}", refused.stderr);
}

#[test]
fn a_full_disk_is_told() {
    let finished = unwritable(&Sandbox::open(), "/dev/full");
    assert!(finished.stderr.contains("No space left"), "{}", finished.stderr);
    assert!(!finished.stderr.contains("are kept"), "nothing was written: {}", finished.stderr);
}

/// The disk fills up during a run; a file-size limit has the same effect on a write.
#[test]
fn what_was_written_before_the_disk_filled_up_can_be_shown() {
    let sandbox = Sandbox::open();
    let results = sandbox.results();
    let mut shell = Command::new("sh");
    // 80 blocks of 512 or 1,024 bytes, depending on the shell. The header takes some 6 to 10 kB, depending on the machine,
    // and each sample some 2 kB.
    shell.arg("-c").arg("trap '' XFSZ; ulimit -f 80; exec \"$0\" \"$@\"");
    shell.arg(env!("CARGO_BIN_EXE_ipcperf"));
    let arguments =
        format!("run -m pipe -b 64 --total 6400 --repetitions 60 --out {}", results.display());
    let full = sandbox.finish(sandbox.place(shell, &with_time(&arguments))).expect(5);
    let remedy = format!("ipcperf resume {}", results.display());
    for words in ["results so far are kept", &remedy] {
        assert!(full.stderr.contains(words), "no `{words}`: {}", full.stderr);
    }
    let kept = lines(&results);
    assert!(kept.len() > 2 && kept.len() < 62, "{} lines", kept.len());
    assert!(std::fs::read(&results).expect("results").ends_with(b"\n"), "a torn line");
    let shown = sandbox.run(&format!("show {}", results.display())).expect(0);
    // The footer is shorter than the sample that did not fit, so it may fit.
    let last = &kept[kept.len() - 1];
    assert!(last["complete"] == false || shown.stderr.contains("no footer"), "{last}");
    sandbox.assert_nothing_left();
}
