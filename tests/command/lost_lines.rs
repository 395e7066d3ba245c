//! Lost and duplicated lines: the reader gets a warning, and missing runs are repeated.

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;

use crate::complete_file::assert_whole;
use crate::results::{ResultsFile, lines, number, text};
use crate::sandbox::Sandbox;

/// A complete file of twelve runs, each observed by an instrument.
struct Measured {
    sandbox: Sandbox,
    lines: Vec<String>,
    shown: String,
}

impl Measured {
    fn new() -> Self {
        let sandbox = Sandbox::open();
        let arguments =
            "-m null,pipe,unix-stream -b 64 --total 6400 --repetitions 3 --instrument rusage";
        sandbox.finish(sandbox.measuring(arguments)).expect(0);
        let text = fs::read_to_string(sandbox.results()).expect("results");
        let lines = text.lines().map(str::to_owned).collect();
        let shown = show(&sandbox).0;
        Self { sandbox, lines, shown }
    }

    /// Returns the indices of lines that are samples.
    fn samples(&self) -> Vec<usize> {
        let is_sample = |at: &usize| self.lines[*at].starts_with("{\"kind\":\"sample\"");
        (0..self.lines.len()).filter(is_sample).collect()
    }

    fn write(&self, lines: &[String]) {
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        fs::write(self.sandbox.results(), text).expect("a file");
    }

    fn write_without(&self, left_out: &[usize]) {
        let kept = self.lines.iter().enumerate().filter(|(at, _)| !left_out.contains(at));
        self.write(&kept.map(|(_, line)| line.clone()).collect::<Vec<_>>());
    }

    /// Checks that the file shows the same as the measured one, with a warning that contains `words`.
    fn shows_the_same(&self, words: &str) {
        let (shown, printed) = show(&self.sandbox);
        assert_eq!(shown, self.shown);
        assert!(printed.contains(words), "no `{words}`: {printed}");
    }

    fn resume(&self) -> String {
        let command = format!("resume {}", self.sandbox.results().display());
        self.sandbox.run(&command).expect(0).stderr
    }
}

/// Returns the objects that `show` prints, and its warnings.
fn show(sandbox: &Sandbox) -> (String, String) {
    let command = format!("show --json {}", sandbox.results().display());
    let shown = sandbox.run(&command).expect(0);
    (shown.stdout, shown.stderr)
}

#[test]
fn lines_are_numbered_from_one_and_go_on_so() {
    let measured = Measured::new();
    let numbers = || -> Vec<u64> {
        lines(&measured.sandbox.results())[1..].iter().map(|line| number(line, "seq")).collect()
    };
    let all: Vec<u64> = (1..measured.lines.len() as u64).collect();
    assert_eq!(numbers(), all);
    measured.write(&measured.lines[..measured.samples()[2]]);
    measured.resume();
    assert_eq!(numbers(), all);
    let footer = ResultsFile::read(&measured.sandbox.results()).footer;
    let count = |kind: &str| {
        let of = lines(&measured.sandbox.results());
        of.iter().filter(|line| line["kind"] == kind).count() as u64
    };
    for (key, kind) in
        [("samples", "sample"), ("observations", "observation"), ("failures", "failure")]
    {
        assert_eq!(number(&footer, key), count(kind), "{footer}");
    }
    assert_eq!(show(&measured.sandbox).1, "");
}

#[test]
fn lost_lines_are_told_and_their_runs_are_made_again() {
    let measured = Measured::new();
    let samples = measured.samples();
    // The lines of two runs, and the observations of another.
    let first = samples[4];
    let left_out: Vec<usize> = (first..samples[6]).chain([samples[8] + 1]).collect();
    measured.write_without(&left_out);
    let lost = left_out.len();
    let printed = show(&measured.sandbox).1;
    let from = format!(
        "{lost} lines are missing (numbers {first} to {}, {})",
        samples[6] - 1,
        samples[8] + 1
    );
    assert!(printed.contains(&from), "no `{from}`: {printed}");
    assert!(printed.contains("2 runs are missing, of 12 planned ("), "{printed}");
    let resumed = measured.resume();
    assert!(resumed.contains("are missing"), "{resumed}");
    let file = ResultsFile::read(&measured.sandbox.results());
    let runs: BTreeSet<(u64, &str)> =
        file.samples.iter().map(|one| (number(one, "block"), text(one, "case_id"))).collect();
    assert_eq!((file.samples.len(), runs.len()), (12, 12));
    assert_eq!(number(&file.footer, "lost_lines"), lost as u64);
    let again = show(&measured.sandbox).1;
    assert!(
        again.contains("were lost") && again.contains("before the measurement was resumed"),
        "{again}"
    );
    let whole = fs::read(measured.sandbox.results()).expect("a file");
    measured.resume();
    assert_eq!(fs::read(measured.sandbox.results()).expect("a file"), whole, "nothing is due");
}

/// Observations of a run whose own line is lost are dropped, and never assigned to the run that replaces it.
#[test]
fn what_was_seen_of_a_lost_run_is_not_that_of_the_next() {
    let measured = Measured::new();
    measured.write_without(&[measured.samples()[5]]);
    let printed = show(&measured.sandbox).1;
    assert!(printed.contains("1 line is missing (number "), "{printed}");
    assert!(
        printed.contains("observations were ignored, because the lines of their runs are missing"),
        "{printed}"
    );
    measured.resume();
    let (objects, printed) = show(&measured.sandbox);
    let objects: Vec<Value> = serde_json::from_str(&objects).expect("an array");
    assert_eq!(objects.len(), 3);
    assert!(
        printed.contains("observations were ignored, because the lines of their runs are missing"),
        "{printed}"
    );
}

#[test]
fn a_file_that_stands_behind_itself_is_read_as_one() {
    let measured = Measured::new();
    let all = &measured.lines;
    let below = all.len() - 1;
    measured.write(&[all.as_slice(), all].concat());
    measured.shows_the_same(&format!("{} duplicated lines were ignored", all.len()));
    measured.write(&[all.as_slice(), &all[1..]].concat());
    measured.shows_the_same(&format!("{below} duplicated lines were ignored"));
    measured.write(&[&all[..9], all].concat());
    measured.shows_the_same("9 duplicated lines were ignored");
    measured.write(&[all.as_slice(), &all[..9]].concat());
    measured.shows_the_same("9 duplicated lines were ignored");
    // No run is due, and none is made.
    let before = fs::read(measured.sandbox.results()).expect("a file");
    assert!(measured.resume().contains("9 duplicated lines were ignored"));
    assert_eq!(fs::read(measured.sandbox.results()).expect("a file"), before);
}

#[test]
fn a_line_that_is_there_twice_counts_once() {
    let measured = Measured::new();
    for at in [measured.samples()[3], measured.samples()[3] + 1, measured.lines.len() - 1] {
        let mut doubled = measured.lines.clone();
        doubled.insert(at, measured.lines[at].clone());
        measured.write(&doubled);
        measured.shows_the_same("1 duplicated line was ignored");
    }
}

/// Files from before lines were numbered.
#[test]
fn without_numbers_runs_are_told_apart_by_their_names() {
    let measured = Measured::new();
    let unnumbered = |line: &String| {
        let mut line: Value = serde_json::from_str(line).expect("JSON");
        let object = line.as_object_mut().expect("an object");
        for key in ["seq", "observations", "lost_lines"] {
            object.remove(key);
        }
        let kind = object.remove("kind").expect("a kind");
        let rest = line.to_string();
        format!("{{\"kind\":{kind},{}", &rest[1..])
    };
    let old: Vec<String> = measured.lines.iter().map(unnumbered).collect();
    measured.write(&old);
    assert_eq!(show(&measured.sandbox), (measured.shown.clone(), String::new()));
    measured.write(&[old.as_slice(), &old].concat());
    measured.shows_the_same(&format!("{} duplicated lines were ignored", old.len()));
    let without: Vec<String> = (0..old.len())
        .filter(|at| *at != measured.samples()[2])
        .map(|at| old[at].clone())
        .collect();
    measured.write(&without);
    let printed = show(&measured.sandbox).1;
    assert!(printed.contains("the footer counts 12 samples"), "{printed}");
    assert!(printed.contains("1 run is missing, of 12 planned ("), "{printed}");
    // The file is resumed, and the new lines are numbered.
    measured.resume();
    assert_eq!(ResultsFile::read(&measured.sandbox.results()).samples.len(), 12);
    assert!(!show(&measured.sandbox).1.contains("missing, of"));
}

#[test]
fn runs_of_cases_that_are_not_in_the_plan_are_told() {
    let measured = Measured::new();
    let at = measured.samples()[0];
    let mut lines = measured.lines.clone();
    lines[at] = lines[at].replacen("\"case_id\":\"", "\"case_id\":\"odd ", 1);
    measured.write(&lines);
    let printed = show(&measured.sandbox).1;
    assert!(
        printed.contains("1 run belongs to a case that the plan does not contain, such as `odd "),
        "{printed}"
    );
}

/// A run that failed for lack of a resource is due again; other failures only on request.
#[test]
fn failed_runs_are_made_again_where_they_may_go_well_or_where_it_is_asked_for() {
    let measured = Measured::new();
    let samples = measured.samples();
    let failure = |at: usize, transient: bool| {
        let mut line: Value = serde_json::from_str(&measured.lines[at]).expect("JSON");
        line["kind"] = "failure".into();
        line["what"] = "worker".into();
        line["role"] = Value::Null;
        line["where"] = "starting a worker".into();
        line["errno"] = 11.into();
        line["remedy"] = Value::Null;
        line["transient"] = transient.into();
        line.to_string()
    };
    let mut all = measured.lines.clone();
    (all[samples[1]], all[samples[2]]) = (failure(samples[1], true), failure(samples[2], false));
    // A failed run has no observations.
    let without: Vec<String> = (0..all.len())
        .filter(|at| {
            !(samples[1] + 1..samples[2]).contains(at) && !(samples[2] + 1..samples[3]).contains(at)
        })
        .map(|at| all[at].clone())
        .collect();
    measured.write(&without);
    let results = measured.sandbox.results();
    let file = || ResultsFile::read(&results);
    let resume = |flag: &str, code: i32| {
        measured.sandbox.run(&format!("resume {flag} {}", results.display())).expect(code)
    };
    let printed = resume("", 4).stderr;
    let failed =
        |printed: &str| printed.lines().filter(|line| line.starts_with("failed: ")).count();
    assert_eq!(failed(&printed), 1, "{printed}");
    assert_eq!((file().samples.len(), file().failures.len()), (11, 2));
    assert_eq!(number(&file().samples[10], "attempt"), 2);
    assert_eq!(file().footer["complete"], true);
    let whole = fs::read(&results).expect("a file");
    resume("", 4);
    assert_eq!(fs::read(&results).expect("a file"), whole, "nothing is due");
    let printed = resume("--retry-failed", 0).stderr;
    assert_eq!(failed(&printed), 0, "{printed}");
    let last = file();
    assert_eq!((last.samples.len(), last.failures.len()), (12, 2), "what failed stays in the file");
    assert_eq!((number(&last.footer, "failures"), number(&last.samples[11], "attempt")), (2, 2));
    let names: BTreeSet<String> = last
        .samples
        .iter()
        .chain(&last.failures)
        .map(|run| text(run, "run_id").to_owned())
        .collect();
    assert_eq!(names.len(), 14, "each run has a name of its own");
    let shown = measured.sandbox.run(&format!("show {}", results.display())).expect(0);
    assert_eq!(failed(&shown.stdout), 0, "{}", shown.stdout);
}

/// A file that claims to be complete is not, if a run is due again.
#[test]
fn a_file_with_a_failure_that_may_go_well_is_not_finished() {
    let measured = Measured::new();
    let at = measured.samples()[11];
    let line = measured.lines[at].replacen(
        "\"kind\":\"sample\"",
        "\"kind\":\"failure\",\"what\":\"worker\",\"where\":\"x\",\"transient\":true",
        1,
    );
    let mut all = measured.lines.clone();
    all[at] = line;
    all.retain(|line| !line.contains("\"kind\":\"observation\""));
    measured.write(&all);
    let command = format!("show {}", measured.sandbox.results().display());
    measured.sandbox.run(&command).expect(0);
    measured.resume();
    assert_eq!(ResultsFile::read(&measured.sandbox.results()).samples.len(), 12);
}

#[test]
fn a_file_that_lost_nothing_is_whole() {
    let measured = Measured::new();
    assert_eq!(show(&measured.sandbox).1, "");
    assert_whole(&measured.sandbox.results());
}
