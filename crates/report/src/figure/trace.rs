//! Charts of lines that a study asks for: any metric over any factor, with what a test found.

use ipcperf_results::analysis::{CaseSummary, Spread, Summarised};

use super::axis::Axis;
use super::chart::Finding;
use super::chart::Guide;
use super::chart::{Chart, Content, Curve, Names, Panel, Point, Trust};
use super::description::{Band, Statistic};
use super::quantity::Quantity;
use super::reference::{caches_on, limits_of};
use super::scale::Scale;
use crate::wording::figure_text;

/// Rows of a panel; what is beyond is left to the tables.
const MOST_ROWS: usize = 60;

/// A chart as a study asks for it.
pub struct Sketch<'a> {
    /// Names it, in links and as a file.
    pub name: String,
    /// What it shows.
    pub title: String,
    /// What to look for.
    pub notes: Vec<String>,
    /// One for each panel.
    pub plots: Vec<Plot<'a>>,
}

/// One panel of it.
pub struct Plot<'a> {
    /// What it shows; empty where it is the only one.
    pub title: String,
    /// The quantity across.
    pub x: Quantity,
    /// The quantity that goes up.
    pub y: Quantity,
    /// One for each series.
    pub traces: Vec<Trace>,
    /// What a test found; those of a trace name it.
    pub found: Vec<(Option<String>, Finding)>,
    /// The file whose caches are marked.
    pub caches_of: Option<&'a Summarised>,
    /// Cases whose limits are marked.
    pub limits_of: Vec<&'a CaseSummary>,
    /// The ends of the axis that goes up, where they are not those of what is drawn.
    pub ends: Option<[f64; 2]>,
}

/// A line.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trace {
    /// Name of the series.
    pub name: String,
    /// Points in ascending order.
    pub points: Vec<Traced>,
}

/// A point of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Traced {
    /// Where it lies across.
    pub x: f64,
    /// The level it is at.
    pub label: String,
    /// What lies there: a median with its middle half.
    pub spread: Spread,
    /// What is said of it; left out, its numbers.
    pub words: Option<String>,
}

impl Chart {
    /// What `sketch` comes to; `None` where nothing of it was measured. New series are added to `names`.
    pub fn sketched(sketch: Sketch<'_>, names: &mut Names) -> Option<Self> {
        let plots: Vec<&Plot<'_>> = sketch.plots.iter().filter(|plot| plot.is_any()).collect();
        let contents: Vec<Content> = plots.iter().map(|plot| plot.content(names)).collect();
        let panels = plots.iter().zip(&contents).map(|(plot, content)| {
            let alike = plots.iter().zip(&contents).filter(|(other, _)| other.is_like(plot));
            plot.panel(content.clone(), alike.map(|(plot, content)| (*plot, content)), names)
        });
        let panels: Vec<Panel> = panels.flatten().collect();
        let Sketch { name, title, notes, .. } = sketch;
        let statistic = Statistic::Median(Band::Quartiles);
        (!panels.is_empty()).then_some(Self { name, statistic, title, panels, notes })
    }
}

impl Plot<'_> {
    fn is_any(&self) -> bool {
        self.traces.iter().any(|trace| !trace.points.is_empty())
    }

    /// Whether the axes of both are the same.
    fn is_like(&self, other: &Self) -> bool {
        self.x == other.x && self.y == other.y
    }

    /// Levels that are words, or only one, lie in rows.
    fn has_rows(&self) -> bool {
        self.x == Quantity::Case
    }

    fn content(&self, names: &mut Names) -> Content {
        let mut content = Content::default();
        for trace in &self.traces {
            let series = names.called(&trace.name);
            let curve = if self.has_rows() {
                self.rows(trace, series, &mut content.rows)
            } else {
                self.curve(trace, series)
            };
            content.curves.push(curve);
        }
        content.curves.retain(|curve| !curve.points.is_empty());
        content
    }

    fn curve(&self, trace: &Trace, series: usize) -> Curve {
        let mut curve = Curve { series, ..Curve::default() };
        for point in &trace.points {
            let median = point.spread.median;
            let [low, high] = point.spread.middle_half().unwrap_or([median; 2]);
            curve.line.push([point.x, median]);
            curve.band.push([point.x, low, high]);
            curve.points.push(self.point((point.x, median), trace, point));
        }
        curve
    }

    /// A row for each point, below those that are there.
    fn rows(&self, trace: &Trace, series: usize, rows: &mut Vec<String>) -> Curve {
        let mut curve = Curve { series, ..Curve::default() };
        for point in trace.points.iter().take(MOST_ROWS.saturating_sub(rows.len())) {
            #[allow(clippy::cast_precision_loss, reason = "rows are few")]
            let row = rows.len() as f64;
            let half = point.spread.middle_half();
            curve.whiskers.extend(half.map(|[low, high]| [low, row, high, row]));
            curve.points.push(self.point((point.spread.median, row), trace, point));
            rows.push(row_name(trace, point));
        }
        curve
    }

    fn point(&self, (x, y): (f64, f64), trace: &Trace, point: &Traced) -> Point {
        let words = point.words.clone().unwrap_or_else(|| {
            let (name, spread) = (row_name(trace, point), &point.spread);
            let half = figure_text::middle_half(spread, |value| self.y.words(value));
            format!("{name}: {} ({half})", self.y.words(spread.median))
        });
        Point { x, y, weight: 1.0, trust: Trust::Counted, words }
    }

    /// Its panel, on the axes that it has in common with all that are `alike`.
    fn panel<'p>(
        &self,
        content: Content,
        alike: impl Iterator<Item = (&'p Self, &'p Content)> + Clone,
        names: &mut Names,
    ) -> Option<Panel>
    where
        Self: 'p,
    {
        let (x, y) = (self.x.clone(), self.y.clone());
        let (across, up) = if self.has_rows() { (y, x) } else { (x, y) };
        let is_binary = across.scale() == Scale::Binary;
        let guides = limits_of(&self.limits_of);
        let heights = guides.iter().flat_map(|guide| guide.lines.iter().flatten()).map(|at| at[1]);
        let x = Axis::over(across, alike.clone().flat_map(|(_, one)| one.across()))?;
        let y = match self.ends {
            Some([low, high]) => Axis::between(up, low, high),
            #[allow(clippy::cast_precision_loss, reason = "rows are few")]
            None if self.has_rows() => {
                let rows = content.rows.len().saturating_sub(1) as f64;
                Axis::over(up, [0.0, rows].into_iter())?
            }
            None => Axis::over(up, alike.flat_map(|(_, one)| one.up()).chain(heights))?,
        };
        let named = |(name, finding): &(Option<String>, Finding)| Finding {
            series: name.as_ref().map(|name| names.called(name)),
            ..finding.clone()
        };
        let findings = self.found.iter().map(named).collect();
        let caches = self.caches_of.filter(|_| is_binary);
        let caches = caches.map_or_else(Vec::new, |file| caches_on(file, &x));
        let guides: Vec<Guide> = if self.has_rows() { Vec::new() } else { guides };
        Some(Panel { title: self.title.clone(), x, y, content, guides, caches, findings })
    }
}

fn row_name(trace: &Trace, point: &Traced) -> String {
    let parts = [trace.name.as_str(), point.label.as_str()];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
}
