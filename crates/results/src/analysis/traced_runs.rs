//! Selects the runs that `ipcperf trace` presents: the last one of each instrumented case. There are several cases if
//! not everything can be observed at once.

use super::observed_cases::is_instrumented_run;
use crate::{ObservationRecord, Results, Sample};

/// Run with the observations of its instruments.
#[derive(Clone, Debug, PartialEq)]
pub struct TracedRun<'a> {
    /// The run.
    pub sample: &'a Sample,
    /// Observations of all of its instruments, in the order of the file.
    pub observations: Vec<&'a ObservationRecord>,
}

/// Returns the last run of each instrumented case of `results`, in the order of the plan.
pub fn traced_runs(results: &Results) -> Vec<TracedRun<'_>> {
    let last = |case: &String| {
        let of_case = |sample: &&Sample| sample.run.case.case_id == *case;
        let mut watched = results.samples.iter().filter(|sample| is_instrumented_run(sample));
        let sample = watched.rfind(of_case)?;
        let is_seen = |one: &&ObservationRecord| one.run_id == sample.run.run_id;
        let observations = results.observations.iter().filter(is_seen).collect();
        Some(TracedRun { sample, observations })
    };
    results.header.plan.cases.iter().filter_map(last).collect()
}

#[cfg(test)]
mod tests {
    use ipcperf_model::workload::WorkloadKind;

    use super::*;
    use crate::testing::{analyzed_file, sample};

    #[test]
    fn each_part_of_a_trace_is_its_last_instrumented_run() {
        let run = |case: &str, block: u32, position: usize, instruments: &[&str]| {
            let mut run = sample("pipe", WorkloadKind::Stream, 64, block, 1_000);
            run.run.case.case_id = case.to_owned();
            run.run.run_id = format!("{block}.{position}.1");
            run.instruments = instruments.iter().map(|&name| name.to_owned()).collect();
            run
        };
        let mut twin = run("twin", 1, 2, &["rusage"]);
        twin.twin_of = Some("one".to_owned());
        let samples = vec![
            run("one", 0, 0, &["syscalls"]),
            run("two", 0, 1, &["counters"]),
            run("two", 1, 0, &["counters"]),
            run("one", 1, 1, &["syscalls"]),
            twin,
            run("bare", 1, 3, &[]),
        ];
        let mut results = analyzed_file("file", samples, Vec::new()).results;
        let seen = ["0.0.1", "1.1.1", "1.0.1", "1.1.1"].map(|run_id| ObservationRecord {
            seq: None,
            run_id: run_id.to_owned(),
            instrument: "syscalls".to_owned(),
            role: None,
            fields: serde_json::Map::new(),
        });
        results.observations = seen.to_vec();
        let traced = traced_runs(&results);
        let found = traced.iter().map(|one| (&*one.sample.run.run_id, one.observations.len()));
        assert_eq!(found.collect::<Vec<_>>(), [("1.1.1", 2), ("1.0.1", 1)]);
    }
}
