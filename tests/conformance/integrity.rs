//! Order and integrity: every message arrives whole, in its place, and as it was sent.

use ipcperf_engine::channel::Mechanism;
use ipcperf_model::mechanism::Delivery;
use serde_json::Value;

use crate::laboratory::Laboratory;
use crate::mechanisms::{
    apart, each_option, every_option, for_each, for_each_that_moves, modes, values,
};
use crate::results::{ResultsFile, number};

/// Buffer sizes around what kernels and rings treat differently, and messages of each.
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

/// Sizes at which options and CPUs apart are tried too: a word, and more than is held at once.
const CHOSEN: [u64; 2] = [64, LARGE];
/// Messages go in parts, so that this is where options could disturb one another, and parties on CPUs of their own.
const LARGE: u64 = 200_003;

/// Why the first cell may be refused where all are.
const REFUSALS: [&str; 2] = ["carries at most", "one thread cannot be on two CPUs"];

/// What is asked and answered at all sizes; at the chosen ones, what goes one way or there and back as it is, is
/// left to the test of options, which has the default ones too.
#[test]
fn every_message_arrives_whole_and_in_order() {
    for_each_that_moves(|mechanism| {
        for (bytes, messages) in SIZES {
            let is_chosen = CHOSEN.contains(&bytes);
            let beside = if is_chosen { "" } else { "stream,round-trip," };
            let answered =
                format!("-w {beside}request-reply --reply echo,13 --placement same,free");
            verify(mechanism, bytes, messages, &answered);
        }
    });
}

/// Each option by itself where messages are short and where CPUs are apart, all at once where they are large; random
/// cases mix the rest.
#[test]
fn every_message_arrives_whatever_the_options_and_cpus() {
    let apart = apart();
    for_each_that_moves(|mechanism| {
        let each = each_option(mechanism);
        verify_all(mechanism, 64, "same,free", &each);
        let near = verify_all(mechanism, LARGE, "same,free", &[every_option(mechanism)]);
        if let Some(apart) = apart {
            assert_eq!(verify_all(mechanism, LARGE, apart, &each) > 0, near > 0);
        }
    });
}

/// Verifies each of `settings`, in which all options are to be found; how many cells there were.
fn verify_all(mechanism: &Mechanism, bytes: u64, placements: &str, settings: &[String]) -> usize {
    let messages = SIZES.into_iter().find(|&(of, _)| of == bytes).expect("one of the sizes").1;
    let cells = settings.iter().flat_map(|setting| {
        let variants = format!("-w stream,round-trip --placement {placements} {setting}");
        verify(mechanism, bytes, messages, &variants)
    });
    let cells: Vec<Value> = cells.collect();
    assert_every_option_was_set(mechanism, &cells);
    cells.len()
}

/// What an option says of where messages lie, it says of how they go back.
#[test]
fn every_echo_arrives_whatever_the_options() {
    for_each_that_moves(|mechanism| {
        let variants =
            format!("-w request-reply --reply echo --placement same {}", every_option(mechanism));
        let cells = verify(mechanism, 4_096, 50, &variants);
        assert_every_option_was_set(mechanism, &cells);
    });
}

/// Runs `variants` of `mechanism` with messages of `bytes`, the last of them cut short. Returns the
/// samples and the cells that are refused for the size beside them; nothing where all are.
fn verify(mechanism: &Mechanism, bytes: u64, messages: u64, variants: &str) -> Vec<Value> {
    let laboratory = Laboratory::open();
    let total = bytes * messages - bytes / 2;
    let arguments = format!(
        "-m {} -b {bytes} --total {total} --mode {} {variants} --verify \
         --repetitions 1",
        mechanism.name,
        modes(mechanism),
    );
    let finished = laboratory.finish(laboratory.measuring(&arguments));
    if finished.status.code() == Some(2) {
        let is_expected = |words: &&str| finished.stderr.contains(*words);
        assert!(REFUSALS.iter().any(is_expected), "{}", finished.stderr);
        return Vec::new();
    }
    finished.expect(0);
    let file = ResultsFile::read(&laboratory.results());
    let cases = file.header["plan"]["cases"].as_array().expect("the cases");
    assert_eq!(file.samples.len(), 2 * cases.len());
    for sample in &file.samples {
        assert_all_arrived(mechanism, sample, messages);
    }
    laboratory.assert_nothing_left();
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

fn assert_every_option_was_set(mechanism: &Mechanism, cells: &[Value]) {
    for option in mechanism.options {
        for value in values(option) {
            let bytes = value.replace("4KiB", "4096").replace("1MiB", "1048576");
            let is_set = |cell: &Value| cell["options"][option.name] == bytes;
            assert!(cells.is_empty() || cells.iter().any(is_set), "{}={value}", option.name);
        }
    }
}

#[test]
fn what_moves_nothing_refuses_to_be_verified() {
    let laboratory = Laboratory::open();
    for_each(|mechanism| {
        if mechanism.delivery == Delivery::Nothing {
            let arguments = format!("plan -m {} --verify", mechanism.name);
            let refused = laboratory.run(&arguments).expect(2);
            assert!(refused.stderr.contains("nothing that could be verified"));
        }
    });
}

/// Buffers are touched by the party that uses them: else each page is a fault in the timed region.
#[test]
fn the_timed_region_takes_few_page_faults() {
    let laboratory = Laboratory::open();
    let arguments = "-m pipe,shm-ring -b 64KiB,1MiB --total 64MiB --repetitions 3";
    laboratory.finish(laboratory.measuring(arguments)).expect(0);
    for sample in ResultsFile::read(&laboratory.results()).samples {
        let pages = number(&sample, "buffer_bytes") / rustix::param::page_size() as u64;
        for role in ["sender_minor_faults", "receiver_minor_faults"] {
            assert!(number(&sample, role) < pages.min(64), "{role}: {sample}");
        }
    }
}
