//! Tests that pages in `docs/`, and a table of the README, match the code that they are generated from. With
//! `IPCPERF_WRITE_DOCS=1` the tests write the pages instead.

mod studies;

use std::fmt::Write as _;
use std::path::PathBuf;

use ipcperf_engine::mechanism::MECHANISMS;
use ipcperf_model::environment::Environment;
use ipcperf_results::{Line, SetAside};
use schemars::schema_for;
use serde_json::Value;

use crate::dropin::PROGRAMS;
use crate::printing::mechanism_page;
use ipcperf_report::export::EXPORTERS;

fn check(name: &str, wanted: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name);
    if std::env::var_os("IPCPERF_WRITE_DOCS").is_some() {
        std::fs::write(&path, wanted).unwrap();
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(found == wanted, "docs/{name} is not what the code says: run scripts/write-docs");
}

/// Checks that the page `name` holds `wanted` between the marks of `part`; the rest of the page is written by hand.
fn check_part(name: &str, part: &str, wanted: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name);
    let page = std::fs::read_to_string(path).unwrap();
    let begin =
        format!("<!-- {part}: made from the code by scripts/write-docs: change it there. -->\n");
    let end = format!("<!-- end of {part} -->");
    let (before, rest) = page.split_once(&begin).expect(&begin);
    let (_, after) = rest.split_once(&end).expect(&end);
    check(name, &format!("{before}{begin}\n{wanted}\n{end}{after}"));
}

#[test]
fn the_schema_is_that_of_the_types() {
    let schema = serde_json::to_string_pretty(&schema_for!(Line)).unwrap();
    check("results.schema.json", &(schema + "\n"));
}

#[test]
fn the_mechanisms_page_is_that_of_the_list() {
    let mut page = String::from(
        "# Mechanisms\n\n<!-- Made from the list of mechanisms by scripts/write-docs: change it \
         there. -->\n\n",
    );
    let headings = MECHANISMS[0].facts_in_words().into_iter().map(|fact| fact.heading);
    let headings = headings.collect::<Vec<_>>();
    writeln!(page, "| mechanism | what it is | {} |", headings.join(" | ")).unwrap();
    writeln!(page, "|---|---|{}", "---|".repeat(headings.len())).unwrap();
    for mechanism in MECHANISMS {
        let (name, about) = (mechanism.name, mechanism.about);
        let facts = mechanism.facts_in_words().into_iter().map(|fact| fact.words);
        let facts = facts.collect::<Vec<_>>().join(" | ");
        writeln!(page, "| [`{name}`](#{name}) | {about} | {facts} |").unwrap();
    }
    for mechanism in MECHANISMS {
        page += "\n";
        page += &mechanism_page(mechanism);
    }
    check("mechanisms.md", &page);
}

#[test]
fn the_readme_has_every_mechanism() {
    let mut table = String::from("| mechanism | what it is | options |\n|---|---|---|\n");
    for mechanism in MECHANISMS {
        let (name, about) = (mechanism.name, mechanism.about);
        let options = mechanism.options.iter().map(|option| format!("`{}`", option.name));
        let options = options.collect::<Vec<_>>().join(", ");
        writeln!(table, "| [`{name}`](docs/mechanisms.md#{name}) | {about} | {options} |").unwrap();
    }
    check_part("../README.md", "mechanisms", &table);
}

#[test]
fn the_exporters_page_is_that_of_the_list() {
    let mut page = String::from(
        "# Exporters\n\n<!-- Made from the list of exporters by scripts/write-docs: change it \
         there. -->\n\nWhat `ipcperf export FORMAT FILE...` and `--export FORMAT=PATH` write. No \
         number is rounded, but in the tables for people.\n\n| format | what it is |\n|---|---|\n",
    );
    for exporter in EXPORTERS {
        let (name, about) = (exporter.name, exporter.about);
        writeln!(page, "| [`{name}`](#{name}) | {about} |").unwrap();
    }
    for exporter in EXPORTERS {
        write!(page, "\n## {}\n\n{}\n", exporter.name, exporter.details).unwrap();
    }
    check("exporters.md", &page);
}

#[test]
fn the_programs_page_is_that_of_the_list() {
    let mut page = String::from(
        "# The documents' programs\n\n<!-- Made from the list of programs by scripts/write-docs: change it \
         there. -->\n\n`ipcperf as PROGRAM ARGS...` takes what the original took, prints what it printed and ends \
         with its exit codes; so does a link by its name, which `ipcperf as --install DIR` makes for each. What is \
         measured is what every run measures: the clock runs from just before the first byte is sent to just after \
         the last is received, in fresh processes, and nothing is left behind.\n\n| program | what it is \
         |\n|---|---|\n",
    );
    for program in PROGRAMS {
        let names = program.names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>();
        writeln!(page, "| {} | {} |", names.join(", "), program.about).unwrap();
    }
    for program in PROGRAMS {
        let name = program.names[0];
        let usage = (program.usage)(name);
        write!(page, "\n## {}\n\n```text\n{}\n```\n", program.names.join(", "), usage.trim_end())
            .unwrap();
        page += "\nOn purpose not as in the original:\n\n";
        for difference in program.differs {
            writeln!(page, "- {difference}").unwrap();
        }
    }
    page += PROGRAMS_CLOSING;
    check("programs.md", &page);
}

/// End of the page on compatibility programs.
const PROGRAMS_CLOSING: &str = "
## Exit codes

| program | wrong usage | what the system refuses | a transfer that fails | interrupted |
|---|---|---|---|---|
| `ipc-static` to `ipc` | 64 | 71 | 74 | dies of the signal |
| of lmbench | 255 | 1 | 1 | dies of the signal |
| the others | 1 | 1 | 1 | dies of the signal |

Interrupted by SIGINT or SIGTERM a program cleans up and then dies of the signal, so that Ctrl-C ends a loop of the shell,
which shows 130 or 143. A program whose reader is gone dies of SIGPIPE (141).
";

#[test]
fn the_environment_page_is_that_of_its_fields() {
    let schema = schema_for!(Environment);
    let properties = &schema.as_value()["properties"];
    let mut page = String::from(
        "# Environment\n\n<!-- Made from the fields of the environment by scripts/write-docs: change \
         it there. -->\n\nWhat `ipcperf machine` shows and each results file has in its header. What \
         could not be had is null.\n",
    );
    for section in Environment::default().sections() {
        write!(page, "\n## {}\n\n| key | is | about |\n|---|---|---|\n", section.title).unwrap();
        for key in section.fields.keys() {
            let (kind, about) = (kind(&properties[key]), &properties[key]["description"]);
            let about = about.as_str().unwrap().replace('|', "\\|").replace('\n', " ");
            writeln!(page, "| `{key}` | {kind} | {about} |").unwrap();
        }
    }
    check("environment.md", &page);
}

#[test]
fn the_page_on_results_has_every_cause_of_exclusion() {
    let schema = schema_for!(SetAside);
    let mut page = String::from("| `set_aside` | why the run does not count |\n|---|---|\n");
    for cause in schema.as_value()["oneOf"].as_array().unwrap() {
        let (name, about) = (&cause["const"], cause["description"].as_str().unwrap());
        writeln!(page, "| `{}` | {about} |", name.as_str().unwrap()).unwrap();
    }
    check_part("results.md", "causes", &page);
}

/// Returns the type of a value in the schema, in the words of the page.
fn kind(property: &Value) -> &'static str {
    let types = match &property["type"] {
        Value::Array(types) => types.clone(),
        one => vec![one.clone()],
    };
    let word = |name: &Value| match name.as_str()? {
        "string" => Some("text"),
        "integer" | "number" => Some("number"),
        "boolean" => Some("yes or no"),
        "array" => Some("list"),
        _ => None,
    };
    types.iter().find_map(word).unwrap_or("number or `unlimited`")
}
