//! `ibench`, `kdbench` (S. Westerfeld) and `bus-benchmark chart` (systemd), which report calls answered per second.

use clap::{Arg, ArgAction, ArgMatches, Command};
use ipcperf_model::message_options::Reply;
use ipcperf_model::placement::Placement;
use ipcperf_model::{Rest, RunSpec};

use super::carried::{Carrier, cpus, repeats, with_options, with_reply};
use super::ended::{Ended, FAILED};
use super::typed::{command, parse, usage as usage_of};
use super::{Call, Program, say};

/// Number of phases, of some 20 ms each, in one rate.
const PHASES: u32 = 5;
/// Sizes in the tables, as powers of two: 1 B to 4 MiB.
const POWERS: std::ops::RangeInclusive<u32> = 0..=22;
/// Size of a reply without `--echo`, in bytes.
const REPLY_BYTES: u64 = 8;

/// Parts of the output, with the placement of client and server.
const PARTS: [(&str, Placement); 2] =
    [("single cpu", Placement::Same), ("dual cpu", Placement::Split)];

const SMALL_REPLY: &str =
    "The answer has 8 bytes, as in our study of the document; `--echo` brings the payload back.";
const SHORT: &str = "A rate is of five phases of some 20 ms each in one pair of processes.";

/// Calls through pipes.
pub(super) const IBENCH: Program = Program {
    names: &["ibench"],
    about: "calls through two pipes a second, waiting in poll (S. Westerfeld)",
    differs: &[SMALL_REPLY, SHORT, "What was a `#define` is `--socketpair`."],
    usage: |name| usage_of(takes_pipe(name)),
    run: ibench,
};

/// Calls through the transport of a bus, without the bus.
pub(super) const KDBENCH: Program = Program {
    names: &["kdbench"],
    about: "calls through the bare transport of a bus a second, copied or by memfd (S. Westerfeld)",
    differs: &[
        "kdbus is no longer in any kernel: a pool in shared memory and sealed, reused memfds stand for it, \
         `bus-copy` and `bus-memfd`.",
        SMALL_REPLY,
        SHORT,
    ],
    usage: |name| usage_of(takes_bus(name)),
    run: kdbench,
};

/// Calls through D-Bus.
pub(super) const BUS_BENCHMARK: Program = Program {
    names: &["bus-benchmark"],
    about: "calls through D-Bus a second, copied or by memfd (systemd's test-bus-kernel-benchmark)",
    differs: &[
        "The bus is a D-Bus daemon of its own, not kdbus: under KDBUS-MAX stands the larger of the two.",
        "Of its modes there is `chart`.",
        SMALL_REPLY,
        SHORT,
    ],
    usage: |name| usage_of(takes_chart(name)),
    run: bus_benchmark,
};

const SOCKETPAIR: (&str, &str) = ("socketpair", "Through a pair of local sockets instead");
const ECHO: (&str, &str) = ("echo", "Answer each call with its payload");

fn takes_flags(name: &str, usage: &str, flags: &[(&'static str, &'static str)]) -> Command {
    let flags = flags
        .iter()
        .map(|(flag, help)| Arg::new(*flag).long(*flag).action(ArgAction::SetTrue).help(*help));
    command(name, usage).args(flags)
}

fn takes_pipe(name: &str) -> Command {
    takes_flags(name, "[--socketpair] [--echo]", &[SOCKETPAIR, ECHO])
}

fn takes_bus(name: &str) -> Command {
    takes_flags(name, "[--echo]", &[ECHO])
}

fn takes_chart(name: &str) -> Command {
    takes_flags(name, "chart [--echo]", &[ECHO])
        .arg(Arg::new("chart").value_name("chart").required(true).value_parser(["chart"]))
}

fn reply(typed: &ArgMatches) -> Reply {
    if typed.get_flag(ECHO.0) { Reply::Echo } else { Reply::Bytes(REPLY_BYTES) }
}

fn ibench(call: &Call<'_>) -> Result<(), Ended> {
    let typed = parse(takes_pipe(call.name), call, FAILED)?;
    let mechanism = if typed.get_flag(SOCKETPAIR.0) { "unix-stream" } else { "pipe" };
    let column = Column { heading: "IBENCH", mechanism, options: &[("wait", "poll")] };
    Chart { columns: &[column], larger: None, reply: reply(&typed) }
        .print(call.name)
        .map_err(Ended::into_failed)
}

fn kdbench(call: &Call<'_>) -> Result<(), Ended> {
    let typed = parse(takes_bus(call.name), call, FAILED)?;
    let columns = [
        Column { heading: "COPY", mechanism: "bus-copy", options: &[("metadata", "timestamp")] },
        Column {
            heading: "MEMFD",
            mechanism: "bus-memfd",
            options: &[("metadata", "timestamp"), ("memfd", "reused")],
        },
    ];
    Chart { columns: &columns, larger: Some("KDBUS-MAX"), reply: reply(&typed) }
        .print(call.name)
        .map_err(Ended::into_failed)
}

fn bus_benchmark(call: &Call<'_>) -> Result<(), Ended> {
    let typed = parse(takes_chart(call.name), call, FAILED)?;
    let columns = [
        Column { heading: "COPY", mechanism: "dbus-copy", options: &[("via", "daemon")] },
        Column { heading: "MEMFD", mechanism: "dbus-memfd", options: &[("via", "daemon")] },
    ];
    Chart { columns: &columns, larger: Some("KDBUS-MAX"), reply: reply(&typed) }
        .print(call.name)
        .map_err(Ended::into_failed)
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
            repeats: repeats(PHASES, Rest::None),
            ..RunSpec::usual(self.mechanism, buffer_bytes)
        };
        with_reply(with_options(spec, self.options), reply)
    }
}

/// Two tables: one for a single CPU, one for two CPUs.
#[derive(Debug)]
struct Chart<'a> {
    columns: &'a [Column],
    /// Heading of an additional column for the maximum of the others.
    larger: Option<&'static str>,
    reply: Reply,
}

impl Chart<'_> {
    fn print(&self, name: &str) -> Result<(), Ended> {
        let mut carrier = Carrier::ready(name)?;
        for (part, placement) in PARTS {
            let cpus = cpus(placement).map_err(|ended| {
                Ended::because(&format!("{name}: no {part} performance: {}", ended.words))
            })?;
            say(&format!("*** {part} performance:\n\n{}\n\n", self.headings()))?;
            for power in POWERS {
                say(&self.row(&mut carrier, 1 << power, cpus)?)?;
            }
            say("")?;
        }
        Ok(())
    }

    /// The column widths are those of the original mailing-list post.
    fn headings(&self) -> String {
        let columns = self.columns.iter().map(|column| column.heading).chain(self.larger);
        columns.fold(format!("{:>7}", "SIZE"), |line, heading| line + &in_column(heading, heading))
    }

    fn row(
        &self,
        carrier: &mut Carrier<'_>,
        buffer_bytes: u64,
        cpus: Option<[u32; 2]>,
    ) -> Result<String, Ended> {
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
        let headings = self.columns.iter().map(|column| column.heading).chain(self.larger);
        let larger = rates.iter().max().copied();
        let figures = rates.iter().copied().chain(larger);
        headings.zip(figures).fold(format!("{buffer_bytes:>7}"), |line, (heading, figure)| {
            line + &in_column(heading, &figure.to_string())
        })
    }
}

/// Aligns `text` in the column of `heading`, which is at least as wide as the original's columns of six digits.
fn in_column(heading: &str, text: &str) -> String {
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
        let chart = Chart { columns: &columns, larger: Some("KDBUS-MAX"), reply };
        assert_eq!(chart.headings(), "   SIZE    COPY   MEMFD KDBUS-MAX");
        assert_eq!(chart.line(1, &[136_586, 54_022]), "      1  136586   54022    136586");
        let chart = Chart { columns: &[column("IBENCH")], larger: None, reply };
        assert_eq!(chart.headings(), "   SIZE  IBENCH");
        assert_eq!(chart.line(4096, &[154_953]), "   4096  154953");
    }
}
