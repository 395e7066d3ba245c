//! `survey`: duration of one survey of this machine, and whether every cell was measured or refused.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use ipcperf_engine::mechanism::SURVEYED;
use serde::Deserialize;

use crate::error::BenchError;
use crate::estimate::Estimate;
use crate::finding::{Bar, Finding, Question, Unit};
use crate::output::{announce, bytes};
use crate::process::run_with_input;
use crate::program::Ipcperf;

/// From the start of the process to its end, ns.
const TIME_BAR: Bar = Bar::AtMost(60e9);
/// Limit against hangs.
const TIMEOUT: Duration = Duration::from_secs(300);
const SIZES_BYTES: [u64; 4] = [64, 4 << 10, 64 << 10, 1 << 20];
const PLACEMENTS: [&str; 2] = ["same", "split"];
/// Minimum number of valid samples per cell.
const MIN_VALID: u32 = 7;

/// A cell of the matrix.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
struct Cell {
    mechanism: String,
    workload: String,
    buffer_bytes: u64,
    placement: String,
}

/// Relevant lines of a results file.
#[derive(Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
enum SurveyLine {
    Header {
        plan: PlanLine,
    },
    Sample {
        #[serde(flatten)]
        cell: Cell,
        excluded: Option<String>,
    },
    #[serde(other)]
    Other,
}

#[derive(Debug, Deserialize)]
struct PlanLine {
    refused: Vec<Cell>,
    unavailable: Vec<Unavailable>,
}

#[derive(Debug, Deserialize)]
struct Unavailable {
    mechanism: String,
}

/// Cells that a survey covered.
#[derive(Debug, Default)]
struct Coverage {
    refused: BTreeSet<Cell>,
    unavailable: BTreeSet<String>,
    valid: BTreeMap<Cell, u32>,
}

/// A results file, removed when dropped.
struct SurveyFile(PathBuf);

impl Drop for SurveyFile {
    fn drop(&mut self) {
        // The survey may not have written it.
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Runs one survey.
pub(crate) fn measure(ipcperf: &Ipcperf) -> Vec<Finding> {
    let name = format!("ipcperf-bench-{}.jsonl", std::process::id());
    let scratch = SurveyFile(std::env::temp_dir().join(name));
    let surveyed = survey(ipcperf, &scratch.0);
    let coverage = match &surveyed {
        Ok(_) => cells(&scratch.0),
        Err(trouble) => whole().failed(trouble),
    };
    vec![announce(time().answer(surveyed)), announce(coverage)]
}

fn time() -> Question {
    let case = "ipcperf survey".to_owned();
    Question { bench: "survey", case, unit: Unit::Ns, bar: TIME_BAR }
}

fn whole() -> Question {
    let case = format!("cells with {MIN_VALID} valid samples, or refused");
    let bar = Bar::AtLeast(count(expected().len()));
    Question { bench: "survey", case, unit: Unit::Cells, bar }
}

#[allow(clippy::cast_precision_loss, reason = "a few hundred cells")]
fn count(cells: usize) -> f64 {
    cells as f64
}

#[allow(clippy::cast_precision_loss, reason = "seconds in ns")]
fn survey(ipcperf: &Ipcperf, out: &Path) -> Result<Estimate, BenchError> {
    let mut command = ipcperf.command();
    command.args(["survey", "--quiet", "--out"]).arg(out);
    let start = Instant::now();
    run_with_input(&mut command, b"", TIMEOUT)?;
    Ok(Estimate::single(start.elapsed().as_nanos() as f64))
}

fn cells(out: &Path) -> Finding {
    match Coverage::read(out) {
        Ok(coverage) => coverage.finding(),
        Err(trouble) => whole().failed(&trouble),
    }
}

/// Returns every cell that a survey must cover.
fn expected() -> Vec<Cell> {
    let mut cells = Vec::new();
    for mechanism in SURVEYED {
        for workload in ipcperf_model::workload::SURVEYED {
            for buffer_bytes in SIZES_BYTES {
                cells.extend(PLACEMENTS.map(|placement| Cell {
                    mechanism: mechanism.name.to_owned(),
                    workload: workload.name().to_owned(),
                    buffer_bytes,
                    placement: placement.to_owned(),
                }));
            }
        }
    }
    cells
}

impl Coverage {
    fn read(path: &Path) -> Result<Self, BenchError> {
        let wrong = |error| BenchError::File { path: path.to_owned(), error };
        let text = std::fs::read_to_string(path).map_err(wrong)?;
        let mut coverage = Self::default();
        for line in text.lines() {
            coverage.add(serde_json::from_str(line).map_err(|error| wrong(error.into()))?);
        }
        Ok(coverage)
    }

    fn add(&mut self, line: SurveyLine) {
        match line {
            SurveyLine::Header { plan } => {
                self.refused.extend(plan.refused);
                self.unavailable.extend(plan.unavailable.into_iter().map(|one| one.mechanism));
            }
            SurveyLine::Sample { cell, excluded: None } => {
                *self.valid.entry(cell).or_default() += 1;
            }
            SurveyLine::Sample { .. } | SurveyLine::Other => {}
        }
    }

    fn covers(&self, cell: &Cell) -> bool {
        self.refused.contains(cell)
            || self.unavailable.contains(&cell.mechanism)
            || self.valid.get(cell).is_some_and(|&kept| kept >= MIN_VALID)
    }

    fn finding(&self) -> Finding {
        let all = expected();
        let short: Vec<String> =
            all.iter().filter(|cell| !self.covers(cell)).map(|cell| self.shortfall(cell)).collect();
        let mut notes = vec![format!("{} refused", self.refused.len())];
        notes.extend(self.unavailable.iter().map(|name| format!("{name} cannot run here")));
        notes.extend(short.iter().take(8).cloned());
        let figure = Estimate::single(count(all.len() - short.len()));
        whole().judge(figure, Some(notes.join("; ")))
    }

    fn shortfall(&self, cell: &Cell) -> String {
        let kept = self.valid.get(cell).copied().unwrap_or(0);
        let Cell { mechanism, workload, buffer_bytes, placement } = cell;
        format!("{mechanism} {workload} {} {placement}: {kept}", bytes(*buffer_bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Verdict;

    fn coverage_of(kept: u32) -> Coverage {
        let mut cells = expected().into_iter();
        let refused = BTreeSet::from([cells.next().unwrap()]);
        Coverage { refused, valid: cells.map(|cell| (cell, kept)).collect(), ..Coverage::default() }
    }

    #[test]
    fn a_cell_is_refused_or_has_seven() {
        assert_eq!(coverage_of(7).finding().verdict, Verdict::Met);
        let short = coverage_of(6).finding();
        assert_eq!(short.verdict, Verdict::NotMet);
        assert!(short.note.unwrap().contains("null stream 64 B split: 6"));
    }

    #[test]
    fn the_lines_of_a_results_file_are_understood() {
        let mut coverage = Coverage::default();
        for line in [
            r#"{"kind":"header","schema":2,"plan":{"refused":[{"mechanism":"udp","workload":"stream",
                "buffer_bytes":1048576,"placement":"same","reason":"r"}],"unavailable":[]}}"#,
            r#"{"kind":"sample","mechanism":"pipe","workload":"stream","buffer_bytes":64,
                "placement":"same","excluded":null,"elapsed_ns":1}"#,
            r#"{"kind":"sample","mechanism":"pipe","workload":"stream","buffer_bytes":64,
                "placement":"same","excluded":"first","elapsed_ns":1}"#,
            r#"{"kind":"footer","complete":true}"#,
        ] {
            coverage.add(serde_json::from_str(line).unwrap());
        }
        assert_eq!((coverage.refused.len(), coverage.valid.values().sum::<u32>()), (1, 1));
    }
}
