//! `ipc-comparisontest`: the program of M. Shuldman (Inferno Nettverk), which compares a large datagram with a file
//! whose descriptor is passed.

use clap::{Arg, Command};
use ipcperf_model::{Measurement, RoleUsage, RunSpec};

use super::carried::{Carrier, with_options};
use super::ended::{Ended, FAILED};
use super::typed::{amount, command, number, parse, usage as usage_of};
use super::{Call, Program, say};

/// The compatibility program.
pub(super) const PROGRAM: Program = Program {
    names: &["ipc-comparisontest"],
    about: "CPU time of a large datagram, or of a file that is passed (M. Shuldman, Inferno Nettverk)",
    differs: &[
        "It tells the CPU time of both processes itself; the article took it from time(1).",
        "Every message passes three descriptors, which is our reading of its 32 control bytes; a file is one more.",
        "The file lies where temporary files do; TMPDIR chooses.",
    ],
    usage,
    run,
};

/// Modes: argument, heading in the original article, and mechanism.
const MODES: [(&str, &str, &str); 2] =
    [("message", "Message", "dgram-fds"), ("file", "File", "file-ref")];
/// Message size and count of the original article.
const BYTES: u64 = 112_192;
const COUNT: u64 = 1_000_000;

fn usage(name: &str) -> String {
    usage_of(takes(name))
}

fn takes(name: &str) -> Command {
    command(name, "message|file [count [size]]").args([
        Arg::new("mode")
            .value_name("mode")
            .required(true)
            .value_parser(MODES.map(|(word, ..)| word))
            .help(
                "What carries the message: the datagram, or a file of which it passes a descriptor",
            ),
        amount("count", "Messages [1000000]"),
        amount("size", "Bytes of each [112192]"),
    ])
}

fn run(call: &Call<'_>) -> Result<(), Ended> {
    let typed = parse(takes(call.name), call, FAILED)?;
    let (count, bytes) =
        (number(&typed, "count").unwrap_or(COUNT), number(&typed, "size").unwrap_or(BYTES));
    let mode = typed.get_one::<String>("mode");
    let mode = MODES.iter().find(|(word, ..)| Some(*word) == mode.map(String::as_str));
    let (_, heading, mechanism) = mode.copied().unwrap_or(MODES[0]);
    let total_bytes = count.checked_mul(bytes);
    let total_bytes = total_bytes.ok_or_else(|| Ended::wrong_usage(FAILED, usage(call.name)))?;
    let spec = RunSpec {
        total_bytes: Some(total_bytes),
        ..with_options(RunSpec::usual(mechanism, bytes), &[("wait", "select"), ("fds", "3")])
    };
    let measured = Carrier::ready(call.name)
        .and_then(|mut carrier| carrier.measure(&spec))
        .map_err(Ended::into_failed)?;
    say(&table(heading, &measured)).map_err(Ended::into_failed)
}

/// Formats the CPU time of both processes under the headings of the article.
#[allow(
    clippy::cast_precision_loss,
    reason = "seconds, three digits behind the point of which are printed"
)]
fn table(heading: &str, measured: &Measurement) -> String {
    let sum =
        |figure: fn(&RoleUsage) -> u64| measured.roles.iter().map(figure).sum::<u64>() as f64 / 1e9;
    let (user, system) = (sum(|usage| usage.user_ns), sum(|usage| usage.system_ns));
    format!(
        "{:<8} {:>19} {:>15} {:>8}\n{heading:<8} {user:>19.3} {system:>15.3} {:>8.3}",
        "Mode",
        "User time (seconds)",
        "System time (s)",
        "Sum (s)",
        user + system
    )
}
