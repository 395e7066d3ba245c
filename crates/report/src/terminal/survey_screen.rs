//! The survey on one screen: one row for each mechanism, and the answers in three sentences.

use comfy_table::{CellAlignment, ContentArrangement};
use ipcperf_model::units;
use ipcperf_model::workload::WorkloadKind;
use ipcperf_results::analysis::{
    AnalyzedFile, CaseSummary, ComparedSize, Comparison, NoRanking, comparisons_at, why_not_ranked,
};
use textwrap::core::display_width;

use super::cells::new_table;
use super::notes::disturbed_note;
use super::sentences::comparison_line;
use super::width::wrap;
use crate::presentation::{Caution, Importance, SurveyCell, SurveyColumn, SurveyTable};
use crate::wording::{TIE_RATIO, limit_text};

const BEST: char = '*';
const SCATTER: char = '~';
const LOSS: char = '!';
/// Line that explains why a value is in parentheses although its runs are valid.
const HANDED_OVER: &str =
    "(value) also if memory is handed over: such mechanisms are only compared with --touch both";
/// Line that explains why a survey on a machine with one CPU has fewer columns.
pub const ONE_CPU: &str = "Nothing was measured on two CPUs: the columns are those for one CPU.";

/// Returns the survey in `file` as text of at most `columns` characters a line, without the heading.
pub fn survey_screen(file: &AnalyzedFile, columns: usize) -> String {
    let survey = SurveyTable::new(&file.summaries);
    let answers = survey_answers(&file.summaries, &survey);
    let quality = disturbed_note(&file.results.samples);
    let quality = quality.unwrap_or_else(|| "No run was disturbed.".to_owned());
    let remarks = [
        survey.has_handed_over().then(|| HANDED_OVER.to_owned()),
        survey.has_one_cpu().then(|| ONE_CPU.to_owned()),
    ];
    let mut lines = vec![table(survey, columns), legend()];
    lines.extend(remarks.into_iter().flatten().chain(answers).chain([quality]));
    wrap(&lines.join("\n"), columns)
}

/// Explains the marks in cells.
fn legend() -> String {
    let tie = units::percent(TIE_RATIO - 1.0);
    format!(
        "{BEST} best, or within {tie} of it   {SCATTER} scattered   {LOSS} messages lost\n(value) not \
         compared: few valid runs, or CPUs at another distance"
    )
}

/// Returns the table, without columns for which the terminal of `columns` characters is too narrow.
fn table(survey: SurveyTable<'_>, columns: usize) -> String {
    let SurveyTable { names, columns: mut shown, .. } = survey;
    loop {
        let text = layout(&names, &shown);
        let is_narrow = text.lines().any(|line| display_width(line) > columns);
        let is_optional = |column: &SurveyColumn| column.importance == Importance::LeftOutIfNarrow;
        match shown.iter().rposition(is_optional) {
            Some(place) if is_narrow => drop(shown.remove(place)),
            _ => return text,
        }
    }
}

/// Lays out all columns, however wide.
fn layout(names: &[String], shown: &[SurveyColumn<'_>]) -> String {
    let mut table = new_table(usize::from(u16::MAX));
    table.set_content_arrangement(ContentArrangement::Disabled);
    let headings = shown.iter().map(|column| column.heading.as_str());
    table.set_header(["mechanism"].into_iter().chain(headings));
    for name in names {
        let cells = shown.iter().map(|column| cell_text(column.cell(name)));
        table.add_row(std::iter::once(name.clone()).chain(cells));
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table.to_string()
}

/// Formats a cell with room for two marks, so that values stay aligned.
fn cell_text(cell: Option<SurveyCell>) -> String {
    let Some(SurveyCell { text, is_best, caution }) = cell else { return "-  ".to_owned() };
    let best = if is_best { BEST } else { ' ' };
    let caution = match caution {
        Some(Caution::Scattered) => SCATTER,
        Some(Caution::Lossy) => LOSS,
        None => ' ',
    };
    format!("{text}{best}{caution}")
}

/// Names the best mechanism for small and for large messages, and what limits the latter, or says why there is no
/// ranking. The table `survey` determines placement, workload, message options and CPU distance class.
pub fn survey_answers(summaries: &[CaseSummary], survey: &SurveyTable<'_>) -> Vec<String> {
    let main = |size, workload| main_comparison(summaries, size, workload, survey);
    let small = main(ComparedSize::Smallest, survey.answered);
    let large = main(ComparedSize::Largest, WorkloadKind::Stream);
    let limit = large.as_ref().and_then(|comparison| match comparison {
        Comparison::Ranked(ranking) => {
            limit_text(&ranking.best).map(|limit| format!("Limit: {limit}"))
        }
        Comparison::Undecided(_) | Comparison::Refused(_) => None,
    });
    let answers: Vec<String> =
        [small, large].iter().flatten().map(comparison_line).chain(limit).collect();
    if answers.is_empty() {
        return vec![no_ranking_text(why_not_ranked(summaries)).to_owned()];
    }
    answers
}

const fn no_ranking_text(why: NoRanking) -> &'static str {
    match why {
        NoRanking::TooFew => {
            "Not ranked: fewer than two mechanisms were measured, so there is nothing to compare."
        }
        NoRanking::KernelBuffer => {
            "Not ranked: only cases with the default kernel buffer are; measure without --kernel-buffer."
        }
        NoRanking::NotDelivered => {
            "Not ranked: mechanisms that hand memory over are only compared with --touch both."
        }
        NoRanking::DifferentConditions => {
            "Not ranked: no two mechanisms were measured under the same conditions as the table."
        }
    }
}

/// Returns the comparison under the conditions of `survey`: the one at its placement and in its CPU distance class if
/// there is one, or else another.
fn main_comparison(
    summaries: &[CaseSummary],
    size: ComparedSize,
    workload: WorkloadKind,
    survey: &SurveyTable<'_>,
) -> Option<Comparison> {
    let all = comparisons_at(summaries, size).into_iter();
    let is_meant = |comparison: &Comparison| {
        comparison.workload() == workload && survey.has_conditions_of(comparison)
    };
    all.filter(is_meant).max_by_key(|comparison| {
        let is_there = Some(comparison.placement()) == survey.placement;
        (is_there, comparison.class() == survey.class(workload))
    })
}

#[cfg(test)]
mod tests {
    use ipcperf_model::message_options::Touch;
    use ipcperf_results::testing::{analyzed_file, sample};
    use ipcperf_results::{ExclusionReason, Sample};

    use super::*;

    const CASES: [(WorkloadKind, u64); 3] = [
        (WorkloadKind::RoundTrip, 64),
        (WorkloadKind::Stream, 64 << 10),
        (WorkloadKind::Stream, 1 << 20),
    ];

    /// Returns the runs of `mechanism` at `placement`, which take `elapsed_us` each.
    fn runs(mechanism: &str, placement: &str, elapsed_us: u64) -> Vec<Sample> {
        let run = |(workload, bytes), block| {
            let mut one = sample(mechanism, workload, bytes, block, elapsed_us * 1_000);
            one.run.case.placement = placement.to_owned();
            one.run.case.case_id += placement;
            one
        };
        CASES.iter().flat_map(|case| (0..=7).map(move |block| run(*case, block))).collect()
    }

    /// Returns the survey of three mechanisms at `placements`, on a terminal of `columns`.
    fn screen(placements: &[&str], columns: usize) -> String {
        let times = [("pipe", 2_000), ("tcp", 5_000), ("fifo", 2_010)];
        let cases = times.iter().flat_map(|time| placements.iter().map(move |place| (time, place)));
        let samples = cases.flat_map(|((name, time), place)| runs(name, place, *time)).collect();
        survey_screen(&analyzed_file("survey.jsonl", samples, Vec::new()), columns)
    }

    #[test]
    fn the_best_and_what_is_tied_with_it_are_marked_alike() {
        let text = screen(&["same", "split"], 100);
        let row =
            |name: &str| text.lines().find(|line| line.trim_start().starts_with(name)).unwrap();
        assert_eq!(row("pipe").matches('*').count(), row("fifo").matches('*').count(), "{text}");
        assert!(row("pipe").contains('*') && !row("tcp").contains('*'), "{text}");
        insta::assert_snapshot!(text);
    }

    #[test]
    fn it_fits_a_screen_and_a_narrow_one_has_fewer_columns() {
        for columns in [60, 80, 100] {
            let text = screen(&["same", "split"], columns);
            assert!(text.lines().all(|line| line.chars().count() <= columns), "{text}");
        }
        assert!(screen(&["same", "split"], 80).contains("bandwidth"));
        assert!(!screen(&["same", "split"], 60).contains("p99"));
    }

    #[test]
    fn one_cpu_has_no_columns_for_two() {
        let text = screen(&["same"], 100);
        assert!(text.contains("same CPU") && !text.contains("2 CPUs"), "{text}");
        assert!(text.contains("bandwidth") && text.contains(ONE_CPU), "{text}");
        assert!(!screen(&["same", "split"], 100).contains(ONE_CPU));
    }

    /// The table has the message options that come first, so the sentences must have them too.
    #[test]
    fn the_sentences_have_the_message_options_of_the_table() {
        let mut samples = Vec::new();
        for (touch, pipe_us) in [(Touch::None, 2_000), (Touch::Both, 9_000)] {
            for mut one in [runs("pipe", "split", pipe_us), runs("tcp", "split", 5_000)].concat() {
                one.run.case.touch = touch;
                one.run.case.case_id += touch.name();
                samples.push(one);
            }
        }
        let text = survey_screen(&analyzed_file("survey.jsonl", samples, Vec::new()), 100);
        assert!(text.contains("Shortest round trip at 64 B, placement split: pipe, "), "{text}");
        assert!(!text.contains("touch both:"), "{text}");
    }

    /// Returns the runs of `mechanism` in CPU distance class `far`, except those of `workload` after the third block.
    fn apart(mechanism: &str, workload: WorkloadKind, elapsed_us: u64) -> Vec<Sample> {
        let mut samples = runs(mechanism, "split", elapsed_us);
        for one in &mut samples {
            let is_near = one.run.case.workload == workload && one.run.block > 3;
            one.cpu_pair_class = Some(if is_near { "near" } else { "far" }.to_owned());
        }
        samples
    }

    #[test]
    fn each_sentence_has_the_class_of_its_column() {
        let workload = WorkloadKind::RoundTrip;
        let samples = [apart("pipe", workload, 2_000), apart("tcp", workload, 5_000)].concat();
        let text = survey_screen(&analyzed_file("survey.jsonl", samples, Vec::new()), 100);
        assert!(text.contains("Shortest round trip at 64 B, placement split (near): "), "{text}");
        assert!(text.contains("Highest bandwidth at 1 MiB, placement split (far): "), "{text}");
    }

    #[test]
    fn without_a_ranking_the_reason_is_given() {
        let text = |samples| survey_screen(&analyzed_file("x", samples, Vec::new()), 100);
        assert!(text(runs("pipe", "split", 2_000)).contains("fewer than two mechanisms"));
        let handed_over = [runs("pipe", "split", 9), runs("bus-memfd", "split", 1)].concat();
        let shown = text(handed_over);
        assert!(shown.contains(HANDED_OVER), "{shown}");
        assert!(shown.contains("Not ranked: mechanisms that hand memory over"), "{shown}");
        let mut buffered = [runs("pipe", "split", 9), runs("tcp", "split", 1)].concat();
        for one in &mut buffered {
            one.run.case.kernel_buffer = "5120".to_owned();
            one.run.case.kernel_buffer_requested_bytes = Some(5_120);
        }
        assert!(text(buffered).contains("without --kernel-buffer"));
    }

    /// A mechanism whose runs were disturbed may be the best, so no other one is marked.
    #[test]
    fn no_survivor_is_marked_as_the_best() {
        let mut samples = [runs("pipe", "split", 2_000), runs("tcp", "split", 5_000)].concat();
        let mut disturbed = runs("shm-ring", "split", 10);
        disturbed.iter_mut().for_each(|one| one.excluded = Some(ExclusionReason::Disturbed));
        samples.extend(disturbed);
        let text = survey_screen(&analyzed_file("survey.jsonl", samples, Vec::new()), 100);
        let (rows, sentences) = text.split_once(&legend()).expect("a legend");
        assert!(!rows.contains('*'), "{text}");
        assert!(sentences.contains("undecided"), "{text}");
    }
}
