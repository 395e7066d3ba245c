//! Tests of the page of a study: order of its parts, and content for each claim.

use ipcperf_results::analysis::AnalyzedFile;
use ipcperf_study::Study;

use super::Report;
use crate::presentation::StudyContext;
use crate::presentation::tests::synthetic_file;

fn page(files: &[AnalyzedFile], given: Option<Study>) -> String {
    let context = StudyContext::from_files(files, given);
    Report::new(files, context.as_ref()).page()
}

/// Asserts that `page` contains `words` in this order.
fn assert_in_order(page: &str, words: &[&str]) {
    let mut rest = page;
    for one in words {
        let at = rest.find(one);
        rest = &rest[at.unwrap_or_else(|| panic!("no {one:?} where it should be"))..];
    }
}

#[test]
fn a_study_comes_first_then_its_verdicts_then_its_figures_and_tables() {
    let page = page(&[synthetic_file()], None);
    let question = "Is what was planted found?";
    let order = [
        "<h1>Planted</h1>",
        question,
        "<h2>Verdicts</h2>",
        "<h2>Figures of the study</h2>",
        "Figure 2a: Both",
        "<h2>Tables of the study</h2>",
        "Table 7: ",
        "<h2>In short</h2>",
    ];
    assert_in_order(&page, &order);
}

#[test]
fn each_claim_has_verdict_evidence_figure_and_how_it_was_judged() {
    let page = page(&[synthetic_file()], None);
    let levels = [
        "id=\"verdict-levels\"",
        "badge rejected",
        "</span>rejected</span>",
        "Original test: ",
        "student, alpha 0.05, uncorrected",
        "p, corrected",
        "8 KiB",
        "Excluded runs",
        "10 of the first block",
        "Published: ",
        "1.5 times",
        "id=\"figure-claim-levels\"",
        "id=\"figure-p-values-levels\"",
        "Statistical test",
        "Supported if",
        "Assumptions",
        "Wilcoxon 1945",
        "<h2>",
    ];
    assert_in_order(&page, &levels);
}

#[test]
fn results_judged_against_another_version_say_so_at_the_top() {
    let files = [synthetic_file()];
    let text = files[0].results.header.study_text.clone().unwrap();
    let changed = Study::parse(&text.replace("everywhere", "anywhere")).unwrap();
    let warning = "measured for planted version ";
    assert!(!page(&files, None).contains(warning));
    assert_in_order(&page(&files, Some(changed)), &["class=\"grave\"", warning, "Verdicts"]);
}

#[test]
fn results_without_a_study_have_the_page_that_they_had() {
    let mut file = synthetic_file();
    file.results.header.study_text = None;
    let page = page(&[file], None);
    assert!(!page.contains("Verdicts") && page.contains("<h2>In short</h2>"));
}
