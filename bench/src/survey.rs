//! `survey`: duration of one survey of this machine, and whether every cell was measured or refused.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use ipcperf_engine::mechanism::SURVEYED;
use serde::Deserialize;

use crate::estimate::Estimate;
use crate::finding::{Bar, Finding, Question, Unit};
use crate::output::{announce, bytes};
use crate::process::converse;
use crate::program::Ipcperf;
use crate::trouble::Trouble;

/// From the start of the process to its end, ns.
const TIME_BAR: Bar = Bar::AtMost(60e9);
/// Limit against hangs.
const DEADLINE: Duration = Duration::from_secs(300);
const SIZES_BYTES: [u64; 4] = [64, 4 << 10, 64 << 10, 1 << 20];
const PLACEMENTS: [&str; 2] = ["same", "split"];
/// Minimum number of valid samples per cell.
const LEAST_KEPT: u32 = 7;

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
enum Line {
    Header {
        plan: Planned,
    },
    Sample {
        #[serde(flatten)]
        cell: Cell,
        set_aside: Option<String>,
    },
    #[serde(other)]
    Other,
}

#[derive(Debug, Deserialize)]
struct Planned {
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
    kept: BTreeMap<Cell, u32>,
}

/// A results file, removed when dropped.
struct Scratch(PathBuf);

impl Drop for Scratch {
    fn drop(&mut self) {
        // The survey may not have written it.
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Runs one survey.
pub(crate) fn measure(ipcperf: &Ipcperf) -> Vec<Finding> {
    let name = format!("ipcperf-bench-{}.jsonl", std::process::id());
    let scratch = Scratch(std::env::temp_dir().join(name));
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
    let case = format!("cells with {LEAST_KEPT} kept samples, or refused");
    let bar = Bar::AtLeast(count(expected().len()));
    Question { bench: "survey", case, unit: Unit::Cells, bar }
}

#[allow(clippy::cast_precision_loss, reason = "a few hundred cells")]
fn count(cells: usize) -> f64 {
    cells as f64
}

#[allow(clippy::cast_precision_loss, reason = "seconds in ns")]
fn survey(ipcperf: &Ipcperf, out: &Path) -> Result<Estimate, Trouble> {
    let mut command = ipcperf.command();
    command.args(["survey", "--quiet", "--out"]).arg(out);
    let start = Instant::now();
    converse(&mut command, b"", DEADLINE)?;
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
    fn read(path: &Path) -> Result<Self, Trouble> {
        let wrong = |error| Trouble::File { path: path.to_owned(), error };
        let text = std::fs::read_to_string(path).map_err(wrong)?;
        let mut coverage = Self::default();
        for line in text.lines() {
            coverage.add(serde_json::from_str(line).map_err(|error| wrong(error.into()))?);
        }
        Ok(coverage)
    }

    fn add(&mut self, line: Line) {
        match line {
            Line::Header { plan } => {
                self.refused.extend(plan.refused);
                self.unavailable.extend(plan.unavailable.into_iter().map(|one| one.mechanism));
            }
            Line::Sample { cell, set_aside: None } => *self.kept.entry(cell).or_default() += 1,
            Line::Sample { .. } | Line::Other => {}
        }
    }

    fn answers_for(&self, cell: &Cell) -> bool {
        self.refused.contains(cell)
            || self.unavailable.contains(&cell.mechanism)
            || self.kept.get(cell).is_some_and(|&kept| kept >= LEAST_KEPT)
    }

    fn finding(&self) -> Finding {
        let all = expected();
        let short: Vec<String> = all
            .iter()
            .filter(|cell| !self.answers_for(cell))
            .map(|cell| self.shortfall(cell))
            .collect();
        let mut notes = vec![format!("{} refused", self.refused.len())];
        notes.extend(self.unavailable.iter().map(|name| format!("{name} cannot run here")));
        notes.extend(short.iter().take(8).cloned());
        let figure = Estimate::single(count(all.len() - short.len()));
        whole().judge(figure, Some(notes.join("; ")))
    }

    fn shortfall(&self, cell: &Cell) -> String {
        let kept = self.kept.get(cell).copied().unwrap_or(0);
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
        Coverage { refused, kept: cells.map(|cell| (cell, kept)).collect(), ..Coverage::default() }
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
            r#"{"kind":"header","schema":1,"plan":{"refused":[{"mechanism":"udp","workload":"stream",
                "buffer_bytes":1048576,"placement":"same","reason":"r"}],"unavailable":[]}}"#,
            r#"{"kind":"sample","mechanism":"pipe","workload":"stream","buffer_bytes":64,
                "placement":"same","set_aside":null,"elapsed_ns":1}"#,
            r#"{"kind":"sample","mechanism":"pipe","workload":"stream","buffer_bytes":64,
                "placement":"same","set_aside":"first","elapsed_ns":1}"#,
            r#"{"kind":"footer","complete":true}"#,
        ] {
            coverage.add(serde_json::from_str(line).unwrap());
        }
        assert_eq!((coverage.refused.len(), coverage.kept.values().sum::<u32>()), (1, 1));
    }
}
