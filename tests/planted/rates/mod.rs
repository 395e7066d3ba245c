//! Error rates of the hypothesis tests: results files in which every claim lies exactly on its bound, judged by the
//! real command. The criteria: with independent blocks, a wrong verdict is as rare as its formula states; with
//! dependent blocks, `supported` is at most twice as frequent as alpha allows, from 30 repetitions on.
//!
//! `IPCPERF_ERROR_RATES=1000 IPCPERF_WRITE_DOCS=1 cargo test --release -p ipcperf --test planted rates` judges that
//! many claims of each kind under each condition and writes `docs/error-rates.md`. Without the number, a few claims
//! over six lines with 30 independent blocks are judged, and no page is written.

mod noise;
mod nulls;
mod page;

use std::fmt::Write as _;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;
use serde_json::Value;

use crate::file::{Design, Fields, MECHANISMS, Run, normal, results, seen, size};
use crate::sandbox::Sandbox;
use noise::{Case, NOISES, Noise};
use nulls::{LEVELS, NULLS, Null, Wrong};

/// Variable with the number of claims of each kind per condition.
const SETS_VARIABLE: &str = "IPCPERF_ERROR_RATES";
/// Default number, small enough for a test of a few seconds.
const FEW_SETS: usize = 32;
/// Claims of each kind in one file: a study has at most 200 claims.
const SETS_IN_A_FILE: usize = 8;
const LINES: [usize; 3] = [1, 3, 6];
const BLOCKS: [u32; 3] = [7, 10, 30];
/// Minimum number of repetitions for detecting dependence.
const MANY_BLOCKS: u32 = 30;
/// Standard deviation of the logarithm of a value, and of the effect that the values of a block share.
const NOISE: f64 = 0.02;
const BETWEEN_BLOCKS: f64 = 0.06;
/// Alpha of all tests.
const LEVEL: f64 = 0.05;
/// Probability that any of the rates exceeds its criterion by chance, if all are as high as the criterion allows.
const BY_CHANCE: f64 = 0.05;

/// Condition under which claims are judged.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Condition {
    noise: Noise,
    lines: usize,
    blocks: u32,
}

/// Counts of wrong verdicts for each null, out of `sets` each.
struct Rate {
    condition: Condition,
    sets: usize,
    wrong: [usize; NULLS.len()],
    /// Probability below which a count is not explained by chance.
    by_chance: f64,
}

fn conditions(noises: &[Noise], lines: &[usize], blocks: &[u32]) -> Vec<Condition> {
    let mut all = Vec::new();
    for &noise in noises {
        for &lines in lines {
            all.extend(blocks.iter().map(|&blocks| Condition { noise, lines, blocks }));
        }
    }
    all
}

/// Returns the metric of a null in one of the sets of a file.
fn metric(set: usize, null: usize) -> String {
    format!("v{set}_{null}")
}

/// Returns the metric of the whole that a share refers to.
fn whole(set: usize) -> String {
    format!("w{set}")
}

/// Returns a study whose claims are all nulls, `SETS_IN_A_FILE` times.
fn study(blocks: u32) -> String {
    let mut text = format!(
        "name = \"planted\"\ntitle = \"Planted\"\nquestion = \"How often is it wrong?\"\n\n[sampling]\n\
         repetitions = {blocks}\n\n[[matrix]]\nmechanism = [\"pipe\", \"unix-stream\"]\n\
         instrument = \"rusage\"\nbuffer = \"{}..{}\"\n",
        size(0),
        size(LEVELS - 1),
    );
    for set in 0..SETS_IN_A_FILE {
        for (place, null) in NULLS.iter().enumerate() {
            let _ = write!(
                text,
                "\n[[hypothesis]]\nid = \"N{set}-{place}\"\nclaim = \"Planted.\"\ntest = \"{}\"\nmetric = {}\n{}",
                null.test,
                seen(&metric(set, place)),
                null.keys(),
            );
            if null.is_of_a_whole() {
                let _ = writeln!(text, "of = {}", seen(&whole(set)));
            }
        }
    }
    text
}

/// Cases of one set, shared by all nulls: those of both sides, and of the whole.
struct Cases {
    cases: Vec<Case>,
    /// Deviation of each in this block, including the block effect.
    off: Vec<f64>,
}

impl Cases {
    fn new(condition: Condition, random: &mut ChaCha8Rng) -> Self {
        let count = (MECHANISMS.len() + 1) * condition.lines * LEVELS;
        let cases = (0..count).map(|_| Case::new(condition.noise, random)).collect();
        Self { cases, off: Vec::new() }
    }

    fn next_block(&mut self, random: &mut ChaCha8Rng) {
        let common = BETWEEN_BLOCKS * normal(random);
        self.off = self.cases.iter_mut().map(|case| common + NOISE * case.next(random)).collect();
    }

    fn off(&self, side: usize, run: Run, lines: usize) -> f64 {
        self.off[(side * lines + run.line) * LEVELS + run.level]
    }
}

/// Returns a results file for a condition, generated from `seed`.
fn file(condition: Condition, seed: u64) -> String {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let study = study(condition.blocks);
    let Condition { lines, blocks, .. } = condition;
    let mut sets: Vec<Cases> =
        (0..SETS_IN_A_FILE).map(|_| Cases::new(condition, &mut random)).collect();
    let mut block = None;
    results(&Design { study: &study, lines, levels: LEVELS, blocks }, |run| {
        if block != Some(run.block) {
            block = Some(run.block);
            sets.iter_mut().for_each(|cases| cases.next_block(&mut random));
        }
        measured(&sets, run, lines)
    })
}

/// Returns the values of `run`.
fn measured(sets: &[Cases], run: Run, lines: usize) -> Fields {
    let mut fields = Fields::default();
    for (set, cases) in sets.iter().enumerate() {
        let off = cases.off(run.side, run, lines);
        for (place, null) in NULLS.iter().enumerate() {
            if run.side == 0 || null.is_of_two() {
                let log = null.log(run.side, (run.line, run.level));
                fields.see(&metric(set, place), log + off);
            }
        }
        fields.see(&whole(set), cases.off(MECHANISMS.len(), run, lines));
    }
    fields
}

/// Counts the wrong verdicts on the nulls.
fn count(wrong: &mut [usize; NULLS.len()], verdicts: &[Value]) {
    assert_eq!(verdicts.len(), SETS_IN_A_FILE * NULLS.len());
    for (place, verdict) in verdicts.iter().enumerate() {
        let (place, said) = (place % NULLS.len(), verdict["verdict"].as_str());
        let words = ["supported", "rejected", "inconclusive"];
        assert!(said.is_some_and(|said| words.contains(&said)), "{verdict}");
        wrong[place] += usize::from(said == Some(NULLS[place].wrong.verdict()));
    }
}

/// Judges at least `sets` claims of each kind under each of `conditions`.
fn rates(conditions: &[Condition], sets: usize) -> Vec<Rate> {
    let files = sets.div_ceil(SETS_IN_A_FILE);
    let next = AtomicUsize::new(0);
    let counts = Mutex::new(vec![[0; NULLS.len()]; conditions.len()]);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let sandbox = Sandbox::open();
                loop {
                    let place = next.fetch_add(1, Ordering::Relaxed);
                    let Some(&condition) = conditions.get(place / files) else { return };
                    let text = file(condition, 0x5eed_1000_0000 + place as u64);
                    let verdicts = crate::judged(&sandbox, &format!("{place}"), &text);
                    count(&mut counts.lock().expect("counts")[place / files], &verdicts);
                }
            });
        }
    });
    let counts = counts.into_inner().expect("counts");
    let by_chance = BY_CHANCE / float(conditions.len() * NULLS.len());
    let sets = files * SETS_IN_A_FILE;
    let rate = |(&condition, wrong)| Rate { condition, sets, wrong, by_chance };
    conditions.iter().zip(counts).map(rate).collect()
}

impl Rate {
    /// Returns the maximum rate of wrong verdicts on `null`; `None` if there is no criterion.
    fn bar(&self, null: &Null) -> Option<f64> {
        match (self.condition, null.wrong) {
            (Condition { noise, .. }, _) if noise.is_independent() => Some(null.nominal),
            (Condition { blocks, .. }, Wrong::Support) if blocks >= MANY_BLOCKS => {
                Some(2.0 * LEVEL)
            }
            _ => None,
        }
    }

    /// Whether the count is within its criterion, allowing for chance.
    fn is_well(&self, place: usize) -> bool {
        let wrong = self.wrong[place];
        self.bar(&NULLS[place]).is_none_or(|bar| at_least(wrong, self.sets, bar) >= self.by_chance)
    }

    /// Describes the rates that exceed their criterion.
    fn faults(&self) -> Vec<String> {
        let words = |place: usize| {
            let Null { test, wrong, .. } = &NULLS[place];
            let verdict = wrong.verdict();
            let (count, sets) = (self.wrong[place], self.sets);
            format!("{test}: {count} of {sets} wrongly {verdict}, {:?}", self.condition)
        };
        (0..NULLS.len()).filter(|&place| !self.is_well(place)).map(words).collect()
    }
}

/// Returns the probability of `count` or more out of `all` independent events of probability `chance` (binomial
/// distribution).
fn at_least(count: usize, all: usize, chance: f64) -> f64 {
    let mut log = float(all) * (1.0 - chance).ln();
    let odds = (chance / (1.0 - chance)).ln();
    let mut below = 0.0;
    for k in 0..count {
        below += log.exp();
        log += odds + (float(all - k) / float(k + 1)).ln();
    }
    1.0 - below
}

#[allow(clippy::cast_precision_loss, reason = "a number of claims")]
fn float(count: usize) -> f64 {
    count as f64
}

#[test]
fn rates_of_wrong_verdicts_are_within_their_bars() {
    let sets: Option<usize> =
        std::env::var(SETS_VARIABLE).ok().map(|sets| sets.parse().expect("a number of claims"));
    let rates = match sets {
        Some(sets) => rates(&conditions(&NOISES, &LINES, &BLOCKS), sets),
        None => rates(&conditions(&NOISES[..1], &LINES[2..], &BLOCKS[2..]), FEW_SETS),
    };
    let page = page::page(&rates);
    println!("{page}");
    if sets.is_some() && std::env::var_os("IPCPERF_WRITE_DOCS").is_some() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/error-rates.md");
        std::fs::write(path, &page).expect("docs/error-rates.md");
    }
    let faults: Vec<String> = rates.iter().flat_map(Rate::faults).collect();
    assert!(faults.is_empty(), "{} of the rates:\n{}", faults.len(), faults.join("\n"));
}

/// By hand: of two events of probability 0.1, both occur with 0.01, at least one with 0.19.
#[test]
fn a_count_has_its_binomial_probability() {
    for (count, probability) in [(0, 1.0), (1, 0.19), (2, 0.01)] {
        assert!((at_least(count, 2, 0.1) - probability).abs() < 1e-12, "{count}");
    }
}

/// A new hypothesis test must have nulls, and thereby error rates.
#[test]
fn every_test_of_hypotheses_has_rates() {
    let schema: Value =
        serde_json::from_str(include_str!("../../../docs/study.schema.json")).expect("a schema");
    let tests = &schema["properties"]["hypothesis"]["items"]["properties"]["test"]["oneOf"];
    let tests = tests.as_array().expect("tests of hypotheses");
    assert!(tests.len() >= 12, "{tests:?}");
    for test in tests {
        for wrong in [Wrong::Support, Wrong::Rejection] {
            let has = NULLS.iter().any(|null| test["const"] == null.test && null.wrong == wrong);
            assert!(has, "{}: {wrong:?}", test["const"]);
        }
    }
}
