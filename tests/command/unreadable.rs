//! Results files that cannot be read, and those that can be in spite of a tear.

use std::fs;
use std::path::PathBuf;

use crate::laboratory::Laboratory;

/// A results file of four runs, and the place it lies in.
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

    /// `show` refuses `contents` in one line that has all `words`.
    fn refused(&self, contents: &str, words: &[&str]) {
        let path = self.changed(contents);
        let shown = self.laboratory.run(&format!("show {}", path.display())).expect(2);
        assert_eq!(shown.stderr.lines().count(), 1, "{}", shown.stderr);
        assert_eq!(shown.stdout, "");
        for word in words.iter().chain(&["changed.jsonl"]) {
            assert!(shown.stderr.contains(word), "no `{word}`: {}", shown.stderr);
        }
    }

    /// `show` reads `contents` and warns of `words`.
    fn warned(&self, contents: &str, words: &str) {
        let path = self.changed(contents);
        let shown = self.laboratory.run(&format!("show {}", path.display())).expect(0);
        assert!(shown.stderr.contains("warning"), "{}", shown.stderr);
        assert!(shown.stderr.contains(words), "{}", shown.stderr);
        assert!(shown.stdout.contains("pipe"), "{}", shown.stdout);
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
    let shown = written.laboratory.run("show /nowhere/results.jsonl").expect(2);
    assert!(shown.stderr.contains("/nowhere/results.jsonl"), "{}", shown.stderr);
    let folder = written.laboratory.run("show /").expect(2);
    assert_eq!(folder.stderr.lines().count(), 1, "{}", folder.stderr);
}

#[test]
fn a_binary_file_is_refused() {
    let laboratory = Laboratory::open();
    let binary = env!("CARGO_BIN_EXE_ipcperf");
    let shown = laboratory.run(&format!("show {binary}")).expect(2);
    assert!(shown.stderr.contains("no results file"), "{}", shown.stderr);
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
fn a_bad_line_inside_is_refused_with_its_number() {
    let written = Written::new();
    let sample = &written.lines[2];
    written.refused(&written.with_line(2, &sample[..sample.len() / 2]), &["line 3"]);
    written.refused(&written.with_line(3, ""), &["line 4"]);
    written.refused(&written.with_line(3, "{\"kind\":\"sample\"}"), &["line 4"]);
    written.refused(&written.with_line(1, "{\"kind\":\"unheard-of\"}"), &["line 2"]);
    written.refused(&written.with_line(4, &written.lines[0]), &["line 5", "second header"]);
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
