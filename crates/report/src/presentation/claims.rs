//! Presentation of claims: verdicts for each file, and figures with the findings.

use ipcperf_results::Sample;
use ipcperf_study::Better;
use ipcperf_study::hypothesis::{
    BetterNote, Claim, Estimate, EstimateKind, Findings, JudgedClaim, LinePanel, Part, line_panels,
};

use super::file_verdict::FileVerdict;
use super::plot_data::{factor_axis, factor_name, medians_note, metric_axis, to_trace};
use super::{Source, p_values};
use crate::figure::{
    Chart, ChartSpec, Finding, FindingAxis, PanelSpec, Quantity, Scale, SeriesNames, Trace,
};
use crate::wording::amount;

/// A claim with its verdicts and figures.
pub struct ShownClaim<'s> {
    /// The claim.
    pub claim: &'s Claim,
    /// One judgement for each file.
    pub verdicts: Vec<FileVerdict>,
    /// Figure of its lines.
    pub chart: Option<Chart>,
    /// Figure of its p-values, if it is judged level by level.
    pub p_values: Option<Chart>,
}

impl<'s> ShownClaim<'s> {
    /// Presents `claim` and its `judged` form on each of `sources`.
    pub(super) fn new(
        claim: &'s Claim,
        judged: impl Iterator<Item = JudgedClaim<'s>>,
        sources: &[Source<'_>],
        names: &mut SeriesNames,
    ) -> Self {
        let judgements: Vec<FileVerdict> =
            judged.zip(sources).map(|(judged, source)| FileVerdict::new(judged, source)).collect();
        let lines: Vec<Vec<LinePanel<'_>>> =
            sources.iter().map(|source| line_panels(claim, &source.cells)).collect();
        let spec = chart_spec(claim, sources, &judgements, &lines);
        let chart = Chart::from_spec(spec, names);
        let p_values = p_values::chart_spec(claim, sources, &judgements, &lines);
        let p_values = p_values.and_then(|spec| Chart::from_spec(spec, names));
        Self { claim, verdicts: judgements, chart, p_values }
    }
}

/// Describes the figure of a claim's lines, with the findings marked.
fn chart_spec<'a>(
    claim: &Claim,
    sources: &[Source<'a>],
    judgements: &[FileVerdict],
    lines: &[Vec<LinePanel<'a>>],
) -> ChartSpec<'a> {
    let mut plots = Vec::new();
    for ((source, judgement), shown) in sources.iter().zip(judgements).zip(lines) {
        plots.extend(shown.iter().map(|one| plot(claim, source, judgement, one)));
    }
    let first = lines.iter().flatten().flat_map(|shown| &shown.lines).next();
    let example = first.and_then(|line| line.example);
    let traces: Vec<Trace> = plots.iter().flat_map(|plot| plot.traces.clone()).collect();
    let notes = [caption(claim, judgements), medians_note(&traces, better(claim, example))];
    ChartSpec {
        name: format!("claim-{}", claim.id),
        title: format!("{}: {}", claim.id, title(claim, example)),
        notes: notes.into_iter().flatten().collect(),
        plots,
    }
}

/// Returns the title: the metric and the factor.
fn title(claim: &Claim, example: Option<&Sample>) -> String {
    let name = super::plot_data::metric_name(claim.metric(), example);
    let over = factor_name(claim.over());
    match claim.figure_keys().whole {
        Some(whole) => format!("{name} relative to {}, by {over}", whole.label()),
        None => format!("{name} by {over}"),
    }
}

fn plot<'a>(
    claim: &Claim,
    source: &Source<'a>,
    judgement: &FileVerdict,
    shown: &LinePanel<'a>,
) -> PanelSpec<'a> {
    let x = factor_axis(claim.over(), &shown.lines);
    let keys = claim.figure_keys();
    let y = match (keys.whole, keys.share) {
        (Some(_), _) => Quantity::from_study("share", "", Scale::Linear),
        (None, Some(_)) => metric_axis(claim.metric(), &shown.lines, Scale::Linear),
        (None, None) => metric_axis(claim.metric(), &shown.lines, Scale::Log10),
    };
    let place = shown.lines.iter().find_map(|line| line.example);
    let place = place.map_or_else(String::new, |sample| {
        format!("{}, {}", sample.run.case.mode.name(), sample.run.case.placement)
    });
    PanelSpec {
        title: source.heading(&[&shown.name, &place]),
        x,
        y,
        traces: shown.lines.iter().map(to_trace).collect(),
        findings: findings(claim, &judgement.found, shown),
        cache_source: Some(source.file),
        limit_cases: Vec::new(),
        y_range: None,
    }
}

/// Returns the findings on the lines of `shown`, as marks.
fn findings(
    claim: &Claim,
    found: &Findings,
    shown: &LinePanel<'_>,
) -> Vec<(Option<String>, Finding)> {
    let is_line = |part: &Part, name: &str| {
        part.scope.level.is_none() && part.scope.line.as_deref() == Some(name)
    };
    let is_of = |part: &&Part| shown.name.is_empty() || is_line(part, &shown.name);
    let mut findings: Vec<(Option<String>, Finding)> = Vec::new();
    for part in found.parts.iter().filter(is_of) {
        let line = shown.lines.iter().find(|line| is_line(part, &line.name));
        let name = line.map(|line| line.name.clone()).filter(|_| shown.lines.len() > 1);
        let marks = part.estimates.iter().filter_map(|one| finding(one, name.as_deref()));
        findings.extend(marks.map(|mark| (line.map(|line| line.name.clone()), mark)));
    }
    findings.extend(bounds(claim).into_iter().map(|bound| (None, bound)));
    findings
}

/// Returns the mark of an estimate. Only positions and heights have one.
fn finding(estimate: &Estimate, of: Option<&str>) -> Option<Finding> {
    let (axis, what) = match estimate.kind {
        EstimateKind::PeakAt => (FindingAxis::X, "peak"),
        EstimateKind::CrossingAt => (FindingAxis::X, "crossing"),
        EstimateKind::From => (FindingAxis::X, "plateau from"),
        EstimateKind::Height => (FindingAxis::Y, "height"),
        _ => return None,
    };
    let has_ends = estimate.low.is_some() || estimate.high.is_some();
    let ends = [estimate.low.unwrap_or(f64::MIN), estimate.high.unwrap_or(f64::MAX)];
    let of = of.map_or_else(String::new, |name| format!(", {name}"));
    Some(Finding {
        axis,
        value: estimate.value,
        interval: has_ends.then_some(ends),
        label: format!("{what} {}{of}", amount(estimate.value, &estimate.unit)),
        series: None,
    })
}

/// Returns marks for the bounds that a claim specifies on its axes.
fn bounds(claim: &Claim) -> Vec<Finding> {
    let mark = |axis, value, label| Finding { axis, value, interval: None, label, series: None };
    let keys = claim.figure_keys();
    let share =
        keys.share.map(|share| mark(FindingAxis::Y, share, format!("claimed: at least {share}")));
    let from = keys.from.map(|from| {
        mark(FindingAxis::X, from, format!("claimed from {} on", amount(from, claim.over_unit())))
    });
    share.into_iter().chain(from).collect()
}

/// Returns the better direction of the metric, if the claim depends on it.
fn better(claim: &Claim, example: Option<&Sample>) -> Option<Better> {
    let is_shown = claim.test.figure_layout.better == BetterNote::Shown;
    is_shown.then(|| claim.metric().better(example))
}

/// Returns the caption: the feature to look for.
fn caption(claim: &Claim, judgements: &[FileVerdict]) -> Option<String> {
    let is_found = |kind: EstimateKind| {
        let parts = judgements.iter().flat_map(|one| &one.found.parts);
        parts.flat_map(|part| &part.estimates).any(|one| one.kind == kind)
    };
    claim.test.figure_layout.caption.text(is_found).map(str::to_owned)
}
