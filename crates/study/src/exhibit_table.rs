//! The tables that a study asks for: what stands in their rows and columns.

use std::collections::BTreeMap;

use ipcperf_model::suggestion::nearest;

use super::exhibit::metrics;
use super::known_levels::KnownLevels;
use super::metric::Metric;
use super::mistake::Mistakes;
use super::selection::Selection;
use super::values::Values;
use crate::hypothesis::check_cases;

/// A table: the levels of a factor in rows, lines or metrics in columns.
#[derive(Clone, Debug)]
pub struct StudyTable {
    values: Values,
    /// None where the levels of a factor are the rows.
    pub rows: Vec<Row>,
    /// The columns, in order.
    pub columns: Vec<Column>,
}

/// What tells how far the values of a cell spread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beside {
    /// The interquartile range as a share of the median.
    Iqr,
    /// The least and the most.
    Range,
}

/// A row that a study names.
#[derive(Clone, Debug)]
pub struct Row {
    /// What stands in front of it.
    pub name: String,
    /// What it is made of.
    pub of: Rowed,
}

/// What stands in a row.
#[derive(Clone, Debug)]
pub enum Rowed {
    /// Of a column's cases these, and of its instrument's rows those that have these fields.
    Seen(Selection, BTreeMap<String, String>),
    /// In each block the sum of rows, by their places.
    Sum(Vec<usize>),
}

/// A column that a study names.
#[derive(Clone, Debug)]
pub struct Column {
    /// What stands above it.
    pub name: String,
    /// What it is made of.
    pub of: Columned,
}

/// What stands in a column.
#[derive(Clone, Debug)]
pub enum Columned {
    /// What was measured of these cases, all of them by one metric.
    Cases(Selection, Metric),
    /// In each block the best of columns, by their places.
    Best(Vec<usize>),
    /// In each block one column over another, by their places.
    Ratio(usize, usize),
}

impl StudyTable {
    /// Reads one; `None` where something that it needs is missing, which has been told.
    pub(super) fn of(values: Values, mistakes: &mut Mistakes) -> Option<Self> {
        let mut rows: Vec<Row> = Vec::new();
        for given in values.tables("row") {
            rows.extend(Row::of(given, &rows, mistakes));
        }
        let mut columns: Vec<Column> = Vec::new();
        for given in values.tables("column") {
            columns.extend(Column::of(given, &values, &columns, mistakes));
        }
        let is_whole = values.text("number").is_some() && values.text("title").is_some();
        is_whole.then_some(Self { values, rows, columns })
    }

    pub(super) const fn line(&self) -> usize {
        self.values.line
    }

    /// As the document numbers it.
    pub fn number(&self) -> &str {
        self.values.text("number").unwrap_or_default()
    }

    /// The title.
    pub fn title(&self) -> &str {
        self.values.text("title").unwrap_or_default()
    }

    /// What to look for.
    pub fn see(&self) -> Option<&str> {
        self.values.text("see")
    }

    /// What stands in it where it names no columns.
    pub fn metrics(&self) -> Vec<Metric> {
        metrics(&self.values)
    }

    /// The cases and the metric of one of its columns.
    pub fn example(&self) -> (Selection, Metric) {
        let named = self.columns.iter().find_map(|column| match &column.of {
            Columned::Cases(cases, metric) => Some((cases.clone(), metric.clone())),
            Columned::Best(_) | Columned::Ratio(..) => None,
        });
        named.unwrap_or_else(|| {
            let metric = self.metrics().into_iter().next().unwrap_or(Metric::MAIN);
            (self.cases(), metric)
        })
    }

    /// The factor whose levels are the rows, where it names none.
    pub fn rows_over(&self) -> &str {
        self.values.text("rows").unwrap_or("buffer")
    }

    /// The cases that it shows.
    pub fn cases(&self) -> Selection {
        self.values.cases("where").cloned().unwrap_or_default()
    }

    /// Whether it lists the machines, and nothing that was measured.
    pub fn lists_machines(&self) -> bool {
        self.values.word("lists") == Some("machines")
    }

    /// What stands beside each median.
    pub fn beside(&self) -> Beside {
        match self.values.word("spread") {
            Some("range") => Beside::Range,
            _ => Beside::Iqr,
        }
    }

    pub(super) fn check(&self, known: &KnownLevels<'_>, mistakes: &mut Mistakes) {
        check_cases(&self.values, &["where"], known, mistakes);
        for column in self.values.tables("column").iter().chain(self.values.tables("row")) {
            check_cases(column, &["where"], known, mistakes);
        }
    }
}

impl Row {
    /// Reads one, which may name those `before` it.
    fn of(given: &Values, before: &[Self], mistakes: &mut Mistakes) -> Option<Self> {
        let name = given.text("name")?.to_owned();
        let of = match given.levels("sum") {
            None => {
                let cases = given.cases("where").cloned().unwrap_or_default();
                Rowed::Seen(cases, given.fields("seen"))
            }
            Some(_) if given.has("seen") || given.has("where") => {
                let (line, path) = given.place_of("sum");
                let remedy = "leave out seen and where, or sum";
                mistakes.add((line, &path), "a sum is of rows before it alone", remedy);
                return None;
            }
            Some(names) => {
                let known = before.iter().map(|row| row.name.as_str());
                Rowed::Sum(places(given, "sum", names, known, mistakes)?)
            }
        };
        Some(Self { name, of })
    }
}

impl Column {
    /// Reads one, which may name those `before` it.
    fn of(
        given: &Values,
        table: &Values,
        before: &[Self],
        mistakes: &mut Mistakes,
    ) -> Option<Self> {
        let name = given.text("name")?.to_owned();
        let of = match (given.levels("best"), given.levels("ratio")) {
            (None, None) => {
                let cases = |values: &Values| values.cases("where").cloned().unwrap_or_default();
                let metric = given.metric("metric").cloned();
                let metric = metric.or_else(|| metrics(table).into_iter().next());
                Columned::Cases(cases(table).and(&cases(given)), metric.unwrap_or(Metric::MAIN))
            }
            (Some(names), None) => {
                Columned::Best(places(given, "best", names, named(before), mistakes)?)
            }
            (None, Some(names)) => {
                let places = places(given, "ratio", names, named(before), mistakes)?;
                let [one, other] = places[..] else {
                    let (line, path) = given.place_of("ratio");
                    let remedy = "name two columns: ratio = [\"PIPE\", \"MAX\"]";
                    mistakes.add((line, &path), "a ratio is of two columns", remedy);
                    return None;
                };
                Columned::Ratio(one, other)
            }
            (Some(_), Some(_)) => {
                let (line, path) = given.place_of("ratio");
                mistakes.add((line, &path), "it stands beside best", "keep one of them");
                return None;
            }
        };
        Some(Self { name, of })
    }
}

fn named(columns: &[Column]) -> impl Iterator<Item = &str> + Clone {
    columns.iter().map(|column| column.name.as_str())
}

/// The places of what is called `names`, among what stands before.
fn places<'k>(
    given: &Values,
    key: &str,
    names: &[String],
    before: impl Iterator<Item = &'k str> + Clone,
    mistakes: &mut Mistakes,
) -> Option<Vec<usize>> {
    let mut places = Vec::new();
    for name in names {
        let Some(place) = before.clone().position(|known| known == name) else {
            let remedy = match nearest(name, before) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "name what stands before it".to_owned(),
            };
            let (line, path) = given.place_of(key);
            mistakes.add((line, &path), format!("nothing before it is called `{name}`"), remedy);
            return None;
        };
        places.push(place);
    }
    Some(places)
}
