//! `peers`: workloads with several peers, run with one, compared with the workloads of two peers that they then are.
//!
//! A quad is two runs of each, in the order A B B A or B A A B, all in fresh processes, on one CPU, with the same total.

use std::time::Duration;

use ipcperf_model::RunSpec;
use ipcperf_model::peers::Peers;
use ipcperf_model::placement::Placement;
use ipcperf_model::workload::WorkloadKind;

use crate::error::BenchError;
use crate::estimate::Estimate;
use crate::finding::{Bar, Finding, Question, Unit};
use crate::output::{announce, bytes};
use crate::program::{Ipcperf, cpus, spec};
use crate::sampling::quads;

/// Time with one of several peers divided by that with two peers.
const BAR: Bar = Bar::Between(0.97, 1.03);
/// Target duration of a run.
const AIM: Duration = Duration::from_millis(40);
/// Workloads with several peers, each with that of two peers.
const CASES: [(WorkloadKind, WorkloadKind); 5] = [
    (WorkloadKind::Pairs, WorkloadKind::Stream),
    (WorkloadKind::PairsRoundTrip, WorkloadKind::RoundTrip),
    (WorkloadKind::FanIn, WorkloadKind::Stream),
    (WorkloadKind::FanOut, WorkloadKind::Stream),
    (WorkloadKind::Server, WorkloadKind::RequestReply),
];
/// Number of quads of each case.
const QUADS: usize = 100;
/// Size of a message, bytes.
const BYTES: u64 = 4 << 10;

/// Measures every case.
pub(crate) fn measure(ipcperf: &Ipcperf) -> Vec<Finding> {
    let cases = ["pipe", "unix-stream"]
        .into_iter()
        .flat_map(|mechanism| CASES.map(|(several, two)| (mechanism, several, two)));
    cases
        .map(|(mechanism, several, two)| {
            let question = question(mechanism, several, two);
            let finding = match cpus(Placement::Same) {
                Err(why) => question.untestable(why),
                Ok(cpus) => {
                    let spec = spec(mechanism, two, cpus, BYTES);
                    question.answer(ratio(ipcperf, spec, several))
                }
            };
            announce(finding)
        })
        .collect()
}

fn question(mechanism: &str, several: WorkloadKind, two: WorkloadKind) -> Question {
    Question {
        bench: "peers",
        case: format!("{mechanism} {} / {} {}", several.name(), two.name(), bytes(BYTES)),
        unit: Unit::Ratio,
        bar: BAR,
    }
}

/// Returns the time of `several` with one peer divided by that of `two`, a run of two peers.
fn ratio(ipcperf: &Ipcperf, two: RunSpec, several: WorkloadKind) -> Result<Estimate, BenchError> {
    let two = ipcperf.calibrate(two, AIM)?;
    let peers = Peers { count: 1, cpus: two.cpus.into_iter().collect() };
    let one_of_several = RunSpec { workload: several, peers: Some(peers), ..two.clone() };
    let elapsed_ns = |spec: &RunSpec| ipcperf.measure(spec).map(|measured| measured.elapsed_ns);
    quads(QUADS, || elapsed_ns(&one_of_several), || elapsed_ns(&two))
}
