//! Charts: the content of a figure for given files, before drawing.

use std::collections::HashMap;

use ipcperf_results::analysis::{AnalyzedFile, CaseSummary};

use super::axis::Axis;
use super::figure_spec::Statistic;
use super::group::is_drawn;
use super::limit_kind::LimitKind;

/// The names of all series of a report, in order. A series has the same style in all figures.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SeriesNames {
    names: Vec<String>,
    numbers: HashMap<String, usize>,
}

impl SeriesNames {
    /// Collects the series of `files`, in order of appearance.
    #[cfg(test)]
    pub fn from_files(files: &[AnalyzedFile]) -> Self {
        let mut all = Self::default();
        all.add(files);
        all
    }

    /// Adds the new series of `files`.
    pub fn add(&mut self, files: &[AnalyzedFile]) {
        for case in files.iter().flat_map(|file| &file.summaries).filter(|case| is_drawn(case)) {
            self.intern(&case.series());
        }
    }

    pub(super) fn number(&self, case: &CaseSummary) -> Option<usize> {
        self.numbers.get(&case.series()).copied()
    }

    /// Returns the number of the series `name`, adding it if it is new.
    pub(super) fn intern(&mut self, name: &str) -> usize {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        self.numbers.insert(name.to_owned(), self.names.len());
        self.names.push(name.to_owned());
        self.names.len() - 1
    }

    /// Returns the name of series `number`.
    pub fn name(&self, number: usize) -> &str {
        self.names.get(number).map_or("", String::as_str)
    }
}

/// A figure ready to be drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct Chart {
    /// Name, used in links and file names.
    pub name: String,
    /// Statistic shown for the samples of a case.
    pub(super) statistic: Statistic,
    /// Title.
    pub title: String,
    /// Panels, one for each question, side by side.
    pub panels: Vec<Panel>,
    /// Captions: features to look for, and explanations of the marks.
    pub notes: Vec<String>,
}

/// A panel of a chart.
#[derive(Clone, Debug, PartialEq)]
pub struct Panel {
    pub title: String,
    pub(super) x: Axis,
    pub(super) y: Axis,
    pub(super) content: Content,
    /// Hardware limits.
    pub(super) guides: Vec<Guide>,
    /// Cache sizes within the horizontal axis, with names.
    pub(super) caches: Vec<(f64, &'static str)>,
    /// Findings of tests.
    pub(super) findings: Vec<Finding>,
}

/// A reference line, in the units of the axes.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Guide {
    pub(super) limit: LimitKind,
    pub(super) lines: Vec<Vec<[f64; 2]>>,
}

/// A value found by a test, with its interval.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// Axis of the value.
    pub axis: FindingAxis,
    /// The value, in the unit of the axis.
    pub value: f64,
    /// Ends of the interval. An unknown end is beyond the axis.
    pub interval: Option<[f64; 2]>,
    /// Label.
    pub label: String,
    /// Number of its series. `None` if it belongs to several.
    pub series: Option<usize>,
}

/// Axis of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FindingAxis {
    /// The horizontal axis.
    X,
    /// The vertical axis.
    Y,
}

/// Data shown in a panel, in the units of its axes.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Content {
    pub(super) curves: Vec<Curve>,
    /// Labels of the rows, if there are rows.
    pub(super) rows: Vec<String>,
}

/// Data of one series in a panel.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Curve {
    /// Number of the series in [`SeriesNames`].
    pub(super) series: usize,
    pub(super) line: Vec<[f64; 2]>,
    /// Band around the line: x, low and high.
    pub(super) band: Vec<[f64; 3]>,
    /// Start (x, y) and end (x, y) of each whisker.
    pub(super) whiskers: Vec<[f64; 4]>,
    pub(super) points: Vec<Point>,
}

/// A mark with a tooltip.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Point {
    pub(super) x: f64,
    pub(super) y: f64,
    /// Area of the mark, normally 1.
    pub(super) weight: f64,
    pub(super) validity: Validity,
    pub(super) tooltip: String,
}

/// Whether a value comes from valid runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Validity {
    Valid,
    /// Every run was disturbed: better than nothing, but unreliable.
    Disturbed,
}

impl Chart {
    /// Returns the numbers of the series that have data in the chart.
    pub fn series(&self) -> Vec<usize> {
        let curves = self.panels.iter().flat_map(|panel| &panel.content.curves);
        let mut series: Vec<usize> = curves.map(|curve| curve.series).collect();
        series.sort_unstable();
        series.dedup();
        series
    }

    /// Returns the limits that any panel shows, without duplicates.
    pub(super) fn limits(&self) -> Vec<LimitKind> {
        let all = self.panels.iter().flat_map(|panel| &panel.guides);
        let mut limits: Vec<LimitKind> = all.map(|guide| guide.limit).collect();
        limits.sort_unstable();
        limits.dedup();
        limits
    }
}

impl Content {
    pub(super) fn x_values(&self) -> impl Iterator<Item = f64> + '_ {
        self.curves.iter().flat_map(|curve| {
            let points = curve.points.iter().map(|point| point.x);
            let ends = curve.whiskers.iter().flat_map(|[from, _, to, _]| [*from, *to]);
            points.chain(ends).chain(curve.line.iter().map(|[x, _]| *x))
        })
    }

    pub(super) fn y_values(&self) -> impl Iterator<Item = f64> + '_ {
        self.curves.iter().flat_map(|curve| {
            let points = curve.points.iter().map(|point| point.y);
            points.chain(curve.band.iter().flat_map(|[_, low, high]| [*low, *high]))
        })
    }
}
