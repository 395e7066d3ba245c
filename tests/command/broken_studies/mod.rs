//! Studies with a mistake: each is reported with its line, its key and the correction.

mod base;
mod displays;
mod hypotheses;
mod matrices;
mod syntax;

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::sandbox::Sandbox;
pub(crate) use base::{Broken, GOOD};
use displays::EXHIBITS;
use hypotheses::HYPOTHESES;
use matrices::MATRICES;
use syntax::{KEYS, WRITTEN_AMISS};

fn all() -> impl Iterator<Item = &'static Broken> {
    WRITTEN_AMISS.iter().chain(KEYS).chain(MATRICES).chain(HYPOTHESES).chain(EXHIBITS)
}

/// Writes `text` to a file in `sandbox`.
fn file(sandbox: &Sandbox, text: impl AsRef<[u8]>) -> PathBuf {
    let path = sandbox.path("broken.toml");
    fs::write(&path, text).expect("a file");
    path
}

/// Returns the mistakes that `study check --json` reports for the file at `path`, and checks that the text output has
/// one line for each.
fn mistakes(sandbox: &Sandbox, path: &Path) -> Vec<Value> {
    let path = path.display();
    let json = sandbox.run(&format!("study check --json {path}")).expect(2);
    assert_eq!(json.stderr, "", "{path}");
    let printed: Value = serde_json::from_str(&json.stdout).expect("JSON");
    let printed = printed["mistakes"].as_array().expect("a list").clone();
    let words = sandbox.run(&format!("study check {path}")).expect(2);
    assert_eq!(words.stdout, "");
    assert_eq!(words.stderr.lines().count(), printed.len(), "{}", words.stderr);
    for (line, mistake) in words.stderr.lines().zip(&printed) {
        let place = format!(
            "ipcperf: {path}: line {}: {}: ",
            mistake["line"],
            mistake["key"].as_str().unwrap()
        );
        assert!(line.starts_with(&place), "{line}");
        assert!(line.ends_with(mistake["remedy"].as_str().unwrap()), "{line}");
        assert!(line.chars().count() < 900, "{line}");
    }
    printed
}

#[test]
fn the_good_study_has_no_mistakes() {
    let sandbox = Sandbox::open();
    let path = file(&sandbox, GOOD);
    sandbox.run(&format!("study check {}", path.display())).expect(0);
}

#[test]
fn each_of_many_mistakes_is_told_with_its_line_key_and_remedy() {
    let sandbox = Sandbox::open();
    let mut wrong = Vec::new();
    for broken in all() {
        let printed = mistakes(&sandbox, &file(&sandbox, broken.text()));
        let words = serde_json::to_string(&printed).expect("text").replace("\\\"", "\"");
        let is_right = printed.len() == 1
            && printed[0]["line"] == broken.line()
            && printed[0]["key"] == broken.key
            && broken.words.iter().all(|word| words.contains(word));
        if !is_right {
            let (line, key, from, to) = (broken.line(), broken.key, broken.from, broken.to);
            wrong.push(format!(
                "{from} -> {to}\n  wanted {line} {key} {:?}\n  told {words}",
                broken.words
            ));
        }
    }
    assert!(all().count() >= 50);
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn several_mistakes_are_told_at_once_by_line() {
    let sandbox = Sandbox::open();
    let text = GOOD.replace("titel", "title").replacen("repetitions = 10", "repetitions = 0", 1);
    let text = text.replacen("mode = \"2proc\"", "mode = \"2pro\"", 1);
    let text = text.replacen("test = \"ratio-within\"", "test = \"ratio\"", 1);
    let text = text.replacen("id = \"H3\"", "di = \"H3\"", 1);
    let printed = mistakes(&sandbox, &file(&sandbox, text));
    let keys: Vec<&str> = printed.iter().filter_map(|one| one["key"].as_str()).collect();
    assert_eq!(
        keys,
        ["sampling.repetitions", "matrix[1].mode", "hypothesis[2].test", "hypothesis[3].di"]
    );
}

#[test]
fn every_command_that_takes_a_study_tells_the_same() {
    let sandbox = Sandbox::open();
    let path = file(&sandbox, GOOD.replacen("mode = \"2proc\"", "mode = \"2pro\"", 1));
    let path = path.display();
    let wanted = sandbox.run(&format!("study check {path}")).expect(2).stderr;
    for command in ["study show", "study plan", "study run", "plan"] {
        let printed = sandbox.run(&format!("{command} {path}")).expect(2);
        assert_eq!(printed.stderr, wanted, "{command}");
        assert_eq!(printed.stdout, "", "{command}");
    }
}

/// Sections that may occur several times need double brackets.
#[test]
fn a_heading_in_the_wrong_brackets_is_told_with_the_right_ones() {
    let sandbox = Sandbox::open();
    for (good, wrong) in [("[[matrix]]", "[matrix]"), ("[[hypothesis]]", "[hypothesis]")] {
        let end = GOOD.find(good).expect("the first") + good.len();
        let next = GOOD[end..].find("\n[[").map_or(GOOD.len(), |at| end + at + 1);
        let text = format!("{}{}", &GOOD[..end], &GOOD[end..next]).replacen(good, wrong, 1);
        let printed = mistakes(&sandbox, &file(&sandbox, text));
        assert_eq!(printed.len(), 1, "{printed:?}");
        assert_eq!(printed[0]["remedy"], format!("write {good}"));
    }
}

#[test]
fn what_is_no_study_at_all_is_told_in_one_line() {
    let sandbox = Sandbox::open();
    let printed = |bytes: &[u8]| {
        let printed = mistakes(&sandbox, &file(&sandbox, bytes));
        assert_eq!(printed.len(), 1, "{printed:?}");
        printed[0].to_string()
    };
    assert!(printed(b"").contains("study new"));
    assert!(printed(b" \n\n").contains("empty"));
    assert!(printed(b"name = \"a\"\n\n\xff\xfe = 1\n").contains("UTF-8"));
    assert!(printed(b"name = \"a\"\n\n\xff\xfe = 1\n").contains("\"line\":3"));
    assert!(printed(include_bytes!("../files/three-mechanisms.jsonl")).contains("study judge"));
    assert!(printed(&vec![b'#'; 2 << 20]).contains("the maximum size of a study"));
    assert!(printed(&vec![b'['; 1 << 19]).contains("TOML"));
}

#[test]
fn a_file_that_cannot_be_read_is_named() {
    let sandbox = Sandbox::open();
    for (name, word) in [
        ("/", "directory"),
        ("/nowhere/study.toml", "; check the path"),
        ("pipe-or-sokcet", "`pipe-or-socket`"),
        ("/dev/zero", "the maximum size of a study"),
        ("/proc/self/exe", "the maximum size of a study"),
    ] {
        for json in ["", " --json"] {
            let printed = sandbox.run(&format!("study check {name}{json}")).expect(2);
            let words = format!("{}{}", printed.stderr, printed.stdout);
            assert!(words.contains(word), "{name}: {words}");
        }
    }
}

/// A study that would take long to process is refused at once.
#[test]
fn absurd_files_are_refused_soon() {
    let sandbox = Sandbox::open();
    let numbers = |count: u32| (1..=count).map(|n| n.to_string()).collect::<Vec<_>>().join(",");
    let many = numbers(60_000);
    let sizes = "1..4096:4096";
    for (from, to, words) in [
        ("\"512..64KiB\"", format!("\"{many}\""), "60000 levels; the maximum is 4096"),
        ("\"512..64KiB\"", format!("\"{}\"", [sizes; 20_000].join(",")), "81920000 levels"),
        ("\"512..64KiB\"", format!("\"1..9:{}\"", u64::MAX), "18446744073709551615 levels"),
        ("touch = [\"none\", \"both\"]", format!("reply = \"{many}\""), "60000 levels"),
        ("[\"default\", \"1MiB\"]", format!("\"{many}\""), "60000 levels"),
        (
            "[\"default\", \"1MiB\"]",
            format!("\"{}\"", [sizes; 20_000].join(",")),
            "81920000 levels",
        ),
        (
            "buffer = \"512,64KiB\"",
            format!("buffer = \"{}\"", [sizes; 20_000].join(",")),
            "81920000",
        ),
        (
            "kernel_buffer = \"default\"",
            format!("kernel_buffer = \"{sizes}\""),
            "cells; the maximum is 100000",
        ),
        ("{ buffer = 64 }", format!("{{ buffer = \"{many}\" }}"), "more than 4096 levels"),
        (
            "{ buffer = 64 }",
            format!("{{ buffer = \"{}\" }}", [sizes; 20_000].join(",")),
            "4096 levels",
        ),
        ("{ buffer = 64 }", "{ buffer = \"100001..104096:4096\" }".to_owned(), "no matrix has"),
        (
            "seed = 7",
            "[[matrix]]\n".repeat(50_000),
            "there are 50002 [[matrix]] sections; the maximum is 200",
        ),
        ("seed = 7", "[[hypothesis]]\n".repeat(50_000), ""),
        ("seed = 7", "x = 1\n".repeat(100_000), "duplicate key"),
        ("seed = 7", format!("seed = {}7", "[".repeat(100_000)), ""),
        ("seed = 7", "a.b.c = \n\"".repeat(50_000), ""),
        ("\"unix-dgram\"", format!("\"{}\"", "unix-dgam".repeat(50_000)), "unknown mechanism"),
    ] {
        assert!(GOOD.contains(from), "{from}");
        let printed = mistakes(&sandbox, &file(&sandbox, GOOD.replacen(from, &to, 1)));
        let all = serde_json::to_string(&printed).expect("text");
        assert!(all.contains(words), "{from}: {}", &all[..all.len().min(2_000)]);
    }
}

/// Two hundred matrices, each of a size that is allowed.
#[test]
fn the_cells_of_all_matrices_are_counted_together() {
    let sandbox = Sandbox::open();
    let one = |number: usize| {
        format!(
            "[[matrix]]\nname = \"m{number}\"\nmechanism = \"pipe\"\nbuffer = \"1..4096:4096\"\n"
        )
    };
    let all: String = (0..200).map(one).collect();
    let text = format!("name = \"a\"\ntitle = \"b\"\nquestion = \"c\"\n{all}");
    let printed = mistakes(&sandbox, &file(&sandbox, text));
    assert_eq!(printed.len(), 1, "{printed:?}");
    let what = "all matrices together have 819200 cells; the maximum is 100000";
    assert_eq!(printed[0]["what"], what);
}

/// Thousands of columns that each select thousands of levels.
#[test]
fn what_selects_over_and_over_is_refused_soon() {
    let sandbox = Sandbox::open();
    let columns =
        "[[table.column]]\nname = \"a\"\nwhere = { buffer = \"1..4096:4096\" }\n".repeat(5_000);
    let table =
        format!("{GOOD}\n[[table]]\nnumber = 99\ntitle = \"b\"\nrows = \"buffer\"\n{columns}");
    let printed = mistakes(&sandbox, &file(&sandbox, table));
    let all = serde_json::to_string(&printed).expect("text");
    assert!(all.contains("the list has 5000 tables; the maximum is 200"), "{all}");
}

fn schema() -> jsonschema::Validator {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/study.schema.json");
    let schema: Value = serde_json::from_slice(&fs::read(path).expect("the schema")).expect("JSON");
    jsonschema::validator_for(&schema).expect("a schema")
}

fn json(text: &str) -> Value {
    let table: toml::Table = text.parse().expect("TOML");
    serde_json::to_value(table).expect("JSON")
}

/// Returns the files in `studies/`.
pub(crate) fn studies() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../studies");
    let files = fs::read_dir(folder).expect("the studies").map(|file| file.expect("a file").path());
    let files: Vec<PathBuf> = files.collect();
    assert!(files.len() >= 6);
    files
}

#[test]
fn editors_are_told_that_the_studies_are_right() {
    let schema = schema();
    let ours = studies().into_iter().map(|path| fs::read_to_string(path).expect("a study"));
    for text in ours.chain([GOOD.to_owned()]) {
        let errors: Vec<String> = schema
            .iter_errors(&json(&text))
            .map(|error| format!("{} {error}", error.instance_path()))
            .collect();
        assert!(errors.is_empty(), "{}: {errors:?}", text.lines().next().unwrap_or_default());
    }
}

/// A schema knows neither the machine nor the other keys, so it finds many mistakes, but not all.
#[test]
fn editors_are_told_of_many_mistakes() {
    let schema = schema();
    let readable = KEYS
        .iter()
        .chain(MATRICES)
        .chain(HYPOTHESES)
        .filter(|one| one.text().parse::<toml::Table>().is_ok());
    let (wrong, missed): (Vec<_>, Vec<_>) =
        readable.partition(|one| !schema.is_valid(&json(&one.text())));
    let missed: Vec<&str> = missed.iter().map(|one| one.to).collect();
    assert!(wrong.len() >= 40, "{} told, not: {missed:#?}", wrong.len());
}
