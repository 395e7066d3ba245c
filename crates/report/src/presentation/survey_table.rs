//! The table of a survey: a row for each mechanism, for the screen and for the report.

use ipcperf_model::workload::WorkloadKind;
use ipcperf_results::analysis::CaseSummary;

use super::survey_columns::{SurveyColumn, answered_workload, main_placement, survey_columns};

/// Table of the main figures of each mechanism.
pub struct SurveyTable<'a> {
    /// Names of the mechanisms, the one with the shortest round trip first.
    pub names: Vec<String>,
    /// Columns.
    pub columns: Vec<SurveyColumn<'a>>,
    /// Placement of most columns.
    pub placement: Option<&'a str>,
    /// Workload of the columns of round trips.
    pub answered: WorkloadKind,
    /// Number of measured cases that have another mode, kernel buffer or message options than those of the table.
    pub cases_left_out: usize,
}

impl<'a> SurveyTable<'a> {
    /// Creates the table of the cases in `summaries` that transfer something. Mode, kernel buffer and message options
    /// are those of the first measured case, because values with different ones are not comparable.
    pub fn new(summaries: &'a [CaseSummary]) -> Self {
        let all: Vec<&CaseSummary> =
            summaries.iter().filter(|case| !case.case.is_harness_only()).collect();
        let first = all.iter().find(|case| case.refused.is_none());
        let is_alike = |case: &CaseSummary| {
            first.is_none_or(|first| {
                first.case.mode == case.case.mode
                    && first.case.non_defaults() == case.case.non_defaults()
            })
        };
        let (cases, others): (Vec<&CaseSummary>, Vec<&CaseSummary>) =
            all.iter().copied().partition(|case| is_alike(case));
        let columns = survey_columns(&cases);
        Self {
            names: sorted_names(&cases, &columns),
            columns,
            placement: main_placement(&cases),
            answered: answered_workload(&cases),
            cases_left_out: others.iter().filter(|case| case.refused.is_none()).count(),
        }
    }

    /// Returns the CPU distance class of the last column.
    pub fn class(&self) -> Option<&'a String> {
        self.columns.last().and_then(SurveyColumn::class)
    }
}

/// Returns the names of the mechanisms, ordered by the last column of round trips.
fn sorted_names(cases: &[&CaseSummary], columns: &[SurveyColumn<'_>]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for case in cases {
        let name = case.series();
        if !names.contains(&name) {
            names.push(name);
        }
    }
    if let Some(last) = columns.iter().rfind(|column| column.has_round_trips()) {
        names.sort_by(|one, other| last.order(one, other));
    }
    names
}

#[cfg(test)]
mod tests {
    use ipcperf_model::Mode;
    use ipcperf_results::analysis::AnalyzedFile;
    use ipcperf_results::testing::{analyzed_file, sample};

    use super::*;

    /// Returns five runs of each mechanism, in the given mode and workload, at 64 B.
    fn file(runs: &[(&str, Mode, WorkloadKind)]) -> AnalyzedFile {
        let run = |(mechanism, mode, workload): &(&str, Mode, WorkloadKind), block| {
            let ns = 1_000_000 * u64::try_from(mechanism.len()).unwrap();
            let mut one = sample(mechanism, *workload, 64, block, ns);
            one.run.case.mode = *mode;
            one.run.case.case_id += mode.name();
            one
        };
        let samples = runs.iter().flat_map(|one| (1..=5).map(move |block| run(one, block)));
        analyzed_file("file", samples.collect(), Vec::new())
    }

    #[test]
    fn cases_of_another_mode_are_left_out_and_counted() {
        let [processes, threads] = [Mode::TwoProcesses, Mode::TwoThreads];
        let file = file(&[
            ("unix-stream", processes, WorkloadKind::RoundTrip),
            ("pipe", processes, WorkloadKind::RoundTrip),
            ("tcp", threads, WorkloadKind::RoundTrip),
        ]);
        let table = SurveyTable::new(&file.summaries);
        assert_eq!(table.names, ["pipe", "unix-stream"], "the fastest first");
        assert_eq!((table.cases_left_out, table.placement), (1, Some("same")));
        assert!(table.columns[0].cell("pipe").is_some_and(|cell| cell.is_best));
        assert_eq!(table.columns[0].cell("tcp"), None);
    }

    #[test]
    fn request_reply_stands_in_for_round_trips() {
        let file = file(&[("pipe", Mode::TwoProcesses, WorkloadKind::RequestReply)]);
        let table = SurveyTable::new(&file.summaries);
        assert_eq!(table.answered, WorkloadKind::RequestReply);
        assert!(table.columns[0].heading.starts_with("request-reply\n64 B\n"));
    }
}
