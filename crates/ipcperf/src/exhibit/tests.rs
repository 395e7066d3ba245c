//! What a study shows of planted samples.

use ipcperf_engine::workload::Kind;

use super::{Asked, Exhibits};
use crate::figure::{Names, sheet};
use crate::results::{SetAside, sample};
use crate::study::Study;
use crate::summary::{Summarised, summarised};

const SIZES: [u64; 5] = [512, 1_024, 2_048, 4_096, 8_192];
/// Bytes each ns of the pipe: a peak at 2 KiB.
const PIPE: [u64; 5] = [10, 20, 40, 20, 10];
/// Of the socket: it overtakes the pipe beyond 4 KiB.
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
[hypothesis.beside]
statistic = "student"
correction = "none"
"#;

/// A file in which both lines have the shapes planted, with a little noise; the first block is set aside.
pub(crate) fn planted() -> Summarised {
    let mut samples = Vec::new();
    for (mechanism, rates) in [("pipe", PIPE), ("unix-stream", SOCKET)] {
        for (bytes, rate) in SIZES.into_iter().zip(rates) {
            for block in 0..=14_u32 {
                let noise = u64::from(block * 7 % 5) * 1_000;
                let ns = bytes * 1_000_000 / rate + noise;
                let mut one = sample(mechanism, Kind::Stream, bytes, block, ns);
                one.set_aside = (block == 0).then_some(SetAside::First);
                samples.push(one);
            }
        }
    }
    let mut file = summarised("planted.jsonl", samples, Vec::new());
    let study = Study::read(STUDY).unwrap();
    file.results.header.study = Some(study.name.clone());
    file.results.header.study_hash = Some(study.hash.clone());
    file.results.header.study_text = Some(study.text);
    file
}

/// All of it for `files`, looked at by `look`.
fn shown(files: &[Summarised], look: impl FnOnce(&Exhibits<'_>, &Names)) {
    let asked = Asked::of(files, None).unwrap();
    assert_eq!(asked.warnings, Vec::<String>::new());
    let mut names = Names::default();
    let exhibits = Exhibits::of(&asked, files, &mut names);
    look(&exhibits, &names);
}

/// The pictures of a claim, as text.
fn picture(exhibits: &Exhibits<'_>, names: &Names, id: &str) -> String {
    let claim = exhibits.claims.iter().find(|one| one.claim.id == id).unwrap();
    sheet(claim.chart.as_ref().unwrap(), names)
}

#[test]
fn a_peak_is_marked_where_it_was_planted() {
    shown(&[planted()], |exhibits, names| {
        let svg = picture(exhibits, names, "rise");
        assert!(svg.contains("peak 2 KiB"), "{svg}");
        assert!(svg.contains("pipe, 2 KiB: ") && !svg.contains("unix-stream, 2 KiB"), "{svg}");
    });
}

#[test]
fn a_crossing_is_a_band_between_both_lines() {
    shown(&[planted()], |exhibits, names| {
        let svg = picture(exhibits, names, "cross");
        assert!(svg.contains("crossing ") && svg.contains("<rect class=\"found\""), "{svg}");
        assert!(svg.contains("pipe, 2 KiB: ") && svg.contains("unix-stream, 2 KiB: "), "{svg}");
    });
}

#[test]
fn p_values_are_of_each_level_capped_and_by_each_test() {
    shown(&[planted()], |exhibits, names| {
        let with_p = exhibits.claims.iter().filter(|one| one.p_values.is_some());
        let ids: Vec<&str> = with_p.map(|one| one.claim.id.as_str()).collect();
        assert_eq!(ids, ["levels"]);
        let chart = exhibits.claims[2].p_values.as_ref().unwrap();
        let series: Vec<&str> = chart.series().into_iter().map(|at| names.name(at)).collect();
        assert_eq!(series, ["p", "p, corrected", "p by the document's test"]);
        let svg = sheet(chart, names);
        assert!(svg.contains("level 0.05") && svg.contains("8 KiB: p = "), "{svg}");
        assert_eq!(svg.matches("class=\"point\"").count(), 15);
    });
}

#[test]
fn columns_hold_medians_the_best_and_ratios() {
    shown(&[planted()], |exhibits, _| {
        let [table] = &exhibits.tables[..] else { panic!("one table") };
        assert_eq!(table.caption, "Table 7: Who is the faster");
        assert_eq!(table.head, ["buffer", "PIPE", "SOCKET", "MAX", "GAIN"]);
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
    shown(&[planted()], |exhibits, names| {
        let [both, relative, missing] = &exhibits.figures[..] else { panic!("three figures") };
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
fn several_files_have_panels_tables_and_verdicts_of_their_own() {
    shown(&[planted(), planted()], |exhibits, _| {
        let claim = &exhibits.claims[0];
        let letters: Vec<Option<char>> = claim.judgements.iter().map(|one| one.letter).collect();
        assert_eq!(letters, [Some('A'), Some('B')]);
        let panels = &claim.chart.as_ref().unwrap().panels;
        let titles: Vec<&str> = panels.iter().map(|panel| panel.title.as_str()).collect();
        assert_eq!(titles, ["A · 2proc, same", "B · 2proc, same"]);
        let captions: Vec<&str> = exhibits.tables.iter().map(|one| one.caption.as_str()).collect();
        let title = "Table 7: Who is the faster";
        assert_eq!(captions, [format!("A · {title}"), format!("B · {title}")]);
    });
}

#[test]
fn another_version_of_the_study_is_told_for_each_file() {
    let files = [planted()];
    let changed = Study::read(&STUDY.replace("everywhere", "anywhere")).unwrap();
    let asked = Asked::of(&files, Some(changed)).unwrap();
    let [warning] = &asked.warnings[..] else { panic!("one warning") };
    assert!(warning.contains("planted.jsonl: measured for planted as of "), "{warning}");
    let same = Asked::of(&files, Some(Study::read(STUDY).unwrap())).unwrap();
    assert_eq!(same.warnings, Vec::<String>::new());
}

#[test]
fn mistakes_in_columns_and_figures_have_line_key_and_remedy() {
    let told = |from: &str, to: &str| {
        assert!(STUDY.contains(from), "{from}");
        let mistakes = Study::read(&STUDY.replacen(from, to, 1)).unwrap_err();
        mistakes.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
    };
    let no_column = told("best = [\"PIPE\", \"SOCKET\"]", "best = [\"PIPE\", \"SOCKETS\"]");
    assert!(
        no_column.contains("table[1].column[3].best")
            && no_column.contains("did you mean `SOCKET`?"),
        "{no_column}"
    );
    let three = told("ratio = [\"MAX\", \"PIPE\"]", "ratio = [\"MAX\"]");
    assert!(three.contains("a ratio is of two columns; name two columns"), "{three}");
    let both = told("ratio = [\"MAX\", \"PIPE\"]", "ratio = [\"MAX\", \"PIPE\"]\nbest = [\"MAX\"]");
    assert!(both.contains("it stands beside best; keep one of them"), "{both}");
    let twice = told("number = \"2b\"", "number = \"2a\"");
    assert!(twice.contains("another figure is called `2a`"), "{twice}");
    let level =
        told("relative_to = { mechanism = \"pipe\" }", "relative_to = { mechanism = \"pip\" }");
    assert!(level.contains("no matrix has mechanism pip; did you mean `pipe`?"), "{level}");
    let scale = told("scale = \"linear\"", "scale = \"lin\"");
    assert!(scale.contains("figure[2].scale: it cannot be `lin`"), "{scale}");
}
