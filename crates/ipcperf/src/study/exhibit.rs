//! The figures and tables that a study asks for.

use super::matrix::Matrix;
use super::metric::Metric;
use super::mistake::Mistakes;
use super::selection::Selection;
use super::values::Values;
use crate::hypothesis::check_cases;
use crate::plan::nearest;

/// A figure: lines over a factor.
#[derive(Clone, Debug)]
pub(crate) struct StudyFigure(Values);

/// A table: the levels of a factor in rows, lines or metrics in columns.
#[derive(Clone, Debug)]
pub(crate) struct StudyTable {
    values: Values,
    pub(crate) columns: Vec<Column>,
}

/// A column that a study names.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) of: Columned,
}

/// What stands in a column.
#[derive(Clone, Debug)]
pub(crate) enum Columned {
    /// What was measured of these cases, all of them by one metric.
    Cases(Selection, Metric),
    /// In each block the best of columns, by their places.
    Best(Vec<usize>),
    /// In each block one column over another, by their places.
    Ratio(usize, usize),
}

fn metrics(values: &Values) -> Vec<Metric> {
    values.metrics("metric").map_or_else(|| vec![Metric::MAIN], <[Metric]>::to_vec)
}

impl StudyFigure {
    /// Reads one; `None` where something that it needs is missing, which has been told.
    pub(super) fn of(values: Values) -> Option<Self> {
        (values.text("number").is_some() && values.text("title").is_some()).then_some(Self(values))
    }

    pub(super) const fn line(&self) -> usize {
        self.0.line
    }

    /// As the document numbers it.
    pub(crate) fn number(&self) -> &str {
        self.0.text("number").unwrap_or_default()
    }

    pub(crate) fn title(&self) -> &str {
        self.0.text("title").unwrap_or_default()
    }

    /// What to look for.
    pub(crate) fn see(&self) -> Option<&str> {
        self.0.text("see")
    }

    /// What goes up, a panel for each.
    pub(crate) fn metrics(&self) -> Vec<Metric> {
        metrics(&self.0)
    }

    /// The factor that lies across.
    pub(crate) fn over(&self) -> &str {
        self.0.text("over").unwrap_or("buffer")
    }

    pub(crate) fn cases(&self) -> Selection {
        self.0.cases("where").cloned().unwrap_or_default()
    }

    /// The cases by which lines are divided.
    pub(crate) fn relative_to(&self) -> Option<&Selection> {
        self.0.cases("relative_to")
    }

    /// Whether `mark` is to be marked: `caches`, `limit`.
    pub(crate) fn marks(&self, mark: &str) -> bool {
        self.0.words("marks").contains(&mark)
    }

    pub(crate) fn is_linear(&self) -> bool {
        self.0.word("scale") == Some("linear")
    }

    pub(super) fn check(&self, matrices: &[Matrix], mistakes: &mut Mistakes) {
        check_cases(&self.0, &["where", "relative_to"], matrices, mistakes);
    }
}

impl StudyTable {
    /// Reads one; `None` where something that it needs is missing, which has been told.
    pub(super) fn of(values: Values, mistakes: &mut Mistakes) -> Option<Self> {
        let mut columns: Vec<Column> = Vec::new();
        for given in values.tables("column") {
            columns.extend(Column::of(given, &values, &columns, mistakes));
        }
        let is_whole = values.text("number").is_some() && values.text("title").is_some();
        is_whole.then_some(Self { values, columns })
    }

    pub(super) const fn line(&self) -> usize {
        self.values.line
    }

    /// As the document numbers it.
    pub(crate) fn number(&self) -> &str {
        self.values.text("number").unwrap_or_default()
    }

    pub(crate) fn title(&self) -> &str {
        self.values.text("title").unwrap_or_default()
    }

    /// What to look for.
    pub(crate) fn see(&self) -> Option<&str> {
        self.values.text("see")
    }

    /// What stands in it where it names no columns.
    pub(crate) fn metrics(&self) -> Vec<Metric> {
        metrics(&self.values)
    }

    /// The factor whose levels are the rows.
    pub(crate) fn rows(&self) -> &str {
        self.values.text("rows").unwrap_or("buffer")
    }

    pub(crate) fn cases(&self) -> Selection {
        self.values.cases("where").cloned().unwrap_or_default()
    }

    pub(super) fn check(&self, matrices: &[Matrix], mistakes: &mut Mistakes) {
        check_cases(&self.values, &["where"], matrices, mistakes);
        for column in self.values.tables("column") {
            check_cases(column, &["where"], matrices, mistakes);
        }
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
            (Some(names), None) => Columned::Best(places(given, "best", names, before, mistakes)?),
            (None, Some(names)) => {
                let places = places(given, "ratio", names, before, mistakes)?;
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

/// The places of the columns called `names`.
fn places(
    given: &Values,
    key: &str,
    names: &[String],
    before: &[Column],
    mistakes: &mut Mistakes,
) -> Option<Vec<usize>> {
    let mut places = Vec::new();
    for name in names {
        let Some(place) = before.iter().position(|column| column.name == *name) else {
            let known = before.iter().map(|column| column.name.as_str());
            let remedy = match nearest(name, known) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "name columns that stand before it".to_owned(),
            };
            let (line, path) = given.place_of(key);
            mistakes.add((line, &path), format!("no column before it is called `{name}`"), remedy);
            return None;
        };
        places.push(place);
    }
    Some(places)
}
