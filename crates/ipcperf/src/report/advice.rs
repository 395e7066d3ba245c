//! Which mechanism for which messages on this machine, and what limits it, in words.

use maud::{Markup, html};

use super::lettered;
use crate::output::{place_of, ranked_in_words, units};
use crate::plan::Bytes;
use crate::summary::{Comparison, Ranking, Side, Summarised, advice};

/// A share of a limit beyond this was held against a limit that is none; a little more than 1 is the
/// noise of both.
const BELIEVED: f64 = 1.1;
/// What the sizes are called.
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
    // The smallest of one size is the largest too.
    told.dedup_by(|(_, one), (_, other)| sizes(one) == sizes(other));
    html! {
        @if told.is_empty() { p { "Fewer than two mechanisms were measured: there is nothing to choose." } }
        dl { @for (name, comparisons) in &told {
            dt { (name) " messages: " (sizes(comparisons)) }
            @for comparison in comparisons {
                @if let Comparison::Ranked(ranking) = comparison { (one(ranking)) }
            }
        } }
    }
}

/// The size of all, or of each workload where they differ.
fn sizes(comparisons: &[Comparison]) -> String {
    let sizes = comparisons.iter().filter_map(|comparison| match comparison {
        Comparison::Ranked(ranking) => Some(Bytes(ranking.buffer_bytes).to_string()),
        Comparison::Refused(_) => None,
    });
    let mut sizes: Vec<String> = sizes.collect();
    sizes.dedup();
    sizes.join(", ")
}

fn one(ranking: &Ranking) -> Markup {
    html! {
        dd {
            (place_of(ranking)) ": " (ranked_in_words(ranking))
            @if let Some(limit) = limit(ranking) { " " span.quiet { (limit) } }
        }
    }
}

/// What limits the best, and how near it comes.
fn limit(ranking: &Ranking) -> Option<String> {
    let roof = ranking.best.roof?;
    let (bound, share) = (roof.bound.in_a_sentence(), units::percent(roof.share));
    Some(if roof.share > BELIEVED {
        format!(
            "It is faster than the limit that was measured for {bound} allows ({share}): the \
             machine held that measurement up, and what limits this is not known."
        )
    } else {
        format!("Limited by {bound}, of which it reaches {share}.")
    })
}
