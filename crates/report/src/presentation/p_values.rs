//! Figure of the p-values of a claim by level. Values are capped, and the significance level is a line.

use ipcperf_results::analysis::Spread;
use ipcperf_study::hypothesis::{Claim, Found, Level, Line, Part, Shown};

use super::Source;
use super::judgement::Judgement;
use super::measured::axis_over;
use crate::figure::{Along, Finding, Plot, Quantity, Scale, Sketch, Trace, Traced};
use crate::wording::p_value;

/// Upper limit of the axis: the size of a larger p-value carries no information.
const CAP: f64 = 0.1;
/// Minimum number of levels for a figure. Fewer are better read in a table.
const LEAST_LEVELS: usize = 3;

/// Describes the figure: a panel for each file and pair of lines. `None` if the claim is not judged level by level.
pub(super) fn sketch<'a>(
    claim: &Claim,
    sources: &[Source<'a>],
    judgements: &[Judgement],
    lines: &[Vec<Shown<'a>>],
) -> Option<Sketch<'a>> {
    let mut plots = Vec::new();
    for ((source, judgement), shown) in sources.iter().zip(judgements).zip(lines) {
        let lines: Vec<Line<'a>> = shown.iter().flat_map(|one| one.lines.iter().cloned()).collect();
        plots.extend(plots_of(claim, source, judgement, &lines));
    }
    let cap = p_value(CAP);
    let counts = if claim.needs_all() {
        "To support, all must lie below it as they are; to reject, one corrected p suffices."
    } else {
        "Corrected are those that the verdict rests on."
    };
    let notes = format!(
        "p-values of each level, drawn no higher than {cap}: beyond the level of the test (dashed) their size \
         says nothing. {counts}"
    );
    (!plots.is_empty()).then(|| Sketch {
        name: format!("p-values-{}", claim.id),
        title: title(claim),
        notes: vec![notes],
        plots,
    })
}

/// Returns the title, with the number of the figure in the publication if it has one.
pub fn title(claim: &Claim) -> String {
    let number = claim.figure().map(|number| format!("Figure {number}, "));
    format!("{}{}: p-values by level", number.unwrap_or_default(), claim.id)
}

fn plots_of<'a>(
    claim: &Claim,
    source: &Source<'a>,
    judgement: &Judgement,
    lines: &[Line<'a>],
) -> Vec<Plot<'a>> {
    let parts = placed(&judgement.found);
    let beside = judgement.beside.as_ref().map(placed).unwrap_or_default();
    let mut pairs: Vec<&str> = Vec::new();
    for one in parts.iter().chain(&beside) {
        if !pairs.contains(&one.pair) {
            pairs.push(one.pair);
        }
    }
    let of = |pair: &str, parts: &[Placed<'_>], which: &str, p: fn(&Part) -> Option<f64>| Trace {
        name: format!("p{which}"),
        points: parts
            .iter()
            .filter(|one| one.pair == pair)
            .filter_map(|one| one.traced(which, p))
            .collect(),
    };
    let plot = |pair: &str| {
        let traces = vec![
            of(pair, &parts, "", |part| part.p),
            of(pair, &parts, ", corrected", |part| part.p_corrected),
            of(pair, &beside, " by the document's test", |part| part.p),
        ];
        Plot {
            title: source.heading(&[pair]),
            x: axis_over(claim.over(), lines),
            y: Quantity::studied("p", "", Scale::Even),
            found: vec![(None, level(claim))],
            caches_of: None,
            limits_of: Vec::new(),
            ends: Some([-0.004, CAP * 1.04]),
            traces: corrected_alone(traces),
        }
    };
    let plots = pairs.into_iter().map(plot);
    plots.filter(|plot| plot.x != Quantity::Case && has_levels(plot)).collect()
}

/// Drops the corrected trace if it equals the uncorrected one.
fn corrected_alone(mut traces: Vec<Trace>) -> Vec<Trace> {
    if traces[0].points.iter().zip(&traces[1].points).all(|(plain, corrected)| {
        plain.spread == corrected.spread && plain.x.total_cmp(&corrected.x).is_eq()
    }) {
        traces.remove(1);
    }
    traces.retain(|trace| !trace.points.is_empty());
    traces
}

fn has_levels(plot: &Plot<'_>) -> bool {
    plot.traces.iter().any(|trace| trace.points.len() >= LEAST_LEVELS)
}

fn level(claim: &Claim) -> Finding {
    let words = format!("level {}", claim.level());
    Finding { along: Along::Up, at: claim.level(), interval: None, words, series: None }
}

/// A part that covers one level.
struct Placed<'p> {
    part: &'p Part,
    /// Pair that it belongs to. Empty if there is only one.
    pair: &'p str,
    level: &'p Level,
}

/// Returns the parts of `found` that cover one level.
fn placed(found: &Found) -> Vec<Placed<'_>> {
    found.parts.iter().chain(&found.by_level).filter_map(Placed::of).collect()
}

impl<'p> Placed<'p> {
    fn of(part: &'p Part) -> Option<Self> {
        let (pair, level) = (part.place.line.as_deref(), part.place.level.as_ref()?);
        Some(Self { part, pair: pair.unwrap_or_default(), level })
    }
}

impl Placed<'_> {
    /// Returns the p-value `p` as a point of a trace. `which` says which p-value it is: `, corrected`.
    fn traced(&self, which: &str, p: fn(&Part) -> Option<f64>) -> Option<Traced> {
        let p = p(self.part)?;
        let drawn = p.min(CAP);
        let Level { x, label } = self.level;
        Some(Traced {
            x: *x,
            label: label.clone(),
            spread: Spread { median: drawn, q1: None, q3: None, n: self.part.n },
            words: Some(format!("{label}: p = {}{which} (n = {})", p_value(p), self.part.n)),
        })
    }
}
