//! Paced runs: every message arrives, is timed twice, and a rate that cannot be carried is no failure.

use ipcperf_engine::channel::Mechanism;
use ipcperf_model::mechanism::Delivery;
use serde_json::Value;

use crate::max_message::largest_message;
use crate::mechanisms::{for_each, for_each_that_moves, modes};
use crate::results::{ResultsFile, number};
use crate::sandbox::Sandbox;

/// Number of messages of a run: enough for a median, which needs ten messages on either side.
const MESSAGES: u64 = 60;
/// Schedule of so many messages, at a rate that every mechanism carries.
const SCHEDULE: &str = "--rate 3k --duration 0.02001";
/// The three ways to carry the times of a message, each with other settings: in the message, in a table because the message
/// is too short, and in a table because the content of the message is checked.
const VARIANTS: [(u64, &str); 3] = [
    (64, "--arrivals even,burst:5 --placement same,free"),
    (7, "--arrivals poisson --placement free"),
    (64, "--arrivals poisson --placement same --verify"),
];

#[test]
fn every_paced_message_arrives_and_is_timed_from_its_schedule_and_its_send() {
    for_each_that_moves(|mechanism| {
        for (bytes, settings) in VARIANTS {
            if mechanism.delivery == Delivery::Lossy && bytes < 16 {
                continue;
            }
            let bytes = largest_message(mechanism, bytes);
            let arguments =
                format!("-b {bytes} -w paced,round-trip,request-reply {SCHEDULE} {settings}");
            for sample in measure(mechanism, &arguments) {
                assert_all_arrived(&sample);
                assert_timed(&sample);
            }
        }
    });
}

/// No mechanism carries a message every 5 ns, also because the clock is read for each.
#[test]
fn a_rate_that_cannot_be_carried_is_saturated_and_ends() {
    for_each_that_moves(|mechanism| {
        let bytes = largest_message(mechanism, 64);
        let arguments =
            format!("-b {bytes} -w paced,round-trip --rate 200M --duration 0.001 --placement free");
        for sample in measure(mechanism, &arguments) {
            assert_eq!(sample["saturated"], true, "{sample}");
            assert!(
                sample["achieved_per_s"].as_f64() < sample["scheduled_per_s"].as_f64(),
                "{sample}"
            );
            assert!(number(&sample, "messages") <= 200_000, "{sample}");
        }
    });
}

/// Also a mechanism that moves nothing has a pacer, but no latency.
#[test]
fn every_sender_keeps_its_schedule() {
    for_each(|mechanism| {
        let arguments = format!(
            "-b {} -w paced {SCHEDULE} --placement same,free",
            largest_message(mechanism, 64)
        );
        for sample in measure(mechanism, &arguments) {
            let moves = mechanism.delivery != Delivery::Nothing;
            assert_eq!(sample["one_way_ns_max"].is_u64(), moves, "{sample}");
            assert!(sample["pacer_cpu_ns"].is_u64(), "{sample}");
            let behind = sample["pacer_behind_share"].as_f64().expect("a share");
            let gaps = sample["pacer_gap_share"].as_f64().unwrap_or(0.0);
            assert!((0.0..=1.0).contains(&(behind + gaps)), "{sample}");
        }
    });
}

/// Measures `arguments` in all modes of `mechanism`, and returns the samples.
fn measure(mechanism: &Mechanism, arguments: &str) -> Vec<Value> {
    let sandbox = Sandbox::open();
    let (name, modes) = (mechanism.name, modes(mechanism));
    let arguments = format!("-m {name} {arguments} --mode {modes} --repetitions 1");
    sandbox.finish(sandbox.measuring(&arguments)).expect(0);
    let file = ResultsFile::read(&sandbox.results());
    let cases = file.header["plan"]["cases"].as_array().expect("the cases");
    assert_eq!(file.samples.len(), 2 * cases.len());
    sandbox.assert_nothing_left();
    file.samples
}

/// A busy machine may make any run saturated, which then ends early.
fn assert_all_arrived(sample: &Value) {
    let lost = sample["lost_messages"].as_u64().unwrap_or(0);
    let arrived = number(sample, "messages");
    assert!(arrived + lost <= MESSAGES, "{sample}");
    if sample["saturated"] == false {
        assert_eq!(arrived + lost, MESSAGES, "{sample}");
    }
}

/// A latency from the schedule is at least as long as from the send, which is not before; both are stored to three digits.
fn assert_timed(sample: &Value) {
    let kind = if sample["workload"] == "paced" { "one_way" } else { "round_trip" };
    let key = |key: &str| sample[format!("{kind}_{key}")].clone();
    let (scheduled, sent) = (key("ns_max").as_f64(), key("from_send_ns_max").as_f64());
    let (scheduled, sent) = (scheduled.expect("a maximum"), sent.expect("a maximum"));
    assert!(scheduled >= 0.998 * sent && sent > 0.0, "{sample}");
    assert!(key("histogram").is_string() && key("from_send_histogram").is_string(), "{sample}");
    if number(sample, "messages") >= 20 {
        let (median, p90) = (key("ns_p50").as_f64(), key("ns_p90").as_f64());
        assert!(median.is_some_and(|median| median <= scheduled), "{sample}");
        assert_eq!(p90, None, "too few messages for it: {sample}");
    }
    assert_eq!(sample["bandwidth_bytes_per_s"], Value::Null, "{sample}");
}
