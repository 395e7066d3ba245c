//! Export of tables for issues and pull requests, in GitHub's Markdown.

use std::io::{self, Write};

use ipcperf_model::printable::is_unsafe;
use ipcperf_results::analysis::{AnalyzedFile, CaseSummary, Spread};

use super::Exporter;
use crate::terminal::{
    CPU_TIME_LEGEND, Grid, HARDWARE_LIMIT_HEADING, not_ranked, refusals, sections,
};
use crate::wording::ErrorBar;

/// Tables in GitHub's Markdown.
pub(super) const EXPORTER: Exporter = Exporter {
    name: "markdown",
    about: "tables of ipcperf show, for issues and pull requests",
    details: "The output is GitHub-flavored Markdown. For each results file, it contains the tables of `ipcperf show` \
        and a list of the refused cases. A collapsed table at the end contains the exact values.",
    instrument: None,
    write,
    #[cfg(test)]
    check: tests::check,
};

/// Width, in characters, that decides whether sizes go across or down, as in a terminal. A table is never split.
const WIDTH: usize = 116;
/// Markdown characters to escape. HTML is escaped separately.
const MARKUP: &str = "\\`*_[]|~";

fn write(files: &[AnalyzedFile], out: &mut dyn Write) -> io::Result<()> {
    for (place, file) in files.iter().enumerate() {
        if place > 0 {
            writeln!(out)?;
        }
        write_file(file, out)?;
    }
    Ok(())
}

fn write_file(file: &AnalyzedFile, out: &mut dyn Write) -> io::Result<()> {
    let header = &file.results.header;
    let (path, started) = (file.path.display().to_string(), &header.started);
    writeln!(out, "**{}**, {}", escape(&path), escape(started))?;
    writeln!(out, "\n{}", escape(&header.environment.summary_line()))?;
    let has_precision = header.plan.until_ci.is_some();
    let error_bar = if has_precision { ErrorBar::ConfidenceInterval } else { ErrorBar::Iqr };
    for section in sections(&file.summaries, error_bar) {
        writeln!(out, "\n### {}", escape(&section.heading.to_string()))?;
        write_figures(&section.with_cpu_times(WIDTH), out)?;
        if let Some(shares) = &section.hardware_limit_shares {
            writeln!(out, "\n{HARDWARE_LIMIT_HEADING}:")?;
            write_figures(&shares.layout(WIDTH), out)?;
        }
    }
    writeln!(out, "\n{}", escape(CPU_TIME_LEGEND))?;
    for refusal in refusals(&file.summaries) {
        writeln!(out, "\n{}", escape(&refusal))?;
    }
    for line in not_ranked(&file.summaries) {
        writeln!(out, "\nfewer than half of the repetitions are valid: {}", escape(&line))?;
    }
    write_exact(&file.summaries, out)
}

fn write_figures(grid: &Grid, out: &mut dyn Write) -> io::Result<()> {
    write_row(&[&[grid.corner.to_owned()], grid.header.as_slice()].concat(), out, "\n")?;
    let rule = std::iter::once(":--").chain(grid.header.iter().map(|_| "--:"));
    writeln!(out, "| {} |", rule.collect::<Vec<_>>().join(" | "))?;
    for (name, cells) in &grid.rows {
        write_row(&[std::slice::from_ref(name), cells.as_slice()].concat(), out, "")?;
    }
    Ok(())
}

fn write_row(cells: &[String], out: &mut dyn Write, before: &str) -> io::Result<()> {
    let cells: Vec<String> = cells.iter().map(|cell| escape(cell)).collect();
    writeln!(out, "{before}| {} |", cells.join(" | "))
}

/// Writes the main metric of every case with all digits.
fn write_exact(summaries: &[CaseSummary], out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "\n<details>\n<summary>Exact figures</summary>\n")?;
    writeln!(out, "| case | class | metric | median | q1 | q3 | n | low | high |")?;
    writeln!(out, "| :-- | :-- | :-- | --: | --: | --: | --: | --: | --: |")?;
    for row in summaries.iter().filter_map(exact_row) {
        write_row(&row, out, "")?;
    }
    writeln!(out, "\n</details>")
}

/// Returns a row of exact numbers, or `None` if the case has none.
fn exact_row(case: &CaseSummary) -> Option<Vec<String>> {
    let figure = case.main()?;
    let Spread { median, q1, q3, n } = figure.spread();
    let class = case.cpu_pair_class.clone().unwrap_or_default();
    let mut row = vec![case.case.case_id.clone(), class, case.main_figure.to_owned()];
    row.push(median.to_string());
    row.extend([q1, q3].map(|end| end.map(|end| end.to_string()).unwrap_or_default()));
    row.push(n.to_string());
    let ends = case.median_interval.map(|ends| ends.map(|end| end.to_string()));
    row.extend(ends.unwrap_or_default());
    Some(row)
}

/// Returns `escape` on one line with all markup escaped.
fn escape(text: &str) -> String {
    let mut shown = String::new();
    for letter in text.trim().replace("\r\n", "\n").chars() {
        match letter {
            '\n' | '\r' => shown += "<br>",
            '<' => shown += "&lt;",
            '>' => shown += "&gt;",
            '&' => shown += "&amp;",
            odd if is_unsafe(odd) => shown.push(char::REPLACEMENT_CHARACTER),
            markup if MARKUP.contains(markup) => shown.extend(['\\', markup]),
            plain => shown.push(plain),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use ipcperf_results::analysis::AnalyzedFile;

    use crate::export::tests::HOSTILE;

    /// Returns the cells of a row of a Markdown table as displayed.
    fn markdown_cells(line: &str) -> Vec<String> {
        let (mut cells, mut letters) = (vec![String::new()], line.chars().skip(1));
        while let Some(letter) = letters.next() {
            match letter {
                '\\' => cells.last_mut().unwrap().extend(letters.next()),
                '|' => cells.push(String::new()),
                _ => cells.last_mut().unwrap().push(letter),
            }
        }
        cells.pop();
        let plain = |cell: &String| {
            let cell = cell.trim().replace("<br>", "\n").replace("&lt;", "<").replace("&gt;", ">");
            cell.replace("&amp;", "&")
        };
        cells.iter().map(plain).collect()
    }

    /// Returns the rows of exact numbers. Checks that every table follows a blank line; otherwise it is not a table.
    fn exact_rows(text: &str) -> Vec<Vec<String>> {
        let (mut rows, mut is_exact, mut before) = (Vec::new(), false, "");
        for line in text.lines() {
            let is_first = line.starts_with('|') && !before.starts_with('|');
            assert!(!is_first || before.is_empty(), "no blank line before {line}");
            is_exact = (is_exact && !line.is_empty()) || line.starts_with("| case | class |");
            if is_exact && !line.starts_with("| case") && !line.starts_with("| :--") {
                rows.push(markdown_cells(line));
            }
            before = line;
        }
        rows
    }

    /// Checks the exact numbers against their summaries.
    pub(in crate::export) fn check(text: &str, files: &[AnalyzedFile]) {
        let ours = ["<br>", "<details>", "</details>", "<summary>Exact figures</summary>"];
        let plain = ours.iter().fold(text.to_owned(), |text, tag| text.replace(tag, ""));
        assert!(!plain.contains(['<', '>']), "{plain}");
        let (read, figures) = (exact_rows(text), files.iter().flat_map(|file| &file.summaries));
        let figures: Vec<_> =
            figures.filter_map(|case| Some((case, case.main()?.spread()))).collect();
        assert_eq!(read.len(), figures.len());
        let has_figures = !figures.is_empty();
        for (cells, (case, spread)) in read.iter().zip(figures) {
            assert_eq!((&cells[0], cells.len()), (&case.case.case_id, 9));
            let ends = case.median_interval.into_iter().flatten();
            #[allow(clippy::cast_precision_loss, reason = "a count")]
            let half = spread.quartiles().into_iter().flatten();
            let wanted =
                std::iter::once(spread.median).chain(half).chain([spread.n as f64]).chain(ends);
            let numbers = cells[3..].iter().filter(|cell| !cell.is_empty());
            assert!(numbers.map(|cell| cell.parse::<f64>().unwrap()).eq(wanted), "{cells:?}");
        }
        let shown: Vec<String> = text.lines().flat_map(markdown_cells).collect();
        let options = format!("unix-stream-named address={HOSTILE}");
        assert!(!has_figures || shown.contains(&options), "{text}");
    }
}
