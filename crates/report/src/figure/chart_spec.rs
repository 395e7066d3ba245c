//! Charts of lines of a study: any metric over any factor, with the findings of tests.

use ipcperf_results::analysis::{AnalyzedFile, CaseSummary, Spread};

use super::axis::Axis;
use super::chart::{Chart, Content, Curve, Finding, Guide, Panel, Point, SeriesNames, Validity};
use super::figure_spec::{Band, Statistic};
use super::frame::MAX_ROWS;
use super::quantity::Quantity;
use super::reference::{caches_within, limit_curves};
use super::scale::Scale;
use super::split::split_panels;
use crate::wording::metric_text;

/// Description of a chart of a study.
pub struct ChartSpec<'a> {
    /// Name, used in links and file names.
    pub name: String,
    /// Title.
    pub title: String,
    /// Captions: features to look for.
    pub notes: Vec<String>,
    /// One plot for each panel.
    pub plots: Vec<PanelSpec<'a>>,
}

/// Description of a panel.
pub struct PanelSpec<'a> {
    /// Title. Empty if there is only one panel.
    pub title: String,
    /// Quantity on the horizontal axis.
    pub x: Quantity,
    /// Quantity on the vertical axis.
    pub y: Quantity,
    /// One trace for each series.
    pub traces: Vec<Trace>,
    /// Findings of tests, with the name of the trace if they belong to one.
    pub findings: Vec<(Option<String>, Finding)>,
    /// File whose cache sizes are marked.
    pub cache_source: Option<&'a AnalyzedFile>,
    /// Cases whose hardware limits are marked.
    pub limit_cases: Vec<&'a CaseSummary>,
    /// Ends of the vertical axis, if they are not those of the data.
    pub y_range: Option<[f64; 2]>,
}

/// A line.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trace {
    /// Name of the series.
    pub name: String,
    /// Points in ascending order.
    pub points: Vec<TracePoint>,
}

/// A point of a trace.
#[derive(Clone, Debug, PartialEq)]
pub struct TracePoint {
    /// Horizontal position.
    pub x: f64,
    /// Label of the level.
    pub label: String,
    /// Value: a median with its middle half.
    pub spread: Spread,
    /// Tooltip. `None` if it consists of the numbers of the point.
    pub tooltip: Option<String>,
}

impl Chart {
    /// Creates the chart of `spec`, or `None` if it has no data. New series are added to `names`.
    pub fn from_spec(spec: ChartSpec<'_>, names: &mut SeriesNames) -> Option<Self> {
        let plots: Vec<&PanelSpec<'_>> = spec.plots.iter().filter(|plot| plot.has_data()).collect();
        let contents: Vec<Content> = plots.iter().map(|plot| plot.content(names)).collect();
        let panels = plots.iter().zip(&contents).map(|(plot, content)| {
            let alike = plots.iter().zip(&contents).filter(|(other, _)| other.has_same_axes(plot));
            plot.panel(content.clone(), alike.map(|(plot, content)| (*plot, content)), names)
        });
        let panels = split_panels(panels.flatten().collect());
        let ChartSpec { name, title, notes, .. } = spec;
        let statistic = Statistic::Median(Band::Quartiles);
        (!panels.is_empty()).then_some(Self { name, statistic, title, panels, notes })
    }
}

impl PanelSpec<'_> {
    fn has_data(&self) -> bool {
        self.traces.iter().any(|trace| !trace.points.is_empty())
    }

    /// Whether both have the same axes.
    fn has_same_axes(&self, other: &Self) -> bool {
        self.x == other.x && self.y == other.y
    }

    /// Whether levels are rows, because they are not numbers or there is only one.
    fn has_rows(&self) -> bool {
        self.x == Quantity::Case
    }

    fn content(&self, names: &mut SeriesNames) -> Content {
        let mut content = Content::default();
        for trace in &self.traces {
            let series = names.intern(&trace.name);
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
            let [low, high] = point.spread.quartiles().unwrap_or([median; 2]);
            curve.line.push([point.x, median]);
            curve.band.push([point.x, low, high]);
            curve.points.push(self.point((point.x, median), trace, point));
        }
        curve
    }

    /// Appends a row for each point.
    fn rows(&self, trace: &Trace, series: usize, rows: &mut Vec<String>) -> Curve {
        let mut curve = Curve { series, ..Curve::default() };
        for point in trace.points.iter().take(MAX_ROWS.saturating_sub(rows.len())) {
            #[allow(clippy::cast_precision_loss, reason = "rows are few")]
            let row = rows.len() as f64;
            let half = point.spread.quartiles();
            curve.whiskers.extend(half.map(|[low, high]| [low, row, high, row]));
            curve.points.push(self.point((point.spread.median, row), trace, point));
            rows.push(row_name(trace, point));
        }
        curve
    }

    fn point(&self, (x, y): (f64, f64), trace: &Trace, point: &TracePoint) -> Point {
        let words = point.tooltip.clone().unwrap_or_else(|| {
            let (name, spread) = (row_name(trace, point), &point.spread);
            let half = metric_text::middle_half(spread, |value| self.y.format(value));
            format!("{name}: {} ({half})", self.y.format(spread.median))
        });
        Point { x, y, weight: 1.0, validity: Validity::Valid, tooltip: words }
    }

    /// Creates the panel, on axes shared with all plots in `alike`.
    fn panel<'p>(
        &self,
        content: Content,
        alike: impl Iterator<Item = (&'p Self, &'p Content)> + Clone,
        names: &mut SeriesNames,
    ) -> Option<Panel>
    where
        Self: 'p,
    {
        let (x, y) = (self.x.clone(), self.y.clone());
        let (across, up) = if self.has_rows() { (y, x) } else { (x, y) };
        let is_binary = across.scale() == Scale::Log2;
        let guides = limit_curves(&self.limit_cases);
        let heights = guides.iter().flat_map(|guide| guide.lines.iter().flatten()).map(|at| at[1]);
        let x = Axis::from_values(across, alike.clone().flat_map(|(_, one)| one.x_values()))?;
        let y = match self.y_range {
            Some([low, high]) => Axis::from_range(up, low, high),
            #[allow(clippy::cast_precision_loss, reason = "rows are few")]
            None if self.has_rows() => {
                let rows = content.rows.len().saturating_sub(1) as f64;
                Axis::from_values(up, [0.0, rows].into_iter())?
            }
            None => {
                Axis::from_values(up, alike.flat_map(|(_, one)| one.y_values()).chain(heights))?
            }
        };
        let named = |(name, finding): &(Option<String>, Finding)| Finding {
            series: name.as_ref().map(|name| names.intern(name)),
            ..finding.clone()
        };
        let findings = self.findings.iter().map(named).collect();
        let caches = self.cache_source.filter(|_| is_binary);
        let caches = caches.map_or_else(Vec::new, |file| caches_within(file, &x));
        let guides: Vec<Guide> = if self.has_rows() { Vec::new() } else { guides };
        Some(Panel { title: self.title.clone(), x, y, content, guides, caches, findings })
    }
}

fn row_name(trace: &Trace, point: &TracePoint) -> String {
    let parts = [trace.name.as_str(), point.label.as_str()];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
}
