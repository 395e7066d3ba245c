//! Planted truths: for each test, claims that are true, false, in doubt, and just not true.
//!
//! Effects are in units of the noise. A clear effect is so many standard deviations that hardly any ten repetitions
//! miss it; an effect in doubt is one standard error, which no honest test can detect.

use std::f64::consts::{LN_2, SQRT_2};

/// Setting of a file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Setting {
    pub(crate) levels: usize,
    /// Number of valid repetitions.
    pub(crate) repetitions: u32,
    /// Standard deviation of the logarithm of a value, which is about its coefficient of variation.
    pub(crate) noise: f64,
    /// Index of the file.
    pub(crate) file_index: usize,
}

/// Truth of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    True,
    False,
    /// True, but too small to be detected.
    Doubt,
    /// Just not true: the case in which false support is most likely.
    Null,
}

pub(crate) const KINDS: [Kind; 4] = [Kind::True, Kind::False, Kind::Doubt, Kind::Null];

/// A claim and the lines that it is about, as logarithms of their medians by level.
#[derive(Clone, Debug)]
pub(crate) struct Truth {
    pub(crate) test: &'static str,
    pub(crate) kind: Kind,
    /// Keys of the claim that are specific to its test.
    pub(crate) keys: String,
    pub(crate) first: Vec<f64>,
    pub(crate) second: Vec<f64>,
    /// Place where the lines cross, as a level in bytes.
    pub(crate) crossing: Option<f64>,
    /// Metric for which more is better; `None` for a separate time.
    pub(crate) rate: Option<RateMetric>,
}

/// A metric for which more is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RateMetric {
    Bandwidth,
    RoundTrips,
}

/// Smallest level.
const SMALLEST: f64 = 512.0;

/// Returns the level at `index`, which may lie between two levels.
pub(crate) fn bytes(index: f64) -> f64 {
    SMALLEST * index.exp2()
}

impl Setting {
    /// Returns the standard deviation of the logarithm of a ratio within a block.
    fn of_ratio(self) -> f64 {
        self.noise * SQRT_2
    }

    /// Returns the same for the ratio of geometric means over all levels.
    fn of_means(self) -> f64 {
        self.of_ratio() / float(self.levels).sqrt()
    }

    fn root(self) -> f64 {
        f64::from(self.repetitions).sqrt()
    }

    fn line(self, of: impl Fn(f64) -> f64) -> Vec<f64> {
        (0..self.levels).map(|index| of(float(index))).collect()
    }

    fn middle(self) -> f64 {
        float(self.levels / 2)
    }

    fn last(self) -> f64 {
        float(self.levels - 1)
    }
}

#[allow(clippy::cast_precision_loss, reason = "a few levels")]
fn float(count: usize) -> f64 {
    count as f64
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a power of two")]
fn key(index: f64) -> String {
    format!("\"{}\"", bytes(index) as u64)
}

/// Returns the truths of a file.
pub(crate) fn truths(setting: Setting) -> Vec<Truth> {
    let of_test: [fn(Setting, Kind) -> Truth; 12] = [
        faster_than,
        differs,
        equivalent,
        ratio_within,
        always_from,
        crosses_over,
        rises,
        rises_then_falls,
        plateaus_at,
        same_shape,
        slope,
        share_at_least,
    ];
    of_test.iter().flat_map(|of| KINDS.map(|kind| of(setting, kind))).collect()
}

const TWO: &str = "first = { mechanism = \"pipe\" }\nsecond = { mechanism = \"unix-stream\" }\n";
const ONE: &str = "where = { mechanism = \"pipe\" }\n";

/// Returns a truth about two lines, the first of which has `advantage` over the second.
fn two_line_truth(
    (test, kind): (&'static str, Kind),
    setting: Setting,
    keys: &str,
    advantage: impl Fn(f64) -> f64,
) -> Truth {
    let rate = match (test, kind) {
        ("faster-than", Kind::True) => Some(RateMetric::RoundTrips),
        ("crosses-over", Kind::True) => Some(RateMetric::Bandwidth),
        _ => None,
    };
    let sign = if rate.is_some() { 1.0 } else { -1.0 };
    Truth {
        test,
        kind,
        keys: format!("{TWO}{keys}"),
        first: setting.line(|index| sign * advantage(index) + 0.1 * index),
        second: setting.line(|index| 0.1 * index),
        crossing: None,
        rate,
    }
}

/// Returns a truth about one line.
fn one_line_truth(
    (test, kind): (&'static str, Kind),
    setting: Setting,
    keys: &str,
    line: impl Fn(f64) -> f64,
) -> Truth {
    let (first, second) = (setting.line(line), setting.line(|_| 0.0));
    let keys = format!("{ONE}{keys}");
    Truth { test, kind, keys, first, second, crossing: None, rate: None }
}

fn faster_than(setting: Setting, kind: Kind) -> Truth {
    let clear = 0.015 + 4.0 * setting.of_means();
    let little = setting.of_means() / setting.root();
    let (advantage, keys) = match kind {
        Kind::True => (clear, String::new()),
        Kind::False => (-clear, String::new()),
        Kind::Doubt => (little, format!("negligible = {}\n", little / 10.0)),
        Kind::Null => (0.0, String::new()),
    };
    two_line_truth(("faster-than", kind), setting, &keys, |_| advantage)
}

fn differs(setting: Setting, kind: Kind) -> Truth {
    let little = setting.of_means() / setting.root();
    let wide = 8.0 * setting.of_ratio() / setting.root();
    let (apart, keys) = match kind {
        Kind::True => (4.0 * setting.of_ratio(), "at = \"levels\"\n".to_owned()),
        Kind::False => (0.0, format!("at = \"levels\"\nnegligible = {wide}\n")),
        Kind::Doubt => (little, format!("negligible = {}\n", little / 10.0)),
        // A single level suffices.
        Kind::Null => (0.0, "at = \"levels\"\nmin_fraction = 0.01\n".to_owned()),
    };
    two_line_truth(("differs", kind), setting, &keys, |_| -apart)
}

fn equivalent(setting: Setting, kind: Kind) -> Truth {
    let error = setting.of_ratio() / setting.root();
    let (margin, apart) = match kind {
        Kind::True => (8.0 * error, 0.0),
        Kind::False => (0.05, 0.05_f64.ln_1p() + 8.0 * error),
        Kind::Doubt => (error, 0.0),
        Kind::Null => (0.1, 0.1_f64.ln_1p()),
    };
    let at = if kind == Kind::Null { "" } else { "at = \"levels\"\n" };
    two_line_truth(("equivalent", kind), setting, &format!("margin = {margin}\n{at}"), |_| apart)
}

fn ratio_within(setting: Setting, kind: Kind) -> Truth {
    let error = setting.of_means() / setting.root();
    let bounds = |above: f64, below: f64| {
        format!("above = {}\nbelow = {}\n", 1.5 * above.exp(), 1.5 * below.exp())
    };
    let keys = match kind {
        Kind::True => bounds(-8.0 * error, 8.0 * error),
        Kind::False => bounds(8.0 * error, 16.0 * error),
        Kind::Doubt => bounds(-error, error),
        Kind::Null => "below = 1.5\n".to_owned(),
    };
    two_line_truth(("ratio-within", kind), setting, &keys, |_| -(1.5_f64.ln()))
}

fn always_from(setting: Setting, kind: Kind) -> Truth {
    let clear = 0.015 + 4.0 * setting.of_ratio();
    let little = setting.of_ratio() / setting.root();
    let from = setting.middle();
    let at_one = match kind {
        Kind::True => clear,
        Kind::False => -clear,
        Kind::Doubt => little,
        Kind::Null => 0.0,
    };
    let negligible = if kind == Kind::Doubt { little / 10.0 } else { 0.01 };
    let keys = format!("from = {}\nnegligible = {negligible}\n", key(from));
    two_line_truth(("always-from", kind), setting, &keys, |index| match index {
        _ if index < from => -clear,
        _ if index == from + 2.0 => at_one,
        _ => clear,
    })
}

fn crosses_over(setting: Setting, kind: Kind) -> Truth {
    let (clear, little) = (0.05 + 6.0 * setting.of_ratio(), setting.of_ratio() / setting.root());
    let middle = setting.middle() - 0.5;
    let at = |index: f64, end: f64| end * (index - middle) / (setting.last() - middle);
    let near = |place: f64| {
        format!("between = [{}, {}]\n", key((place - 2.5).floor()), key((place + 2.5).ceil()))
    };
    let truth = |keys: &str, advantage: &dyn Fn(f64) -> f64| {
        two_line_truth(("crosses-over", kind), setting, keys, advantage)
    };
    let is_elsewhere = setting.file_index % 4 < 2;
    match kind {
        Kind::True => {
            let truth = truth(&near(middle), &|index| at(index, clear));
            Truth { crossing: Some(bytes(middle)), ..truth }
        }
        Kind::False if is_elsewhere => {
            truth(&format!("between = [{}, {}]\n", key(0.0), key(1.0)), &|index| at(index, clear))
        }
        Kind::False => truth("", &|_| -clear),
        Kind::Doubt => truth(&format!("negligible = {}\n", little / 10.0), &|i| at(i, little)),
        Kind::Null => truth("", &|_| 0.0),
    }
}

fn rises(setting: Setting, kind: Kind) -> Truth {
    let (step, peak) = (3.0 * setting.of_ratio(), setting.middle());
    let little = setting.of_ratio() / setting.root();
    let (rise, fall) = match kind {
        Kind::True => (step, step),
        Kind::False => (step, -step),
        Kind::Doubt => (little / setting.last(), little / setting.last()),
        // The maximum equals the smallest level's value.
        Kind::Null => (0.0, 0.0),
    };
    let keys = match kind {
        Kind::Doubt => format!("negligible = {}\n", little / 10.0),
        _ => String::new(),
    };
    one_line_truth(("rises", kind), setting, &keys, |index| {
        rise * index.min(peak) + fall * (index - peak).max(0.0)
    })
}

fn rises_then_falls(setting: Setting, kind: Kind) -> Truth {
    let (step, peak) = (3.0 * setting.of_ratio(), setting.middle());
    let little = setting.of_ratio() / setting.root();
    let fall = match kind {
        Kind::True => -step,
        Kind::False => step,
        Kind::Doubt => -little / (setting.last() - peak),
        Kind::Null => 0.0,
    };
    let keys = match kind {
        Kind::Doubt => format!("negligible = {}\n", little / 10.0),
        _ => String::new(),
    };
    one_line_truth(("rises-then-falls", kind), setting, &keys, |index| {
        step * index.min(peak) + fall * (index - peak).max(0.0)
    })
}

fn plateaus_at(setting: Setting, kind: Kind) -> Truth {
    let (start, last) = (setting.middle(), setting.last());
    let wide = 0.02 + 4.0 * setting.noise;
    let tolerance = match kind {
        Kind::True | Kind::False => wide,
        Kind::Doubt => 0.5 * setting.noise / setting.root(),
        Kind::Null => 0.1,
    };
    let by =
        if kind == Kind::True { format!("starts_by = {}\n", key(start)) } else { String::new() };
    let off = tolerance.ln_1p();
    one_line_truth(
        ("plateaus-at", kind),
        setting,
        &format!("tolerance = {tolerance}\n{by}"),
        |index| {
            match kind {
                Kind::False => 2.0 * wide * index,
                // The last of the three levels deviates from their geometric mean by the tolerance.
                Kind::Null if index == last => 1.5 * off,
                Kind::True | Kind::Doubt | Kind::Null => 0.5 * (index - start).min(0.0),
            }
        },
    )
}

fn same_shape(setting: Setting, kind: Kind) -> Truth {
    let error = setting.of_ratio() / setting.root();
    let levels = float(setting.levels);
    let margin = match kind {
        Kind::True => 0.02 + 4.0 * setting.of_ratio(),
        Kind::False => 0.05,
        Kind::Doubt => 0.5 * error,
        Kind::Null => 0.1,
    };
    let tilt = 1.5 * (margin + 5.0 * setting.of_ratio());
    // Chosen so that the ratio to the mean over all levels is 1 + margin.
    let at_first = ((1.0 + margin) * (levels - 1.0) / (levels - 1.0 - margin)).ln();
    let first = |index: f64| match kind {
        Kind::True | Kind::Doubt => 0.5,
        Kind::False => tilt * (2.0 * index / setting.last() - 1.0),
        Kind::Null if index == 0.0 => at_first,
        Kind::Null => 0.0,
    };
    let mut truth =
        one_line_truth(("same-shape", kind), setting, &format!("margin = {margin}\n"), first);
    truth.keys = truth.keys.replace(ONE, TWO);
    truth
}

fn slope(setting: Setting, kind: Kind) -> Truth {
    let levels = float(setting.levels);
    let squares = LN_2 * LN_2 * (levels.powi(3) - levels) / 12.0;
    let deviation = setting.noise / squares.sqrt();
    let slope = match kind {
        Kind::True => -0.1 - 4.0 * deviation,
        Kind::False => -0.1 + 4.0 * deviation,
        Kind::Doubt => -0.1 - deviation / setting.root(),
        Kind::Null => -0.1,
    };
    one_line_truth(("slope", kind), setting, "below = -0.1\n", |index| slope * LN_2 * index)
}

fn share_at_least(setting: Setting, kind: Kind) -> Truth {
    let clear = 4.5 * setting.of_ratio();
    let from = setting.middle();
    let keys = format!("share = 0.5\nfrom = {}\n", key(from));
    one_line_truth(("share-at-least", kind), setting, &keys, |index| match kind {
        Kind::False => -clear,
        Kind::Doubt => setting.of_ratio() / setting.root(),
        Kind::Null if index == from => 0.0,
        Kind::True | Kind::Null => clear,
    })
}
