//! Adds the amount of payload to the name of a case if other cases differ only in it: the matrices of a study may
//! request one mechanism and size with several totals.

use std::collections::{HashMap, HashSet};

use ipcperf_model::Condition;
use ipcperf_model::case_id::NamedAmount;
use ipcperf_model::size::Bytes;

use super::CaseSummary;
use crate::CaseIdentity;

/// Key of one line of a table or a figure: everything about a case except its size and its amount.
type Line = (String, String, Vec<Condition>);

/// Sets the text of the amount in each of `summaries` whose line has several amounts at one size.
pub(super) fn tell(summaries: &mut [CaseSummary]) {
    let mut cases: HashMap<(Line, u64), HashSet<&str>> = HashMap::new();
    for summary in summaries.iter() {
        let cell = (line(summary), summary.case.buffer_bytes);
        cases.entry(cell).or_default().insert(&summary.case.case_id);
    }
    let several = cases.into_iter().filter(|(_, ids)| ids.len() > 1);
    let several: HashSet<Line> = several.map(|((line, _), _)| line).collect();
    for summary in summaries.iter_mut().filter(|summary| several.contains(&line(summary))) {
        summary.amount = in_words(&summary.case);
    }
}

fn line(summary: &CaseSummary) -> Line {
    let case = &summary.case;
    let place = format!("{}/{}/{}", case.workload.name(), case.mode.name(), case.placement);
    (summary.series(), place, case.conditions())
}

/// Returns `, one message` or `, 16 MiB in all`, or nothing if the case was calibrated.
fn in_words(case: &CaseIdentity) -> String {
    match case.amount() {
        None => String::new(),
        Some(NamedAmount::Bytes(bytes)) if bytes == case.buffer_bytes => ", one message".to_owned(),
        Some(NamedAmount::Bytes(bytes)) => format!(", {} in all", Bytes(bytes)),
        Some(messages) => format!(", {}", messages.level()),
    }
}

#[cfg(test)]
mod tests {
    use ipcperf_model::case_id::{NameParts, NamedAmount, Side};
    use ipcperf_model::workload::Kind;

    use crate::Sample;
    use crate::testing::{renamed, sample, summarised};

    fn of(bytes: u64, total: u64) -> Sample {
        let one = sample("pipe", Kind::Stream, bytes, 1, 1_000);
        let parts = NameParts { amount: Some(NamedAmount::Bytes(total)), ..NameParts::default() };
        renamed(one, parts, Side::Watched)
    }

    fn series(samples: Vec<Sample>) -> Vec<String> {
        let file = summarised("file", samples, Vec::new());
        file.summaries.iter().map(super::CaseSummary::series).collect()
    }

    #[test]
    fn what_differs_in_its_total_alone_has_it_in_its_name() {
        let samples = vec![of(64, 64), of(64, 4096), of(128, 4096)];
        let names = ["pipe, one message", "pipe, 4 KiB in all", "pipe, 4 KiB in all"];
        assert_eq!(series(samples), names);
    }

    #[test]
    fn what_no_other_differs_from_keeps_its_name() {
        assert_eq!(series(vec![of(64, 64), of(128, 128)]), ["pipe", "pipe"]);
    }
}
