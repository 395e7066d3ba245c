//! Results files that cannot be read, and damaged ones that can.

use std::fs;
use std::path::{Path, PathBuf};

use crate::laboratory::Laboratory;

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

/// A results file of four runs, and its laboratory.
struct Written {
    laboratory: Laboratory,
    lines: Vec<String>,
}

impl Written {
    fn new() -> Self {
        let laboratory = Laboratory::open();
        let arguments = "-m null,pipe -b 64 --total 6400 --repetitions 1";
        laboratory.finish(laboratory.measuring(arguments)).expect(0);
        let text = fs::read_to_string(laboratory.results()).expect("results");
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        assert_eq!(lines.len(), 6);
        Self { laboratory, lines }
    }

    fn changed(&self, contents: &str) -> PathBuf {
        let path = self.laboratory.path("changed.jsonl");
        fs::write(&path, contents).expect("a file");
        path
    }

    fn refused(&self, contents: &str, words: &[&str]) {
        refused(&self.laboratory, &self.changed(contents), words);
    }

    /// Checks that every command skips a line of `contents` with a warning that contains all `words`. Commands that may
    /// not skip a line must refuse the file.
    fn left_out(&self, contents: &str, words: &[&str]) {
        words.iter().for_each(|word| self.warned(contents, word));
        let path = self.changed(contents);
        for command in ["show --strict", "resume"] {
            let told = self.laboratory.run(&format!("{command} {}", path.display())).expect(2);
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
            let told = self.laboratory.run(&command).expect(0);
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
fn refused(laboratory: &Laboratory, path: &Path, words: &[&str]) {
    for (before, after) in COMMANDS {
        let command = format!("{before} {} {after}", path.display());
        let told = laboratory.run(&command).expect(2);
        assert_eq!(told.stderr.lines().count(), 1, "{command}: {}", told.stderr);
        assert_eq!(told.stdout, "", "{command}");
        for word in words.iter().copied().chain([path.to_str().expect("a plain name")]) {
            assert!(told.stderr.contains(word), "{command}: no `{word}`: {}", told.stderr);
        }
    }
}

#[test]
fn a_whole_file_is_shown_without_a_warning() {
    let written = Written::new();
    let path = written.changed(&written.whole());
    let shown = written.laboratory.run(&format!("show {}", path.display())).expect(0);
    assert_eq!(shown.stderr, "");
}

#[test]
fn a_foreign_file_is_refused() {
    let written = Written::new();
    written.refused("", &["no results file"]);
    written.refused("hello\n", &["no results file"]);
    written.refused("{\"a\":1}\n{\"b\":2}\n", &["no results file"]);
    written.refused("[]\n", &["no results file"]);
    written.refused(&written.lines[1..].join("\n"), &["no results file"]);
    refused(&written.laboratory, Path::new("/nowhere/results.jsonl"), &["cannot read"]);
    refused(&written.laboratory, Path::new("/"), &["cannot read"]);
}

#[test]
fn a_binary_file_is_refused() {
    let laboratory = Laboratory::open();
    let binary = Path::new(env!("CARGO_BIN_EXE_ipcperf"));
    refused(&laboratory, binary, &["no results file"]);
}

#[test]
fn a_newer_file_is_refused_with_both_versions() {
    let written = Written::new();
    let newer = written.lines[0].replacen("\"schema\":1", "\"schema\":99", 1);
    written.refused(&written.with_line(0, &newer), &["newer", "99", "up to 1"]);
}

#[test]
fn a_bad_header_is_refused() {
    let written = Written::new();
    let header = |from: &str, to: &str| {
        let changed = written.lines[0].replacen(from, to, 1);
        assert_ne!(changed, written.lines[0], "{from} is in the header");
        written.with_line(0, &changed)
    };
    written.refused(&header("\"schema\":1,", ""), &["bad header"]);
    written.refused(&header("\"schema\":1", "\"schema\":0"), &["bad header"]);
    written.refused(&header("\"schema\":1", "\"schema\":\"one\""), &["bad header"]);
    written.refused(&header("\"seed\":", "\"sad\":"), &["bad header"]);
}

#[test]
fn a_bad_line_inside_is_left_out_with_its_number() {
    let written = Written::new();
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
    let written = Written::new();
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
    for key in ["\"set_aside\":", "\"cpu_pair_class\":", "\"mechanism\":"] {
        written.left_out(&edited(key, "[{}]"), &["line 4"]);
    }
}

/// Absurd but possible values are shown without a panic, and only plain text reaches the terminal.
#[test]
fn absurd_values_are_shown_as_they_are() {
    let laboratory = Laboratory::open();
    let path = laboratory.path("absurd.jsonl");
    let sample = REAL.lines().find(|line| line.contains("\"set_aside\":null")).expect("a sample");
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
            let told = laboratory.run(&command).expect(0);
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
    let written = Written::new();
    let whole = written.whole();
    written.warned(&whole[..whole.len() - 20], "torn");
    written.warned(&whole[..whole.len() - 1], "torn");
    let samples = written.lines[..4].join("\n");
    written.warned(&format!("{samples}\n"), "no footer");
}

#[test]
fn each_of_several_files_is_shown() {
    let written = Written::new();
    let (one, other) = (written.laboratory.results(), written.changed(&written.whole()));
    let both = format!("show {} {}", one.display(), other.display());
    let shown = written.laboratory.run(&both).expect(0);
    for path in [one, other] {
        assert!(shown.stdout.contains(&path.display().to_string()), "{}", shown.stdout);
    }
}
