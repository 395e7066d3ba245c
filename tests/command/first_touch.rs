//! First touch of buffers: page faults in the timed region, measured by the peers with `getrusage`.

use std::fs;

use serde_json::Value;

use crate::results::{ResultsFile, number};
use crate::sandbox::Sandbox;

/// Size of a buffer in bytes and in pages.
const BUFFER_BYTES: u64 = 16 << 20;
const PAGES: u64 = BUFFER_BYTES / 4096;
/// Maximum number of other faults in the timed region.
const OTHERS: u64 = 200;

/// Returns the faults of each peer in the runs made with `arguments`.
fn faults(sandbox: &Sandbox, arguments: &str) -> Vec<[u64; 2]> {
    let arguments = format!("-m pipe -b 16MiB --total 16MiB --repetitions 1 {arguments}");
    sandbox.finish(sandbox.measuring(&arguments)).expect(0);
    let of = |sample: &Value| {
        ["sender_minor_faults", "receiver_minor_faults"].map(|key| number(sample, key))
    };
    ResultsFile::read(&sandbox.results()).samples.iter().map(of).collect()
}

/// Returns the minimum number of faults for a buffer: one per page, unless the kernel uses huge pages by default.
fn min_faults() -> u64 {
    let huge = fs::read_to_string("/sys/kernel/mm/transparent_hugepage/enabled");
    if huge.is_ok_and(|text| text.contains("[always]")) { BUFFER_BYTES >> 21 } else { PAGES }
}

#[test]
fn a_timed_first_touch_is_a_fault_for_each_page_of_either_peer() {
    let sandbox = Sandbox::open();
    for mode in ["2thread", "2proc"] {
        let timed = faults(&sandbox, &format!("--first-touch timed --mode {mode}"));
        assert_eq!(timed.len(), 2, "{mode}");
        let expected = min_faults()..=PAGES + OTHERS;
        assert!(
            timed.iter().flatten().all(|faults| expected.contains(faults)),
            "{mode}: {timed:?}"
        );
        let before = faults(&sandbox, &format!("--mode {mode}"));
        assert!(before.iter().flatten().all(|&faults| faults < OTHERS), "{mode}: {before:?}");
    }
}

#[test]
fn one_thread_takes_the_faults_of_both_sides() {
    let sandbox = Sandbox::open();
    let arguments =
        "-m pipe -b 1MiB --total 1MiB --repetitions 1 --mode 1thread --first-touch timed";
    sandbox.finish(sandbox.measuring(arguments)).expect(0);
    for sample in ResultsFile::read(&sandbox.results()).samples {
        assert!(number(&sample, "both_minor_faults") >= min_faults() / 8, "{sample}");
    }
}

#[test]
fn what_would_touch_buffers_before_is_refused() {
    let sandbox = Sandbox::open();
    let refused =
        |arguments: &str| sandbox.run(&format!("run -m pipe -b 64KiB {arguments}")).expect(2);
    let calibrated = refused("--first-touch timed").stderr;
    assert!(calibrated.contains("--first-touch timed needs --total"), "{calibrated}");
    let filled = refused("--first-touch timed --total 64KiB --payload random").stderr;
    assert!(filled.contains("--first-touch timed does not apply"), "{filled}");
}

/// The buffers are untouched before the first message, but all data arrive.
#[test]
fn messages_on_untouched_buffers_arrive_whole() {
    let sandbox = Sandbox::open();
    let arguments = "-m pipe,unix-stream,shm-ring -b 64KiB --total 1MiB --repetitions 1 --first-touch timed \
                     --mode 1thread,2thread,2proc --verify";
    sandbox.finish(sandbox.measuring(arguments)).expect(0);
}
