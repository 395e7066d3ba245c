//! Tests that the pages on studies and hypotheses, and the schema of a study, match the code.

use std::fmt::Write as _;

use ipcperf_model::Role;
use ipcperf_results::keys_of_role;

use super::{check, check_part};
use ipcperf_study::hypothesis::TESTS;
use ipcperf_study::{
    Better, FACTORS, Key, METRICS, Metric, ORIGINAL_TEST_KEYS, Requirement, schema, sections,
};

#[test]
fn the_schema_of_a_study_is_that_of_its_keys() {
    check("study.schema.json", &format!("{:#}\n", schema()));
}

#[test]
fn the_page_on_writing_a_study_has_every_key() {
    let mut page = String::new();
    for section in sections() {
        let title = if section.name.is_empty() {
            "Top level".to_owned()
        } else {
            format!("`{}`", section.heading())
        };
        write!(page, "### {title}\n\n{}\n\n{}\n", section.about, keys(section.keys)).unwrap();
        let tables =
            section.keys.iter().filter_map(|key| Some((key.name, key.value_type.table()?)));
        for (name, within) in tables {
            write!(page, "Keys of `{name}`:\n\n{}\n", keys(within)).unwrap();
        }
    }
    write!(
        page,
        "Keys of `original_test`, in addition to the keys of the test:\n\n{}",
        keys(ORIGINAL_TEST_KEYS)
    )
    .unwrap();
    check_part("writing-a-study.md", "keys", &page);
}

#[test]
fn the_page_on_writing_a_study_has_every_metric_and_factor() {
    let mut table =
        "| metric | unit | counts as better | meaning |\n|---|---|---|---|\n".to_owned();
    for metric in METRICS {
        let better = match metric.better {
            _ if Metric::Named(metric.name) == Metric::MAIN => "depends on the metric",
            Better::Higher => "higher",
            Better::Lower => "lower",
        };
        let (name, unit, about) = (metric.name, metric.unit, metric.about);
        writeln!(table, "| `{name}` | {unit} | {better} | {about} |").unwrap();
    }
    let of_sender: Vec<String> = keys_of_role(Role::Sender).map(|key| format!("`{key}`")).collect();
    let of_sender = of_sender.join(", ");
    write!(
        table,
        "\n\
         The column *counts as better* states whether a higher or a lower value is better. Tests such as \
         `faster-than` and the key `of_second` use this direction. For `messages` and `kernel_buffer`, the direction \
         is only a convention: neither fewer messages nor a larger buffer is an advantage in itself.\n\n\
         The names of metrics of a single role begin with the role. The metrics of the sender are {of_sender}. For \
         the other roles, replace `sender` by `receiver`, `both` or `broker`. Lower is better for all of these \
         metrics.\n"
    )
    .unwrap();
    check_part("writing-a-study.md", "metrics", &table);
    let factors: Vec<String> = FACTORS.iter().map(|factor| format!("`{factor}`")).collect();
    check_part("writing-a-study.md", "factors", &format!("{}.\n", factors.join(", ")));
}

#[test]
fn the_page_on_hypotheses_has_every_test() {
    let mut list = "| test | claim |\n|---|---|\n".to_owned();
    let mut page = String::new();
    for test in TESTS {
        let (name, about) = (test.name, test.about);
        writeln!(list, "| [`{name}`](#{name}) | {about} |").unwrap();
        let (estimate, assumptions, source) = (test.estimate, test.assumptions, test.source);
        let (supported_if, rejected_if) = (test.supported_if, test.rejected_if);
        write!(
            page,
            "### {name}\n\nClaims: {about}.\n\n*Estimate.* {estimate}\n\n*Supported* if {supported_if}\n\n\
             *Rejected* if {rejected_if}\n\n*Assumptions.* {assumptions}\n\n\
             *Source.* {source}.\n\n{}\n",
            keys(test.keys)
        )
        .unwrap();
    }
    check_part("hypotheses.md", "tests", &format!("{list}\n{page}"));
}

/// Returns the keys of a table.
fn keys(keys: &[Key]) -> String {
    let mut table =
        "| key | value | example | default | meaning |\n|---|---|---|---|---|\n".to_owned();
    for key in keys {
        let usual = match key.requirement {
            Requirement::Required => "*required*".to_owned(),
            Requirement::Unless(other) => format!("*required* unless `{other}` is given"),
            Requirement::Optional(usual) => usual.to_owned(),
        };
        let takes = key.value_type.description().replace('|', "\\|");
        let (name, about, example) = (key.name, key.about, key.example.replace('|', "\\|"));
        writeln!(table, "| `{name}` | {takes} | `{example}` | {usual} | {about} |").unwrap();
    }
    table
}
