//! Export of folded stacks, the input of flame graph programs.
//! <https://github.com/brendangregg/FlameGraph#2-fold-stacks>

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};

use ipcperf_model::instrument::profile::ProfileRow;
use ipcperf_model::printable::is_unsafe;
use ipcperf_results::analysis::AnalyzedFile;

use super::Exporter;

/// Folded stacks of the profile.
pub(super) const EXPORTER: Exporter = Exporter {
    name: "folded",
    about: "call stacks sampled by `profile`, for flamegraph.pl, inferno and speedscope",
    details: "The output has one line per call stack. A line contains the case, the role, and the functions from \
        the outermost caller to the sampled function, separated by `;`. The number at the end of the line is the \
        number of samples of this stack in all valid runs. Names of kernel functions end in `_[k]`. If the \
        instrument `profile` took no samples, the output is empty.\n\n\
        `ipcperf export folded FILE | inferno-flamegraph` draws a flame graph. To select one role of one case, \
        filter the lines first, for example with `grep '^pipe/stream/2proc/same/4096;sender;'`.",
    instrument: Some("profile"),
    write,
    #[cfg(test)]
    check: tests::check,
};

fn write(files: &[AnalyzedFile], out: &mut dyn Write) -> io::Result<()> {
    for (stack, samples) in stacks(files) {
        writeln!(out, "{stack} {samples}")?;
    }
    Ok(())
}

/// Sums the samples of each stack over all valid runs.
fn stacks(files: &[AnalyzedFile]) -> BTreeMap<String, u64> {
    let mut stacks: BTreeMap<String, u64> = BTreeMap::new();
    for file in files {
        let counting = file.results.samples.iter().filter(|sample| sample.excluded.is_none());
        let cells: HashMap<&str, &str> =
            counting.map(|run| (&*run.run.run_id, run.run.case.cell())).collect();
        for seen in &file.results.observations {
            let Some(cell) = cells.get(seen.run_id.as_str()) else { continue };
            let Some(ProfileRow::Stack(sampled)) = seen.to_observation().row() else { continue };
            let samples = stacks.entry(folded_line(cell, &sampled.stack)).or_default();
            *samples = samples.saturating_add(sampled.samples);
        }
    }
    stacks
}

/// Formats one line. Names from a file may contain anything, so unsafe characters are replaced.
fn folded_line(cell: &str, stack: &str) -> String {
    let plain = |letter: char| if is_unsafe(letter) { '?' } else { letter };
    format!("{};{}", cell.replace(';', ":"), stack).chars().map(plain).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use ipcperf_results::analysis::AnalyzedFile;

    /// Checks the samples of each stack against the observations of the profile.
    pub(in crate::export) fn check(text: &str, files: &[AnalyzedFile]) {
        let mut wanted: BTreeMap<String, u64> = BTreeMap::new();
        for file in files {
            let seen = file.results.samples.iter().zip(&file.results.observations);
            for (sample, seen) in seen.filter(|(sample, _)| sample.excluded.is_none()) {
                let name = sample.run.case.case_id.replace(';', ":");
                let samples = seen.fields["samples"].as_u64().unwrap();
                *wanted.entry(format!("{name};sender;write;Vec<[u8; 4]>?x_[k]")).or_default() +=
                    samples;
            }
        }
        let line = |line: &str| {
            let (stack, samples) = line.rsplit_once(' ').unwrap();
            (stack.to_owned(), samples.parse::<u64>().unwrap())
        };
        assert_eq!(text.lines().map(line).collect::<BTreeMap<_, _>>(), wanted);
    }
}
