//! The tables that a study asks for, of what was measured.

use super::Source;
use super::measured::{name, set_aside};
use crate::hypothesis::{Line, Point, lines};
use crate::output::{amount, units};
use crate::results::Sample;
use crate::study::{Better, Columned, Metric, Study, StudyTable};
use crate::summary::Spread;

/// A table, ready to be set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ShownTable {
    /// Number, title and file.
    pub(crate) caption: String,
    /// What stands above the names of the rows, and above each column.
    pub(crate) head: Vec<String>,
    /// The name of each row, and its cells.
    pub(crate) rows: Vec<Vec<String>>,
    /// What to see, what is missing, what is set aside.
    pub(crate) notes: Vec<String>,
}

/// A column with its values.
struct Filled<'a> {
    head: String,
    lines: Vec<Line<'a>>,
    unit: String,
    better: Better,
}

/// All tables of `study`, each for each file.
pub(super) fn all(study: &Study, sources: &[Source<'_>]) -> Vec<ShownTable> {
    let of = |table| sources.iter().map(move |source| shown(table, source));
    study.tables.iter().flat_map(of).collect()
}

fn shown(table: &StudyTable, source: &Source<'_>) -> ShownTable {
    let columns = columns(table, source);
    let title = format!("Table {}: {}", table.number(), table.title());
    let levels = levels(&columns);
    let row = |level: &Point| {
        let cells = columns.iter().flat_map(|column| column.cells(&level.label));
        std::iter::once(level.label.clone()).chain(cells).collect()
    };
    let mut notes: Vec<String> = table.see().map(str::to_owned).into_iter().collect();
    if levels.is_empty() {
        let metric = table.metrics().into_iter().next().unwrap_or(Metric::MAIN);
        notes.push(format!("Not measured: {}.", source.cells.absence(&table.cases(), &metric)));
    }
    notes.extend(set_aside(&source.cells.set_aside(&[table.cases()])));
    let heads = columns.iter().flat_map(Filled::heads);
    ShownTable {
        caption: source.heading(&[&title]),
        head: std::iter::once(table.rows().replace('_', " ")).chain(heads).collect(),
        rows: levels.into_iter().map(row).collect(),
        notes,
    }
}

/// The rows that some column has, in their order.
fn levels<'p>(columns: &'p [Filled<'_>]) -> Vec<&'p Point> {
    let all = columns.iter().flat_map(|column| &column.lines).flat_map(|line| &line.points);
    let mut levels: Vec<&Point> = Vec::new();
    for point in all {
        if !levels.iter().any(|known| known.label == point.label) {
            levels.push(point);
        }
    }
    levels.sort_by(|one, other| one.x.total_cmp(&other.x));
    levels
}

fn columns<'a>(table: &StudyTable, source: &Source<'a>) -> Vec<Filled<'a>> {
    if table.columns.is_empty() {
        let metrics = table.metrics();
        let is_one = metrics.len() == 1;
        let column = |metric: &Metric| {
            let lines = lines(&source.cells, &table.cases(), table.rows(), metric);
            let head = if is_one && lines.len() > 1 {
                String::new()
            } else {
                name(metric, example(&lines))
            };
            Filled::of(head, lines, metric)
        };
        return metrics.iter().map(column).collect();
    }
    let mut filled: Vec<Filled<'a>> = Vec::new();
    for column in &table.columns {
        let next = match &column.of {
            Columned::Cases(cases, metric) => {
                let lines = lines(&source.cells, cases, table.rows(), metric);
                Filled::of(column.name.clone(), lines, metric)
            }
            Columned::Best(places) => best(&column.name, places, &filled),
            Columned::Ratio(one, other) => ratio(&column.name, *one, *other, &filled),
        };
        filled.push(next);
    }
    filled
}

fn example<'a>(lines: &[Line<'a>]) -> Option<&'a Sample> {
    lines.iter().find_map(|line| line.example)
}

/// At each level and in each block the best of the columns at `places`.
fn best<'a>(head: &str, places: &[usize], filled: &[Filled<'a>]) -> Filled<'a> {
    let of = || places.iter().map(|place| &filled[*place]);
    let better = of().next().map_or(Better::Higher, |column| column.better);
    let mut all = of().flat_map(|column| column.lines.iter().cloned());
    let merged =
        all.next().map(|first| all.fold(first, |best, line| best.or_better(&line, better)));
    let unit = of().next().map_or_else(String::new, |column| column.unit.clone());
    Filled { head: head.to_owned(), lines: merged.into_iter().collect(), unit, better }
}

/// The column at `one` over that at `other`: each line over the only one, or over that with which it shares
/// all but its mechanism.
fn ratio<'a>(head: &str, one: usize, other: usize, filled: &[Filled<'a>]) -> Filled<'a> {
    let (over, under) = (&filled[one].lines, &filled[other].lines);
    let anything = std::collections::BTreeSet::new();
    let divided = |line: &Line<'a>| {
        let below = match under.as_slice() {
            [only] => Some(only),
            several => several.iter().find(|below| below.is_beside(line, &anything)),
        };
        below.map(|below| line.over(below))
    };
    let lines = over.iter().filter_map(divided).collect();
    Filled { head: head.to_owned(), lines, unit: String::new(), better: Better::Higher }
}

impl<'a> Filled<'a> {
    fn of(head: String, lines: Vec<Line<'a>>, metric: &Metric) -> Self {
        let example = example(&lines);
        let (unit, better) = (metric.unit(example).to_owned(), metric.better(example));
        Self { head, lines, unit, better }
    }

    /// What stands above it, for each of its lines.
    fn heads(&self) -> Vec<String> {
        let named = |line: &Line<'a>| match (self.head.as_str(), line.name.trim()) {
            ("", name) => name.to_owned(),
            (head, name) => format!("{head}: {name}"),
        };
        match self.lines.as_slice() {
            [] | [_] => vec![self.head.clone()],
            several => several.iter().map(named).collect(),
        }
    }

    /// Its cells at a level, as many as it has heads.
    fn cells(&self, level: &str) -> Vec<String> {
        if self.lines.is_empty() {
            return vec![String::new()];
        }
        let at = |line: &Line<'a>| {
            let point = line.points.iter().find(|point| point.label == level)?;
            let spread = Spread::of(&point.all())?;
            let value = amount(spread.median, &self.unit);
            Some(format!("{value} ({})", units::percent(spread.relative_iqr())))
        };
        self.lines.iter().map(|line| at(line).unwrap_or_default()).collect()
    }
}
