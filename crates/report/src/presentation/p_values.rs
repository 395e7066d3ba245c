//! The p-values of a claim that is judged at levels, by level: capped, with the level as a line.

use ipcperf_results::analysis::Spread;

use super::Source;
use super::measured::axis_over;
use crate::figure::{Along, Finding, Plot, Quantity, Scale, Sketch, Trace, Traced};
use crate::presentation::judgement::Judgement;
use crate::wording::p_value;
use ipcperf_study::hypothesis::{Claim, Found, Level, Line, Part, Shown};

/// Above this, how large a p-value is says nothing more: they are drawn here.
const CAP: f64 = 0.1;
/// Fewer levels are a table, not a curve.
const LEAST_LEVELS: usize = 3;

/// The p-values of `claim`, a panel for each file and pair of lines; `None` where it is not judged at levels.
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

/// What heads them: the number that they have in the document, where they are in it.
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
    let of = |pair: &str, parts: &[Placed<'_>], name: &str, p: fn(&Part) -> Option<f64>| Trace {
        name: name.to_owned(),
        points: parts
            .iter()
            .filter(|one| one.pair == pair)
            .filter_map(|one| one.traced(name, p))
            .collect(),
    };
    let plot = |pair: &str| {
        let traces = vec![
            of(pair, &parts, "p", |part| part.p),
            of(pair, &parts, "p, corrected", |part| part.p_corrected),
            of(pair, &beside, "p by the document's test", |part| part.p),
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

/// Where nothing was corrected, one line of the two is enough.
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

/// A part that is of one level.
struct Placed<'p> {
    part: &'p Part,
    /// The pair it is of; empty where there is only one.
    pair: &'p str,
    level: &'p Level,
}

/// The parts of `found` that are of one level.
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
    /// Its p-value as it is drawn in the line `name`, which begins with `p`.
    fn traced(&self, name: &str, p: fn(&Part) -> Option<f64>) -> Option<Traced> {
        let p = p(self.part)?;
        let drawn = p.min(CAP);
        let Level { x, label } = self.level;
        let which = name.strip_prefix('p').unwrap_or_default();
        Some(Traced {
            x: *x,
            label: label.clone(),
            spread: Spread { median: drawn, q1: None, q3: None, n: self.part.n },
            words: Some(format!("{label}: p = {}{which} (n = {})", p_value(p), self.part.n)),
        })
    }
}
