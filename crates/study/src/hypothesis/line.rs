//! Lines of cases that differ in a single factor, such as the buffer size.

use std::collections::{BTreeMap, BTreeSet};

use ipcperf_model::size::Bytes;
use ipcperf_plan::options_prefix;
use ipcperf_results::Sample;
use ipcperf_stats::{Curve, CurveError};

use super::case_data::{Cell, Cells};
use super::complete_blocks::{AggregatedLevels, complete_blocks, restrict_to_blocks};
use crate::selection::is_size;
use crate::{Better, Levels, Metric, Selection};

/// Cases along one factor.
#[derive(Clone)]
pub struct Line<'a> {
    /// Label that distinguishes it from the other lines.
    pub name: String,
    /// Levels of all other factors.
    pub levels: Levels,
    /// Points in ascending order.
    pub points: Vec<Point>,
    /// One of its runs.
    pub example: Option<&'a Sample>,
}

/// Values of one case.
#[derive(Clone, Debug)]
pub struct Point {
    /// The level as a number, or its position among the levels if it is not one.
    pub x: f64,
    /// Whether the level is a number.
    pub is_number: bool,
    /// The level as displayed.
    pub label: String,
    /// Values by block.
    pub values: BTreeMap<u32, f64>,
}

/// Returns the lines along `divided_by` in `selection`, for cases that have `metric`.
pub fn lines<'a>(
    cells: &Cells<'a>,
    selection: &Selection,
    over: &str,
    metric: &Metric,
) -> Vec<Line<'a>> {
    let mut lines: BTreeMap<Levels, Vec<(String, &Cell<'a>)>> = BTreeMap::new();
    for cell in cells.select(selection) {
        let mut others = cell.levels.clone();
        let level = others.remove(over).unwrap_or_default();
        lines.entry(others).or_default().push((level, cell));
    }
    let all: Vec<Levels> = lines.keys().cloned().collect();
    let line = |(levels, cells): (Levels, Vec<(String, &Cell<'a>)>)| Line {
        name: line_name(&levels, &all),
        levels,
        example: cells.iter().find_map(|(_, cell)| cell.example()),
        points: points(over, cells, metric),
    };
    lines.into_iter().map(line).filter(|line| !line.points.is_empty()).collect()
}

fn points(over: &str, cells: Vec<(String, &Cell<'_>)>, metric: &Metric) -> Vec<Point> {
    // A level has several cells if the CPU distance class of some of its runs is unknown.
    let mut by_level: BTreeMap<String, BTreeMap<u32, f64>> = BTreeMap::new();
    for (level, cell) in cells {
        by_level.entry(level).or_default().extend(cell.values(metric));
    }
    let levels = by_level.into_iter().enumerate();
    let mut points: Vec<Point> = levels
        .map(|(index, (level, values))| {
            // Count from 1, because curves need levels above 0.
            #[allow(clippy::cast_precision_loss, reason = "a place in a list")]
            let position = (index + 1) as f64;
            Point::at_level(over, &level, position, values)
        })
        .filter(|point| !point.values.is_empty())
        .collect();
    points.sort_by(|one, other| one.x.total_cmp(&other.x));
    points
}

/// Returns the cases in `selection` that have no valid run, as lines along `divided_by`. Each level is a point without
/// values.
pub fn lost_lines(cells: &Cells<'_>, selection: &Selection, over: &str) -> Vec<Line<'static>> {
    let mut lines: BTreeMap<Levels, Vec<Point>> = BTreeMap::new();
    for mut others in cells.lost(selection) {
        let level = others.remove(over).unwrap_or_default();
        // The position of a level that is not a number is unknown.
        let point = Point::at_level(over, &level, f64::NAN, BTreeMap::new());
        lines.entry(others).or_default().push(point);
    }
    let all: Vec<Levels> = lines.keys().cloned().collect();
    let line = |(levels, points): (Levels, Vec<Point>)| Line {
        name: line_name(&levels, &all),
        levels,
        points,
        example: None,
    };
    lines.into_iter().map(line).collect()
}

fn label(over: &str, level: &str) -> String {
    match level.parse::<u64>() {
        Ok(bytes) if is_size(over) => Bytes(bytes).to_string(),
        _ => level.to_owned(),
    }
}

/// Merges `lines` of several selections: drops duplicates and renames the lines so that their names differ.
pub(super) fn merge_lines(mut lines: Vec<Line<'_>>) -> Vec<Line<'_>> {
    let mut all: Vec<Levels> = Vec::new();
    lines.retain(|line| {
        let is_new = !all.contains(&line.levels);
        if is_new {
            all.push(line.levels.clone());
        }
        is_new
    });
    for line in &mut lines {
        line.name = line_name(&line.levels, &all);
    }
    lines
}

/// Returns the mechanism and the other factors that distinguish `levels` from some of `all`.
pub(super) fn line_name(levels: &Levels, all: &[Levels]) -> String {
    let differs = |factor: &str, level: &String| {
        let others = all.iter().filter(|other| other.get("mechanism") == levels.get("mechanism"));
        factor == "mechanism" || others.into_iter().any(|other| other.get(factor) != Some(level))
    };
    let mechanism = levels.get("mechanism").map_or("", String::as_str);
    let prefix = format!("{}.", options_prefix(mechanism));
    let rest =
        levels.iter().filter(|(factor, level)| *factor != "mechanism" && differs(factor, level));
    let rest = rest.map(|(factor, level)| match factor.strip_prefix(&prefix) {
        Some(option) => format!("{option}={level}"),
        None if factor == "instrument" && level == "none" => "uninstrumented".to_owned(),
        None if factor == "instrument" => format!("with {level}"),
        None => format!("{factor}={level}"),
    });
    std::iter::once(mechanism.to_owned()).chain(rest).collect::<Vec<_>>().join(" ")
}

impl Line<'_> {
    /// Whether `other` has the same level of every shared factor, except those in `compared`.
    pub fn matches_except(&self, other: &Line<'_>, compared: &BTreeSet<String>) -> bool {
        self.levels.iter().all(|(factor, level)| {
            let others = other.levels.get(factor);
            compared.contains(factor) || others.is_none_or(|others| others == level)
        })
    }

    /// Returns the better of both at each level and in each block. A level that only one line has is taken from it. A
    /// block that one of them lacks is left out, because the true best is then unknown.
    pub fn merge_best(mut self, other: &Line<'_>, better: Better) -> Self {
        let better_of = |one: f64, other: f64| match better {
            Better::Higher => one.max(other),
            Better::Lower => one.min(other),
        };
        for point in &other.points {
            let Some(own) = self.points.iter_mut().find(|own| own.label == point.label) else {
                self.points.push(point.clone());
                continue;
            };
            own.values.retain(|block, _| point.values.contains_key(block));
            for (block, best) in &mut own.values {
                *best = point.values.get(block).map_or(*best, |one| better_of(*best, *one));
            }
        }
        self.points.sort_by(|one, other| one.x.total_cmp(&other.x));
        self
    }

    /// Removes the points of `lost`, at which the best is unknown, and says so in the name.
    pub fn without_lost(mut self, lost: &Line<'_>) -> Self {
        let is_lost = |point: &Point| lost.points.iter().any(|gone| gone.label == point.label);
        let labels: Vec<&str> =
            self.points.iter().filter(|point| is_lost(point)).map(|p| p.label.as_str()).collect();
        if !labels.is_empty() {
            let labels = labels.join(", ");
            self.name =
                format!("{} (not at {labels}: {} has no valid run there)", self.name, lost.name);
        }
        self.points.retain(|point| !is_lost(point));
        self
    }

    /// Subtracts `other` at each level and in each block that both have.
    pub(super) fn minus(&self, other: &Line<'_>) -> Self {
        let points = self.common_points(other).into_iter().map(|(own, other)| {
            let rest =
                |(block, value): (&u32, &f64)| Some((*block, value - other.values.get(block)?));
            Point { values: own.values.iter().filter_map(rest).collect(), ..own.clone() }
        });
        Self { points: points.collect(), ..self.clone() }
    }

    /// Divides by `other` at each level and in each block that both have.
    pub fn divided_by(&self, other: &Line<'_>) -> Self {
        let points = self.common_points(other).into_iter().map(|(point, whole)| {
            let ratio = |(block, value): (&u32, &f64)| {
                let whole = whole.values.get(block).filter(|whole| **whole > 0.0)?;
                Some((*block, value / whole))
            };
            Point { values: point.values.iter().filter_map(ratio).collect(), ..point.clone() }
        });
        let points = points.filter(|point| !point.values.is_empty()).collect();
        Self { points, ..self.clone() }
    }

    /// Returns the points of both lines at their common levels.
    pub(super) fn common_points<'p>(&'p self, other: &'p Line<'_>) -> Vec<(&'p Point, &'p Point)> {
        // Match labels, not positions: the position of a non-numeric level can differ between lines.
        let at = |label: &str| other.points.iter().find(|point| point.label == label);
        self.points.iter().filter_map(|point| Some((point, at(&point.label)?))).collect()
    }

    /// Returns its values at the levels labeled `used`, in `blocks`.
    pub(super) fn restricted_to(&self, used: &[String], blocks: &BTreeSet<u32>) -> Self {
        let points = self.points.iter().filter(|point| used.contains(&point.label));
        let points = points.map(|point| Point {
            values: restrict_to_blocks(&point.values, blocks),
            ..point.clone()
        });
        Self { points: points.collect(), ..self.clone() }
    }

    /// Returns the complete part of the line along `divided_by`: the levels that count, in the blocks that have all of
    /// them.
    pub(super) fn complete_part(&self, over: &str) -> (Self, AggregatedLevels) {
        let levels = self.points.iter();
        let levels: Vec<(&str, BTreeSet<u32>)> = levels
            .map(|point| (point.label.as_str(), point.values.keys().copied().collect()))
            .collect();
        let (chosen, blocks) = complete_blocks(over, &levels);
        (self.restricted_to(&chosen.used, &blocks), chosen)
    }

    /// Returns the blocks in which it has a value.
    pub fn blocks(&self) -> BTreeSet<u32> {
        self.points.iter().flat_map(|point| point.values.keys().copied()).collect()
    }

    /// Returns the line as a curve, with one repetition per block.
    ///
    /// # Errors
    /// Fails if the points do not form a curve.
    pub fn curve(&self) -> Result<Curve, CurveError> {
        self.curve_over(&self.blocks())
    }

    /// Returns the line as a curve over `blocks`, so that the curves of two lines have the same rows.
    ///
    /// # Errors
    /// Fails if the points do not form a curve.
    pub(super) fn curve_over(&self, blocks: &BTreeSet<u32>) -> Result<Curve, CurveError> {
        let row = |block: &u32| {
            self.points.iter().map(|point| point.values.get(block).copied()).collect()
        };
        Curve::new(
            self.points.iter().map(|point| point.x).collect(),
            blocks.iter().map(row).collect(),
        )
    }
}

impl Point {
    /// Creates the point of `level` of the factor `over`, at `position` unless the level is a number.
    fn at_level(over: &str, level: &str, position: f64, values: BTreeMap<u32, f64>) -> Self {
        let number = level.parse().ok().filter(|number: &f64| number.is_finite());
        let (x, is_number) = (number.unwrap_or(position), number.is_some());
        Self { x, is_number, label: label(over, level), values }
    }

    /// Returns pairs of values from the blocks that both points have.
    pub fn paired_values(&self, other: &Self) -> Vec<(f64, f64)> {
        let pair = |(block, value): (&u32, &f64)| Some((*value, *other.values.get(block)?));
        self.values.iter().filter_map(pair).collect()
    }

    /// Returns the values of all blocks.
    pub fn all_values(&self) -> Vec<f64> {
        self.values.values().copied().collect()
    }
}
