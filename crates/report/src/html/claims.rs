//! Verdicts: each claim with its verdict, the evidence and its figure.

use ipcperf_study::hypothesis::{Claim, Correction, Found, Part, Verdict};
use maud::{Markup, html};

use super::figures;
use crate::figure::Names;
use crate::presentation::{Judgement, ShownClaim, p_values_title};
use crate::terminal::estimate;
use crate::wording::{amount, p_value};

/// Number of parts above which the table is collapsed.
const OPEN_PARTS: usize = 12;

pub(super) fn section(claims: &[ShownClaim<'_>], names: &Names) -> Markup {
    html! {
        p {
            "What was claimed beforehand, and what this measurement says of it. A claim that is not supported \
             need not be wrong: inconclusive says how many repetitions would settle it, or why none would. Claims \
             are not corrected against each other: of twenty false ones, one is supported by chance at a level of \
             0.05."
        }
        (in_short(claims))
        @for claim in claims { (one(claim, names)) }
    }
}

/// Lists all verdicts.
fn in_short(claims: &[ShownClaim<'_>]) -> Markup {
    html! {
        div.scroll { table.verdicts {
            thead { tr { th { "claim" } th { "verdict" } } }
            tbody { @for shown in claims {
                tr {
                    td { a href={ "#verdict-" (shown.claim.id) } { (shown.claim.id) } " " (shown.claim.claim) }
                    td { @for judgement in &shown.judgements { (badge(judgement)) " " } }
                }
            } }
        } }
    }
}

fn one(shown: &ShownClaim<'_>, names: &Names) -> Markup {
    let claim = shown.claim;
    html! {
        article.claim id={ "verdict-" (claim.id) } {
            h3 { (claim.id) ": " (claim.claim) }
            @for judgement in &shown.judgements { (judged(claim, judgement)) }
            @if let Some(published) = claim.published() { p { b { "Published: " } (published) "." } }
            @if let Some(chart) = &shown.chart { (figures::figure(chart, names)) }
            @match &shown.p_values {
                Some(chart) => (figures::figure(chart, names)),
                None => @if claim.figure().is_some() {
                    h3 { (p_values_title(claim)) }
                    p.quiet { "Not drawn: no level of it was compared." }
                },
            }
            (how(claim))
        }
    }
}

/// Shows a verdict, the verdict of the publication's own test, and the evidence of both.
fn judged(claim: &Claim, judgement: &Judgement) -> Markup {
    let Judgement { found, beside, .. } = judgement;
    html! {
        p {
            (badge(judgement))
            @if let Some(words) = found.on_average() { " " (words) "." }
            @if let Some(words) = to_do(&found.verdict) { " " (words) }
        }
        @if let Some(beside) = beside {
            p {
                b { "As the document judged: " } (beside.verdict.words())
                @if let Some(by) = claim.beside().map(|beside| by(&beside)) { " (" (by) ")" } "."
            }
        }
        (evidence("Evidence", found))
        @if !found.told.is_empty() { ul.told { @for told in &found.told {
            @if !told.is_empty() { li { (told) } }
        } } }
        @if let Some(beside) = beside { details {
            summary { "What that rests on" }
            (table("As the document judged", &beside.parts))
        } }
        @if let Some(words) = set_aside(judgement) { p.quiet { (words) } }
    }
}

fn set_aside(judgement: &Judgement) -> Option<String> {
    let each: Vec<String> =
        judgement.set_aside.iter().map(|(reason, count)| format!("{count} {reason}")).collect();
    (!each.is_empty())
        .then(|| format!("Runs set aside, and kept in the file: {}.", each.join(", ")))
}

/// Shows the verdict as a badge after the letter of its file.
fn badge(judgement: &Judgement) -> Markup {
    let (kind, sign) = match judgement.found.verdict {
        Verdict::Supported => ("supported", "✓"),
        Verdict::Rejected => ("rejected", "✗"),
        Verdict::Inconclusive { .. } => ("inconclusive", "?"),
        Verdict::NotTestable { .. } => ("not-testable", "–"),
    };
    html! {
        span.badge.(kind) {
            @if let Some(letter) = judgement.letter { (letter) ": " }
            span aria-hidden="true" { (sign) " " } (judgement.found.verdict.word())
        }
    }
}

/// Returns the explanation of a verdict as a sentence.
fn to_do(verdict: &Verdict) -> Option<String> {
    let words = verdict.beyond()?;
    let mut letters = words.chars();
    let first = letters.next()?;
    let is_sentence = matches!(verdict, Verdict::Inconclusive { .. });
    let first = if is_sentence { first.to_ascii_uppercase() } else { first };
    Some(format!("{first}{}.", letters.as_str()))
}

fn evidence(caption: &str, found: &Found) -> Markup {
    let parts = &found.parts;
    html! {
        @if parts.len() > OPEN_PARTS {
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
                th { "effect (interval)" }
                @if has_p {
                    th.figure { "statistic" } th.figure { "p" } th.figure { "p, corrected" }
                }
            } }
            tbody { @for part in parts { (row(part, has_p.then(|| tested(part)).as_ref())) } }
        } }
    }
}

/// Formats the statistic, the p-value and the corrected p-value.
fn tested(part: &Part) -> [String; 3] {
    let p = |value: Option<f64>| value.map_or_else(String::new, p_value);
    let statistic = part.statistic.as_ref();
    let statistic = statistic.map(|(name, value)| format!("{name} = {}", amount(*value, "")));
    [statistic.unwrap_or_default(), p(part.p), p(part.p_corrected)]
}

fn row(part: &Part, tested: Option<&[String; 3]>) -> Markup {
    let medians: Vec<String> =
        part.medians.iter().map(|value| amount(*value, &part.unit)).collect();
    html! {
        tr {
            th scope="row" { (part.what) }
            td {
                (part.verdict.word())
                @if let Some(words) = to_do(&part.verdict) { div.quiet { (words) } }
                @if let Some(note) = &part.note { div.quiet { (note) } }
            }
            td.figure { @if part.n > 0 { (part.n) } }
            td.figure { (medians.join("\n")) }
            td { @for one in &part.estimates { div { (estimate(one)) } } }
            @for number in tested.into_iter().flatten() { td.figure { (number) } }
        }
    }
}

/// Names the statistic and its correction: `student, uncorrected`.
fn by(claim: &Claim) -> String {
    let correction = match claim.correction() {
        Correction::Holm => "corrected by Holm",
        Correction::BenjaminiHochberg => "corrected by Benjamini and Hochberg",
        Correction::None => "uncorrected",
    };
    let given = ["statistic", "rule"].into_iter().filter_map(|key| claim.given_word(key));
    let parts = given.map(str::to_owned);
    let parts = parts.chain([format!("level {}", claim.level()), correction.to_owned()]);
    parts.collect::<Vec<_>>().join(", ")
}

/// Describes the test.
fn how(claim: &Claim) -> Markup {
    let test = claim.test;
    html! {
        details {
            summary { "How it was judged" }
            dl {
                dt { "Test" } dd { (test.name) ": " (test.about) "." }
                dt { "As the study sets it" } dd { (by(claim)) (cases(claim)) "." }
                dt { "Formula" } dd { (test.formula) }
                dt { "Assumptions" } dd { (test.assumptions) }
                dt { "Source" } dd { (test.source) "." }
            }
        }
    }
}

/// Describes the selected cases.
fn cases(claim: &Claim) -> String {
    let of = |key: &str| {
        claim.given_cases(key).map(|selection| format!("; {key}: {}", selection.words()))
    };
    ["where", "first", "second"].into_iter().filter_map(of).collect()
}
