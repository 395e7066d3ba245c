//! Rules for every report. A check returns every violation of its rule with figure, panel and text; an empty result is
//! a pass. `mutations.rs` shows that each check can fail.

mod hiding;
mod keyboard;
mod paper;
mod pointer;
mod quiet;

use serde_json::{Value, json};

use crate::page::Page;

/// A rule and the function that finds its violations.
pub(crate) struct Check {
    pub(crate) name: &'static str,
    find_violations: fn(&Page) -> Vec<String>,
}

/// Interaction with figures.
pub(crate) const USE: &[Check] = &[
    Check { name: "words", find_violations: |page| page.find(include_str!("words.js"), &[]) },
    Check { name: "hover", find_violations: pointer::hover },
    Check { name: "tab", find_violations: keyboard::tab },
    Check { name: "arrows", find_violations: keyboard::arrows },
    Check { name: "hiding", find_violations: hiding::hiding },
];

/// Appearance of the page, in every view.
pub(crate) const LOOKS: &[Check] = &[
    Check {
        name: "overflow",
        find_violations: |page| page.find_in_views(include_str!("overflow.js")),
    },
    Check { name: "inside", find_violations: |page| page.find_in_views(include_str!("inside.js")) },
    Check {
        name: "overlaps",
        find_violations: |page| page.find_in_views(include_str!("overlaps.js")),
    },
    Check {
        name: "columns",
        find_violations: |page| page.find_in_views(include_str!("columns.js")),
    },
    Check {
        name: "crossed",
        find_violations: |page| page.find_in_views(include_str!("crossed.js")),
    },
    Check {
        name: "legible",
        find_violations: |page| page.find_in_views(include_str!("legible.js")),
    },
    Check { name: "axes", find_violations: |page| page.find_in_views(include_str!("axes.js")) },
    Check {
        name: "clipped",
        find_violations: |page| page.find_in_views(include_str!("clipped.js")),
    },
    Check {
        name: "contrast",
        find_violations: |page| page.find_in_views(include_str!("contrast.js")),
    },
];

/// Appearance in print.
pub(crate) const PAPER: &[Check] = &[
    Check { name: "printed", find_violations: paper::printed },
    Check { name: "pdf", find_violations: paper::pdf },
];

/// Structure of the page.
pub(crate) const STRUCTURE: &[Check] = &[
    Check { name: "outline", find_violations: |page| page.find(include_str!("outline.js"), &[]) },
    Check { name: "legends", find_violations: |page| page.find(include_str!("legends.js"), &[]) },
    Check { name: "ids", find_violations: |page| page.find(include_str!("ids.js"), &[]) },
];

/// Console messages and requests. These come last, because the other checks must not cause any either.
pub(crate) const QUIET: &[Check] = &[
    Check { name: "console", find_violations: quiet::console },
    Check { name: "requests", find_violations: quiet::requests },
];

/// All checks.
pub(crate) const ALL: &[&[Check]] = &[USE, LOOKS, PAPER, STRUCTURE, QUIET];

impl Check {
    /// Returns the violations, each with the name of the rule.
    pub(crate) fn violations(&self, page: &Page) -> Vec<String> {
        (self.find_violations)(page)
            .into_iter()
            .map(|one| format!("{}: {one}", self.name))
            .collect()
    }
}

/// A position at which the pointer finds a point.
struct Spot {
    at: (f64, f64),
    scrolled: Value,
    panel: String,
    /// Text of the points there; several if points overlap.
    accepted: Vec<String>,
}

impl Spot {
    /// Finds a position of a point in panel number `panel`, of `series` if given, and scrolls to it.
    fn find(page: &Page, panel: usize, series: Option<&str>) -> Option<Self> {
        let found = page.ask(include_str!("spot.js"), &[json!(panel), json!(series)]);
        let accepted = found["accepted"].as_array()?.iter().filter_map(Value::as_str);
        Some(Self {
            at: (found["x"].as_f64()?, found["y"].as_f64()?),
            scrolled: found["scrolled"].clone(),
            panel: found["panel"].as_str()?.to_owned(),
            accepted: accepted.map(str::to_owned).collect(),
        })
    }

    /// Whether `readout` contains the text of a point at this position.
    fn is_shown_by(&self, said: Option<&str>) -> bool {
        said.is_some_and(|said| self.accepted.iter().any(|words| said.contains(words.as_str())))
    }
}

/// Returns the text of the readout; `None` if it is hidden.
fn readout(page: &Page) -> Option<String> {
    page.ask("return said()", &[]).as_str().map(str::to_owned)
}

fn name_of(page: &Page, panel: usize) -> String {
    let name = page.ask("return nameOf(panels[arguments[0]])", &[json!(panel)]);
    name.as_str().unwrap_or("?").to_owned()
}
