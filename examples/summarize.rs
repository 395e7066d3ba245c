//! Prints the median of every case in a results file:
//!
//!     cargo run --package ipcperf-results --example summarize -- results.jsonl

use std::path::PathBuf;

use ipcperf_results::analysis::{AnalyzedFile, MainFigure};
use ipcperf_results::{Error, Strictness, read};

fn main() -> Result<(), Error> {
    let path = PathBuf::from(std::env::args_os().nth(1).expect("the name of a results file"));
    let results = read(&path, Strictness::Lenient)?;
    #[expect(clippy::print_stderr, reason = "a program may write to its standard error")]
    for warning in &results.warnings {
        eprintln!("warning: {warning}");
    }
    let valid = results.samples.iter().filter(|sample| sample.excluded.is_none());
    println!("{} samples, {} of them valid", results.samples.len(), valid.count());
    for case in AnalyzedFile::new(&path, results).summaries {
        let (value, unit) = match case.main() {
            Some(MainFigure::Bandwidth(spread)) => (spread.median, "bytes/s"),
            Some(
                MainFigure::RoundTrip(spread)
                | MainFigure::PerMessage(spread)
                | MainFigure::Latency(spread),
            ) => (spread.median, "ns"),
            None => continue,
        };
        println!("{}: {value:.0} {unit}", case.case.case_id);
    }
    Ok(())
}
