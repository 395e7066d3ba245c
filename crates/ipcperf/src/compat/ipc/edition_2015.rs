//! The edition of 2015: one run, one line of output.

use clap::Arg;
use ipcperf_model::message_options::FirstTouch;

use super::arguments::{Edition, IpcArguments};
use super::counting::{Counts, run_with_counters};
use super::datum::{Field, Fields, kilobytes_per_second};
use crate::compat::getopt::{has_flag, usage as usage_of};
use crate::compat::program_exit::ProgramExit;
use crate::compat::program_runner::ProgramRunner;
use crate::compat::{Invocation, print_line};

const EDITION: Edition = Edition {
    usage: "[-Bqsv] [-b buffersize] [-i pipe|local|tcp] [-p tcp_port] [-P l1d|l1i|l2|mem|tlb|axi] \
        [-t totalsize] 1thread|2thread|2proc",
    extra_modes: &[],
    counter_sets: &["l1d", "l1i", "l2", "mem", "tlb", "axi"],
    first_touch: FirstTouch::Timed,
    flags: Vec::<Arg>::new,
};

/// Returns the usage text of the program `name`.
pub(super) fn usage(name: &str) -> String {
    usage_of(EDITION.command(name))
}

/// Measures once and prints the bandwidth.
pub(super) fn run(call: &Invocation<'_>) -> Result<(), ProgramExit> {
    let parsed = EDITION.parse(call)?;
    let mut carrier = ProgramRunner::new(call.name)?;
    let spec = parsed.spec(1)?;
    let (measured, counts) = match parsed.set() {
        None => (carrier.measure(&spec)?, None),
        Some(set) => {
            let (measured, counts) = run_with_counters(&mut carrier, call.name, &spec, set)?;
            (measured, Some(counts))
        }
    };
    if has_flag(&parsed.matches, "q") {
        return Ok(());
    }
    print_line(&text(&parsed, measured.elapsed_ns, counts.as_ref()))
}

fn text(parsed: &IpcArguments, elapsed_ns: u64, counts: Option<&Counts>) -> String {
    let mut text = String::new();
    if has_flag(&parsed.matches, "v") {
        text += &configuration(parsed, elapsed_ns).text("Benchmark configuration:");
    }
    if let Some((set, counts)) = parsed.set().zip(counts) {
        let lines: String = counters(set.name, counts).0.iter().map(Field::line).collect();
        text += &format!("\n{lines}\n");
    }
    let rate = kilobytes_per_second(parsed.total_bytes(), elapsed_ns);
    text + &format!("{rate:.2} KBytes/sec")
}

fn configuration(parsed: &IpcArguments, elapsed_ns: u64) -> Fields {
    Fields(vec![
        Field::count("buffersize", parsed.buffer_bytes(), ""),
        Field::count("totalsize", parsed.total_bytes(), ""),
        Field::count("blockcount", parsed.block_count(), ""),
        Field::text("mode", parsed.mode()),
        Field::text("ipctype", parsed.ipc_type()),
        Field::seconds("time", elapsed_ns, ""),
    ])
}

/// Returns the counts: instructions and cycles first, then each event of the set, with its ratio to both.
#[allow(clippy::cast_precision_loss, reason = "ratios, six digits of which are printed")]
fn counters(set: &str, counts: &Counts) -> Fields {
    let mut fields = vec![Field::text("pmctype", set)];
    let ratio = |name: &str, by: &str, count: u64, all: u64| {
        Field::ratio(&format!("{name}/{by}"), count as f64, all as f64)
    };
    let [(instructions, executed), (cycles, clock), further @ ..] = counts.as_slice() else {
        return Fields(fields);
    };
    fields.push(Field::count(instructions, *executed, ""));
    fields.push(Field::count(cycles, *clock, ""));
    fields.extend(ratio(cycles, instructions, *clock, *executed));
    for (event, count) in further {
        fields.push(Field::count(event, *count, ""));
        fields.extend(ratio(event, instructions, *count, *executed));
        fields.extend(ratio(event, cycles, *count, *clock));
    }
    Fields(fields)
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::*;

    fn parse_arguments(words: &[&str]) -> Result<IpcArguments, ProgramExit> {
        let arguments: Vec<OsString> = words.iter().map(OsString::from).collect();
        EDITION.parse(&Invocation { name: "ipc-static", arguments: &arguments })
    }

    #[test]
    fn one_line_says_how_fast_it_was() {
        let asked = parse_arguments(&["-B", "2thread"]).unwrap();
        assert_eq!(text(&asked, 8_000_000, None), "2048000.00 KBytes/sec");
    }

    #[test]
    fn what_is_said_of_the_configuration_is_the_originals() {
        let asked = parse_arguments(&["-Bv", "-b4096", "-t", "8192", "-ilocal", "2proc"]).unwrap();
        let wanted = "Benchmark configuration:\n  buffersize: 4096\n  totalsize: 8192\n  blockcount: 2\n  \
                      mode: 2proc\n  ipctype: local\n  time: 1.000000001\n8.00 KBytes/sec";
        assert_eq!(text(&asked, 1_000_000_001, None), wanted);
    }

    #[test]
    fn counters_stand_between_empty_lines() {
        let asked = parse_arguments(&["-P", "l1i", "1thread"]).unwrap();
        let counts = vec![("INSTR_EXECUTED", 200), ("CLOCK_CYCLES", 300), ("L1_ICACHE_REFILL", 3)];
        let wanted = "\n  pmctype: l1i\n  INSTR_EXECUTED: 200\n  CLOCK_CYCLES: 300\n  \
                      CLOCK_CYCLES/INSTR_EXECUTED: 1.500000\n  L1_ICACHE_REFILL: 3\n  \
                      L1_ICACHE_REFILL/INSTR_EXECUTED: 0.015000\n  L1_ICACHE_REFILL/CLOCK_CYCLES: 0.010000\n\
                      \n2048000.00 KBytes/sec";
        assert_eq!(text(&asked, 8_000_000, Some(&counts)), wanted);
    }

    #[test]
    fn numbers_and_sets_are_read_as_the_original_reads_them() {
        let typed = parse_arguments(&["-b", " +4096", "-P", "bus", "2proc"]).unwrap();
        assert_eq!(typed.buffer_bytes(), 4096);
        assert_eq!(typed.set().unwrap().name, "axi");
    }

    #[test]
    fn buffers_are_first_touched_while_the_clock_runs() {
        let spec = parse_arguments(&["2thread"]).unwrap().spec(1).unwrap();
        assert_eq!(spec.message_options.first_touch, FirstTouch::Timed);
    }

    #[test]
    fn wrong_usage_is_refused_as_the_original_refuses_it() {
        for wrong in [
            &[][..],
            &["2proc", "-B"],
            &["-b", "4096 ", "2proc"],
            &["-p", "65536", "2proc"],
            &["3proc"],
            &["-s", "2proc"],
            &["-i", "udp", "2proc"],
            &["-p", "0", "2proc"],
            &["-P", "arch", "2proc"],
            &["-j", "2proc"],
            &["2proc", "more"],
        ] {
            let ended = parse_arguments(wrong).unwrap_err();
            assert_eq!(ended.code, 64, "{wrong:?}");
            assert!(ended.message.starts_with("usage: ipc-static [-Bqsv]"), "{}", ended.message);
        }
        let ended = parse_arguments(&["-b", "3", "-t", "10", "2proc"]).unwrap_err();
        assert_eq!(ended.code, 64);
        let words = "ipc-static: FAIL: data size (10) is not a multiple of buffersize (3)";
        assert_eq!(ended.message, words);
    }
}
