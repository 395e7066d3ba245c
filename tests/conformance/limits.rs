//! Limits: the largest message works; one byte more is refused in the plan, and the limit is named.

use ipcperf_engine::channel::Mechanism;
use serde_json::Value;

use crate::mechanisms::{for_each_that_moves, modes};
use crate::results::{ResultsFile, number, text};
use crate::sandbox::Sandbox;

/// Size above the limit of every mechanism; a machine that lacks the memory for it gives another reason.
const TOO_LARGE: u64 = 64 << 20;

#[test]
fn the_largest_message_works_and_one_byte_more_is_refused() {
    for_each_that_moves(|mechanism| {
        for kernel_buffer in ["default", "1MiB"] {
            let sandbox = Sandbox::open();
            if let Some(limit) = limit(&sandbox, mechanism, kernel_buffer) {
                assert_exactly(&sandbox, mechanism, kernel_buffer, limit);
            }
        }
    });
}

/// Returns the limit named in the plan: for a message that is far too large, then for the size that was named.
fn limit(sandbox: &Sandbox, mechanism: &Mechanism, kernel_buffer: &str) -> Option<u64> {
    let mut named = None;
    while let Some(reason) = refusal(sandbox, mechanism, kernel_buffer, named.unwrap_or(TOO_LARGE))
    {
        let bytes = bytes_named(&reason);
        assert!(named.is_none_or(|before| bytes < before), "{reason}");
        named = Some(bytes);
    }
    named
}

fn refusal(
    sandbox: &Sandbox,
    mechanism: &Mechanism,
    kernel_buffer: &str,
    bytes: u64,
) -> Option<String> {
    // Includes `null`, so that the plan is not empty.
    let arguments = format!(
        "plan -m null,{} -b {bytes} --kernel-buffer {kernel_buffer} --mode {} --json",
        mechanism.name,
        modes(mechanism),
    );
    let plan: Value = serde_json::from_str(&sandbox.run(&arguments).expect(0).stdout).unwrap();
    let refused = plan["refused"].as_array().expect("an array");
    // `null` lacks some modes.
    let refused: Vec<&Value> =
        refused.iter().filter(|cell| cell["mechanism"] == mechanism.name).collect();
    assert!(refused.is_empty() || refused.len() == mechanism.modes.len(), "{plan}");
    refused.first().map(|cell| text(cell, "reason").to_owned())
}

/// Returns the number in `... carries at most N bytes per message ...`.
fn bytes_named(reason: &str) -> u64 {
    let (_, rest) = reason.split_once("carries at most ").expect(reason);
    rest.split(' ').next().and_then(|word| word.parse().ok()).expect(reason)
}

fn assert_exactly(sandbox: &Sandbox, mechanism: &Mechanism, kernel_buffer: &str, limit: u64) {
    let (name, more) = (mechanism.name, limit + 1);
    let rest = format!(
        "-m {name} --kernel-buffer {kernel_buffer} -w stream,round-trip --mode {} --verify \
         --repetitions 1",
        modes(mechanism),
    );
    let total = limit * 4;
    let both = format!("{rest} -b {limit},{more} --total {total}");
    sandbox.finish(sandbox.measuring(&both)).expect(0);
    let file = ResultsFile::read(&sandbox.results());
    assert_eq!(file.samples.len(), 2 * 2 * mechanism.modes.len());
    assert!(file.samples.iter().all(|sample| number(sample, "buffer_bytes") == limit));
    for cell in file.header["plan"]["refused"].as_array().expect("an array") {
        assert_eq!(number(cell, "buffer_bytes"), more);
        assert_eq!(bytes_named(text(cell, "reason")), limit, "{cell}");
    }
    let alone = sandbox.finish(sandbox.measuring(&format!("{rest} -b {more}"))).expect(2);
    assert!(alone.stderr.contains(&format!("at most {limit} bytes")), "{}", alone.stderr);
}

#[test]
fn a_refused_case_is_shown_beside_those_that_ran() {
    let sandbox = Sandbox::open();
    let arguments = "-m udp -b 64,70000 --total 64000 --repetitions 1 --json";
    let shown = sandbox.finish(sandbox.measuring(arguments)).expect(0);
    let cases: Vec<Value> = serde_json::from_str(&shown.stdout).unwrap();
    let refused: Vec<bool> = cases.iter().map(|case| case["refused"].is_string()).collect();
    assert_eq!(refused, [false, true], "{}", shown.stdout);
}
