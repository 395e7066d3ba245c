//! Verdicts for display on a terminal and for scripts, always with their evidence.

use ipcperf_study::hypothesis::{Estimate, Findings, JudgedClaim, Part};
use serde_json::{Value, json};

use super::cells::new_table;
use super::width::wrap;
use crate::wording::{amount, p_value};

/// Maximum number of parts listed. More are only counted.
const MAX_LISTED: usize = 60;

/// Formats each claim with its verdict and evidence.
pub fn verdicts_text(judged: &[JudgedClaim<'_>], columns: usize) -> String {
    judged.iter().map(|claim| verdict_text(claim, columns)).collect::<Vec<_>>().join("\n\n")
}

/// Formats the same as JSON.
pub fn verdicts_json(judged: &[JudgedClaim<'_>]) -> Value {
    let entry = |one: &JudgedClaim<'_>| {
        json!({
            "id": one.claim.id, "claim": one.claim.claim, "test": one.claim.test.name,
            "verdict": one.findings.verdict.name(), "evidence": one.findings,
            "published": one.claim.published(),
            "at_look": one.at_look,
            "original_test": one.original_findings.as_ref().map(|found| {
                json!({ "verdict": found.verdict.name(), "evidence": found })
            }),
        })
    };
    judged.iter().map(entry).collect()
}

fn verdict_text(judged: &JudgedClaim<'_>, columns: usize) -> String {
    let claim = judged.claim;
    let verdict = judged.findings.headline();
    let head = wrap(&format!("{}: {}\n  {verdict}", claim.id, claim.claim), columns);
    let mut parts = vec![head];
    if let Some(original) = &judged.original_findings {
        parts.push(format!("  original test: {}", original.verdict.description()));
    }
    let at_look = judged.at_look.as_ref().and_then(|at| at.description(&judged.findings.verdict));
    parts.extend(at_look.map(|words| wrap(&format!("  {words}"), columns)));
    parts.extend(claim.published().map(|found| format!("  published: {found}")));
    parts.extend(evidence(&judged.findings, columns));
    parts.extend(
        judged.findings.remarks.iter().map(|printed| wrap(&format!("  {printed}"), columns)),
    );
    parts.join("\n")
}

fn evidence(found: &Findings, columns: usize) -> Option<String> {
    if found.parts.is_empty() {
        return None;
    }
    let mut table = new_table(columns);
    table.set_header([
        "",
        "verdict",
        "n",
        "medians",
        &effect_heading(&found.parts),
        "p",
        "p, corrected",
    ]);
    for part in found.parts.iter().take(MAX_LISTED) {
        table.add_row(row(part));
    }
    let more = found.parts.len().saturating_sub(MAX_LISTED);
    let more = if more == 0 { String::new() } else { format!("\n... and {more} more parts") };
    Some(format!("{table}{more}"))
}

fn row(part: &Part) -> [String; 7] {
    let p = |value: Option<f64>| value.map_or_else(String::new, p_value);
    let medians: Vec<String> =
        part.medians.iter().map(|value| amount(*value, &part.unit)).collect();
    let effects: Vec<String> = part.estimates.iter().map(estimate).collect();
    let verdict = match &part.note {
        Some(note) => format!("{} ({note})", part.verdict.name()),
        None => part.verdict.name().to_owned(),
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

/// Confidence level of the intervals of most tests; another one is stated with the estimate.
const USUAL_LEVEL: f64 = 0.95;

/// Returns the heading of the column of estimates. A claim that is judged at several looks has wider intervals.
pub fn effect_heading(parts: &[Part]) -> String {
    let is_usual = |one: &Estimate| one.low.is_none() || one.level == USUAL_LEVEL;
    let are_usual = parts.iter().flat_map(|part| &part.estimates).all(is_usual);
    let exception = if are_usual { "" } else { ", or as stated" };
    format!("effect (95 % interval{exception})")
}

/// Formats an estimate: `ratio 1.23 (1.20 to 1.27)`, or `ratio 1.23 (97.5 %: 1.19 to 1.28)`.
pub fn estimate(estimate: &Estimate) -> String {
    let amount = |value: f64| amount(value, &estimate.unit);
    let level = if estimate.level == USUAL_LEVEL {
        String::new()
    } else {
        format!("{} %: ", (estimate.level * 10_000.0).round() / 100.0)
    };
    let ends = estimate.low.zip(estimate.high);
    let ends = ends.map(|(low, high)| format!(" ({level}{} to {})", amount(low), amount(high)));
    format!("{} {}{}", estimate.name, amount(estimate.value), ends.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use ipcperf_study::hypothesis::EstimateKind;

    use super::*;

    /// Looks and corrections change the level; every interval used to be printed as one of 95 %.
    #[test]
    fn an_interval_of_another_level_says_so() {
        let ratio = |level| {
            Estimate::new(EstimateKind::Ratio, 1.5, level).with_interval(Some(1.0), Some(2.0))
        };
        assert_eq!(estimate(&ratio(0.95)), "ratio 1.500 (1.000 to 2.000)");
        assert_eq!(estimate(&ratio(1.0 - 0.0125)), "ratio 1.500 (98.75 %: 1.000 to 2.000)");
    }
}
