//! `dbus`: `dbus-copy` against a plain program that makes the same calls with zbus.
//!
//! A pair is one run of each, fresh processes both (and a fresh dbus-daemon where one is between
//! them), on one CPU, with as many calls; who goes first takes turns. What both yield is the time
//! from just before the first call to just after the last reply.

use std::process::Command;
use std::time::Duration;

use ipcperf_engine::RunSpec;
use ipcperf_engine::handling::Reply;
use ipcperf_engine::mechanism;
use ipcperf_engine::placement::Placement;
use ipcperf_engine::workload::Kind;

use crate::arguments::CapArguments;
use crate::estimate::Estimate;
use crate::finding::{Bar, Finding, Question, Unit};
use crate::output::{announce, bytes};
use crate::pinned::on_cpu;
use crate::process::converse_with_group;
use crate::program::{Ipcperf, cpus, spec};
use crate::sampling::{Cap, in_turn, until_decided};
use crate::trouble::Trouble;

/// Our time over that of the plain program.
const BAR: Bar = Bar::Between(0.95, 1.05);
/// What a run is aimed at.
const AIM: Duration = Duration::from_millis(100);
const DEADLINE: Duration = Duration::from_secs(30);
/// What each call is answered with.
const REPLY_BYTES: u64 = 8;
const SIZES: [u64; 4] = [64, 4 << 10, 64 << 10, 1 << 20];

/// Measures every case.
pub(crate) fn measure(ipcperf: &Ipcperf, cap: CapArguments) -> Vec<Finding> {
    let cases = ["peer", "daemon"].into_iter().flat_map(|via| SIZES.map(|bytes| (via, bytes)));
    cases
        .map(|(via, buffer_bytes)| {
            let question = question(via, buffer_bytes);
            let finding = match here(via) {
                Err(why) => question.untestable(why),
                Ok(cpus) => {
                    let mut spec = spec("dbus-copy", Kind::RequestReply, cpus, buffer_bytes);
                    spec.handling.reply = Reply::Bytes(REPLY_BYTES);
                    spec.options.insert("via".to_owned(), via.to_owned());
                    question.answer(ratio(ipcperf, spec, via, cap.into()))
                }
            };
            announce(finding)
        })
        .collect()
}

fn question(via: &str, buffer_bytes: u64) -> Question {
    Question {
        bench: "dbus",
        case: format!("via={via} calls of {}", bytes(buffer_bytes)),
        unit: Unit::Ratio,
        bar: BAR,
    }
}

/// The CPUs, unless there are none or the daemon is missing.
fn here(via: &str) -> Result<[u32; 2], String> {
    let options = [("via".to_owned(), via.to_owned())].into();
    let lack = mechanism::find("dbus-copy").and_then(|known| known.lack(&options));
    match lack {
        Some(lack) => Err(format!("{}: {}", lack.missing.reason, lack.missing.remedy)),
        None => cpus(Placement::Same),
    }
}

/// The median of our time over that of the plain program.
fn ratio(ipcperf: &Ipcperf, spec: RunSpec, via: &str, cap: Cap) -> Result<Estimate, Trouble> {
    let spec = ipcperf.sized(spec, AIM)?;
    until_decided(BAR, cap, |number| {
        let ours = || ipcperf.measure(&spec).map(|measurement| measurement.elapsed_ns);
        let (ours_ns, theirs_ns) = in_turn(number, ours, || plain_ns(&spec, via))?;
        Ok(quotient(ours_ns, theirs_ns))
    })
}

/// How long the plain program takes for what `spec` says, ns.
fn plain_ns(spec: &RunSpec, via: &str) -> Result<u64, Trouble> {
    let own = std::env::current_exe();
    let own = own.map_err(|error| Trouble::Talk("finding this program".to_owned(), error))?;
    let calls = spec.total_bytes.unwrap_or(spec.buffer_bytes).div_ceil(spec.buffer_bytes);
    let mut command = Command::new(own);
    command.args(["zbus-calls", via, "--bytes", &spec.buffer_bytes.to_string()]);
    command.args(["--reply", &REPLY_BYTES.to_string(), "--calls", &calls.to_string()]);
    let cpu = spec.cpus.map_or(0, |[cpu, _]| cpu);
    let said = on_cpu(cpu, || converse_with_group(&mut command, DEADLINE))
        .map_err(|errno| Trouble::System("going to one CPU", errno))??;
    let said = String::from_utf8_lossy(&said);
    said.trim().parse().map_err(|_| Trouble::Nonsense {
        program: "the plain program".to_owned(),
        said: said.trim().to_owned(),
    })
}

#[allow(clippy::cast_precision_loss, reason = "times of milliseconds in ns")]
fn quotient(ours_ns: u64, theirs_ns: u64) -> f64 {
    ours_ns as f64 / theirs_ns.max(1) as f64
}
