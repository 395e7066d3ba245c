//! Tests that pages in `docs/` match the code that they are generated from. With `IPCPERF_WRITE_DOCS=1` the tests write the
//! pages instead.

mod studies;

use std::fmt::Write as _;
use std::path::PathBuf;

use ipcperf_engine::channel::{OptionSpec, OptionValues};
use ipcperf_engine::mechanism::MECHANISMS;
use ipcperf_model::environment::Environment;
use ipcperf_results::{ExclusionReason, ResultsLine};
use schemars::schema_for;
use serde_json::Value;

use crate::compat::PROGRAMS;
use crate::printing::{mechanism_page, values_text};
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
fn the_citation_has_the_version_of_the_program() {
    let citation = include_str!("../../../CITATION.cff");
    let version = format!("version: {}", env!("CARGO_PKG_VERSION"));
    assert!(citation.lines().any(|line| line == version), "CITATION.cff has no line `{version}`");
}

#[test]
fn the_schema_is_that_of_the_types() {
    let schema = serde_json::to_string_pretty(&schema_for!(ResultsLine)).unwrap();
    check("results.schema.json", &(schema + "\n"));
}

#[test]
fn the_mechanisms_page_is_that_of_the_list() {
    let mut page = MECHANISMS_INTRODUCTION.to_owned();
    let headings = MECHANISMS[0].formatted_facts().into_iter().map(|fact| fact.heading);
    let headings = headings.collect::<Vec<_>>();
    writeln!(page, "| mechanism | description | {} |", headings.join(" | ")).unwrap();
    writeln!(page, "|---|---|{}", "---|".repeat(headings.len())).unwrap();
    for mechanism in MECHANISMS {
        let (name, about) = (mechanism.name, mechanism.about);
        let facts = mechanism.formatted_facts().into_iter().map(|fact| fact.text);
        let facts = facts.collect::<Vec<_>>().join(" | ");
        writeln!(page, "| [`{name}`](#{name}) | {about} | {facts} |").unwrap();
    }
    page += MECHANISMS_TERMS;
    for mechanism in MECHANISMS {
        page += "\n";
        page += &mechanism_page(mechanism);
    }
    check("mechanisms.md", &page);
}

#[test]
fn the_page_on_waiting_has_every_mechanism_with_a_choice() {
    let mut table = "| mechanism | values | default |\n|---|---|---|\n".to_owned();
    for mechanism in MECHANISMS {
        let waits = |option: &&OptionSpec| matches!(option.values, OptionValues::Waits(_));
        for option in mechanism.options.iter().filter(waits) {
            let values = values_text(option).replace('|', "`, `");
            let (name, default) = (mechanism.name, option.default);
            writeln!(table, "| [`{name}`](mechanisms.md#{name}) | `{values}` | `{default}` |")
                .unwrap();
        }
    }
    check_part("waiting.md", "mechanisms", &table);
}

/// Beginning of the page on mechanisms, up to the table.
const MECHANISMS_INTRODUCTION: &str = "\
# Mechanisms

<!-- Made from the list of mechanisms by scripts/write-docs: change it there. -->

A [mechanism](glossary.md#mechanism) is one way for bytes to get from one [peer](glossary.md#peer) to the other. This page
compares all mechanisms that ipcperf measures. After the comparison, each mechanism has a section with its options.

    ipcperf list mechanisms                                     # shows which mechanisms work on this machine
    ipcperf run -m pipe,unix-stream -b 64,64KiB                 # measures two mechanisms
    ipcperf run -m pipe -b 64KiB --set pipe.capacity=4KiB,1MiB  # measures a pipe with two capacities

The first table explains the columns of the second table, which compares the mechanisms. If a cell of the second table ends in
`(option)`, an option of the mechanism selects one of the values in the cell.

| column | values |
|---|---|
| boundaries | `messages`: each receive returns exactly one message. `byte stream`: a receive returns the bytes that have arrived, which may be a part of a message or several messages |
| delivery | `reliable`: every byte arrives, in order. `may lose messages`: ipcperf counts the lost messages. `moves nothing`: the receiver gets no data |
| payload path | `kernel`: each peer makes a system call for every message. `shared memory`: both peers map the same memory, and a message needs a system call only if a peer has to wait. `shared memory + doorbell`: both peers map the same memory. For every message, the sender makes a system call that reports the message to the receiver ([doorbell](glossary.md#doorbell)), and the receiver makes a system call that gets this report. `cross-memory read`: the receiver makes a system call that reads the sender's memory. `none`: the payload is not transferred |
| waiting | `sleeps`: a peer that has to wait sleeps at once, and the other peer has to wake it. `spins`: a peer that has to wait polls before it sleeps, or polls without ever sleeping |
| payload | `copied`: the receiver gets a copy. `borrowed until it is copied`: the receiver gets a copy, but this copy is made only when the receiver reads. Until then, the sender must not change the message. `handed over in place`: the receiver reads the message in the sender's memory. The sender must not change the message until the receiver has returned it. `dropped`: the receiver gets nothing |
| peer death | what the mechanism reports to a peer after the other peer was killed. `EOF or error`: sends and receives return end of file or an error. In some cases, the first calls after the death still succeed. `error on send`: sends return an error. In some cases, the first sends after the death still succeed. A peer that only receives keeps waiting. `not detected`: a peer that sends or receives keeps waiting. In all three cases, ipcperf itself notices the death during a measurement and ends the run |
| between users | `yes`: two processes of different users can connect, even if neither process started the other. `no`: they cannot connect, for the stated reason |

";

/// Text of the page on mechanisms between the table and the sections.
const MECHANISMS_TERMS: &str = "
The sections use these terms:

- `wait=poll` stands for the option `wait` of the section's mechanism with the value `poll`. In the section on `pipe`, it stands
  for `--set pipe.wait=poll`.
- In a *stream*, only the sender sends. In a *round trip*, the receiver answers each message before the sender sends the next
  one. An *echo* (`--reply echo`) is an answer that consists of the received message. The receiver sends it from the memory in
  which the message arrived.
- `1thread` and `2thread` are [modes](glossary.md#mode). In mode `1thread`, one thread acts as both peers. No call may
  block then, because there is no other thread that could end the wait.
- A number in parentheses after a system setting is the usual default of this setting. For example,
  `fs.mqueue.msgsize_max (8192)` means that `fs.mqueue.msgsize_max` is usually 8192.
- `--kernel-buffer` requests a size for the kernel's buffer between the peers. If a section says that `--kernel-buffer`
  does not apply, this flag has no effect on the mechanism.
- `--verify` checks the content of every message. `--payload` and `--touch` are [message options](glossary.md#message-options).
- A *call* is a system call. ipcperf counts the calls with which each peer moves messages.
- A *descriptor* is a file descriptor.
- A *memfd* is a file in memory that has no path (`memfd_create`). A *seal* (`F_ADD_SEALS`) forbids a kind of change
  to a memfd, such as shrinking it or writing to it.
- To *compose* a message is to write its payload.
- *Before the clock starts* means before the timed part of a run.
- The glossary explains [noise detection](glossary.md#noise-detection), [run delay](glossary.md#run-delay),
  [role](glossary.md#role) and [phase](glossary.md#phase).
";

#[test]
fn the_page_on_usage_has_every_mechanism() {
    let mut table = String::from("| mechanism | description | options |\n|---|---|---|\n");
    for mechanism in MECHANISMS {
        let (name, about) = (mechanism.name, mechanism.about);
        let options = mechanism.options.iter().map(|option| format!("`{}`", option.name));
        let options = options.collect::<Vec<_>>().join(", ");
        writeln!(table, "| [`{name}`](mechanisms.md#{name}) | {about} | {options} |").unwrap();
    }
    check_part("usage.md", "mechanisms", &table);
}

#[test]
fn the_exporters_page_is_that_of_the_list() {
    let mut page = String::from(
        "# Exporters\n\n<!-- Made from the list of exporters by scripts/write-docs: change it there. -->\n\nExporters \
         write results in the formats of other programs. `ipcperf export FORMAT FILE...` exports results files. With \
         the option `--export FORMAT=PATH`, a command that measures exports its results when the measurement ends. \
         Examples:\n\n    ipcperf export csv FILE -o results.csv\n    ipcperf run -m pipe -b 64KiB --export \
         benchstat=new.txt\n\nOnly the format `markdown` rounds numbers. The [glossary](glossary.md) explains the \
         terms.\n\n| format | content |\n|---|---|\n",
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
        "# Compatibility programs\n\n<!-- Made from the list of programs by scripts/write-docs: \
            change it there. -->\n\n`ipcperf compat PROGRAM` runs ipcperf in place of another benchmark, \
            with the same arguments, output and exit codes:\n\n    ipcperf compat ipc-static -i \
            pipe 2proc\n    ipcperf compat --install ~/bin    # creates a link for each program\n    \
            ~/bin/lat_pipe -m 64\n\nMeasurements work as in `ipcperf run`: the sender and the \
            receiver (the [peers](glossary.md#peer)) run in new processes, and the clock runs from \
            just before the first byte is sent to just after the last byte is received. After a \
            run, none of its processes, sockets, queues and temporary files remain. `ipcperf compat \
            --about PROGRAM` prints the usage of a program and its differences from the original.\n\n\
            | program | measures |\n|---|---|\n",
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
        page += "\nIntended differences from the original:\n\n";
        for difference in program.differences {
            writeln!(page, "- {difference}").unwrap();
        }
    }
    page += PROGRAMS_CLOSING;
    check("compatibility.md", &page);
}

/// End of the page on compatibility programs.
const PROGRAMS_CLOSING: &str = "
## Exit codes

| program | wrong usage | refused by the system | failed transfer |
|---|---|---|---|
| `ipc-static`, `ipc-dynamic`, `ipc-benchmark`, `ipc` | 64 | 71 | 74 |
| programs of lmbench | 255 | 1 | 1 |
| all other programs | 1 | 1 | 1 |

After SIGINT or SIGTERM, each program cleans up and then dies of that signal; the shell shows exit code 130 or 143. Ctrl-C
therefore also ends a shell loop that calls the program. If nothing reads the program's output any more, the program dies of
SIGPIPE (exit code 141).
";

#[test]
fn the_environment_page_is_that_of_its_fields() {
    let schema = schema_for!(Environment);
    let properties = &schema.as_value()["properties"];
    let mut page = String::from(
        "# Environment\n\n<!-- Made from the fields of the environment by scripts/write-docs: change it there. \
         -->\n\nThis page describes the fields in which ipcperf stores the properties of the machine, of the kernel and \
         of the `ipcperf`\nprocess. `ipcperf machine` shows these fields, and the header of each results file contains \
         them. A value that could not be read\nis null.\n",
    );
    for section in Environment::default().sections() {
        write!(page, "\n## {}\n\n| key | type | description |\n|---|---|---|\n", section.title)
            .unwrap();
        for key in section.fields.keys() {
            let (kind, about) = (type_name(&properties[key]), &properties[key]["description"]);
            let about = about.as_str().unwrap().replace('|', "\\|").replace('\n', " ");
            writeln!(page, "| `{key}` | {kind} | {about} |").unwrap();
        }
    }
    check("environment.md", &page);
}

#[test]
fn the_page_on_results_has_every_cause_of_exclusion() {
    let schema = schema_for!(ExclusionReason);
    let mut page = String::from("| `excluded` | reason |\n|---|---|\n");
    for cause in schema.as_value()["oneOf"].as_array().unwrap() {
        let (name, about) = (&cause["const"], cause["description"].as_str().unwrap());
        writeln!(page, "| `{}` | {about} |", name.as_str().unwrap()).unwrap();
    }
    check_part("results.md", "causes", &page);
}

/// Returns the type of a value in the schema, in the words of the page.
fn type_name(property: &Value) -> &'static str {
    let types = match &property["type"] {
        Value::Array(types) => types.clone(),
        one => vec![one.clone()],
    };
    let word = |name: &Value| match name.as_str()? {
        "string" => Some("text"),
        "integer" | "number" => Some("number"),
        "boolean" => Some("Boolean"),
        "array" => Some("list"),
        _ => None,
    };
    types.iter().find_map(word).unwrap_or("number or `unlimited`")
}
