//! Verdicts for display on a terminal and for scripts, always with their evidence.

use ipcperf_study::hypothesis::{Estimate, Found, Judged, Part};
use serde_json::{Value, json};

use super::cells::new_table;
use super::width::fit;
use crate::wording::{amount, p_value};

/// Maximum number of parts listed. More are only counted.
const LISTED: usize = 60;

/// Formats each claim with its verdict and evidence.
pub fn verdicts_text(judged: &[Judged<'_>], columns: usize) -> String {
    judged.iter().map(|claim| one(claim, columns)).collect::<Vec<_>>().join("\n\n")
}

/// Formats the same as JSON.
pub fn verdicts_json(judged: &[Judged<'_>]) -> Value {
    let entry = |one: &Judged<'_>| {
        json!({
            "id": one.claim.id, "claim": one.claim.claim, "test": one.claim.test.name,
            "verdict": one.found.verdict.word(), "evidence": one.found,
            "published": one.claim.published(),
            "at_look": one.at_look,
            "beside": one.beside.as_ref().map(|found| {
                json!({ "verdict": found.verdict.word(), "evidence": found })
            }),
        })
    };
    judged.iter().map(entry).collect()
}

fn one(judged: &Judged<'_>, columns: usize) -> String {
    let claim = judged.claim;
    let verdict = judged.found.words();
    let head = fit(&format!("{}: {}\n  {verdict}", claim.id, claim.claim), columns);
    let mut parts = vec![head];
    if let Some(beside) = &judged.beside {
        parts.push(format!("  as the document judged: {}", beside.verdict.words()));
    }
    let at_look = judged.at_look.as_ref().and_then(|at| at.words(&judged.found.verdict));
    parts.extend(at_look.map(|words| fit(&format!("  {words}"), columns)));
    parts.extend(claim.published().map(|found| format!("  published: {found}")));
    parts.extend(evidence(&judged.found, columns));
    parts.extend(judged.found.told.iter().map(|told| fit(&format!("  {told}"), columns)));
    parts.join("\n")
}

fn evidence(found: &Found, columns: usize) -> Option<String> {
    if found.parts.is_empty() {
        return None;
    }
    let mut table = new_table(columns);
    table.set_header(["", "verdict", "n", "medians", "effect (95 % interval)", "p", "corrected"]);
    for part in found.parts.iter().take(LISTED) {
        table.add_row(row(part));
    }
    let more = found.parts.len().saturating_sub(LISTED);
    let more = if more == 0 { String::new() } else { format!("\n... and {more} more parts") };
    Some(format!("{table}{more}"))
}

fn row(part: &Part) -> [String; 7] {
    let p = |value: Option<f64>| value.map_or_else(String::new, p_value);
    let medians: Vec<String> =
        part.medians.iter().map(|value| amount(*value, &part.unit)).collect();
    let effects: Vec<String> = part.estimates.iter().map(estimate).collect();
    let verdict = match &part.note {
        Some(note) => format!("{} ({note})", part.verdict.word()),
        None => part.verdict.word().to_owned(),
    };
    let n = if part.n == 0 { String::new() } else { part.n.to_string() };
    [
        part.what.clone(),
        verdict,
        n,
        medians.join(", "),
        effects.join("\n"),
        p(part.p),
        p(part.p_corrected),
    ]
}

/// Formats an estimate: `ratio 1.23 (1.20 to 1.27)`.
pub fn estimate(estimate: &Estimate) -> String {
    let amount = |value: f64| amount(value, &estimate.unit);
    let ends = estimate.low.zip(estimate.high);
    let ends = ends.map(|(low, high)| format!(" ({} to {})", amount(low), amount(high)));
    format!("{} {}{}", estimate.name, amount(estimate.value), ends.unwrap_or_default())
}
