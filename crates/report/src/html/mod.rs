//! The report: one page of HTML that needs nothing else.
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
use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::figure::{Chart, DARK, DARK_GROUND, FIGURES, LIGHT, Names, chart, counted};
use crate::presentation::{Asked, Exhibits};
use ipcperf_results::Header;
use ipcperf_results::analysis::Summarised;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");
/// Nothing is fetched, whatever a results file may have smuggled in.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'";

/// Everything a report shows of results files.
pub struct Report<'a> {
    files: &'a [Summarised],
    /// The study that they were measured for, and what it shows of them.
    study: Option<(&'a Asked, Exhibits<'a>)>,
    /// Names of the series in all figures.
    pub names: Names,
    charts: Vec<Chart>,
}

impl<'a> Report<'a> {
    /// Draws up what there is to show of `files`, and what a study shows of them.
    pub fn on(files: &'a [Summarised], asked: Option<&'a Asked>) -> Self {
        let mut names = Names::default();
        // What is claimed comes first, and has the looks that are easiest told apart.
        let study = asked.map(|asked| (asked, Exhibits::of(asked, files, &mut names)));
        names.add(files);
        let figures = FIGURES.iter().cloned().chain(counted(files));
        let charts = figures.filter_map(|figure| chart(&figure, files, &names));
        Self { files, study, charts: charts.collect(), names }
    }

    /// All figures, in the order of the page.
    pub fn charts(&self) -> impl Iterator<Item = &Chart> {
        let study = self.study.iter().flat_map(|(_, exhibits)| exhibits.charts());
        study.chain(&self.charts)
    }

    /// The page.
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
        // Markup is escaped; what would reorder the text around it, or cannot be seen, is not.
        printable(&page.into_string()).into_owned()
    }

    /// The sections that have something to say, each with its link and its name.
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

/// Files with the letters by which figures and tables call them, where there are several.
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

/// Which file, when, on what.
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

/// A time as RFC 3339 has it, without what is below a second.
fn to_the_second(time: &str) -> String {
    match time.split_once('.') {
        Some((seconds, _)) => format!("{seconds}Z").replace('T', " "),
        None => time.replace('T', " "),
    }
}

/// The colours of series in light and dark. Print is light, whatever the screen is.
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
