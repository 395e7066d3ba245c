//! What a test found, part by part: the numbers a verdict rests on.

use serde::Serialize;

use super::complete::OverLevels;
use super::line::Point;
use super::outcome::Verdict;

/// Quantity that an estimate is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum EstimateKind {
    /// First over second.
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
    /// A level over the height of its plateau.
    Off,
    /// Ratio of the level that is farthest from the same.
    Farthest,
    /// Value at the smallest level over that at the peak.
    SmallestOverPeak,
    /// Value at the largest level over that at the peak.
    LargestOverPeak,
    /// Value at the smallest level over that at the largest.
    SmallestOverLargest,
}

impl EstimateKind {
    /// Name in tables.
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

/// A number with its interval.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// Quantity that it is of.
    pub kind: EstimateKind,
    /// Name in tables: that of its kind, and the level where it is of one.
    pub name: String,
    /// The value.
    pub value: f64,
    /// The ends of its interval, where it has one.
    pub low: Option<f64>,
    /// Upper end of the interval.
    pub high: Option<f64>,
    /// The level of the interval, 0.95 as a rule.
    pub level: f64,
    /// Its unit; empty where it has none.
    pub unit: String,
}

impl Estimate {
    /// `value`, without interval and unit.
    #[must_use]
    pub fn new(kind: EstimateKind, value: f64, level: f64) -> Self {
        let (name, unit) = (kind.name().to_owned(), String::new());
        Self { kind, name, value, low: None, high: None, level, unit }
    }

    /// The same with the ends of its interval.
    #[must_use]
    pub fn between(self, low: Option<f64>, high: Option<f64>) -> Self {
        Self { low, high, ..self }
    }

    /// The same in `unit`.
    #[must_use]
    pub fn in_unit(self, unit: &str) -> Self {
        Self { unit: unit.to_owned(), ..self }
    }

    /// The same number as a quantity of another kind.
    #[must_use]
    pub fn as_kind(self, kind: EstimateKind) -> Self {
        Self { kind, name: kind.name().to_owned(), ..self }
    }

    /// The ratio of the level called `level`, which is the farthest from the same.
    #[must_use]
    pub fn farthest_at(self, level: &str) -> Self {
        let kind = EstimateKind::Farthest;
        Self { kind, name: format!("{} at {level}", kind.name()), ..self }
    }
}

/// A level of the factor along which lines run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Level {
    /// Position on the axis; sizes in bytes.
    pub x: f64,
    /// Name in tables.
    pub label: String,
}

/// Comparison that a part is of.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Place {
    /// The line, or the pair of lines; null where the claim has only one and the part is of a level of it.
    pub line: Option<String>,
    /// The level; null where the part is of all of them.
    pub level: Option<Level>,
}

impl Place {
    /// All levels of the line, or of the pair, called `name`.
    pub fn line(name: impl Into<String>) -> Self {
        Self { line: Some(name.into()), level: None }
    }

    /// The level of `point`, of the only line.
    #[must_use]
    pub fn level(point: &Point) -> Self {
        let level = Level { x: point.x, label: point.label.clone() };
        Self { line: None, level: Some(level) }
    }

    /// The same level of the line called `name`.
    #[must_use]
    pub fn of_line(self, name: &str) -> Self {
        Self { line: Some(name.to_owned()), ..self }
    }

    /// The line and the level, as they are printed.
    #[must_use]
    pub fn words(&self) -> String {
        let level = self.level.as_ref().map(|level| level.label.as_str());
        let names: Vec<&str> = self.line.as_deref().into_iter().chain(level).collect();
        names.join(", ")
    }
}

/// Which rule of its test gave a part its verdict, where the test has several.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// The p-value lies below the level.
    P,
    /// An interval lies within bounds, or wholly outside.
    Interval,
}

/// One of the comparisons that a claim comes to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Part {
    /// Line and level in words: `pipe against unix-stream`, `64KiB`.
    pub what: String,
    /// Line and level.
    pub place: Place,
    /// What becomes of this part.
    pub verdict: Verdict,
    /// Repetitions, or pairs of them.
    pub n: usize,
    /// Medians of what is compared, and their unit.
    pub medians: Vec<f64>,
    /// Unit of its values.
    pub unit: String,
    /// The test statistic and what it is called.
    pub statistic: Option<(String, f64)>,
    /// Two-sided.
    pub p: Option<f64>,
    /// Corrected for the parts of the claim: what a part is rejected by, and, where a share of them suffices,
    /// supported by.
    pub p_corrected: Option<f64>,
    /// What was estimated.
    pub estimates: Vec<Estimate>,
    /// Which rule gave the verdict; null where it is open, and where the test has one rule alone.
    pub decided_by: Option<Rule>,
    /// The levels that it is one number of.
    pub levels: Option<OverLevels>,
    /// Whether its blocks are independent.
    pub independence: Option<Independence>,
    /// What else is to be known.
    pub note: Option<String>,
    /// What the test takes to be independent, block by block; of several levels one each.
    #[serde(skip)]
    pub(super) series: Vec<Vec<f64>>,
}

impl Part {
    /// A part of which nothing is known yet.
    pub fn new(place: Place, n: usize) -> Self {
        Self {
            what: place.words(),
            place,
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

    /// The estimate of `kind`, where the part has one.
    pub(super) fn estimate(&self, kind: EstimateKind) -> Option<&Estimate> {
        self.estimates.iter().find(|one| one.kind == kind)
    }

    /// Adds to what else is to be known.
    pub(super) fn remark(&mut self, words: &str) {
        self.note = Some(match self.note.take() {
            Some(note) => format!("{note}; {words}"),
            None => words.to_owned(),
        });
    }

    /// As one number of `levels`; what these leave out is told.
    pub(super) fn over(mut self, levels: Option<OverLevels>) -> Self {
        if let Some(words) = levels.as_ref().and_then(OverLevels::words) {
            self.remark(&words);
        }
        self.levels = levels;
        self
    }

    /// A part that cannot be judged, and why.
    pub fn untestable(place: Place, reason: impl Into<String>) -> Self {
        let verdict = Verdict::NotTestable { reason: reason.into() };
        Self { verdict, ..Self::new(place, 0) }
    }

    /// The same part as one of the line called `name`.
    pub(super) fn of_line(self, name: &str) -> Self {
        let place = self.place.of_line(name);
        Self { what: place.words(), place, ..self }
    }
}

/// What consecutive blocks have in common.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Independence {
    /// Whether there are blocks enough (25) for a correlation of one half to be seen as a rule.
    pub checked: bool,
    /// The correlation of the ranks of neighbouring blocks; of several series their mean. Null where there are
    /// fewer than three blocks, and where no value differs from another.
    pub lag1: Option<f64>,
    /// The probability of such a trend by chance (Mann and Kendall), corrected where there are several series.
    /// Null for fewer than eight blocks.
    pub trend_p: Option<f64>,
    /// Whether they plainly depend on one another.
    pub dependent: bool,
}
