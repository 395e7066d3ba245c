//! The answers in short: the table and the sentences with which the survey ends on a terminal.

use ipcperf_model::units;
use ipcperf_results::analysis::AnalyzedFile;
use maud::{Markup, html};

use super::lettered;
use crate::presentation::{Caution, SurveyCell, SurveyColumn, SurveyTable};
use crate::terminal::{ONE_CPU, survey_answers};
use crate::wording::TIE_RATIO;

pub(super) fn section(files: &[AnalyzedFile]) -> Markup {
    html! {
        @for (file, letter) in lettered(files) {
            @if let Some(letter) = letter { h3 { (letter) } }
            (file_section(file))
        }
        p.quiet {
            "Unless --touch is given, the peers do not write or read the payload; a real program does. Mechanisms also \
             differ in message boundaries, use by unrelated processes, and detection of a dead peer: see ipcperf list \
             mechanisms."
        }
    }
}

fn file_section(file: &AnalyzedFile) -> Markup {
    let survey = SurveyTable::new(&file.summaries);
    let answers = survey_answers(&file.summaries, &survey);
    html! {
        @if !survey.columns.is_empty() { (table(&survey)) (legend()) }
        @if survey.has_one_cpu() { p.quiet { (ONE_CPU) } }
        @for answer in &answers { p.answer { (answer) } }
        @if survey.cases_left_out > 0 {
            p.quiet {
                "The table has one mode, kernel buffer and set of message options; " (survey.cases_left_out)
                " cases with others are in Tables."
            }
        }
    }
}

fn table(survey: &SurveyTable<'_>) -> Markup {
    html! {
        div.scroll { table.survey {
            thead { tr { th { "mechanism" } @for column in &survey.columns { (heading(column)) } } }
            tbody { @for name in &survey.names { tr {
                th scope="row" { (name) }
                @for column in &survey.columns { (cell(column.cell(name).as_ref())) }
            } } }
        } }
    }
}

fn heading(column: &SurveyColumn<'_>) -> Markup {
    html! { th.figure { (column.heading) } }
}

fn cell(cell: Option<&SurveyCell>) -> Markup {
    html! {
        @match cell {
            Some(SurveyCell { text, is_best, caution }) => td.figure.best[*is_best] {
                @if let Some(caution) = caution { span.mark { (caution_word(*caution)) } }
                @if *is_best { span.mark { "best" } }
                (text)
            },
            None => td.figure { "–" },
        }
    }
}

const fn caution_word(caution: Caution) -> &'static str {
    match caution {
        Caution::Scattered => "scattered",
        Caution::Lossy => "lossy",
    }
}

fn legend() -> Markup {
    html! {
        p.quiet {
            "Medians of the valid repetitions. " b { "Best" } ": the best of the column, or within "
            (units::percent(TIE_RATIO - 1.0)) " of it (tied). Scattered: the repetitions differ much or fall into \
             several modes. Lossy: messages were lost. In parentheses: not compared, because there are too few valid \
             runs, the CPUs are at another distance, or memory is handed over without --touch both."
        }
    }
}

#[cfg(test)]
mod tests {
    use ipcperf_model::workload::WorkloadKind;
    use ipcperf_results::ExclusionReason;
    use ipcperf_results::testing::analyzed_file;
    use ipcperf_results::testing::sample;

    use super::section;

    /// Returns the section for two mechanisms with the given numbers of disturbed runs out of ten.
    fn render(disturbed: [u32; 2]) -> String {
        let mut samples = Vec::new();
        for ((mechanism, us), disturbed) in
            [("shm-ring", 2), ("pipe", 60)].into_iter().zip(disturbed)
        {
            for block in 0..=10 {
                let mut one =
                    sample(mechanism, WorkloadKind::RequestReply, 64, block, us * 1_000_000);
                if (1..=disturbed).contains(&block) {
                    one.excluded = Some(ExclusionReason::Disturbed);
                }
                samples.push(one);
            }
        }
        section(&[analyzed_file("file", samples, Vec::new())]).into_string()
    }

    #[test]
    fn the_best_is_marked_in_the_table_and_named_in_a_sentence() {
        let text = render([0, 0]);
        assert!(text.contains("<th class=\"figure\">request-reply\n64 B\nsame CPU</th>"), "{text}");
        let best = "<td class=\"figure best\"><span class=\"mark\">best</span>2.00 µs</td>";
        assert_eq!(text.matches(best).count(), 2, "round trip and p99: {text}");
        let sentence = "Shortest request-reply time at 64 B, placement same: shm-ring, ";
        assert!(text.contains(sentence), "{text}");
    }

    #[test]
    fn no_survivor_is_the_best_and_what_is_not_known_is_said() {
        let text = render([9, 0]);
        assert!(!text.contains("figure best"), "{text}");
        assert!(text.contains("placement same: undecided: shm-ring, "), "{text}");
        assert!(render([10, 10]).contains("unknown: too few valid runs of shm-ring (10 of 10"));
    }
}
