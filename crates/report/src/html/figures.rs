//! The figures of a report, in rows that use the width of the page.

use maud::{Markup, html};

use crate::figure::{Chart, Key, PanelPosition, SeriesNames, legend_entries, marks, panel};

/// A figure with what is missing from it.
#[derive(Clone, Copy)]
pub(super) struct FigureEntry<'c> {
    pub(super) chart: &'c Chart,
    /// Reasons for missing parts.
    pub(super) absences: &'c [String],
}

/// Place of the legend and the caption of a figure on a wide screen.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CaptionPlace {
    Below,
    Right,
}

impl<'c> FigureEntry<'c> {
    /// Creates the entry of a figure of which nothing is missing.
    pub(super) const fn whole(chart: &'c Chart) -> Self {
        Self { chart, absences: &[] }
    }

    fn has_one_panel(&self) -> bool {
        self.chart.panels.len() == 1
    }
}

pub(super) fn section(charts: &[Chart], names: &SeriesNames) -> Markup {
    let entries: Vec<FigureEntry<'_>> = charts.iter().map(FigureEntry::whole).collect();
    html! {
        p {
            "Point at a mark to read its value, or tab to a figure and use the arrow keys. The checkboxes hide and \
             show series. Axes of sizes, rates and times are logarithmic. All panels of a figure have the same \
             axes, except in a distribution: there, only panels with the same size, mode, placement and options \
             have."
        }
        @if charts.is_empty() { p { "No measured value can be shown in a figure." } }
        (figures(&entries, names))
    }
}

/// Draws the outlines of the marks for all figures of the page.
pub(super) fn outlines() -> Markup {
    html! {
        svg width="0" height="0" aria-hidden="true" style="position:absolute" { (marks()) }
    }
}

/// Shows `entries` in rows. A figure with several panels fills a row. Two consecutive figures with one panel each share
/// a row. A figure with one panel that has no such neighbor fills a row, with its caption to the right of the panel.
pub(super) fn figures(entries: &[FigureEntry<'_>], names: &SeriesNames) -> Markup {
    html! {
        @for row in figure_rows(entries) {
            @match row {
                [only] if only.has_one_panel() => (figure(*only, CaptionPlace::Right, names)),
                [only] => (figure(*only, CaptionPlace::Below, names)),
                several => div.figure-row {
                    @for one in several { (figure(*one, CaptionPlace::Below, names)) }
                },
            }
        }
    }
}

/// Divides `entries` into the rows of the page.
fn figure_rows<'r, 'c>(entries: &'r [FigureEntry<'c>]) -> Vec<&'r [FigureEntry<'c>]> {
    let (mut rows, mut rest) = (Vec::new(), entries);
    while !rest.is_empty() {
        let is_pair = rest.len() > 1 && rest[..2].iter().all(FigureEntry::has_one_panel);
        let (row, others) = rest.split_at(if is_pair { 2 } else { 1 });
        rows.push(row);
        rest = others;
    }
    rows
}

fn figure(entry: FigureEntry<'_>, caption: CaptionPlace, names: &SeriesNames) -> Markup {
    let FigureEntry { chart, absences } = entry;
    html! {
        figure.chart."caption-right"[caption == CaptionPlace::Right] id={ "figure-" (chart.name) } {
            h3 { (chart.title) }
            (legend(chart, names))
            div.panels.single[chart.panels.len() == 1] {
                @for one in &chart.panels {
                    div.panel-box {
                        @if !one.title.is_empty() { h4 { (one.title) } }
                        (panel(chart, one, names, PanelPosition::Standalone))
                    }
                }
            }
            figcaption {
                (chart.notes.join(" "))
                @for absence in absences { p { "Not measured: " (absence) "." } }
            }
        }
    }
}

fn legend(chart: &Chart, names: &SeriesNames) -> Markup {
    html! {
        div.legend {
            @for entry in legend_entries(chart, names) {
                @match entry.key {
                    Key::Series(number) => {
                        label {
                            input type="checkbox" data-series=(number) checked;
                            (entry.swatch(0.0, 0.0)) span { (entry.name) }
                        }
                    }
                    Key::Guide(_) => span.guide-name { (entry.swatch(0.0, 0.0)) span { (entry.name) } }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use ipcperf_model::workload::WorkloadKind;
    use ipcperf_results::testing::{analyzed_file, sample};

    use super::*;
    use crate::figure::{FIGURES, build_chart};

    /// Returns the page part for figures with these numbers of panels.
    fn rendered(panels: &[usize]) -> String {
        let samples = (1..=5).flat_map(|block| {
            [64, 128].map(|bytes| sample("pipe", WorkloadKind::Stream, bytes, block, 1_000_000))
        });
        let files = [analyzed_file("file", samples.collect(), Vec::new())];
        let mut names = SeriesNames::default();
        names.add(&files);
        let chart = build_chart(&FIGURES[0], &files, &names).expect("a chart");
        let with_panels = |(number, count): (usize, &usize)| {
            let mut copy = chart.clone();
            copy.name = number.to_string();
            copy.panels = vec![chart.panels[0].clone(); *count];
            copy
        };
        let charts: Vec<Chart> = panels.iter().enumerate().map(with_panels).collect();
        let entries: Vec<FigureEntry<'_>> = charts.iter().map(FigureEntry::whole).collect();
        figures(&entries, &names).into_string()
    }

    #[test]
    fn figures_with_one_panel_share_a_row_and_a_single_one_has_its_caption_on_the_right() {
        let page = rendered(&[1, 1, 2, 1]);
        assert_eq!(page.matches("figure-row").count(), 1, "{page}");
        let (paired, after) = page.split_once("</div><figure").expect("the end of the row");
        assert!(paired.contains("figure-1") && !paired.contains("figure-2"), "{page}");
        assert_eq!(after.matches("class=\"chart caption-right\"").count(), 1, "{page}");
        assert_eq!(page.matches("class=\"panels single\"").count(), 3, "{page}");
    }
}
