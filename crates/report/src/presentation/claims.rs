//! Presentation of claims: verdicts for each file, and figures with the findings.

use ipcperf_results::Sample;
use ipcperf_study::Better;
use ipcperf_study::hypothesis::{
    BetterNote, Claim, Estimate, EstimateKind, Found, Part, Shown, shown,
};

use super::judgement::Judgement;
use super::measured::{axis, axis_over, of_medians, trace};
use super::{Source, p_values};
use crate::figure::{Along, Chart, Finding, Names, Plot, Quantity, Scale, Sketch, Trace};
use crate::wording::amount;

/// A claim with its verdicts and figures.
pub struct ShownClaim<'s> {
    /// The claim.
    pub claim: &'s Claim,
    /// One judgement for each file.
    pub judgements: Vec<Judgement>,
    /// Figure of its lines.
    pub chart: Option<Chart>,
    /// Figure of its p-values, if it is judged level by level.
    pub p_values: Option<Chart>,
}

impl<'s> ShownClaim<'s> {
    /// Judges `claim` on each of `sources`.
    pub(super) fn of(claim: &'s Claim, sources: &[Source<'_>], names: &mut Names) -> Self {
        let judgements: Vec<Judgement> =
            sources.iter().map(|source| Judgement::of(claim, source)).collect();
        let lines: Vec<Vec<Shown<'_>>> =
            sources.iter().map(|source| shown(claim, &source.cells)).collect();
        let sketch = sketch(claim, sources, &judgements, &lines);
        let chart = Chart::sketched(sketch, names);
        let p_values = p_values::sketch(claim, sources, &judgements, &lines);
        let p_values = p_values.and_then(|sketch| Chart::sketched(sketch, names));
        Self { claim, judgements, chart, p_values }
    }
}

/// Describes the figure of a claim's lines, with the findings marked.
fn sketch<'a>(
    claim: &Claim,
    sources: &[Source<'a>],
    judgements: &[Judgement],
    lines: &[Vec<Shown<'a>>],
) -> Sketch<'a> {
    let mut plots = Vec::new();
    for ((source, judgement), shown) in sources.iter().zip(judgements).zip(lines) {
        plots.extend(shown.iter().map(|one| plot(claim, source, judgement, one)));
    }
    let first = lines.iter().flatten().flat_map(|shown| &shown.lines).next();
    let example = first.and_then(|line| line.example);
    let traces: Vec<Trace> = plots.iter().flat_map(|plot| plot.traces.clone()).collect();
    let notes = [see(claim, judgements), of_medians(&traces, better(claim, example))];
    Sketch {
        name: format!("claim-{}", claim.id),
        title: format!("{}: {}", claim.id, what(claim, example)),
        notes: notes.into_iter().flatten().collect(),
        plots,
    }
}

/// Returns the title: the metric and the factor.
fn what(claim: &Claim, example: Option<&Sample>) -> String {
    let name = super::measured::name(claim.metric(), example);
    let over = match claim.over() {
        "buffer" => "buffer size".to_owned(),
        over => over.replace('_', " "),
    };
    match claim.picture_keys().whole {
        Some(whole) => format!("{name} as a share of {}, by {over}", whole.words()),
        None => format!("{name} by {over}"),
    }
}

fn plot<'a>(
    claim: &Claim,
    source: &Source<'a>,
    judgement: &Judgement,
    shown: &Shown<'a>,
) -> Plot<'a> {
    let x = axis_over(claim.over(), &shown.lines);
    let keys = claim.picture_keys();
    let y = match (keys.whole, keys.share) {
        (Some(_), _) => Quantity::studied("share", "", Scale::Even),
        (None, Some(_)) => axis(claim.metric(), &shown.lines, Scale::Even),
        (None, None) => axis(claim.metric(), &shown.lines, Scale::Decimal),
    };
    let place = shown.lines.iter().find_map(|line| line.example);
    let place = place.map_or_else(String::new, |sample| {
        format!("{}, {}", sample.run.case.mode.name(), sample.run.case.placement)
    });
    Plot {
        title: source.heading(&[&shown.name, &place]),
        x,
        y,
        traces: shown.lines.iter().map(trace).collect(),
        found: findings(claim, &judgement.found, shown),
        caches_of: Some(source.file),
        limits_of: Vec::new(),
        ends: None,
    }
}

/// Returns the findings on the lines of `shown`, as marks.
fn findings(claim: &Claim, found: &Found, shown: &Shown<'_>) -> Vec<(Option<String>, Finding)> {
    let is_line = |part: &Part, name: &str| {
        part.place.level.is_none() && part.place.line.as_deref() == Some(name)
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
    let (along, what) = match estimate.kind {
        EstimateKind::PeakAt => (Along::Across, "peak"),
        EstimateKind::CrossingAt => (Along::Across, "crossing"),
        EstimateKind::From => (Along::Across, "flat from"),
        EstimateKind::Height => (Along::Up, "height"),
        _ => return None,
    };
    let has_ends = estimate.low.is_some() || estimate.high.is_some();
    let ends = [estimate.low.unwrap_or(f64::MIN), estimate.high.unwrap_or(f64::MAX)];
    let of = of.map_or_else(String::new, |name| format!(", {name}"));
    Some(Finding {
        along,
        at: estimate.value,
        interval: has_ends.then_some(ends),
        words: format!("{what} {}{of}", amount(estimate.value, &estimate.unit)),
        series: None,
    })
}

/// Returns marks for the bounds that a claim specifies on its axes.
fn bounds(claim: &Claim) -> Vec<Finding> {
    let mark = |along, at, words| Finding { along, at, interval: None, words, series: None };
    let keys = claim.picture_keys();
    let share =
        keys.share.map(|share| mark(Along::Up, share, format!("claimed: at least {share}")));
    let from = keys.from.map(|from| {
        mark(Along::Across, from, format!("claimed from {} on", amount(from, claim.over_unit())))
    });
    share.into_iter().chain(from).collect()
}

/// Returns the better direction of the metric, if the claim depends on it.
fn better(claim: &Claim, example: Option<&Sample>) -> Option<Better> {
    let is_asked = claim.test.picture.better == BetterNote::Shown;
    is_asked.then(|| claim.metric().better(example))
}

/// Returns the caption: the feature to look for.
fn see(claim: &Claim, judgements: &[Judgement]) -> Option<String> {
    let is_found = |kind: EstimateKind| {
        let parts = judgements.iter().flat_map(|one| &one.found.parts);
        parts.flat_map(|part| &part.estimates).any(|one| one.kind == kind)
    };
    claim.test.picture.caption.words(is_found).map(str::to_owned)
}
