//! share-at-least: a metric is at least a share of a whole.

use std::collections::BTreeMap;

use super::evidence::{EstimateKind, PartScope};
use super::figure_layout::{BetterNote, Caption, FigureKeys, FigureLayout, PanelGrouping};
use super::interval::{Alphas, Bounds, median_estimate};
use super::key_values::{KeyError, KeyValues};
use super::line::lines;
use super::operands::claim_lines;
use super::{Cells, Claim, Findings, Judge, Line, Part, Point, Test, parse_keys};
use crate::{Key, Metric, Requirement, Selection, ValueType};

pub(super) const TEST: Test = Test {
    name: "share-at-least",
    about: "the metric, or its share of another metric, is at least a given share",
    estimate: "Each level of each line is one part, so m is the number of levels of all lines together. In each \
               block, at each level, the share is the metric divided by the metric that `of` names. Without `of`, \
               the metric itself is the share. The median of the shares over blocks has an interval by order \
               statistics.",
    supported_if: "the 1 - alpha interval lies entirely above `share`. If `min_fraction` is below 1, the 1 - \
                   alpha/m interval is used.",
    rejected_if: "the 1 - alpha/m interval lies entirely below `share`.",
    assumptions: "Blocks are independent.",
    source: "David and Nagaraja 2003, Order Statistics, section 7.1",
    keys: &[SHARE, WHOLE, BEYOND, FROM],
    figure_layout: FigureLayout {
        panels: PanelGrouping::All,
        caption: Caption::None,
        better: BetterNote::Hidden,
    },
    parse: parse_keys::<ShareAtLeastKeys>,
};

const SHARE: Key = Key {
    name: "share",
    value_type: ValueType::Number(0.0, 1.0),
    requirement: Requirement::Required,
    about: "smallest share that satisfies the claim: 0.5 is half",
    example: "0.5",
};

const WHOLE: Key = Key {
    name: "of",
    value_type: ValueType::Metric,
    requirement: Requirement::Optional("none: the metric is a share itself"),
    about: "metric that is the whole: the share is `metric` divided by this metric",
    example: "\"cpu\"",
};

const BEYOND: Key = Key {
    name: "beyond",
    value_type: ValueType::Cases,
    requirement: Requirement::Optional("none"),
    about: "baseline cases. In each block, the value of `of` for these cases is subtracted from its value for the \
            judged cases; the share is the metric divided by this difference",
    example: "{ mechanism = \"dgram-fds\" }",
};

const FROM: Key = Key {
    name: "from",
    value_type: ValueType::Bytes,
    requirement: Requirement::Optional("the smallest level"),
    about: "smallest level that the claim covers",
    example: "\"1MB\"",
};

/// Keys of share-at-least.
#[derive(Debug)]
struct ShareAtLeastKeys {
    share: f64,
    whole: Option<Metric>,
    beyond: Option<Selection>,
    from: Option<f64>,
}

impl Judge for ShareAtLeastKeys {
    fn parse(keys: &KeyValues<'_>) -> Result<Self, KeyError> {
        Ok(Self {
            share: keys.required(&SHARE)?,
            whole: keys.optional(&WHOLE)?,
            beyond: keys.optional(&BEYOND)?,
            from: keys.optional(&FROM)?,
        })
    }

    fn evaluate(&self, claim: &Claim, cells: &Cells<'_>) -> Findings {
        let found = claim_lines(claim, cells, claim.metric());
        let found = found.and_then(|lines| Ok((lines, self.wholes(claim, cells)?)));
        let (lines, wholes) = match found {
            Ok(found) => found,
            Err(found) => return *found,
        };
        let all = self.level_shares(&lines, wholes.as_deref());
        if all.is_empty() {
            return Findings::untestable("no level from `from` on was measured");
        }
        let bounds = Bounds { above: Some(self.share), below: None };
        let alphas = Alphas::new(claim, all.len(), claim.alpha());
        let part =
            |(place, shares): (PartScope, Vec<f64>)| judge_level(bounds, place, &shares, alphas);
        Findings::from_parts(all.into_iter().map(part).collect(), claim.min_fraction())
    }

    fn baseline(&self) -> Option<&Selection> {
        self.beyond.as_ref()
    }

    fn figure_keys(&self) -> FigureKeys<'_> {
        FigureKeys { whole: self.whole.as_ref(), share: Some(self.share), from: self.from }
    }
}

impl ShareAtLeastKeys {
    /// Returns the shares by block at each level of `lines` that is claimed.
    fn level_shares(
        &self,
        lines: &[Line<'_>],
        wholes: Option<&[Line<'_>]>,
    ) -> Vec<(PartScope, Vec<f64>)> {
        let is_claimed = |point: &&Point| self.from.is_none_or(|from| point.x >= from);
        let mut all = Vec::new();
        for line in lines {
            let whole = wholes.map(|wholes| wholes.iter().find(|one| one.levels == line.levels));
            for point in line.points.iter().filter(is_claimed) {
                let level = PartScope::from_point(point);
                let place = if lines.len() == 1 { level } else { level.with_line(&line.name) };
                all.push((place, shares(point, whole)));
            }
        }
        all
    }

    /// Returns the whole of each line, less that of the cases in `beyond`. `None` if the metric is itself a share.
    ///
    /// # Errors
    /// Fails with the reason if there are no wholes.
    fn wholes<'a>(
        &self,
        claim: &Claim,
        cells: &Cells<'a>,
    ) -> Result<Option<Vec<Line<'a>>>, Box<Findings>> {
        let Some(metric) = &self.whole else { return Ok(None) };
        let wholes = claim_lines(claim, cells, metric)?;
        let Some(beyond) = &self.beyond else { return Ok(Some(wholes)) };
        match &lines(cells, beyond, claim.over(), metric)[..] {
            [base] => Ok(Some(wholes.iter().map(|whole| whole.minus(base)).collect())),
            [] => Err(Box::new(Findings::untestable(cells.explain_unmeasured(beyond, metric)))),
            several => {
                let count = several.len();
                let reason = format!(
                    "beyond selects {count} lines, but must select one: name more factors in beyond"
                );
                Err(Box::new(Findings::untestable(reason)))
            }
        }
    }
}

/// Returns the share by block.
fn shares(point: &Point, whole: Option<Option<&Line<'_>>>) -> Vec<f64> {
    let Some(whole) = whole else { return point.all_values() };
    let none = BTreeMap::new();
    let whole_point =
        whole.and_then(|line| line.points.iter().find(|one| one.x.total_cmp(&point.x).is_eq()));
    let wholes = whole_point.map_or(&none, |point| &point.values);
    let share = |(block, value): (&u32, &f64)| {
        wholes.get(block).filter(|whole| **whole > 0.0).map(|whole| value / whole)
    };
    point.values.iter().filter_map(share).collect()
}

fn judge_level(bounds: Bounds, place: PartScope, shares: &[f64], alphas: Alphas) -> Part {
    if shares.is_empty() {
        return Part::untestable(place, "no run has a value of both the metric and `of`");
    }
    let mut part = Part::new(place, shares.len());
    let (verdict, share) =
        bounds.judge(|level| median_estimate(EstimateKind::Share, shares, level), alphas, part.n);
    part.verdict = verdict;
    part.estimates.extend(share);
    part.series = vec![shares.to_vec()];
    part
}

#[cfg(test)]
mod tests {
    use crate::hypothesis::test_data::synthetic;

    const KEYS: &str =
        "test = \"share-at-least\"\nwhere = { mechanism = \"pipe\" }\nof = \"elapsed\"\n";

    #[test]
    fn all_of_the_interval_must_lie_above_the_share() {
        let data = synthetic(10, 0.02, &[("pipe", &[1.0; 3])]);
        let word = |share: f64| data.verdict_name(&format!("{KEYS}share = {share}\n"));
        // Each metric is its own whole: the share is 1.
        assert_eq!(word(0.9), "supported");
        assert_eq!(word(1.0), "inconclusive");
    }

    #[test]
    fn levels_before_the_one_named_do_not_count() {
        let data = synthetic(10, 0.02, &[("pipe", &[1.0; 3])]);
        let from = |level: &str| data.findings(&format!("{KEYS}share = 0.5\nfrom = \"{level}\"\n"));
        assert_eq!(from("1KiB").parts.len(), 2);
        assert_eq!(from("4KiB").verdict.name(), "not testable here");
    }

    #[test]
    fn what_lies_beyond_other_cases_is_a_smaller_whole() {
        // The pipe takes 3, which is 1.2 beyond the 1.8 of the fifo: a share of 1 of 3, and of 2.5 of the rest.
        let data = synthetic(10, 0.0, &[("pipe", &[3.0; 3]), ("fifo", &[1.8; 3])]);
        let share = |of: &str| {
            data.findings(&format!("{KEYS}share = 0.5\n{of}")).parts[0].estimates[0].value
        };
        assert!((share("") - 1.0).abs() < 1e-9);
        assert!((share("beyond = { mechanism = \"fifo\" }\n") - 2.5).abs() < 1e-6);
        let all = "beyond = { workload = \"stream\" }\nshare = 0.5\n";
        assert_eq!(data.verdict_name(&format!("{KEYS}{all}")), "not testable here");
    }

    #[test]
    fn without_the_whole_there_is_no_share() {
        let data = synthetic(10, 0.02, &[("pipe", &[1.0; 3])]);
        let keys = KEYS.replace("elapsed", "cpu") + "share = 0.5\n";
        assert_eq!(data.verdict_name(&keys), "not testable here");
    }
}
