//! A chart: what a description comes to for the files at hand, before it is drawn.

use std::collections::HashMap;

use ipcperf_engine::workload::Kind;

use super::axis::Axis;
use super::description::{Band, Description, Sizes, Statistic};
use super::quantity::Quantity;
use super::reference::{self, Guide};
use super::{distribution, median, modes};
use crate::output::{Heading, by_heading};
use crate::plan::Bytes;
use crate::summary::{CaseSummary, Summarised, moves_nothing};

/// Nobody looks at more panels of one figure.
const MOST_PANELS: usize = 60;

/// The names of all series of a report, in order: a series has one look in all its figures.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Names {
    names: Vec<String>,
    numbers: HashMap<String, usize>,
}

impl Names {
    /// Those of `files`, in the order they are met.
    pub(crate) fn of(files: &[Summarised]) -> Self {
        let mut all = Self::default();
        for case in files.iter().flat_map(|file| &file.summaries).filter(|case| is_drawn(case)) {
            let name = case.series();
            if !all.numbers.contains_key(&name) {
                all.numbers.insert(name.clone(), all.names.len());
                all.names.push(name);
            }
        }
        all
    }

    pub(super) fn number(&self, case: &CaseSummary) -> Option<usize> {
        self.numbers.get(&case.series()).copied()
    }

    /// The name of series `number`.
    pub(crate) fn name(&self, number: usize) -> &str {
        self.names.get(number).map_or("", String::as_str)
    }
}

/// Whether a case has its place in figures: it was measured, and something moved.
pub(super) fn is_drawn(case: &CaseSummary) -> bool {
    case.refused.is_none() && !moves_nothing(&case.case.mechanism)
}

/// What is to be drawn.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Chart {
    pub(crate) description: &'static Description,
    /// What it shows.
    pub(crate) title: String,
    pub(crate) panels: Vec<Panel>,
    /// What to look for, and what is shown.
    pub(crate) notes: Vec<String>,
}

/// One of a chart's pictures.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Panel {
    pub(crate) title: String,
    pub(super) x: Axis,
    pub(super) y: Axis,
    pub(super) content: Content,
    /// What the machine has to say.
    pub(super) guides: Vec<Guide>,
    /// The sizes of the caches, where they lie on the axis across.
    pub(super) caches: Vec<(f64, &'static str)>,
}

/// What a panel shows, in the units of its axes.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Content {
    pub(super) curves: Vec<Curve>,
    /// What the rows are, where it has rows.
    pub(super) rows: Vec<String>,
}

/// What a panel shows of a series.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Curve {
    /// Its number among the [`Names`].
    pub(super) series: usize,
    pub(super) line: Vec<[f64; 2]>,
    /// x, low and high.
    pub(super) band: Vec<[f64; 3]>,
    /// From x, y to x, y.
    pub(super) whiskers: Vec<[f64; 4]>,
    pub(super) points: Vec<Point>,
}

/// A mark whose words are shown to who points at it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Point {
    pub(super) x: f64,
    pub(super) y: f64,
    /// Its area, 1 as usual.
    pub(super) weight: f64,
    pub(super) trust: Trust,
    pub(super) words: String,
}

/// Whether a value counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trust {
    Counted,
    /// The machine held up every run: better than nothing, but not to be believed.
    HeldUp,
}

/// The cases of one panel.
pub(super) struct Group<'a> {
    pub(super) file: &'a Summarised,
    pub(super) heading: Heading,
    pub(super) cases: Vec<&'a CaseSummary>,
    /// Whose figures are meant, where each role has its own.
    pub(super) role: Option<String>,
    /// Its place among the files, then a size, that tell it from others of the same heading.
    letter: Option<char>,
    size: Option<u64>,
}

impl Chart {
    /// What `description` comes to for `files`; `None` where they have nothing of it.
    pub(crate) fn of(
        description: &'static Description,
        files: &[Summarised],
        names: &Names,
    ) -> Option<Self> {
        let mut groups = groups(description, files);
        let left_out = groups.len().saturating_sub(MOST_PANELS);
        groups.truncate(MOST_PANELS);
        let layout = Layout::of(description, &groups);
        let filled: Vec<Drawn> = groups
            .into_iter()
            .map(|group| {
                let content = content(description, layout, &group, names);
                let guides = reference::guides(description, layout, &group, &content);
                Drawn { group, content, guides }
            })
            .filter(|drawn| !drawn.content.curves.is_empty())
            .collect();
        let panels = filled.iter().filter_map(|drawn| {
            let (x, y) = axes(description, layout, drawn, &filled)?;
            Some(Panel::of(description, layout, drawn, (x, y)))
        });
        let panels: Vec<Panel> = panels.collect();
        let title = match (layout, filled.first()?.group.cases.first()) {
            (Layout::Rows, Some(case)) if description.statistic != Statistic::Modes => {
                format!("{} at {}", description.title, Bytes(case.case.buffer_bytes))
            }
            _ => description.title.to_owned(),
        };
        let see = (layout == Layout::Plane || description.statistic == Statistic::Modes)
            .then(|| description.see.to_owned());
        let notes = see.into_iter().chain(notes(description, files));
        let left_out =
            (left_out > 0).then(|| format!("{left_out} more panels are left to the tables."));
        let notes = notes.chain(left_out).collect();
        (!panels.is_empty()).then_some(Self { description, title, panels, notes })
    }

    /// Numbers of the series that have something in it.
    pub(crate) fn series(&self) -> Vec<usize> {
        let curves = self.panels.iter().flat_map(|panel| &panel.content.curves);
        let mut series: Vec<usize> = curves.map(|curve| curve.series).collect();
        series.sort_unstable();
        series.dedup();
        series
    }

    /// The guides that some panel has, each once.
    pub(crate) fn guides(&self) -> Vec<&'static str> {
        let all = self.panels.iter().flat_map(|panel| &panel.guides);
        let mut names: Vec<&'static str> = all.map(|guide| guide.name).collect();
        names.sort_unstable();
        names.dedup();
        names
    }
}

/// The content of a panel that has yet to get its axes.
struct Drawn<'a> {
    group: Group<'a>,
    content: Content,
    guides: Vec<Guide>,
}

/// The axes of a panel: those of all panels of a figure are alike, so that they can be compared, but
/// for distributions, where that is so for the panels of one question only.
fn axes(
    description: &Description,
    layout: Layout,
    panel: &Drawn,
    all: &[Drawn],
) -> Option<(Axis, Axis)> {
    let (across, up) = layout.quantities(description);
    let is_alike = |other: &&Drawn| match description.statistic {
        Statistic::Distribution => other.group.asks_the_same(&panel.group),
        Statistic::Median(_) | Statistic::Modes => true,
    };
    let alike = || all.iter().filter(is_alike);
    let x = Axis::over(across, alike().flat_map(Drawn::across))?;
    let y = match layout {
        #[allow(clippy::cast_precision_loss, reason = "rows are few")]
        Layout::Rows => Axis::over(up, [0.0, (panel.content.rows.len() - 1) as f64].into_iter())?,
        Layout::Plane => Axis::over(up, alike().flat_map(Drawn::up))?,
    };
    Some((x, y))
}

impl Drawn<'_> {
    fn across(&self) -> impl Iterator<Item = f64> + '_ {
        self.content.across().chain(self.of_guides().map(|[x, _]| x))
    }

    fn up(&self) -> impl Iterator<Item = f64> + '_ {
        self.content.up().chain(self.of_guides().map(|[_, y]| y))
    }

    fn of_guides(&self) -> impl Iterator<Item = [f64; 2]> + '_ {
        self.guides.iter().flat_map(|guide| guide.lines.iter().flatten().copied())
    }
}

/// How values lie in the panels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// Both ways by value.
    Plane,
    /// A row for each case.
    Rows,
}

impl Layout {
    /// Curves over a single size would be dots above each other: there, each case has a row.
    fn of(description: &Description, groups: &[Group]) -> Self {
        let mut sizes = groups.iter().flat_map(|group| &group.cases).map(|c| c.case.buffer_bytes);
        let first = sizes.next();
        let one_size = sizes.all(|bytes| Some(bytes) == first);
        match description.statistic {
            Statistic::Modes => Self::Rows,
            Statistic::Median(_) if one_size => Self::Rows,
            Statistic::Median(_) | Statistic::Distribution => Self::Plane,
        }
    }

    const fn quantities(self, description: &Description) -> (Quantity, Quantity) {
        match (self, description.statistic) {
            (Self::Rows, Statistic::Median(_)) => (description.y, Quantity::Case),
            _ => (description.x, description.y),
        }
    }
}

fn content(description: &Description, layout: Layout, group: &Group, names: &Names) -> Content {
    match (description.statistic, layout) {
        (Statistic::Median(Band::Quartiles), Layout::Plane) => {
            median::curves(description.y, group, names)
        }
        (Statistic::Median(Band::Quartiles), Layout::Rows) => {
            median::rows(description.y, group, names)
        }
        (Statistic::Distribution, _) => distribution::curves(group, names),
        (Statistic::Modes, _) => modes::rows(description.x, group, names),
    }
}

impl Content {
    fn across(&self) -> impl Iterator<Item = f64> + '_ {
        self.curves.iter().flat_map(|curve| {
            let points = curve.points.iter().map(|point| point.x);
            let ends = curve.whiskers.iter().flat_map(|[from, _, to, _]| [*from, *to]);
            points.chain(ends).chain(curve.line.iter().map(|[x, _]| *x))
        })
    }

    fn up(&self) -> impl Iterator<Item = f64> + '_ {
        self.curves.iter().flat_map(|curve| {
            let points = curve.points.iter().map(|point| point.y);
            points.chain(curve.band.iter().flat_map(|[_, low, high]| [*low, *high]))
        })
    }
}

impl Panel {
    fn of(description: &Description, layout: Layout, drawn: &Drawn, (x, y): (Axis, Axis)) -> Self {
        let caches = match layout {
            Layout::Plane => reference::caches(description, drawn.group.file, &x),
            Layout::Rows => Vec::new(),
        };
        let title = drawn.group.title(description);
        let (content, guides) = (drawn.content.clone(), drawn.guides.clone());
        Self { title, x, y, content, guides, caches }
    }
}

impl Group<'_> {
    /// Whether the same was asked for another panel, of another machine or day perhaps.
    fn asks_the_same(&self, other: &Self) -> bool {
        self.size == other.size && self.heading.question() == other.heading.question()
    }

    /// The sender comes before the receiver, which the alphabet has the other way round.
    fn turn(&self) -> std::cmp::Reverse<Option<String>> {
        std::cmp::Reverse(self.role.clone())
    }

    /// What tells the panel from the others.
    fn title(&self, description: &Description) -> String {
        let mut parts: Vec<String> = self.letter.map(String::from).into_iter().collect();
        if description.workload.is_none() {
            parts.push(self.heading.workload().name().to_owned());
        }
        parts.push(self.heading.place_in_short());
        parts.extend(self.size.map(|bytes| Bytes(bytes).to_string()));
        parts.extend(self.role.clone());
        parts.join(" · ")
    }
}

/// The cases of each panel, panels in their order: what was asked first, and files side by side.
fn groups<'a>(description: &Description, files: &'a [Summarised]) -> Vec<Group<'a>> {
    let mut groups: Vec<Group> = Vec::new();
    for (file, letter) in files.iter().zip('A'..) {
        let letter = (files.len() > 1).then_some(letter);
        for (heading, mut cases) in by_heading(&file.summaries) {
            if description.workload.is_some_and(|workload| workload != heading.workload()) {
                continue;
            }
            cases.retain(|case| is_drawn(case));
            let whole = Group { file, heading, cases, role: None, letter, size: None };
            groups.extend(parted(description, whole));
        }
    }
    let mut places: HashMap<String, usize> = HashMap::new();
    for group in &groups {
        let next = places.len();
        places.entry(group.heading.question()).or_insert(next);
    }
    let place = |group: &Group| places.get(&group.heading.question()).copied();
    groups.sort_by_cached_key(|group| (place(group), group.size, group.turn(), group.letter));
    groups
}

/// A group for each role or size that gets a panel of its own.
fn parted<'a>(description: &Description, whole: Group<'a>) -> Vec<Group<'a>> {
    let part = |role, size: Option<u64>| {
        let is_of = |case: &&&CaseSummary| size.is_none_or(|bytes| case.case.buffer_bytes == bytes);
        let cases = whole.cases.iter().filter(is_of).copied().collect();
        let heading = whole.heading.clone();
        Group { file: whole.file, heading, cases, role, letter: whole.letter, size }
    };
    if description.y.is_of_roles() {
        let mut roles: Vec<&String> = whole.cases.iter().flat_map(|c| c.roles.keys()).collect();
        roles.sort_unstable();
        roles.dedup();
        return roles.into_iter().map(|role| part(Some(role.clone()), None)).collect();
    }
    let sizes = || whole.cases.iter().map(|case| case.case.buffer_bytes);
    match (description.sizes, sizes().min(), sizes().max()) {
        (Sizes::Ends, Some(least), Some(most)) if least < most => {
            vec![part(None, Some(least)), part(None, Some(most))]
        }
        (Sizes::Ends, Some(only), _) => vec![part(None, Some(only))],
        (Sizes::All, _, _) | (Sizes::Ends, None, _) => vec![whole],
    }
}

/// What has to be said of these files' figures.
fn notes(description: &Description, files: &[Summarised]) -> Vec<String> {
    let drawn = |case: &&CaseSummary| {
        is_drawn(case) && description.workload.is_none_or(|kind| kind == case.case.workload)
    };
    let cases = || files.iter().flat_map(|file| &file.summaries).filter(drawn);
    let counts = || cases().filter_map(CaseSummary::main).map(|figure| figure.spread().n);
    let of = match (description.statistic, counts().min(), counts().max()) {
        (Statistic::Median(Band::Quartiles), Some(least), Some(most)) => {
            let n = if least < most { format!("{least} to {most}") } else { most.to_string() };
            Some(format!("Medians of the kept repetitions (n = {n}); bands hold the middle half."))
        }
        (Statistic::Distribution, ..) => {
            Some("All kept repetitions of a case together.".to_owned())
        }
        _ => None,
    };
    let in_modes = cases().filter(|case| !case.modes.is_empty()).count();
    let modes = (matches!(description.statistic, Statistic::Median(_)) && in_modes > 0).then(|| {
        "Where repetitions fall into several modes, the line passes through the largest, and the \
         others stand beside it."
            .to_owned()
    });
    let is_hollow = |case: &CaseSummary| case.main().is_none() && case.disturbed_median.is_some();
    let hollow = (matches!(description.statistic, Statistic::Median(_)) && cases().any(is_hollow))
        .then(|| "A hollow mark was held up by the machine in each run.".to_owned());
    of.into_iter().chain(modes).chain(hollow).collect()
}

/// Whether `kind` is what a round trip's figures are of.
pub(super) const fn is_round_trip(kind: Kind) -> bool {
    matches!(kind, Kind::RoundTrip)
}
