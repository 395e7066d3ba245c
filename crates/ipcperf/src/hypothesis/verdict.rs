//! Verdicts: of the parts of a claim, and of the claim as a whole.

use serde::Serialize;

use super::claim::Claim;
use super::sequential::{self, AtLook};
use super::{Cells, Part};
use crate::results::Results;
use crate::study::Study;

/// What became of a claim.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "verdict", rename_all = "kebab-case")]
pub(crate) enum Verdict {
    /// What was measured supports it.
    Supported,
    /// What was measured speaks against it.
    Rejected,
    /// What was measured does not suffice.
    Inconclusive {
        /// So many repetitions would settle it, were the effect as it was seen; null where none can be told.
        repetitions: Option<u64>,
    },
    /// It cannot be measured here.
    NotTestable {
        /// Why, and what would help.
        reason: String,
    },
}

impl Verdict {
    /// Its word.
    pub(crate) const fn word(&self) -> &'static str {
        match self {
            Self::Supported => "supported",
            Self::Rejected => "rejected",
            Self::Inconclusive { .. } => "inconclusive",
            Self::NotTestable { .. } => "not testable here",
        }
    }

    /// Its word, and what is to be done about it.
    pub(crate) fn words(&self) -> String {
        match self {
            Self::Inconclusive { repetitions: Some(n) } => {
                format!("inconclusive: about {n} repetitions would settle it")
            }
            Self::NotTestable { reason } => format!("not testable here: {reason}"),
            plain => plain.word().to_owned(),
        }
    }
}

/// How p-values are corrected where a claim has several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Correction {
    Holm,
    BenjaminiHochberg,
    None,
}

/// What a test found of a claim.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Found {
    #[serde(flatten)]
    pub(crate) verdict: Verdict,
    pub(crate) parts: Vec<Part>,
    /// What parts that span levels rest on, level by level.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) by_level: Vec<Part>,
    /// What is told beside, in words.
    pub(crate) told: Vec<String>,
}

/// A claim with what became of it.
#[derive(Clone, Debug)]
pub(crate) struct Judged<'a> {
    pub(crate) claim: &'a Claim,
    pub(crate) found: Found,
    /// By the document's own test, where the study names it.
    pub(crate) beside: Option<Found>,
    /// At which look it came to that, where it was judged while it was measured.
    pub(crate) at_look: Option<AtLook>,
}

impl<'a> Judged<'a> {
    /// `claim`, judged on `cells` by `rules`: those of its own, or the same at another level.
    pub(super) fn by(claim: &'a Claim, rules: &Claim, cells: &Cells<'_>) -> Self {
        Self {
            claim,
            found: Found::by(rules, cells),
            beside: rules.beside().map(|beside| Found::by(&beside, cells)),
            at_look: None,
        }
    }
}

impl Found {
    /// What the test of `claim` finds in `cells`; what of it is missing here is told beside.
    pub(crate) fn by(claim: &Claim, cells: &Cells<'_>) -> Self {
        let mut found = (claim.test.find)(claim, cells);
        if !matches!(found.verdict, Verdict::NotTestable { .. }) {
            let missing = cells.missing_instruments(&claim.selections());
            found.told.extend(missing.iter().map(|one| format!("not testable here: {one}")));
        }
        found
    }

    /// Nothing can be judged.
    pub(crate) fn untestable(reason: impl Into<String>) -> Self {
        let verdict = Verdict::NotTestable { reason: reason.into() };
        Self { verdict, parts: Vec::new(), by_level: Vec::new(), told: Vec::new() }
    }

    /// The verdict that `parts` come to, where a share of `need` of them must hold.
    pub(crate) fn of(parts: Vec<Part>, need: f64) -> Self {
        let verdict = combined(&parts, need);
        Self { verdict, parts, by_level: Vec::new(), told: Vec::new() }
    }
}

/// Supported where enough parts are, rejected where enough cannot be any more, for too many are rejected.
/// Parts that cannot be judged here count as neither.
fn combined(parts: &[Part], need: f64) -> Verdict {
    let reason = |part: &Part| match &part.verdict {
        Verdict::NotTestable { reason } => Some(format!("{}: {reason}", part.what)),
        _ => None,
    };
    let judged = parts.iter().filter(|part| reason(part).is_none()).count();
    if judged == 0 {
        let mut reasons: Vec<String> = parts.iter().filter_map(reason).collect();
        reasons.truncate(3);
        return Verdict::NotTestable { reason: reasons.join("; ") };
    }
    let count = |verdict: &Verdict| parts.iter().filter(|part| part.verdict == *verdict).count();
    #[allow(clippy::cast_precision_loss, reason = "a few parts")]
    let share = |count: usize| count as f64 / judged as f64;
    if share(count(&Verdict::Supported)) >= need - 1e-9 {
        return Verdict::Supported;
    }
    if share(judged - count(&Verdict::Rejected)) < need - 1e-9 {
        return Verdict::Rejected;
    }
    let needed = parts.iter().map(|part| match part.verdict {
        Verdict::Inconclusive { repetitions } => repetitions,
        _ => Some(0),
    });
    let repetitions = needed.max_by_key(|needed| needed.unwrap_or(u64::MAX)).flatten();
    Verdict::Inconclusive { repetitions: repetitions.filter(|&n| n > 0) }
}

/// Judges every claim of `study` on `results`; where these were measured until claims were decided, look by look.
pub(crate) fn judge<'a>(study: &'a Study, results: &Results) -> Vec<Judged<'a>> {
    if let Some(looks) = &results.header.plan.until_decided {
        return sequential::judge(study, results, looks);
    }
    let cells = Cells::of(results);
    study.hypotheses.iter().map(|claim| Judged::by(claim, claim, &cells)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(verdict: Verdict) -> Part {
        Part { verdict, ..Part::new("part", 10) }
    }

    #[test]
    fn enough_parts_support_too_many_against_reject_and_else_nothing_is_known() {
        let (yes, no) = (part(Verdict::Supported), part(Verdict::Rejected));
        let open = part(Verdict::Inconclusive { repetitions: Some(40) });
        let verdict = |parts: &[&Part], need| {
            combined(&parts.iter().map(|part| (*part).clone()).collect::<Vec<_>>(), need)
        };
        assert_eq!(verdict(&[&yes, &yes, &yes, &no], 0.75), Verdict::Supported);
        assert_eq!(verdict(&[&yes, &yes, &no, &no], 0.75), Verdict::Rejected);
        assert_eq!(verdict(&[&yes, &open], 1.0), Verdict::Inconclusive { repetitions: Some(40) });
        assert_eq!(verdict(&[&open, &no], 1.0), Verdict::Rejected);
        let missing = Part::untestable("tcp", "no network");
        assert_eq!(verdict(&[&yes, &missing], 1.0), Verdict::Supported);
        assert_eq!(verdict(&[&missing], 1.0).word(), "not testable here");
    }
}
