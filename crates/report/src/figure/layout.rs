//! How values lie in the panels of a chart, and the axes for that.

use super::axis::Axis;
use super::chart::Content;
use super::chart::Guide;
use super::description::{Description, Statistic};
use super::group::Group;
use super::quantity::Quantity;

/// The content of a panel that has yet to get its axes.
pub(super) struct Drawn<'a> {
    pub(super) group: Group<'a>,
    pub(super) content: Content,
    pub(super) guides: Vec<Guide>,
}

/// The axes of a panel: those of all panels of a figure are alike, so that they can be compared, but
/// for distributions, where that is so for the panels of one question only.
pub(super) fn axes(
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
    pub(super) fn of(description: &Description, groups: &[Group]) -> Self {
        let mut sizes = groups.iter().flat_map(|group| &group.cases).map(|c| c.case.buffer_bytes);
        let first = sizes.next();
        let one_size = sizes.all(|bytes| Some(bytes) == first);
        match description.statistic {
            Statistic::Modes => Self::Rows,
            Statistic::Median(_) if one_size => Self::Rows,
            Statistic::Median(_) | Statistic::Distribution => Self::Plane,
        }
    }

    fn quantities(self, description: &Description) -> (Quantity, Quantity) {
        match (self, description.statistic) {
            (Self::Rows, Statistic::Median(_)) => (description.y.clone(), Quantity::Case),
            _ => (description.x.clone(), description.y.clone()),
        }
    }
}
