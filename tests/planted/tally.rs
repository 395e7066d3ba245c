//! What came out, and what of it may not be.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::Value;

use crate::truths::{KINDS, Kind, Setting, Truth};

/// The share of clear claims that must be judged rightly.
const CLEAR: f64 = 0.95;
/// The share of claims in doubt that must not be judged wrongly, and that must be left open.
const IN_DOUBT: [f64; 2] = [0.95, 0.60];
/// The level of the tests, and how many standard errors beyond it a number of nulls may lie: by chance
/// one number in a thousand does.
const LEVEL: f64 = 0.05;
const ALLOWED: f64 = 3.1;
/// The share of intervals of a crossing that must hold it. They are percentile intervals of medians, of
/// which for ten blocks 86 to 93 % do (crates/stats/src/bootstrap.rs).
const HELD: f64 = 0.85;

/// Verdicts by test and kind.
#[derive(Default)]
pub(crate) struct Tally {
    tests: Vec<&'static str>,
    counts: BTreeMap<(&'static str, Kind), Counts>,
    /// Crossings told, and those of them whose interval holds the place.
    places: [usize; 2],
}

#[derive(Clone, Debug, Default)]
struct Counts {
    supported: usize,
    rejected: usize,
    inconclusive: usize,
    other: usize,
    /// Those open that tell repetitions.
    told: usize,
    /// Where what may not be was said.
    wrong: Vec<String>,
}

impl Counts {
    fn all(&self) -> usize {
        self.supported + self.rejected + self.inconclusive + self.other
    }
}

impl Tally {
    pub(crate) fn add(&mut self, setting: Setting, truths: &[Truth], verdicts: &[Value]) {
        for (truth, verdict) in truths.iter().zip(verdicts) {
            if !self.tests.contains(&truth.test) {
                self.tests.push(truth.test);
            }
            let counts = self.counts.entry((truth.test, truth.kind)).or_default();
            match verdict["verdict"].as_str() {
                Some("supported") => counts.supported += 1,
                Some("rejected") => counts.rejected += 1,
                Some("inconclusive") => counts.inconclusive += 1,
                _ => counts.other += 1,
            }
            counts.told += usize::from(verdict["evidence"]["repetitions"].is_u64());
            let wanted = match truth.kind {
                Kind::True => "supported",
                Kind::False => "rejected",
                Kind::Doubt | Kind::Null => "inconclusive",
            };
            if verdict["verdict"] != wanted && counts.wrong.len() < 3 {
                counts.wrong.push(format!("{setting:?} {verdict}"));
            }
            if let Some(place) = truth.place {
                self.add_place(place, verdict);
            }
        }
    }

    /// Whether the interval of the crossing holds where it is.
    fn add_place(&mut self, place: f64, verdict: &Value) {
        let estimate = &verdict["evidence"]["parts"][0]["estimates"][0];
        if estimate["name"] != "crossing at" {
            return;
        }
        let above = estimate["low"].as_f64().is_none_or(|low| low <= place);
        let below = estimate["high"].as_f64().is_none_or(|high| high >= place);
        self.places[0] += 1;
        self.places[1] += usize::from(above && below);
    }

    /// Right, wrong and inconclusive of a test and kind.
    fn outcome(&self, test: &'static str, kind: Kind) -> (usize, usize, &Counts) {
        let counts = &self.counts[&(test, kind)];
        match kind {
            Kind::True | Kind::Doubt => (counts.supported, counts.rejected + counts.other, counts),
            Kind::False | Kind::Null => (counts.rejected, counts.supported + counts.other, counts),
        }
    }

    /// What may not be, in words.
    pub(crate) fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        for &test in &self.tests {
            for kind in KINDS {
                let (right, wrong, counts) = self.outcome(test, kind);
                let all = float(counts.all());
                let is_well = match kind {
                    Kind::True | Kind::False => float(right) >= CLEAR * all,
                    Kind::Doubt => {
                        float(wrong) <= (1.0 - IN_DOUBT[0]) * all
                            && float(counts.inconclusive) >= IN_DOUBT[1] * all
                    }
                    Kind::Null => float(wrong) <= most(all),
                };
                if !is_well {
                    faults.push(format!("{test}, {kind:?}: {counts:?}"));
                }
            }
        }
        let [told, held] = self.places;
        if float(held) < HELD * float(told) {
            faults.push(format!("{held} of {told} intervals hold the crossing"));
        }
        faults
    }

    /// As a page of the documentation.
    pub(crate) fn page(&self, files: usize) -> String {
        let mut page = format!(
            "# Planted truths\n\n<!-- Made by tests/planted: IPCPERF_WRITE_DOCS=1 cargo test -p ipcperf \
             --test planted -->\n\n{files} results files whose values were made up so that the answers are \
             known, judged by `ipcperf study judge`. Noise is lognormal, 1 to 5 %, with three times as much \
             between blocks; 8 to 16 levels, 10 or 30 repetitions, in a quarter of the files 3 % of samples \
             set aside. A claim is *true* or *false* by several standard deviations; *in doubt* is true by a \
             standard error or less; *just not* is false by nothing, the case in which it is most often \
             supported falsely.\n\nHeld to: of those true or false 95 % right; of those in doubt at most 5 % \
             wrong and at least 60 % open; of those just not at most 5 % supported, and {:.0} of {files} with \
             the chance that so many have.\n\n| test | the claim is | right | wrong | inconclusive | with \
             repetitions |\n|---|---|--:|--:|--:|--:|\n",
            most(float(files)).floor()
        );
        for &test in &self.tests {
            for kind in KINDS {
                let (right, wrong, counts) = self.outcome(test, kind);
                let (open, told, name) = (counts.inconclusive, counts.told, name(kind));
                let _ = writeln!(page, "| {test} | {name} | {right} | {wrong} | {open} | {told} |");
            }
        }
        let [told, held] = self.places;
        let _ = writeln!(
            page,
            "\nOf {told} intervals of a crossing {held} hold the place where it was planted."
        );
        page
    }
}

fn name(kind: Kind) -> &'static str {
    match kind {
        Kind::True => "true",
        Kind::False => "false",
        Kind::Doubt => "in doubt",
        Kind::Null => "just not",
    }
}

/// The most of `all` nulls that may be supported.
fn most(all: f64) -> f64 {
    LEVEL * all + ALLOWED * (LEVEL * (1.0 - LEVEL) * all).sqrt()
}

#[allow(clippy::cast_precision_loss, reason = "a few files")]
fn float(count: usize) -> f64 {
    count as f64
}
