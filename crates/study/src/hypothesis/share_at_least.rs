//! share-at-least: a metric is at least a share of a whole.

use std::collections::BTreeMap;

use super::evidence::{EstimateKind, Place};
use super::interval::{Bounds, Sure, median_of};
use super::key_values::{KeyError, KeyValues};
use super::line::lines;
use super::operands::alone;
use super::picture::{BetterNote, Caption, Picture, PictureKeys, Together};
use super::{Cells, Claim, Found, Judge, Line, Part, Point, Test, parsed};
use crate::{Key, Metric, Need, Selection, Takes};

pub(super) const TEST: Test = Test {
    name: "share-at-least",
    about: "the metric, or its part of another one, is at least a share",
    formula: "At each level the median over blocks of the metric over the whole, with its 1 - level interval \
              by order statistics. Supported where the interval lies above the share (that of 1 - level/m, for m \
              levels of all lines, where `need` is below 1), rejected where that of 1 - level/m lies below.",
    assumptions: "Blocks are independent.",
    source: "David and Nagaraja 2003, Order Statistics, section 7.1",
    keys: &[SHARE, WHOLE, BEYOND, FROM],
    picture: Picture {
        together: Together::All,
        caption: Caption::None,
        better: BetterNote::Hidden,
    },
    parse: parsed::<ShareAtLeastKeys>,
};

const SHARE: Key = Key {
    name: "share",
    takes: Takes::Number(0.0, 1.0),
    need: Need::Required,
    about: "the share",
    example: "0.5",
};

const WHOLE: Key = Key {
    name: "of",
    takes: Takes::Metric,
    need: Need::Optional("the metric is a share itself"),
    about: "the metric that is the whole",
    example: "\"cpu\"",
};

const BEYOND: Key = Key {
    name: "beyond",
    takes: Takes::Cases,
    need: Need::Optional("nothing"),
    about: "cases whose whole is taken off: the share is of what lies beyond theirs in the same block",
    example: "{ mechanism = \"dgram-fds\" }",
};

const FROM: Key = Key {
    name: "from",
    takes: Takes::Bytes,
    need: Need::Optional("the first"),
    about: "the level from which it is claimed",
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

    fn find(&self, claim: &Claim, cells: &Cells<'_>) -> Found {
        let found = alone(claim, cells, claim.metric());
        let found = found.and_then(|lines| Ok((lines, self.wholes(claim, cells)?)));
        let (lines, wholes) = match found {
            Ok(found) => found,
            Err(found) => return *found,
        };
        let all = self.levels(&lines, wholes.as_deref());
        if all.is_empty() {
            return Found::untestable("no level from there on was measured");
        }
        let bounds = Bounds { above: Some(self.share), below: None };
        let sure = Sure::of(claim, all.len(), claim.level());
        let part = |(place, shares): (Place, Vec<f64>)| part(bounds, place, &shares, sure);
        Found::of(all.into_iter().map(part).collect(), claim.need())
    }

    fn baseline(&self) -> Option<&Selection> {
        self.beyond.as_ref()
    }

    fn picture_keys(&self) -> PictureKeys<'_> {
        PictureKeys { whole: self.whole.as_ref(), share: Some(self.share), from: self.from }
    }
}

impl ShareAtLeastKeys {
    /// Returns the shares by block at each level of `lines` that is claimed.
    fn levels(&self, lines: &[Line<'_>], wholes: Option<&[Line<'_>]>) -> Vec<(Place, Vec<f64>)> {
        let is_claimed = |point: &&Point| self.from.is_none_or(|from| point.x >= from);
        let mut all = Vec::new();
        for line in lines {
            let whole = wholes.map(|wholes| wholes.iter().find(|one| one.levels == line.levels));
            for point in line.points.iter().filter(is_claimed) {
                let level = Place::level(point);
                let place = if lines.len() == 1 { level } else { level.of_line(&line.name) };
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
    ) -> Result<Option<Vec<Line<'a>>>, Box<Found>> {
        let Some(metric) = &self.whole else { return Ok(None) };
        let wholes = alone(claim, cells, metric)?;
        let Some(beyond) = &self.beyond else { return Ok(Some(wholes)) };
        match &lines(cells, beyond, claim.over(), metric)[..] {
            [base] => Ok(Some(wholes.iter().map(|whole| whole.less(base)).collect())),
            [] => Err(Box::new(Found::untestable(cells.absence(beyond, metric)))),
            several => {
                let count = several.len();
                let reason = format!(
                    "beyond means {count} lines (the whole lies beyond one: name more factors)"
                );
                Err(Box::new(Found::untestable(reason)))
            }
        }
    }
}

/// Returns the share by block.
fn shares(point: &Point, whole: Option<Option<&Line<'_>>>) -> Vec<f64> {
    let Some(whole) = whole else { return point.all() };
    let none = BTreeMap::new();
    let there =
        whole.and_then(|line| line.points.iter().find(|one| one.x.total_cmp(&point.x).is_eq()));
    let wholes = there.map_or(&none, |point| &point.values);
    let share = |(block, value): (&u32, &f64)| {
        wholes.get(block).filter(|whole| **whole > 0.0).map(|whole| value / whole)
    };
    point.values.iter().filter_map(share).collect()
}

fn part(bounds: Bounds, place: Place, shares: &[f64], sure: Sure) -> Part {
    if shares.is_empty() {
        return Part::untestable(place, "no run has a share");
    }
    let mut part = Part::new(place, shares.len());
    let (verdict, share) =
        bounds.judge(|level| median_of(EstimateKind::Share, shares, level), sure, part.n);
    part.verdict = verdict;
    part.estimates.extend(share);
    part.series = vec![shares.to_vec()];
    part
}

#[cfg(test)]
mod tests {
    use crate::hypothesis::test_data::made;

    const KEYS: &str =
        "test = \"share-at-least\"\nwhere = { mechanism = \"pipe\" }\nof = \"elapsed\"\n";

    #[test]
    fn all_of_the_interval_must_lie_above_the_share() {
        let made = made(10, 0.02, &[("pipe", &[1.0; 3])]);
        let word = |share: f64| made.word(&format!("{KEYS}share = {share}\n"));
        // Each metric is its own whole: the share is 1.
        assert_eq!(word(0.9), "supported");
        assert_eq!(word(1.0), "inconclusive");
    }

    #[test]
    fn levels_before_the_one_named_do_not_count() {
        let made = made(10, 0.02, &[("pipe", &[1.0; 3])]);
        let from = |level: &str| made.found(&format!("{KEYS}share = 0.5\nfrom = \"{level}\"\n"));
        assert_eq!(from("1KiB").parts.len(), 2);
        assert_eq!(from("4KiB").verdict.word(), "not testable here");
    }

    #[test]
    fn what_lies_beyond_other_cases_is_a_smaller_whole() {
        // The pipe takes 3, which is 1.2 beyond the 1.8 of the fifo: a share of 1 of 3, and of 2.5 of the rest.
        let made = made(10, 0.0, &[("pipe", &[3.0; 3]), ("fifo", &[1.8; 3])]);
        let share =
            |of: &str| made.found(&format!("{KEYS}share = 0.5\n{of}")).parts[0].estimates[0].value;
        assert!((share("") - 1.0).abs() < 1e-9);
        assert!((share("beyond = { mechanism = \"fifo\" }\n") - 2.5).abs() < 1e-6);
        let all = "beyond = { workload = \"stream\" }\nshare = 0.5\n";
        assert_eq!(made.word(&format!("{KEYS}{all}")), "not testable here");
    }

    #[test]
    fn without_the_whole_there_is_no_share() {
        let made = made(10, 0.02, &[("pipe", &[1.0; 3])]);
        let keys = KEYS.replace("elapsed", "cpu") + "share = 0.5\n";
        assert_eq!(made.word(&keys), "not testable here");
    }
}
