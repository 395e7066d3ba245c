//! crosses-over: one line of cases overtakes another.

use ipcperf_stats::{Bootstrap, Course, Crossing, Lasting, Turn, crossing};

use super::compare::{Compared, Lean, Statistic, compare, correct};
use super::keys::{FIRST, NEGLIGIBLE, OF_SECOND, SECOND, STATISTIC};
use super::sides::{Compares, Pair, compares};
use super::{Cells, Claim, Estimate, Found, Part, Test, Verdict};
use crate::plan::parse_size;
use crate::study::{Better, Key, Need, Takes};

pub(super) const TEST: Test = Test {
    name: "crosses-over",
    about: "along the factor one line overtakes the other, for good; told with the place and its interval",
    formula: "The place where the median over blocks of the paired ratio passes 1, interpolated between levels \
              in logarithms, and its percentile interval over resamples of whole blocks. Supported where, on \
              either side of it, the ratio differs from 1 in its direction at some level (paired Wilcoxon \
              test, corrected over all levels) and, where `between` is given, the interval lies within. \
              Rejected where no level differs the other way and both ends differ the same way, or the \
              interval lies wholly outside.",
    assumptions: "The ratio changes steadily between neighbouring levels. Blocks are independent.",
    source: "Efron 1979, Annals of Statistics 7; Wilcoxon 1945; Holm 1979",
    keys: &[FIRST, SECOND, OF_SECOND, STATISTIC, NEGLIGIBLE, BETWEEN, WHO],
    find,
};

const BETWEEN: Key = Key {
    name: "between",
    takes: Takes::Levels,
    need: Need::Optional("anywhere"),
    about: "the two levels between which it is claimed to happen",
    example: "[\"8KiB\", \"16KiB\"]",
};

const WHO: Key = Key {
    name: "who",
    takes: Takes::OneOf(&["first", "second", "either"]),
    need: Need::Optional("first"),
    about: "who is the better beyond the crossing",
    example: "\"first\"",
};

fn find(claim: &Claim, cells: &Cells<'_>) -> Found {
    match compares(claim, cells) {
        Err(found) => found,
        Ok(both) => {
            let found = both.pairs.iter().map(|pair| one(claim, &both, pair));
            let (parts, told): (Vec<Part>, Vec<String>) = found.unzip();
            Found { told, ..Found::of(parts, claim.need()) }
        }
    }
}

/// One pair of lines: its part, and what its levels say.
fn one(claim: &Claim, both: &Compares<'_>, pair: &Pair<'_>) -> (Part, String) {
    let statistic = Statistic::of(claim);
    let levels = pair.by_level();
    let mut all: Vec<Compared> = levels
        .iter()
        .map(|(point, sides)| compare(point.label.clone(), sides, statistic, &both.unit))
        .collect();
    correct(&mut all, claim.correction());
    let sides: Vec<(f64, Side)> = levels
        .iter()
        .zip(&all)
        .map(|((point, _), one)| (point.x, Side::of(claim, one, both.better)))
        .collect();
    let n = all.iter().map(|one| one.part.n).min().unwrap_or(0);
    let mut part = Part::new(pair.name.clone(), n);
    let curves = pair.first.curve().ok().zip(pair.second.curve().ok());
    let found =
        curves.and_then(|(first, second)| crossing(&first, &second, &Bootstrap::default()).ok());
    let Some(found) = found else {
        part.verdict = Verdict::NotTestable {
            reason: "there are too few levels, or values that are not above 0".to_owned(),
        };
        return (part, String::new());
    };
    let lasting = lasting(&found);
    part.estimates.extend(lasting.map(place));
    part.verdict = verdict(claim, lasting, &sides, both.better);
    part.note = matches!(found.course, Course::Several { .. })
        .then(|| "it crosses several times; the last counts".to_owned());
    let ratios = found
        .ratios
        .iter()
        .zip(&levels)
        .map(|(ratio, (point, _))| format!("{} {:.2}", point.label, ratio.value));
    (part, format!("ratios of {} by level: {}", pair.name, ratios.collect::<Vec<_>>().join(", ")))
}

fn lasting(found: &Crossing) -> Option<&Lasting> {
    match &found.course {
        Course::Once(lasting) | Course::Several { lasting, .. } => Some(lasting),
        Course::AlwaysAbove | Course::AlwaysBelow | Course::AlwaysEqual => None,
    }
}

fn place(lasting: &Lasting) -> Estimate {
    let ends = lasting.interval;
    Estimate {
        name: "crossing at".to_owned(),
        value: lasting.place.level,
        low: ends.and_then(|ends| ends.low),
        high: ends.and_then(|ends| ends.high),
        level: 0.95,
        unit: "bytes".to_owned(),
    }
}

/// What a level says: who is the better there, if it can be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    First,
    Second,
    /// Neither by more than is negligible.
    Level,
    Unknown,
}

impl Side {
    fn of(claim: &Claim, compared: &Compared, better: Better) -> Self {
        let first = match better {
            Better::Higher => Lean::First,
            Better::Lower => Lean::Second,
        };
        let negligible = claim.values.number("negligible").unwrap_or(0.01);
        let is_level = compared
            .ratio()
            .is_some_and(|ratio| ratio.lies_within(1.0 / (1.0 + negligible), 1.0 + negligible));
        match compared.lean {
            Lean::Neither => Self::Level,
            lean if compared.is_significant(claim.level()) => {
                if lean == first {
                    Self::First
                } else {
                    Self::Second
                }
            }
            _ if is_level => Self::Level,
            _ => Self::Unknown,
        }
    }
}

fn verdict(
    claim: &Claim,
    lasting: Option<&Lasting>,
    sides: &[(f64, Side)],
    better: Better,
) -> Verdict {
    let open = Verdict::Inconclusive { repetitions: None };
    let has =
        |side, range: &dyn Fn(f64) -> bool| sides.iter().any(|(x, one)| *one == side && range(*x));
    let claimed = match claim.values.word("who").unwrap_or("first") {
        "second" => vec![Side::Second],
        "either" => vec![Side::First, Side::Second],
        _ => vec![Side::First],
    };
    for winner in claimed {
        let loser = if winner == Side::First { Side::Second } else { Side::First };
        let Some(lasting) = lasting.filter(|lasting| winner_of(lasting, better) == winner) else {
            continue;
        };
        let at = lasting.place.level;
        if has(loser, &|x| x < at) && has(winner, &|x| x > at) {
            return within(claim, lasting);
        }
    }
    // Nowhere the other way round, and at both ends told apart: there is nothing left to be found.
    let (ends_known, seen) = known(sides);
    if ends_known && seen.len() <= 1 {
        Verdict::Rejected
    } else {
        refuted(claim, sides).unwrap_or(open)
    }
}

/// Whether both ends say something, and which sides are seen anywhere.
fn known(sides: &[(f64, Side)]) -> (bool, Vec<Side>) {
    let ends = sides.first().zip(sides.last());
    let is_known =
        ends.is_some_and(|(first, last)| first.1 != Side::Unknown && last.1 != Side::Unknown);
    let mut seen: Vec<Side> = Vec::new();
    for (_, side) in sides.iter().filter(|(_, side)| matches!(side, Side::First | Side::Second)) {
        if !seen.contains(side) {
            seen.push(*side);
        }
    }
    (is_known, seen)
}

/// Rejected where the one who is claimed to win in the end is beaten at the largest level.
fn refuted(claim: &Claim, sides: &[(f64, Side)]) -> Option<Verdict> {
    let loser = match claim.values.word("who").unwrap_or("first") {
        "second" => Side::First,
        "either" => return None,
        _ => Side::Second,
    };
    (sides.last()?.1 == loser).then_some(Verdict::Rejected)
}

/// Who is the better beyond a crossing.
fn winner_of(lasting: &Lasting, better: Better) -> Side {
    match (lasting.place.turn, better) {
        (Turn::Rises, Better::Higher) | (Turn::Falls, Better::Lower) => Side::First,
        (Turn::Falls, Better::Higher) | (Turn::Rises, Better::Lower) => Side::Second,
    }
}

/// Whether the crossing lies where it is claimed to.
fn within(claim: &Claim, lasting: &Lasting) -> Verdict {
    let bounds: Vec<f64> = claim
        .values
        .levels("between")
        .unwrap_or_default()
        .iter()
        .filter_map(|word| {
            #[allow(clippy::cast_precision_loss, reason = "a size, beside levels that are floats")]
            parse_size(word).ok().map(|bytes| bytes as f64)
        })
        .collect();
    let [low, high] = bounds[..] else { return Verdict::Supported };
    let (from, to) = match lasting.interval {
        Some(ends) => (ends.low.unwrap_or(f64::NEG_INFINITY), ends.high.unwrap_or(f64::INFINITY)),
        None => return Verdict::Inconclusive { repetitions: None },
    };
    if from >= low && to <= high {
        Verdict::Supported
    } else if to < low || from > high {
        Verdict::Rejected
    } else {
        Verdict::Inconclusive { repetitions: None }
    }
}
