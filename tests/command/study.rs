//! Studies from outside: created, checked, planned, measured, interrupted, judged.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use rustix::process::Signal;
use serde_json::Value;

use crate::broken_studies::studies;
use crate::processes::{signal, wait_for};
use crate::results::{ResultsFile, number, runs_recorded, text};
use crate::sandbox::{Finished, HANG, Sandbox};

/// Two hypotheses of which one must be supported and one rejected on every machine, one that cannot be judged, and a
/// matrix that only the first needs. A run of the pipe takes about a hundred times as long as one of `null`: no
/// disturbance can reverse that.
const SMALL: &str = r#"
name = "small"
title = "Something and nothing"
question = "Does a pipe cost more than nothing?"

[sampling]
repetitions = 5
attempts = 1
timeout = 600
seed = 3

[[matrix]]
name = "both"
mechanism = ["null", "pipe"]
buffer = "64,256"
total = "8MB"

[[matrix]]
name = "trips"
mechanism = "pipe"
workload = "round-trip"
buffer = "8,16,32,64,128,256"
messages = 50
quick = { messages = 5 }

[[hypothesis]]
id = "H1"
claim = "A pipe costs more than nothing."
test = "ratio-within"
metric = "ns_per_message"
where = { matrix = "both" }
first = { mechanism = "pipe" }
second = { mechanism = "null" }
above = 1.5

[[hypothesis]]
id = "H2"
claim = "Nothing costs more than a pipe."
test = "ratio-within"
metric = "ns_per_message"
where = { matrix = "both" }
first = { mechanism = "null" }
second = { mechanism = "pipe" }
above = 1.5

[[hypothesis]]
id = "H3"
claim = "A stream makes round trips."
test = "slope"
metric = "round_trip"
where = { matrix = "both" }
above = 0

[[hypothesis]]
id = "H4"
claim = "Small round trips are as long as smaller ones."
test = "slope"
where = { matrix = "trips" }
below = 2
"#;

/// A sandbox with a study in it.
struct StoredStudy {
    sandbox: Sandbox,
    study: PathBuf,
}

impl StoredStudy {
    fn new(text: &str) -> Self {
        let sandbox = Sandbox::open();
        let study = sandbox.path("small.toml");
        fs::write(&study, text).expect("a study");
        Self { sandbox, study }
    }

    fn run(&self, arguments: &str) -> Finished {
        let (study, results) = (self.study.display().to_string(), self.sandbox.results());
        let arguments = arguments.replace("STUDY", &study);
        self.sandbox.run(&arguments.replace("RESULTS", &results.display().to_string()))
    }

    fn results(&self) -> ResultsFile {
        ResultsFile::read(&self.sandbox.results())
    }

    /// Returns each hypothesis with its verdict.
    fn verdicts(&self) -> Vec<(String, String)> {
        let judged = self.run("study judge RESULTS --json").expect(0);
        let judged: Vec<Value> = serde_json::from_str(&judged.stdout).expect("an array");
        let pair = |one: &Value| (text(one, "id").to_owned(), text(one, "verdict").to_owned());
        judged.iter().map(pair).collect()
    }
}

/// Measures the study once, for all tests of a process that only read its results.
fn measured() -> StoredStudy {
    static RESULTS: OnceLock<Vec<u8>> = OnceLock::new();
    let results = RESULTS.get_or_init(|| {
        let placed = StoredStudy::new(SMALL);
        placed.run("study run STUDY --out RESULTS").expect(0);
        fs::read(placed.sandbox.results()).expect("results")
    });
    let placed = StoredStudy::new(SMALL);
    fs::write(placed.sandbox.results(), results).expect("results");
    placed
}

fn sha256(path: &Path) -> String {
    let bytes = fs::read(path).expect("a file");
    hmac_sha256::Hash::hash(&bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn a_study_is_measured_and_judged() {
    let placed = StoredStudy::new(SMALL);
    let told = placed.run("study run STUDY --out RESULTS").expect(0);
    for words in ["H1: A pipe costs more than nothing.", "H4: ", "not testable here"] {
        assert!(told.stdout.contains(words), "no `{words}`: {}", told.stdout);
    }
    let file = placed.results();
    assert_eq!(text(&file.header, "study"), "small");
    assert_eq!(text(&file.header, "study_hash"), sha256(&placed.study));
    assert_eq!(text(&file.header, "study_text"), SMALL);
    assert_eq!(file.header["quick"], false);
    assert_eq!(number(&file.header, "seed"), 3);
    assert_eq!(file.samples.len(), (4 + 6) * (5 + 1));
    assert_eq!(file.footer["complete"], true);
    let shown = placed.run("show RESULTS").expect(0);
    assert!(shown.stdout.contains("H1: A pipe"), "{}", shown.stdout);
    placed.sandbox.assert_nothing_left();
}

#[test]
fn verdicts_for_scripts_have_what_they_rest_on() {
    let placed = measured();
    let judged = placed.run("study judge RESULTS --json").expect(0);
    assert_eq!(judged.stderr, "");
    let judged: Vec<Value> = serde_json::from_str(&judged.stdout).expect("an array");
    assert_eq!(judged.len(), 4);
    for one in &judged {
        assert!(["H1", "H2", "H3", "H4"].contains(&text(one, "id")));
        assert!(!text(one, "claim").is_empty());
        assert!(one["evidence"].is_object(), "{one}");
    }
    assert_eq!(judged[0]["verdict"], "supported", "{:#}", judged[0]);
    assert_eq!(judged[1]["verdict"], "rejected", "{:#}", judged[1]);
    assert_eq!(judged[2]["verdict"], "not testable here", "{:#}", judged[2]);
    for one in &judged {
        assert_eq!(one["verdict"], one["evidence"]["verdict"], "spelled alike: {one:#}");
    }
    let part = &judged[0]["evidence"]["parts"][0];
    assert_eq!(part["n"], 5, "{part}");
    assert_eq!(part["levels"]["used"], serde_json::json!(["64 B", "256 B"]), "{part:#}");
    for independence in [&part["independence"], &judged[0]["evidence"]["independence"]] {
        assert_eq!(independence["checked"], false, "{part:#}");
        assert!(independence["lag1"].is_number(), "{part:#}");
    }
    assert!(part["estimates"][0]["low"].is_number(), "{part}");
}

#[test]
fn a_verdict_says_that_it_is_an_average_and_that_few_blocks_show_no_dependence() {
    let told = measured().run("study judge RESULTS").expect(0).stdout;
    let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
    for words in [
        "supported, on average over these sizes",
        "independence of the blocks could not be checked",
    ] {
        assert!(told.contains(words), "no `{words}`: {told}");
    }
}

#[test]
fn a_gate_opens_where_all_that_can_be_tested_is_supported() {
    let placed = measured();
    placed.run("study judge RESULTS").expect(0);
    placed.run("study judge RESULTS --gate").expect(1);
    placed.run("study judge RESULTS --gate --json").expect(1);
    let only = StoredStudy::new(SMALL);
    only.run("study run STUDY --only H1 --out RESULTS").expect(0);
    only.run("study judge RESULTS --gate").expect(0);
    let untestable = StoredStudy::new(SMALL);
    untestable.run("study run STUDY --only H3 --out RESULTS").expect(0);
    untestable.run("study judge RESULTS --gate").expect(1);
}

/// Otherwise runs of different lengths would be averaged.
#[test]
fn cases_of_matrices_of_other_lengths_are_named_by_them() {
    let placed = StoredStudy::new(SMALL);
    let planned = placed.run("study plan STUDY --json").expect(0);
    for amount in ["/total=8000000", "/messages=50"] {
        assert!(planned.stdout.contains(amount), "no {amount}: {}", planned.stdout);
    }
    let of_one = placed.run("study plan STUDY --only H1 --json").expect(0);
    assert!(!of_one.stdout.contains("/total="), "{}", of_one.stdout);
}

#[test]
fn only_some_hypotheses_need_only_their_matrices() {
    let placed = StoredStudy::new(SMALL);
    placed.run("study run STUDY --only H1 --only H2 --out RESULTS").expect(0);
    let file = placed.results();
    assert_eq!(file.samples.len(), 4 * (5 + 1));
    let ids: Vec<String> = placed.verdicts().into_iter().map(|(id, _)| id).collect();
    assert_eq!(ids, ["H1", "H2"]);
    let unknown = placed.run("study plan STUDY --only H9").expect(2);
    assert!(unknown.stderr.contains("hypothesis `H9`"), "{}", unknown.stderr);
}

#[test]
fn a_quick_look_thins_sizes_and_says_so() {
    let placed = StoredStudy::new(SMALL);
    let told = placed.run("study run STUDY --quick --out RESULTS").expect(0);
    let file = placed.results();
    assert_eq!(file.header["quick"], true);
    assert!(told.stdout.to_lowercase().contains("quick"), "{}", told.stdout);
    let mut sizes: Vec<u64> = file
        .samples
        .iter()
        .filter(|sample| sample["workload"] == "round-trip")
        .map(|sample| number(sample, "buffer_bytes"))
        .collect();
    sizes.sort_unstable();
    sizes.dedup();
    assert_eq!(sizes, [16, 64, 256]);
    let trips = file.samples.iter().filter(|sample| sample["workload"] == "round-trip");
    assert!(trips.into_iter().all(|sample| number(sample, "messages") == 5));
}

#[test]
fn an_interrupted_study_goes_on_and_is_judged() {
    let placed = StoredStudy::new(&SMALL.replace("repetitions = 5", "repetitions = 20"));
    let results = placed.sandbox.results();
    let arguments = format!("study run {} --out {}", placed.study.display(), results.display());
    let command = placed.sandbox.start(placed.sandbox.command(&arguments));
    let told = || (runs_recorded(&results) >= 15).then_some(());
    wait_for("runs", HANG, told);
    signal(command.id(), Signal::INT);
    let finished = command.finish(HANG).expect(130);
    assert!(finished.stderr.contains("ipcperf resume"), "{}", finished.stderr);
    assert_eq!(placed.results().footer["complete"], false);
    let resumed = placed.run("resume RESULTS").expect(0);
    assert!(resumed.stdout.contains("H1: A pipe"), "{}", resumed.stdout);
    let file = placed.results();
    assert_eq!(file.footer["complete"], true);
    assert_eq!(file.samples.len(), (4 + 6) * (20 + 1));
    assert_eq!(text(&file.header, "study_hash"), sha256(&placed.study));
    let judged = placed.run("study judge RESULTS --json").expect(0);
    let judged: Vec<Value> = serde_json::from_str(&judged.stdout).expect("an array");
    // On a busy machine, blocks may be clearly dependent; then nothing is supported, whatever the figures.
    let is_withheld = judged[0]["evidence"]["obstacle"] == "dependent-blocks";
    assert!(judged[0]["verdict"] == "supported" || is_withheld, "{:#}", judged[0]);
    assert_eq!(judged[1]["verdict"], "rejected", "{:#}", judged[1]);
    placed.sandbox.assert_nothing_left();
}

#[test]
fn another_version_of_a_study_is_told_as_such() {
    let placed = measured();
    let same = placed.run("study judge RESULTS --study STUDY").expect(0);
    assert_eq!(same.stderr, "");
    let changed = SMALL.replace("above = 1.5", "above = 1.4");
    fs::write(&placed.study, &changed).expect("a study");
    let other = placed.run("study judge RESULTS --study STUDY").expect(0);
    let hash = sha256(&placed.study);
    assert!(other.stderr.contains("warning"), "{}", other.stderr);
    assert!(other.stderr.contains(&hash[..12]), "{}", other.stderr);
    // The hypotheses stated beforehand are in the results, whatever happens to the file.
    fs::write(&placed.study, "no study").expect("a file");
    assert_eq!(placed.run("study judge RESULTS").expect(0).stderr, "");
}

#[test]
fn results_of_no_study_are_judged_by_one_that_is_named() {
    let placed = StoredStudy::new(SMALL);
    let command = "-m null,pipe -b 64,256 --total 64kB --repetitions 5";
    placed.sandbox.finish(placed.sandbox.measuring(command)).expect(0);
    let refused = placed.run("study judge RESULTS").expect(2);
    assert!(refused.stderr.contains("--study"), "{}", refused.stderr);
    let judged = placed.run("study judge RESULTS --study STUDY").expect(0);
    assert!(judged.stderr.contains("no study"), "{}", judged.stderr);
}

#[test]
fn what_is_written_anew_passes_its_check_and_runs() {
    let sandbox = Sandbox::open();
    let path = sandbox.path("my question.toml");
    let mut command = sandbox.command("study new");
    command.arg(&path);
    let told = sandbox.finish(command).expect(0);
    assert!(told.stdout.contains("study check"), "{}", told.stdout);
    let text = fs::read_to_string(&path).expect("a study");
    assert!(text.contains("name = \"myquestion\""), "{text}");
    for key in [
        "repetitions",
        "mechanism",
        "placement",
        "quick",
        "hypothesis",
        "original_test",
        "of_second",
    ] {
        assert!(text.contains(key), "{key} is explained");
    }
    let with = |before: &str, after: &str| {
        let mut command = sandbox.command(before);
        command.arg(&path).args(after.split_whitespace());
        sandbox.finish(command)
    };
    with("study check", "").expect(0);
    with("study plan", "").expect(0);
    let run = with("study run --quick --quiet --out", "");
    assert_eq!(run.status.code(), Some(2), "the study, taken for results, is not written over");
    assert_eq!(fs::read_to_string(&path).expect("a study"), text);
    let results = sandbox.results();
    // The default timeout of a run is 10 s, which may be too short on a busy machine.
    let in_time = text.replacen("# timeout = \"10s\"", "timeout = \"600s\"", 1);
    assert_ne!(in_time, text);
    fs::write(&path, in_time).expect("a study");
    with("study run", &format!("--quick --out {}", results.display())).expect(0);
    assert_eq!(ResultsFile::read(&results).header["study"], "myquestion");
}

#[test]
fn a_file_that_is_there_is_left_alone() {
    let placed = StoredStudy::new("precious");
    let refused = placed.run("study new STUDY").expect(2);
    assert!(refused.stderr.contains("already exists"), "{}", refused.stderr);
    assert_eq!(fs::read_to_string(&placed.study).expect("a file"), "precious");
    placed.run("study new /nowhere/study.toml").expect(5);
}

/// Keys that are valid only together with another key, which the file of `study new` leaves out.
const NEEDS_ANOTHER: [&str; 14] = [
    "max_repetitions",
    "max_time",
    "first_touch",
    "reply",
    "message_sizes",
    "arrivals",
    "pacer",
    "duration",
    "peers",
    "traffic",
    "counter_events",
    "profile_event",
    "sender_prefix",
    "receiver_prefix",
];

/// Every key that `study new` explains is valid in its place when uncommented.
#[test]
fn all_that_is_explained_is_right() {
    let sandbox = Sandbox::open();
    let path = sandbox.path("all.toml");
    sandbox.run(&format!("study new {}", path.display())).expect(0);
    let text = fs::read_to_string(&path).expect("a study");
    let is_key = |line: &str| {
        let name = line.split(" = ").next().unwrap_or_default();
        line.contains(" = ") && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
    };
    let (before, rest) =
        text.split_once("# [[instrument_figure]]").expect("a section that is left out");
    let (whole, after) = rest.split_once("\n\n").expect("its end");
    let section: String =
        whole.lines().map(|line| format!("{}\n", line.trim_start_matches("# "))).collect();
    fs::write(&path, format!("{before}[[instrument_figure]]{section}\n{after}")).expect("a study");
    sandbox.run(&format!("study check {}", path.display())).expect(0);
    let text = format!("{before}\n{after}");
    let mut tried = 0;
    for line in text.lines().filter(|line| line.strip_prefix("# ").is_some_and(is_key)) {
        let changed = text.replacen(line, &line[2..], 1);
        fs::write(&path, &changed).expect("a study");
        let name = line[2..].split(" = ").next().unwrap_or_default();
        let checked = sandbox.run(&format!("study check {} --json", path.display()));
        let answer = serde_json::from_str::<Value>(&checked.stdout).expect("an object");
        let mistakes = answer["mistakes"].as_array().expect("mistakes");
        let keys: Vec<&str> = mistakes.iter().filter_map(|one| one["key"].as_str()).collect();
        if NEEDS_ANOTHER.contains(&name) {
            assert!(matches!(keys[..], [key] if key.ends_with(&format!(".{name}"))), "{answer}");
        } else {
            assert!(keys.is_empty(), "{line}: {answer}");
        }
        tried += 1;
    }
    assert!(tried >= 30, "{tried}");
}

#[test]
fn every_study_passes_its_check_and_has_a_plan() {
    let sandbox = Sandbox::open();
    for path in studies() {
        let name = path.display();
        let checked = sandbox.run(&format!("study check {name}")).expect(0);
        assert!(checked.stdout.contains("no mistakes"), "{name}: {}", checked.stdout);
        let planned = sandbox.run(&format!("study plan {name}")).expect(0);
        let same = sandbox.run(&format!("plan {name}")).expect(0);
        assert_eq!(planned.stdout.lines().count(), same.stdout.lines().count(), "{name}");
        sandbox.run(&format!("study plan {name} --quick --json")).expect(0);
        let shown = sandbox.run(&format!("study show {name}")).expect(0);
        assert!(shown.stdout.contains("H1"), "{name}: {}", shown.stdout);
    }
}

/// Every figure and table of the study wright, in the words of the report for one that was not measured.
const WRIGHT_METRICS: [&str; 7] = [
    "Figure 1:",
    "Figure 2:",
    "Figure 3:",
    "Figure 3-shares:",
    "Table 1:",
    "Table benchmark-1:",
    "Table benchmark-2:",
];

#[test]
fn what_was_not_measured_is_named_in_its_place_and_several_files_are_a_factor() {
    let sandbox = Sandbox::open();
    let mut files = Vec::new();
    for name in ["one", "other"] {
        let mut command = sandbox.command("study run wright --quick --only H3 --out");
        let file = sandbox.path(&format!("{name}.jsonl"));
        command.arg(&file);
        // The timeout of a run is 10 s here; on a busy machine some may fail, which does not change the layout of the
        // page.
        let measured = sandbox.finish(command);
        assert!(matches!(measured.status.code(), Some(0 | 4)), "{measured:?}");
        files.push(file);
    }
    let page = sandbox.path("both.html");
    let mut command = sandbox.command("report");
    command.args(&files).arg("-o").arg(&page);
    sandbox.finish(command).expect(0);
    let report = fs::read_to_string(&page).expect("a report");
    for wanted in WRIGHT_METRICS {
        assert!(report.contains(wanted), "no {wanted:?}");
    }
    assert!(
        report.contains("Not measured: ") && report.contains("Not observed: "),
        "all is there?"
    );
    let table = report.split("Table benchmark-1:").nth(1).expect("a table");
    let table = table.split("</table>").next().expect("its end");
    let has = |cell: &str| table.contains(&format!(">{cell}</t"));
    assert!(has("machine") && has("A") && has("B") && has("1 kB"), "{table}");
}

/// The reason is the limit of the mechanism, not the quick length.
#[test]
fn what_was_refused_is_why_a_claim_cannot_be_tested() {
    let refused = SMALL.replace(
        "name = \"trips\"\nmechanism = \"pipe\"\nworkload = \"round-trip\"\nbuffer = \"8,16,32,64,128,256\"",
        "name = \"trips\"\nmechanism = \"udp\"\nworkload = \"round-trip\"\nbuffer = \"1MiB,2MiB\"",
    );
    assert_ne!(refused, SMALL);
    let placed = StoredStudy::new(&refused);
    placed.run("study run STUDY --quick --out RESULTS").expect(0);
    let said = placed.run("study judge RESULTS").expect(0).stdout;
    let (_, of_trips) = said.split_once("H4: ").expect("H4");
    let of_trips = of_trips.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(of_trips.contains("65507 bytes per message"), "{of_trips}");
    assert!(!of_trips.contains("--quick leaves it out"), "{of_trips}");
}

#[test]
fn the_studies_that_come_along_are_listed() {
    let sandbox = Sandbox::open();
    for command in ["list studies --json", "study list --json"] {
        let listed = sandbox.run(command).expect(0);
        let listed: Vec<Value> = serde_json::from_str(&listed.stdout).expect("an array");
        assert!(listed.iter().any(|study| study["name"] == "pipe-or-socket"));
        for study in listed {
            assert!(!text(&study, "about").is_empty());
            assert_eq!(study["available"], true);
            assert!(study["reason"].is_null());
            let name = text(&study, "name");
            sandbox.run(&format!("study check {name}")).expect(0);
            let toml = sandbox.run(&format!("study show --toml {name}")).expect(0);
            assert!(toml.stdout.contains(&format!("name = \"{name}\"")), "{}", toml.stdout);
        }
    }
    let words = sandbox.run("study list").expect(0);
    assert!(words.stdout.contains("pipe-or-socket"), "{}", words.stdout);
}

#[test]
fn the_schema_that_is_printed_is_the_one_that_is_published() {
    let sandbox = Sandbox::open();
    let printed = sandbox.run("study show --schema").expect(0);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/study.schema.json");
    let published = fs::read_to_string(path).expect("the schema");
    assert!(printed.stdout == published, "docs/study.schema.json is not up to date");
    sandbox.run("study show").expect(2);
}

#[test]
fn a_summary_for_scripts_is_all_that_is_printed() {
    let placed = StoredStudy::new(SMALL);
    let told = placed.run("study run STUDY --only H1 --out RESULTS --json").expect(0);
    let cases: Vec<Value> = serde_json::from_str(&told.stdout).expect("an array");
    assert_eq!(cases.len(), 4);
    let again = placed.run("study run STUDY --only H1 --out RESULTS").expect(2);
    assert!(again.stderr.contains("--force"), "{}", again.stderr);
}
