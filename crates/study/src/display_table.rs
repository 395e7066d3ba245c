//! The `[[table]]` section of a study, with its rows and columns.

use std::collections::BTreeMap;

use ipcperf_model::suggestion::nearest;

use super::display::metrics;
use super::known_levels::KnownLevels;
use super::metric::Metric;
use super::mistake::Mistakes;
use super::selection::Selection;
use super::values::Values;
use crate::hypothesis::check_cases;

/// A table: levels of a factor in rows, lines of cases or metrics in columns.
#[derive(Clone, Debug)]
pub struct StudyTable {
    values: Values,
    /// The named rows. Empty if the levels of a factor are the rows.
    pub rows: Vec<NamedRow>,
    /// The named columns, in order.
    pub columns: Vec<NamedColumn>,
}

/// Measure of spread shown next to each median.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpreadKind {
    /// Interquartile range as a share of the median.
    Iqr,
    /// Minimum and maximum.
    Range,
}

/// A row named by the study.
#[derive(Clone, Debug)]
pub struct NamedRow {
    /// Label of the row.
    pub name: String,
    /// Content of the row.
    pub content: RowContent,
}

/// Content of a named row.
#[derive(Clone, Debug)]
pub enum RowContent {
    /// Restricts each column to these cases and, in its instrument's rows, to those with these fields.
    Fields(Selection, BTreeMap<String, String>),
    /// The sum of earlier rows, block by block; the rows are given by index.
    Sum(Vec<usize>),
}

/// A column named by the study.
#[derive(Clone, Debug)]
pub struct NamedColumn {
    /// Heading of the column.
    pub name: String,
    /// Content of the column.
    pub content: ColumnContent,
}

/// Content of a named column.
#[derive(Clone, Debug)]
pub enum ColumnContent {
    /// One metric of these cases.
    Cases(Selection, Metric),
    /// The best of earlier columns, block by block; the columns are given by index.
    Best(Vec<usize>),
    /// The first column divided by the second, block by block; both are given by index.
    Ratio(usize, usize),
}

impl StudyTable {
    /// Converts the values of a `[[table]]` section. Returns `None` if a required key is missing; that mistake is
    /// already reported.
    pub(super) fn from_values(values: Values, mistakes: &mut Mistakes) -> Option<Self> {
        let mut rows: Vec<NamedRow> = Vec::new();
        for given in values.tables("row") {
            rows.extend(NamedRow::from_values(given, &rows, mistakes));
        }
        let mut columns: Vec<NamedColumn> = Vec::new();
        for given in values.tables("column") {
            columns.extend(NamedColumn::from_values(given, &values, &columns, mistakes));
        }
        let is_whole = values.text("number").is_some() && values.text("title").is_some();
        is_whole.then_some(Self { values, rows, columns })
    }

    pub(super) const fn line(&self) -> usize {
        self.values.line
    }

    /// Returns the table's number in the publication.
    pub fn number(&self) -> &str {
        self.values.text("number").unwrap_or_default()
    }

    /// Returns the title.
    pub fn title(&self) -> &str {
        self.values.text("title").unwrap_or_default()
    }

    /// Returns the caption: the feature to look for.
    pub fn caption(&self) -> Option<&str> {
        self.values.text("caption")
    }

    /// Returns the metrics shown if the table names no columns.
    pub fn metrics(&self) -> Vec<Metric> {
        metrics(&self.values)
    }

    /// Returns the cases and metric of one column, as an example.
    pub fn example(&self) -> (Selection, Metric) {
        let named = self.columns.iter().find_map(|column| match &column.content {
            ColumnContent::Cases(cases, metric) => Some((cases.clone(), metric.clone())),
            ColumnContent::Best(_) | ColumnContent::Ratio(..) => None,
        });
        named.unwrap_or_else(|| {
            let metric = self.metrics().into_iter().next().unwrap_or(Metric::MAIN);
            (self.cases(), metric)
        })
    }

    /// Returns the factor whose levels are the rows if the table names no rows.
    pub fn row_factor(&self) -> &str {
        self.values.text("rows").unwrap_or("buffer")
    }

    /// Returns the cases that it shows.
    pub fn cases(&self) -> Selection {
        self.values.cases("where").cloned().unwrap_or_default()
    }

    /// Whether it lists the machines instead of measurements.
    pub fn lists_machines(&self) -> bool {
        self.values.choice("lists") == Some("machines")
    }

    /// Returns the measure of spread shown next to each median.
    pub fn spread(&self) -> SpreadKind {
        match self.values.choice("spread") {
            Some("range") => SpreadKind::Range,
            _ => SpreadKind::Iqr,
        }
    }

    pub(super) fn check(&self, known: &KnownLevels<'_>, mistakes: &mut Mistakes) {
        check_cases(&self.values, &["where"], known, mistakes);
        for column in self.values.tables("column").iter().chain(self.values.tables("row")) {
            check_cases(column, &["where"], known, mistakes);
        }
    }
}

impl NamedRow {
    /// Converts one row. A sum may refer only to the rows in `before`.
    fn from_values(given: &Values, before: &[Self], mistakes: &mut Mistakes) -> Option<Self> {
        let name = given.text("name")?.to_owned();
        let of = match given.levels("sum") {
            None => {
                let cases = given.cases("where").cloned().unwrap_or_default();
                RowContent::Fields(cases, given.fields("seen"))
            }
            Some(_) if given.has("seen") || given.has("where") => {
                let (line, path) = given.location_of("sum");
                let remedy = "leave out seen and where, or leave out sum";
                mistakes.add((line, &path), "sum cannot be combined with seen or where", remedy);
                return None;
            }
            Some(names) => {
                let known = before.iter().map(|row| row.name.as_str());
                RowContent::Sum(indices(given, "sum", names, known, mistakes)?)
            }
        };
        Some(Self { name, content: of })
    }
}

impl NamedColumn {
    /// Converts one column. `best` and `ratio` may refer only to the columns in `before`.
    fn from_values(
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
                ColumnContent::Cases(
                    cases(table).intersection(&cases(given)),
                    metric.unwrap_or(Metric::MAIN),
                )
            }
            (Some(names), None) => {
                ColumnContent::Best(indices(given, "best", names, column_names(before), mistakes)?)
            }
            (None, Some(names)) => {
                let places = indices(given, "ratio", names, column_names(before), mistakes)?;
                let [one, other] = places[..] else {
                    let (line, path) = given.location_of("ratio");
                    let remedy = "name two columns: ratio = [\"PIPE\", \"MAX\"]";
                    mistakes.add((line, &path), "a ratio needs exactly two columns", remedy);
                    return None;
                };
                ColumnContent::Ratio(one, other)
            }
            (Some(_), Some(_)) => {
                let (line, path) = given.location_of("ratio");
                mistakes.add(
                    (line, &path),
                    "ratio cannot be combined with best",
                    "keep one of the two",
                );
                return None;
            }
        };
        Some(Self { name, content: of })
    }
}

fn column_names(columns: &[NamedColumn]) -> impl Iterator<Item = &str> + Clone {
    columns.iter().map(|column| column.name.as_str())
}

/// Returns the indices of `names` in `before`, or reports the first name that is not there.
fn indices<'k>(
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
                None => "name an earlier row or column".to_owned(),
            };
            let (line, path) = given.location_of(key);
            mistakes.add(
                (line, &path),
                format!("no earlier row or column is called `{name}`"),
                remedy,
            );
            return None;
        };
        places.push(place);
    }
    Some(places)
}
