//! Run specifications that no plan contains, but an edited file may: the worker always answers, or the timeout ends it.
//!
//! `IPCPERF_RANDOM_SPECS` sets the number per mechanism, `IPCPERF_SEED` the seed.

use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use ipcperf_engine::channel::{Mechanism, OptionValues};
use ipcperf_engine::leftovers::RunNames;
use ipcperf_engine::mechanism::MECHANISMS;
use ipcperf_model::{FailureKind, RunSpec, WorkerReport};
use rand::RngExt;
use rand::rngs::ChaCha8Rng;
use rand::seq::IndexedRandom;
use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::{Value, json};

use crate::mechanisms::in_parallel;
use crate::processes::patience;
use crate::random_cases::{from_environment, generator, seed};
use crate::sandbox::Sandbox;

/// Time after which a worker is ended, as the command would do: short, since many of the specifications never end by
/// themselves.
const TIMEOUT: Duration = Duration::from_millis(500);
/// Time limit for the answer to a specification that cannot be executed, on a busy machine.
const PROMPT: Duration = Duration::from_secs(60);
/// Time limit for a worker to remove its names after SIGTERM.
const EXIT_GRACE: Duration = Duration::from_secs(10);

const NUMBERS: [u64; 14] = [
    0,
    1,
    2,
    7,
    8,
    64,
    4_096,
    65_537,
    1 << 20,
    1 << 41,
    u64::MAX / 2,
    u64::MAX / 2 + 1,
    u64::MAX - 1,
    u64::MAX,
];
const WORDS: [&str; 9] =
    ["", "0", "-1", "99999999999", "18446744073709551615", "x", "any", "/", "\0"];

#[test]
fn a_specification_that_no_plan_holds_is_answered_or_ended() {
    let (count, seed) = (from_environment("IPCPERF_RANDOM_SPECS", 3), seed());
    println!("{count} random specifications a mechanism; again: IPCPERF_SEED={seed}");
    let sandbox = Sandbox::open();
    in_parallel(MECHANISMS.len(), |index| {
        let mut random = generator(seed, index);
        for _ in 0..count {
            let spec = random_spec(MECHANISMS[index], &mut random);
            assert_answered(&sandbox, &spec, TIMEOUT);
        }
    });
}

/// One hostile value at a time; the others are valid.
#[test]
fn every_value_that_no_plan_holds_is_answered_at_once() {
    let sandbox = Sandbox::open();
    in_parallel(MECHANISMS.len(), |index| {
        let mechanism = MECHANISMS[index];
        for changes in hostile_changes(mechanism) {
            let mut spec = usual(mechanism.name);
            change(&mut spec, &changes);
            let report = assert_answered(&sandbox, &spec, PROMPT);
            assert!(report.is_some(), "no answer within {PROMPT:?}: {spec}");
        }
    });
}

fn hostile_changes(mechanism: &Mechanism) -> Vec<Value> {
    let buffers = [0, 1 << 41, u64::MAX / 2, u64::MAX - 1, u64::MAX];
    let replies = [1 << 41, u64::MAX].map(|bytes| json!({"reply": bytes.to_string()}));
    let mut changes: Vec<Value> = buffers.map(|bytes| json!({"buffer_bytes": bytes})).into();
    changes.extend([0, 1, u64::MAX].map(|bytes| json!({"kernel_buffer": {"bytes": bytes}})));
    changes.extend(
        replies.map(|reply| json!({"workload": "request-reply", "message_options": reply})),
    );
    changes.extend(["1thread", "2thread", "2proc"].map(|mode| json!({"mode": mode})));
    changes.extend([
        json!({"total_bytes": 0}),
        json!({"kernel_buffer": {"plain": 0}}),
        json!({"cpus": [u32::MAX, 0]}),
        json!({"cpus": [0, 1025]}),
        json!({"gate": "closed"}),
        json!({"options": {"port": "0"}}),
    ]);
    let wild = ["", "0", "99999999999", "18446744073709551615", "x", "\0"];
    let options = mechanism.options.iter();
    changes.extend(
        options.flat_map(|option| wild.map(|word| json!({"options": {option.name: word}}))),
    );
    changes
}

fn usual(mechanism: &str) -> Value {
    let spec = RunSpec { total_bytes: Some(4_096), ..RunSpec::with_defaults(mechanism, 8) };
    serde_json::to_value(spec).expect("a specification")
}

fn change(spec: &mut Value, changes: &Value) {
    for (key, value) in changes.as_object().expect("an object") {
        // A field that does not exist would be ignored. `repeats` is absent from a serialized specification by default.
        assert!(key == "repeats" || spec.get(key).is_some(), "no field {key}");
        spec[key] = value.clone();
    }
}

/// Changes a few fields at random; the others stay valid, so that the changed ones are reached.
fn random_spec(mechanism: &Mechanism, random: &mut ChaCha8Rng) -> Value {
    let mut spec = usual(mechanism.name);
    for _ in 0..random.random_range(1..=3) {
        let (number, other) = (random_number(random), random_number(random));
        let key_and_value = [
            json!({"buffer_bytes": number}),
            json!({"total_bytes": number}),
            json!({"total_bytes": null, "warm_up": {"for-ns": number}}),
            json!({"kernel_buffer": {"bytes": number}}),
            json!({"kernel_buffer": {"plain": number}}),
            json!({"cpus": [number & 0xFFFF_FFFF, other & 0xFFFF_FFFF]}),
            json!({"cpus": [0, number & 0xFFFF_FFFF]}),
            json!({"workload": "request-reply", "message_options": {"reply": number.max(1).to_string()}}),
            json!({"workload": *["stream", "round-trip"].choose(random).expect("words")}),
            json!({"mode": *["1thread", "2thread", "2proc"].choose(random).expect("words")}),
            json!({"check": "verify"}),
            json!({"message_options": {"buffers": *["rotate", "cold"].choose(random).expect("words")}}),
            json!({"repeats": {"count": number & 0xFFFF_FFFF, "rest": "none"}}),
            json!({"warm_up": {"slices": number & 0xFFFF_FFFF}}),
            json!({"objects": "read"}),
            json!({"gate": "closed"}),
            json!({"options": random_options(mechanism, random)}),
            json!({"options": random_options(mechanism, random)}),
        ];
        change(&mut spec, key_and_value.choose(random).expect("changes"));
    }
    spec
}

fn random_number(random: &mut ChaCha8Rng) -> u64 {
    *NUMBERS.choose(random).expect("numbers")
}

/// Returns random values for the options of the mechanism, some of them valid, and sometimes an unknown option.
fn random_options(mechanism: &Mechanism, random: &mut ChaCha8Rng) -> Value {
    let mut options = json!({});
    for option in mechanism.options {
        let valid = match &option.values {
            OptionValues::OneOf(words)
            | OptionValues::BytesOr(words)
            | OptionValues::Waits(words) => {
                words.choose(random).copied().unwrap_or(option.default).to_owned()
            }
            OptionValues::BytesUpTo(max) => max.to_string(),
            OptionValues::Number(range) => range.end().to_string(),
            _ => option.default.to_owned(),
        };
        let wild = (*WORDS.choose(random).expect("words")).to_owned();
        options[option.name] = json!(if random.random_bool(0.6) { valid } else { wild });
    }
    if random.random_bool(0.1) {
        options["port"] = json!(*WORDS.choose(random).expect("words"));
    }
    options
}

/// Passes `spec` to a worker and checks that it answers with a report that is not a defect. Returns `None` if it worked
/// until the timeout, or if `spec` is not a valid specification.
fn assert_answered(sandbox: &Sandbox, spec: &Value, limit: Duration) -> Option<WorkerReport> {
    let is_valid = serde_json::from_value::<RunSpec>(spec.clone()).is_ok();
    let mut worker = start(sandbox, spec);
    let end = Instant::now() + patience(limit);
    let mut status = None;
    while status.is_none() && Instant::now() < end {
        status = worker.try_wait().expect("a worker");
        std::thread::sleep(Duration::from_millis(2));
    }
    let Some(status) = status else {
        stop_worker(&mut worker, spec);
        return None;
    };
    end_group(&worker, Signal::KILL);
    let mut printed = String::new();
    worker.stdout.take().expect("its output").read_to_string(&mut printed).expect("text");
    if !is_valid {
        assert_eq!(status.code(), Some(1), "{spec}");
        return None;
    }
    assert_eq!(status.code(), Some(0), "{status}: {spec}");
    // A line for the opener of the gate may precede the report.
    let last = printed.lines().next_back().unwrap_or_default();
    let report: WorkerReport =
        serde_json::from_str(last).unwrap_or_else(|e| panic!("{e}: {printed}: {spec}"));
    if let WorkerReport::Failed(failure) = &report {
        let is_defect = matches!(failure.what, FailureKind::Panicked | FailureKind::Died);
        assert!(!is_defect, "{failure}: {spec}");
    }
    Some(report)
}

/// Starts a worker in its own process group and sends it only `spec`.
fn start(sandbox: &Sandbox, spec: &Value) -> Child {
    let mut command = sandbox.command("worker");
    command.arg(std::process::id().to_string()).process_group(0);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut worker = command.spawn().expect("the worker starts");
    let mut input = worker.stdin.take().expect("its input");
    let mut names = json!(RunNames::new([]).expect("random numbers"));
    names["places"] = json!([sandbox.path("tmp")]);
    let assignment = json!({ "spec": spec, "names": names });
    // A worker may give up before it has read everything; it is checked like any other.
    let _ = writeln!(input, "{assignment}");
    worker
}

/// Ends a worker at its timeout: it removes its names and is then killed with all its children.
fn stop_worker(worker: &mut Child, spec: &Value) {
    end_group(worker, Signal::TERM);
    let end = Instant::now() + patience(EXIT_GRACE);
    while worker.try_wait().expect("a worker").is_none() {
        assert!(Instant::now() < end, "SIGTERM does not end the worker of {spec}");
        std::thread::sleep(Duration::from_millis(2));
    }
    end_group(worker, Signal::KILL);
}

fn end_group(worker: &Child, signal: Signal) {
    let group = i32::try_from(worker.id()).ok().and_then(Pid::from_raw).expect("a number");
    // Fails if the group is empty, which is fine.
    let _ = kill_process_group(group, signal);
}
