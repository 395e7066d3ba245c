//! Table of the machines on which a study was measured.

use ipcperf_study::StudyTable;

use super::Source;
use super::shown_table::ShownTable;

const HEADER: [&str; 6] = ["machine", "file", "processor", "CPUs", "memory", "kernel"];

/// Returns a table with a row for each results file.
pub(super) fn present(table: &StudyTable, sources: &[Source<'_>]) -> ShownTable {
    ShownTable {
        caption: format!("Table {}: {}", table.number(), table.title()),
        header: HEADER.map(str::to_owned).to_vec(),
        rows: sources.iter().map(|source| row(source).to_vec()).collect(),
        notes: table.caption().map(str::to_owned).into_iter().collect(),
    }
}

fn row(source: &Source<'_>) -> [String; HEADER.len()] {
    let environment = &source.file.results.header.environment;
    let or_unknown = |text: &Option<String>| text.clone().unwrap_or_else(|| "unknown".to_owned());
    let is_guest = environment.virtualization.hypervisor == Some(true);
    let guest = if is_guest { ", virtual machine" } else { "" };
    let name = source.file.path.file_name();
    let memory = environment.memory.memory_bytes;
    [
        source.letter.unwrap_or('A').to_string(),
        name.map_or_else(String::new, |name| name.to_string_lossy().into_owned()),
        or_unknown(&environment.cpus.cpu_model) + guest,
        or_unknown(&environment.cpus.allowed_cpus),
        memory.map_or_else(|| "unknown".to_owned(), gibibytes),
        or_unknown(&environment.kernel.kernel),
    ]
}

#[allow(clippy::cast_precision_loss, reason = "to a tenth")]
fn gibibytes(bytes: u64) -> String {
    format!("{:.1} GiB", bytes as f64 / f64::from(1_u32 << 30))
}
