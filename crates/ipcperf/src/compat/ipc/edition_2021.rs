//! The edition of autumn 2021 to October 2023: iterations, getrusage(2), and output as text, JSON or XML.

use clap::Arg;
use ipcperf_model::message_options::FirstTouch;
use ipcperf_model::{MeasuredPhase, Role, RoleUsage};

use super::arguments::{Edition, IpcArguments};
use super::configuration::Configuration;
use super::counting::{Counts, run_with_counters};
use super::datum::{Field, Fields, kilobytes_per_second};
use super::emitter::Emitter;
use super::style::Style;
use crate::compat::getopt::{flag, has_flag, positive_flag, positive_value, usage as usage_of};
use crate::compat::program_exit::ProgramExit;
use crate::compat::program_runner::{MAX_PHASES, ProgramRunner};
use crate::compat::{Invocation, print_text};

const EDITION: Edition = Edition {
    usage: "[--libxo=text|json|xml[,pretty]] [-Bgjqsv] [-b buffersize] [-i pipe|local|tcp] [-n iterations] \
        [-p tcp_port] [-P none|arch|dcache|instr|tlbmem] [-t totalsize] 1thread|2thread|2proc|describe",
    extra_modes: &[DESCRIBE],
    counter_sets: &["none", "arch", "dcache", "instr", "tlbmem"],
    first_touch: FirstTouch::AfterFork,
    flags: || {
        vec![
            flag("g", "Print the counts of getrusage(2)").short_alias('r'),
            flag("j", "Print JSON, one line per value"),
            positive_flag(
                "n",
                "iterations",
                "Number of iterations; without -P, in one pair of peers [1]",
            ),
            // For the usage text only: it is removed before the arguments are parsed.
            Arg::new("libxo")
                .long("libxo")
                .value_name("options")
                .help("Print text, JSON or XML [text]"),
        ]
    },
};

/// The mode that measures nothing and prints the configuration.
const DESCRIBE: &str = "describe";

/// Returns the usage text of the program `name`.
pub(super) fn usage(name: &str) -> String {
    usage_of(EDITION.command(name))
}

/// Measures the requested number of times, or describes the machine.
pub(super) fn run(call: &Invocation<'_>) -> Result<(), ProgramExit> {
    let (style, arguments) = Style::extract(call)?;
    let parsed = EDITION.parse(&Invocation { name: call.name, arguments: &arguments })?;
    let iterations = positive_value(&parsed.matches, "n").unwrap_or(1);
    let is_described = parsed.mode() == DESCRIBE;
    let mut emitter =
        Emitter::new(if has_flag(&parsed.matches, "j") { Style::JSON } else { style });
    if is_described || has_flag(&parsed.matches, "v") {
        Configuration::new(&parsed, iterations).emit(&mut emitter);
    }
    if !is_described {
        emitter.open_list("benchmark_samples");
        let each = |samples: &[Fields]| {
            samples.iter().for_each(|datum| emitter.instance("datum", datum));
            print_unless_quiet(&parsed, &emitter.take())
        };
        samples(call.name, &parsed, iterations, each)?;
        emitter.close_list();
    }
    print_unless_quiet(&parsed, &emitter.finish())
}

fn print_unless_quiet(parsed: &IpcArguments, piece: &str) -> Result<(), ProgramExit> {
    if has_flag(&parsed.matches, "q") { Ok(()) } else { print_text(piece) }
}

/// Calls `each` with the results of each pair of peers as it ends.
fn samples(
    name: &str,
    parsed: &IpcArguments,
    iterations: u64,
    mut each: impl FnMut(&[Fields]) -> Result<(), ProgramExit>,
) -> Result<(), ProgramExit> {
    let mut carrier = ProgramRunner::new(name)?;
    let Some(set) = parsed.set() else {
        return batches(iterations).try_for_each(|count| {
            let measured = carrier.measure(&parsed.spec(count)?)?;
            let datum = |repeat: &MeasuredPhase| datum(parsed, repeat, None);
            each(&measured.repeats.iter().map(datum).collect::<Vec<_>>())
        });
    };
    let spec = parsed.spec(1)?;
    (0..iterations).try_for_each(|_| {
        let (measured, counts) = run_with_counters(&mut carrier, name, &spec, set)?;
        let datum = |repeat: &MeasuredPhase| datum(parsed, repeat, Some((set.name, &counts)));
        each(&measured.repeats.iter().map(datum).collect::<Vec<_>>())
    })
}

/// Returns how many of the `iterations` each pair of peers executes: as many as one run can store.
fn batches(iterations: u64) -> impl Iterator<Item = u32> {
    let most = u64::from(MAX_PHASES);
    let left = move |done: u64| iterations - done * most;
    (0..iterations.div_ceil(most))
        .map(move |done| left(done).try_into().map_or(MAX_PHASES, |left: u32| left.min(MAX_PHASES)))
}

fn datum(parsed: &IpcArguments, repeat: &MeasuredPhase, counts: Option<(&str, &Counts)>) -> Fields {
    let rate = kilobytes_per_second(parsed.total_bytes(), repeat.elapsed_ns);
    let mut fields = vec![
        Field::number("bandwidth", rate, 2, " KBytes/sec"),
        Field::seconds("time", repeat.elapsed_ns, " seconds"),
    ];
    if has_flag(&parsed.matches, "g") {
        fields.extend(usage_fields(repeat));
    }
    if let Some((set, counts)) = counts {
        fields.extend(counters(set, counts));
    }
    Fields(fields)
}

/// Returns the resource usage of both peers.
fn usage_fields(repeat: &MeasuredPhase) -> Vec<Field> {
    let sum = |figure: fn(&RoleUsage) -> u64| repeat.roles.iter().map(figure).sum::<u64>();
    let calls = |role: Role| {
        let of_role = repeat.roles.iter().find(|usage| usage.role == role);
        // In one-thread mode there is a single count for reads and writes.
        of_role.and_then(|usage| usage.calls).unwrap_or(repeat.messages)
    };
    vec![
        Field::microseconds("stime", sum(|usage| usage.system_ns), " seconds"),
        Field::microseconds("utime", sum(|usage| usage.user_ns), " seconds"),
        Field::count("msgsnd", calls(Role::Sender), " messages"),
        Field::count("msgrcv", calls(Role::Receiver), " messages"),
        Field::count("nvcsw", sum(|usage| usage.voluntary_switches), " voluntary context switches"),
        Field::count(
            "nivcsw",
            sum(|usage| usage.involuntary_switches),
            " involuntary context switches",
        ),
    ]
}

/// Returns the counts, and the ratios that the original derived from them.
#[allow(clippy::cast_precision_loss, reason = "ratios, six digits of which are printed")]
fn counters(set: &str, counts: &Counts) -> Vec<Field> {
    let of = |event: &str| {
        counts.iter().find(|(name, _)| *name == event).map_or(0.0, |(_, count)| *count as f64)
    };
    let hits = |cache: &str| {
        let (all, missed) = (of(cache), of(&format!("{cache}_REFILL")));
        Field::ratio(&format!("{cache}_HIT_RATE"), all - missed, all)
    };
    let mut fields: Vec<Field> =
        counts.iter().map(|(event, count)| Field::count(event, *count, "")).collect();
    let cycles = Field::ratio("CYCLES_PER_INSTRUCTION", of("CPU_CYCLES"), of("INST_RETIRED"));
    fields.extend(cycles);
    match set {
        "dcache" => fields.extend([hits("L1D_CACHE"), hits("L2D_CACHE")].into_iter().flatten()),
        "instr" => {
            let all = of("BR_MIS_PRED") + of("BR_PRED");
            let predicted = Field::ratio("BR_PRED_RATE", of("BR_PRED"), all);
            fields.extend([hits("L1I_CACHE"), predicted].into_iter().flatten());
        }
        _ => {}
    }
    fields
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::*;

    fn parse_arguments(words: &[&str]) -> IpcArguments {
        let arguments: Vec<OsString> = words.iter().map(OsString::from).collect();
        EDITION.parse(&Invocation { name: "ipc", arguments: &arguments }).unwrap()
    }

    fn usage(role: Role) -> RoleUsage {
        RoleUsage {
            role,
            user_ns: 1_000_000,
            system_ns: 3_000_000,
            minor_faults: 0,
            voluntary_switches: 2,
            involuntary_switches: 1,
            calls: Some(128),
            short_writes: 0,
            short_reads: 0,
            cpu_ns: None,
            run_delay_ns: None,
        }
    }

    fn repeat() -> MeasuredPhase {
        let roles = vec![usage(Role::Sender), usage(Role::Receiver)];
        MeasuredPhase { elapsed_ns: 8_000_000, messages: 128, roles }
    }

    const TEXT: &str = "datum:\n  bandwidth: 2048000.00 KBytes/sec\n  time: 0.008000000 seconds\n  \
        stime: 0.006000 seconds\n  utime: 0.002000 seconds\n  msgsnd: 128 messages\n  msgrcv: 128 messages\n  \
        nvcsw: 4 voluntary context switches\n  nivcsw: 2 involuntary context switches\n";

    #[test]
    fn an_iteration_is_a_datum() {
        let asked = parse_arguments(&["-Bg", "2thread"]);
        assert_eq!(datum(&asked, &repeat(), None).text("datum:"), TEXT);
    }

    #[test]
    fn json_has_the_originals_types() {
        let asked = parse_arguments(&["-Bgj", "2thread"]);
        let mut emitter = Emitter::new(Style::JSON);
        emitter.open_list("benchmark_samples");
        emitter.instance("datum", &datum(&asked, &repeat(), None));
        emitter.close_list();
        let document: serde_json::Value = serde_json::from_str(&emitter.finish()).unwrap();
        let wanted = serde_json::json!({"benchmark_samples": [{
            "bandwidth": 2_048_000.0, "time": "0.008000000", "stime": "0.006000", "utime": "0.002000",
            "msgsnd": 128, "msgrcv": 128, "nvcsw": 4, "nivcsw": 2,
        }]});
        assert_eq!(document, wanted);
    }

    #[test]
    fn more_iterations_than_one_pair_makes_are_made_by_several() {
        assert_eq!(batches(1).collect::<Vec<_>>(), [1]);
        let several = u64::from(MAX_PHASES) * 2 + 7;
        assert_eq!(batches(several).collect::<Vec<_>>(), [MAX_PHASES, MAX_PHASES, 7]);
        assert_eq!(batches(1 << 40).next(), Some(MAX_PHASES));
    }

    #[test]
    fn counting_nothing_is_a_set_too() {
        assert!(parse_arguments(&["-P", "none", "2thread"]).set().is_none());
    }

    #[test]
    fn rates_of_hits_are_of_what_was_counted() {
        let counts = vec![
            ("INST_RETIRED", 100),
            ("CPU_CYCLES", 150),
            ("L1D_CACHE", 40),
            ("L1D_CACHE_REFILL", 10),
            ("L2D_CACHE", 10),
            ("L2D_CACHE_REFILL", 5),
        ];
        let lines: String = counters("dcache", &counts).iter().map(Field::line).collect();
        assert!(lines.ends_with(
            "  CYCLES_PER_INSTRUCTION: 1.500000\n  L1D_CACHE_HIT_RATE: 0.750000\n  \
             L2D_CACHE_HIT_RATE: 0.500000\n"
        ));
    }
}
