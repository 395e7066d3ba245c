//! Results files with known answers, judged by the real command. Each test must confirm what is clear and stay
//! inconclusive where nothing can be concluded. It must not support false claims more often than its alpha allows.
//!
//! `IPCPERF_WRITE_DOCS=1` writes the outcome to `docs/test-power.md`; otherwise it is only compared.

mod file;
mod known_answers;
mod rates;
mod tally;
mod truths;

#[allow(dead_code, reason = "each test takes what it needs")]
#[path = "../support/processes.rs"]
mod processes;
#[allow(dead_code, reason = "each test takes what it needs")]
#[path = "../support/sandbox.rs"]
mod sandbox;

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use sandbox::Sandbox;
use serde_json::Value;
use tally::Tally;
use truths::{Setting, truths};

const FILES: usize = 200;
const THREADS: usize = 4;

/// Returns a setting: ten or thirty repetitions, 1 to 5 % of noise, 8 to 16 levels, in varying combinations.
fn setting(place: usize) -> Setting {
    Setting {
        levels: 8 + place * 7 % 9,
        repetitions: if place.is_multiple_of(2) { 10 } else { 30 },
        noise: [0.01, 0.02, 0.03, 0.05][place / 2 % 4],
        file_index: place,
    }
}

/// Returns the verdicts of the command on a results file with this name and text.
fn judged(sandbox: &Sandbox, name: &str, text: &str) -> Vec<Value> {
    let path = sandbox.path(&format!("{name}.jsonl"));
    std::fs::write(&path, text).expect("a results file");
    let mut command = sandbox.command("study judge --json");
    command.arg(&path);
    let finished = sandbox.finish(command);
    let verdicts = serde_json::from_str(&finished.expect(0).stdout).expect("verdicts");
    std::fs::remove_file(&path).expect("the results file");
    verdicts
}

#[test]
fn planted_truths_are_found_and_nothing_else() {
    let (next, tally) = (AtomicUsize::new(0), Mutex::new(Tally::default()));
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                let sandbox = Sandbox::open();
                loop {
                    let place = next.fetch_add(1, Ordering::Relaxed);
                    if place >= FILES {
                        return;
                    }
                    let setting = setting(place);
                    let truths = truths(setting);
                    let text = known_answers::results(setting, &truths);
                    let verdicts = judged(&sandbox, &place.to_string(), &text);
                    assert_eq!(verdicts.len(), truths.len());
                    tally.lock().expect("a tally").add(setting, &truths, &verdicts);
                }
            });
        }
    });
    let tally = tally.into_inner().expect("a tally");
    let page = tally.page(FILES);
    println!("{page}");
    let faults = tally.faults();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/test-power.md");
    if std::env::var_os("IPCPERF_WRITE_DOCS").is_some() {
        std::fs::write(path, &page).expect("docs/test-power.md");
    }
    let found = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        found == page,
        "docs/test-power.md is not what comes out: IPCPERF_WRITE_DOCS=1 writes it"
    );
}
