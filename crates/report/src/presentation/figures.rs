//! Presentation of the figures that a study defines.

use std::collections::BTreeSet;

use ipcperf_results::analysis::CaseSummary;
use ipcperf_study::hypothesis::{Line, lines};
use ipcperf_study::{Metric, StudyFigure};

use super::Source;
use super::plot_data::{
    excluded_note, factor_axis, medians_note, metric_axis, metric_name, to_trace,
};
use crate::figure::{Chart, ChartSpec, PanelSpec, Quantity, Scale, SeriesNames, Trace};

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
    pub(super) fn new(
        figure: &'s StudyFigure,
        sources: &[Source<'_>],
        names: &mut SeriesNames,
    ) -> Self {
        let (mut plots, mut absences) = (Vec::new(), Vec::new());
        for metric in figure.metrics() {
            for source in sources {
                match plot(figure, &metric, source) {
                    Some(plot) => plots.push(plot),
                    None => {
                        absences.push(source.cells.explain_unmeasured(&figure.cases(), &metric));
                    }
                }
            }
        }
        if !plots.is_empty() {
            let missing = |source: &Source<'_>| source.cells.missing_instruments(&[figure.cases()]);
            absences.extend(sources.iter().flat_map(missing));
        }
        absences.dedup();
        let traces: Vec<Trace> = plots.iter().flat_map(|plot| plot.traces.clone()).collect();
        let excluded = sources
            .iter()
            .filter_map(|source| excluded_note(&source.cells.excluded_counts(&[figure.cases()])));
        let notes = figure.caption().map(str::to_owned).into_iter();
        let notes = notes.chain(medians_note(&traces, None)).chain(excluded).collect();
        let spec = ChartSpec {
            name: format!("study-{}", figure.number()),
            title: format!("Figure {}: {}", figure.number(), figure.title()),
            notes,
            plots,
        };
        Self { figure, chart: Chart::from_spec(spec, names), absences }
    }
}

/// Returns the plot of a metric in a file, or `None` if it was not measured.
fn plot<'a>(figure: &StudyFigure, metric: &Metric, source: &Source<'a>) -> Option<PanelSpec<'a>> {
    let all = lines(&source.cells, &figure.cases(), figure.over(), metric);
    let lines = divide_by_base(figure, all);
    let example = lines.iter().find_map(|line| line.example)?;
    let scale = if figure.is_linear() { Scale::Linear } else { Scale::Log10 };
    let called = metric_name(metric, Some(example));
    let y = match figure.relative_to() {
        Some(base) => {
            let title = format!("{called}, relative to {}", base.description());
            Quantity::from_study(&title, "", scale)
        }
        None => metric_axis(metric, &lines, scale),
    };
    let title = if figure.metrics().len() > 1 { called } else { String::new() };
    let is_whole = figure.relative_to().is_none();
    Some(PanelSpec {
        title: source.heading(&[&title]),
        x: factor_axis(figure.over(), &lines),
        y,
        traces: lines.iter().map(to_trace).collect(),
        findings: Vec::new(),
        cache_source: figure.marks("caches").then_some(source.file),
        limit_cases: if is_whole && figure.marks("limit") {
            limit_cases(metric, &lines, source)
        } else {
            Vec::new()
        },
        y_range: None,
    })
}

/// Divides each line by the line of the cases that the figure is relative to. These cases themselves are left out.
fn divide_by_base<'a>(figure: &StudyFigure, lines: Vec<Line<'a>>) -> Vec<Line<'a>> {
    let Some(base) = figure.relative_to() else { return lines };
    let factors: BTreeSet<String> = base.factors().map(|(name, _)| name.to_owned()).collect();
    let (bases, others): (Vec<Line<'a>>, Vec<Line<'a>>) =
        lines.into_iter().partition(|line| base.contains(&line.levels, &[]));
    let over = |line: Line<'a>| {
        let under = bases.iter().find(|base| base.matches_except(&line, &factors))?;
        Some(line.divided_by(under)).filter(|line| !line.points.is_empty())
    };
    others.into_iter().filter_map(over).collect()
}

/// Returns the cases whose hardware limits are drawn, if the metric is a main metric. The limits only apply to those.
fn limit_cases<'a>(
    metric: &Metric,
    lines: &[Line<'_>],
    source: &Source<'a>,
) -> Vec<&'a CaseSummary> {
    if !matches!(metric, Metric::Named("main" | "bandwidth" | "round_trip")) {
        return Vec::new();
    }
    #[allow(clippy::cast_precision_loss, reason = "buffer sizes on an axis")]
    let is_drawn = |bytes: u64| {
        let mut points = lines.iter().flat_map(|line| &line.points);
        points.any(|point| point.x.total_cmp(&(bytes as f64)).is_eq())
    };
    let is_selected = |case: &&CaseSummary| {
        lines.iter().filter_map(|line| line.example).any(|sample| {
            let drawn = &sample.run.case;
            drawn.mechanism == case.case.mechanism && drawn.workload == case.case.workload
        }) && is_drawn(case.case.buffer_bytes)
    };
    source.file.summaries.iter().filter(is_selected).collect()
}
