//! Tests of charts of synthetic samples: content of panels and texts of points.

use ipcperf_model::hardware_limits::{CopyLimit, HardwareLimits};
use ipcperf_model::workload::WorkloadKind;
use ipcperf_results::Sample;
use ipcperf_results::analysis::{AnalyzedFile, DistributionMode};
use ipcperf_results::testing::{analyzed_file, sample};

use super::chart::Panel;
use super::figure_spec::FigureSpec;
use super::limit_kind::LimitKind;
use super::svg_document::svg_document;
use super::*;

/// Returns streams and round trips of three mechanisms at `sizes`. Repetition k takes k % longer.
fn samples(sizes: &[u64]) -> Vec<Sample> {
    let mut samples = Vec::new();
    for (place, mechanism) in (1..).zip(["null", "pipe", "shm-ring"]) {
        for &bytes in sizes {
            for kind in [WorkloadKind::Stream, WorkloadKind::RoundTrip] {
                for block in 1..=7_u32 {
                    let ns = place * 1_000_000 * (100 + u64::from(block));
                    let mut sample = sample(mechanism, kind, bytes, block, ns);
                    sample.roles.insert("sender_cpu_ns".to_owned(), Some(ns / 2));
                    sample.roles.insert("receiver_cpu_ns".to_owned(), Some(ns / 4));
                    samples.push(sample);
                }
            }
        }
    }
    samples
}

fn file(sizes: &[u64]) -> AnalyzedFile {
    with_limits(samples(sizes))
}

/// Returns a file with `samples`, of a machine with known limits.
fn with_limits(samples: Vec<Sample>) -> AnalyzedFile {
    let mut file = analyzed_file("one.jsonl", samples, Vec::new()).results;
    file.header.environment.cpus.cache_l1d_bytes = Some(32_768);
    file.header.limits = Some(HardwareLimits {
        copy: vec![CopyLimit { bytes: 4_096, hot_bytes_per_s: Some(10_000_000_000) }],
        system_call_ns: Some(100.0),
        switch_ns: Some(1_000.0),
        ..HardwareLimits::default()
    });
    AnalyzedFile::new(std::path::Path::new("one.jsonl"), file)
}

fn figure(name: &str) -> &'static FigureSpec {
    FIGURES.iter().find(|figure| figure.name == name).unwrap()
}

fn chart(name: &str, files: &[AnalyzedFile]) -> Chart {
    build_chart(figure(name), files, &SeriesNames::from_files(files)).unwrap()
}

fn tooltips(panel: &Panel) -> Vec<&str> {
    let points = panel.content.curves.iter().flat_map(|curve| &curve.points);
    points.map(|point| point.tooltip.as_str()).collect()
}

fn titles(chart: &Chart) -> Vec<&str> {
    chart.panels.iter().map(|panel| panel.title.as_str()).collect()
}

const SIZES: [u64; 3] = [64, 4_096, 65_536];

#[test]
fn every_description_makes_a_picture_but_modes_where_there_is_one() {
    let all = samples(&SIZES).into_iter().chain(paced("pipe", 1_000, false));
    let files = [with_limits(all.collect())];
    let names = SeriesNames::from_files(&files);
    for description in FIGURES {
        let chart = build_chart(description, &files, &names);
        assert_eq!(chart.is_some(), !description.name.ends_with("modes"), "{}", description.name);
        if let Some(chart) = chart {
            let svg = svg_document(&chart, &names);
            assert!(svg.contains("<use class=\"point\"") && !svg.contains("NaN"), "{svg}");
        }
    }
}

#[test]
fn points_say_mechanism_size_median_middle_half_and_n() {
    let files = [file(&SIZES)];
    let chart = chart("bandwidth", &files);
    assert_eq!(titles(&chart), ["2proc, same"]);
    let words = tooltips(&chart.panels[0]);
    assert_eq!(words.len(), 6, "null is in no figure: {words:?}");
    assert_eq!(words[0], "pipe, 64 B: 308 kB/s (middle half 303 kB/s to 312 kB/s, n = 7)");
    let limits: Vec<&str> = chart.limits().into_iter().map(LimitKind::name).collect();
    assert_eq!(limits, ["limit (shared memory)", "limit (kernel)"]);
    assert_eq!(chart.panels[0].caches, [(32_768.0, "L1d")]);
    assert!(chart.notes.iter().any(|note| note.contains("n = 7")), "{:?}", chart.notes);
}

#[test]
fn each_role_has_its_panel_and_the_sender_comes_first() {
    let chart = chart("cpu-per-byte", &[file(&SIZES)]);
    assert_eq!(titles(&chart), ["2proc, same · sender", "2proc, same · receiver"]);
    let first = tooltips(&chart.panels[0])[0];
    assert!(first.starts_with("pipe, 64 B: 1.62 µs"), "{first}");
}

#[test]
fn distributions_are_of_the_smallest_and_the_largest_size() {
    let chart = chart("round-trip-distribution", &[file(&SIZES)]);
    assert_eq!(titles(&chart), ["2proc, same · 64 B", "2proc, same · 64 KiB"]);
    let words = tooltips(&chart.panels[0]);
    let median = words.iter().find(|words| words.contains("pipe: 50 % of 7 round trips"));
    assert!(median.is_some_and(|words| words.ends_with("took at most 208 µs")), "{words:?}");
}

#[test]
fn a_single_size_has_a_row_for_each_mechanism() {
    let chart = chart("bandwidth", &[file(&[4_096])]);
    assert_eq!(chart.title, "Bandwidth at 4 KiB");
    assert_eq!(chart.panels[0].content.rows, ["pipe", "shm-ring"]);
    assert_eq!(chart.panels[0].guides.iter().map(|guide| guide.lines.len()).sum::<usize>(), 2);
}

/// Runs of a paced case, and whether they carry the rate.
fn paced(mechanism: &str, rate_per_s: u64, saturated: bool) -> Vec<Sample> {
    let run = |block| {
        let mut sample = sample(mechanism, WorkloadKind::Paced, 64, block, 1_000_000);
        sample.run.case.rate_per_s = Some(rate_per_s);
        sample.run.case.case_id = format!("{mechanism}/{rate_per_s}");
        sample.cpu_ns_per_message = Some(2_000.0);
        sample.paced.one_way_ns_p50 = Some(1_000);
        sample.paced.saturated = Some(saturated);
        sample
    };
    (1..=3).map(run).collect()
}

#[test]
fn every_rate_has_a_panel_with_the_mechanisms_that_carry_it() {
    let cases = [
        ("pipe", 1_000, false),
        ("tcp", 1_000, false),
        ("pipe", 20_000, false),
        ("tcp", 20_000, true),
    ];
    let runs = cases.into_iter().flat_map(|(name, rate, saturated)| paced(name, rate, saturated));
    let files = [analyzed_file("x.jsonl", runs.collect(), Vec::new())];
    let chart = chart("paced-latency-cpu", &files);
    assert_eq!(
        titles(&chart),
        ["paced · 2proc, same · 64 B · 1k/s", "paced · 2proc, same · 64 B · 20k/s"]
    );
    let marks: Vec<usize> = chart.panels.iter().map(|one| one.content.curves.len()).collect();
    assert_eq!(marks, [2, 1]);
    let drawn = FIGURES.iter().filter_map(|figure| {
        build_chart(figure, &files, &SeriesNames::from_files(&files)).map(|chart| chart.name)
    });
    assert_eq!(drawn.collect::<Vec<_>>(), ["paced-latency-cpu"], "other figures have no rates");
}

#[test]
fn titles_name_both_axes_and_units() {
    let files = [file(&SIZES)];
    let titles = FIGURES.iter().filter_map(|figure| {
        build_chart(figure, &files, &SeriesNames::from_files(&files)).map(|chart| chart.title)
    });
    let wanted = [
        "Bandwidth by buffer size",
        "Round-trip latency by message size",
        "Latency distribution (CDF)",
        "Share of hardware limit",
        "CPU time per byte by role",
        "CPU time per message by role",
        "Round-trip latency against CPU time",
    ];
    assert_eq!(titles.collect::<Vec<_>>(), wanted);
    let round_trip = chart("round-trip", &files);
    let panel = &round_trip.panels[0];
    assert_eq!(panel.x.title(), "message size (bytes)");
    assert!(panel.y.title().starts_with("mean round-trip time ("), "{}", panel.y.title());
}

/// A reader cannot follow more than eight lines, so further mechanisms get a second panel.
#[test]
fn the_ninth_mechanism_opens_a_second_panel() {
    let names = ["a", "b", "c", "d", "e", "f", "g", "h", "i"];
    let runs = names.iter().flat_map(|name| SIZES.map(|bytes| (*name, bytes)));
    let runs = runs.flat_map(|(name, bytes)| {
        (1..=3).map(move |block| sample(name, WorkloadKind::Stream, bytes, block, 1_000_000))
    });
    let files = [analyzed_file("x.jsonl", runs.collect(), Vec::new())];
    let chart = chart("bandwidth", &files);
    assert_eq!(titles(&chart), ["2proc, same · part 1 of 2", "2proc, same · part 2 of 2"]);
    let lines: Vec<usize> = chart.panels.iter().map(|one| one.content.curves.len()).collect();
    assert_eq!(lines, [5, 4]);
    assert_eq!(chart.panels[0].y, chart.panels[1].y, "the panels remain comparable");
}

#[test]
fn modes_are_never_hidden_behind_a_middle() {
    let mut file = file(&SIZES);
    let modes = [(0.7, 3e5), (0.3, 9e5)].map(|(share, median)| DistributionMode { share, median });
    let case = |case: &&mut ipcperf_results::analysis::CaseSummary| {
        case.case.mechanism == "pipe" && case.case.workload == WorkloadKind::Stream
    };
    file.summaries.iter_mut().find(case).unwrap().modes = modes.to_vec();
    let files = [file];
    let bandwidth = chart("bandwidth", &files);
    let words = tooltips(&bandwidth.panels[0]);
    assert_eq!(words[0], "pipe, 64 B: 300 kB/s in 70 % of the repetitions");
    assert_eq!(words[1], "pipe, 64 B: 900 kB/s in 30 % of the repetitions");
    let modes = chart("bandwidth-modes", &files);
    assert_eq!(modes.panels[0].content.rows, ["pipe, 64 B: 70 % 300 kB/s, 30 % 900 kB/s"]);
}

#[test]
fn what_was_always_held_up_is_there_but_on_no_line() {
    let mut all = samples(&SIZES);
    for sample in all.iter_mut().filter(|s| s.run.case.buffer_bytes == 64) {
        sample.excluded = Some(ipcperf_results::ExclusionReason::Disturbed);
    }
    let files = [analyzed_file("x.jsonl", all, Vec::new())];
    let chart = chart("bandwidth", &files);
    let curve = &chart.panels[0].content.curves[0];
    assert_eq!((curve.points.len(), curve.line.len()), (3, 2));
    let words = &curve.points[0].tooltip;
    assert_eq!(words, "pipe, 64 B: 308 kB/s? Unreliable: all 7 runs were disturbed");
}

#[test]
fn several_files_stand_side_by_side_on_the_same_axes() {
    let chart = chart("bandwidth", &[file(&SIZES), file(&[64, 1 << 20])]);
    assert_eq!(titles(&chart), ["A · 2proc, same", "B · 2proc, same"]);
    assert_eq!(chart.panels[0].x, chart.panels[1].x);
    assert_eq!(chart.panels[0].y, chart.panels[1].y);
}

#[test]
fn words_from_a_file_are_escaped_and_fit_for_xml() {
    let mut all = samples(&[64, 128]);
    for sample in &mut all {
        let bad = "<b>&\u{1}\"]]>".to_owned();
        sample.run.case.options.insert("flavour".to_owned(), bad);
    }
    let files = [analyzed_file("x.jsonl", all, Vec::new())];
    let svg = svg_document(&chart("bandwidth", &files), &SeriesNames::from_files(&files));
    assert!(!svg.contains("<b>") && svg.contains("&lt;b&gt;"), "{svg}");
    #[cfg(feature = "pdf-png")]
    assert!(resvg::usvg::Tree::from_str(&svg, &resvg::usvg::Options::default()).is_ok());
}
