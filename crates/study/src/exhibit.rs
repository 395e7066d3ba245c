//! The figures that a study asks for, and the pictures of instruments.

use ipcperf_model::suggestion::nearest;

use super::known_levels::KnownLevels;
use super::metric::Metric;
use super::mistake::Mistakes;
use super::selection::Selection;
use super::values::Values;
use crate::hypothesis::check_cases;

/// A figure: lines over a factor.
#[derive(Clone, Debug)]
pub struct StudyFigure(Values);

/// Pictures that an instrument draws of what it saw.
#[derive(Clone, Debug)]
pub struct StudyPicture(Values);

pub(super) fn metrics(values: &Values) -> Vec<Metric> {
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
    pub fn number(&self) -> &str {
        self.0.text("number").unwrap_or_default()
    }

    /// The title.
    pub fn title(&self) -> &str {
        self.0.text("title").unwrap_or_default()
    }

    /// What to look for.
    pub fn see(&self) -> Option<&str> {
        self.0.text("see")
    }

    /// What goes up, a panel for each.
    pub fn metrics(&self) -> Vec<Metric> {
        metrics(&self.0)
    }

    /// The factor that lies across.
    pub fn over(&self) -> &str {
        self.0.text("over").unwrap_or("buffer")
    }

    /// The cases that it shows.
    pub fn cases(&self) -> Selection {
        self.0.cases("where").cloned().unwrap_or_default()
    }

    /// The cases by which lines are divided.
    pub fn relative_to(&self) -> Option<&Selection> {
        self.0.cases("relative_to")
    }

    /// Whether `mark` is to be marked: `caches`, `limit`.
    pub fn marks(&self, mark: &str) -> bool {
        self.0.words("marks").contains(&mark)
    }

    /// Whether its axis across is linear.
    pub fn is_linear(&self) -> bool {
        self.0.word("scale") == Some("linear")
    }

    pub(super) fn check(&self, known: &KnownLevels<'_>, mistakes: &mut Mistakes) {
        check_cases(&self.0, &["where", "relative_to"], known, mistakes);
    }
}

impl StudyPicture {
    /// Reads one; `None` where something that it needs is missing or unknown, which has been told.
    pub(super) fn of(values: Values, mistakes: &mut Mistakes) -> Option<Self> {
        let instrument = values.text("instrument")?;
        if ipcperf_model::instrument::find(instrument).is_none() {
            let (line, path) = values.place_of("instrument");
            let names: Vec<&str> =
                ipcperf_model::instrument::INSTRUMENTS.iter().map(|known| known.name).collect();
            let remedy = match nearest(instrument, names.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("known are {}", names.join(", ")),
            };
            mistakes.add((line, &path), format!("there is no instrument `{instrument}`"), remedy);
            return None;
        }
        (values.text("number").is_some() && values.text("title").is_some()).then_some(Self(values))
    }

    pub(super) const fn line(&self) -> usize {
        self.0.line
    }

    /// As the document numbers it.
    pub fn number(&self) -> &str {
        self.0.text("number").unwrap_or_default()
    }

    /// The title.
    pub fn title(&self) -> &str {
        self.0.text("title").unwrap_or_default()
    }

    /// What to look for.
    pub fn see(&self) -> Option<&str> {
        self.0.text("see")
    }

    /// The instrument whose figure it is.
    pub fn instrument(&self) -> &str {
        self.0.text("instrument").unwrap_or_default()
    }

    /// The cases that it shows.
    pub fn cases(&self) -> Selection {
        self.0.cases("where").cloned().unwrap_or_default()
    }

    /// Whether pictures of `kind` with `title` are meant.
    pub fn means(&self, kind: &str, title: &str) -> bool {
        let kinds = self.0.words("kind");
        (kinds.is_empty() || kinds.contains(&kind))
            && self.0.text("titled").is_none_or(|word| title.contains(word))
    }

    pub(super) fn check(&self, known: &KnownLevels<'_>, mistakes: &mut Mistakes) {
        check_cases(&self.0, &["where"], known, mistakes);
    }
}
