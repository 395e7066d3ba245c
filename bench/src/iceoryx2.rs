//! `iceoryx2`: `iceoryx2-pubsub` compared with a plain program that publishes and subscribes the same.
//!
//! A pair is one run of each, both in fresh processes, on two CPUs, with the same number of messages; the order
//! alternates. Both report the time from just before the first message is sent to just after the last has arrived.

use ipcperf_model::RunSpec;
use ipcperf_model::placement::Placement;
use ipcperf_model::workload::WorkloadKind;

use crate::arguments::LimitArguments;
use crate::finding::{Finding, Question, Unit};
use crate::output::{announce, bytes};
use crate::plain::{self, BAR};
use crate::program::{Ipcperf, cpus, spec};

const CASES: [(WorkloadKind, u64); 5] = [
    (WorkloadKind::RoundTrip, 1),
    (WorkloadKind::Stream, 64),
    (WorkloadKind::Stream, 4 << 10),
    (WorkloadKind::Stream, 64 << 10),
    (WorkloadKind::Stream, 1 << 20),
];

/// Measures every case.
pub(crate) fn measure(ipcperf: &Ipcperf, cap: LimitArguments) -> Vec<Finding> {
    let cpus = cpus(Placement::Split);
    let finding = |(kind, buffer_bytes)| {
        let question = question(kind, buffer_bytes);
        announce(match &cpus {
            Err(why) => question.untestable(why.clone()),
            Ok(cpus) => {
                let spec = spec("iceoryx2-pubsub", kind, *cpus, buffer_bytes);
                question.answer(plain::ratio(ipcperf, spec, cap.into(), arguments))
            }
        })
    };
    CASES.into_iter().map(finding).collect()
}

fn question(kind: WorkloadKind, buffer_bytes: u64) -> Question {
    Question {
        bench: "iceoryx2",
        case: format!("pubsub {} {}", kind.name(), bytes(buffer_bytes)),
        unit: Unit::Ratio,
        bar: BAR,
    }
}

/// Returns the arguments of the plain program.
fn arguments(spec: &RunSpec, messages: u64) -> Vec<String> {
    let [cpu, other_cpu] = spec.cpus.unwrap_or_default();
    let (workload, bytes) = (spec.workload.name(), spec.buffer_bytes);
    let told = format!(
        "iceoryx2-samples leader {workload} --bytes {bytes} --messages {messages} --cpu {cpu} \
         --other-cpu {other_cpu}"
    );
    told.split_whitespace().map(str::to_owned).collect()
}
