//! Adds the amount of payload to the name of a case if other cases differ only in it: the matrices of a study may
//! request one mechanism and size with several totals.

use std::collections::{HashMap, HashSet};

use ipcperf_model::Condition;
use ipcperf_model::case_id::NamedAmount;
use ipcperf_model::size::Bytes;

use super::CaseSummary;
use crate::CaseIdentity;

/// Key of one line of a table or a figure: everything about a case except its size and its amount.
type SeriesKey = (String, String, Vec<Condition>);

/// Sets the text of the amount in each of `summaries` whose line has several amounts at one size.
pub(super) fn add_amounts(summaries: &mut [CaseSummary]) {
    let mut cases: HashMap<(SeriesKey, u64), HashSet<&str>> = HashMap::new();
    for summary in summaries.iter() {
        let cell = (series_key(summary), summary.case.buffer_bytes);
        cases.entry(cell).or_default().insert(&summary.case.case_id);
    }
    let several = cases.into_iter().filter(|(_, ids)| ids.len() > 1);
    let several: HashSet<SeriesKey> = several.map(|((line, _), _)| line).collect();
    for summary in summaries.iter_mut().filter(|summary| several.contains(&series_key(summary))) {
        summary.amount = describe_amount(&summary.case);
    }
}

fn series_key(summary: &CaseSummary) -> SeriesKey {
    let case = &summary.case;
    let place = format!("{}/{}/{}", case.workload.name(), case.mode.name(), case.placement);
    (summary.series(), place, case.non_defaults())
}

/// Returns `, one message` or `, 16 MiB in all`, or nothing if the case was calibrated.
fn describe_amount(case: &CaseIdentity) -> String {
    match case.amount() {
        None => String::new(),
        Some(NamedAmount::Bytes(bytes)) if bytes == case.buffer_bytes => ", 1 message".to_owned(),
        Some(NamedAmount::Bytes(bytes)) => format!(", {} total", Bytes(bytes)),
        Some(messages) => format!(", {}", messages.to_level()),
    }
}

#[cfg(test)]
mod tests {
    use ipcperf_model::case_id::{NameParts, NamedAmount, Side};
    use ipcperf_model::workload::WorkloadKind;

    use crate::Sample;
    use crate::testing::{analyzed_file, sample, with_name_parts};

    fn sample_with_total(bytes: u64, total: u64) -> Sample {
        let one = sample("pipe", WorkloadKind::Stream, bytes, 1, 1_000);
        let parts = NameParts { amount: Some(NamedAmount::Bytes(total)), ..NameParts::default() };
        with_name_parts(one, parts, Side::Instrumented)
    }

    fn series(samples: Vec<Sample>) -> Vec<String> {
        let file = analyzed_file("file", samples, Vec::new());
        file.summaries.iter().map(super::CaseSummary::series).collect()
    }

    #[test]
    fn what_differs_in_its_total_alone_has_it_in_its_name() {
        let samples = vec![
            sample_with_total(64, 64),
            sample_with_total(64, 4096),
            sample_with_total(128, 4096),
        ];
        let names = ["pipe, 1 message", "pipe, 4 KiB total", "pipe, 4 KiB total"];
        assert_eq!(series(samples), names);
    }

    #[test]
    fn what_no_other_differs_from_keeps_its_name() {
        assert_eq!(
            series(vec![sample_with_total(64, 64), sample_with_total(128, 128)]),
            ["pipe", "pipe"]
        );
    }
}
