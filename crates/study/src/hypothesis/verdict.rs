//! Verdicts: of the parts of a claim, and of the claim as a whole.

use serde::Serialize;

use super::claim::Claim;
use super::evidence::Independence;
use super::independence::overall;
use super::outcome::{Obstacle, Verdict};
use super::{Cells, Drift, Part};

/// Where a claim that was judged at several looks came to its verdict.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AtLook {
    /// Which of the looks, from 1 on.
    pub look: usize,
    /// How many there may be.
    pub looks: usize,
    /// Kept repetitions of each case that were looked at.
    pub repetitions: u32,
    /// The level of the test at each look.
    pub level: f64,
}

impl AtLook {
    /// It in words, where something could be judged.
    pub fn words(&self, verdict: &Verdict) -> Option<String> {
        let Self { look, looks, repetitions, level } = self;
        let how = match verdict {
            Verdict::Inconclusive { .. } => "not decided",
            Verdict::Supported | Verdict::Rejected => "decided",
            Verdict::NotTestable { .. } => return None,
        };
        Some(format!(
            "{how} after {repetitions} repetitions: look {look} of {looks}, each at the level {level:.4}"
        ))
    }
}

/// What a test found of a claim.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Found {
    /// The verdict of the whole.
    #[serde(flatten)]
    pub verdict: Verdict,
    /// Each part with its evidence.
    pub parts: Vec<Part>,
    /// What parts that span levels rest on, level by level.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub by_level: Vec<Part>,
    /// Whether blocks are independent, as all parts together have it.
    pub independence: Option<Independence>,
    /// Cases whose values rise or fall from the first block to the last.
    pub drifting: Vec<Drift>,
    /// What is told beside, in words.
    pub told: Vec<String>,
}

/// A claim with what became of it.
#[derive(Clone, Debug)]
pub struct Judged<'a> {
    /// The claim.
    pub claim: &'a Claim,
    /// What became of it.
    pub found: Found,
    /// By the document's own test, where the study names it.
    pub beside: Option<Found>,
    /// At which look it came to that, where it was judged while it was measured.
    pub at_look: Option<AtLook>,
}

impl<'a> Judged<'a> {
    /// `claim`, judged on `cells` by `rules`: those of its own, or the same at another level.
    pub(super) fn by(claim: &'a Claim, rules: &Claim, cells: &Cells<'_>) -> Self {
        Self {
            claim,
            found: Found::by(rules, cells),
            beside: rules.beside().map(|beside| Found::by_its_rule(&beside, cells)),
            at_look: None,
        }
    }
}

impl Found {
    /// What the test of `claim` finds in `cells`, and whether its blocks are independent: where they plainly are
    /// not, nothing is supported. What of it is missing here is told beside.
    pub fn by(claim: &Claim, cells: &Cells<'_>) -> Self {
        let mut found = Self::by_its_rule(claim, cells);
        found.withhold_dependent(claim.need());
        found.tell_independence();
        found
    }

    /// The same by the rule of the claim alone: a document's own judgement asks for no independence.
    pub fn by_its_rule(claim: &Claim, cells: &Cells<'_>) -> Self {
        let mut found = (claim.test.find)(claim, cells);
        if matches!(found.verdict, Verdict::NotTestable { .. }) {
            return found;
        }
        found.independence = overall(&mut found.parts);
        found.drifting = cells.drifting(&claim.selections(), &claim.metric());
        let missing = cells.missing_instruments(&claim.selections());
        found.told.extend(missing.iter().map(|one| format!("not testable here: {one}")));
        found.told.extend(drifts(&found.drifting));
        found
    }

    /// Leaves open what is supported by blocks that plainly depend on one another.
    fn withhold_dependent(&mut self, need: f64) {
        let is_of_all = self.independence.as_ref().is_some_and(|all| all.dependent);
        let is_plain =
            |part: &Part| is_of_all || part.independence.as_ref().is_some_and(|one| one.dependent);
        let mut is_changed = false;
        for part in &mut self.parts {
            if part.verdict == Verdict::Supported && is_plain(part) {
                let obstacle = Some(Obstacle::DependentBlocks);
                part.verdict = Verdict::Inconclusive { repetitions: None, obstacle };
                is_changed = true;
            }
        }
        if is_changed {
            self.verdict = combined(&self.parts, need);
        }
    }

    fn tell_independence(&mut self) {
        let Some(all) = &self.independence else { return };
        let is_taken_for_granted = self.verdict == Verdict::Supported && !all.checked;
        self.told.push(if is_taken_for_granted { all.unchecked_words() } else { all.words() });
    }

    /// The verdict as a headline: what it is, on what it is an average, and what would settle it.
    pub fn words(&self) -> String {
        let average = self.on_average().map_or_else(String::new, |words| format!(", {words}"));
        let beyond = self.verdict.beyond().map_or_else(String::new, |words| format!(": {words}"));
        format!("{}{average}{beyond}", self.verdict.word())
    }

    /// That it holds on average over levels, and at which not, where that is what is supported.
    pub fn on_average(&self) -> Option<String> {
        if self.verdict != Verdict::Supported {
            return None;
        }
        let averaged = self.parts.iter().filter_map(|part| part.levels.as_ref());
        let averaged: Vec<_> = averaged.filter(|levels| levels.is_mean()).collect();
        let what = averaged.first()?.what();
        let mut others: Vec<&str> = Vec::new();
        for one in averaged.iter().flat_map(|levels| &levels.disagreeing) {
            if !others.contains(&one.level.as_str()) {
                others.push(&one.level);
            }
        }
        let words = format!("on average over these {what}");
        Some(match others.as_slice() {
            [] => words,
            others => format!("{words}; otherwise at {}", others.join(", ")),
        })
    }

    /// Nothing can be judged.
    pub fn untestable(reason: impl Into<String>) -> Self {
        Self::with(Verdict::NotTestable { reason: reason.into() }, Vec::new())
    }

    /// The verdict that `parts` come to, where a share of `need` of them must hold.
    pub fn of(parts: Vec<Part>, need: f64) -> Self {
        Self::with(combined(&parts, need), parts)
    }

    fn with(verdict: Verdict, parts: Vec<Part>) -> Self {
        let (by_level, drifting, told) = (Vec::new(), Vec::new(), Vec::new());
        Self { verdict, parts, by_level, independence: None, drifting, told }
    }
}

/// Cases that drift, in words; more than a few are counted.
fn drifts(drifting: &[Drift]) -> Option<String> {
    const LISTED: usize = 4;
    let listed: Vec<String> = drifting.iter().take(LISTED).map(Drift::words).collect();
    let more = drifting.len().saturating_sub(LISTED);
    let more = if more == 0 { String::new() } else { format!(", and {more} more") };
    let words = format!("not steady from the first block to the last: {}{more}", listed.join(", "));
    (!drifting.is_empty()).then_some(words)
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
    open(parts)
}

/// What would settle all parts that are open: as many repetitions as the one that needs most.
fn open(parts: &[Part]) -> Verdict {
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
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hypothesis::evidence::Place;

    fn part(verdict: Verdict) -> Part {
        Part { verdict, ..Part::new(Place::line("part"), 10) }
    }

    #[test]
    fn enough_parts_support_too_many_against_reject_and_else_nothing_is_known() {
        let (yes, no) = (part(Verdict::Supported), part(Verdict::Rejected));
        let forty = Verdict::open(Some(40), Some(Obstacle::Noise));
        let open = part(forty.clone());
        let verdict = |parts: &[&Part], need| {
            combined(&parts.iter().map(|part| (*part).clone()).collect::<Vec<_>>(), need)
        };
        assert_eq!(verdict(&[&yes, &yes, &yes, &no], 0.75), Verdict::Supported);
        assert_eq!(verdict(&[&yes, &yes, &no, &no], 0.75), Verdict::Rejected);
        assert_eq!(verdict(&[&yes, &open], 1.0), forty);
        let never = part(Verdict::open(Some(25_580), Some(Obstacle::EffectAtBound)));
        assert_eq!(verdict(&[&yes, &open, &never], 1.0), never.verdict);
        assert_eq!(verdict(&[&open, &no], 1.0), Verdict::Rejected);
        let missing = Part::untestable(Place::line("tcp"), "no network");
        assert_eq!(verdict(&[&yes, &missing], 1.0), Verdict::Supported);
        assert_eq!(verdict(&[&missing], 1.0).word(), "not testable here");
    }
}
