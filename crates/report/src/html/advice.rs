//! Recommended mechanisms for each message size on this machine, and the limits that bind them, as text.

use ipcperf_model::size::Bytes;
use ipcperf_results::analysis::{AnalyzedFile, ComparedSize, Comparison, comparisons_at};
use maud::{Markup, html};

use super::lettered;
use crate::terminal::comparison_text;
use crate::wording::limit_text;

/// Names of the sizes.
const SIDES: [(ComparedSize, &str); 3] = [
    (ComparedSize::Smallest, "Small"),
    (ComparedSize::Middle, "Medium-sized"),
    (ComparedSize::Largest, "Large"),
];

pub(super) fn section(files: &[AnalyzedFile]) -> Markup {
    html! {
        @for (file, letter) in lettered(files) {
            @if let Some(letter) = letter { h3 { (letter) } }
            (file_section(file))
        }
        p.quiet {
            "Tied means that the two mechanisms differ by less than 5 %. Unless --touch is given, the peers do not \
             write or read the payload; a real program does. Mechanisms also differ in message boundaries, use by \
             unrelated processes, and detection of a dead peer: see ipcperf list mechanisms."
        }
    }
}

fn file_section(file: &AnalyzedFile) -> Markup {
    let sides = SIDES.map(|(side, name)| (name, comparisons_at(&file.summaries, side)));
    let mut groups: Vec<_> = sides.into_iter().filter(|(_, all)| !all.is_empty()).collect();
    // With a single size, the smallest is also the largest.
    groups.dedup_by(|(_, one), (_, other)| sizes(one) == sizes(other));
    html! {
        @if groups.is_empty() { p { "Fewer than two mechanisms were measured, so there is nothing to compare." } }
        dl { @for (name, comparisons) in &groups {
            dt { (name) " messages: " (sizes(comparisons)) }
            @for comparison in comparisons {
                (comparison_entry(comparison))
            }
        } }
    }
}

/// Returns the size of all comparisons, or that of each workload if they differ.
fn sizes(comparisons: &[Comparison]) -> String {
    let mut sizes: Vec<String> =
        comparisons.iter().map(|one| Bytes(one.buffer_bytes()).to_string()).collect();
    sizes.dedup();
    sizes.join(", ")
}

fn comparison_entry(comparison: &Comparison) -> Markup {
    let limit = match comparison {
        Comparison::Ranked(ranking) => limit_text(&ranking.best),
        Comparison::Undecided(_) | Comparison::Refused(_) => None,
    };
    html! {
        dd {
            (comparison_text(comparison))
            @if let Some(limit) = limit { " " span.quiet { (limit) } }
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
    fn no_survivor_is_advised_and_what_is_not_known_is_said() {
        assert!(
            render([0, 0]).contains("shortest request-reply time: shm-ring, "),
            "{}",
            render([0, 0])
        );
        assert!(render([9, 0]).contains("reply time: undecided: shm-ring, "), "{}", render([9, 0]));
        assert!(render([10, 10]).contains("unknown: too few valid runs of shm-ring (10 of 10"));
    }
}
