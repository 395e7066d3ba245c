//! The `[[figure]]` and `[[instrument_figure]]` sections of a study.

use ipcperf_model::suggestion::suggestion;

use super::known_levels::KnownLevels;
use super::metric::Metric;
use super::mistake::Mistakes;
use super::selection::Selection;
use super::values::Values;
use crate::hypothesis::check_cases;

/// A figure: lines over a factor.
#[derive(Clone, Debug)]
pub struct StudyFigure(Values);

/// A set of figures that an instrument draws from its observations.
#[derive(Clone, Debug)]
pub struct InstrumentFigure(Values);

pub(super) fn metrics(values: &Values) -> Vec<Metric> {
    values.metrics("metric").map_or_else(|| vec![Metric::MAIN], <[Metric]>::to_vec)
}

impl StudyFigure {
    /// Converts the values of a `[[figure]]` section. Returns `None` if a required key is missing; that mistake is
    /// already reported.
    pub(super) fn from_values(values: Values) -> Option<Self> {
        (values.text("number").is_some() && values.text("title").is_some()).then_some(Self(values))
    }

    pub(super) const fn line(&self) -> usize {
        self.0.line
    }

    /// Returns the figure's number in the publication.
    pub fn number(&self) -> &str {
        self.0.text("number").unwrap_or_default()
    }

    /// Returns the title.
    pub fn title(&self) -> &str {
        self.0.text("title").unwrap_or_default()
    }

    /// Returns the caption: the feature to look for.
    pub fn caption(&self) -> Option<&str> {
        self.0.text("caption")
    }

    /// Returns the metrics on the vertical axes, one panel for each.
    pub fn metrics(&self) -> Vec<Metric> {
        metrics(&self.0)
    }

    /// Returns the factor on the horizontal axis.
    pub fn over(&self) -> &str {
        self.0.text("over").unwrap_or("buffer")
    }

    /// Returns the cases that it shows.
    pub fn cases(&self) -> Selection {
        self.0.cases("where").cloned().unwrap_or_default()
    }

    /// Returns the cases by which the lines are divided.
    pub fn relative_to(&self) -> Option<&Selection> {
        self.0.cases("relative_to")
    }

    /// Whether `mark` (`caches` or `limit`) is drawn.
    pub fn marks(&self, mark: &str) -> bool {
        self.0.choices("marks").contains(&mark)
    }

    /// Whether the vertical axis is linear.
    pub fn is_linear(&self) -> bool {
        self.0.choice("scale") == Some("linear")
    }

    pub(super) fn check(&self, known: &KnownLevels<'_>, mistakes: &mut Mistakes) {
        check_cases(&self.0, &["where", "relative_to"], known, mistakes);
    }
}

impl InstrumentFigure {
    /// Converts the values of a `[[instrument_figure]]` section. Returns `None` if a required key is missing (which is
    /// already reported) or the instrument is unknown.
    pub(super) fn from_values(values: Values, mistakes: &mut Mistakes) -> Option<Self> {
        let instrument = values.text("instrument")?;
        if ipcperf_model::instrument::find(instrument).is_none() {
            let (line, path) = values.location_of("instrument");
            let names = ipcperf_model::instrument::INSTRUMENTS.iter().map(|known| known.name);
            let remedy = suggestion(instrument, names);
            mistakes.add((line, &path), format!("unknown instrument `{instrument}`"), remedy);
            return None;
        }
        (values.text("number").is_some() && values.text("title").is_some()).then_some(Self(values))
    }

    pub(super) const fn line(&self) -> usize {
        self.0.line
    }

    /// Returns the figure's number in the publication.
    pub fn number(&self) -> &str {
        self.0.text("number").unwrap_or_default()
    }

    /// Returns the title.
    pub fn title(&self) -> &str {
        self.0.text("title").unwrap_or_default()
    }

    /// Returns the caption: the feature to look for.
    pub fn caption(&self) -> Option<&str> {
        self.0.text("caption")
    }

    /// Returns the instrument that draws the figures.
    pub fn instrument(&self) -> &str {
        self.0.text("instrument").unwrap_or_default()
    }

    /// Returns the cases that it shows.
    pub fn cases(&self) -> Selection {
        self.0.cases("where").cloned().unwrap_or_default()
    }

    /// Whether a figure of `kind` with `title` is selected.
    pub fn matches(&self, kind: &str, title: &str) -> bool {
        let kinds = self.0.choices("kind");
        (kinds.is_empty() || kinds.contains(&kind))
            && self.0.text("titled").is_none_or(|word| title.contains(word))
    }

    pub(super) fn check(&self, known: &KnownLevels<'_>, mistakes: &mut Mistakes) {
        check_cases(&self.0, &["where"], known, mistakes);
    }
}
