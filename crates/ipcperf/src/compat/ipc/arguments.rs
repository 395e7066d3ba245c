//! Arguments that both editions accept.

use clap::builder::PossibleValue;
use clap::{Arg, ArgMatches, Command};
use ipcperf_model::message_options::{FirstTouch, MessageOptions};
use ipcperf_model::placement::Placement;
use ipcperf_model::{KernelBuffer, Mode, PhasePause, RunSpec};
use ipcperf_observe::counters::{EventSet, find_set};

use crate::compat::Invocation;
use crate::compat::getopt::{
    command, flag, flag_with_value, has_flag, is_operand_last, parse, parse_positive,
    positive_flag, positive_value, usage,
};
use crate::compat::program_exit::{EX_USAGE, ProgramExit};
use crate::compat::program_runner::{self, cpus, repeats};

/// Defaults: bytes per call, and bytes in total.
const BUFFER_BYTES: u64 = 128 << 10;
const TOTAL_BYTES: u64 = 16 << 20;
/// Default TCP port.
const PORT: u16 = 10_141;

/// Values of `-i` in the original, and the mechanism of each.
const TYPES: [(&str, &str); 3] = [("pipe", "pipe"), ("local", "unix-stream"), ("tcp", "tcp")];

/// Differences between the editions.
#[derive(Debug)]
pub(super) struct Edition {
    /// Usage line, after the name of the program.
    pub(super) usage: &'static str,
    /// Modes in addition to those of a run.
    pub(super) extra_modes: &'static [&'static str],
    /// Sets of counters.
    pub(super) counter_sets: &'static [&'static str],
    /// When buffers are first touched.
    pub(super) first_touch: FirstTouch,
    /// Additional flags.
    pub(super) flags: fn() -> Vec<Arg>,
}

impl Edition {
    /// Returns the command-line parser of the program `name` in this edition.
    pub(super) fn command(&self, name: &str) -> Command {
        let modes =
            Mode::INHERITED.iter().map(|mode| mode.name()).chain(self.extra_modes.iter().copied());
        let modes: Vec<&'static str> = modes.collect();
        command(name, self.usage)
            .args([
                flag("B", "Skip preparations: no flush of file systems, no pauses"),
                positive_flag("b", "buffersize", "Bytes per call [131072]"),
                flag_with_value("i", "type", "Mechanism [pipe]")
                    .value_parser(TYPES.map(|(word, _)| word)),
                flag_with_value("p", "tcp_port", "TCP port to listen on [10141]")
                    .value_parser(port),
                flag_with_value("P", "set", "Count events of the processor").value_parser(
                    self.counter_sets.iter().map(|word| with_aliases(word)).collect::<Vec<_>>(),
                ),
                flag("q", "Print nothing"),
                flag("s", "Set the socket buffers to the buffer size of the calls"),
                positive_flag(
                    "t",
                    "totalsize",
                    "Total bytes, a multiple of the buffer size \
                    [16777216]",
                ),
                flag("v", "Also print the configuration"),
                Arg::new(MODE).value_name("mode").required(true).value_parser(modes),
            ])
            .args((self.flags)())
    }

    /// Parses the arguments of a program of this edition.
    ///
    /// # Errors
    /// Returns the usage text if the usage is wrong.
    pub(super) fn parse(&self, call: &Invocation<'_>) -> Result<IpcArguments, ProgramExit> {
        let command = self.command(call.name);
        let is_in_order = is_operand_last(&command, call.arguments);
        let arguments = IpcArguments {
            matches: parse(command, call, EX_USAGE)?,
            first_touch: self.first_touch,
        };
        if !is_in_order || (has_flag(&arguments.matches, "s") && arguments.ipc_type() == "pipe") {
            return Err(ProgramExit::wrong_usage(EX_USAGE, usage(self.command(call.name))));
        }
        arguments.check_total(call.name)?;
        Ok(arguments)
    }
}

const MODE: &str = "mode";

/// Returns the set `text` with its aliases.
fn with_aliases(word: &'static str) -> PossibleValue {
    PossibleValue::new(word).aliases(find_set(word).map_or(&[][..], |set| set.aliases))
}

fn port(text: &str) -> Result<u16, String> {
    let number = parse_positive(text)?.get();
    number.try_into().map_err(|_| format!("{number} is not a port; the maximum is 65535"))
}

/// Parsed arguments.
#[derive(Debug)]
pub(super) struct IpcArguments {
    pub(super) matches: ArgMatches,
    first_touch: FirstTouch,
}

impl IpcArguments {
    fn text(&self, name: &str) -> Option<&str> {
        self.matches.get_one::<String>(name).map(String::as_str)
    }

    /// Value of `-i`.
    pub(super) fn ipc_type(&self) -> &str {
        self.text("i").unwrap_or(TYPES[0].0)
    }

    /// Word for the mode.
    pub(super) fn mode(&self) -> &str {
        self.text(MODE).unwrap_or_default()
    }

    pub(super) fn buffer_bytes(&self) -> u64 {
        positive_value(&self.matches, "b").unwrap_or(BUFFER_BYTES)
    }

    pub(super) fn total_bytes(&self) -> u64 {
        positive_value(&self.matches, "t").unwrap_or(TOTAL_BYTES)
    }

    /// Number of calls of the sender, if none is short.
    pub(super) fn block_count(&self) -> u64 {
        self.total_bytes() / self.buffer_bytes()
    }

    /// Requested set of counters.
    pub(super) fn set(&self) -> Option<&'static EventSet> {
        find_set(self.text("P")?)
    }

    fn check_total(&self, name: &str) -> Result<(), ProgramExit> {
        let (total, buffer) = (self.total_bytes(), self.buffer_bytes());
        if total.is_multiple_of(buffer) {
            return Ok(());
        }
        let words =
            format!("{name}: FAIL: data size ({total}) is not a multiple of buffersize ({buffer})");
        Err(ProgramExit::wrong_usage(EX_USAGE, words))
    }

    /// Returns the requested run, with `iterations` iterations.
    ///
    /// # Errors
    /// Fails if this process may not use any CPU.
    pub(super) fn spec(&self, iterations: u32) -> Result<RunSpec, ProgramExit> {
        let ipc_type = self.ipc_type();
        let mechanism =
            TYPES.iter().find(|(word, _)| *word == ipc_type).map_or("pipe", |one| one.1);
        let rest = if has_flag(&self.matches, "B") { PhasePause::None } else { PhasePause::Settle };
        let kernel_buffer = match has_flag(&self.matches, "s") {
            true => KernelBuffer::Plain(self.buffer_bytes()),
            false => KernelBuffer::Default,
        };
        let spec = RunSpec {
            mode: self.engine_mode(),
            cpus: cpus(Placement::Same)?,
            total_bytes: Some(self.total_bytes()),
            kernel_buffer,
            message_options: MessageOptions {
                first_touch: self.first_touch,
                ..MessageOptions::default()
            },
            repeats: repeats(iterations, rest),
            ..RunSpec::with_defaults(mechanism, self.buffer_bytes())
        };
        if ipc_type != "tcp" {
            return Ok(spec);
        }
        let port = self.matches.get_one::<u16>("p").copied().unwrap_or(PORT).to_string();
        Ok(program_runner::with_options(spec, &[("nodelay", "off"), ("port", &port)]))
    }

    fn engine_mode(&self) -> Mode {
        let mode = self.mode();
        Mode::INHERITED.into_iter().find(|known| known.name() == mode).unwrap_or(Mode::OneThread)
    }
}
