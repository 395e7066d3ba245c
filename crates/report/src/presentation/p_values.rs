//! Figure of the p-values of a claim by level. Values are capped, and the significance level is a line.

use ipcperf_results::analysis::Spread;
use ipcperf_study::hypothesis::{Claim, Findings, Level, Line, LinePanel, Part};

use super::Source;
use super::file_verdict::FileVerdict;
use super::plot_data::{factor_axis, factor_name};
use crate::figure::{
    ChartSpec, Finding, FindingAxis, PanelSpec, Quantity, Scale, Trace, TracePoint,
};
use crate::wording::p_value;

/// Upper limit of the axis: the size of a larger p-value carries no information.
const CAP: f64 = 0.1;
/// Minimum number of levels for a figure. Fewer are better read in a table.
const MIN_LEVELS: usize = 3;

/// Describes the figure: a panel for each file and pair of lines. `None` if the claim is not judged level by level.
pub(super) fn chart_spec<'a>(
    claim: &Claim,
    sources: &[Source<'a>],
    judgements: &[FileVerdict],
    lines: &[Vec<LinePanel<'a>>],
) -> Option<ChartSpec<'a>> {
    let mut plots = Vec::new();
    for ((source, judgement), shown) in sources.iter().zip(judgements).zip(lines) {
        let lines: Vec<Line<'a>> = shown.iter().flat_map(|one| one.lines.iter().cloned()).collect();
        plots.extend(panel_specs(claim, source, judgement, &lines));
    }
    let cap = p_value(CAP);
    let counts = if claim.needs_all() {
        "The claim is supported if every uncorrected p-value is below alpha. One corrected p-value is enough to \
         reject the claim."
    } else {
        "The verdict uses the corrected p-values."
    };
    let notes = format!(
        "p-values above {cap} are drawn at {cap}: above the significance level alpha (dashed), the size of a p-value \
         has no meaning. {counts}"
    );
    (!plots.is_empty()).then(|| ChartSpec {
        name: format!("p-values-{}", claim.id),
        title: title(claim),
        notes: vec![notes],
        plots,
    })
}

/// Returns the title, with the number of the figure in the publication if it has one.
pub fn title(claim: &Claim) -> String {
    let number = claim.figure_number().map(|number| format!("Figure {number}, "));
    let over = factor_name(claim.over());
    format!("{}{}: p-values by {over}", number.unwrap_or_default(), claim.id)
}

fn panel_specs<'a>(
    claim: &Claim,
    source: &Source<'a>,
    judgement: &FileVerdict,
    lines: &[Line<'a>],
) -> Vec<PanelSpec<'a>> {
    let parts = level_parts(&judgement.found);
    let original = judgement.original_test.as_ref().map(level_parts).unwrap_or_default();
    let mut pairs: Vec<&str> = Vec::new();
    for one in parts.iter().chain(&original) {
        if !pairs.contains(&one.pair) {
            pairs.push(one.pair);
        }
    }
    let trace =
        |pair: &str, parts: &[LevelPart<'_>], which: &str, p: fn(&Part) -> Option<f64>| Trace {
            name: format!("p{which}"),
            points: parts
                .iter()
                .filter(|one| one.pair == pair)
                .filter_map(|one| one.to_trace_point(which, p))
                .collect(),
        };
    let plot = |pair: &str| {
        let traces = vec![
            trace(pair, &parts, "", |part| part.p),
            trace(pair, &parts, ", corrected", |part| part.p_corrected),
            trace(pair, &original, " of the original test", |part| part.p),
        ];
        PanelSpec {
            title: source.heading(&[pair]),
            x: factor_axis(claim.over(), lines),
            y: Quantity::from_study("p", "", Scale::Linear),
            findings: vec![(None, alpha_line(claim))],
            cache_source: None,
            limit_cases: Vec::new(),
            y_range: Some([-0.004, CAP * 1.04]),
            traces: drop_equal_correction(traces),
        }
    };
    let plots = pairs.into_iter().map(plot);
    plots.filter(|plot| plot.x != Quantity::Case && has_enough_levels(plot)).collect()
}

/// Drops the corrected trace if it equals the uncorrected one.
fn drop_equal_correction(mut traces: Vec<Trace>) -> Vec<Trace> {
    if traces[0].points.iter().zip(&traces[1].points).all(|(plain, corrected)| {
        plain.spread == corrected.spread && plain.x.total_cmp(&corrected.x).is_eq()
    }) {
        traces.remove(1);
    }
    traces.retain(|trace| !trace.points.is_empty());
    traces
}

fn has_enough_levels(plot: &PanelSpec<'_>) -> bool {
    plot.traces.iter().any(|trace| trace.points.len() >= MIN_LEVELS)
}

fn alpha_line(claim: &Claim) -> Finding {
    let words = format!("alpha {}", claim.alpha());
    Finding {
        axis: FindingAxis::Y,
        value: claim.alpha(),
        interval: None,
        label: words,
        series: None,
    }
}

/// A part that covers one level.
struct LevelPart<'p> {
    part: &'p Part,
    /// Pair that it belongs to. Empty if there is only one.
    pair: &'p str,
    level: &'p Level,
}

/// Returns the parts of `found` that cover one level.
fn level_parts(found: &Findings) -> Vec<LevelPart<'_>> {
    found.parts.iter().chain(&found.by_level).filter_map(LevelPart::from_part).collect()
}

impl<'p> LevelPart<'p> {
    fn from_part(part: &'p Part) -> Option<Self> {
        let (pair, level) = (part.scope.line.as_deref(), part.scope.level.as_ref()?);
        Some(Self { part, pair: pair.unwrap_or_default(), level })
    }
}

impl LevelPart<'_> {
    /// Returns the p-value `p` as a point of a trace. `which` says which p-value it is: `, corrected`.
    fn to_trace_point(&self, which: &str, p: fn(&Part) -> Option<f64>) -> Option<TracePoint> {
        let p = p(self.part)?;
        let drawn = p.min(CAP);
        let Level { x, label } = self.level;
        Some(TracePoint {
            x: *x,
            label: label.clone(),
            spread: Spread { median: drawn, q1: None, q3: None, n: self.part.n },
            tooltip: Some(format!("{label}: p = {}{which} (n = {})", p_value(p), self.part.n)),
        })
    }
}
