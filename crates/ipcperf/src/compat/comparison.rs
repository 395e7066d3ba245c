//! `ipc-comparisontest`: the program of M. Shuldman (Inferno Nettverk), which compares a large datagram with a file
//! whose descriptor is passed.

use clap::{Arg, Command};
use ipcperf_model::{Measurement, RoleUsage, RunSpec};

use super::getopt::{command, parse, positive_operand, positive_value, usage as usage_of};
use super::program_exit::{EXIT_FAILURE, ProgramExit};
use super::program_runner::{ProgramRunner, with_options};
use super::{Invocation, Program, print_line};

/// The compatibility program.
pub(super) const PROGRAM: Program = Program {
    names: &["ipc-comparisontest"],
    about: "CPU time of sending a large message: in a datagram, or in a file whose descriptor is sent (M. \
        Shuldman, Inferno Nettverk)",
    differences: &[
        "The program itself prints the CPU time of both processes. For his article, Shuldman measured the CPU time \
            with time(1).",
        "Every message passes three file descriptors. The article states only that a message has 32 bytes of \
            control data; ipcperf assumes that these bytes contain three descriptors. In the mode `file`, each \
            message also passes the descriptor of the file.",
        "The file is created in TMPDIR, or in /tmp if TMPDIR is not set.",
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
    usage_of(parser(name))
}

fn parser(name: &str) -> Command {
    command(name, "message|file [count [size]]").args([
        Arg::new("mode")
            .value_name("mode")
            .required(true)
            .value_parser(MODES.map(|(word, ..)| word))
            .help(
                "Where the message is: in the datagram, or in a file whose descriptor the datagram \
                    passes",
            ),
        positive_operand("count", "Number of messages [1000000]"),
        positive_operand("size", "Bytes per message [112192]"),
    ])
}

fn run(call: &Invocation<'_>) -> Result<(), ProgramExit> {
    let typed = parse(parser(call.name), call, EXIT_FAILURE)?;
    let (count, bytes) = (
        positive_value(&typed, "count").unwrap_or(COUNT),
        positive_value(&typed, "size").unwrap_or(BYTES),
    );
    let mode = typed.get_one::<String>("mode");
    let mode = MODES.iter().find(|(word, ..)| Some(*word) == mode.map(String::as_str));
    let (_, heading, mechanism) = mode.copied().unwrap_or(MODES[0]);
    let total_bytes = count.checked_mul(bytes);
    let total_bytes =
        total_bytes.ok_or_else(|| ProgramExit::wrong_usage(EXIT_FAILURE, usage(call.name)))?;
    let spec = RunSpec {
        total_bytes: Some(total_bytes),
        ..with_options(
            RunSpec::with_defaults(mechanism, bytes),
            &[("wait", "select"), ("fds", "3")],
        )
    };
    let measured = ProgramRunner::new(call.name)
        .and_then(|mut carrier| carrier.measure(&spec))
        .map_err(ProgramExit::into_failed)?;
    print_line(&table(heading, &measured)).map_err(ProgramExit::into_failed)
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
