//! `pipesend`, `udsocketsend`, `tcpsocketsend`: the utilities of Wright, Gopalan and Kang.

use std::ffi::OsString;
use std::fs::{File, OpenOptions, remove_file};
use std::io::Write as _;
use std::path::PathBuf;

use clap::{Arg, Command, value_parser};
use ipcperf_model::{Mode, Rest, RunSpec};

use super::carried::{Carrier, repeats, with_options};
use super::ended::{Ended, FAILED};
use super::typed::{amount, command, number, parse, usage as usage_of};
use super::{Call, Program, say};

/// The three programs.
pub(super) const PROGRAM: Program = Program {
    names: &["pipesend", "udsocketsend", "tcpsocketsend"],
    about: "an amount sent to a forked child, told by both parties and logged (Wright, Gopalan and Kang)",
    differs: &[
        "Both parties tell one time, from just before the first byte is sent to just after the last is \
         received: a sender that stops its clock at its last write leaves out what still lies in the kernel.",
        "A buffer of which nothing is said is as large as the amount.",
        "Repetitions run in one pair of processes.",
    ],
    usage,
    run,
};

const USAGE: &str = "bytes_to_send [buffer_size [repetitions [logname_append]]]";

fn usage(name: &str) -> String {
    usage_of(takes(name))
}

fn takes(name: &str) -> Command {
    command(name, USAGE).args([
        amount("bytes_to_send", "Bytes in all").required(true),
        amount("buffer_size", "Bytes of one write [all]"),
        amount("repetitions", "How often they are sent [1]"),
        Arg::new("logname_append")
            .value_name("logname_append")
            .value_parser(value_parser!(OsString))
            .allow_hyphen_values(true)
            .help("Between the program's name and .log in the name of its log"),
    ])
}

fn run(call: &Call<'_>) -> Result<(), Ended> {
    let typed = parse(takes(call.name), call, FAILED)?;
    let total_bytes = number(&typed, "bytes_to_send").unwrap_or(1);
    let buffer_bytes = number(&typed, "buffer_size").unwrap_or(total_bytes);
    let count: u32 = number(&typed, "repetitions").unwrap_or(1).try_into().unwrap_or(u32::MAX);
    let spec = RunSpec {
        mode: Mode::TwoProcesses,
        total_bytes: Some(total_bytes),
        repeats: repeats(count, Rest::None),
        ..sent_through(call.name, buffer_bytes.min(total_bytes))
    };
    let failed = Ended::into_failed;
    // Reports a log that cannot be written before the measurement.
    let mut log = Log::open(call.name, typed.get_one("logname_append")).map_err(failed)?;
    let measured =
        Carrier::ready(call.name).and_then(|mut carrier| carrier.measure(&spec)).map_err(failed)?;
    let lines = measured.repeats.iter().map(|one| told(total_bytes, one.elapsed_ns, buffer_bytes));
    let lines: String = lines.collect();
    let logged = log.add(&lines).map_err(|error| not_logged(call.name, &error));
    say(&lines).and(logged).map_err(failed)
}

fn sent_through(name: &str, buffer_bytes: u64) -> RunSpec {
    match name {
        "pipesend" => RunSpec::usual("pipe", buffer_bytes),
        "udsocketsend" => RunSpec::usual("unix-stream", buffer_bytes),
        _ => with_options(RunSpec::usual("tcp", buffer_bytes), &[("nodelay", "off")]),
    }
}

/// Returns the lines of both peers.
#[allow(
    clippy::cast_precision_loss,
    reason = "a rate, two digits behind the point of which are printed"
)]
fn told(total_bytes: u64, elapsed_ns: u64, buffer_bytes: u64) -> String {
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
    fn open(name: &str, append: Option<&OsString>) -> Result<Self, Ended> {
        let mut path = OsString::from(name);
        path.extend(append.map(OsString::as_os_str));
        path.push(".log");
        let opened = OpenOptions::new().create(true).append(true).open(&path);
        let file = opened.map_err(|error| not_logged(name, &error))?;
        Ok(Self { path: path.into(), file })
    }

    fn add(&mut self, lines: &str) -> std::io::Result<()> {
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

fn not_logged(name: &str, error: &std::io::Error) -> Ended {
    Ended::because(&format!("{name}: cannot write its log here: {error}; go where you may write"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_parties_tell_amount_time_rate_and_buffer() {
        let wanted = "Sent 1000000 bytes in 0.000500000 seconds at 2000.00 MB/s with a buffer of 4096 bytes\n\
                      Received 1000000 bytes in 0.000500000 seconds at 2000.00 MB/s with a buffer of 4096 bytes\n";
        assert_eq!(told(1_000_000, 500_000, 4096), wanted);
    }
}
