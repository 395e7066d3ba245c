//! `shapes`: ratios between mechanisms, on one CPU, that were found before ipcperf was written and must be reproduced.
//!
//! A pair is one run of each of two cases, both in fresh processes; the order alternates.

use std::time::Duration;

use ipcperf_model::message_options::{MessageOptions, Reply};
use ipcperf_model::placement::Placement;
use ipcperf_model::workload::WorkloadKind;
use ipcperf_model::{Measurement, RunSpec};

use crate::arguments::LimitArguments;
use crate::c_program::CLoops;
use crate::error::BenchError;
use crate::estimate::Estimate;
use crate::finding::{Bar, Finding, Question, Unit};
use crate::output::{announce, bytes};
use crate::program::{Ipcperf, cpus, spec};
use crate::sampling::{SamplingLimit, alternate, until_decided};

/// Target duration of a run in C.
const AIM: Duration = Duration::from_millis(40);

/// Cost of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cost {
    /// Elapsed time.
    Time,
    /// CPU time of both peers.
    Cpu,
}

/// Cost of a message in one case relative to another.
struct Shape {
    what: &'static str,
    /// Mechanism and the options that are set.
    numerator: Side,
    denominator: Side,
    workload: WorkloadKind,
    cost: Cost,
    sizes: &'static [(u64, Bar)],
}

type Side = (&'static str, &'static [(&'static str, &'static str)]);

/// For a shape that crosses over, the bars state between which sizes.
const SHAPES: [Shape; 4] = [
    Shape {
        what: "pipe / pipe-borrow",
        numerator: ("pipe", &[]),
        denominator: ("pipe-borrow", &[]),
        workload: WorkloadKind::Stream,
        cost: Cost::Time,
        sizes: &[
            (64 << 10, Bar::AtLeast(3.0)),
            (256 << 10, Bar::AtLeast(3.0)),
            (1 << 20, Bar::AtLeast(3.0)),
        ],
    },
    Shape {
        what: "pipe-borrow threshold=32 / pipe",
        numerator: ("pipe-borrow", &[("threshold", "32")]),
        denominator: ("pipe", &[]),
        workload: WorkloadKind::Stream,
        cost: Cost::Time,
        sizes: &[
            (32, Bar::AtLeast(1.0)),
            (128, Bar::AtLeast(1.0)),
            (512, Bar::AtLeast(1.0)),
            (2048, Bar::None),
        ],
    },
    Shape {
        what: "CPU time, file-ref / dgram-fds",
        numerator: ("file-ref", &[]),
        denominator: ("dgram-fds", &[]),
        workload: WorkloadKind::Stream,
        cost: Cost::Cpu,
        sizes: &[(112_192, Bar::AtLeast(2.0))],
    },
    Shape {
        what: "call with a reply of 8 B, bus-memfd / bus-copy",
        numerator: ("bus-memfd", &[]),
        denominator: ("bus-copy", &[]),
        workload: WorkloadKind::RequestReply,
        cost: Cost::Time,
        sizes: &[
            (128 << 10, Bar::AtLeast(1.0)),
            (256 << 10, Bar::None),
            (512 << 10, Bar::None),
            (1 << 20, Bar::AtMost(1.0)),
        ],
    },
];

/// Measures every shape, and the first one in C too.
pub(crate) fn measure(ipcperf: &Ipcperf, cap: LimitArguments) -> Vec<Finding> {
    let mut findings = shapes(ipcperf, cap);
    findings.extend(in_c(ipcperf, cap));
    findings
}

/// Measures the gain of lending pages to a pipe in plain C loops: a gain that is not possible there is not possible
/// here.
fn in_c(ipcperf: &Ipcperf, cap: LimitArguments) -> Vec<Finding> {
    let compiled = CLoops::compile();
    let sizes = SHAPES[0].sizes.iter().map(|(buffer_bytes, _)| *buffer_bytes);
    sizes
        .map(|buffer_bytes| {
            let case = format!("pipe / pipe-borrow, {}, both in C", bytes(buffer_bytes));
            let question = Question { bench: "shapes", case, unit: Unit::Ratio, bar: Bar::None };
            announce(match (&compiled, cpus(Placement::Same)) {
                (Err(trouble), _) => question.failed(trouble),
                (_, Err(why)) => question.untestable(why),
                (Ok(c), Ok(cpus)) => {
                    question.answer(ratio_in_c(ipcperf, c, cpus, buffer_bytes, cap))
                }
            })
        })
        .collect()
}

#[allow(clippy::cast_precision_loss, reason = "times of milliseconds in ns")]
fn ratio_in_c(
    ipcperf: &Ipcperf,
    c: &CLoops,
    cpus: [u32; 2],
    buffer_bytes: u64,
    cap: LimitArguments,
) -> Result<Estimate, BenchError> {
    let pipe = ipcperf.calibrate(spec("pipe", WorkloadKind::Stream, cpus, buffer_bytes), AIM)?;
    let borrow = RunSpec { mechanism: "pipe-borrow".into(), ..pipe.clone() };
    until_decided(Bar::None, cap.into(), |number| {
        let run = |spec: &RunSpec| c.elapsed_ns(spec);
        let (over_ns, under_ns) = alternate(number, || run(&pipe), || run(&borrow))?;
        Ok(over_ns as f64 / under_ns.max(1) as f64)
    })
}

fn shapes(ipcperf: &Ipcperf, cap: LimitArguments) -> Vec<Finding> {
    let all = SHAPES.iter().flat_map(|shape| shape.sizes.iter().map(move |size| (shape, *size)));
    all.map(|(shape, (buffer_bytes, bar))| {
        let case = format!("{}, {}", shape.what, bytes(buffer_bytes));
        let question = Question { bench: "shapes", case, unit: Unit::Ratio, bar };
        announce(match cpus(Placement::Same) {
            Err(why) => question.untestable(why),
            Ok(cpus) => {
                let specs = [shape.numerator, shape.denominator]
                    .map(|side| shape.spec(side, cpus, buffer_bytes));
                question.answer(ratio(ipcperf, &specs, shape.cost, bar, cap.into()))
            }
        })
    })
    .collect()
}

impl Shape {
    fn spec(&self, (mechanism, options): Side, cpus: [u32; 2], buffer_bytes: u64) -> RunSpec {
        let set = options.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        RunSpec {
            options: set.collect(),
            message_options: MessageOptions { reply: Reply::Bytes(8), ..MessageOptions::default() },
            ..spec(mechanism, self.workload, cpus, buffer_bytes)
        }
    }
}

/// Returns the median cost of a message in the first case divided by that in the second.
fn ratio(
    ipcperf: &Ipcperf,
    [over, under]: &[RunSpec; 2],
    cost: Cost,
    bar: Bar,
    cap: SamplingLimit,
) -> Result<Estimate, BenchError> {
    until_decided(bar, cap, |number| {
        let run =
            |spec: &RunSpec| ipcperf.measure(spec).map(|measured| cost.per_message(&measured));
        let (over, under) = alternate(number, || run(over), || run(under))?;
        Ok(over / under)
    })
}

impl Cost {
    /// Returns the cost of a message of `measured`, in ns.
    #[allow(clippy::cast_precision_loss, reason = "times and counts of one run")]
    fn per_message(self, measured: &Measurement) -> f64 {
        let ns = match self {
            Self::Time => measured.elapsed_ns,
            Self::Cpu => measured.roles.iter().filter_map(|role| role.cpu_ns).sum(),
        };
        ns as f64 / measured.messages.max(1) as f64
    }
}
