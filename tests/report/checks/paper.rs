//! Print: no controls, dark on white whatever the colour scheme, and no text lost.

use std::fs;
use std::process::Command;

use crate::browser::{Medium, Scheme};
use crate::chromedriver;
use crate::page::{Page, VIEWS};
use crate::skip::skip;

/// Minimum mean brightness out of 255; a page of dark text on white has about 240.
const MIN_BRIGHTNESS: usize = 180;

pub(super) fn printed(page: &Page) -> Vec<String> {
    page.browser.style_for(Scheme::Dark, Medium::Print);
    let offenders = page.find(include_str!("printed.js"), &[]);
    page.look(VIEWS[0]);
    offenders
}

/// Checks the PDF made by a reader who prefers the dark scheme.
pub(super) fn pdf(page: &Page) -> Vec<String> {
    if ["pdftotext", "pdftoppm"].into_iter().any(|tool| chromedriver::find(tool).is_none()) {
        skip("the printed report", "no pdftotext or pdftoppm here");
        return Vec::new();
    }
    page.browser.style_for(Scheme::Dark, Medium::Screen);
    fs::write(page.path("report.pdf"), page.browser.print()).expect("a file for the PDF");
    page.look(VIEWS[0]);
    words_lost(page).into_iter().chain(too_dark(page)).collect()
}

/// Returns the main heading if the PDF lacks it.
fn words_lost(page: &Page) -> Option<String> {
    let heading = page.ask("return document.querySelector('h1')?.innerText ?? ''", &[]);
    let heading = plain(heading.as_str().unwrap_or_default());
    let text = plain(&String::from_utf8_lossy(&tool(page, "pdftotext", &["-"])));
    (heading.is_empty() || !text.contains(&heading)).then(|| format!("{heading:?} is not in it"))
}

/// Returns an offence if the first sheet is not mostly white.
fn too_dark(page: &Page) -> Option<String> {
    let image = tool(page, "pdftoppm", &["-gray", "-r", "20", "-singlefile"]);
    // Header of a PGM file: P5, width, height and 255, each followed by one white space.
    let pixels = image.splitn(4, u8::is_ascii_whitespace).last()?.strip_prefix(b"255\n")?;
    let sum: usize = pixels.iter().map(|&pixel| usize::from(pixel)).sum();
    let brightness = sum / pixels.len().max(1);
    (brightness < MIN_BRIGHTNESS).then(|| format!("its brightness is {brightness} of 255"))
}

/// Returns the output of `name` for the PDF.
fn tool(page: &Page, name: &str, arguments: &[&str]) -> Vec<u8> {
    let mut command = Command::new(name);
    let output = command.arg(page.path("report.pdf")).args(arguments).output();
    let output = output.unwrap_or_else(|error| panic!("{name}: {error}"));
    assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

/// Undoes ligatures and line breaks.
fn plain(text: &str) -> String {
    let text = text.replace('\u{fb01}', "fi").replace('\u{fb02}', "fl");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
