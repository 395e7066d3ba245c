//! The table of a survey: a row for each mechanism, for the screen and for the report.

use ipcperf_model::Condition;
use ipcperf_model::workload::WorkloadKind;
use ipcperf_results::analysis::{CaseSummary, Comparison};

use super::survey_columns::{
    SAME, SurveyColumn, answered_workload, main_placement, survey_columns,
};

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
    /// Kernel buffer and message options of the cases, if they differ from the defaults.
    conditions: Vec<Condition>,
    has_handed_over: bool,
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
            conditions: first.map_or_else(Vec::new, |first| first.case.non_defaults()),
            has_handed_over: cases.iter().any(|case| !case.is_delivered()),
        }
    }

    /// Returns the CPU distance class of the column with the main figure of `workload`: the last one, which has the
    /// placement of most columns.
    pub fn class(&self, workload: WorkloadKind) -> Option<&'a String> {
        let column = self.columns.iter().rfind(|column| column.shows_main_figure(workload));
        column.and_then(SurveyColumn::class)
    }

    /// Whether `comparison` is one of cases with the kernel buffer and the message options of the table. Rankings have
    /// no cases with another kernel buffer than the default.
    pub fn has_conditions_of(&self, comparison: &Comparison) -> bool {
        comparison.message_options().non_defaults() == self.conditions
    }

    /// Whether a mechanism hands memory over, so that nothing need have been moved.
    pub const fn has_handed_over(&self) -> bool {
        self.has_handed_over
    }

    /// Whether all columns are about one CPU, so that those for two CPUs are absent.
    pub fn has_one_cpu(&self) -> bool {
        self.placement == Some(SAME)
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
    let answered = answered_workload(cases);
    if let Some(last) = columns.iter().rfind(|column| column.shows_main_figure(answered)) {
        names.sort_by(|one, other| last.order(one, other));
    }
    names
}

#[cfg(test)]
mod tests {
    use ipcperf_model::Mode;
    use ipcperf_model::message_options::Touch;
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

    /// A mechanism that hands memory over has moved nothing unless the receiver reads it.
    #[test]
    fn payload_that_is_handed_over_is_not_the_best_unless_both_peers_touch_it() {
        let mut file = file(&[
            ("bus-memfd", Mode::TwoProcesses, WorkloadKind::RoundTrip),
            ("posix-mqueue", Mode::TwoProcesses, WorkloadKind::RoundTrip),
            ("unix-stream-named", Mode::TwoProcesses, WorkloadKind::RoundTrip),
        ]);
        let cell = |file: &AnalyzedFile, name| {
            let table = SurveyTable::new(&file.summaries);
            let cell = table.columns[0].cell(name).expect("a cell");
            (cell.text.starts_with('('), cell.is_best)
        };
        assert_eq!(cell(&file, "bus-memfd"), (true, false));
        assert_eq!(cell(&file, "posix-mqueue"), (false, true));
        file.summaries.iter_mut().for_each(|summary| summary.case.touch = Touch::Both);
        assert_eq!(cell(&file, "bus-memfd"), (false, true));
    }

    #[test]
    fn a_mechanism_alone_is_not_the_best() {
        let file = file(&[
            ("bus-memfd", Mode::TwoProcesses, WorkloadKind::RoundTrip),
            ("pipe", Mode::TwoProcesses, WorkloadKind::RoundTrip),
        ]);
        let table = SurveyTable::new(&file.summaries);
        assert!(table.columns[0].cell("pipe").is_some_and(|cell| !cell.is_best));
    }

    #[test]
    fn request_reply_stands_in_for_round_trips() {
        let file = file(&[("pipe", Mode::TwoProcesses, WorkloadKind::RequestReply)]);
        let table = SurveyTable::new(&file.summaries);
        assert_eq!(table.answered, WorkloadKind::RequestReply);
        assert!(table.columns[0].heading.starts_with("request-reply\n64 B\n"));
    }
}
