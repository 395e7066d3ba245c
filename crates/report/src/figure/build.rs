//! Conversion of a description and results to a chart.

use ipcperf_results::analysis::AnalyzedFile;

use super::axis::Axis;
use super::chart::{Chart, Content, Panel, SeriesNames};
use super::figure_spec::{Band, FigureSpec, Statistic};
use super::group::{Group, groups};
use super::layout::{Layout, PanelContent, axes};
use super::notes::notes;
use super::split::split_panels;
use super::{distribution, median, modes, reference, scatter};

/// Creates the chart of `description` for `files`, or `None` if they have no data for it.
pub fn build_chart(
    description: &FigureSpec,
    files: &[AnalyzedFile],
    names: &SeriesNames,
) -> Option<Chart> {
    let (groups, left_out) = groups(description, files);
    let layout = Layout::choose(description, &groups);
    let drawn = groups.into_iter().map(|group| panel_content(description, layout, group, names));
    let drawn: Vec<PanelContent> = drawn.filter(|one| !one.content.curves.is_empty()).collect();
    let panels = drawn.iter().filter_map(|one| {
        let axes = axes(description, layout, one, &drawn)?;
        Some(panel(description, layout, one, axes))
    });
    let panels: Vec<Panel> = panels.collect();
    let panels = match description.statistic {
        // Marks are compared with each other: they belong in one panel, however many there are.
        Statistic::Scatter => panels,
        Statistic::Median(_) | Statistic::Distribution | Statistic::Modes => split_panels(panels),
    };
    let title = title(description, layout, drawn.first()?);
    let notes = notes(description, layout, files, left_out);
    let (name, statistic) = (description.name.to_string(), description.statistic);
    (!panels.is_empty()).then_some(Chart { name, statistic, title, panels, notes })
}

/// Returns the title: the subject by the quantity on the horizontal axis, or at the size if there is only one, because
/// no axis shows it.
fn title(description: &FigureSpec, layout: Layout, first: &PanelContent) -> String {
    let FigureSpec { subject, by, statistic, .. } = description;
    match (layout, statistic, first.group.cases.first()) {
        (Layout::Rows, Statistic::Median(_), Some(case)) => {
            format!("{subject} at {}", case.case.size_text())
        }
        _ => by.map_or_else(|| subject.to_string(), |by| format!("{subject} by {by}")),
    }
}

fn panel_content<'a>(
    description: &FigureSpec,
    layout: Layout,
    group: Group<'a>,
    names: &SeriesNames,
) -> PanelContent<'a> {
    let content = content(description, layout, &group, names);
    let guides = reference::guides(description, layout, &group, &content);
    PanelContent { group, content, guides }
}

fn content(
    description: &FigureSpec,
    layout: Layout,
    group: &Group,
    names: &SeriesNames,
) -> Content {
    match (description.statistic, layout) {
        (Statistic::Median(Band::Quartiles), Layout::Plane) => {
            median::curves(&description.y, group, names)
        }
        (Statistic::Median(Band::Quartiles), Layout::Rows) => {
            median::rows(&description.y, group, names)
        }
        (Statistic::Distribution, _) => distribution::curves(group, names),
        (Statistic::Modes, _) => modes::rows(&description.x, group, names),
        (Statistic::Scatter, _) => scatter::marks(description, group, names),
    }
}

fn panel(
    description: &FigureSpec,
    layout: Layout,
    drawn: &PanelContent,
    (x, y): (Axis, Axis),
) -> Panel {
    let caches = match layout {
        Layout::Plane => reference::caches(description, drawn.group.file, &x),
        Layout::Rows => Vec::new(),
    };
    let title = drawn.group.title(description);
    let (content, guides) = (drawn.content.clone(), drawn.guides.clone());
    Panel { title, x, y, content, guides, caches, findings: Vec::new() }
}
