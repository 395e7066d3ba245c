//! Arguments that both editions accept.

use clap::builder::PossibleValue;
use clap::{Arg, ArgMatches, Command};
use ipcperf_model::message_options::{FirstTouch, Handling};
use ipcperf_model::placement::Placement;
use ipcperf_model::{KernelBuffer, Mode, Rest, RunSpec};
use ipcperf_observe::counters::{Set, set};

use crate::dropin::Call;
use crate::dropin::carried::{self, cpus, repeats};
use crate::dropin::ended::{EX_USAGE, Ended};
use crate::dropin::typed::{
    command, count, ends_in_its_operand, flag, has, number, parse, positive, usage, value,
};

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
    pub(super) words: &'static [&'static str],
    /// Sets of counters.
    pub(super) sets: &'static [&'static str],
    /// When buffers are first touched.
    pub(super) first_touch: FirstTouch,
    /// Additional flags.
    pub(super) flags: fn() -> Vec<Arg>,
}

impl Edition {
    /// Returns the command-line parser of the program `name` in this edition.
    pub(super) fn command(&self, name: &str) -> Command {
        let modes = Mode::ALL.iter().map(|mode| mode.name()).chain(self.words.iter().copied());
        let modes: Vec<&'static str> = modes.collect();
        command(name, self.usage)
            .args([
                flag("B", "No preparations: neither a flush of file systems nor pauses"),
                count("b", "buffersize", "Bytes of one call [131072]"),
                value("i", "type", "What it goes through [pipe]")
                    .value_parser(TYPES.map(|(word, _)| word)),
                value("p", "tcp_port", "Where TCP listens [10141]").value_parser(port),
                value("P", "set", "Count what the processor counts").value_parser(
                    self.sets.iter().map(|word| with_aliases(word)).collect::<Vec<_>>(),
                ),
                flag("q", "Print nothing"),
                flag("s", "Have the socket's buffers as large as those of the calls"),
                count("t", "totalsize", "Bytes in all, a multiple of the former [16777216]"),
                flag("v", "Print how it was measured, too"),
                Arg::new(MODE).value_name("mode").required(true).value_parser(modes),
            ])
            .args((self.flags)())
    }

    /// Parses the arguments of a program of this edition.
    ///
    /// # Errors
    /// Returns the usage text if the usage is wrong.
    pub(super) fn asked(&self, call: &Call<'_>) -> Result<Asked, Ended> {
        let command = self.command(call.name);
        let is_in_order = ends_in_its_operand(&command, call.arguments);
        let asked = Asked { typed: parse(command, call, EX_USAGE)?, first_touch: self.first_touch };
        if !is_in_order || (has(&asked.typed, "s") && asked.ipc_type() == "pipe") {
            return Err(Ended::wrong_usage(EX_USAGE, usage(self.command(call.name))));
        }
        asked.check_total(call.name)?;
        Ok(asked)
    }
}

const MODE: &str = "mode";

/// Returns the set `word` with its aliases.
fn with_aliases(word: &'static str) -> PossibleValue {
    PossibleValue::new(word).aliases(set(word).map_or(&[][..], |set| set.aliases))
}

fn port(text: &str) -> Result<u16, String> {
    let number = positive(text)?.get();
    number.try_into().map_err(|_| format!("there is no port {number}"))
}

/// Parsed arguments.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) typed: ArgMatches,
    first_touch: FirstTouch,
}

impl Asked {
    fn word(&self, name: &str) -> Option<&str> {
        self.typed.get_one::<String>(name).map(String::as_str)
    }

    /// Value of `-i`.
    pub(super) fn ipc_type(&self) -> &str {
        self.word("i").unwrap_or(TYPES[0].0)
    }

    /// Word for the mode.
    pub(super) fn mode(&self) -> &str {
        self.word(MODE).unwrap_or_default()
    }

    pub(super) fn buffer_bytes(&self) -> u64 {
        number(&self.typed, "b").unwrap_or(BUFFER_BYTES)
    }

    pub(super) fn total_bytes(&self) -> u64 {
        number(&self.typed, "t").unwrap_or(TOTAL_BYTES)
    }

    /// Number of calls of the sender, if none is short.
    pub(super) fn blocks(&self) -> u64 {
        self.total_bytes() / self.buffer_bytes()
    }

    /// Requested set of counters.
    pub(super) fn set(&self) -> Option<&'static Set> {
        set(self.word("P")?)
    }

    fn check_total(&self, name: &str) -> Result<(), Ended> {
        let (total, buffer) = (self.total_bytes(), self.buffer_bytes());
        if total.is_multiple_of(buffer) {
            return Ok(());
        }
        let words =
            format!("{name}: FAIL: data size ({total}) is not a multiple of buffersize ({buffer})");
        Err(Ended::wrong_usage(EX_USAGE, words))
    }

    /// Returns the requested run, with `iterations` iterations.
    ///
    /// # Errors
    /// Fails if this process may not use any CPU.
    pub(super) fn spec(&self, iterations: u32) -> Result<RunSpec, Ended> {
        let ipc_type = self.ipc_type();
        let mechanism =
            TYPES.iter().find(|(word, _)| *word == ipc_type).map_or("pipe", |one| one.1);
        let rest = if has(&self.typed, "B") { Rest::None } else { Rest::Settle };
        let kernel_buffer = match has(&self.typed, "s") {
            true => KernelBuffer::Plain(self.buffer_bytes()),
            false => KernelBuffer::Default,
        };
        let spec = RunSpec {
            mode: self.engine_mode(),
            cpus: cpus(Placement::Same)?,
            total_bytes: Some(self.total_bytes()),
            kernel_buffer,
            handling: Handling { first_touch: self.first_touch, ..Handling::default() },
            repeats: repeats(iterations, rest),
            ..RunSpec::usual(mechanism, self.buffer_bytes())
        };
        if ipc_type != "tcp" {
            return Ok(spec);
        }
        let port = self.typed.get_one::<u16>("p").copied().unwrap_or(PORT).to_string();
        Ok(carried::with_options(spec, &[("nodelay", "off"), ("port", &port)]))
    }

    fn engine_mode(&self) -> Mode {
        let mode = self.mode();
        Mode::ALL.into_iter().find(|known| known.name() == mode).unwrap_or(Mode::OneThread)
    }
}
