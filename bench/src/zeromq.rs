//! `zeromq`: `zeromq` compared with a plain program that sends the same messages with libzmq.
//!
//! A pair is one run of each, both in fresh processes, on one CPU, with the same number of messages; the order
//! alternates. Our time is from just before the first message to just after the last has arrived; that of the plain
//! program includes the message that reports this.

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
    (WorkloadKind::RoundTrip, 64 << 10),
    (WorkloadKind::Stream, 64),
    (WorkloadKind::Stream, 4 << 10),
    (WorkloadKind::Stream, 64 << 10),
];

/// Measures every case.
pub(crate) fn measure(ipcperf: &Ipcperf, cap: LimitArguments) -> Vec<Finding> {
    let answered = CASES.map(|(kind, buffer_bytes)| {
        let question = question(kind, buffer_bytes);
        let finding = match cpus(Placement::Same) {
            Err(why) => question.untestable(why),
            Ok(cpus) => {
                let spec = spec("zeromq", kind, cpus, buffer_bytes);
                question.answer(plain::ratio(ipcperf, spec, cap.into(), arguments))
            }
        };
        announce(finding)
    });
    answered.into()
}

fn question(kind: WorkloadKind, buffer_bytes: u64) -> Question {
    Question {
        bench: "zeromq",
        case: format!("{} {}", kind.name(), bytes(buffer_bytes)),
        unit: Unit::Ratio,
        bar: BAR,
    }
}

/// Returns the arguments of the plain program.
fn arguments(spec: &RunSpec, messages: u64) -> Vec<String> {
    let (workload, bytes) = (spec.workload.name(), spec.buffer_bytes);
    let told = format!("zmq-pair {workload} --bytes {bytes} --messages {messages}");
    told.split_whitespace().map(str::to_owned).collect()
}
