//! Tests of a study's presentation with synthetic samples.

use ipcperf_model::Looks;
use ipcperf_model::workload::WorkloadKind;
use ipcperf_results::analysis::AnalyzedFile;
use ipcperf_results::testing::{analyzed_file, sample};
use ipcperf_results::{ExclusionReason, ObservationRecord};
use ipcperf_study::Study;
use serde_json::json;

use super::{Presentation, StudyContext};
use crate::figure::{SeriesNames, svg_document};

const SIZES: [u64; 5] = [512, 1_024, 2_048, 4_096, 8_192];
/// Throughput of the pipe, bytes/ns: a peak at 2 KiB.
const PIPE: [u64; 5] = [10, 20, 40, 20, 10];
/// Throughput of the socket: it overtakes the pipe beyond 4 KiB.
const SOCKET: [u64; 5] = [5, 10, 20, 18, 40];

const STUDY: &str = r#"
name = "planted"
title = "Planted"
question = "Is what was planted found?"

[[matrix]]
mechanism = ["pipe", "unix-stream"]
buffer = "512..8KiB"

[[table]]
number = "7"
title = "Who is the faster"
[[table.column]]
name = "PIPE"
where = { mechanism = "pipe" }
[[table.column]]
name = "SOCKET"
where = { mechanism = "unix-stream" }
[[table.column]]
name = "MAX"
best = ["PIPE", "SOCKET"]
[[table.column]]
name = "GAIN"
ratio = ["MAX", "PIPE"]

[[figure]]
number = "2a"
title = "Both"
metric = ["bandwidth", "elapsed"]
[[figure]]
number = "2b"
title = "One over the other"
relative_to = { mechanism = "pipe" }
scale = "linear"
[[figure]]
number = "9"
title = "Never watched"
metric = { instrument = "syscalls", field = "count" }

[[hypothesis]]
id = "rise"
claim = "The pipe rises, then falls."
test = "rises-then-falls"
where = { mechanism = "pipe" }

[[hypothesis]]
id = "cross"
claim = "The socket overtakes."
test = "crosses-over"
first = { mechanism = "unix-stream" }
second = { mechanism = "pipe" }

[[hypothesis]]
id = "levels"
claim = "The pipe is faster everywhere."
test = "faster-than"
at = "levels"
first = { mechanism = "pipe" }
second = { mechanism = "unix-stream" }
published = "1.5 times"
[hypothesis.original_test]
statistic = "student"
correction = "none"
"#;

/// Returns a file in which both lines have these shapes, with a little noise. The first block is excluded.
pub fn synthetic_file() -> AnalyzedFile {
    let mut samples = Vec::new();
    for (mechanism, rates) in [("pipe", PIPE), ("unix-stream", SOCKET)] {
        for (bytes, rate) in SIZES.into_iter().zip(rates) {
            for block in 0..=14_u32 {
                let noise = u64::from(block * 7 % 5) * 1_000;
                let ns = bytes * 1_000_000 / rate + noise;
                let mut one = sample(mechanism, WorkloadKind::Stream, bytes, block, ns);
                one.excluded = (block == 0).then_some(ExclusionReason::First);
                samples.push(one);
            }
        }
    }
    let mut file = analyzed_file("planted.jsonl", samples, Vec::new());
    let study = Study::parse(STUDY).unwrap();
    file.results.header.study = Some(study.name.clone());
    file.results.header.study_hash = Some(study.hash.clone());
    file.results.header.study_text = Some(study.text);
    file
}

/// Prepares everything for `files` and passes it to `look`.
fn present(files: &[AnalyzedFile], look: impl FnOnce(&Presentation<'_>, &SeriesNames)) {
    let asked = StudyContext::from_files(files, None).unwrap();
    assert_eq!(asked.warnings, Vec::<String>::new());
    let mut names = SeriesNames::default();
    let presentation = Presentation::new(&asked, files, &mut names);
    look(&presentation, &names);
}

/// Returns the figures of a claim as text.
fn claim_svg(presentation: &Presentation<'_>, names: &SeriesNames, id: &str) -> String {
    let claim = presentation.claims.iter().find(|one| one.claim.id == id).unwrap();
    svg_document(claim.chart.as_ref().unwrap(), names)
}

#[test]
fn a_peak_is_marked_where_it_was_planted() {
    present(&[synthetic_file()], |presentation, names| {
        let svg = claim_svg(presentation, names, "rise");
        assert!(svg.contains("peak 2 KiB"), "{svg}");
        assert!(svg.contains("pipe, 2 KiB: ") && !svg.contains("unix-stream, 2 KiB"), "{svg}");
    });
}

/// The report must not judge all repetitions at once: its verdicts could differ from those of `study judge`.
#[test]
fn a_file_measured_until_its_claims_are_decided_is_judged_look_by_look() {
    let mut file = synthetic_file();
    file.results.header.plan.until_decided = Some(Looks::with_max_repetitions(30));
    present(&[file], |presentation, _| {
        let claim = presentation.claims.iter().find(|one| one.claim.id == "levels").unwrap();
        let [judged] = &claim.verdicts[..] else { panic!("one file") };
        let at_look = judged.at_look.as_deref().unwrap();
        assert!(at_look.ends_with("look 1 of 4, each at alpha 0.0125"), "{at_look}");
        assert!(judged.found.parts.iter().all(|part| part.n <= 10), "{:?}", judged.found.parts);
    });
}

#[test]
fn a_crossing_is_a_band_between_both_lines() {
    present(&[synthetic_file()], |presentation, names| {
        let svg = claim_svg(presentation, names, "cross");
        assert!(svg.contains("crossing ") && svg.contains("<rect class=\"finding-mark\""), "{svg}");
        assert!(svg.contains("pipe, 2 KiB: ") && svg.contains("unix-stream, 2 KiB: "), "{svg}");
    });
}

#[test]
fn p_values_are_of_each_level_capped_and_by_each_test() {
    present(&[synthetic_file()], |presentation, names| {
        let with_p = presentation.claims.iter().filter(|one| one.p_values.is_some());
        let ids: Vec<&str> = with_p.map(|one| one.claim.id.as_str()).collect();
        assert_eq!(ids, ["levels"]);
        let chart = presentation.claims[2].p_values.as_ref().unwrap();
        let series: Vec<&str> = chart.series().into_iter().map(|at| names.name(at)).collect();
        assert_eq!(series, ["p", "p, corrected", "p of the original test"]);
        let svg = svg_document(chart, names);
        assert!(svg.contains("alpha 0.05") && svg.contains("8 KiB: p = "), "{svg}");
        assert_eq!(svg.matches("class=\"point\"").count(), 15);
    });
}

#[test]
fn columns_hold_medians_the_best_and_ratios() {
    present(&[synthetic_file()], |presentation, _| {
        let [table] = &presentation.tables[..] else { panic!("one table") };
        assert_eq!(table.caption, "Table 7: Who is the faster");
        assert_eq!(table.header, ["buffer", "PIPE", "SOCKET", "MAX", "GAIN"]);
        let sizes: Vec<&str> = table.rows.iter().map(|row| row[0].as_str()).collect();
        assert_eq!(sizes, ["512 B", "1 KiB", "2 KiB", "4 KiB", "8 KiB"]);
        let gains: Vec<&str> = table.rows.iter().map(|row| row[4].as_str()).collect();
        assert!(gains[..4].iter().all(|gain| gain.starts_with("1.000 ")), "{gains:?}");
        assert!(gains[4].starts_with("4.0") || gains[4].starts_with("3.9"), "{gains:?}");
        assert_eq!(table.rows[0][3], table.rows[0][1], "the pipe is the best there");
        assert!(table.notes.iter().any(|note| note.contains("10 runs of the first block")));
    });
}

#[test]
fn figures_have_a_panel_for_each_metric_and_say_what_is_missing() {
    present(&[synthetic_file()], |presentation, names| {
        let [both, relative, missing] = &presentation.figures[..] else { panic!("three figures") };
        let chart = both.chart.as_ref().unwrap();
        assert_eq!(chart.title, "Figure 2a: Both");
        let titles: Vec<&str> = chart.panels.iter().map(|panel| panel.title.as_str()).collect();
        assert_eq!(titles, ["bandwidth", "elapsed"]);
        let relative = relative.chart.as_ref().unwrap();
        let series: Vec<&str> = relative.series().into_iter().map(|at| names.name(at)).collect();
        assert_eq!(series, ["unix-stream"], "a line over itself is none");
        assert!(missing.chart.is_none());
        assert!(missing.absences[0].contains("was not measured"), "{:?}", missing.absences);
    });
}

#[test]
fn several_files_have_panels_and_verdicts_of_their_own_and_tables_with_the_machine_as_a_factor() {
    present(&[synthetic_file(), synthetic_file()], |presentation, _| {
        let claim = &presentation.claims[0];
        let letters: Vec<Option<char>> = claim.verdicts.iter().map(|one| one.letter).collect();
        assert_eq!(letters, [Some('A'), Some('B')]);
        let panels = &claim.chart.as_ref().unwrap().panels;
        let titles: Vec<&str> = panels.iter().map(|panel| panel.title.as_str()).collect();
        assert_eq!(titles, ["A · 2proc, same", "B · 2proc, same"]);
        let [table] = &presentation.tables[..] else { panic!("one table") };
        assert_eq!(table.header[..3], ["buffer", "machine", "PIPE"]);
        let rows: Vec<[&str; 2]> = table.rows.iter().map(|row| [&*row[0], &*row[1]]).collect();
        assert_eq!(rows[..3], [["512 B", "A"], ["512 B", "B"], ["1 KiB", "A"]]);
        assert_eq!(rows.len(), 10);
        assert!(table.notes.iter().any(|note| note.starts_with("B · ")), "{:?}", table.notes);
    });
}

#[test]
fn another_version_of_the_study_is_told_for_each_file() {
    let files = [synthetic_file()];
    let changed = Study::parse(&STUDY.replace("everywhere", "anywhere")).unwrap();
    let asked = StudyContext::from_files(&files, Some(changed)).unwrap();
    let [warning] = &asked.warnings[..] else { panic!("one warning") };
    assert!(warning.contains("planted.jsonl: measured for planted version "), "{warning}");
    let same = StudyContext::from_files(&files, Some(Study::parse(STUDY).unwrap())).unwrap();
    assert_eq!(same.warnings, Vec::<String>::new());
}

#[test]
fn mistakes_in_columns_and_figures_have_line_key_and_remedy() {
    let told = |from: &str, to: &str| {
        assert!(STUDY.contains(from), "{from}");
        let mistakes = Study::parse(&STUDY.replacen(from, to, 1)).unwrap_err();
        mistakes.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
    };
    let no_column = told("best = [\"PIPE\", \"SOCKET\"]", "best = [\"PIPE\", \"SOCKETS\"]");
    assert!(
        no_column.contains("table[1].column[3].best")
            && no_column.contains("did you mean `SOCKET`?"),
        "{no_column}"
    );
    let three = told("ratio = [\"MAX\", \"PIPE\"]", "ratio = [\"MAX\"]");
    assert!(three.contains("a ratio needs exactly two columns; name two columns"), "{three}");
    let both = told("ratio = [\"MAX\", \"PIPE\"]", "ratio = [\"MAX\", \"PIPE\"]\nbest = [\"MAX\"]");
    assert!(both.contains("ratio cannot be combined with best; keep one of the two"), "{both}");
    let twice = told("number = \"2b\"", "number = \"2a\"");
    assert!(twice.contains("another figure has the name `2a`"), "{twice}");
    let level =
        told("relative_to = { mechanism = \"pipe\" }", "relative_to = { mechanism = \"pip\" }");
    assert!(level.contains("no matrix has mechanism = pip; did you mean `pipe`?"), "{level}");
    let scale = told("scale = \"linear\"", "scale = \"lin\"");
    assert!(scale.contains("figure[2].scale: invalid value `lin`"), "{scale}");
}

/// Rows selected from an instrument's observations, a sum, and their spread.
const ROWED: &str = r#"
name = "rowed"
title = "Rowed"
question = "Which call takes how long?"

[[matrix]]
mechanism = "pipe"
buffer = "512"
instrument = "rusage"

[[table]]
number = "calls"
title = "Calls"
spread = "range"
[[table.row]]
name = "open"
seen = { role = "sender", syscall = "openat|open" }
[[table.row]]
name = "read"
seen = { role = "receiver", syscall = "read" }
[[table.row]]
name = "Sum"
sum = ["open", "read"]
[[table.column]]
name = "mean"
metric = { instrument = "syscalls", field = "total_ns", per = "count", unit = "ns" }
[[table.column]]
name = "median"
metric = { instrument = "syscalls", field = "percentiles_ns.p50", unit = "ns" }

[[instrument_figure]]
number = "5"
title = "Times of calls"
instrument = "syscalls"
where = { mechanism = "pipe" }
[[instrument_figure]]
number = "6"
title = "Nobody profiled"
instrument = "profile"
"#;

fn call(run: &str, role: &str, syscall: &str, block: u64) -> ObservationRecord {
    let fields = json!({
        "syscall": syscall, "count": 2, "total_ns": 2_000 * block, "number": 0, "errors": 0,
        "requested_bytes": null, "returned_bytes": null, "log2_histogram_ns": [[512, 2]], "min_ns": 1,
        "percentiles_ns": { "p50": 700, "p90": 800, "p99": 900, "max": 1_000 }, "log2_histogram_returned": [],
    });
    let serde_json::Value::Object(fields) = fields else { unreachable!("an object") };
    let (run_id, instrument) = (run.to_owned(), "syscalls".to_owned());
    ObservationRecord { seq: None, run_id, instrument, role: Some(role.to_owned()), fields }
}

fn synthetic_file_with_rows() -> AnalyzedFile {
    let mut samples = Vec::new();
    let mut observations = Vec::new();
    for block in 1..=3_u32 {
        let mut one = sample("pipe", WorkloadKind::Stream, 512, block, 1_000_000);
        one.instruments = vec!["syscalls".to_owned()];
        observations.push(call(&one.run.run_id, "sender", "openat", block.into()));
        observations.push(call(&one.run.run_id, "sender", "write", block.into()));
        observations.push(call(&one.run.run_id, "receiver", "read", block.into()));
        samples.push(one);
    }
    let mut file = analyzed_file("rowed.jsonl", samples, Vec::new());
    let study = Study::parse(ROWED).unwrap();
    file.results.observations = observations;
    file.results.header.study = Some(study.name.clone());
    file.results.header.study_hash = Some(study.hash.clone());
    file.results.header.study_text = Some(study.text);
    file
}

#[test]
fn rows_hold_what_was_told_of_them_and_sums() {
    present(&[synthetic_file_with_rows()], |presentation, _| {
        let [table] = &presentation.tables[..] else { panic!("one table") };
        assert_eq!(table.header, ["", "mean", "median"]);
        let wanted = [
            ["open", "2.00 µs (1.00 µs to 3.00 µs)", "700 ns (700 ns to 700 ns)"],
            ["read", "2.00 µs (1.00 µs to 3.00 µs)", "700 ns (700 ns to 700 ns)"],
            ["Sum", "4.00 µs (2.00 µs to 6.00 µs)", "1.40 µs (1.40 µs to 1.40 µs)"],
        ];
        let rows: Vec<Vec<String>> = wanted.map(|row| row.map(str::to_owned).to_vec()).to_vec();
        assert_eq!(table.rows, rows);
    });
}

#[test]
fn pictures_are_those_asked_for_and_what_was_not_seen_is_told() {
    present(&[synthetic_file_with_rows()], |presentation, _| {
        let [seen, missing] = &presentation.instrument_figures[..] else { panic!("two pictures") };
        assert_eq!(seen.caption(), "Figure 5: Times of calls");
        assert_eq!((seen.observations.len(), seen.absences.len()), (1, 0));
        assert!(!seen.observations[0].1.views.is_empty());
        assert_eq!((missing.observations.len(), missing.absences.len()), (0, 1));
        assert!(
            missing.absences[0].starts_with("profile observed no run"),
            "{:?}",
            missing.absences
        );
    });
}

#[test]
fn mistakes_in_rows_and_pictures_have_line_key_and_remedy() {
    let told = |from: &str, to: &str| {
        assert!(ROWED.contains(from), "{from}");
        let mistakes = Study::parse(&ROWED.replacen(from, to, 1)).unwrap_err();
        mistakes.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
    };
    let no_row = told("sum = [\"open\", \"read\"]", "sum = [\"open\", \"reads\"]");
    assert!(
        no_row.contains("table[1].row[3].sum") && no_row.contains("did you mean `read`?"),
        "{no_row}"
    );
    let both = told("sum = [\"open\", \"read\"]", "sum = [\"open\"]\nseen = { role = \"sender\" }");
    assert!(both.contains("sum cannot be combined with seen or where; leave out seen"), "{both}");
    let empty = told("seen = { role = \"receiver\", syscall = \"read\" }", "seen = {}");
    assert!(empty.contains("set it to a table of fields"), "{empty}");
    let instrument = told("instrument = \"profile\"", "instrument = \"profiler\"");
    assert!(instrument.contains("did you mean `profile`?"), "{instrument}");
    let twice = told("number = \"6\"", "number = \"5\"");
    assert!(twice.contains("another figure has the name `5`"), "{twice}");
}
