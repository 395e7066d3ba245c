//! `dbus`: `dbus-copy` compared with a plain program that makes the same calls with zbus.
//!
//! A pair is one run of each, both in fresh processes (and with a fresh dbus-daemon, if one is used), on one CPU, with
//! the same number of calls; the order alternates. Both report the time from just before the first call to just after
//! the last reply.

use ipcperf_engine::mechanism;
use ipcperf_model::RunSpec;
use ipcperf_model::message_options::Reply;
use ipcperf_model::placement::Placement;
use ipcperf_model::workload::WorkloadKind;

use crate::arguments::LimitArguments;
use crate::finding::{Finding, Question, Unit};
use crate::output::{announce, bytes};
use crate::plain::{self, BAR};
use crate::program::{Ipcperf, cpus, spec};

/// Size of the reply to each call.
const REPLY_BYTES: u64 = 8;
const SIZES: [u64; 4] = [64, 4 << 10, 64 << 10, 1 << 20];

/// Measures every case.
pub(crate) fn measure(ipcperf: &Ipcperf, cap: LimitArguments) -> Vec<Finding> {
    let cases = ["peer", "daemon"].into_iter().flat_map(|via| SIZES.map(|bytes| (via, bytes)));
    cases
        .map(|(via, buffer_bytes)| {
            let question = question(via, buffer_bytes);
            let finding = match here(via) {
                Err(why) => question.untestable(why),
                Ok(cpus) => {
                    let mut spec =
                        spec("dbus-copy", WorkloadKind::RequestReply, cpus, buffer_bytes);
                    spec.message_options.reply = Reply::Bytes(REPLY_BYTES);
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

/// Returns the CPUs, or the reason if there are none or the daemon is missing.
fn here(via: &str) -> Result<[u32; 2], String> {
    let options = [("via".to_owned(), via.to_owned())].into();
    let lack =
        mechanism::find(&"dbus-copy".into()).and_then(|known| known.unavailable_value(&options));
    match lack {
        Some(lack) => Err(format!("{}: {}", lack.missing.reason, lack.missing.remedy)),
        None => cpus(Placement::Same),
    }
}

/// Returns the arguments of the plain program.
fn arguments(spec: &RunSpec, calls: u64) -> Vec<String> {
    let (via, bytes) = (&spec.options["via"], spec.buffer_bytes);
    let told = format!("zbus-calls {via} --bytes {bytes} --reply {REPLY_BYTES} --calls {calls}");
    told.split_whitespace().map(str::to_owned).collect()
}
