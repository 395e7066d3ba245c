//! Text from a results file is never interpreted: a malicious file cannot make a reader's browser do anything.

use serde_json::{Value, json};

use crate::checks::{QUIET, STRUCTURE};
use crate::measured_report;
use crate::page::Page;

/// Text that closes any surrounding markup and then runs a script.
const HOSTILE: &str =
    "\"'></title></script><script>throw 1</script><img src=x onerror=alert(1)>&lt;";

/// Returns the lines of `results` with hostile text in the machine, in an option and in a failure.
fn poisoned(results: &str) -> String {
    let parsed = results.lines().map(|line| serde_json::from_str(line).expect(line));
    let mut lines: Vec<Value> = parsed.collect();
    lines[0]["environment"]["cpu_model"] = hostile("model");
    for line in &mut lines[1..] {
        if line["mechanism"] == "pipe" {
            line["options"] = json!({"flavour": hostile("option")});
        }
    }
    let failure = failure(lines.iter().find(|line| line["kind"] == "sample").expect("a sample"));
    lines.insert(lines.len() - 1, failure);
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// Returns a failed run with hostile text, for the case of `sample`.
fn failure(sample: &Value) -> Value {
    let mut failure = sample.clone();
    failure["kind"] = "failure".into();
    failure["run_id"] = "99.0.1".into();
    failure["what"] = "call".into();
    failure["role"] = "sender".into();
    failure["where"] = hostile("where");
    failure["errno"] = 5.into();
    failure["remedy"] = hostile("remedy");
    failure
}

fn hostile(place: &str) -> Value {
    format!("{place}{HOSTILE}").into()
}

/// Script that returns the text of the page without its scripts.
const WORDS: &str = "
    const copy = document.body.cloneNode(true);
    copy.querySelectorAll('script, style').forEach(element => element.remove());
    const points = [...document.querySelectorAll('use.point')].map(point => point.words);
    return [copy.textContent, ...points].join('\\n');
";

#[test]
fn text_from_a_file_is_shown_and_never_obeyed() {
    let what = "hostile text in a report";
    let Some(page) = Page::open(what, "<!doctype html>") else { return };
    let results = poisoned(&measured_report::survey().results);
    page.turn_to(&measured_report::report_of(&[("hostile.jsonl", &results)]));
    assert_eq!(page.ask("return document.images.length", &[]), 0);
    let words = page.ask(WORDS, &[]);
    for place in ["model", "option", "where"] {
        let text = format!("{place}{HOSTILE}");
        assert!(words.as_str().is_some_and(|words| words.contains(&text)), "{place} is not shown");
    }
    page.assert_keeps(&[STRUCTURE, QUIET]);
}
