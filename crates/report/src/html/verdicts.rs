//! Verdicts: each claim with its verdict, the evidence and its figure.

use ipcperf_study::hypothesis::{Claim, Correction, Findings, Part, Verdict};
use maud::{Markup, html};

use super::figures::{self, FigureEntry};
use crate::figure::SeriesNames;
use crate::presentation::{FileVerdict, ShownClaim, p_values_title};
use crate::terminal::{effect_heading, estimate};
use crate::wording::{amount, p_value};

/// Number of parts above which the table is collapsed.
const MAX_OPEN_PARTS: usize = 12;

pub(super) fn section(claims: &[ShownClaim<'_>], names: &SeriesNames) -> Markup {
    html! {
        p {
            "Each claim was written down before the measurement. A claim that is not supported is not necessarily \
             wrong: an inconclusive verdict states how many repetitions would decide the claim, or why no number \
             would. A claim about several cases has several parts, each with its own row in the table of evidence. \
             There is no correction for the number of claims: at a significance level (alpha) of 0.05, about one in \
             twenty false claims is supported by chance."
        }
        (overview(claims))
        @for claim in claims { (claim_article(claim, names)) }
    }
}

/// Lists all verdicts.
fn overview(claims: &[ShownClaim<'_>]) -> Markup {
    html! {
        div.scroll { table.verdicts {
            thead { tr { th { "claim" } th { "verdict" } } }
            tbody { @for shown in claims {
                tr {
                    td { a href={ "#verdict-" (shown.claim.id) } { (shown.claim.id) } " " (shown.claim.claim) }
                    td { @for judgement in &shown.verdicts { (badge(judgement)) " " } }
                }
            } }
        } }
    }
}

fn claim_article(shown: &ShownClaim<'_>, names: &SeriesNames) -> Markup {
    let claim = shown.claim;
    let charts = [&shown.chart, &shown.p_values].into_iter().flatten();
    let entries: Vec<FigureEntry<'_>> = charts.map(FigureEntry::whole).collect();
    html! {
        article.claim id={ "verdict-" (claim.id) } {
            h3 { (claim.id) ": " (claim.claim) }
            @for judgement in &shown.verdicts { (verdict_details(claim, judgement)) }
            @if let Some(published) = claim.published() { p { b { "Published: " } (published) "." } }
            (figures::figures(&entries, names))
            @if shown.p_values.is_none() && claim.figure_number().is_some() {
                h3 { (p_values_title(claim)) }
                p.quiet { "Not shown: there is no p-value." }
            }
            (test_details(claim))
        }
    }
}

/// Shows a verdict, the verdict of the publication's own test, and the evidence of both.
fn verdict_details(claim: &Claim, judgement: &FileVerdict) -> Markup {
    let FileVerdict { found, original_test: beside, .. } = judgement;
    html! {
        p {
            (badge(judgement))
            @if let Some(words) = found.on_average() { " " (words) "." }
            @if let Some(words) = explanation(&found.verdict) { " " (words) }
        }
        @if let Some(beside) = beside {
            p {
                b { "Original test: " } (beside.verdict.description())
                @if let Some(by) = claim.with_original_test().map(|beside| test_settings(&beside)) { " (" (by) ")" } "."
            }
        }
        @if let Some(words) = &judgement.at_look { p { (capitalized(words)) "." } }
        (evidence("Evidence", found))
        @if !found.remarks.is_empty() { ul.details { @for told in &found.remarks {
            @if !told.is_empty() { li { (told) } }
        } } }
        @if let Some(beside) = beside { details {
            summary { "Evidence of the original test" }
            (table("Original test", &beside.parts))
        } }
        @if let Some(words) = excluded_text(judgement) { p.quiet { (words) } }
    }
}

fn excluded_text(judgement: &FileVerdict) -> Option<String> {
    let each: Vec<String> =
        judgement.excluded.iter().map(|(reason, count)| format!("{count} {reason}")).collect();
    (!each.is_empty()).then(|| format!("Excluded runs: {}.", each.join(", ")))
}

/// Shows the verdict as a badge after the letter of its file.
fn badge(judgement: &FileVerdict) -> Markup {
    let (kind, sign) = match judgement.found.verdict {
        Verdict::Supported => ("supported", "✓"),
        Verdict::Rejected => ("rejected", "✗"),
        Verdict::Inconclusive { .. } => ("inconclusive", "?"),
        Verdict::NotTestable { .. } => ("not-testable", "–"),
    };
    html! {
        span.badge.(kind) {
            @if let Some(letter) = judgement.letter { (letter) ": " }
            span aria-hidden="true" { (sign) " " } (judgement.found.verdict.name())
        }
    }
}

/// Returns the explanation of a verdict as a sentence.
fn explanation(verdict: &Verdict) -> Option<String> {
    let words = verdict.explanation()?;
    let is_sentence = matches!(verdict, Verdict::Inconclusive { .. });
    Some(format!("{}.", if is_sentence { capitalized(&words) } else { words }))
}

fn capitalized(words: &str) -> String {
    let mut letters = words.chars();
    let first = letters.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

fn evidence(caption: &str, found: &Findings) -> Markup {
    let parts = &found.parts;
    html! {
        @if parts.len() > MAX_OPEN_PARTS {
            details { summary { (caption) ": " (parts.len()) " parts" } (table(caption, parts)) }
        } @else if !parts.is_empty() { (table(caption, parts)) }
    }
}

fn table(caption: &str, parts: &[Part]) -> Markup {
    let has_p = parts.iter().any(|part| part.p.is_some());
    html! {
        div.scroll { table.evidence {
            caption { (caption) }
            thead { tr {
                th { "part" } th { "verdict" } th.figure { "n" } th.figure { "medians" }
                th { (effect_heading(parts)) }
                @if has_p {
                    th.figure { "statistic" } th.figure { "p" } th.figure { "p, corrected" }
                }
            } }
            tbody { @for part in parts { (row(part, has_p.then(|| test_statistics(part)).as_ref())) } }
        } }
    }
}

/// Formats the statistic, the p-value and the corrected p-value.
fn test_statistics(part: &Part) -> [String; 3] {
    let p = |value: Option<f64>| value.map_or_else(String::new, p_value);
    let statistic = part.statistic.as_ref();
    let statistic = statistic.map(|(name, value)| format!("{name} = {}", amount(*value, "")));
    [statistic.unwrap_or_default(), p(part.p), p(part.p_corrected)]
}

fn row(part: &Part, statistics: Option<&[String; 3]>) -> Markup {
    let medians: Vec<String> =
        part.medians.iter().map(|value| amount(*value, &part.unit)).collect();
    html! {
        tr {
            th scope="row" { (part.what) }
            td {
                (part.verdict.name())
                @if let Some(words) = explanation(&part.verdict) { div.quiet { (words) } }
                @if let Some(note) = &part.note { div.quiet { (note) } }
            }
            td.figure { @if part.n > 0 { (part.n) } }
            td.figure { (medians.join("\n")) }
            td { @for one in &part.estimates { div { (estimate(one)) } } }
            @for number in statistics.into_iter().flatten() { td.figure { (number) } }
        }
    }
}

/// Names the statistic and its correction: `student, uncorrected`.
fn test_settings(claim: &Claim) -> String {
    let correction = match claim.correction() {
        Correction::Holm => "Holm's correction",
        Correction::BenjaminiHochberg => "Benjamini-Hochberg correction",
        Correction::None => "uncorrected",
    };
    let given = ["statistic", "rule"].into_iter().filter_map(|key| claim.given_choice(key));
    let parts = given.map(str::to_owned);
    let parts = parts.chain([format!("alpha {}", claim.alpha()), correction.to_owned()]);
    parts.collect::<Vec<_>>().join(", ")
}

/// Describes the test.
fn test_details(claim: &Claim) -> Markup {
    let test = claim.test;
    html! {
        details {
            summary { "Statistical test" }
            dl {
                dt { "Test" } dd { (test.name) ": " (test.about) "." }
                dt { "Settings in the study" } dd { (test_settings(claim)) (case_selection(claim)) "." }
                dt { "Estimate" } dd { (test.estimate) }
                dt { "Supported if" } dd { (test.supported_if) }
                dt { "Rejected if" } dd { (test.rejected_if) }
                dt { "Assumptions" } dd { (test.assumptions) }
                dt { "Source" } dd { (test.source) "." }
            }
        }
    }
}

/// Describes the selected cases.
fn case_selection(claim: &Claim) -> String {
    let selection = |key: &str| {
        claim.given_cases(key).map(|selection| format!("; {key}: {}", selection.description()))
    };
    ["where", "first", "second"].into_iter().filter_map(selection).collect()
}
