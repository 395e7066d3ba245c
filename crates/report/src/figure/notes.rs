//! Captions of figures: features to look for, and explanations of the marks.

use ipcperf_results::analysis::{AnalyzedFile, CaseSummary};

use super::figure_spec::{Band, FigureSpec, Statistic};
use super::group::is_drawn;
use super::layout::Layout;

/// Explains marks at medians of `least` to `most` repetitions, and what shows their spread.
fn medians_note(spread: &str, least: usize, most: usize) -> String {
    let n = if least < most { format!("{least} to {most}") } else { most.to_string() };
    format!(
        "Medians of the valid repetitions (n = {n}); {spread} cover the middle half of the repetitions."
    )
}

/// Returns the captions of a figure for these files.
pub(super) fn notes(
    description: &FigureSpec,
    layout: Layout,
    files: &[AnalyzedFile],
    left_out: usize,
) -> Vec<String> {
    // Descriptions of line shapes do not apply to rows.
    let caption = (layout == Layout::Plane || description.statistic == Statistic::Modes)
        .then(|| description.caption.to_owned());
    let drawn = |case: &&CaseSummary| {
        is_drawn(case) && description.workload.is_none_or(|kind| kind == case.case.workload)
    };
    let cases = || files.iter().flat_map(|file| &file.summaries).filter(drawn);
    let counts = || cases().filter_map(CaseSummary::main).map(|figure| figure.spread().n);
    let statistic = match (description.statistic, counts().min(), counts().max()) {
        (Statistic::Median(Band::Quartiles), Some(least), Some(most)) => {
            Some(medians_note("bands", least, most))
        }
        (Statistic::Scatter, Some(least), Some(most)) => Some(medians_note("lines", least, most)),
        (Statistic::Distribution, ..) => {
            Some("The round trips of all valid repetitions of a case are combined.".to_owned())
        }
        _ => None,
    };
    let in_modes = cases().filter(|case| !case.modes.is_empty()).count();
    let modes = (matches!(description.statistic, Statistic::Median(_)) && in_modes > 0).then(|| {
        "If repetitions fall into several groups (modes), the line passes through the largest group, and separate \
         marks show the other groups."
            .to_owned()
    });
    let is_hollow = |case: &CaseSummary| case.main().is_none() && case.disturbed_median.is_some();
    let hollow = (matches!(description.statistic, Statistic::Median(_)) && cases().any(is_hollow))
        .then(|| "A hollow mark means that every run of the case was disturbed.".to_owned());
    let left_out = (left_out > 0)
        .then(|| format!("{left_out} more panels are not drawn; the tables have their values."));
    [caption, statistic, modes, hollow, left_out].into_iter().flatten().collect()
}
