//! `dbus`: `dbus-copy` against a plain program that makes the same calls with zbus.
//!
//! A pair is one run of each, fresh processes both (and a fresh dbus-daemon where one is between
//! them), on one CPU, with as many calls; who goes first takes turns. What both yield is the time
//! from just before the first call to just after the last reply.

use ipcperf_engine::mechanism;
use ipcperf_model::RunSpec;
use ipcperf_model::message_options::Reply;
use ipcperf_model::placement::Placement;
use ipcperf_model::workload::Kind;

use crate::arguments::CapArguments;
use crate::finding::{Finding, Question, Unit};
use crate::output::{announce, bytes};
use crate::plain::{self, BAR};
use crate::program::{Ipcperf, cpus, spec};

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
                    question.answer(plain::ratio(ipcperf, spec, cap.into(), arguments))
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

/// What the plain program is told.
fn arguments(spec: &RunSpec, calls: u64) -> Vec<String> {
    let (via, bytes) = (&spec.options["via"], spec.buffer_bytes);
    let told = format!("zbus-calls {via} --bytes {bytes} --reply {REPLY_BYTES} --calls {calls}");
    told.split_whitespace().map(str::to_owned).collect()
}
