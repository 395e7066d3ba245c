//! Counts of the verdicts, and the criteria that they must meet.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::Value;

use crate::truths::{KINDS, Kind, Setting, Truth};

/// Minimum share of clear claims that are judged correctly.
const CLEAR: f64 = 0.95;
/// Minimum shares of claims in doubt that are not judged wrongly, and that are left inconclusive.
const MIN_DOUBT_SHARES: [f64; 2] = [0.95, 0.60];
/// Alpha of the tests, and the number of standard errors by which the count of nulls may exceed it, which happens by
/// chance once in a thousand.
const LEVEL: f64 = 0.05;
const ALLOWED: f64 = 3.1;
/// Minimum share of intervals that contain the crossing. The coverage of percentile intervals can be as low as 87 %
/// with few blocks (docs/coverage.md).
const MIN_COVERED: f64 = 0.85;

/// Verdicts by test and kind.
#[derive(Default)]
pub(crate) struct Tally {
    tests: Vec<&'static str>,
    counts: BTreeMap<(&'static str, Kind), Counts>,
    /// Number of reported crossings, and of those whose interval contains the true place.
    crossings: [usize; 2],
}

#[derive(Clone, Debug, Default)]
struct Counts {
    supported: usize,
    rejected: usize,
    inconclusive: usize,
    other: usize,
    /// Inconclusive verdicts that state how many repetitions are needed.
    with_repetitions: usize,
    /// Settings with a wrong verdict.
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
            counts.with_repetitions += usize::from(verdict["evidence"]["repetitions"].is_u64());
            let wanted = match truth.kind {
                Kind::True => "supported",
                Kind::False => "rejected",
                Kind::Doubt | Kind::Null => "inconclusive",
            };
            if verdict["verdict"] != wanted && counts.wrong.len() < 3 {
                counts.wrong.push(format!("{setting:?} {verdict}"));
            }
            if let Some(place) = truth.crossing {
                self.add_place(place, verdict);
            }
        }
    }

    /// Counts whether the interval of the crossing contains the true place.
    fn add_place(&mut self, place: f64, verdict: &Value) {
        let estimate = &verdict["evidence"]["parts"][0]["estimates"][0];
        if estimate["name"] != "crossing at" {
            return;
        }
        let above = estimate["low"].as_f64().is_none_or(|low| low <= place);
        let below = estimate["high"].as_f64().is_none_or(|high| high >= place);
        self.crossings[0] += 1;
        self.crossings[1] += usize::from(above && below);
    }

    /// Returns the counts of correct, wrong and all verdicts for a test and kind.
    fn outcome(&self, test: &'static str, kind: Kind) -> (usize, usize, &Counts) {
        let counts = &self.counts[&(test, kind)];
        match kind {
            Kind::True | Kind::Doubt => (counts.supported, counts.rejected + counts.other, counts),
            Kind::False | Kind::Null => (counts.rejected, counts.supported + counts.other, counts),
        }
    }

    /// Describes the criteria that are not met.
    pub(crate) fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        for &test in &self.tests {
            for kind in KINDS {
                let (right, wrong, counts) = self.outcome(test, kind);
                let all = float(counts.all());
                let is_well = match kind {
                    Kind::True | Kind::False => float(right) >= CLEAR * all,
                    Kind::Doubt => {
                        float(wrong) <= (1.0 - MIN_DOUBT_SHARES[0]) * all
                            && float(counts.inconclusive) >= MIN_DOUBT_SHARES[1] * all
                    }
                    Kind::Null => float(wrong) <= max_false_support(all),
                };
                if !is_well {
                    faults.push(format!("{test}, {kind:?}: {counts:?}"));
                }
            }
        }
        let [printed, held] = self.crossings;
        if float(held) < MIN_COVERED * float(printed) {
            faults.push(format!("{held} of {printed} intervals hold the crossing"));
        }
        faults
    }

    /// Returns the documentation page.
    pub(crate) fn page(&self, files: usize) -> String {
        let mut page = format!(
            "# Power of the hypothesis tests\n\n<!-- Made by tests/planted: IPCPERF_WRITE_DOCS=1 cargo test -p \
             ipcperf --test planted -->\n\nHow often does each [hypothesis test](hypotheses.md#tests) give the \
             right verdict? The following command generates {files} results files with simulated values, so the \
             right verdict on each claim is known. It then judges the claims with `ipcperf study judge`:\n\n    cargo \
             test -p ipcperf --test planted\n\nEach file has one claim for each row of the last table, so each \
             row counts {files} verdicts.\n\nThe noise of the values is lognormal. Its standard deviation is 1 \
             to 5 % within a block, and three times as large between blocks. Each file has 8 to 16 buffer sizes \
             ([levels](glossary.md#level)), and 10 or 30 repetitions of each case. In a quarter of the files, 3 \
             % of the samples are [excluded](glossary.md#excluded).\n\nThe *bound* of a claim separates the \
             values for which the claim is true from the values for which it is false. For example, the bound of \
             `faster-than` is a ratio of 1. The claims are of four kinds:\n\n| the claim is | true value | \
             required verdicts |\n|---|---|---|\n| true, false | several standard errors from the bound: on the \
             true side for a true claim, on the false side for a false claim | at least 95 % right |\n| true, \
             not detectable | on the true side of the bound, at a distance of one standard error or less | at \
             most 5 % wrong, and at least 60 % inconclusive |\n| at the bound | exactly on the bound. Such a \
             claim counts as false. Of all false claims, it is the one most likely to be supported by chance | \
             at most {:.0} of {files} supported (5 %, plus an allowance for chance) |\n\nFor a true claim, the \
             verdict *supported* is right, and *rejected* is wrong. For a false claim or a claim at the bound, \
             the verdict *rejected* is right, and *supported* is wrong. Some inconclusive verdicts contain an \
             estimate of how many repetitions would decide the claim. The last column of the following table \
             counts these verdicts.\n\n| test | the claim is | right | wrong | inconclusive | inconclusive with \
             estimate |\n|---|---|--:|--:|--:|--:|\n",
            max_false_support(float(files)).floor()
        );
        for &test in &self.tests {
            for kind in KINDS {
                let (right, wrong, counts) = self.outcome(test, kind);
                let (open, printed, name) =
                    (counts.inconclusive, counts.with_repetitions, name(kind));
                let _ =
                    writeln!(page, "| {test} | {name} | {right} | {wrong} | {open} | {printed} |");
            }
        }
        let [printed, held] = self.crossings;
        let _ = writeln!(
            page,
            "\nIn {printed} files, the test `crosses-over` reported the buffer size at which two lines cross, each \
             time with a 95 % interval. {held} of these intervals contain the true size."
        );
        page
    }
}

fn name(kind: Kind) -> &'static str {
    match kind {
        Kind::True => "true",
        Kind::False => "false",
        Kind::Doubt => "true, not detectable",
        Kind::Null => "at the bound",
    }
}

/// Returns the maximum number of supported claims out of `all` nulls.
fn max_false_support(all: f64) -> f64 {
    LEVEL * all + ALLOWED * (LEVEL * (1.0 - LEVEL) * all).sqrt()
}

#[allow(clippy::cast_precision_loss, reason = "a few files")]
fn float(count: usize) -> f64 {
    count as f64
}
