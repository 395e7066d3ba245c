//! Files of custom mechanisms: a study finds them from whichever folder it is judged in, and two different files with
//! one name are distinguished.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::custom::{compile, example, pipes};
use crate::results::{ResultsFile, lines, text};
use crate::sandbox::Sandbox;
use crate::skip::skip;

/// Two buffer sizes of one library, with a relative path that matrix and hypotheses spell in different ways.
const STUDY: &str = r#"
name = "own"
title = "A library"
question = "Does its capacity matter?"

[sampling]
repetitions = 3
attempts = 1
timeout = 600
seed = 1

[[matrix]]
name = "both"
mechanism = ["null", "lib:./own.so"]
buffer = "64"
total = "64kB"
lib.capacity = ["8KiB", "16KiB"]

[[hypothesis]]
id = "H1"
claim = "The library costs more than nothing."
test = "ratio-within"
metric = "ns_per_message"
first = { mechanism = "lib:own.so", lib.capacity = "8KiB" }
second = { mechanism = "null" }
above = 1.5

[[hypothesis]]
id = "H2"
claim = "The smaller capacity costs more."
test = "ratio-within"
metric = "ns_per_message"
where = { mechanism = "lib:./own.so" }
first = { lib.capacity = "8KiB" }
second = { lib.capacity = "16KiB" }
above = 0.001
"#;

fn verdicts(sandbox: &Sandbox, folder: &Path) -> Vec<Value> {
    let mut judge = sandbox.command("study judge --json");
    judge.arg(sandbox.results()).current_dir(folder);
    serde_json::from_str(&sandbox.finish(judge).expect(0).stdout).expect("an array")
}

#[test]
fn a_study_finds_its_own_library_from_wherever_it_is_judged() {
    let Some(library) = pipes() else { return skip("the example of a library", "there is no cc") };
    let sandbox = Sandbox::open();
    let folder = sandbox.path("data");
    fs::copy(library, folder.join("own.so")).expect("a copy");
    fs::write(folder.join("own.toml"), STUDY).expect("a study");
    let mut run = sandbox.command("study run own.toml --allow-custom --quiet --out");
    run.arg(sandbox.results()).current_dir(&folder);
    sandbox.finish(run).expect(0);
    for from in [folder.clone(), sandbox.path("tmp")] {
        for verdict in verdicts(&sandbox, &from) {
            assert_ne!(text(&verdict, "verdict"), "not testable here", "{verdict}");
        }
    }
    let custom = &ResultsFile::read(&sandbox.results()).header["plan"]["custom"];
    let name = format!("lib:{}", folder.join("own.so").display());
    assert_eq!(text(&custom["sha256"], &name).len(), 64, "{custom}");
}

/// Returns a custom library and a custom program, each with its path and mechanism name.
fn own(sandbox: &Sandbox) -> Option<[(PathBuf, String); 2]> {
    let (library, program) = (sandbox.path("own.so"), sandbox.path("socket"));
    fs::copy(pipes()?, &library).expect("a copy");
    compile(&example("socket.c"), &program, &[])?;
    let names = [format!("lib:{}", library.display()), format!("exec:{}", program.display())];
    let [of_library, of_program] = names;
    Some([(library, of_library), (program, of_program)])
}

/// Replaces the file with a different one of the same name and function.
fn rebuild(path: &Path) {
    let whole = fs::read(path).expect("a file");
    let permissions = fs::metadata(path).expect("a file").permissions();
    fs::remove_file(path).expect("it is there");
    let mut file = OpenOptions::new().write(true).create_new(true).open(path).expect("a new file");
    file.write_all(&whole).and_then(|()| file.write_all(b"another build")).expect("room");
    drop(file);
    fs::set_permissions(path, permissions).expect("its permissions");
}

#[test]
fn two_files_of_one_name_are_two_mechanisms_and_none_is_gone_on_with_as_the_other() {
    let sandbox = Sandbox::open();
    let Some(own) = own(&sandbox) else {
        return skip("examples of one's own", "there is no cc");
    };
    for (path, name) in own {
        let measure = || {
            let arguments = format!("-m {name} -b 64 --total 640 --repetitions 2");
            sandbox.finish(sandbox.measuring(&arguments)).expect(0);
        };
        let before = sandbox.path("before.jsonl");
        measure();
        fs::copy(sandbox.results(), &before).expect("a copy");
        rebuild(&path);
        measure();
        let (before, after) = (before.display(), sandbox.results());
        let after = after.display();
        let alone = sandbox.run(&format!("show {before}")).expect(0).stdout;
        assert!(!alone.contains("sha256"), "{alone}");
        let both = sandbox.run(&format!("show {before} {after}")).expect(0).stdout;
        // A name may be broken over several lines.
        let joined: String = both.split_whitespace().collect();
        for results in [sandbox.path("before.jsonl"), sandbox.results()] {
            let header = ResultsFile::read(&results).header;
            let digits = &text(&header["plan"]["custom"]["sha256"], &name)[..12];
            assert!(joined.contains(digits), "no {digits}: {both}");
        }
        let rows = sandbox.run(&format!("show --json {before} {after}")).expect(0).stdout;
        let rows: Vec<Value> = serde_json::from_str(&rows).expect("an array");
        let [one, other] = &rows[..] else { panic!("{rows:?}") };
        assert_eq!(text(one, "case_id"), text(other, "case_id"));
        assert_ne!(text(one, "mechanism_sha256"), text(other, "mechanism_sha256"));
        let page = sandbox.path("page.html");
        sandbox.run(&format!("report {before} {after} -o {}", page.display())).expect(0);
        let page = fs::read_to_string(page).expect("a page");
        assert!(page.contains("No case was measured in two of the files."), "they are one case");
        let benchmarks =
            sandbox.run(&format!("export benchstat {before} {after}")).expect(0).stdout;
        assert_eq!(benchmarks.matches("/file=").count(), 4, "{benchmarks}");
        assert_not_resumed(&sandbox, &name);
    }
}

/// Checks that torn results of another file are neither resumed nor changed.
fn assert_not_resumed(sandbox: &Sandbox, name: &str) {
    let before = sandbox.path("before.jsonl");
    let text = fs::read_to_string(&before).expect("results");
    let kept: Vec<&str> = text.lines().take(2).collect();
    fs::write(&before, kept.join("\n") + "\n").expect("a torn file");
    let refused = sandbox.run(&format!("resume {}", before.display())).expect(2);
    assert!(refused.stderr.contains("has changed since"), "{}", refused.stderr);
    assert!(refused.stderr.contains(name), "{}", refused.stderr);
    assert_eq!(lines(&before).len(), 2);
}
