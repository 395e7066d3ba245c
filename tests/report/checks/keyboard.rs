//! Keyboard operation of figures: Tab reaches every panel, arrow keys move from point to point, Escape ends.

use serde_json::json;

use super::{name_of, pointer, readout};
use crate::browser::Key;
use crate::page::Page;

/// Script that records which panels get the focus, and returns the number of elements that can have it.
const WATCH: &str = "
    window.focused = new Set();
    document.addEventListener('focusin', event => window.focused.add(event.target));
    document.activeElement?.blur();
    return document.querySelectorAll('a, input, button, select, summary, [tabindex]').length;
";
const UNREACHED: &str = "return panels.filter(panel => !window.focused.has(panel)).map(nameOf)";
const FOCUS: &str = "panels[arguments[0]].focus()";
/// Script that counts the lines with points in a panel; a series may have several rows.
const LINES: &str = "
    const panel = panels[arguments[0]];
    return new Set(pointsOf(panel).map(point => point.closest('g.series'))).size;
";
/// Script that returns the point whose text is shown: the number of its line, its index there, and the last index.
const PLACE: &str = "
    const words = said();
    const upon = pointsOf(panels[arguments[0]]).filter(point => point.words && words?.includes(point.words));
    if (!upon.length) return null;
    const best = upon.reduce((a, b) => (b.words.length > a.words.length ? b : a));
    const line = best.closest('g.series');
    const beside = pointsOf(line);
    const lines = [...panels[arguments[0]].querySelectorAll('g.series')];
    return [lines.indexOf(line), beside.indexOf(best), beside.length - 1];
";

/// Point that the keys have led to.
#[derive(Clone, Debug, PartialEq)]
struct PointIndex {
    line: u64,
    index: u64,
    last: u64,
}

pub(super) fn tab(page: &Page) -> Vec<String> {
    let stops = page.ask(WATCH, &[]).as_u64().and_then(|stops| usize::try_from(stops).ok());
    // Twice round: scrollable parts are stops too, and the first stop need not be the first of the page.
    page.browser.press(Key::Tab, 2 * stops.unwrap_or(0) + 1);
    let unreached = page.find(UNREACHED, &[]);
    unreached.into_iter().map(|panel| format!("{panel}: not reached")).collect()
}

pub(super) fn arrows(page: &Page) -> Vec<String> {
    pointer::leave(page);
    let walked = (0..page.panels()).map(|panel| (panel, walk(page, panel)));
    let failed = walked.filter_map(|(panel, walk)| Some((panel, walk.err()?)));
    failed.map(|(panel, why)| format!("{}: {why}", name_of(page, panel))).collect()
}

fn walk(page: &Page, panel: usize) -> Result<(), String> {
    page.ask(FOCUS, &[json!(panel)]);
    let begun = press(page, panel, Key::Right)?;
    let begun = along(page, panel, begun)?;
    across(page, panel, &begun)?;
    page.browser.press(Key::Escape, 1);
    readout(page).map_or(Ok(()), |said| Err(format!("after Escape still says {said:?}")))
}

/// Moves to the next point of the line and back, unless the line has a single point.
fn along(page: &Page, panel: usize, begun: PointIndex) -> Result<PointIndex, String> {
    if begun.last == 0 {
        return Ok(begun);
    }
    let forwards = begun.index < begun.last;
    let (there, back) = if forwards { (Key::Right, Key::Left) } else { (Key::Left, Key::Right) };
    let next = press(page, panel, there)?;
    if next.line != begun.line || next.index.abs_diff(begun.index) != 1 {
        return Err(format!("{there:?} leads from {begun:?} to {next:?}"));
    }
    let returned = press(page, panel, back)?;
    if returned != begun {
        return Err(format!("{back:?} leads from {next:?} to {returned:?}, not to {begun:?}"));
    }
    Ok(begun)
}

/// Moves to another line, if there is one.
fn across(page: &Page, panel: usize, begun: &PointIndex) -> Result<(), String> {
    if page.ask(LINES, &[json!(panel)]).as_u64() < Some(2) {
        return Ok(());
    }
    for key in [Key::Down, Key::Up] {
        if press(page, panel, key)?.line != begun.line {
            return Ok(());
        }
    }
    Err(format!("neither Down nor Up leads from {begun:?} to another line"))
}

fn press(page: &Page, panel: usize, key: Key) -> Result<PointIndex, String> {
    page.browser.press(key, 1);
    let place = page.ask(PLACE, &[json!(panel)]);
    let place = serde_json::from_value::<Option<(u64, u64, u64)>>(place).ok().flatten();
    let (line, index, last) =
        place.ok_or_else(|| format!("{key:?} shows no point of it, but {:?}", readout(page)))?;
    Ok(PointIndex { line, index, last })
}
