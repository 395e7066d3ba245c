//! Two sets of values compared: p-value, effect, and how many repetitions would settle it.

use ipcperf_stats::{
    Alternative, Degenerate, Design, Method, Tested, Zeros, benjamini_hochberg, cliffs_delta,
    hedges_g, holm, mann_whitney, median, needed_n, paired_hedges_g, paired_ratio, paired_t,
    rank_biserial, ratio_of_geometric_means, student_t, welch_t, wilcoxon,
};

use super::{Claim, Correction, Estimate, Part, Point, Verdict};

/// Power at which repetitions are reckoned.
const POWER: f64 = 0.8;
/// More repetitions than this settle nothing that anyone would wait for.
const MOST_REPETITIONS: usize = 100_000;
/// The level of intervals.
const INTERVAL: f64 = 0.95;

/// What two sets of values are compared by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Statistic {
    Wilcoxon,
    PairedT,
    MannWhitney,
    Student,
    Welch,
}

/// Two sets of values: the pairs of one block, and all.
#[derive(Clone, Debug, Default)]
pub(super) struct Sides {
    pub(super) first: Vec<f64>,
    pub(super) second: Vec<f64>,
    paired: [Vec<f64>; 2],
}

/// A comparison with the direction it points in.
pub(super) struct Compared {
    pub(super) part: Part,
    pub(super) lean: Lean,
    /// The difference over its spread, for the reckoning of repetitions.
    effect: Option<f64>,
    statistic: Statistic,
    sides: Sides,
}

/// Which of the two is the larger, as the test statistic has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lean {
    First,
    Second,
    Neither,
}

impl Statistic {
    /// The one that `claim` names.
    pub(super) fn of(claim: &Claim) -> Self {
        match claim.values.word("statistic") {
            Some("paired-t") => Self::PairedT,
            Some("mann-whitney") => Self::MannWhitney,
            Some("student") => Self::Student,
            Some("welch") => Self::Welch,
            _ => Self::Wilcoxon,
        }
    }

    const fn is_paired(self) -> bool {
        matches!(self, Self::Wilcoxon | Self::PairedT)
    }

    /// What its statistic is called.
    const fn symbol(self) -> &'static str {
        match self {
            Self::Wilcoxon => "W",
            Self::MannWhitney => "U",
            Self::PairedT | Self::Student | Self::Welch => "t",
        }
    }

    /// Holds `sides` against each other.
    pub(super) fn test(
        self,
        sides: &Sides,
        alternative: Alternative,
    ) -> Result<Tested, Degenerate> {
        let [first, second] = &sides.paired;
        match self {
            Self::Wilcoxon => {
                wilcoxon(&sides.differences(), alternative, Zeros::Drop, Method::Auto)
            }
            Self::PairedT => paired_t(first, second, alternative),
            Self::MannWhitney => {
                mann_whitney(&sides.first, &sides.second, alternative, Method::Auto)
            }
            Self::Student => student_t(&sides.first, &sides.second, alternative),
            Self::Welch => welch_t(&sides.first, &sides.second, alternative),
        }
    }

    fn lean(self, sides: &Sides) -> Lean {
        let sign = match self {
            Self::Wilcoxon => rank_biserial(&sides.differences()).ok(),
            Self::MannWhitney => cliffs_delta(&sides.first, &sides.second),
            Self::PairedT => Some(sum(&sides.differences())),
            Self::Student | Self::Welch => Some(mean(&sides.first) - mean(&sides.second)),
        };
        match sign {
            Some(sign) if sign > 0.0 => Lean::First,
            Some(sign) if sign < 0.0 => Lean::Second,
            _ => Lean::Neither,
        }
    }
}

fn sum(values: &[f64]) -> f64 {
    values.iter().sum()
}

#[allow(clippy::cast_precision_loss, reason = "a number of values")]
fn mean(values: &[f64]) -> f64 {
    sum(values) / values.len().max(1) as f64
}

impl Sides {
    /// The values of two points.
    pub(super) fn of(first: &Point, second: &Point) -> Self {
        let pairs = first.pairs(second);
        Self { first: first.all(), second: second.all(), paired: split(&pairs) }
    }

    /// Pairs alone.
    pub(super) fn of_pairs(pairs: &[(f64, f64)]) -> Self {
        let paired = split(pairs);
        Self { first: paired[0].clone(), second: paired[1].clone(), paired }
    }

    fn differences(&self) -> Vec<f64> {
        self.paired[0].iter().zip(&self.paired[1]).map(|(first, second)| first - second).collect()
    }

    fn n(&self, statistic: Statistic) -> usize {
        if statistic.is_paired() {
            self.paired[0].len()
        } else {
            self.first.len().min(self.second.len())
        }
    }

    /// First over second with its interval, on a logarithmic scale.
    pub(super) fn ratio(&self, statistic: Statistic, level: f64) -> Option<Estimate> {
        let ratio = if statistic.is_paired() {
            paired_ratio(&self.paired[0], &self.paired[1], level)
        } else {
            ratio_of_geometric_means(&self.first, &self.second, level)
        };
        let ratio = ratio.ok()?;
        Some(Estimate {
            name: "ratio".to_owned(),
            value: ratio.ratio,
            low: Some(ratio.interval.low),
            high: Some(ratio.interval.high),
            level,
            unit: String::new(),
        })
    }

    /// Hedges' g with its interval.
    pub(super) fn hedges(&self, statistic: Statistic) -> Option<Estimate> {
        let g = if statistic.is_paired() {
            paired_hedges_g(&self.paired[0], &self.paired[1], INTERVAL)
        } else {
            hedges_g(&self.first, &self.second, INTERVAL)
        };
        let g = g.ok()?;
        Some(Estimate {
            name: "Hedges' g".to_owned(),
            value: g.g,
            low: Some(g.interval.low),
            high: Some(g.interval.high),
            level: INTERVAL,
            unit: String::new(),
        })
    }
}

fn split(pairs: &[(f64, f64)]) -> [Vec<f64>; 2] {
    [pairs.iter().map(|pair| pair.0).collect(), pairs.iter().map(|pair| pair.1).collect()]
}

/// Compares `sides` by `statistic`; a part of what they come to.
pub(super) fn compare(what: String, sides: &Sides, statistic: Statistic, unit: &str) -> Compared {
    let mut part = Part::new(what, sides.n(statistic));
    part.unit = unit.to_owned();
    part.medians =
        [&sides.first, &sides.second].into_iter().filter_map(|side| median(side)).collect();
    part.estimates.extend(sides.ratio(statistic, INTERVAL));
    part.estimates.extend(sides.hedges(statistic));
    match statistic.test(sides, Alternative::TwoSided) {
        Ok(tested) => {
            part.statistic = Some((statistic.symbol().to_owned(), tested.statistic));
            part.p = Some(tested.p_value);
        }
        // Values that are all alike differ by nothing.
        Err(Degenerate::AllZero | Degenerate::NoSpread | Degenerate::Tied) => part.p = Some(1.0),
        Err(why) => part.verdict = Verdict::NotTestable { reason: why.to_string() },
    }
    let effect = part.estimates.iter().find(|one| one.name == "Hedges' g").map(|one| one.value);
    Compared { part, lean: statistic.lean(sides), effect, statistic, sides: sides.clone() }
}

/// Corrects the p-values of `all` for one another.
pub(super) fn correct(all: &mut [Compared], correction: Correction) {
    let p: Vec<f64> = all.iter().filter_map(|one| one.part.p).collect();
    let corrected = match correction {
        Correction::None => Ok(p),
        Correction::Holm => holm(&p),
        Correction::BenjaminiHochberg => benjamini_hochberg(&p),
    };
    let with_p = all.iter_mut().filter(|one| one.part.p.is_some());
    for (one, corrected) in with_p.zip(corrected.unwrap_or_default()) {
        one.part.p_corrected = Some(corrected);
    }
}

impl Compared {
    /// Whether its corrected p-value lies below `level`.
    pub(super) fn is_significant(&self, level: f64) -> bool {
        self.part.p_corrected.is_some_and(|p| p < level)
    }

    /// First over second.
    pub(super) fn ratio(&self) -> Option<&Estimate> {
        self.part.estimates.iter().find(|one| one.name == "ratio")
    }

    /// Hedges' g.
    pub(super) fn hedges(&self) -> Option<&Estimate> {
        self.part.estimates.iter().find(|one| one.name == "Hedges' g")
    }

    /// First over second with an interval of `level`.
    pub(super) fn ratio_at(&self, level: f64) -> Option<Estimate> {
        self.sides.ratio(self.statistic, level)
    }

    /// The repetitions at which an effect of this size would show, beside `others` parts.
    pub(super) fn open(&self, level: f64, others: usize, correction: Correction) -> Verdict {
        #[allow(clippy::cast_precision_loss, reason = "a few parts")]
        let level = match correction {
            Correction::Holm => level / others.max(1) as f64,
            Correction::BenjaminiHochberg | Correction::None => level,
        };
        let design = match self.statistic {
            Statistic::Wilcoxon => Design::PairedWilcoxon,
            Statistic::PairedT => Design::PairedT,
            Statistic::MannWhitney | Statistic::Student | Statistic::Welch => Design::TwoSampleT,
        };
        let effect = self.effect.filter(|effect| *effect != 0.0);
        let needed = effect.and_then(|effect| {
            needed_n(design, effect.abs(), level, POWER, Alternative::TwoSided).ok()
        });
        let needed =
            needed.filter(|&n| n <= MOST_REPETITIONS).map(|n| n.max(self.part.n + 1) as u64);
        Verdict::Inconclusive { repetitions: needed }
    }
}
