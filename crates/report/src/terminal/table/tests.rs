//! Tests of result tables on scripted times.

use ipcperf_model::workload::WorkloadKind;
use ipcperf_results::analysis::{Bound, DistributionMode, HardwareLimitShare, Spread, summarize};
use ipcperf_results::testing::sample;

use super::*;

/// Returns a view without shares of limits and granted sizes.
fn view(error_bar: ErrorBar, columns: usize) -> TableView {
    let limit_shares = LimitShares::Hidden;
    TableView { error_bar, limit_shares, requested_buffer_bytes: |_| None, columns }
}

/// Returns summaries of `null` and two others with scripted times: repetition k takes k % longer.
fn scripted(workload: WorkloadKind, mechanisms: &[&str], sizes: &[u64]) -> Vec<CaseSummary> {
    let (mut cases, mut samples) = (Vec::new(), Vec::new());
    for (place, mechanism) in (1..).zip(mechanisms) {
        for &bytes in sizes {
            for block in 0..=7_u32 {
                let elapsed_ns = place * 1_000 * (100 + u64::from(block));
                samples.push(sample(mechanism, workload, bytes, block, elapsed_ns));
            }
            cases.push(samples[samples.len() - 1].run.case.case_id.clone());
        }
    }
    summarize(&cases, &[], &samples, &[], None)
}

#[test]
fn few_sizes_stand_across() {
    let mut all = scripted(WorkloadKind::Stream, &["null", "pipe", "tcp"], &[64, 4096]);
    all.extend(scripted(WorkloadKind::RoundTrip, &["null", "pipe"], &[64, 4096]));
    insta::assert_snapshot!(tables(&all, &view(ErrorBar::Iqr, 116)));
}

#[test]
fn many_sizes_stand_down() {
    let sizes: Vec<u64> = (9..=15).map(|power| 1 << power).collect();
    insta::assert_snapshot!(tables(
        &scripted(WorkloadKind::Stream, &["null", "pipe"], &sizes),
        &view(ErrorBar::Iqr, 116)
    ));
}

#[test]
fn what_failed_was_lost_or_refused_is_in_its_cell() {
    let mut all = scripted(WorkloadKind::Stream, &["udp", "pipe", "tcp"], &[64]);
    all[0].lost_share = all[0].bandwidth_bytes_per_s.map(|s| Spread { median: 0.5, ..s });
    all[1].failed = 2;
    all[2].refused = Some("tcp is tired".to_owned());
    insta::assert_snapshot!(tables(&all, &view(ErrorBar::Iqr, 116)));
}

#[test]
fn modes_roofs_and_what_was_always_disturbed_are_in_their_cells() {
    let mut all = scripted(WorkloadKind::Stream, &["pipe", "tcp", "udp"], &[64]);
    all[0].modes = [(0.62, 1.3e9), (0.38, 5.8e9)]
        .map(|(share, median)| DistributionMode { share, median })
        .to_vec();
    all[2].round_trip_modes = all[0].modes.clone();
    all[0].hardware_limit =
        Some(HardwareLimitShare { bound_by: Bound::Copy, min_ns: 1.0, share: 0.17 });
    all[1].bandwidth_bytes_per_s = None;
    (all[1].disturbed, all[1].disturbed_median) = (7, Some(4.2e9));
    let plain = view(ErrorBar::ConfidenceInterval, 100);
    let with_limits = TableView { limit_shares: LimitShares::Shown, ..plain };
    let text = tables(&all, &with_limits);
    for words in ["62 %: 1.30 GB/s", "7 disturbed", "? 4.20 GB/s", "17 % of copy", "2.2 % †"] {
        assert_eq!(text.matches(words).count(), 1, "{words}:\n{text}");
    }
    let legend: Vec<&str> = text.lines().filter(|line| line.starts_with(['?', '†'])).collect();
    assert_eq!(legend.len(), 2, "{text}");
    assert!(text.contains("of limit"), "{text}");
    assert!(!tables(&all, &plain).contains("of copy"), "{text}");
    let quiet = tables(&all[2..], &TableView { error_bar: ErrorBar::Iqr, ..plain });
    assert!(!quiet.contains("? other activity") && quiet.contains("† round trips"), "{quiet}");
}

/// Returns a spread of 7 equal values.
fn spread(median: f64) -> Spread {
    Spread { median, q1: Some(median), q3: Some(median), n: 7 }
}

#[test]
fn the_cpu_time_of_all_roles_is_a_column_next_to_its_figure() {
    let mut all = scripted(WorkloadKind::Stream, &["pipe", "tcp"], &[64, 4096]);
    all.extend(scripted(WorkloadKind::RoundTrip, &["pipe"], &[64]));
    for case in all.iter_mut().filter(|case| case.case.mechanism == "pipe") {
        case.cpu_ns_per_message = Some(spread(1_234.0));
    }
    for columns in [40, 60, 80, 100] {
        let text = tables(&all, &view(ErrorBar::Iqr, columns));
        assert_eq!(text.matches("1.23 µs").count(), 3, "{columns}:\n{text}");
        assert!(text.contains("CPU/msg, CPU/trip: "), "{columns}:\n{text}");
        let wrapped = wrap(&text, columns);
        let is_wide = |line: &str| display_width(line) > columns;
        assert!(!wrapped.lines().any(is_wide), "{columns}:\n{wrapped}");
    }
    let text = tables(&all, &view(ErrorBar::Iqr, 100));
    let pipe = text.lines().find(|line| line.starts_with(" pipe")).unwrap();
    assert_eq!(pipe.matches("1.23 µs").count(), 2, "{text}");
}

/// A case of which every run was disturbed has no CPU distance class.
#[test]
fn a_figure_is_in_one_table_if_there_are_several_distances() {
    let mut all = scripted(WorkloadKind::RoundTrip, &["pipe", "pipe", "tcp"], &[64]);
    (all[0].cpu_pair_class, all[1].cpu_pair_class) =
        (Some("46ns".to_owned()), Some("375ns".to_owned()));
    (all[2].round_trip_ns_mean, all[2].disturbed) = (None, 7);
    all[2].disturbed_median = Some(4321.0);
    let text = tables(&all, &view(ErrorBar::Iqr, 100));
    assert_eq!(text.matches("Round trip: mean time").count(), 2, "{text}");
    assert_eq!(text.matches("? 4.32 µs").count(), 1, "{text}");
    assert_eq!(text.matches("? other activity").count(), 1, "{text}");
}

#[test]
fn a_request_that_the_kernel_rounded_is_shown_with_what_was_granted() {
    let mut all = scripted(WorkloadKind::Stream, &["pipe", "tcp"], &[64, 4096]);
    for case in &mut all {
        case.kernel_buffer_granted_bytes = Some(8192);
    }
    let requesting = |bytes: fn(&CaseIdentity) -> Option<u64>| {
        let plain = view(ErrorBar::Iqr, 100);
        tables(&all, &TableView { requested_buffer_bytes: bytes, ..plain })
    };
    let text = requesting(|case| (case.mechanism == "pipe").then_some(5120));
    assert_eq!(text.matches("pipe (5 KiB requested, 8 KiB granted)").count(), 1, "{text}");
    assert_eq!(text.matches("granted").count(), 1, "{text}");
    assert!(!requesting(|_| Some(8192)).contains("granted"));
}

/// The default kernel buffer and a requested one have separate tables with rows of the same name.
#[test]
fn only_the_table_of_the_request_shows_the_rounded_size() {
    let mut all = scripted(WorkloadKind::Stream, &["pipe"], &[64]);
    let mut requested = scripted(WorkloadKind::Stream, &["pipe"], &[64]);
    requested[0].case.kernel_buffer = "5120".to_owned();
    requested[0].case.kernel_buffer_requested_bytes = Some(5_120);
    requested[0].kernel_buffer_granted_bytes = Some(8_192);
    all.extend(requested);
    let view = TableView {
        requested_buffer_bytes: |case| case.kernel_buffer_requested_bytes,
        ..view(ErrorBar::Iqr, 100)
    };
    let text = tables(&all, &view);
    let names: Vec<&str> = text.lines().filter(|line| line.starts_with(" pipe")).collect();
    let [default, rounded] = names[..] else { panic!("{text}") };
    assert!(!default.contains("granted"), "{text}");
    assert!(rounded.starts_with(" pipe (5 KiB requested, 8 KiB granted)"), "{text}");
}

/// With `--kernel-buffer match`, each size requests another buffer.
#[test]
fn sizes_that_differ_within_a_row_are_not_in_its_name() {
    let mut all = scripted(WorkloadKind::Stream, &["pipe"], &[64, 4096]);
    for case in &mut all {
        case.kernel_buffer_granted_bytes = Some(4_096);
    }
    let view = TableView {
        requested_buffer_bytes: |case| Some(case.buffer_bytes),
        ..view(ErrorBar::Iqr, 100)
    };
    assert!(!tables(&all, &view).contains("granted"));
}

/// Returns summaries with everything that makes a table wide: long names, many sizes, several modes, a loss, a
/// refusal.
fn wide() -> Vec<CaseSummary> {
    let sizes: Vec<u64> = (6..=20).map(|power| 1 << power).collect();
    let names = ["null", "pipe", "unix-stream-named", "unix-seqpacket", "udp"];
    let mut all = scripted(WorkloadKind::Stream, &names, &sizes);
    all.extend(scripted(WorkloadKind::RoundTrip, &names[..2], &sizes[..4]));
    let option = ("address".to_owned(), "abstract".to_owned());
    for case in all.iter_mut().filter(|case| case.case.mechanism == "unix-stream-named") {
        case.case.options.insert(option.0.clone(), option.1.clone());
    }
    all[20].modes = [(0.62, 1.3e9), (0.38, 5.8e9)]
        .map(|(share, median)| DistributionMode { share, median })
        .to_vec();
    all[21].lost_share = all[21].bandwidth_bytes_per_s.map(|s| Spread { median: 0.5, ..s });
    all[22].refused = Some("carries at most 212960 bytes a message".to_owned());
    for case in &mut all {
        case.hardware_limit =
            Some(HardwareLimitShare { bound_by: Bound::SystemCall, min_ns: 1.0, share: 0.092 });
    }
    all
}

#[test]
fn at_every_width_no_line_is_wider_and_every_figure_stays_whole() {
    let all = wide();
    let whole = sections(&all, ErrorBar::ConfidenceInterval);
    let figures: Vec<String> = whole
        .iter()
        .flat_map(|section| [Some(&section.results), section.hardware_limit_shares.as_ref()])
        .flat_map(|figures| figures.unwrap().layout(usize::MAX).rows)
        .flat_map(|(_, cells)| cells)
        .flat_map(|cell| cell.lines().map(str::to_owned).collect::<Vec<_>>())
        .collect();
    for columns in 40..=200 {
        let text = wrap(
            &tables(
                &all,
                &TableView {
                    limit_shares: LimitShares::Shown,
                    ..view(ErrorBar::ConfidenceInterval, columns)
                },
            ),
            columns,
        );
        let widest = text.lines().map(display_width).max();
        assert!(widest <= Some(columns), "{widest:?} of {columns}:\n{text}");
        for figure in &figures {
            assert!(text.contains(figure), "{figure} at {columns}:\n{text}");
        }
        let count = |what: &str| text.matches(what).count();
        let wanted = figures.iter().filter(|figure| figure.contains("GB/s")).count();
        assert_eq!(count("GB/s"), wanted, "{columns}:\n{text}");
    }
}

#[test]
fn a_narrow_terminal_gets_more_tables_and_broken_names() {
    let mut all = scripted(WorkloadKind::Stream, &["pipe", "unix-stream-named"], &[64, 4096]);
    for case in &mut all[2..] {
        case.case.options.insert("address".to_owned(), "abstract".to_owned());
    }
    insta::assert_snapshot!(tables(&all, &view(ErrorBar::Iqr, 45)));
}

/// Formats the tables of a stream by mechanisms with the given numbers of repetitions.
fn tables_with_counts(counts: &[(&str, u32)]) -> String {
    let (mut cases, mut samples) = (Vec::new(), Vec::new());
    for &(mechanism, count) in counts {
        for block in 0..=count {
            samples.push(sample(
                mechanism,
                WorkloadKind::Stream,
                64,
                block,
                1_000 + u64::from(block),
            ));
        }
        cases.push(samples[samples.len() - 1].run.case.case_id.clone());
    }
    tables(&summarize(&cases, &[], &samples, &[], None), &view(ErrorBar::Iqr, 116))
}

#[test]
fn one_or_two_repetitions_have_their_number_and_no_spread() {
    let text = tables_with_counts(&[("pipe", 1), ("tcp", 2), ("fifo", 3)]);
    assert!(text.contains("s (n = 1)") && text.contains("s (n = 2)"), "{text}");
    assert_eq!(text.matches(" %)").count(), 1, "{text}");
    let all = scripted(WorkloadKind::Stream, &["pipe"], &[64]);
    let few = summarize(
        &[all[0].case.case_id.clone()],
        &[],
        &[sample("pipe", WorkloadKind::Stream, 64, 1, 1_000)],
        &[],
        None,
    );
    let spread = serde_json::to_value(few[0].bandwidth_bytes_per_s).unwrap();
    assert!(spread["q1"].is_null() && spread["q3"].is_null() && spread["n"] == 1, "{spread}");
}

/// With five rows without a result and one of nine repetitions, the heading must not say nine.
#[test]
fn the_head_says_of_how_many_repetitions_all_its_rows_are() {
    assert!(tables_with_counts(&[("pipe", 9), ("tcp", 10)]).contains("n = 9 to 10"));
    let text = tables_with_counts(&[("pipe", 9), ("tcp", 0), ("fifo", 0)]);
    assert!(text.contains("n = 0 to 9"), "{text}");
}
