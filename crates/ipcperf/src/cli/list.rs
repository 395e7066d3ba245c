//! `ipcperf list`.

use ipcperf_model::suggestion::{shorten, similar_words};
use ipcperf_report::terminal::columns;
use serde_json::Value;

use super::arguments::ListArguments;
use crate::error::{Error, ExitStatus};
use crate::printing::{LIST_KINDS, ListKind, overview, print, print_json};

pub(super) fn list(arguments: &ListArguments) -> Result<ExitStatus, Error> {
    match (arguments.subject.as_deref(), arguments.json) {
        (None, false) => print(&overview(columns())),
        (None, true) => {
            let all = LIST_KINDS.iter().flat_map(|kind| entries((kind.json)()));
            print_json(&Value::Array(all.collect()))
        }
        (Some(subject), false) => print(&text_of(subject)?),
        (Some(subject), true) => print_json(&json_of(subject)?),
    }
}

/// Returns the list of the kind, or the manual of the entry, that is called `subject`.
fn text_of(subject: &str) -> Result<String, Error> {
    let columns = columns();
    if let Some(kind) = LIST_KINDS.iter().find(|kind| kind.name == subject) {
        return Ok((kind.text)(columns));
    }
    let manual = LIST_KINDS.iter().find_map(|kind| (kind.manual)(subject, columns));
    manual.ok_or_else(|| unknown(subject))
}

/// Returns the entries of the kind, or the one entry, that is called `subject`, as a JSON array.
fn json_of(subject: &str) -> Result<Value, Error> {
    if let Some(kind) = LIST_KINDS.iter().find(|kind| kind.name == subject) {
        return Ok((kind.json)());
    }
    let has_entry = |kind: &&ListKind| kind.has_entry(subject);
    let kind = LIST_KINDS.iter().find(has_entry).ok_or_else(|| unknown(subject))?;
    let named = entries((kind.json)()).into_iter().filter(|entry| entry["name"] == subject);
    Ok(Value::Array(named.collect()))
}

/// Returns the items of a JSON array.
fn entries(array: Value) -> Vec<Value> {
    match array {
        Value::Array(entries) => entries,
        _ => Vec::new(),
    }
}

/// Returns the error for a word that names neither a kind nor an entry. It does not list all names: there are about 90.
fn unknown(subject: &str) -> Error {
    let entries = LIST_KINDS.iter().flat_map(|kind| (kind.entries)());
    let kinds = LIST_KINDS.iter().map(|kind| kind.name);
    let names: Vec<&str> = kinds.chain(entries.map(|(name, _)| name)).collect();
    let similar = similar_words(subject, names.into_iter());
    let remedy = similar.map_or_else(|| "to".to_owned(), |hint| format!("{hint} To"));
    let subject = shorten(subject);
    Error::usage(format!("nothing is called `{subject}`; {remedy} list all names: ipcperf list"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_listed_and_an_entry_has_its_manual() {
        let list = text_of("workloads").expect("a list");
        assert!(list.contains("stream") && list.contains("request-reply"), "{list}");
        let manual = text_of("pipe").expect("a manual");
        assert!(manual.starts_with("pipe: ") && manual.contains("How it works"), "{manual}");
    }

    #[test]
    fn an_unknown_name_gets_similar_ones_and_the_command_that_lists_all() {
        let message = |subject| text_of(subject).expect_err("an unknown name").to_string();
        assert_eq!(
            message("mechansims"),
            "nothing is called `mechansims`; did you mean `mechanisms`? To list all names: ipcperf list"
        );
        assert!(message("unix").contains("`unix-stream`, "), "{}", message("unix"));
        let without_hint = "nothing is called `0`; to list all names: ipcperf list";
        assert_eq!(message("0"), without_hint);
        assert_eq!(json_of("0").expect_err("an unknown name").to_string(), without_hint);
    }

    #[test]
    fn the_json_of_an_entry_is_an_array_with_that_entry() {
        let one = json_of("pipe").expect("an entry");
        assert_eq!(one.as_array().map(Vec::len), Some(1), "{one}");
        assert_eq!(one[0]["name"], "pipe");
        let all = json_of("mechanisms").expect("a list");
        assert!(entries(all).contains(&one[0]));
    }
}
