//! Presentation of the figures that a study defines.

use std::collections::BTreeSet;

use ipcperf_results::analysis::CaseSummary;
use ipcperf_study::hypothesis::{Line, lines};
use ipcperf_study::{Metric, StudyFigure};

use super::Source;
use super::measured::{axis, axis_over, name, of_medians, set_aside, trace};
use crate::figure::{Chart, Names, Plot, Quantity, Scale, Sketch, Trace};

/// A figure, or the reasons why there is none.
pub struct ShownFigure<'s> {
    /// Definition in the study.
    pub figure: &'s StudyFigure,
    /// The figure. `None` if nothing was measured for it.
    pub chart: Option<Chart>,
    /// Reasons for missing parts.
    pub absences: Vec<String>,
}

impl<'s> ShownFigure<'s> {
    pub(super) fn of(figure: &'s StudyFigure, sources: &[Source<'_>], names: &mut Names) -> Self {
        let (mut plots, mut absences) = (Vec::new(), Vec::new());
        for metric in figure.metrics() {
            for source in sources {
                match plot(figure, &metric, source) {
                    Some(plot) => plots.push(plot),
                    None => absences.push(source.cells.absence(&figure.cases(), &metric)),
                }
            }
        }
        if !plots.is_empty() {
            let missing = |source: &Source<'_>| source.cells.missing_instruments(&[figure.cases()]);
            absences.extend(sources.iter().flat_map(missing));
        }
        absences.dedup();
        let traces: Vec<Trace> = plots.iter().flat_map(|plot| plot.traces.clone()).collect();
        let aside = sources
            .iter()
            .filter_map(|source| set_aside(&source.cells.set_aside(&[figure.cases()])));
        let notes = figure.see().map(str::to_owned).into_iter();
        let notes = notes.chain(of_medians(&traces, None)).chain(aside).collect();
        let sketch = Sketch {
            name: format!("study-{}", figure.number()),
            title: format!("Figure {}: {}", figure.number(), figure.title()),
            notes,
            plots,
        };
        Self { figure, chart: Chart::sketched(sketch, names), absences }
    }
}

/// Returns the plot of a metric in a file, or `None` if it was not measured.
fn plot<'a>(figure: &StudyFigure, metric: &Metric, source: &Source<'a>) -> Option<Plot<'a>> {
    let all = lines(&source.cells, &figure.cases(), figure.over(), metric);
    let lines = relative(figure, all);
    let example = lines.iter().find_map(|line| line.example)?;
    let scale = if figure.is_linear() { Scale::Even } else { Scale::Decimal };
    let called = name(metric, Some(example));
    let y = match figure.relative_to() {
        Some(base) => {
            let title = format!("{called}, relative to {}", base.words());
            Quantity::studied(&title, "", scale)
        }
        None => axis(metric, &lines, scale),
    };
    let title = if figure.metrics().len() > 1 { called } else { String::new() };
    let is_whole = figure.relative_to().is_none();
    Some(Plot {
        title: source.heading(&[&title]),
        x: axis_over(figure.over(), &lines),
        y,
        traces: lines.iter().map(trace).collect(),
        found: Vec::new(),
        caches_of: figure.marks("caches").then_some(source.file),
        limits_of: if is_whole && figure.marks("limit") {
            limited(metric, &lines, source)
        } else {
            Vec::new()
        },
        ends: None,
    })
}

/// Divides each line by the line of the cases that the figure is relative to. These cases themselves are left out.
fn relative<'a>(figure: &StudyFigure, lines: Vec<Line<'a>>) -> Vec<Line<'a>> {
    let Some(base) = figure.relative_to() else { return lines };
    let factors: BTreeSet<String> = base.factors().map(|(name, _)| name.to_owned()).collect();
    let (bases, others): (Vec<Line<'a>>, Vec<Line<'a>>) =
        lines.into_iter().partition(|line| base.holds(&line.levels, &[]));
    let over = |line: Line<'a>| {
        let under = bases.iter().find(|base| base.is_beside(&line, &factors))?;
        Some(line.over(under)).filter(|line| !line.points.is_empty())
    };
    others.into_iter().filter_map(over).collect()
}

/// Returns the cases whose hardware limits are drawn, if the metric is a main metric. The limits only apply to those.
fn limited<'a>(metric: &Metric, lines: &[Line<'_>], source: &Source<'a>) -> Vec<&'a CaseSummary> {
    if !matches!(metric, Metric::Named("main" | "bandwidth" | "round_trip")) {
        return Vec::new();
    }
    #[allow(clippy::cast_precision_loss, reason = "buffer sizes on an axis")]
    let is_drawn = |bytes: u64| {
        let mut points = lines.iter().flat_map(|line| &line.points);
        points.any(|point| point.x.total_cmp(&(bytes as f64)).is_eq())
    };
    let is_meant = |case: &&CaseSummary| {
        lines.iter().filter_map(|line| line.example).any(|sample| {
            let drawn = &sample.run.case;
            drawn.mechanism == case.case.mechanism && drawn.workload == case.case.workload
        }) && is_drawn(case.case.buffer_bytes)
    };
    source.file.summaries.iter().filter(is_meant).collect()
}
