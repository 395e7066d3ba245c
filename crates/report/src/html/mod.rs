//! The report: a single, self-contained HTML page.
//!
//! ```text
//! [AnalyzedFile] -> SurveyTable, Chart, tables, machine -> page
//! ```
//!
//! The page has these sections, in this order; [`Report::page`] writes the header above them:
//!
//! | section | file | present |
//! |---|---|---|
//! | Verdicts: the table of all claims, then each claim with its evidence | `verdicts.rs` | with a study that has claims |
//! | Figures of the study | `study.rs`, `figures.rs` | with a study that has figures |
//! | Tables of the study | `study.rs` | with a study that has tables |
//! | In short | `summary_table.rs` | always |
//! | Side by side | `file_comparison.rs` | with several files |
//! | Figures | `figures.rs` | always |
//! | Tables | `results_tables.rs` | always |
//! | CPU time by function group | `profile_shares.rs` | with observations of `profile` |
//! | Instruments | `instruments.rs` | with observations |
//! | Data quality | `data_quality.rs`, `distrusted_cases.rs` | always |
//! | The machine | `machine.rs` | always |
//! | How to repeat it | `repeat.rs` | always |

mod data_quality;
mod distrusted_cases;
mod figures;
mod file_comparison;
mod instruments;
mod machine;
mod profile_shares;
mod repeat;
mod results_tables;
mod study;
mod summary_table;
#[cfg(test)]
mod tests;
mod verdicts;

use ipcperf_model::printable::printable;
use ipcperf_results::Header;
use ipcperf_results::analysis::AnalyzedFile;
use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::figure::{
    Chart, DARK_BACKGROUND, DARK_COLORS, FIGURES, LIGHT_COLORS, SeriesNames, build_chart,
    event_figures,
};
use crate::presentation::{Presentation, StudyContext};
use crate::wording::start_time_text;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");
/// Content security policy: the page fetches nothing, even if a results file contains markup.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'";

/// Everything that a report shows.
pub struct Report<'a> {
    files: &'a [AnalyzedFile],
    /// Study for which the files were measured, and what it shows.
    study: Option<(&'a StudyContext, Presentation<'a>)>,
    /// Names of the series in all figures.
    pub names: SeriesNames,
    charts: Vec<Chart>,
}

impl<'a> Report<'a> {
    /// Prepares the report on `files`, with the results of a study if they belong to one.
    pub fn new(files: &'a [AnalyzedFile], context: Option<&'a StudyContext>) -> Self {
        let mut names = SeriesNames::default();
        // Claims come first and get the most distinguishable styles.
        let study = context.map(|asked| (asked, Presentation::new(asked, files, &mut names)));
        names.add(files);
        let figures = FIGURES.iter().cloned().chain(event_figures(files));
        let charts = figures.filter_map(|figure| build_chart(&figure, files, &names));
        Self { files, study, charts: charts.collect(), names }
    }

    /// Returns all figures, in the order of the page.
    pub fn charts(&self) -> impl Iterator<Item = &Chart> {
        let study = self.study.iter().flat_map(|(_, presentation)| presentation.charts());
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
                    style { (PreEscaped(STYLE)) (PreEscaped(color_styles())) }
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
        if let Some((_, presentation)) = &self.study {
            sections.extend(study::sections(presentation, &self.names));
        }
        sections.push(("short", "In short", summary_table::section(files)));
        if files.len() > 1 {
            sections.push(("side-by-side", "Side by side", file_comparison::section(files)));
        }
        sections.extend([
            ("figures", "Figures", figures::section(&self.charts, &self.names)),
            ("tables", "Tables", results_tables::section(files)),
        ]);
        if profile_shares::has_shares(files) {
            sections.push(("shares", "CPU time by function group", profile_shares::section(files)));
        }
        if instruments::has_observations(files) {
            sections.push(("instruments", "Instruments", instruments::section(files)));
        }
        sections.extend([
            ("data-quality", "Data quality", data_quality::section(files)),
            ("machine", "The machine", machine::section(files)),
            ("repeat", "How to repeat it", repeat::section(files)),
        ]);
        sections
    }
}

/// Pairs each file with the letter that figures and tables use for it, if there are several files.
fn lettered(files: &[AnalyzedFile]) -> impl Iterator<Item = (&AnalyzedFile, Option<char>)> {
    let several = files.len() > 1;
    files.iter().zip('A'..).map(move |(file, letter)| (file, several.then_some(letter)))
}

fn title(files: &[AnalyzedFile]) -> String {
    let model = |file: &AnalyzedFile| file.results.header.environment.cpus.cpu_model.clone();
    let mut models: Vec<String> = files.iter().filter_map(model).collect();
    models.dedup();
    match models.as_slice() {
        [one] => format!("Inter-process communication on {one}"),
        _ => "Inter-process communication, side by side".to_owned(),
    }
}

/// Describes a file: machine, time, program version and file name.
fn origin(file: &AnalyzedFile, letter: Option<char>) -> Markup {
    let header: &Header = &file.results.header;
    let name = file.path.file_name().map(|name| name.to_string_lossy().into_owned());
    let version = &header.environment.program.version;
    html! {
        p.quiet {
            @if let Some(letter) = letter { b { (letter) } ": " }
            (header.environment.summary_line()) "; measured " (start_time_text(&header.started)) " by ipcperf "
            (version) " (" (name.unwrap_or_default()) ")."
            @if header.quick { " Quick measurement (--quick): fewer sizes, at most ten repetitions." }
        }
        @for warning in file.results.warnings.iter().chain(&file.results.end_warnings) {
            p.grave { "Warning: " (warning) "." }
        }
    }
}

/// Returns the style sheet with the colors of series in light and dark mode. Print is always light.
fn color_styles() -> String {
    let properties = |colors: &[&str]| {
        let each = colors.iter().enumerate().map(|(k, color)| format!("--c{k}:{color};"));
        each.collect::<String>()
    };
    let classes = (0..LIGHT_COLORS.len()).map(|k| format!(".color-{k}{{color:var(--c{k})}}"));
    let (light, dark, classes) =
        (properties(&LIGHT_COLORS), properties(&DARK_COLORS), classes.collect::<String>());
    format!(
        ":root{{{light}}}{classes}@media screen and (prefers-color-scheme:dark){{:root{{{dark}\
         --ground:{DARK_BACKGROUND};--text:#e8eaed;--quiet:#a8aeb6;--rule:#3a4047;--raised:#1f242a;\
         --grave:#ff9a80;--yes:#7fd8a0}}}}@media print{{:root{{color-scheme:light}}}}"
    )
}
