//! Hand-made samples and files, for tests of code that reads results.

use std::collections::BTreeMap;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer as _, V2Serializer};
use ipcperf_model::case_id::{CaseName, NameParts, Side, case_id};
use ipcperf_model::environment::Environment;
use ipcperf_model::mechanism::{CaseFacts, Delivery, PayloadPath};
use ipcperf_model::message_options::{BufferReuse, Content, FirstTouch, Touch};
use ipcperf_model::prefixes::Prefixes;
use ipcperf_model::workload::WorkloadKind;
use ipcperf_model::{Latencies, Measurement, Mode, RoundTrips, RunSpec, UserSystemSplit, WarmUp};

use crate::analysis::AnalyzedFile;
use crate::identity::run_id;
use crate::{
    CaseIdentity, Completeness, FileEnd, Header, PlanRecord, RefusedRecord, Results, RunIdentity,
    SCHEMA, Sample,
};

/// Returns the properties of `mechanism` with its default options, as the engine has them, for mechanisms that
/// tests name.
#[must_use]
pub fn facts(mechanism: &str) -> CaseFacts {
    let (delivery, way, sleeps) = match mechanism {
        "null" => (Delivery::Nothing, PayloadPath::Nowhere, false),
        "shm-ring" => (Delivery::Reliable, PayloadPath::Memory, false),
        "mmap-file" | "mmap-queue" => (Delivery::Reliable, PayloadPath::Memory, true),
        "bus-copy" | "bus-memfd" | "eventfd" => {
            (Delivery::Reliable, PayloadPath::SharedMemoryWithDoorbell, true)
        }
        "process-vm" => (Delivery::Reliable, PayloadPath::CrossMemoryRead, true),
        _ => (Delivery::Reliable, PayloadPath::Kernel, true),
    };
    let is_handed_over = mechanism == "bus-memfd";
    CaseFacts { delivery, path: way, is_handed_over, sleeps, library: None }
}

/// Returns the distribution of `trips_ns`.
///
/// # Panics
/// Never: the bounds are constants that HDR accepts, and any histogram with these bounds can be serialized.
#[must_use]
#[allow(clippy::cast_precision_loss, reason = "a few numbers made up for tests")]
pub fn round_trips(trips_ns: &[u64]) -> RoundTrips {
    let mut histogram = Histogram::<u64>::new_with_bounds(1, 1 << 39, 3).expect("constant bounds");
    trips_ns.iter().for_each(|&ns| histogram.saturating_record(ns));
    let mut bytes = Vec::new();
    V2Serializer::new().serialize(&histogram, &mut bytes).expect("a histogram of ours");
    let sum: u64 = trips_ns.iter().sum();
    let latencies = Latencies {
        histogram: STANDARD.encode(bytes),
        p50_ns: Some(histogram.value_at_quantile(0.5)),
        p90_ns: Some(histogram.value_at_quantile(0.9)),
        p99_ns: Some(histogram.value_at_quantile(0.99)),
        p999_ns: Some(histogram.value_at_quantile(0.999)),
        max_ns: histogram.max(),
        mean_ns: sum as f64 / trips_ns.len().max(1) as f64,
    };
    RoundTrips { timed_every: 1, latencies }
}

/// Returns a sample of `mechanism` with scripted times, for tests of code that uses samples.
pub fn sample(
    mechanism: &str,
    workload: WorkloadKind,
    buffer_bytes: u64,
    block: u32,
    elapsed_ns: u64,
) -> Sample {
    let case = CaseIdentity {
        peers: None,
        prefixes: Prefixes::default(),
        case_id: format!("{mechanism}/{}/2proc/same/{buffer_bytes}", workload.name()),
        mechanism: mechanism.to_owned(),
        options: BTreeMap::new(),
        workload,
        mode: Mode::TwoProcesses,
        placement: "same".to_owned(),
        cpus: vec![0, 0],
        buffer_bytes,
        kernel_buffer: "default".to_owned(),
        kernel_buffer_requested_bytes: None,
        touch: Touch::None,
        payload: Content::Constant,
        buffers: BufferReuse::Hot,
        first_touch: FirstTouch::AfterFork,
        reply: None,
        reply_bytes: None,
        rate_per_s: None,
        arrivals: None,
        message_sizes: None,
        pacer: None,
        scheduled_messages: None,
        verify: false,
        facts: Some(facts(mechanism)),
        name: None,
    };
    let run_id = run_id(block, 0, 1);
    let run = RunIdentity { run_id, block, attempt: 1, repetition: block, case };
    let measured = measurement(workload, buffer_bytes, elapsed_ns);
    Sample::new(run, WarmUp::None, measured, UserSystemSplit::Sampled)
}

/// Renames the case of `sample` according to `parts` and `side`.
///
/// # Panics
/// Never: the placement of the samples made here is valid.
#[must_use]
pub fn with_name_parts(mut sample: Sample, parts: NameParts, side: Side) -> Sample {
    let case = &sample.run.case;
    let mut spec = RunSpec::with_defaults(&case.mechanism, case.buffer_bytes);
    spec.workload = case.workload;
    let placement = case.placement.parse().expect("a placement");
    sample.run.case.case_id = case_id(&spec, placement, &parts, side);
    let name = CaseName::new(&spec, placement, parts, side);
    sample.run.case = sample.run.case.with_name(name);
    sample
}

fn measurement(workload: WorkloadKind, buffer_bytes: u64, elapsed_ns: u64) -> Measurement {
    let trips = round_trips(&[elapsed_ns / 1_000]);
    Measurement {
        paced: None,
        began_ns: 0,
        elapsed_ns,
        total_bytes: buffer_bytes * 1_000,
        messages: 1_000,
        arrived_bytes: buffer_bytes * 1_000,
        lost_messages: None,
        calibration_phases: 0,
        slices_ns: Vec::new(),
        kernel_thread_ns: None,
        round_trips: workload.is_answered().then_some(trips),
        kernel_buffer_granted_bytes: Some(65_536),
        cacheline_round_trip_ns: None,
        steal_ns: Some(0),
        roles: Vec::new(),
        peers: Vec::new(),
        objects: Vec::new(),
        counter_readings: Vec::new(),
        repeats: Vec::new(),
    }
}

/// Returns the header of a plan of `cases`, eleven repetitions of each, with the given refused cells.
#[must_use]
pub fn header(cases: Vec<String>, refused: Vec<RefusedRecord>) -> Header {
    let plan = PlanRecord {
        knee: None,
        repetitions: 11,
        until_ci: None,
        until_decided: None,
        attempts: 1,
        timeout_s: 10.0,
        cases,
        specs: Vec::new(),
        refused,
        unavailable: Vec::new(),
        unavailable_instruments: Vec::new(),
        custom: None,
        libraries: BTreeMap::new(),
    };
    Header {
        schema: SCHEMA,
        command: Vec::new(),
        quick: false,
        study: None,
        study_hash: None,
        study_text: None,
        study_only: Vec::new(),
        seed: 1,
        started: "2026-11-20T10:00:00Z".to_owned(),
        plan,
        environment: Environment::default(),
        limits: None,
    }
}

/// Returns a file at `path` with the given samples and refused cells, for tests of code that uses files.
pub fn analyzed_file(
    path: &str,
    samples: Vec<Sample>,
    refused: Vec<RefusedRecord>,
) -> AnalyzedFile {
    let mut cases: Vec<String> = Vec::new();
    for sample in &samples {
        if !cases.contains(&sample.run.case.case_id) {
            cases.push(sample.run.case.case_id.clone());
        }
    }
    let header = header(cases, refused);
    let results = Results {
        peers: Vec::new(),
        header,
        samples,
        observations: Vec::new(),
        failures: Vec::new(),
        footer: None,
        end: FileEnd::Closed,
        warnings: Vec::new(),
        end_warnings: Vec::new(),
        completeness: Completeness::default(),
    };
    AnalyzedFile::new(Path::new(path), results)
}
