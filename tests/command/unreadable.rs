//! Results files that cannot be read, and damaged ones that can.

use std::fs;
use std::path::{Path, PathBuf};

use crate::sandbox::Sandbox;

/// Commands that read results files and must report the same errors: words before and after the file.
const COMMANDS: &[(&str, &str)] = &[
    ("show", ""),
    ("show --json", ""),
    ("export csv-runs", ""),
    ("export markdown", ""),
    ("report -o /dev/null", ""),
];

/// A small file from a real measurement.
const REAL: &str = include_str!("files/three-mechanisms.jsonl");

/// A results file of four runs, and its sandbox.
struct DamagedFile {
    sandbox: Sandbox,
    lines: Vec<String>,
}

impl DamagedFile {
    fn new() -> Self {
        let sandbox = Sandbox::open();
        let arguments = "-m null,pipe -b 64 --total 6400 --repetitions 1";
        sandbox.finish(sandbox.measuring(arguments)).expect(0);
        let text = fs::read_to_string(sandbox.results()).expect("results");
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        assert_eq!(lines.len(), 6);
        Self { sandbox, lines }
    }

    fn changed(&self, contents: &str) -> PathBuf {
        let path = self.sandbox.path("changed.jsonl");
        fs::write(&path, contents).expect("a file");
        path
    }

    fn refused(&self, contents: &str, words: &[&str]) {
        refused(&self.sandbox, &self.changed(contents), words);
    }

    /// Checks that every command skips a line of `contents` with a warning that contains all `words`. Commands that may
    /// not skip a line must refuse the file.
    fn left_out(&self, contents: &str, words: &[&str]) {
        words.iter().for_each(|word| self.warned(contents, word));
        let path = self.changed(contents);
        for command in ["show --strict", "resume"] {
            let told = self.sandbox.run(&format!("{command} {}", path.display())).expect(2);
            assert_eq!((told.stderr.lines().count(), &*told.stdout), (1, ""), "{}", told.stderr);
            for word in words {
                assert!(told.stderr.contains(word), "{command}: no `{word}`: {}", told.stderr);
            }
        }
    }

    /// Checks that every command reads `contents` and prints a warning with `words`.
    fn warned(&self, contents: &str, words: &str) {
        let path = self.changed(contents);
        for (before, after) in COMMANDS {
            let command = format!("{before} {} {after}", path.display());
            let told = self.sandbox.run(&command).expect(0);
            assert!(told.stderr.lines().all(|line| line.contains("warning")), "{}", told.stderr);
            assert!(told.stderr.contains(words), "{command}: {}", told.stderr);
        }
    }

    fn whole(&self) -> String {
        self.lines.iter().map(|line| format!("{line}\n")).collect()
    }

    fn with_line(&self, number: usize, line: &str) -> String {
        let mut lines = self.lines.clone();
        line.clone_into(&mut lines[number]);
        lines.join("\n") + "\n"
    }
}

/// Checks that every command refuses the file at `path` in one line that names it and contains all `words`.
fn refused(sandbox: &Sandbox, path: &Path, words: &[&str]) {
    for (before, after) in COMMANDS {
        let command = format!("{before} {} {after}", path.display());
        let told = sandbox.run(&command).expect(2);
        assert_eq!(told.stderr.lines().count(), 1, "{command}: {}", told.stderr);
        assert_eq!(told.stdout, "", "{command}");
        for word in words.iter().copied().chain([path.to_str().expect("a plain name")]) {
            assert!(told.stderr.contains(word), "{command}: no `{word}`: {}", told.stderr);
        }
    }
}

#[test]
fn a_whole_file_is_shown_without_a_warning() {
    let written = DamagedFile::new();
    let path = written.changed(&written.whole());
    let shown = written.sandbox.run(&format!("show {}", path.display())).expect(0);
    assert_eq!(shown.stderr, "");
}

#[test]
fn a_foreign_file_is_refused() {
    let written = DamagedFile::new();
    written.refused("", &["not an ipcperf results file"]);
    written.refused("hello\n", &["not an ipcperf results file", "; name a file"]);
    written.refused("{\"a\":1}\n{\"b\":2}\n", &["not an ipcperf results file"]);
    written.refused("[]\n", &["not an ipcperf results file"]);
    written.refused(&written.lines[1..].join("\n"), &["not an ipcperf results file"]);
    refused(&written.sandbox, Path::new("/nowhere/results.jsonl"), &["cannot read"]);
    refused(&written.sandbox, Path::new("/"), &["cannot read"]);
}

#[test]
fn a_binary_file_is_refused() {
    let sandbox = Sandbox::open();
    let binary = Path::new(env!("CARGO_BIN_EXE_ipcperf"));
    refused(&sandbox, binary, &["not an ipcperf results file"]);
}

#[test]
fn a_file_of_another_version_is_refused_with_both_versions() {
    let written = DamagedFile::new();
    for (schema, age) in [(99, "newer"), (1, "older")] {
        let other = written.lines[0].replacen("\"schema\":2", &format!("\"schema\":{schema}"), 1);
        let words = [age, &format!("schema {schema}"), "reads schema 2"];
        written.refused(&written.with_line(0, &other), &words);
    }
}

#[test]
fn a_bad_header_is_refused() {
    let written = DamagedFile::new();
    let header = |from: &str, to: &str| {
        let changed = written.lines[0].replacen(from, to, 1);
        assert_ne!(changed, written.lines[0], "{from} is in the header");
        written.with_line(0, &changed)
    };
    written.refused(&header("\"schema\":2,", ""), &["bad header"]);
    written.refused(&header("\"schema\":2", "\"schema\":0"), &["bad header"]);
    written.refused(&header("\"schema\":2", "\"schema\":\"one\""), &["bad header"]);
    written.refused(&header("\"seed\":", "\"sad\":"), &["bad header"]);
}

#[test]
fn a_bad_line_inside_is_left_out_with_its_number() {
    let written = DamagedFile::new();
    let sample = &written.lines[2];
    written.left_out(&written.with_line(2, &sample[..sample.len() / 2]), &["line 3"]);
    written.left_out(&written.with_line(3, ""), &["line 4"]);
    written.left_out(&written.with_line(3, "{\"kind\":\"sample\"}"), &["line 4"]);
    written.left_out(&written.with_line(1, "{\"kind\":\"unheard-of\"}"), &["line 2"]);
    // The header of another file is not a valid line of this one.
    let other = written.lines[0].replacen("\"quick\":false", "\"quick\":true", 1);
    written.refused(&written.with_line(4, &other), &["line 5", "second header"]);
}

#[test]
fn a_line_that_somebody_has_edited_is_left_out_where_it_makes_no_sense() {
    let written = DamagedFile::new();
    let edited = |from: &str, to: &str| {
        let sample = &written.lines[3];
        let at = sample.find(from).unwrap_or_else(|| panic!("no {from}: {sample}")) + from.len();
        let rest = &sample[at..];
        let end = rest.find([',', '}']).expect("something after a value");
        written.with_line(3, &format!("{}{to}{}", &sample[..at], &rest[end..]))
    };
    written.left_out(&edited("\"elapsed_ns\":", "-1"), &["line 4", "-1"]);
    written.left_out(&edited("\"elapsed_ns\":", "1e308"), &["line 4", "floating point"]);
    written.left_out(&edited("\"elapsed_ns\":", "18446744073709551616"), &["line 4"]);
    written.left_out(&edited("\"elapsed_ns\":", "\"long\""), &["line 4", "long"]);
    written.left_out(&edited("\"block\":", "4294967296"), &["line 4"]);
    written.left_out(&edited("\"workload\":", "\"a\\nb\\u001b[2J\""), &["line 4"]);
    written.left_out(&edited("\"cpus\":", &"[".repeat(10_000)), &["line 4"]);
    for key in ["\"excluded\":", "\"cpu_pair_class\":", "\"mechanism\":"] {
        written.left_out(&edited(key, "[{}]"), &["line 4"]);
    }
}

/// Absurd but possible values are shown without a panic, and only plain text reaches the terminal.
#[test]
fn absurd_values_are_shown_as_they_are() {
    let sandbox = Sandbox::open();
    let path = sandbox.path("absurd.jsonl");
    let sample = REAL.lines().find(|line| line.contains("\"excluded\":null")).expect("a sample");
    for (key, value) in [
        ("buffer_bytes", "0"),
        ("buffer_bytes", "18446744073709551615"),
        ("elapsed_ns", "0"),
        ("messages", "18446744073709551615"),
        ("round_trip_histogram", "\"////////////////////////////////\""),
        ("placement", "\"<script>\\u001b[2J\\r\""),
    ] {
        let mut object: serde_json::Value = serde_json::from_str(sample).expect("JSON");
        object[key] = serde_json::from_str(value).expect("JSON");
        fs::write(&path, REAL.replace(sample, &object.to_string())).expect("a file");
        for (before, after) in COMMANDS {
            let command = format!("{before} {} {after}", path.display());
            let told = sandbox.run(&command).expect(0);
            assert_eq!(told.stderr, "", "{key} of {value}");
            // CSV lines end in CR LF (RFC 4180).
            let printed = told.stdout.replace("\r\n", "\n");
            let is_obeyed = |c: char| c.is_control() && c != '\n';
            assert!(!printed.contains(is_obeyed), "{key} of {value}: {command:?}");
        }
    }
}

#[test]
fn a_torn_last_line_is_left_out_with_a_warning() {
    let written = DamagedFile::new();
    let whole = written.whole();
    written.warned(&whole[..whole.len() - 20], "the last line is incomplete");
    written.warned(&whole[..whole.len() - 1], "the last line is incomplete");
    let samples = written.lines[..4].join("\n");
    written.warned(&format!("{samples}\n"), "no footer");
}

#[test]
fn each_of_several_files_is_shown() {
    let written = DamagedFile::new();
    let (one, other) = (written.sandbox.results(), written.changed(&written.whole()));
    let both = format!("show {} {}", one.display(), other.display());
    let shown = written.sandbox.run(&both).expect(0);
    for path in [one, other] {
        assert!(shown.stdout.contains(&path.display().to_string()), "{}", shown.stdout);
    }
}
