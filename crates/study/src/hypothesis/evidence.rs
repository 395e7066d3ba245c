//! Evidence for a verdict, part by part.

use serde::Serialize;

use super::complete_blocks::AggregatedLevels;
use super::line::Point;
use super::verdict::Verdict;

/// Quantity that an estimate describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum EstimateKind {
    /// Ratio of first to second.
    Ratio,
    /// Hedges' g.
    HedgesG,
    /// Level of a peak.
    PeakAt,
    /// Level at which one line overtakes the other.
    CrossingAt,
    /// First level of a plateau.
    From,
    /// Height of a plateau.
    Height,
    /// Slope in logarithms of both axes.
    Slope,
    /// Share of a whole.
    Share,
    /// Ratio of a level to the height of its plateau.
    Off,
    /// Ratio at the level that deviates most from 1.
    Farthest,
    /// Value at the smallest level divided by that at the peak.
    SmallestOverPeak,
    /// Value at the largest level divided by that at the peak.
    LargestOverPeak,
    /// Value at the smallest level divided by that at the largest.
    SmallestOverLargest,
}

impl EstimateKind {
    /// Returns the name used in tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ratio => "ratio",
            Self::HedgesG => "Hedges' g",
            Self::PeakAt => "peak at",
            Self::CrossingAt => "crossing at",
            Self::From => "from",
            Self::Height => "height",
            Self::Slope => "slope",
            Self::Share => "share",
            Self::Off => "off",
            Self::Farthest => "farthest",
            Self::SmallestOverPeak => "smallest over peak",
            Self::LargestOverPeak => "largest over peak",
            Self::SmallestOverLargest => "smallest over largest",
        }
    }
}

/// A number with its confidence interval.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// Quantity that it describes.
    pub kind: EstimateKind,
    /// Name in tables: that of its kind, with the level if it belongs to one.
    pub name: String,
    /// The value.
    pub value: f64,
    /// Lower end of the interval, if there is one.
    pub low: Option<f64>,
    /// Upper end of the interval, if there is one.
    pub high: Option<f64>,
    /// Confidence level of the interval, usually 0.95.
    pub level: f64,
    /// Unit; empty if there is none.
    pub unit: String,
}

impl Estimate {
    /// Creates an estimate without interval and unit.
    #[must_use]
    pub fn new(kind: EstimateKind, value: f64, level: f64) -> Self {
        let (name, unit) = (kind.name().to_owned(), String::new());
        Self { kind, name, value, low: None, high: None, level, unit }
    }

    /// Sets the ends of the interval.
    #[must_use]
    pub fn with_interval(self, low: Option<f64>, high: Option<f64>) -> Self {
        Self { low, high, ..self }
    }

    /// Sets the unit.
    #[must_use]
    pub(super) fn with_unit(self, unit: &str) -> Self {
        Self { unit: unit.to_owned(), ..self }
    }

    /// Changes the kind.
    #[must_use]
    pub(super) fn with_kind(self, kind: EstimateKind) -> Self {
        Self { kind, name: kind.name().to_owned(), ..self }
    }

    /// Marks the estimate as the ratio at the level called `level`, the one that deviates most from 1.
    #[must_use]
    pub(super) fn farthest_at(self, level: &str) -> Self {
        let kind = EstimateKind::Farthest;
        Self { kind, name: format!("{} at {level}", kind.name()), ..self }
    }
}

/// A level of the factor along which lines run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Level {
    /// Position on the axis. Sizes are in bytes.
    pub x: f64,
    /// Name in tables.
    pub label: String,
}

/// Line and level that a part compares.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PartScope {
    /// The line, or the pair of lines. Null if the claim has only one and the part is one level of it.
    pub line: Option<String>,
    /// The level. Null if the part covers all levels.
    pub level: Option<Level>,
}

impl PartScope {
    /// Creates a place for all levels of the line or pair `name`.
    pub fn from_line(name: impl Into<String>) -> Self {
        Self { line: Some(name.into()), level: None }
    }

    /// Creates a place for the level of `point` on the only line.
    #[must_use]
    pub fn from_point(point: &Point) -> Self {
        let level = Level { x: point.x, label: point.label.clone() };
        Self { line: None, level: Some(level) }
    }

    /// Returns the same level on the line `name`.
    #[must_use]
    pub(super) fn with_line(self, name: &str) -> Self {
        Self { line: Some(name.to_owned()), ..self }
    }

    /// Returns the line and level as printed.
    #[must_use]
    pub fn label(&self) -> String {
        let level = self.level.as_ref().map(|level| level.label.as_str());
        let names: Vec<&str> = self.line.as_deref().into_iter().chain(level).collect();
        names.join(", ")
    }
}

/// Rule that decided a part's verdict, for tests that have several.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum DecisionRule {
    /// The p-value is below the level.
    P,
    /// An interval lies within bounds or entirely outside.
    Interval,
}

/// One of the comparisons that make up a claim.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Part {
    /// Line and level as text: `pipe against unix-stream`, `64KiB`.
    pub what: String,
    /// Line and level.
    pub scope: PartScope,
    /// Verdict of this part.
    pub verdict: Verdict,
    /// Number of repetitions, or of pairs of them.
    pub n: usize,
    /// Medians of the compared values, in `unit`.
    pub medians: Vec<f64>,
    /// Unit of its values.
    pub unit: String,
    /// Symbol and value of the test statistic.
    pub statistic: Option<(String, f64)>,
    /// The p-value, uncorrected. Two-sided unless the test is one-sided.
    pub p: Option<f64>,
    /// The p-value corrected for the parts of the claim. It decides rejection, and also support if a share of the parts
    /// suffices.
    pub p_corrected: Option<f64>,
    /// Estimates.
    pub estimates: Vec<Estimate>,
    /// Rule that decided the verdict. Null if the verdict is inconclusive or the test has only one rule.
    pub decided_by: Option<DecisionRule>,
    /// Levels from which the part is computed, if it is one number over several.
    pub levels: Option<AggregatedLevels>,
    /// Whether its blocks are independent.
    pub independence: Option<Independence>,
    /// Further remarks.
    pub note: Option<String>,
    /// Series that the test assumes to be independent, block by block; one for each level if there are several.
    #[serde(skip)]
    pub(super) series: Vec<Vec<f64>>,
}

impl Part {
    /// Creates a part without evidence.
    pub fn new(place: PartScope, n: usize) -> Self {
        Self {
            what: place.label(),
            scope: place,
            verdict: Verdict::UNKNOWN,
            n,
            medians: Vec::new(),
            unit: String::new(),
            statistic: None,
            p: None,
            p_corrected: None,
            estimates: Vec::new(),
            decided_by: None,
            levels: None,
            independence: None,
            note: None,
            series: Vec::new(),
        }
    }

    /// Returns the estimate of `kind`, if there is one.
    pub(super) fn estimate(&self, kind: EstimateKind) -> Option<&Estimate> {
        self.estimates.iter().find(|one| one.kind == kind)
    }

    /// Appends to the remarks.
    pub(super) fn add_note(&mut self, words: &str) {
        self.note = Some(match self.note.take() {
            Some(note) => format!("{note}; {words}"),
            None => words.to_owned(),
        });
    }

    /// Records that the part is one number over `levels`, and adds a remark on what these leave out.
    pub(super) fn with_levels(mut self, levels: Option<AggregatedLevels>) -> Self {
        if let Some(words) = levels.as_ref().and_then(AggregatedLevels::omissions) {
            self.add_note(&words);
        }
        self.levels = levels;
        self
    }

    /// Creates a part that cannot be judged, with the reason.
    pub fn untestable(place: PartScope, reason: impl Into<String>) -> Self {
        let verdict = Verdict::NotTestable { reason: reason.into() };
        Self { verdict, ..Self::new(place, 0) }
    }

    /// Returns the same part, labeled with the line `name`.
    pub(super) fn with_line(self, name: &str) -> Self {
        let place = self.scope.with_line(name);
        Self { what: place.label(), scope: place, ..self }
    }
}

/// Dependence between consecutive blocks.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Independence {
    /// Whether there are enough blocks (25) to detect a correlation of 0.5 in most cases.
    pub checked: bool,
    /// Correlation of the ranks of neighboring blocks, averaged over several series. Null if there are fewer than three
    /// blocks or all values are equal.
    pub lag1: Option<f64>,
    /// Probability of such a trend by chance (Mann 1945, Kendall 1975), corrected if there are several series. Null for
    /// fewer than eight blocks.
    pub trend_p: Option<f64>,
    /// Whether the blocks are clearly dependent.
    pub dependent: bool,
}
