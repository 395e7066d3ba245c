//! Foreign text reaches a terminal as plain text: a hostile string is inserted into every string of a results file and
//! passed to every command that prints it.

use std::fs;
use std::path::Path;

use ipcperf_report::export::EXPORTERS;
use serde_json::{Map, Value};

use crate::sandbox::{Finished, Sandbox};

const REAL: [&str; 3] = [
    include_str!("files/three-mechanisms.jsonl"),
    include_str!("files/watched.jsonl"),
    include_str!("files/synthetic-counters.jsonl"),
];

/// Control sequences for the window title, the screen and colours, changes of text direction, unusual line ends and
/// invisible characters.
const HOSTILE: &str = "\u{1b}]0;title\u{7}\u{1b}[2J\u{9b}31m\u{202e}txt\u{2066}\u{200f}\u{61c}\u{85}\u{2028}\u{0}\u{7f}\
                       \u{feff}\u{200b}\u{e0041}\nPLANTED";

/// Keys whose value must be from a list: a line with another value is invalid and skipped.
const WORDS: [&str; 17] = [
    "kind",
    "workload",
    "mode",
    "touch",
    "payload",
    "buffers",
    "first_touch",
    "reply",
    "excluded",
    "what",
    "check",
    "content",
    "delivery",
    "kernel_buffer",
    "warm_up",
    "gate",
    "objects",
];

/// Whether `letter` controls a terminal or misleads a reader.
fn is_obeyed(letter: char) -> bool {
    let is_hidden = matches!(letter, '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{e0000}'..='\u{e0fff}');
    (letter.is_control() && letter != '\n') || is_hidden
}

fn assert_plain(what: &str, text: &str) {
    let found = text.char_indices().find(|(_, letter)| is_obeyed(*letter));
    if let Some((at, letter)) = found {
        let near: String = text[at..].chars().take(40).collect();
        let before: String =
            text[..at].chars().rev().take(60).collect::<Vec<_>>().into_iter().rev().collect();
        panic!("{what}: {letter:?} after {before:?}: {near:?}");
    }
}

/// Appends the string to each string in `value`, and to the keys of objects with free keys, except for `words`.
fn plant(value: &mut Value, key: &str, words: &[&str]) {
    match value {
        Value::String(_) if words.contains(&key) => {}
        // No other word is valid in place of a number.
        Value::String(text) if text == "unlimited" => {}
        Value::String(text) => text.push_str(HOSTILE),
        Value::Array(items) => items.iter_mut().for_each(|item| plant(item, key, words)),
        Value::Object(fields) => {
            fields.iter_mut().for_each(|(key, value)| plant(value, key, words));
            if matches!(key, "options" | "libraries") {
                let named = std::mem::take(fields).into_iter();
                *fields = named.map(|(key, value)| (key + HOSTILE, value)).collect::<Map<_, _>>();
            }
        }
        _ => {}
    }
}

/// Returns `real` with the string inserted everywhere, and with lines added that provide more strings.
fn planted(real: &str, words: &[&str]) -> String {
    let mut all: Vec<Value> =
        real.lines().map(|line| serde_json::from_str(line).expect(line)).collect();
    let sample = all.iter().rfind(|line| line["kind"] == "sample").expect("a sample").clone();
    let mut failure = sample.clone();
    for (key, value) in [
        ("kind", "failure"),
        ("what", "call"),
        ("where", "here"),
        ("remedy", "try"),
        ("run_id", "7.7.7"),
    ] {
        failure[key] = value.into();
    }
    (failure["role"], failure["errno"]) = (Value::Null, 5.into());
    let last = all.len() - 1;
    all.insert(last, failure);
    let mut refused = sample.clone();
    refused["reason"] = "too large".into();
    let unavailable = serde_json::json!({ "mechanism": "x", "reason": "gone", "remedy": "look" });
    let unavailable_instrument = serde_json::json!({ "instrument": "sched", "partly_available": false, "reason": "no", "remedy": "yes" });
    let plan = &mut all[0]["plan"];
    (plan["refused"], plan["unavailable"]) =
        (serde_json::json!([refused]), serde_json::json!([unavailable]));
    plan["unavailable_instruments"] = serde_json::json!([unavailable_instrument]);
    for line in &mut all {
        if line["kind"] == "sample" {
            line["options"] = serde_json::json!({ "flavour": "sweet" });
            line["cpu_pair_class"] = line["cpu_pair_class"].as_str().unwrap_or("9ns").into();
        }
        plant(line, "", words);
    }
    all.iter().map(|line| format!("{line}\n")).collect()
}

/// Commands that print parts of a results file, without the file; the export formats are added to them.
const COMMANDS: [&str; 6] = [
    "show",
    "show --json",
    "show --strict",
    "study judge",
    "study judge --study pipe-or-socket",
    "study judge --json --study pipe-or-socket",
];

fn assert_all_plain(sandbox: &Sandbox, path: &Path) {
    let page = sandbox.path("page.html");
    let figures = sandbox.path("figures");
    let file = path.display();
    let report = format!("report -o {} --figures {} {file}", page.display(), figures.display());
    let resume = format!("resume {file}");
    let exports = EXPORTERS.iter().map(|exporter| format!("export {} {file}", exporter.name));
    let shows = COMMANDS.iter().map(|command| format!("{command} {file}"));
    let all = shows.chain(exports).chain([report, resume]);
    for command in all {
        let Finished { stdout, stderr, .. } = sandbox.run(&command);
        // CSV lines end in CR LF (RFC 4180).
        assert_plain(&command, &stdout.replace("\r\n", "\n"));
        assert_plain(&command, &stderr);
        assert!(!stderr.lines().any(|line| line.starts_with("PLANTED")), "{command}: {stderr}");
    }
    if let Ok(text) = fs::read_to_string(&page) {
        assert_plain("the report", &text);
        for figure in fs::read_dir(&figures).expect("figures") {
            let figure = figure.expect("a figure").path();
            if figure.extension().is_some_and(|extension| extension == "svg") {
                assert_plain("a figure", &fs::read_to_string(&figure).expect("a figure"));
            }
        }
    }
}

#[test]
fn nothing_in_a_results_file_reaches_a_terminal_but_text() {
    let sandbox = Sandbox::open();
    for real in REAL {
        let path = sandbox.path("planted.jsonl");
        fs::write(&path, planted(real, &WORDS)).expect("a file");
        let shown = sandbox.run(&format!("show --json --strict {}", path.display())).expect(0);
        let objects: Vec<Value> = serde_json::from_str(&shown.stdout).expect("an array");
        let names = objects.iter().filter_map(|object| object["case_id"].as_str());
        assert!(names.clone().count() >= 1, "what is planted is read");
        assert!(names.clone().all(|name| name.ends_with(HOSTILE)), "and says the same");
        assert_all_plain(&sandbox, &path);
    }
}

/// The string takes the place of a word that must be from a list.
#[test]
fn lines_that_are_left_out_are_told_in_plain_text() {
    let sandbox = Sandbox::open();
    for word in ["workload", "mode", "touch", "excluded", "what"] {
        let path = sandbox.path("planted.jsonl");
        let others: Vec<&str> = WORDS.into_iter().filter(|one| *one != word).collect();
        let text = planted(REAL[0], &others);
        fs::write(&path, text).expect("a file");
        assert_all_plain(&sandbox, &path);
    }
}

/// The string is in the arguments and in file names.
#[test]
fn names_of_files_and_words_that_were_typed_are_told_in_plain_text() {
    let sandbox = Sandbox::open();
    let (plain, odd) = (HOSTILE.replace('\0', ""), sandbox.path("x"));
    let odd = format!("{}{}", odd.display(), plain.replace(['/', '\n'], ""));
    fs::write(&odd, REAL[0]).expect("a file");
    fs::write(format!("{odd}.toml"), "x = 1\n").expect("a file");
    let toml = format!("{odd}.toml");
    let all: [&[&str]; 12] = [
        &["show", &odd],
        &["export", "csv", &odd],
        &["export", "markdown", &odd, &odd],
        &["export", "benchstat", &odd, &odd],
        &["resume", &odd],
        &["study", "check", &toml],
        &["study", "check", "--json", &toml],
        &["run", "-m", &plain],
        &["run", "-m", "pipe", "--set", &plain],
        &["run", "-m", "pipe", "-b", &plain],
        &["plan", &plain],
        &["show", &plain],
    ];
    for words in all {
        let mut command = sandbox.command("");
        command.args(words);
        let finished = sandbox.finish(command);
        assert_plain(&format!("{words:?}"), &finished.stdout.replace("\r\n", "\n"));
        assert_plain(&format!("{words:?}"), &finished.stderr);
    }
}
