//! The rules that every report keeps. A check finds all that breaks its rule: which figure, which
//! panel, which words; one that finds nothing is passed. `mutations.rs` shows that each can fail.

mod hiding;
mod keyboard;
mod paper;
mod pointer;
mod quiet;

use serde_json::{Value, json};

use crate::page::Page;

/// A rule, and what breaks it in a page.
pub(crate) struct Check {
    pub(crate) name: &'static str,
    offenders: fn(&Page) -> Vec<String>,
}

/// How figures answer a reader.
pub(crate) const USE: &[Check] = &[
    Check { name: "words", offenders: |page| page.find(include_str!("words.js"), &[]) },
    Check { name: "hover", offenders: pointer::hover },
    Check { name: "tab", offenders: keyboard::tab },
    Check { name: "arrows", offenders: keyboard::arrows },
    Check { name: "hiding", offenders: hiding::hiding },
];

/// How the page looks, in every view.
pub(crate) const LOOKS: &[Check] = &[
    Check { name: "overflow", offenders: |page| page.find_in_views(include_str!("overflow.js")) },
    Check { name: "inside", offenders: |page| page.find_in_views(include_str!("inside.js")) },
    Check { name: "overlaps", offenders: |page| page.find_in_views(include_str!("overlaps.js")) },
    Check { name: "legible", offenders: |page| page.find_in_views(include_str!("legible.js")) },
    Check { name: "axes", offenders: |page| page.find_in_views(include_str!("axes.js")) },
    Check { name: "clipped", offenders: |page| page.find_in_views(include_str!("clipped.js")) },
    Check { name: "contrast", offenders: |page| page.find_in_views(include_str!("contrast.js")) },
];

/// How it is printed.
pub(crate) const PAPER: &[Check] = &[
    Check { name: "printed", offenders: paper::printed },
    Check { name: "pdf", offenders: paper::pdf },
];

/// What the page is made of.
pub(crate) const STRUCTURE: &[Check] = &[
    Check { name: "outline", offenders: |page| page.find(include_str!("outline.js"), &[]) },
    Check { name: "legends", offenders: |page| page.find(include_str!("legends.js"), &[]) },
    Check { name: "ids", offenders: |page| page.find(include_str!("ids.js"), &[]) },
];

/// What it says and asks behind the reader's back. These come last: what the other checks do to the
/// page must be as quiet as opening it.
pub(crate) const QUIET: &[Check] = &[
    Check { name: "console", offenders: quiet::console },
    Check { name: "requests", offenders: quiet::requests },
];

/// All of them.
pub(crate) const ALL: &[&[Check]] = &[USE, LOOKS, PAPER, STRUCTURE, QUIET];

impl Check {
    /// What breaks the rule, each with the name of the rule.
    pub(crate) fn told(&self, page: &Page) -> Vec<String> {
        (self.offenders)(page).into_iter().map(|one| format!("{}: {one}", self.name)).collect()
    }
}

/// A place where a point is met by the pointer.
struct Spot {
    at: (f64, f64),
    scrolled: Value,
    panel: String,
    /// The words of the points that lie there; more than one where they lie upon each other.
    accepted: Vec<String>,
}

impl Spot {
    /// Where to meet a point of panel number `panel`, of `series` where that matters, scrolled to.
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

    /// Whether `said` has the words of a point that lies here.
    fn is_told_by(&self, said: Option<&str>) -> bool {
        said.is_some_and(|said| self.accepted.iter().any(|words| said.contains(words.as_str())))
    }
}

/// What the readout says; nothing where it is not shown.
fn said(page: &Page) -> Option<String> {
    page.ask("return said()", &[]).as_str().map(str::to_owned)
}

fn name_of(page: &Page, panel: usize) -> String {
    let name = page.ask("return nameOf(panels[arguments[0]])", &[json!(panel)]);
    name.as_str().unwrap_or("?").to_owned()
}
