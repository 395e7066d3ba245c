//! Tests of the checks: a page that follows every rule passes all of them, and each way to break it fails exactly the
//! checks that it should.

use std::collections::BTreeSet;

use crate::checks::ALL;
use crate::page::Page;

/// A small handwritten page.
const GOOD: &str = include_str!("fixture.html");

/// A way to break the good page, and the checks that must fail.
struct Mutation {
    from: &'static str,
    to: &'static str,
    told_by: &'static [&'static str],
}

const fn mutation(
    from: &'static str,
    to: &'static str,
    told_by: &'static [&'static str],
) -> Mutation {
    Mutation { from, to, told_by }
}

/// Hidden series keep their place, and the pointer finds them there.
const FOUND_THOUGH_HIDDEN: &str = "(document.styleSheets[0].insertRule(
    '.off { display: inline !important; visibility: hidden }'), points)";

/// Mutations of the interaction.
const USE: &[Mutation] = &[
    mutation("64 B: 0.21 GB/s", "64 B: fast", &["words"]),
    mutation("title.remove();", "", &["words"]),
    mutation("distance(point, event) < 20", "false", &["hover", "hiding"]),
    mutation("show(near[0]) : hide()", "show(near[0]) : null", &["hover"]),
    mutation(
        "readout.textContent = point.words",
        "readout.textContent = \"here\"",
        &["hover", "arrows", "hiding"],
    ),
    mutation("tabindex=\"0\"", "tabindex=\"-1\"", &["tab"]),
    mutation("if (event.key === \"Escape\") hide();", "", &["arrows"]),
    mutation("event.key.startsWith(\"Arrow\")", "event.key.startsWith(\"ArrowR\")", &["arrows"]),
    mutation("key === \"ArrowDown\" ? 1 : -1", "0", &["arrows"]),
    mutation("one.classList.toggle(\"off\", !box.checked)", "void one", &["hiding"]),
    mutation("box.closest(\"figure\").querySelectorAll", "document.querySelectorAll", &["hiding"]),
    mutation("points.filter(isOn)", FOUND_THOUGH_HIDDEN, &["hiding"]),
    mutation("\"off\", !box.checked", "\"off\", true", &["hiding"]),
];

/// Mutations of the appearance.
const LOOKS: &[Mutation] = &[
    mutation("<h2>Tables", "<div style='width: 1300px'>wide</div><h2>Tables", &["overflow"]),
    mutation(".wide { overflow-x: auto }", "", &["overflow"]),
    mutation("<meta name=\"viewport\"", "<meta name=\"other\"", &["overflow", "columns"]),
    mutation("repeat(auto-fit, minmax(300px, 1fr))", "minmax(0, 560px)", &["columns"]),
    mutation(
        "class=\"tick\" x=\"310\" y=\"192\"",
        "class=\"finding-name\" x=\"185\" y=\"94\"",
        &["crossed"],
    ),
    mutation("y=\"212\" text-anchor", "y=\"221\" text-anchor", &["inside"]),
    mutation("translate(12 100)", "translate(40 150)", &["overlaps"]),
    mutation("svg text { font-size: 11px", "svg text { font-size: 6px", &["legible"]),
    mutation("<text class=\"axis-title\" x=\"190\"", "<text class=\"tick\" x=\"190\"", &["axes"]),
    mutation("class=\"tick\"", "class=\"tick\" visibility=\"hidden\"", &["axes"]),
    mutation("<h3>Round", "<h3 style='width: 2em; white-space: nowrap'>Round", &["clipped"]),
    mutation("--ink: #1b1b1b", "--ink: #777", &["contrast"]),
    mutation("--ink: #e6e6e6", "--ink: #6b6b6b", &["contrast"]),
    mutation("--s1: #6cb4f0", "--s1: #333a44", &["contrast"]),
    mutation("--s2: #a8430b", "--s2: #e0a884", &["contrast"]),
    mutation("svg text { font-size", "svg text { fill-opacity: .5; font-size", &["contrast"]),
];

/// Mutations of the print style.
const PAPER: &[Mutation] = &[
    mutation("input, #readout { display: none }", "#readout { display: none }", &["printed"]),
    mutation("input, #readout { display: none }", "input { display: none }", &["printed"]),
    mutation("@media screen and", "@media", &["printed", "pdf"]),
    mutation("--paper: #fff;", "--paper: #ffe;", &["printed"]),
    mutation("@media print {", "@media print { h1 { display: none }", &["pdf"]),
];

/// Mutations of the structure.
const STRUCTURE: &[Mutation] = &[
    mutation("<html lang=\"en\">", "<html>", &["outline"]),
    mutation("<h2>Figures</h2>", "<h1>Figures</h1>", &["outline"]),
    mutation("<h2>Figures</h2>", "", &["outline"]),
    mutation("aria-label=\"Time of a round trip\"", "", &["outline"]),
    mutation("<h2>Tables", "<input><h2>Tables", &["outline"]),
    mutation("data-series=\"tcp\" checked", "data-series=\"udp\" checked", &["legends"]),
    mutation("<h2>Tables", "<h2 id=\"readout\">Tables", &["ids"]),
    mutation("id=\"marker-square\"", "id=\"marker-cube\"", &["ids"]),
];

/// Mutations that cause console messages or requests.
const QUIET: &[Mutation] = &[
    mutation("\"use strict\";", "console.debug(\"here\");", &["console"]),
    mutation("\"use strict\";", "setTimeout(() => { throw 1; });", &["console"]),
    mutation("const show =", "addEventListener('keydown', () => oh()); const show =", &["console"]),
    mutation(
        "<h2>Tables",
        "<img src=x alt='' onerror=alert(1)><h2>Tables",
        &["console", "requests"],
    ),
    mutation(
        "\"use strict\";",
        "navigator.sendBeacon('http://127.0.0.1:9/');",
        &["console", "requests"],
    ),
    mutation("<title>A", "<link rel=stylesheet href='data:text/css,'><title>A", &[]),
];

/// Returns the names of the checks that fail, and all their violations.
fn failing_checks(page: &Page) -> (BTreeSet<&'static str>, Vec<String>) {
    let checks = ALL.iter().copied().flatten();
    let shown: Vec<_> = checks.map(|check| (check.name, check.violations(page))).collect();
    let names =
        shown.iter().filter(|(_, shown)| !shown.is_empty()).map(|(name, _)| *name).collect();
    (names, shown.into_iter().flat_map(|(_, shown)| shown).collect())
}

/// Checks that each of `mutations` fails exactly its checks.
fn assert_detected(mutations: &[Mutation]) {
    let Some(page) = Page::open("the checks of reports", GOOD) else { return };
    let mut wrong = Vec::new();
    for Mutation { from, to, told_by } in mutations {
        assert!(GOOD.contains(from), "the good page has no {from:?}");
        page.turn_to(&GOOD.replace(from, to));
        let (names, shown) = failing_checks(&page);
        if names != told_by.iter().copied().collect() {
            wrong.push(format!("{from:?} as {to:?}: not by {told_by:?}, but {shown:#?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_good_page_keeps_every_rule() {
    let Some(page) = Page::open("the checks of reports", GOOD) else { return };
    page.keep_pictures("good");
    page.assert_keeps(ALL);
}

#[test]
fn what_is_wrong_in_use_is_told() {
    assert_detected(USE);
}

#[test]
fn what_is_wrong_to_the_eye_is_told() {
    assert_detected(LOOKS);
}

#[test]
fn what_is_wrong_on_paper_is_told() {
    assert_detected(PAPER);
}

#[test]
fn what_is_wrong_in_structure_is_told() {
    assert_detected(STRUCTURE);
}

#[test]
fn what_is_not_quiet_is_told() {
    assert_detected(QUIET);
}
