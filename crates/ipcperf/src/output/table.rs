//! Tables of results: one for each workload, mode, placement and kernel buffer, mechanisms down
//! and sizes across, or the other way round where there are more sizes than fit.

use std::collections::BTreeSet;

use comfy_table::{CellAlignment, ContentArrangement, LineStyle, Table, TableStyle};
use ipcperf_engine::workload::Kind;

use super::heading::{Beside, Heading, headings};
use super::units;
use crate::plan::Bytes;
use crate::summary::{CaseSummary, Figure, Mode, moves_nothing};

/// Columns of figures that fit a terminal of 100 characters.
const COLUMNS: usize = 4;
/// One line, under the head: tables are read in terminals, logs and mails.
const STYLE: TableStyle =
    TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─'));
/// What a table is laid out for where there is no terminal to ask.
const WIDTH: u16 = 116;

/// Behind a figure for round trips that have several modes, which the notes list.
pub(super) const SEVERAL_MODES: &str = " †";

/// All tables of `summaries`, with what they leave out below.
pub(crate) fn tables(summaries: &[CaseSummary], beside: Beside) -> String {
    let headings = headings(summaries);
    let groups = headings.iter().map(|heading| group(heading, summaries, beside));
    let mut parts: Vec<String> = groups.collect();
    parts.extend(refusals(summaries));
    parts.join("\n\n")
}

fn group(heading: &Heading, summaries: &[CaseSummary], beside: Beside) -> String {
    let mut cases: Vec<&CaseSummary> =
        summaries.iter().filter(|summary| heading.covers(summary)).collect();
    cases.retain(|case| case.refused.is_none() || belongs(case, heading, summaries));
    let text = heading.text(&repetitions(&cases), beside);
    let mut parts = vec![text];
    parts.extend(grids(&cases, &|case| cell(case, beside)).iter().map(Table::to_string));
    let bounded: Vec<&CaseSummary> =
        cases.iter().copied().filter(|case| case.roof.is_some()).collect();
    if !bounded.is_empty() {
        parts.push("As a share of the limit of this machine that bounds it:".to_owned());
        parts.extend(grids(&bounded, &roof).iter().map(Table::to_string));
    }
    parts.join("\n")
}

/// Whether a refused cell is shown under `heading`: with the figures of its own series, or, where
/// that has none at all, everywhere.
fn belongs(refused: &CaseSummary, heading: &Heading, summaries: &[CaseSummary]) -> bool {
    let with_figure =
        |case: &&CaseSummary| case.refused.is_none() && case.series() == refused.series();
    let mut anywhere = summaries.iter().filter(with_figure).peekable();
    anywhere.peek().is_none() || anywhere.any(|case| heading.covers(case))
}

/// How near a case comes to the limit that bounds it.
fn roof(case: &CaseSummary) -> String {
    case.roof.as_ref().map_or_else(String::new, |roof| {
        format!("{} of {}", units::percent(roof.share), roof.bound.name())
    })
}

/// How many repetitions the medians of `cases` are of.
fn repetitions(cases: &[&CaseSummary]) -> String {
    let counts = || cases.iter().filter_map(|case| case.main()).map(|figure| figure.spread().n);
    match (counts().min(), counts().max()) {
        (Some(least), Some(most)) if least < most => format!("{least} to {most}"),
        (_, most) => most.unwrap_or(0).to_string(),
    }
}

/// The cells of one heading, in tables of at most [`COLUMNS`] columns of figures.
fn grids(cases: &[&CaseSummary], content: &dyn Fn(&CaseSummary) -> String) -> Vec<Table> {
    let sizes: BTreeSet<u64> = cases.iter().map(|case| case.case.buffer_bytes).collect();
    let mut series: Vec<String> = Vec::new();
    for case in cases {
        if !series.contains(&case.series()) {
            series.push(case.series());
        }
    }
    let sizes: Vec<u64> = sizes.into_iter().collect();
    let cell = |name: &String, bytes: u64| {
        let case =
            cases.iter().find(|case| case.case.buffer_bytes == bytes && case.series() == *name);
        case.map_or_else(String::new, |case| content(case))
    };
    if sizes.len() <= COLUMNS || sizes.len() <= series.len() {
        let row = |name: &String, part: &[u64]| part.iter().map(|&b| cell(name, b)).collect();
        let head = |part: &[u64]| part.iter().map(|&bytes| Bytes(bytes).to_string()).collect();
        let chunks = sizes.chunks(COLUMNS);
        return chunks
            .map(|part| {
                let rows = series.iter().map(|name| (name.clone(), row(name, part)));
                table("mechanism", head(part), rows.collect())
            })
            .collect();
    }
    let chunks = series.chunks(COLUMNS);
    chunks
        .map(|part| {
            let row = |bytes: u64| part.iter().map(|name| cell(name, bytes)).collect();
            let rows = sizes.iter().map(|&bytes| (Bytes(bytes).to_string(), row(bytes)));
            table("buffer", part.to_vec(), rows.collect())
        })
        .collect()
}

fn table(corner: &str, head: Vec<String>, rows: Vec<(String, Vec<String>)>) -> Table {
    let mut table = new_table();
    let figures = head.len();
    table.set_header(std::iter::once(corner.to_owned()).chain(head));
    for (name, cells) in rows {
        table.add_row(std::iter::once(name).chain(cells));
    }
    for column in table.column_iter_mut().skip(1).take(figures) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

/// An empty table in the one style all have.
pub(super) fn new_table() -> Table {
    let mut table = Table::new();
    table.load_style(STYLE).set_content_arrangement(ContentArrangement::Dynamic);
    if table.width().is_none() {
        table.set_width(WIDTH);
    }
    table
}

pub(crate) fn cell(case: &CaseSummary, beside: Beside) -> String {
    if case.refused.is_some() {
        return "refused".to_owned();
    }
    let Some(figure) = case.main() else {
        return no_figure(case);
    };
    let mut text = if case.modes.is_empty() {
        one_middle(&figure, case.median_interval, beside)
    } else {
        several_modes(&figure, &case.modes)
    };
    if !case.round_trip_modes.is_empty() {
        text += SEVERAL_MODES;
    }
    if let Some(lost) = case.lost_share.filter(|lost| lost.median > 0.0) {
        text += &format!("\n{} lost", units::percent(lost.median));
    }
    if case.failed > 0 {
        text += &format!("\n{} failed", case.failed);
    }
    text
}

fn no_figure(case: &CaseSummary) -> String {
    match (case.failed, case.disturbed) {
        (0, 0) => "none kept".to_owned(),
        (0, disturbed) => {
            let not_believed = case.disturbed_median.map(|value| match case.case.workload {
                Kind::Stream if !moves_nothing(&case.case.mechanism) => units::bandwidth(value),
                Kind::Stream | Kind::RoundTrip => units::time(value),
            });
            format!("? {}\n{disturbed} disturbed", not_believed.unwrap_or_default())
        }
        _ => "failed".to_owned(),
    }
}

fn one_middle(figure: &Figure, interval: Option<[f64; 2]>, beside: Beside) -> String {
    let each = if matches!(figure, Figure::PerMessage(_)) { " each" } else { "" };
    let (median, spread) = (units::median(figure), figure.spread());
    match (beside, interval) {
        (Beside::Interval, Some([low, high])) => {
            let half = units::percent((high - low) / 2.0 / spread.median);
            format!("{median}{each} ± {half}")
        }
        (Beside::Interval, None) => format!("{median}{each}"),
        (Beside::Spread, _) => format!("{median}{each} ({})", units::relative_iqr(&spread)),
    }
}

/// Each mode with its share: one middle would stand for none of them.
fn several_modes(figure: &Figure, modes: &[Mode]) -> String {
    let line = |mode: &Mode| {
        format!("{}: {}", units::percent(mode.share), units::value(figure, mode.median))
    };
    modes.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Each reason for a refusal once, with the cells it holds for.
pub(crate) fn refusals(summaries: &[CaseSummary]) -> Option<String> {
    let mut reasons: Vec<(&str, BTreeSet<u64>)> = Vec::new();
    for summary in summaries {
        let Some(reason) = &summary.refused else {
            continue;
        };
        let bytes = summary.case.buffer_bytes;
        match reasons.iter_mut().find(|(known, _)| known == reason) {
            Some((_, sizes)) => {
                sizes.insert(bytes);
            }
            None => reasons.push((reason, BTreeSet::from([bytes]))),
        }
    }
    let line = |(reason, sizes): &(&str, BTreeSet<u64>)| {
        let sizes: Vec<String> = sizes.iter().map(|&bytes| Bytes(bytes).to_string()).collect();
        format!("refused at {}: {reason}", sizes.join(", "))
    };
    (!reasons.is_empty()).then(|| reasons.iter().map(line).collect::<Vec<_>>().join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::sample;
    use crate::summary::summarise;
    use crate::summary::{Bound, Roof};

    /// `null` and two others with scripted times: repetition k takes k per cent longer.
    fn scripted(workload: Kind, mechanisms: &[&str], sizes: &[u64]) -> Vec<CaseSummary> {
        let (mut cases, mut samples) = (Vec::new(), Vec::new());
        for (place, mechanism) in (1..).zip(mechanisms) {
            for &bytes in sizes {
                for block in 0..=7_u32 {
                    let elapsed_ns = place * 1_000 * (100 + u64::from(block));
                    samples.push(sample(mechanism, workload, bytes, block, elapsed_ns));
                }
                cases.push(samples[samples.len() - 1].run.case.case_id.clone());
            }
        }
        summarise(&cases, &[], &samples, &[], None)
    }

    #[test]
    fn few_sizes_stand_across() {
        let mut all = scripted(Kind::Stream, &["null", "pipe", "tcp"], &[64, 4096]);
        all.extend(scripted(Kind::RoundTrip, &["null", "pipe"], &[64, 4096]));
        insta::assert_snapshot!(tables(&all, Beside::Spread));
    }

    #[test]
    fn many_sizes_stand_down() {
        let sizes: Vec<u64> = (9..=15).map(|power| 1 << power).collect();
        insta::assert_snapshot!(tables(
            &scripted(Kind::Stream, &["null", "pipe"], &sizes),
            Beside::Spread
        ));
    }

    #[test]
    fn what_failed_was_lost_or_refused_is_in_its_cell() {
        let mut all = scripted(Kind::Stream, &["udp", "pipe", "tcp"], &[64]);
        all[0].lost_share =
            all[0].bandwidth_bytes_per_s.map(|s| crate::summary::Spread { median: 0.5, ..s });
        all[1].failed = 2;
        all[2].refused = Some("tcp is tired".to_owned());
        insta::assert_snapshot!(tables(&all, Beside::Spread));
    }

    #[test]
    fn modes_roofs_and_what_was_always_disturbed_are_in_their_cells() {
        let mut all = scripted(Kind::Stream, &["pipe", "tcp", "udp"], &[64]);
        all[0].modes =
            [(0.62, 1.3e9), (0.38, 5.8e9)].map(|(share, median)| Mode { share, median }).to_vec();
        all[2].round_trip_modes = all[0].modes.clone();
        all[0].roof = Some(Roof { bound: Bound::Copy, least_ns: 1.0, share: 0.17 });
        all[1].bandwidth_bytes_per_s = None;
        (all[1].disturbed, all[1].disturbed_median) = (7, Some(4.2e9));
        insta::assert_snapshot!(tables(&all, Beside::Interval));
    }
}
