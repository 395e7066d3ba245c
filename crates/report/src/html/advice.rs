//! Recommended mechanisms for each message size on this machine, and the limits that bind them, as text.

use ipcperf_model::size::Bytes;
use ipcperf_model::units;
use ipcperf_results::analysis::{Bound, Comparison, Ranking, Side, Summarised, advice};
use maud::{Markup, html};

use super::lettered;
use crate::terminal::compared_in_words;

/// Maximum credible share of a hardware limit. Slightly more than 1 is noise of both measurements. Above this, the
/// limit does not apply, or its measurement was disturbed.
const BELIEVED: f64 = 1.1;
/// Names of the sizes.
const SIDES: [(Side, &str); 3] =
    [(Side::Smallest, "Small"), (Side::Middle, "Medium-sized"), (Side::Largest, "Large")];

pub(super) fn section(files: &[Summarised]) -> Markup {
    html! {
        @for (file, letter) in lettered(files) {
            @if let Some(letter) = letter { h3 { (letter) } }
            (of_file(file))
        }
        p.quiet {
            "Level means less than 5 % apart. Who is ahead is told for the harness's own loops, which \
             do nothing with the payload; what else tells mechanisms apart (message boundaries, \
             unrelated users, a peer that dies) is in ipcperf list mechanisms."
        }
    }
}

fn of_file(file: &Summarised) -> Markup {
    let sides = SIDES.map(|(side, name)| (name, advice(&file.summaries, side)));
    let mut told: Vec<_> = sides.into_iter().filter(|(_, all)| !all.is_empty()).collect();
    // With a single size, the smallest is also the largest.
    told.dedup_by(|(_, one), (_, other)| sizes(one) == sizes(other));
    html! {
        @if told.is_empty() { p { "Fewer than two mechanisms were measured: there is nothing to choose." } }
        dl { @for (name, comparisons) in &told {
            dt { (name) " messages: " (sizes(comparisons)) }
            @for comparison in comparisons {
                (one(comparison))
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

fn one(comparison: &Comparison) -> Markup {
    let limit = match comparison {
        Comparison::Ranked(ranking) => limit(ranking),
        Comparison::Undecided(_) | Comparison::Refused(_) => None,
    };
    html! {
        dd {
            (compared_in_words(comparison))
            @if let Some(limit) = limit { " " span.quiet { (limit) } }
        }
    }
}

/// Describes what limits the best mechanism, and its share of the limit.
fn limit(ranking: &Ranking) -> Option<String> {
    let roof = ranking.best.roof?;
    let (bound, share) = (roof.bound.in_a_sentence(), units::percent(roof.share));
    Some(if roof.share > BELIEVED && roof.bound == Bound::WakeUp {
        format!(
            "It takes less than two wake-ups across CPUs ({share}): its peers found most messages \
             before they fell asleep."
        )
    } else if roof.share > BELIEVED {
        format!(
            "It is faster than the limit that was measured for {bound} allows ({share}): the \
             machine held that measurement up, and what limits this is not known."
        )
    } else {
        format!("Limited by {bound}, of which it reaches {share}.")
    })
}

#[cfg(test)]
mod tests {
    use ipcperf_model::workload::Kind;
    use ipcperf_results::SetAside;
    use ipcperf_results::testing::sample;
    use ipcperf_results::testing::summarised;

    use super::section;

    /// Returns the section for two mechanisms with the given numbers of disturbed runs out of ten.
    fn told(disturbed: [u32; 2]) -> String {
        let mut samples = Vec::new();
        for ((mechanism, us), disturbed) in
            [("shm-ring", 2), ("pipe", 60)].into_iter().zip(disturbed)
        {
            for block in 0..=10 {
                let mut one = sample(mechanism, Kind::RequestReply, 64, block, us * 1_000_000);
                if (1..=disturbed).contains(&block) {
                    one.set_aside = Some(SetAside::Disturbed);
                }
                samples.push(one);
            }
        }
        section(&[summarised("file", samples, Vec::new())]).into_string()
    }

    #[test]
    fn no_survivor_is_advised_and_what_is_not_known_is_said() {
        assert!(
            told([0, 0]).contains("shortest request and reply: shm-ring, "),
            "{}",
            told([0, 0])
        );
        assert!(told([9, 0]).contains("reply: not known: shm-ring, "), "{}", told([9, 0]));
        assert!(told([10, 10]).contains("not known, as too few runs count of shm-ring (10 of 10"));
    }
}
