//! A chart: what a description comes to for the files at hand, before it is drawn.

use std::collections::HashMap;

use super::axis::Axis;
use super::description::{Band, Description, Statistic};
use super::finding::Finding;
use super::group::{Group, groups, is_drawn};
use super::layout::{Drawn, Layout, axes};
use super::notes::notes;
use super::reference::{self, Guide};
use super::{distribution, median, modes};
use crate::plan::Bytes;
use crate::summary::{CaseSummary, Summarised};

/// The names of all series of a report, in order: a series has one look in all its figures.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Names {
    names: Vec<String>,
    numbers: HashMap<String, usize>,
}

impl Names {
    /// Those of `files`, in the order they are met.
    #[cfg(test)]
    pub(crate) fn of(files: &[Summarised]) -> Self {
        let mut all = Self::default();
        all.add(files);
        all
    }

    /// Adds those of `files` that are new.
    pub(crate) fn add(&mut self, files: &[Summarised]) {
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
    pub(crate) fn name(&self, number: usize) -> &str {
        self.names.get(number).map_or("", String::as_str)
    }
}

/// What is to be drawn.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Chart {
    /// Names it, in links and as a file.
    pub(crate) name: String,
    /// What is drawn of the samples of a case.
    pub(super) statistic: Statistic,
    /// What it shows.
    pub(crate) title: String,
    pub(crate) panels: Vec<Panel>,
    /// What to look for, and what is shown.
    pub(crate) notes: Vec<String>,
}

/// One of a chart's pictures.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Panel {
    pub(crate) title: String,
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
    /// What `description` comes to for `files`; `None` where they have nothing of it.
    pub(crate) fn of(
        description: &Description,
        files: &[Summarised],
        names: &Names,
    ) -> Option<Self> {
        let (groups, left_out) = groups(description, files);
        let layout = Layout::of(description, &groups);
        let drawn = groups.into_iter().map(|group| draw(description, layout, group, names));
        let drawn: Vec<Drawn> = drawn.filter(|one| !one.content.curves.is_empty()).collect();
        let panels = drawn.iter().filter_map(|one| {
            let axes = axes(description, layout, one, &drawn)?;
            Some(Panel::of(description, layout, one, axes))
        });
        let panels: Vec<Panel> = panels.collect();
        let title = title(description, layout, drawn.first()?);
        let notes = notes(description, layout, files, left_out);
        let (name, statistic) = (description.name.to_owned(), description.statistic);
        (!panels.is_empty()).then_some(Self { name, statistic, title, panels, notes })
    }

    /// Numbers of the series that have something in it.
    pub(crate) fn series(&self) -> Vec<usize> {
        let curves = self.panels.iter().flat_map(|panel| &panel.content.curves);
        let mut series: Vec<usize> = curves.map(|curve| curve.series).collect();
        series.sort_unstable();
        series.dedup();
        series
    }

    /// The guides that some panel has, each once.
    pub(crate) fn guides(&self) -> Vec<&'static str> {
        let all = self.panels.iter().flat_map(|panel| &panel.guides);
        let mut names: Vec<&'static str> = all.map(|guide| guide.name).collect();
        names.sort_unstable();
        names.dedup();
        names
    }
}

/// A figure of one size says which, as no axis does.
fn title(description: &Description, layout: Layout, first: &Drawn) -> String {
    match (layout, description.statistic, first.group.cases.first()) {
        (Layout::Rows, Statistic::Median(_), Some(case)) => {
            format!("{} at {}", description.title, Bytes(case.case.buffer_bytes))
        }
        _ => description.title.to_owned(),
    }
}

fn draw<'a>(
    description: &Description,
    layout: Layout,
    group: Group<'a>,
    names: &Names,
) -> Drawn<'a> {
    let content = content(description, layout, &group, names);
    let guides = reference::guides(description, layout, &group, &content);
    Drawn { group, content, guides }
}

fn content(description: &Description, layout: Layout, group: &Group, names: &Names) -> Content {
    match (description.statistic, layout) {
        (Statistic::Median(Band::Quartiles), Layout::Plane) => {
            median::curves(description.y, group, names)
        }
        (Statistic::Median(Band::Quartiles), Layout::Rows) => {
            median::rows(description.y, group, names)
        }
        (Statistic::Distribution, _) => distribution::curves(group, names),
        (Statistic::Modes, _) => modes::rows(description.x, group, names),
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

impl Panel {
    fn of(description: &Description, layout: Layout, drawn: &Drawn, (x, y): (Axis, Axis)) -> Self {
        let caches = match layout {
            Layout::Plane => reference::caches(description, drawn.group.file, &x),
            Layout::Rows => Vec::new(),
        };
        let title = drawn.group.title(description);
        let (content, guides) = (drawn.content.clone(), drawn.guides.clone());
        Self { title, x, y, content, guides, caches, findings: Vec::new() }
    }
}
