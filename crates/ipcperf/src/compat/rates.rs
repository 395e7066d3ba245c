//! `ibench`, `kdbench` (S. Westerfeld) and `bus-benchmark chart` (systemd), which report calls answered per second.

use clap::{Arg, ArgAction, ArgMatches, Command};
use ipcperf_model::message_options::Reply;
use ipcperf_model::placement::Placement;
use ipcperf_model::{PhasePause, RunSpec};

use super::getopt::{command, parse, usage as usage_of};
use super::program_exit::{EXIT_FAILURE, ProgramExit};
use super::program_runner::{ProgramRunner, cpus, repeats, with_options, with_reply};
use super::{Invocation, Program, print_line};

/// Number of phases, of some 20 ms each, in one rate.
const PHASES: u32 = 5;
/// Sizes in the tables, as powers of two: 1 B to 4 MiB.
const POWERS: std::ops::RangeInclusive<u32> = 0..=22;
/// Size of a reply without `--echo`, in bytes.
const REPLY_BYTES: u64 = 8;

/// Parts of the output, with the placement of client and server.
const PARTS: [(&str, Placement); 2] =
    [("single cpu", Placement::Same), ("dual cpu", Placement::Split)];

const SMALL_REPLY: &str = "The reply to each call has 8 bytes, as in most cases of the bundled \
    study `westerfeld-2014`. With `--echo`, the payload of the call is sent back as the reply.";
const SHORT: &str = "Each printed rate (calls per second) is measured in five phases of about 20 ms each, in one \
    pair of processes.";

/// Calls through pipes.
pub(super) const IBENCH: Program = Program {
    names: &["ibench"],
    about: "calls per second through two pipes, with poll (S. Westerfeld)",
    differences: &[
        SMALL_REPLY,
        SHORT,
        "The option `--socketpair` replaces a `#define` in the source of the original. To change the `#define`, \
            the original had to be compiled again.",
    ],
    usage: |name| usage_of(pipe_parser(name)),
    run: ibench,
};

/// Calls through the transport of a bus, without the bus.
pub(super) const KDBENCH: Program = Program {
    names: &["kdbench"],
    about: "calls per second through the transport of a message bus, without the bus itself; \
        payload copied or in a memfd (S. Westerfeld)",
    differences: &[
        "The original measures kdbus, which was never merged into Linux. Here, the mechanisms \
            `bus-copy` (a pool in shared memory) and `bus-memfd` (sealed, reused memfds) replace \
            kdbus.",
        SMALL_REPLY,
        SHORT,
    ],
    usage: |name| usage_of(bus_parser(name)),
    run: kdbench,
};

/// Calls through D-Bus.
pub(super) const BUS_BENCHMARK: Program = Program {
    names: &["bus-benchmark"],
    about: "calls per second through D-Bus; payload copied or in a memfd (systemd's \
        test-bus-kernel-benchmark)",
    differences: &[
        "The bus is a private D-Bus daemon, not kdbus. The column KDBUS-MAX shows the larger of the rates in the \
            columns COPY and MEMFD.",
        "Only the mode `chart` is supported.",
        SMALL_REPLY,
        SHORT,
    ],
    usage: |name| usage_of(chart_parser(name)),
    run: bus_benchmark,
};

const SOCKETPAIR: (&str, &str) = ("socketpair", "Use a pair of local sockets instead of pipes");
const ECHO: (&str, &str) = ("echo", "Answer each call with its payload");

fn flags_parser(name: &str, usage: &str, flags: &[(&'static str, &'static str)]) -> Command {
    let flags = flags
        .iter()
        .map(|(flag, help)| Arg::new(*flag).long(*flag).action(ArgAction::SetTrue).help(*help));
    command(name, usage).args(flags)
}

fn pipe_parser(name: &str) -> Command {
    flags_parser(name, "[--socketpair] [--echo]", &[SOCKETPAIR, ECHO])
}

fn bus_parser(name: &str) -> Command {
    flags_parser(name, "[--echo]", &[ECHO])
}

fn chart_parser(name: &str) -> Command {
    flags_parser(name, "chart [--echo]", &[ECHO])
        .arg(Arg::new("chart").value_name("chart").required(true).value_parser(["chart"]))
}

fn reply(typed: &ArgMatches) -> Reply {
    if typed.get_flag(ECHO.0) { Reply::Echo } else { Reply::Bytes(REPLY_BYTES) }
}

fn ibench(call: &Invocation<'_>) -> Result<(), ProgramExit> {
    let typed = parse(pipe_parser(call.name), call, EXIT_FAILURE)?;
    let mechanism = if typed.get_flag(SOCKETPAIR.0) { "unix-stream" } else { "pipe" };
    let column = Column { heading: "IBENCH", mechanism, options: &[("wait", "poll")] };
    Chart { columns: &[column], max_heading: None, reply: reply(&typed) }
        .print(call.name)
        .map_err(ProgramExit::into_failed)
}

fn kdbench(call: &Invocation<'_>) -> Result<(), ProgramExit> {
    let typed = parse(bus_parser(call.name), call, EXIT_FAILURE)?;
    let columns = [
        Column { heading: "COPY", mechanism: "bus-copy", options: &[("metadata", "timestamp")] },
        Column {
            heading: "MEMFD",
            mechanism: "bus-memfd",
            options: &[("metadata", "timestamp"), ("memfd", "reused")],
        },
    ];
    Chart { columns: &columns, max_heading: Some("KDBUS-MAX"), reply: reply(&typed) }
        .print(call.name)
        .map_err(ProgramExit::into_failed)
}

fn bus_benchmark(call: &Invocation<'_>) -> Result<(), ProgramExit> {
    let typed = parse(chart_parser(call.name), call, EXIT_FAILURE)?;
    let columns = [
        Column { heading: "COPY", mechanism: "dbus-copy", options: &[("via", "daemon")] },
        Column { heading: "MEMFD", mechanism: "dbus-memfd", options: &[("via", "daemon")] },
    ];
    Chart { columns: &columns, max_heading: Some("KDBUS-MAX"), reply: reply(&typed) }
        .print(call.name)
        .map_err(ProgramExit::into_failed)
}

/// A column of a table: the mechanism that it measures.
#[derive(Clone, Copy, Debug)]
struct Column {
    heading: &'static str,
    mechanism: &'static str,
    options: &'static [(&'static str, &'static str)],
}

impl Column {
    /// Returns a run of calls of `buffer_bytes` bytes, each answered by `reply`.
    fn spec(&self, buffer_bytes: u64, reply: Reply, cpus: Option<[u32; 2]>) -> RunSpec {
        let spec = RunSpec {
            cpus,
            repeats: repeats(PHASES, PhasePause::None),
            ..RunSpec::with_defaults(self.mechanism, buffer_bytes)
        };
        with_reply(with_options(spec, self.options), reply)
    }
}

/// Two tables: one for a single CPU, one for two CPUs.
#[derive(Debug)]
struct Chart<'a> {
    columns: &'a [Column],
    /// Heading of an additional column for the maximum of the others.
    max_heading: Option<&'static str>,
    reply: Reply,
}

impl Chart<'_> {
    fn print(&self, name: &str) -> Result<(), ProgramExit> {
        let mut carrier = ProgramRunner::new(name)?;
        for (part, placement) in PARTS {
            let cpus = cpus(placement).map_err(|ended| {
                ProgramExit::os_error(&format!(
                    "{name}: cannot measure the {part} performance: {}",
                    ended.message
                ))
            })?;
            print_line(&format!("*** {part} performance:\n\n{}\n\n", self.headings()))?;
            for power in POWERS {
                print_line(&self.row(&mut carrier, 1 << power, cpus)?)?;
            }
            print_line("")?;
        }
        Ok(())
    }

    /// The column widths are those of the original mailing-list post.
    fn headings(&self) -> String {
        let columns = self.columns.iter().map(|column| column.heading).chain(self.max_heading);
        columns.fold(format!("{:>7}", "SIZE"), |line, heading| line + &align(heading, heading))
    }

    fn row(
        &self,
        carrier: &mut ProgramRunner<'_>,
        buffer_bytes: u64,
        cpus: Option<[u32; 2]>,
    ) -> Result<String, ProgramExit> {
        let mut rates = Vec::new();
        for column in self.columns {
            let spec = column.spec(buffer_bytes, self.reply, cpus);
            let measured = carrier.measure(&spec)?;
            let all = measured.repeats.iter();
            let (calls, ns) = all.fold((0, 0), |(calls, ns), one| {
                (calls + u128::from(one.messages), ns + u128::from(one.elapsed_ns))
            });
            rates.push(calls * 1_000_000_000 / ns.max(1));
        }
        Ok(self.line(buffer_bytes, &rates))
    }

    fn line(&self, buffer_bytes: u64, rates: &[u128]) -> String {
        let headings = self.columns.iter().map(|column| column.heading).chain(self.max_heading);
        let larger = rates.iter().max().copied();
        let figures = rates.iter().copied().chain(larger);
        headings.zip(figures).fold(format!("{buffer_bytes:>7}"), |line, (heading, figure)| {
            line + &align(heading, &figure.to_string())
        })
    }
}

/// Aligns `text` in the column of `heading`, which is at least as wide as the original's columns of six digits.
fn align(heading: &str, text: &str) -> String {
    let width = heading.len().max(7) + 1;
    format!("{text:>width$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_and_figures_stand_as_in_the_posting() {
        let column = |heading| Column { heading, mechanism: "null", options: &[] };
        let columns = [column("COPY"), column("MEMFD")];
        let reply = Reply::Bytes(8);
        let chart = Chart { columns: &columns, max_heading: Some("KDBUS-MAX"), reply };
        assert_eq!(chart.headings(), "   SIZE    COPY   MEMFD KDBUS-MAX");
        assert_eq!(chart.line(1, &[136_586, 54_022]), "      1  136586   54022    136586");
        let chart = Chart { columns: &[column("IBENCH")], max_heading: None, reply };
        assert_eq!(chart.headings(), "   SIZE  IBENCH");
        assert_eq!(chart.line(4096, &[154_953]), "   4096  154953");
    }
}
