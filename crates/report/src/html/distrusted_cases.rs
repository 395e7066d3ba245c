//! Table of the cases whose figures deserve distrust, each with the reasons.

use ipcperf_model::parallel::map;
use ipcperf_model::units;
use ipcperf_results::Sample;
use ipcperf_results::analysis::{AnalyzedFile, CaseSummary, ValidSamples, drift};
use maud::{Markup, html};

use crate::presentation::MAX_RELATIVE_IQR;

/// Minimum number of valid repetitions. Fewer show no spread.
const MIN_REPETITIONS: usize = 3;
/// Number of cases above which the table is collapsed.
const MAX_OPEN_CASES: usize = 12;

/// A case with the reasons to distrust its figures.
struct DistrustedCase<'a> {
    case: &'a CaseSummary,
    reasons: Vec<String>,
}

/// Lists the cases of `file` with reasons for distrust.
pub(super) fn distrusted_cases(file: &AnalyzedFile) -> Markup {
    let cases = find_distrusted(file);
    html! {
        @if cases.is_empty() { p { "Every case has enough valid repetitions, which agree well." } }
        @else if cases.len() > MAX_OPEN_CASES {
            details {
                summary { "Figures to distrust (" (cases.len()) ")" }
                (table(&cases))
            }
        } @else { (table(&cases)) }
    }
}

fn table(cases: &[DistrustedCase<'_>]) -> Markup {
    html! {
        div.scroll { table.distrusted {
            caption { "Figures to distrust" }
            thead { tr {
                th { "case" } th { "why" } th.figure { "valid" } th.figure { "disturbed" } th.figure { "failed" }
            } }
            tbody { @for one in cases { (row(one)) } }
        } }
    }
}

fn row(DistrustedCase { case, reasons }: &DistrustedCase<'_>) -> Markup {
    html! {
        tr {
            th scope="row" {
                (case.case.case_id)
                @if let Some(class) = &case.cpu_pair_class { " (" (class) ")" }
            }
            td { (reasons.join("; ")) }
            td.figure { (valid_repetitions(case)) }
            td.figure { (case.disturbed) }
            td.figure { (case.failed) }
        }
    }
}

fn find_distrusted(file: &AnalyzedFile) -> Vec<DistrustedCase<'_>> {
    let valid = ValidSamples::new(&file.results.samples);
    let measured: Vec<&CaseSummary> =
        file.summaries.iter().filter(|case| case.refused.is_none()).collect();
    let reasons = map(measured.iter(), |case| reasons(case, valid.of_case(case)));
    let all = measured.into_iter().zip(reasons);
    let all = all.map(|(case, reasons)| DistrustedCase { case, reasons });
    all.filter(|one| !one.reasons.is_empty()).collect()
}

fn valid_repetitions(case: &CaseSummary) -> usize {
    case.main().map_or(0, |figure| figure.spread().n)
}

/// Returns the reasons to distrust `case`, whose valid runs are `valid`.
fn reasons(case: &CaseSummary, valid: &[&Sample]) -> Vec<String> {
    let drift = drift(valid).map(drift_text);
    let reasons = [too_few_repetitions(case), several_modes(case), scatter(case), drift];
    reasons.into_iter().flatten().collect()
}

fn too_few_repetitions(case: &CaseSummary) -> Option<String> {
    match valid_repetitions(case) {
        0 => Some("no valid run".to_owned()),
        _ if case.is_mostly_missing() => {
            Some("not ranked: fewer than half of the repetitions are valid".to_owned())
        }
        1 => Some("only 1 valid repetition".to_owned()),
        few if few < MIN_REPETITIONS => Some(format!("only {few} valid repetitions")),
        _ => None,
    }
}

fn several_modes(case: &CaseSummary) -> Option<String> {
    let modes = case.modes.len();
    (modes > 0).then(|| format!("the repetitions fall into {modes} modes, which a median hides"))
}

fn scatter(case: &CaseSummary) -> Option<String> {
    let iqr = case.main()?.spread().relative_iqr()?;
    (iqr > MAX_RELATIVE_IQR).then(|| {
        format!("scattered: the interquartile range is {} of the median", units::percent(iqr))
    })
}

fn drift_text(change: f64) -> String {
    let direction = if change < 0.0 { "falls" } else { "rises" };
    let size = units::percent(change.abs());
    format!("drift: {direction} by {size} from the first to the last repetition")
}

#[cfg(test)]
mod tests {
    use ipcperf_model::workload::WorkloadKind;
    use ipcperf_results::ExclusionReason;
    use ipcperf_results::testing::{analyzed_file, sample};

    use super::*;

    /// Returns twenty runs of `mechanism`, which take these times in ns.
    fn runs(mechanism: &str, time: impl Fn(u32) -> u64) -> Vec<Sample> {
        let run = |block| sample(mechanism, WorkloadKind::Stream, 64, block, time(block));
        (1..=20).map(run).collect()
    }

    #[test]
    fn each_kind_of_distrust_has_its_reason_and_a_steady_case_none() {
        let steady = runs("pipe", |block| 1_000_000 + u64::from(block * 7 % 5) * 1_000);
        let drifting = runs("tcp", |block| 1_000_000 + 40_000 * u64::from(block));
        let mut disturbed = runs("udp", |_| 1_000_000);
        for one in &mut disturbed {
            one.excluded = Some(ExclusionReason::Disturbed);
        }
        let file = analyzed_file("x", [steady, drifting, disturbed].concat(), Vec::new());
        let found = find_distrusted(&file);
        let names: Vec<&str> = found.iter().map(|one| one.case.case.mechanism.as_str()).collect();
        assert_eq!(names, ["tcp", "udp"]);
        assert!(found[0].reasons.iter().any(|reason| reason.starts_with("drift: falls by ")));
        assert_eq!(found[1].reasons, ["no valid run"]);
        let page = distrusted_cases(&file).into_string();
        assert!(page.contains("Figures to distrust") && !page.contains("pipe/"), "{page}");
    }
}
