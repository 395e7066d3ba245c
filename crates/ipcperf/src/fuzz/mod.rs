//! Fuzz test of everything that reads results. A file may be torn, edited by hand or malicious. Whatever is in it,
//! reading must not panic, hang, or report more than one line per problem; nor must printing what was read.
//!
//! A real file is mutated at random, with a seed, and passed to all [`CONSUMERS`]. `cargo test` does this for two
//! seconds, `scripts/fuzz` for ten minutes and with a memory limit. `IPCPERF_FUZZ_SECONDS` sets the duration and
//! `IPCPERF_FUZZ_SEED` the first seed: a failure names its seed, which reproduces it at once.

mod mutation;
mod odd_values;

use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use ipcperf_model::printable::is_unsafe;
use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;

use crate::cli::full_page;
use crate::runner::stored_plan;
use ipcperf_plan::machine::warnings;
use ipcperf_report::export::EXPORTERS;
use ipcperf_report::figure::svg_document;
use ipcperf_report::html::Report;
use ipcperf_report::presentation::StudyContext;
use ipcperf_report::terminal::{columns, machine_page};
use ipcperf_results::analysis::AnalyzedFile;
use ipcperf_results::{ParseError, parse};
use ipcperf_study::Study;

/// Name of a consumer, and the function that passes a results file to it.
type Consumer = (&'static str, fn(&AnalyzedFile));

/// All consumers of results files. Add a line for a new one.
const CONSUMERS: &[Consumer] = &[
    ("show", |file| drop(full_page(file))),
    ("export", export),
    ("report", report),
    ("machine", machine),
    ("resume", resume),
];

/// Prints the environment and the limits of the file like `ipcperf machine`.
fn machine(file: &AnalyzedFile) {
    let header = &file.results.header;
    let limits = header.limits.clone().unwrap_or_default();
    let warnings = warnings(&header.environment);
    drop(machine_page(&header.environment, &limits, &warnings, columns()));
}

/// Exports to every format of `ipcperf export`.
fn export(file: &AnalyzedFile) {
    for exporter in EXPORTERS {
        let mut text = Vec::new();
        let written = (exporter.write)(std::slice::from_ref(file), &mut text);
        assert!(written.is_ok(), "{}: {written:?}", exporter.name);
        let text = String::from_utf8(text).expect("text");
        let is_obeyed = |letter: char| !matches!(letter, '\n' | '\r') && is_unsafe(letter);
        assert!(!text.contains(is_obeyed), "{}: {text}", exporter.name);
    }
}

/// Makes the report and each figure, of one file and of two files next to each other.
fn report(file: &AnalyzedFile) {
    for files in [vec![file.clone()], vec![file.clone(), file.clone()]] {
        let asked = StudyContext::from_files(&files, Study::find("pipe-or-socket").ok());
        let report = Report::new(&files, asked.as_ref());
        drop(report.page());
        report.charts().for_each(|chart| drop(svg_document(chart, &report.names)));
    }
}

/// Does what `ipcperf resume` does before it measures.
fn resume(file: &AnalyzedFile) {
    if let Ok(plan) = stored_plan(&file.results.header.plan, file.results.header.seed) {
        // The next steps would load programs and libraries that the file names.
        let _ = (plan.check_names(), plan.custom_programs());
        let _ = (plan.runs(), plan.estimate(), file.results.is_complete());
    }
}

/// Small files from real measurements: one of three mechanisms, one of runs with instruments.
const REAL: [&str; 2] = [
    include_str!("../../../../tests/command/files/three-mechanisms.jsonl"),
    include_str!("../../../../tests/command/files/watched.jsonl"),
];
/// Maximum time for a file of a few megabytes, even on a slow machine.
const MAX_TIME: Duration = Duration::from_secs(10);
/// Maximum length of a message, in characters.
const MAX_MESSAGE_CHARS: usize = 500;

/// Maximum number of warnings about a file.
const MAX_WARNINGS: usize = 12;

/// Returns a whole number from the environment.
fn number_from_environment(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().expect("a whole number"))
}

#[test]
fn no_file_makes_a_reader_panic_hang_or_ramble() {
    let duration = Duration::from_secs(number_from_environment("IPCPERF_FUZZ_SECONDS", 2));
    let first = number_from_environment("IPCPERF_FUZZ_SEED", 1);
    let (begun, begins) = channel();
    let worker = std::thread::spawn(move || try_files(first, duration, &begun));
    let mut last = first;
    loop {
        match begins.recv_timeout(MAX_TIME) {
            Ok(seed) => last = seed,
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => panic!("seed {last}: still not done"),
        }
    }
    assert!(worker.join().is_ok(), "seed {last}: see above; IPCPERF_FUZZ_SEED={last} shows it");
    println!("{} files from seed {first} on", last - first + 1);
}

/// Tries one file after another and sends each seed before it starts.
fn try_files(first: u64, duration: Duration, begun: &Sender<u64>) {
    let start = Instant::now();
    let mut read = 0_u64;
    for seed in first.. {
        begun.send(seed).expect("a listener");
        read += u64::from(try_file(&mutated_file(seed)));
        if start.elapsed() >= duration {
            // If all were refused, none of the consumers would be tested.
            assert!(read > 0, "no file was read");
            println!("{read} were read, the others refused");
            return;
        }
    }
}

/// Returns one of the real files, mutated by `seed`.
fn mutated_file(seed: u64) -> Vec<u8> {
    let real = REAL[usize::from(seed.is_multiple_of(2))];
    mutation::mutated(real, &mut ChaCha8Rng::seed_from_u64(seed))
}

/// Whether `file` was accepted.
fn try_file(file: &[u8]) -> bool {
    match parse(file) {
        Ok(results) => {
            for words in &results.warnings {
                let clear = !words.is_empty() && words.chars().count() <= MAX_MESSAGE_CHARS;
                assert!(clear && !words.contains(is_unsafe), "{words}");
            }
            assert!(results.warnings.len() <= MAX_WARNINGS, "{:?}", results.warnings);
            let file = AnalyzedFile::new(Path::new("hostile.jsonl"), results);
            CONSUMERS.iter().for_each(|(name, consume)| try_consumer(name, *consume, &file));
            true
        }
        Err(ParseError::Contents(words)) => {
            let clear = !words.is_empty() && words.chars().count() <= MAX_MESSAGE_CHARS;
            assert!(clear && !words.contains(char::is_control), "{words}");
            false
        }
        Err(ParseError::Unreadable(error)) => panic!("bytes in memory can be read: {error}"),
    }
}

fn try_consumer(name: &str, consume: fn(&AnalyzedFile), file: &AnalyzedFile) {
    let start = Instant::now();
    consume(file);
    assert!(start.elapsed() < MAX_TIME, "{name} takes {:?}", start.elapsed());
}

#[test]
fn the_real_file_is_read_and_changes_are_many() {
    assert!(REAL.iter().all(|real| try_file(real.as_bytes())));
    assert_eq!(mutated_file(7), mutated_file(7));
    assert!((1..50).all(|seed| mutated_file(seed) != mutated_file(seed + 1)));
}
