//! Conversion of a description and results to a chart.

use ipcperf_model::size::Bytes;
use ipcperf_results::analysis::Summarised;

use super::axis::Axis;
use super::chart::{Chart, Content, Names, Panel};
use super::description::{Band, Description, Statistic};
use super::group::{Group, groups};
use super::layout::{Drawn, Layout, axes};
use super::notes::notes;
use super::{distribution, median, modes, reference};

/// Creates the chart of `description` for `files`, or `None` if they have no data for it.
pub fn chart(description: &Description, files: &[Summarised], names: &Names) -> Option<Chart> {
    let (groups, left_out) = groups(description, files);
    let layout = Layout::of(description, &groups);
    let drawn = groups.into_iter().map(|group| draw(description, layout, group, names));
    let drawn: Vec<Drawn> = drawn.filter(|one| !one.content.curves.is_empty()).collect();
    let panels = drawn.iter().filter_map(|one| {
        let axes = axes(description, layout, one, &drawn)?;
        Some(panel(description, layout, one, axes))
    });
    let panels: Vec<Panel> = panels.collect();
    let title = title(description, layout, drawn.first()?);
    let notes = notes(description, layout, files, left_out);
    let (name, statistic) = (description.name.to_string(), description.statistic);
    (!panels.is_empty()).then_some(Chart { name, statistic, title, panels, notes })
}

/// Adds the size to the title of a figure with a single size, because no axis shows it.
fn title(description: &Description, layout: Layout, first: &Drawn) -> String {
    match (layout, description.statistic, first.group.cases.first()) {
        (Layout::Rows, Statistic::Median(_), Some(case)) => {
            format!("{} at {}", description.title, Bytes(case.case.buffer_bytes))
        }
        _ => description.title.to_string(),
    }
}

fn draw<'a>(
    description: &Description,
    layout: Layout,
    group: Group<'a>,
    names: &Names,
) -> Drawn<'a> {
    let content = content(description, layout, &group, names);
    let guides = reference::guides(description, layout, &group, &content);
    Drawn { group, content, guides }
}

fn content(description: &Description, layout: Layout, group: &Group, names: &Names) -> Content {
    match (description.statistic, layout) {
        (Statistic::Median(Band::Quartiles), Layout::Plane) => {
            median::curves(&description.y, group, names)
        }
        (Statistic::Median(Band::Quartiles), Layout::Rows) => {
            median::rows(&description.y, group, names)
        }
        (Statistic::Distribution, _) => distribution::curves(group, names),
        (Statistic::Modes, _) => modes::rows(&description.x, group, names),
    }
}

fn panel(description: &Description, layout: Layout, drawn: &Drawn, (x, y): (Axis, Axis)) -> Panel {
    let caches = match layout {
        Layout::Plane => reference::caches(description, drawn.group.file, &x),
        Layout::Rows => Vec::new(),
    };
    let title = drawn.group.title(description);
    let (content, guides) = (drawn.content.clone(), drawn.guides.clone());
    Panel { title, x, y, content, guides, caches, findings: Vec::new() }
}
