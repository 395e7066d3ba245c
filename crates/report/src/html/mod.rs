//! The report: a single, self-contained HTML page.
//!
//! ```text
//! [Summarised] -> Chart, advice, tables, machine -> page
//! ```

mod advice;
mod claims;
mod doubts;
mod figures;
mod machine;
mod repeat;
mod shares;
mod side_by_side;
mod study;
mod tables;
#[cfg(test)]
mod tests;
mod watched;

use ipcperf_model::printable::printable;
use ipcperf_results::Header;
use ipcperf_results::analysis::Summarised;
use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::figure::{Chart, DARK, DARK_GROUND, FIGURES, LIGHT, Names, chart, counted};
use crate::presentation::{Asked, Exhibits};

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");
/// Content security policy: the page fetches nothing, even if a results file contains markup.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'";

/// Everything that a report shows.
pub struct Report<'a> {
    files: &'a [Summarised],
    /// Study for which the files were measured, and what it shows.
    study: Option<(&'a Asked, Exhibits<'a>)>,
    /// Names of the series in all figures.
    pub names: Names,
    charts: Vec<Chart>,
}

impl<'a> Report<'a> {
    /// Prepares the report on `files`, with the results of a study if they belong to one.
    pub fn on(files: &'a [Summarised], asked: Option<&'a Asked>) -> Self {
        let mut names = Names::default();
        // Claims come first and get the most distinguishable styles.
        let study = asked.map(|asked| (asked, Exhibits::of(asked, files, &mut names)));
        names.add(files);
        let figures = FIGURES.iter().cloned().chain(counted(files));
        let charts = figures.filter_map(|figure| chart(&figure, files, &names));
        Self { files, study, charts: charts.collect(), names }
    }

    /// Returns all figures, in the order of the page.
    pub fn charts(&self) -> impl Iterator<Item = &Chart> {
        let study = self.study.iter().flat_map(|(_, exhibits)| exhibits.charts());
        study.chain(&self.charts)
    }

    /// Renders the page.
    pub fn page(&self) -> String {
        let title = match &self.study {
            Some((asked, _)) => asked.study.title.clone(),
            None => title(self.files),
        };
        let sections = self.sections();
        let page = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta http-equiv="Content-Security-Policy" content=(POLICY);
                    title { (title) }
                    style { (PreEscaped(STYLE)) (PreEscaped(colours())) }
                }
                body {
                    (figures::outlines())
                    header {
                        h1 { (title) }
                        @if let Some((asked, _)) = &self.study { (study::heading(asked)) }
                        @for (file, letter) in lettered(self.files) { (origin(file, letter)) }
                    }
                    nav { @for (id, name, _) in &sections { a href={ "#" (id) } { (name) } " " } }
                    main {
                        @for (id, name, content) in &sections {
                            section id=(id) { h2 { (name) } (content) }
                        }
                    }
                    div id="readout" role="status" hidden {}
                    script { (PreEscaped(SCRIPT)) }
                }
            }
        };
        // Markup is escaped, but characters that reorder text or are invisible are not.
        printable(&page.into_string()).into_owned()
    }

    /// Returns the non-empty sections, each with its link and heading.
    fn sections(&self) -> Vec<(&'static str, &'static str, Markup)> {
        let files = self.files;
        let mut sections = Vec::new();
        if let Some((_, exhibits)) = &self.study {
            sections.extend(study::sections(exhibits, &self.names));
        }
        sections.push(("short", "In short", advice::section(files)));
        if files.len() > 1 {
            sections.push(("side-by-side", "Side by side", side_by_side::section(files)));
        }
        sections.extend([
            ("figures", "Figures", figures::section(&self.charts, &self.names)),
            ("tables", "Tables", tables::section(files)),
        ]);
        if shares::is_any(files) {
            sections.push(("shares", "Where the time went", shares::section(files)));
        }
        if watched::is_any(files) {
            sections.push(("watched", "What was seen", watched::section(files)));
        }
        sections.extend([
            ("doubts", "Before believing it", doubts::section(files)),
            ("machine", "The machine", machine::section(files)),
            ("repeat", "How to repeat it", repeat::section(files)),
        ]);
        sections
    }
}

/// Pairs each file with the letter that figures and tables use for it, if there are several files.
fn lettered(files: &[Summarised]) -> impl Iterator<Item = (&Summarised, Option<char>)> {
    let several = files.len() > 1;
    files.iter().zip('A'..).map(move |(file, letter)| (file, several.then_some(letter)))
}

fn title(files: &[Summarised]) -> String {
    let model = |file: &Summarised| file.results.header.environment.cpus.cpu_model.clone();
    let mut models: Vec<String> = files.iter().filter_map(model).collect();
    models.dedup();
    match models.as_slice() {
        [one] => format!("Inter-process communication on {one}"),
        _ => "Inter-process communication, side by side".to_owned(),
    }
}

/// Describes a file: machine, time, program version and file name.
fn origin(file: &Summarised, letter: Option<char>) -> Markup {
    let header: &Header = &file.results.header;
    let name = file.path.file_name().map(|name| name.to_string_lossy().into_owned());
    let version = &header.environment.program.version;
    html! {
        p.quiet {
            @if let Some(letter) = letter { b { (letter) } ": " }
            (header.environment.in_one_line()) "; measured " (to_the_second(&header.started)) " by ipcperf "
            (version) " (" (name.unwrap_or_default()) ")."
            @if header.quick { " A quick look: fewer sizes, at most ten repetitions." }
        }
        @for warning in file.results.warnings.iter().chain(&file.results.end_warnings) { p.grave { "This file: " (warning) "." } }
    }
}

/// Formats an RFC 3339 time without fractions of a second.
fn to_the_second(time: &str) -> String {
    match time.split_once('.') {
        Some((seconds, _)) => format!("{seconds}Z").replace('T', " "),
        None => time.replace('T', " "),
    }
}

/// Returns the style sheet with the colors of series in light and dark mode. Print is always light.
fn colours() -> String {
    let of = |colours: &[&str]| {
        let each = colours.iter().enumerate().map(|(k, colour)| format!("--c{k}:{colour};"));
        each.collect::<String>()
    };
    let classes = (0..LIGHT.len()).map(|k| format!(".colour-{k}{{color:var(--c{k})}}"));
    let (light, dark, classes) = (of(&LIGHT), of(&DARK), classes.collect::<String>());
    format!(
        ":root{{{light}}}{classes}@media screen and (prefers-color-scheme:dark){{:root{{{dark}\
         --ground:{DARK_GROUND};--text:#e8eaed;--quiet:#a8aeb6;--rule:#3a4047;--raised:#1f242a;\
         --grave:#ff9a80;--yes:#7fd8a0}}}}@media print{{:root{{color-scheme:light}}}}"
    )
}
