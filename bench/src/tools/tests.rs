//! Recorded output of tools, and invalid output.

use super::*;
use crate::finding::Verdict;

/// Recorded output of each program; parsers of other programs find no figure in it.
const RECORDED: [(&str, &str); 6] = [
    ("perf", include_str!("recorded/perf.txt")),
    ("hackbench", include_str!("recorded/hackbench.txt")),
    ("stress-ng", include_str!("recorded/stress_ng.txt")),
    ("sockperf", include_str!("recorded/sockperf.txt")),
    ("qperf", include_str!("recorded/qperf.txt")),
    ("iperf3", include_str!("recorded/iperf3.json")),
];

const WORK: ToolWork = ToolWork { buffer_bytes: 65_536, messages: 500_000, port: 21_111 };

fn recorded(program: &str) -> &'static str {
    RECORDED.iter().find(|(name, _)| *name == program).unwrap().1
}

/// Parses `said` with the first peer of `program`; returns ns.
fn operation_ns(program: &str, said: &str) -> Option<f64> {
    let peer = TOOLS.iter().find(|peer| peer.program == program).unwrap();
    (peer.operation_ns)(said, &WORK)
}

#[track_caller]
fn assert_operation_ns(program: &str, expected_ns: f64) {
    let ns = operation_ns(program, recorded(program)).unwrap();
    assert!((ns / expected_ns - 1.0).abs() < 1e-9, "{program}: {ns}");
}

#[test]
fn recorded_figures_come_in_our_convention() {
    // 4.060150 usecs/op, for a round trip.
    assert_operation_ns("perf", 4_060.15);
    // 0.220 s for 500,000 messages.
    assert_operation_ns("hackbench", 440.0);
    // 411,259.496327 operations per second.
    assert_operation_ns("stress-ng", 1e9 / 411_259.496_327);
    // avg-latency, in us, is half a round trip.
    assert_operation_ns("sockperf", 2.0 * 5_244.0);
    // 5170.98 ns is half a round trip.
    assert_operation_ns("qperf", 2.0 * 5_170.98);
    // 13,956,382,006.771646 bits per second, in messages of 64 KiB.
    assert_operation_ns("iperf3", 65_536.0 * 8.0 / 13.956_382_006_771_646);
}

#[test]
fn what_another_tool_says_is_not_understood() {
    for peer in TOOLS {
        for (name, said) in RECORDED.iter().filter(|(name, _)| *name != peer.program) {
            assert_eq!((peer.operation_ns)(said, &WORK), None, "{} reads {name}", peer.what);
        }
    }
}

#[test]
fn garbage_is_not_understood_and_breaks_nothing() {
    let garbage = [
        "",
        "\u{fffd}\u{0}",
        "usecs/op",
        "x usecs/op",
        "Time:",
        "Time: soon",
        "avg-latency=",
        "avg-latency=(",
        "latency = 5 us",
        "latency = ns",
        "bogo-ops-per-second-real-time: many",
        "{\"end\":{}}",
        "{\"end\":{\"sum_received\":{\"bits_per_second\":\"1\"}}}",
    ];
    for peer in TOOLS {
        for said in garbage {
            assert_eq!((peer.operation_ns)(said, &WORK), None, "{} reads {said:?}", peer.what);
        }
    }
}

/// Truncated output lacks the figure, or has fewer digits of it; nothing panics.
#[test]
fn what_is_cut_off_breaks_nothing() {
    for (program, said) in RECORDED {
        for (end, _) in said.char_indices() {
            let _ = operation_ns(program, &said[..end]);
        }
    }
}

/// Returns a peer that runs `client`, such as `echo` with a fake figure, in place of the tool.
fn fake_tool(program: &'static str, client: fn(&ToolWork) -> Command) -> Tool {
    Tool { program, client, ..perf::SCHED_PIPE }
}

#[test]
fn a_figure_that_cannot_be_is_trouble() {
    let good = fake_tool("echo", |_| command("echo", ["4.5 usecs/op"]));
    assert!((good.measure(10).unwrap() - 4_500.0).abs() < 1e-9);
    let bad: [fn(&ToolWork) -> Command; 5] = [
        |_| command("echo", ["nan usecs/op"]),
        |_| command("echo", ["inf usecs/op"]),
        |_| command("echo", ["0.0 usecs/op"]),
        |_| command("echo", ["-1 usecs/op"]),
        |_| command("echo", ["perf: no such command"]),
    ];
    for client in bad {
        let trouble = fake_tool("echo", client).measure(10).unwrap_err();
        assert!(
            matches!(&trouble, BenchError::Tool("echo", inner)
            if matches!(**inner, BenchError::UnexpectedOutput { .. })),
            "{trouble:?}"
        );
    }
}

#[test]
fn a_tool_that_is_missing_or_broken_is_no_defect_of_ours() {
    let peer = fake_tool("no-such-program", |_| command("no-such-program", []));
    assert!(!is_installed(peer.program));
    let finding = peer.question().failed(&peer.missing());
    assert_eq!(finding.verdict, Verdict::NotTestable);
    assert!(finding.note.unwrap().contains("apt install linux-perf"));
    let broken = fake_tool("false", |_| command("false", []));
    let trouble = broken.measure(10).unwrap_err();
    assert_eq!(broken.question().failed(&trouble).verdict, Verdict::NotTestable);
}

#[test]
fn every_program_can_be_chosen_and_has_its_peers() {
    let mut programs: Vec<&str> = TOOLS.iter().map(|peer| peer.program).collect();
    programs.dedup();
    assert_eq!(programs, PROGRAMS);
    assert_eq!(RECORDED.map(|(name, _)| name), PROGRAMS);
}
