//! Modes: whether values form groups, such as round trips that spin and round trips that sleep, so that a single median
//! would describe neither.
//!
//! A significance test alone is not enough, since on 100,000 round trips any deviation is significant. A group counts
//! as a mode only if all of these conditions hold:
//!
//! 1. *It is large enough.* It has at least 5 % of the values, plus a margin for chance: 1.2 standard deviations of
//!    such a count. So among 20 values two outliers are not a mode, but three are; a mode always has at least three
//!    values.
//! 2. *It is separate.* Its median and that of its neighbor differ by a factor of at least 1.25.
//! 3. *There is a valley.* The density of the logarithms falls to half the lower peak. The density uses Gaussian
//!    kernels (Silverman 1986, *Density Estimation*) with half his robust bandwidth, so that distant groups do not blur
//!    into each other. Values that are multiples of a clock's step are first spread over the step.
//! 4. *Chance does not produce such valleys*, by either of two criteria. The first counts values: there are so few on
//!    the valley's floor, compared with the density on the lower peak, that the bound of Chernoff (1952, *A Measure of
//!    Asymptotic Efficiency*, Annals of Mathematical Statistics 23) on the probability is below e^-9. The second is for
//!    few values: the gap between the groups is wide compared with their spread and the spacing of their values. The
//!    thresholds come from simulations of normal, lognormal, exponential and Pareto values (`tests/modality.rs`).
//!
//! Each part of a split is examined again, since there may be three modes.

use crate::density::{Density, Valley, WeightedPoint, weight};

/// A group of values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mode {
    /// Share of all values, from 0 to 1.
    pub share: f64,
    /// Median, in the unit of the values.
    pub median: f64,
    /// Smallest value.
    pub low: f64,
    /// Largest value.
    pub high: f64,
}

/// Minimum share of a mode.
const MIN_SHARE: f64 = 0.05;
/// Margin above [`MIN_SHARE`] that a mode must have, in standard deviations of the count.
const SHARE_MARGIN: f64 = 1.2;
/// Minimum number of values in a mode.
const MIN_VALUES: f64 = 3.0;
/// Minimum factor between the medians of neighboring modes, below which a gap is irrelevant.
const MIN_FACTOR: f64 = 1.25;
/// Maximum height of the valley between two modes, relative to the lower peak.
const MAX_VALLEY_DEPTH: f64 = 0.5;
/// Minimum exponent of the bound on the probability of a valley by chance.
const MIN_EXPONENT: f64 = 9.0;
/// Minimum bandwidth of the logarithms: wider than the bins of a histogram and the steps of three digits, narrower than
/// half a relevant gap.
const MIN_BANDWIDTH: f64 = 0.03;
/// Minimum number of distinct values that reveals a common step.
const MIN_STEPS: usize = 3;

/// Finds the modes of values with their counts, in ascending order. Returns one mode for unimodal values, and none if
/// there are no values or if a value with a count is not above 0 and finite.
///
/// The values may be in any order, individually or as the bins of a histogram (bins finer than 3 %).
#[must_use]
pub fn modes(weighted: &[(f64, u64)]) -> Vec<Mode> {
    let Some(points) = points(weighted) else { return Vec::new() };
    let total = weight(&points);
    let mut parts = Vec::new();
    split_all(&points, total, &mut parts);
    parts.into_iter().filter_map(|part| mode(part, total)).collect()
}

/// Sorts the values and merges equal ones. Returns `None` if a value has no logarithm.
fn points(weighted: &[(f64, u64)]) -> Option<Vec<WeightedPoint>> {
    let mut points = Vec::with_capacity(weighted.len());
    for &(value, count) in weighted.iter().filter(|(_, count)| *count > 0) {
        if !(value.is_finite() && value > 0.0) {
            return None;
        }
        points.push(WeightedPoint { value, log: value.ln(), count });
    }
    points.sort_by(|a, b| a.value.total_cmp(&b.value));
    points.dedup_by(|next, kept| {
        let equal = next.value == kept.value;
        if equal {
            kept.count = kept.count.saturating_add(next.count);
        }
        equal
    });
    Some(points)
}

/// Splits `points` into modes, ascending.
fn split_all<'a>(points: &'a [WeightedPoint], total: f64, parts: &mut Vec<&'a [WeightedPoint]>) {
    match split(points, total) {
        Some((left, right)) => {
            split_all(left, total, parts);
            split_all(right, total, parts);
        }
        None => parts.push(points),
    }
}

/// Splits `points` at the deepest valley that separates two modes.
fn split(points: &[WeightedPoint], total: f64) -> Option<(&[WeightedPoint], &[WeightedPoint])> {
    if points.len() < 2 {
        return None;
    }
    let rule = SplitParameters { min_count: min_count(total), quantum: quantum(points) };
    let density = Density::from_points(points, bandwidth(points), rule.quantum);
    let mut valleys = density.valleys(MAX_VALLEY_DEPTH);
    valleys.sort_by(|a, b| a.depth.total_cmp(&b.depth));
    valleys.iter().find_map(|valley| {
        let at = points.partition_point(|point| point.log < valley.lowest);
        let (left, right) = points.split_at(at);
        separates(left, right, valley, &rule).then_some((left, right))
    })
}

fn separates(
    left: &[WeightedPoint],
    right: &[WeightedPoint],
    valley: &Valley,
    rule: &SplitParameters,
) -> bool {
    // Most valleys lie in a thin tail, which this check rejects quickly.
    if weight(left) < rule.min_count || weight(right) < rule.min_count {
        return false;
    }
    let (Some(low), Some(high)) = (Group::from_points(left), Group::from_points(right)) else {
        return false;
    };
    high.median - low.median >= MIN_FACTOR.ln()
        && (has_wide_gap(&low, &high, rule.quantum) || has_empty_floor(left, right, valley))
}

/// Parameters that are the same for every split of a set of values.
struct SplitParameters {
    min_count: f64,
    quantum: f64,
}

/// Minimum number of values of a mode, out of `total`.
fn min_count(total: f64) -> f64 {
    let expected = MIN_SHARE * total;
    (expected + SHARE_MARGIN * expected.sqrt()).max(MIN_VALUES)
}

/// One side of a split, in logarithms unless stated otherwise.
struct Group {
    weight: f64,
    median: f64,
    /// Mean distance from the median.
    spread: f64,
    /// Mean distance between consecutive values.
    spacing: f64,
    /// Smallest and largest value, not in logarithms.
    ends: (f64, f64),
}

impl Group {
    fn from_points(points: &[WeightedPoint]) -> Option<Self> {
        let (first, last) = (points.first()?, points.last()?);
        let median = median_log(points)?;
        let weight = weight(points);
        let distances = points.iter().map(|point| point.weight() * (point.log - median).abs());
        Some(Self {
            weight,
            median,
            spread: distances.sum::<f64>() / weight,
            spacing: (last.log - first.log) / (weight - 1.0).max(1.0),
            ends: (first.value, last.value),
        })
    }
}

/// Whether the gap between two groups, minus the step of the clock, is wider than chance leaves between values of one
/// mode. Among n values such gaps shrink with n relative to the spread of either side; a thin tail is recognized by its
/// spacing. In the simulations 97 to 100 % of unimodal samples stay below these constants.
fn has_wide_gap(low: &Group, high: &Group, quantum: f64) -> bool {
    let n = low.weight + high.weight;
    let gap = ((high.ends.0 - quantum / 2.0) / (low.ends.1 + quantum / 2.0)).ln();
    let min_ratio = (36.0 / n).max(1.2);
    gap >= min_ratio * (low.spread + high.spread) && gap >= 2.5 * low.spacing.max(high.spacing)
}

/// Whether the valley's floor holds too few values for the density of the lower peak. With a single mode, the density
/// between the two peaks would nowhere be below that of the lower one.
fn has_empty_floor(left: &[WeightedPoint], right: &[WeightedPoint], valley: &Valley) -> bool {
    let count = |(from, to): (f64, f64)| {
        let within = |points: &[WeightedPoint]| {
            let first = points.partition_point(|point| point.log < from);
            let end = points.partition_point(|point| point.log < to);
            weight(&points[first..end])
        };
        within(left) + within(right)
    };
    let width = |(from, to): (f64, f64)| to - from;
    let (floor, peak) = (count(valley.floor), count(valley.lower_peak));
    let expected = width(valley.floor) / (width(valley.floor) + width(valley.lower_peak));
    let observed = floor / (floor + peak);
    observed < expected && (floor + peak) * divergence(observed, expected) >= MIN_EXPONENT
}

/// Kullback-Leibler divergence (1951) between two Bernoulli distributions with the probabilities `observed` and
/// `expected`, in nats.
fn divergence(observed: f64, expected: f64) -> f64 {
    let part = |p: f64, q: f64| if p > 0.0 { p * (p / q).ln() } else { 0.0 };
    part(observed, expected) + part(1.0 - observed, 1.0 - expected)
}

/// Half of Silverman's robust bandwidth (1986, 3.31): 0.9 n^-1/5 times the standard deviation. That is estimated from
/// the shortest half of the values (Rousseeuw and Leroy 1987, *Robust Regression and Outlier Detection*) instead of the
/// half between the quartiles, which would span all of three modes.
fn bandwidth(points: &[WeightedPoint]) -> f64 {
    let silverman = 0.9 * shortest_half(points) / 1.349 * weight(points).powf(-0.2);
    (silverman / 2.0).max(MIN_BANDWIDTH)
}

/// Width of the shortest interval, of logarithms, that holds half of the values.
fn shortest_half(points: &[WeightedPoint]) -> f64 {
    let half = weight(points) / 2.0;
    let (mut within, mut next) = (0.0, 0);
    let mut shortest = f64::INFINITY;
    for first in points {
        while within < half && next < points.len() {
            within += points[next].weight();
            next += 1;
        }
        if within < half {
            break;
        }
        shortest = shortest.min(points[next - 1].log - first.log);
        within -= first.weight();
    }
    shortest
}

/// Step of which all values are multiples, as produced by a coarse clock; 0 if there is none. A step that is small
/// compared with the values is found in any data, and has no effect.
fn quantum(points: &[WeightedPoint]) -> f64 {
    if points.len() < MIN_STEPS {
        return 0.0;
    }
    let gaps = points.windows(2).map(|pair| pair[1].value - pair[0].value);
    let smallest = gaps.fold(f64::INFINITY, f64::min);
    points.iter().try_fold(smallest, refined).unwrap_or(0.0)
}

/// Refines the step from a value that is a multiple of it. Returns `None` if the value is not a multiple.
fn refined(step: f64, point: &WeightedPoint) -> Option<f64> {
    let steps = point.value / step;
    let whole = steps.round();
    (whole >= 1.0 && (steps - whole).abs() <= (0.03 * whole).max(0.1)).then(|| point.value / whole)
}

fn median_log(points: &[WeightedPoint]) -> Option<f64> {
    log_at(points, 0.5)
}

/// Quantile `p` of the logarithms; the midpoint if it falls between two.
fn log_at(points: &[WeightedPoint], p: f64) -> Option<f64> {
    let (below, above) = around(points, p)?;
    Some(f64::midpoint(below.log, above.log))
}

/// Values on either side of the quantile `p`.
fn around(points: &[WeightedPoint], p: f64) -> Option<(&WeightedPoint, &WeightedPoint)> {
    let rank = p * weight(points);
    let mut up_to = 0.0;
    for (i, point) in points.iter().enumerate() {
        up_to += point.weight();
        if up_to > rank {
            return Some((point, point));
        }
        if up_to == rank {
            return Some((point, points.get(i + 1).unwrap_or(point)));
        }
    }
    points.last().map(|last| (last, last))
}

fn mode(points: &[WeightedPoint], total: f64) -> Option<Mode> {
    let (below, above) = around(points, 0.5)?;
    Some(Mode {
        share: weight(points) / total,
        median: f64::midpoint(below.value, above.value),
        low: points.first()?.value,
        high: points.last()?.value,
    })
}
