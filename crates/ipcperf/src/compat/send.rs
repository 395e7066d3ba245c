//! `pipesend`, `udsocketsend`, `tcpsocketsend`: the utilities of Wright, Gopalan and Kang.

use std::ffi::OsString;
use std::fs::{File, OpenOptions, remove_file};
use std::io::Write as _;
use std::path::PathBuf;

use clap::{Arg, Command, value_parser};
use ipcperf_model::{Mode, PhasePause, RunSpec};

use super::getopt::{command, parse, positive_operand, positive_value, usage as usage_of};
use super::program_exit::{EXIT_FAILURE, ProgramExit};
use super::program_runner::{ProgramRunner, repeats, with_options};
use super::{Invocation, Program, print_line};

/// The three programs.
pub(super) const PROGRAM: Program = Program {
    names: &["pipesend", "udsocketsend", "tcpsocketsend"],
    about: "bandwidth of sending data to a forked child; both processes print and log the \
        bandwidth (Wright, Gopalan and Kang)",
    differences: &[
        "Both processes report the same time, from just before the first byte is sent to just after the last byte \
            is received. A time that ended with the sender's last write would not include the transfer of data \
            that is still in the kernel.",
        "Without `buffer_size`, the buffer is as large as `bytes_to_send`.",
        "All repetitions run in one pair of processes.",
    ],
    usage,
    run,
};

const USAGE: &str = "bytes_to_send [buffer_size [repetitions [logname_append]]]";

fn usage(name: &str) -> String {
    usage_of(parser(name))
}

fn parser(name: &str) -> Command {
    command(name, USAGE).args([
        positive_operand("bytes_to_send", "Total bytes").required(true),
        positive_operand("buffer_size", "Bytes per write [all]"),
        positive_operand("repetitions", "Number of repetitions [1]"),
        Arg::new("logname_append")
            .value_name("logname_append")
            .value_parser(value_parser!(OsString))
            .allow_hyphen_values(true)
            .help("Text between the program's name and .log in the name of the log file"),
    ])
}

fn run(call: &Invocation<'_>) -> Result<(), ProgramExit> {
    let typed = parse(parser(call.name), call, EXIT_FAILURE)?;
    let total_bytes = positive_value(&typed, "bytes_to_send").unwrap_or(1);
    let buffer_bytes = positive_value(&typed, "buffer_size").unwrap_or(total_bytes);
    let count: u32 =
        positive_value(&typed, "repetitions").unwrap_or(1).try_into().unwrap_or(u32::MAX);
    let spec = RunSpec {
        mode: Mode::TwoProcesses,
        total_bytes: Some(total_bytes),
        repeats: repeats(count, PhasePause::None),
        ..base_spec(call.name, buffer_bytes.min(total_bytes))
    };
    let failed = ProgramExit::into_failed;
    // Reports a log that cannot be written before the measurement.
    let mut log = Log::open(call.name, typed.get_one("logname_append")).map_err(failed)?;
    let measured = ProgramRunner::new(call.name)
        .and_then(|mut carrier| carrier.measure(&spec))
        .map_err(failed)?;
    let lines =
        measured.repeats.iter().map(|one| peer_lines(total_bytes, one.elapsed_ns, buffer_bytes));
    let lines: String = lines.collect();
    let logged = log.append(&lines).map_err(|error| log_error(call.name, &error));
    print_line(&lines).and(logged).map_err(failed)
}

fn base_spec(name: &str, buffer_bytes: u64) -> RunSpec {
    match name {
        "pipesend" => RunSpec::with_defaults("pipe", buffer_bytes),
        "udsocketsend" => RunSpec::with_defaults("unix-stream", buffer_bytes),
        _ => with_options(RunSpec::with_defaults("tcp", buffer_bytes), &[("nodelay", "off")]),
    }
}

/// Returns the lines of both peers.
#[allow(
    clippy::cast_precision_loss,
    reason = "a rate, two digits behind the point of which are printed"
)]
fn peer_lines(total_bytes: u64, elapsed_ns: u64, buffer_bytes: u64) -> String {
    let seconds = elapsed_ns as f64 / 1e9;
    let rate = total_bytes as f64 / seconds / 1e6;
    ["Sent", "Received"]
        .map(|did| {
            format!(
                "{did} {total_bytes} bytes in {seconds:.9} seconds at {rate:.2} MB/s with a buffer of \
                 {buffer_bytes} bytes\n"
            )
        })
        .concat()
}

/// Log that lines are appended to. It is removed at the end if it is empty.
#[derive(Debug)]
struct Log {
    path: PathBuf,
    file: File,
}

impl Log {
    /// Opens the log of the program `name`, with `append` in its file name.
    fn open(name: &str, append: Option<&OsString>) -> Result<Self, ProgramExit> {
        let mut path = OsString::from(name);
        path.extend(append.map(OsString::as_os_str));
        path.push(".log");
        let opened = OpenOptions::new().create(true).append(true).open(&path);
        let file = opened.map_err(|error| log_error(name, &error))?;
        Ok(Self { path: path.into(), file })
    }

    fn append(&mut self, lines: &str) -> std::io::Result<()> {
        self.file.write_all(lines.as_bytes())
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        if self.file.metadata().is_ok_and(|about| about.len() == 0) {
            // An error is ignored: the file may be gone already.
            let _ = remove_file(&self.path);
        }
    }
}

fn log_error(name: &str, error: &std::io::Error) -> ProgramExit {
    ProgramExit::os_error(&format!(
        "{name}: cannot write the log file here: {error}; change to a \
        folder that you may write to"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_parties_tell_amount_time_rate_and_buffer() {
        let wanted = "Sent 1000000 bytes in 0.000500000 seconds at 2000.00 MB/s with a buffer of 4096 bytes\n\
                      Received 1000000 bytes in 0.000500000 seconds at 2000.00 MB/s with a buffer of 4096 bytes\n";
        assert_eq!(peer_lines(1_000_000, 500_000, 4096), wanted);
    }
}
