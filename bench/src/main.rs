//! Compares the figures of ipcperf with bars: C loops that do the same, the limits of the hardware, and acceptable
//! waiting times.
//!
//! Each subcommand is a module. It interleaves its measurements and returns [`Finding`](finding::Finding)s: a median
//! with its 95 % interval, the bar, and whether the whole interval lies within the bar.

#![forbid(unsafe_code)]

mod arguments;
mod c_loops;
mod c_program;
mod compat;
mod cpu_time;
mod dbus;
mod distance;
mod error;
mod estimate;
mod finding;
mod iceoryx2;
mod iceoryx2_samples;
mod instruments;
mod libraries;
mod null;
mod output;
mod paced;
mod peers;
mod pinned;
mod plain;
mod process;
mod program;
mod programs;
mod reading;
mod ring;
mod sampling;
mod shapes;
mod startup;
mod survey;
mod tools;
mod trust;
mod zbus_calls;
mod zeromq;
mod zmq_pair;

use std::process::ExitCode;

use arguments::{Arguments, Bench, RingArguments, ToolsArguments};
use clap::Parser as _;
use error::BenchError;
use finding::{Bar, Finding, Verdict};
use program::Ipcperf;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match &arguments.bench {
        Bench::ZbusCalls(told) => return finish_program("zbus-calls", zbus_calls::run(told)),
        Bench::Iceoryx2Samples(told) => {
            return finish_program("iceoryx2-samples", iceoryx2_samples::run(told));
        }
        Bench::ZmqPair(told) => return finish_program("zmq-pair", zmq_pair::run(told)),
        _ => {}
    }
    let measured = Ipcperf::find().and_then(|ipcperf| measure(&ipcperf, &arguments));
    match measured.and_then(|findings| output::present(&findings, arguments.form())) {
        Ok(findings) => exit_code(&findings),
        Err(trouble) => {
            output::print_message(&format!("ipcperf-bench: {trouble}"));
            ExitCode::from(2)
        }
    }
}

/// Runs a plain program, started by this one: prints its duration in ns.
fn finish_program(name: &str, played: Result<Option<u64>, Box<dyn std::error::Error>>) -> ExitCode {
    match played {
        Ok(elapsed_ns) => {
            elapsed_ns.iter().for_each(output::print_answer);
            ExitCode::SUCCESS
        }
        Err(error) => {
            output::print_message(&format!("{name}: {error}"));
            ExitCode::FAILURE
        }
    }
}

fn measure(ipcperf: &Ipcperf, arguments: &Arguments) -> Result<Vec<Finding>, BenchError> {
    output::print_message(&ipcperf.version()?);
    Ok(match &arguments.bench {
        Bench::CLoops(cap) => c_loops::measure(ipcperf, *cap),
        Bench::Dbus(cap) => dbus::measure(ipcperf, *cap),
        Bench::Compat(cap) => compat::measure(ipcperf, *cap),
        Bench::CpuTime => cpu_time::measure(ipcperf),
        Bench::Iceoryx2(cap) => iceoryx2::measure(ipcperf, *cap),
        Bench::Libraries(cap) => libraries::measure(ipcperf, *cap),
        Bench::Null => null::measure(ipcperf),
        Bench::Paced => paced::measure(ipcperf),
        Bench::Peers => peers::measure(ipcperf),
        Bench::Programs => programs::measure(ipcperf),
        Bench::Tools(arguments) => tools::measure(ipcperf, arguments),
        Bench::Reading => reading::measure(ipcperf),
        Bench::Ring(arguments) => ring::measure(ipcperf, *arguments),
        Bench::Shapes(cap) => shapes::measure(ipcperf, *cap),
        Bench::Startup => startup::measure(ipcperf),
        Bench::Survey => survey::measure(ipcperf),
        Bench::Trust => trust::measure(ipcperf),
        Bench::Instruments => instruments::measure(ipcperf),
        Bench::Zeromq(cap) => zeromq::measure(ipcperf, *cap),
        // Handled earlier.
        Bench::ZbusCalls(_) | Bench::Iceoryx2Samples(_) | Bench::ZmqPair(_) => Vec::new(),
        Bench::All(cap) => [
            startup::measure(ipcperf),
            reading::measure(ipcperf),
            null::measure(ipcperf),
            paced::measure(ipcperf),
            ring::measure(ipcperf, RingArguments::default()),
            libraries::measure(ipcperf, *cap),
            c_loops::measure(ipcperf, *cap),
            compat::measure(ipcperf, *cap),
            peers::measure(ipcperf),
            programs::measure(ipcperf),
            cpu_time::measure(ipcperf),
            shapes::measure(ipcperf, *cap),
            dbus::measure(ipcperf, *cap),
            iceoryx2::measure(ipcperf, *cap),
            zeromq::measure(ipcperf, *cap),
            tools::measure(ipcperf, &ToolsArguments::default()),
            survey::measure(ipcperf),
            trust::measure(ipcperf),
            instruments::measure(ipcperf),
        ]
        .concat(),
    })
}

/// Returns 1 if a bar was missed, 3 if there are bars and none could be tested, else 0.
fn exit_code(findings: &[Finding]) -> ExitCode {
    let has_verdict = |verdict| move |finding: &Finding| finding.verdict == verdict;
    let has_bar = |finding: &Finding| finding.question.bar != Bar::None;
    if findings.iter().any(has_verdict(Verdict::NotMet)) {
        ExitCode::from(1)
    } else if findings.iter().any(has_verdict(Verdict::Met)) || !findings.iter().any(has_bar) {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(3)
    }
}
