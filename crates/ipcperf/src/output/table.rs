//! Tables of results: one for each workload, mode, placement and kernel buffer, mechanisms down
//! and sizes across, or the other way round where there are more sizes than fit.

use std::collections::BTreeSet;

use comfy_table::{CellAlignment, ContentArrangement, LineStyle, Table, TableStyle};
use ipcperf_engine::workload::Kind;

use super::units;
use crate::plan::Bytes;
use crate::summary::{CaseSummary, Figure};

/// Columns of figures that fit a terminal of 100 characters.
const COLUMNS: usize = 4;
/// One line, under the head: tables are read in terminals, logs and mails.
const STYLE: TableStyle =
    TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─'));
/// What a table is laid out for where there is no terminal to ask.
const WIDTH: u16 = 116;

/// What the cases of one table share.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Heading {
    workload: Kind,
    mode: &'static str,
    placement: String,
    cpus: Vec<u32>,
    kernel_buffer: String,
}

impl Heading {
    fn of(summary: &CaseSummary) -> Self {
        let case = &summary.case;
        Self {
            workload: case.workload,
            mode: case.mode.name(),
            placement: case.placement.clone(),
            cpus: case.cpus.clone(),
            kernel_buffer: case.kernel_buffer.clone(),
        }
    }

    fn covers(&self, summary: &CaseSummary) -> bool {
        let other = Self::of(summary);
        // A refused cell has no CPUs; it belongs where the rest is the same.
        other == *self
            || (other.cpus.is_empty() && Self { cpus: self.cpus.clone(), ..other } == *self)
    }

    fn text(&self, repetitions: usize) -> String {
        let what = match self.workload {
            Kind::Stream => "Stream: bandwidth",
            Kind::RoundTrip => "Round trip: mean time there and back",
        };
        let cpus = match self.cpus.as_slice() {
            [] => "any CPU".to_owned(),
            [one] => format!("CPU {one}"),
            [sender, receiver] if sender == receiver => format!("both on CPU {sender}"),
            [sender, receiver, ..] => format!("CPUs {sender} and {receiver}"),
        };
        let buffer = match self.kernel_buffer.as_str() {
            "default" => String::new(),
            other => format!(", kernel buffer {other}"),
        };
        let (mode, placement) = (self.mode, &self.placement);
        format!(
            "{what}, {mode}, placement {placement} ({cpus}){buffer}; \
             median (IQR as share of it), n = {repetitions}"
        )
    }
}

/// All tables of `summaries`, with what they leave out below.
pub(crate) fn tables(summaries: &[CaseSummary]) -> String {
    let mut headings: Vec<Heading> = Vec::new();
    for summary in summaries.iter().filter(|summary| summary.refused.is_none()) {
        let heading = Heading::of(summary);
        if !headings.contains(&heading) {
            headings.push(heading);
        }
    }
    headings.sort_by_key(|heading| heading.workload);
    let mut parts: Vec<String> = headings.iter().map(|heading| group(heading, summaries)).collect();
    parts.extend(refusals(summaries));
    parts.join("\n\n")
}

fn group(heading: &Heading, summaries: &[CaseSummary]) -> String {
    let cases: Vec<&CaseSummary> =
        summaries.iter().filter(|summary| heading.covers(summary)).collect();
    let repetitions = cases.iter().filter_map(|case| case.main()).map(|f| f.spread().n).max();
    let text = heading.text(repetitions.unwrap_or(0));
    let tables = grids(&cases).into_iter().map(|table| table.to_string());
    std::iter::once(text).chain(tables).collect::<Vec<_>>().join("\n")
}

/// The cells of one heading, in tables of at most [`COLUMNS`] columns of figures.
fn grids(cases: &[&CaseSummary]) -> Vec<Table> {
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
        case.map_or_else(String::new, |case| cell(case))
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

fn cell(case: &CaseSummary) -> String {
    if case.refused.is_some() {
        return "refused".to_owned();
    }
    let Some(figure) = case.main() else {
        return if case.failed > 0 { "failed".to_owned() } else { "none kept".to_owned() };
    };
    let each = if matches!(figure, Figure::PerMessage(_)) { " each" } else { "" };
    let spread = units::relative_iqr(&figure.spread());
    let mut text = format!("{}{each} ({spread})", units::median(&figure));
    if let Some(lost) = case.lost_share.filter(|lost| lost.median > 0.0) {
        text += &format!("\n{} lost", units::percent(lost.median));
    }
    if case.failed > 0 {
        text += &format!("\n{} failed", case.failed);
    }
    text
}

/// Each reason for a refusal once, with the cells it holds for.
fn refusals(summaries: &[CaseSummary]) -> Option<String> {
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
        summarise(&cases, &[], &samples, &[])
    }

    #[test]
    fn few_sizes_stand_across() {
        let mut all = scripted(Kind::Stream, &["null", "pipe", "tcp"], &[64, 4096]);
        all.extend(scripted(Kind::RoundTrip, &["null", "pipe"], &[64, 4096]));
        insta::assert_snapshot!(tables(&all));
    }

    #[test]
    fn many_sizes_stand_down() {
        let sizes: Vec<u64> = (9..=15).map(|power| 1 << power).collect();
        insta::assert_snapshot!(tables(&scripted(Kind::Stream, &["null", "pipe"], &sizes)));
    }

    #[test]
    fn what_failed_was_lost_or_refused_is_in_its_cell() {
        let mut all = scripted(Kind::Stream, &["udp", "pipe", "tcp"], &[64]);
        all[0].lost_share =
            all[0].bandwidth_bytes_per_s.map(|s| crate::summary::Spread { median: 0.5, ..s });
        all[1].failed = 2;
        all[2].refused = Some("tcp is tired".to_owned());
        insta::assert_snapshot!(tables(&all));
    }
}
