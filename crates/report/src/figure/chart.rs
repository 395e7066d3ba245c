//! A chart: what a description comes to for the files at hand, before it is drawn.

use std::collections::HashMap;

use ipcperf_results::analysis::{CaseSummary, Summarised};

use super::axis::Axis;
use super::description::Statistic;
use super::group::is_drawn;

/// The names of all series of a report, in order: a series has one look in all its figures.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    names: Vec<String>,
    numbers: HashMap<String, usize>,
}

impl Names {
    /// Those of `files`, in the order they are met.
    #[cfg(test)]
    pub fn of(files: &[Summarised]) -> Self {
        let mut all = Self::default();
        all.add(files);
        all
    }

    /// Adds those of `files` that are new.
    pub fn add(&mut self, files: &[Summarised]) {
        for case in files.iter().flat_map(|file| &file.summaries).filter(|case| is_drawn(case)) {
            self.called(&case.series());
        }
    }

    pub(super) fn number(&self, case: &CaseSummary) -> Option<usize> {
        self.numbers.get(&case.series()).copied()
    }

    /// The number of the series `name`, which is new if it is not known.
    pub(super) fn called(&mut self, name: &str) -> usize {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        self.numbers.insert(name.to_owned(), self.names.len());
        self.names.push(name.to_owned());
        self.names.len() - 1
    }

    /// The name of series `number`.
    pub fn name(&self, number: usize) -> &str {
        self.names.get(number).map_or("", String::as_str)
    }
}

/// What is to be drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct Chart {
    /// Names it, in links and as a file.
    pub name: String,
    /// What is drawn of the samples of a case.
    pub(super) statistic: Statistic,
    /// What it shows.
    pub title: String,
    /// One for each question, side by side.
    pub panels: Vec<Panel>,
    /// What to look for, and what is shown.
    pub notes: Vec<String>,
}

/// One of a chart's pictures.
#[derive(Clone, Debug, PartialEq)]
pub struct Panel {
    pub title: String,
    pub(super) x: Axis,
    pub(super) y: Axis,
    pub(super) content: Content,
    /// What the machine has to say.
    pub(super) guides: Vec<Guide>,
    /// The sizes of the caches, where they lie on the axis across.
    pub(super) caches: Vec<(f64, &'static str)>,
    /// What a test found.
    pub(super) findings: Vec<Finding>,
}

/// A line that no series makes, in the units of the axes.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Guide {
    pub(super) name: &'static str,
    pub(super) lines: Vec<Vec<[f64; 2]>>,
}

/// Something found, with its interval.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// On which axis it lies.
    pub along: Along,
    /// In the unit of the axis.
    pub at: f64,
    /// The ends of its interval; an end that is not known lies beyond the axis.
    pub interval: Option<[f64; 2]>,
    /// What stands beside it.
    pub words: String,
    /// The number of the series that it is of; none where it is of several.
    pub series: Option<usize>,
}

/// On which axis it lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Along {
    /// On the axis across.
    Across,
    /// On the axis that goes up.
    Up,
}

/// What a panel shows, in the units of its axes.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Content {
    pub(super) curves: Vec<Curve>,
    /// What the rows are, where it has rows.
    pub(super) rows: Vec<String>,
}

/// What a panel shows of a series.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Curve {
    /// Its number among the [`Names`].
    pub(super) series: usize,
    pub(super) line: Vec<[f64; 2]>,
    /// x, low and high.
    pub(super) band: Vec<[f64; 3]>,
    /// From x, y to x, y.
    pub(super) whiskers: Vec<[f64; 4]>,
    pub(super) points: Vec<Point>,
}

/// A mark whose words are shown to who points at it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Point {
    pub(super) x: f64,
    pub(super) y: f64,
    /// Its area, 1 as usual.
    pub(super) weight: f64,
    pub(super) trust: Trust,
    pub(super) words: String,
}

/// Whether a value counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trust {
    Counted,
    /// The machine held up every run: better than nothing, but not to be believed.
    HeldUp,
}

impl Chart {
    /// Numbers of the series that have something in it.
    pub fn series(&self) -> Vec<usize> {
        let curves = self.panels.iter().flat_map(|panel| &panel.content.curves);
        let mut series: Vec<usize> = curves.map(|curve| curve.series).collect();
        series.sort_unstable();
        series.dedup();
        series
    }

    /// The guides that some panel has, each once.
    pub fn guides(&self) -> Vec<&'static str> {
        let all = self.panels.iter().flat_map(|panel| &panel.guides);
        let mut names: Vec<&'static str> = all.map(|guide| guide.name).collect();
        names.sort_unstable();
        names.dedup();
        names
    }
}

impl Content {
    pub(super) fn across(&self) -> impl Iterator<Item = f64> + '_ {
        self.curves.iter().flat_map(|curve| {
            let points = curve.points.iter().map(|point| point.x);
            let ends = curve.whiskers.iter().flat_map(|[from, _, to, _]| [*from, *to]);
            points.chain(ends).chain(curve.line.iter().map(|[x, _]| *x))
        })
    }

    pub(super) fn up(&self) -> impl Iterator<Item = f64> + '_ {
        self.curves.iter().flat_map(|curve| {
            let points = curve.points.iter().map(|point| point.y);
            points.chain(curve.band.iter().flat_map(|[_, low, high]| [*low, *high]))
        })
    }
}
