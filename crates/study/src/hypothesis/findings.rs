//! Findings of a test about a claim: the verdicts on its parts, and the verdict on the whole that they combine to.

use serde::Serialize;

use super::claim::Claim;
use super::evidence::Independence;
use super::independence::check_independence;
use super::verdict::{Obstacle, Tendency, Verdict};
use super::{Cells, Drift, Part};

/// The look at which a sequentially judged claim got its verdict.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Look {
    /// Number of the look, from 1.
    pub look: usize,
    /// Maximum number of looks.
    pub looks: usize,
    /// Number of valid repetitions of each case at this look.
    pub repetitions: u32,
    /// Significance level at each look.
    pub alpha: f64,
}

impl Look {
    /// Describes the look, if the claim could be judged.
    pub fn description(&self, verdict: &Verdict) -> Option<String> {
        let Self { look, looks, repetitions, alpha: level } = self;
        let how = match verdict {
            Verdict::Inconclusive { .. } => "not decided",
            Verdict::Supported | Verdict::Rejected => "decided",
            Verdict::NotTestable { .. } => return None,
        };
        Some(format!(
            "{how} after {repetitions} repetitions: look {look} of {looks}, each at alpha {level:.4}"
        ))
    }
}

/// Findings of a test about a claim.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Findings {
    /// Overall verdict.
    #[serde(flatten)]
    pub verdict: Verdict,
    /// The parts, with their evidence.
    pub parts: Vec<Part>,
    /// Evidence level by level, for parts that span levels.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub by_level: Vec<Part>,
    /// Whether blocks are independent, over all parts together.
    pub independence: Option<Independence>,
    /// Cases whose values rise or fall from the first block to the last.
    pub drifting: Vec<Drift>,
    /// Further remarks.
    pub remarks: Vec<String>,
}

/// A claim and its verdicts.
#[derive(Clone, Debug)]
pub struct JudgedClaim<'a> {
    /// The claim.
    pub claim: &'a Claim,
    /// The findings.
    pub findings: Findings,
    /// Findings by the publication's own test, if the study specifies it.
    pub original_findings: Option<Findings>,
    /// Look that decided, if the claim was judged sequentially.
    pub at_look: Option<Look>,
}

impl<'a> JudgedClaim<'a> {
    /// Judges `claim` on `cells` by `rules`: the claim itself, or the same claim at another level.
    pub(super) fn judge(claim: &'a Claim, rules: &Claim, cells: &Cells<'_>) -> Self {
        Self {
            claim,
            findings: Findings::judge(rules, cells),
            original_findings: rules
                .with_original_test()
                .map(|beside| Findings::judge_unadjusted(&beside, cells)),
            at_look: None,
        }
    }
}

impl Findings {
    /// Runs the test of `claim` on `cells`. Support by clearly dependent blocks is withheld, and the remarks state the
    /// independence of the blocks.
    pub fn judge(claim: &Claim, cells: &Cells<'_>) -> Self {
        let mut found = Self::judge_unadjusted(claim, cells);
        found.withhold_dependent(claim.min_fraction());
        found.add_independence_remark();
        found
    }

    /// Runs the test, but withholds no support: a publication's own judgement does not require independent blocks.
    /// Unavailable instruments and drifting cases are added to the remarks.
    pub fn judge_unadjusted(claim: &Claim, cells: &Cells<'_>) -> Self {
        let mut found = claim.judge().evaluate(claim, cells);
        if matches!(found.verdict, Verdict::NotTestable { .. }) {
            return found;
        }
        found.independence = check_independence(&mut found.parts);
        found.drifting = cells.drifting(&claim.selections(), claim.metric());
        let missing = cells.missing_instruments(&claim.selections());
        found.remarks.extend(missing.iter().map(|one| format!("not testable here: {one}")));
        found.remarks.extend(describe_drift(&found.drifting));
        found
    }

    /// Makes parts inconclusive whose support comes from clearly dependent blocks.
    fn withhold_dependent(&mut self, min_fraction: f64) {
        let is_of_all = self.independence.as_ref().is_some_and(|all| all.dependent);
        let is_dependent =
            |part: &Part| is_of_all || part.independence.as_ref().is_some_and(|one| one.dependent);
        let mut is_changed = false;
        for part in &mut self.parts {
            if part.verdict == Verdict::Supported && is_dependent(part) {
                let obstacle = Some(Obstacle::DependentBlocks);
                part.verdict =
                    Verdict::Inconclusive { repetitions: None, obstacle, tendency: Tendency::Open };
                is_changed = true;
            }
        }
        if is_changed {
            self.verdict = combine(&self.parts, min_fraction);
        }
    }

    fn add_independence_remark(&mut self) {
        let Some(all) = &self.independence else { return };
        let is_taken_for_granted = self.verdict == Verdict::Supported && !all.checked;
        self.remarks.push(if is_taken_for_granted {
            all.unchecked_description()
        } else {
            all.description()
        });
    }

    /// Returns the verdict as a headline: the verdict, the levels that it averages over, and what would settle it.
    pub fn headline(&self) -> String {
        let average = self.on_average().map_or_else(String::new, |words| format!(", {words}"));
        let beyond =
            self.verdict.explanation().map_or_else(String::new, |words| format!(": {words}"));
        format!("{}{average}{beyond}", self.verdict.name())
    }

    /// States that support holds on average over levels, and the levels that contradict it. `None` for other verdicts.
    pub fn on_average(&self) -> Option<String> {
        if self.verdict != Verdict::Supported {
            return None;
        }
        let averaged = self.parts.iter().filter_map(|part| part.levels.as_ref());
        let averaged: Vec<_> = averaged.filter(|levels| levels.is_mean()).collect();
        let what = averaged.first()?.level_noun();
        let mut others: Vec<&str> = Vec::new();
        for one in averaged.iter().flat_map(|levels| &levels.disagreeing) {
            if !others.contains(&one.level.as_str()) {
                others.push(&one.level);
            }
        }
        let words = format!("on average over these {what}");
        Some(match others.as_slice() {
            [] => words,
            others => format!("{words}; not at {}", others.join(", ")),
        })
    }

    /// Returns findings of a claim that cannot be judged.
    pub fn untestable(reason: impl Into<String>) -> Self {
        Self::new(Verdict::NotTestable { reason: reason.into() }, Vec::new())
    }

    /// Combines the verdicts of `parts`, of which the share `min_fraction` must hold.
    pub fn from_parts(parts: Vec<Part>, min_fraction: f64) -> Self {
        Self::new(combine(&parts, min_fraction), parts)
    }

    fn new(verdict: Verdict, parts: Vec<Part>) -> Self {
        let (by_level, drifting, remarks) = (Vec::new(), Vec::new(), Vec::new());
        Self { verdict, parts, by_level, independence: None, drifting, remarks }
    }
}

/// Describes drifting cases; beyond a few, only counts them.
fn describe_drift(drifting: &[Drift]) -> Option<String> {
    const MAX_LISTED: usize = 4;
    let listed: Vec<String> = drifting.iter().take(MAX_LISTED).map(Drift::description).collect();
    let more = drifting.len().saturating_sub(MAX_LISTED);
    let more = if more == 0 { String::new() } else { format!(", and {more} more") };
    let words = format!("drift from the first block to the last: {}{more}", listed.join(", "));
    (!drifting.is_empty()).then_some(words)
}

/// Combines verdicts: supported if enough parts are, rejected if too many are rejected for that. Parts that cannot be
/// judged here do not count.
fn combine(parts: &[Part], min_fraction: f64) -> Verdict {
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
    if share(count(&Verdict::Supported)) >= min_fraction - 1e-9 {
        return Verdict::Supported;
    }
    if share(judged - count(&Verdict::Rejected)) < min_fraction - 1e-9 {
        return Verdict::Rejected;
    }
    let is_enough_to_reject = share(judged - 1) < min_fraction - 1e-9;
    is_enough_to_reject
        .then(|| soonest_rejection(parts))
        .flatten()
        .unwrap_or_else(|| inconclusive(parts))
}

/// Returns the verdict on the part that would be rejected with the fewest repetitions, if the values of a part point to
/// its rejection.
fn soonest_rejection(parts: &[Part]) -> Option<Verdict> {
    let needed = |verdict: &&Verdict| match verdict {
        Verdict::Inconclusive { repetitions, .. } => repetitions.unwrap_or(u64::MAX),
        _ => u64::MAX,
    };
    let is_contradicted = |verdict: &&Verdict| {
        matches!(verdict, Verdict::Inconclusive { tendency: Tendency::Rejection, .. })
    };
    let contradicted = parts.iter().map(|part| &part.verdict).filter(is_contradicted);
    contradicted.min_by_key(needed).cloned()
}

/// Returns the inconclusive verdict for all open parts, with the largest number of repetitions that any of them needs.
fn inconclusive(parts: &[Part]) -> Verdict {
    let needed = parts.iter().map(|part| match part.verdict {
        Verdict::Inconclusive { repetitions, .. } => repetitions,
        _ => Some(0),
    });
    let repetitions = needed.max_by_key(|needed| needed.unwrap_or(u64::MAX)).flatten();
    let mut obstacles = parts.iter().filter_map(|part| match part.verdict {
        Verdict::Inconclusive { obstacle, .. } => obstacle,
        _ => None,
    });
    Verdict::Inconclusive {
        repetitions: repetitions.filter(|&n| n > 0),
        obstacle: obstacles.next(),
        tendency: Tendency::Open,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hypothesis::evidence::PartScope;

    fn part(verdict: Verdict) -> Part {
        Part { verdict, ..Part::new(PartScope::from_line("part"), 10) }
    }

    #[test]
    fn enough_parts_support_too_many_against_reject_and_else_nothing_is_known() {
        let (yes, no) = (part(Verdict::Supported), part(Verdict::Rejected));
        let forty = Verdict::inconclusive(Some(40), Some(Obstacle::Noise));
        let open = part(forty.clone());
        let verdict = |parts: &[&Part], min_fraction| {
            combine(&parts.iter().map(|part| (*part).clone()).collect::<Vec<_>>(), min_fraction)
        };
        assert_eq!(verdict(&[&yes, &yes, &yes, &no], 0.75), Verdict::Supported);
        assert_eq!(verdict(&[&yes, &yes, &no, &no], 0.75), Verdict::Rejected);
        assert_eq!(verdict(&[&yes, &open], 1.0), forty);
        let never = part(Verdict::inconclusive(Some(25_580), Some(Obstacle::EffectAtBound)));
        assert_eq!(verdict(&[&yes, &open, &never], 1.0), never.verdict);
        assert_eq!(verdict(&[&open, &no], 1.0), Verdict::Rejected);
        // One rejected part suffices, so the claim needs no more repetitions than this part.
        let eleven = Verdict::inconclusive(Some(11), None).with_tendency(Tendency::Rejection);
        let against = part(eleven.clone());
        assert_eq!(verdict(&[&yes, &open, &never, &against], 1.0), eleven);
        assert_eq!(verdict(&[&open, &against], 0.5), forty);
        let missing = Part::untestable(PartScope::from_line("tcp"), "no network");
        assert_eq!(verdict(&[&yes, &missing], 1.0), Verdict::Supported);
        assert_eq!(verdict(&[&missing], 1.0).name(), "not testable here");
    }
}
