//! Layout of values in the panels of a chart, and the resulting axes.

use super::axis::Axis;
use super::chart::{Content, Guide};
use super::figure_spec::{FigureSpec, Statistic};
use super::group::Group;
use super::quantity::Quantity;

/// Content of a panel before its axes are known.
pub(super) struct PanelContent<'a> {
    pub(super) group: Group<'a>,
    pub(super) content: Content,
    pub(super) guides: Vec<Guide>,
}

/// Returns the axes of a panel. All panels of a figure share their axes so that they can be compared. The panels of
/// distributions share them only within one question.
pub(super) fn axes(
    description: &FigureSpec,
    layout: Layout,
    panel: &PanelContent,
    all: &[PanelContent],
) -> Option<(Axis, Axis)> {
    let (across, up) = layout.quantities(description);
    let shares_axes = |other: &&PanelContent| match description.statistic {
        Statistic::Distribution => other.group.has_same_request(&panel.group),
        Statistic::Median(_) | Statistic::Modes | Statistic::Scatter => true,
    };
    let alike = || all.iter().filter(shares_axes);
    let x = Axis::from_values(across, alike().flat_map(PanelContent::x_values))?;
    let y = match layout {
        #[allow(clippy::cast_precision_loss, reason = "rows are few")]
        Layout::Rows => {
            Axis::from_values(up, [0.0, (panel.content.rows.len() - 1) as f64].into_iter())?
        }
        Layout::Plane => Axis::from_values(up, alike().flat_map(PanelContent::y_values))?,
    };
    Some((x, y))
}

impl PanelContent<'_> {
    fn x_values(&self) -> impl Iterator<Item = f64> + '_ {
        self.content.x_values().chain(self.guide_points().map(|[x, _]| x))
    }

    fn y_values(&self) -> impl Iterator<Item = f64> + '_ {
        self.content.y_values().chain(self.guide_points().map(|[_, y]| y))
    }

    fn guide_points(&self) -> impl Iterator<Item = [f64; 2]> + '_ {
        self.guides.iter().flat_map(|guide| guide.lines.iter().flatten().copied())
    }
}

/// Layout of values in the panels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// Both axes by value.
    Plane,
    /// One row for each case.
    Rows,
}

impl Layout {
    /// Chooses the layout. With a single size, curves would collapse to points above each other, so each case gets a
    /// row.
    pub(super) fn choose(description: &FigureSpec, groups: &[Group]) -> Self {
        let mut sizes = groups.iter().flat_map(|group| &group.cases).map(|c| c.case.buffer_bytes);
        let first = sizes.next();
        let one_size = sizes.all(|bytes| Some(bytes) == first);
        match description.statistic {
            Statistic::Modes => Self::Rows,
            Statistic::Median(_) if one_size => Self::Rows,
            Statistic::Median(_) | Statistic::Distribution | Statistic::Scatter => Self::Plane,
        }
    }

    fn quantities(self, description: &FigureSpec) -> (Quantity, Quantity) {
        match (self, description.statistic) {
            (Self::Rows, Statistic::Median(_)) => (description.y.clone(), Quantity::Case),
            _ => (description.x.clone(), description.y.clone()),
        }
    }
}
