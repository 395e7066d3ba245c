//! Order and integrity: every message arrives complete, in order and unchanged.

use ipcperf_engine::channel::{Mechanism, OptionSpec};
use ipcperf_model::mechanism::Delivery;
use serde_json::Value;

use crate::mechanisms::{
    apart, each_option, every_option, for_each, for_each_that_moves, modes, options_of_two, values,
};
use crate::results::{ResultsFile, number};
use crate::sandbox::Sandbox;

/// Buffer sizes around the thresholds of kernels and rings, with the number of messages for each.
const SIZES: [(u64, u64); 8] = [
    (1, 300),
    (7, 300),
    (64, 300),
    (4_095, 50),
    (4_096, 50),
    (65_536, 9),
    (200_003, 5),
    (1 << 20, 3),
];

/// Sizes that are also tested with all options and with separate CPUs: a word, and more than the kernel holds at once.
const VARIANT_SIZES: [u64; 2] = [64, LARGE];
/// Messages of this size are transferred in parts, so options could affect one another, as could peers on separate
/// CPUs.
const LARGE: u64 = 200_003;

/// Accepted reasons for a refusal if all cells are refused.
const REFUSALS: [&str; 2] = ["carries at most", "one thread cannot be on two CPUs"];

/// Request-reply at all sizes; streams and round trips only at sizes where the test of options does not cover them. Peers
/// that run at the same time find more mistakes than peers that take turns on one CPU, which the chosen sizes test too.
#[test]
fn every_message_arrives_whole_and_in_order() {
    for_each_that_moves(|mechanism| {
        for (bytes, messages) in SIZES {
            let is_chosen = VARIANT_SIZES.contains(&bytes);
            let (others, placements) =
                if is_chosen { ("", "same,free") } else { ("stream,round-trip,", "free") };
            let answered =
                format!("-w {others}request-reply --reply echo,13 --placement {placements}");
            verify(mechanism, bytes, messages, &answered);
        }
    });
}

/// Each option separately for short messages and for separate CPUs, all options combined for large messages and on one
/// CPU; random cases test other combinations.
#[test]
fn every_message_arrives_whatever_the_options_and_cpus() {
    let apart = apart();
    for_each_that_moves(|mechanism| {
        let each = each_option(mechanism);
        verify_all(mechanism, 64, "free", &each);
        let near = verify_all(mechanism, LARGE, "same,free", &every_option(mechanism));
        if let Some(apart) = apart {
            assert_eq!(verify_all(mechanism, LARGE, apart, &each) > 0, near > 0);
        }
    });
}

/// Verifies each of `settings`, which together contain every option, and returns the number of cells.
fn verify_all(
    mechanism: &Mechanism<'static>,
    bytes: u64,
    placements: &str,
    settings: &[String],
) -> usize {
    let messages = SIZES.into_iter().find(|&(of, _)| of == bytes).expect("one of the sizes").1;
    let cells_of = |setting: &String| {
        let variants = format!("-w stream,round-trip --placement {placements} {setting}");
        verify(mechanism, bytes, messages, &variants)
    };
    let all: Vec<(&String, Vec<Value>)> =
        settings.iter().map(|setting| (setting, cells_of(setting))).collect();
    // With the default of another option, a message may be too large whatever the value of this one.
    let ran = || all.iter().filter(|(_, cells)| !cells.is_empty());
    let cells: Vec<Value> = ran().flat_map(|(_, cells)| cells).cloned().collect();
    let set: Vec<&String> = ran().map(|(setting, _)| *setting).collect();
    assert_every_option_was_set(mechanism, &set, &cells);
    cells.len()
}

/// Options for the place of messages apply to replies too.
#[test]
fn every_echo_arrives_whatever_the_options() {
    for_each_that_moves(|mechanism| {
        for setting in every_option(mechanism) {
            let variants = format!("-w request-reply --reply echo --placement same {setting}");
            let cells = verify(mechanism, 4_096, 50, &variants);
            assert_every_option_was_set(mechanism, &[&variants], &cells);
        }
    });
}

/// Runs `variants` of `mechanism` with messages of `bytes`, the last of them shorter. Returns the samples and the cells
/// refused for their size; nothing if all cells are refused.
fn verify(mechanism: &Mechanism, bytes: u64, messages: u64, variants: &str) -> Vec<Value> {
    let sandbox = Sandbox::open();
    let total = bytes * messages - bytes / 2;
    let arguments = format!(
        "-m {} -b {bytes} --total {total} --mode {} {variants} --verify \
         --repetitions 1",
        mechanism.name,
        modes(mechanism),
    );
    let finished = sandbox.finish(sandbox.measuring(&arguments));
    if finished.status.code() == Some(2) {
        let is_expected = |words: &&str| finished.stderr.contains(*words);
        assert!(REFUSALS.iter().any(is_expected), "{}", finished.stderr);
        return Vec::new();
    }
    finished.expect(0);
    let file = ResultsFile::read(&sandbox.results());
    let cases = file.header["plan"]["cases"].as_array().expect("the cases");
    assert_eq!(file.samples.len(), 2 * cases.len());
    for sample in &file.samples {
        assert_all_arrived(mechanism, sample, messages);
    }
    sandbox.assert_nothing_left();
    let refused = file.header["plan"]["refused"].as_array().expect("an array");
    file.samples.iter().chain(refused).cloned().collect()
}

fn assert_all_arrived(mechanism: &Mechanism, sample: &Value, messages: u64) {
    let lost = sample["lost_messages"].as_u64();
    assert_eq!(lost.is_some(), mechanism.delivery == Delivery::Lossy, "{sample}");
    assert_eq!(number(sample, "messages") + lost.unwrap_or(0), messages, "{sample}");
    if sample["workload"] != "stream" {
        assert_eq!(lost.unwrap_or(0), 0, "{sample}");
    }
}

/// Checks that each value of each option that `settings` contain was used.
fn assert_every_option_was_set(
    mechanism: &Mechanism<'static>,
    settings: &[&String],
    cells: &[Value],
) {
    let flag = |option: &OptionSpec| format!("--set {}.{}=", mechanism.name, option.name);
    let is_set = |option: &&OptionSpec| settings.iter().any(|one| one.contains(&flag(option)));
    for option in options_of_two(mechanism).filter(is_set) {
        for value in values(option) {
            let bytes = value.replace("4KiB", "4096").replace("1MiB", "1048576");
            let is_set = |cell: &Value| cell["options"][option.name] == bytes;
            assert!(cells.is_empty() || cells.iter().any(is_set), "{}={value}", option.name);
        }
    }
}

#[test]
fn what_moves_nothing_refuses_to_be_verified() {
    let sandbox = Sandbox::open();
    for_each(|mechanism| {
        if mechanism.delivery == Delivery::Nothing {
            let arguments = format!("plan -m {} --verify", mechanism.name);
            let refused = sandbox.run(&arguments).expect(2);
            assert!(refused.stderr.contains("--verify"), "{}", refused.stderr);
            assert!(refused.stderr.contains(mechanism.name), "{}", refused.stderr);
        }
    });
}

/// The peer that uses a buffer touches it beforehand; otherwise each page would cause a fault in the timed region.
#[test]
fn the_timed_region_takes_few_page_faults() {
    let sandbox = Sandbox::open();
    let arguments = "-m pipe,shm-ring -b 64KiB,1MiB --total 64MiB --repetitions 3";
    sandbox.finish(sandbox.measuring(arguments)).expect(0);
    for sample in ResultsFile::read(&sandbox.results()).samples {
        let pages = number(&sample, "buffer_bytes") / rustix::param::page_size() as u64;
        for role in ["sender_minor_faults", "receiver_minor_faults"] {
            assert!(number(&sample, role) < pages.min(64), "{role}: {sample}");
        }
    }
}
