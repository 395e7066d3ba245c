//! Shares of the profile's samples by role and symbol group, over the buffer size.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use ipcperf_model::instrument::profile::Group;
use ipcperf_model::size::Bytes;
use ipcperf_model::units;
use ipcperf_results::analysis::{CaseSummary, CountKind, Counted, Summarised};
use maud::{Markup, html};

use super::lettered;
use crate::wording::{by_heading, figure_text};

/// Dimensions of a drawing: step from bar to bar, width of a bar, height of the bars, and room for text.
const STEP: f64 = 54.0;
const BAR: f64 = 40.0;
const WHOLE: f64 = 200.0;
const WORDS: f64 = 34.0;
const LEFT: f64 = 44.0;

/// The bars of one role of one series.
struct Stack<'a> {
    title: String,
    /// Shares by buffer size.
    bars: BTreeMap<u64, Vec<(Group, &'a Counted)>>,
}

/// Whether there is anything to show.
pub(super) fn is_any(files: &[Summarised]) -> bool {
    files.iter().any(|file| file.summaries.iter().any(|case| case.counted.iter().any(is_share)))
}

fn is_share(counted: &Counted) -> bool {
    counted.what.kind == CountKind::Share
}

pub(super) fn section(files: &[Summarised]) -> Markup {
    html! {
        figure.chart id="figure-shares" {
            h3 { "What roles were at, by size" }
            (legend(files))
            @for (file, letter) in lettered(files) {
                @if let Some(letter) = letter { h4 { (letter) } }
                div.panels { @for stack in stacks(file) { (drawing(&stack)) } }
            }
            figcaption {
                "Shares of a role's samples at functions that copy, schedule, lock, allocate, or lead into the \
                 kernel and out of it: medians over the runs that were sampled. Where copying fills the bar, \
                 bytes bound the transfer; where scheduling does, waking does. A clock's samples come where \
                 interrupts are let in again: what runs with them off is told by who lets them in."
            }
        }
    }
}

/// Draws the legend of the groups that occur.
fn legend(files: &[Summarised]) -> Markup {
    let all = || files.iter().flat_map(|file| &file.summaries).flat_map(|case| &case.counted);
    let is_there = |group: &Group| all().any(|one| is_share(one) && one.what.name == group.word());
    html! {
        div.legend { @for group in Group::ALL.into_iter().filter(is_there) {
            span.guide-name {
                svg.swatch viewBox="0 0 12 12" width="12" height="12" aria-hidden="true" {
                    rect width="12" height="12" fill=(group.colour()) {}
                }
                span { (group.word()) }
            }
        } }
    }
}

fn stacks(file: &Summarised) -> Vec<Stack<'_>> {
    let mut stacks: Vec<Stack<'_>> = Vec::new();
    for (heading, cases) in by_heading(&file.summaries) {
        for case in cases {
            for (role, shares) in by_role(case) {
                let workload = heading.workload().name();
                let place = heading.place_in_short();
                let title = format!("{} · {workload} · {place} · {role}", case.series());
                let bar = (case.case.buffer_bytes, shares);
                match stacks.iter_mut().find(|stack| stack.title == title) {
                    Some(stack) => drop(stack.bars.insert(bar.0, bar.1)),
                    None => stacks.push(Stack { title, bars: BTreeMap::from([bar]) }),
                }
            }
        }
    }
    stacks
}

/// Returns the shares of each role, the sender first: the reverse of alphabetical order.
fn by_role(case: &CaseSummary) -> Vec<(&str, Vec<(Group, &Counted)>)> {
    let mut roles: BTreeMap<Reverse<&str>, Vec<(Group, &Counted)>> = BTreeMap::new();
    for group in Group::ALL {
        let of_group = |one: &&Counted| is_share(one) && one.what.name == group.word();
        for one in case.counted.iter().filter(of_group) {
            roles.entry(Reverse(&one.role)).or_default().push((group, one));
        }
    }
    roles.into_iter().map(|(Reverse(role), shares)| (role, shares)).collect()
}

fn drawing(stack: &Stack<'_>) -> Markup {
    let width = LEFT + STEP * stack.bars.len() as f64;
    html! {
        div.panel-box {
            h4 { (stack.title) }
            svg.shares viewBox={ "0 0 " (width) " " (WHOLE + WORDS) } width=(width) role="img"
                aria-label={ "Shares of samples: " (stack.title) } {
                @for tenths in [0_u8, 5, 10] {
                    @let y = WHOLE * (1.0 - f64::from(tenths) / 10.0) + 8.0;
                    text x=(LEFT - 6.0) y=(y + 4.0) text-anchor="end" font-size="11" {
                        (tenths * 10) " %"
                    }
                }
                @for (number, (bytes, shares)) in stack.bars.iter().enumerate() {
                    (bar(LEFT + STEP * number as f64, *bytes, shares))
                }
            }
        }
    }
}

/// Draws the groups of one size from the bottom up. The medians of the shares need not sum to 1, so heights are scaled
/// by their sum; the texts give the medians themselves.
fn bar(left: f64, bytes: u64, shares: &[(Group, &Counted)]) -> Markup {
    let sum: f64 = shares.iter().map(|(_, counted)| counted.spread.median).sum();
    let mut top = WHOLE + 8.0;
    let parts = shares.iter().map(|(group, counted)| {
        let height = WHOLE * counted.spread.median / sum.max(f64::MIN_POSITIVE);
        top -= height;
        (group, counted.spread, top, height)
    });
    let parts: Vec<_> = parts.collect();
    html! {
        @for (group, spread, top, height) in parts {
            rect fill=(group.colour()) x=(left) width=(BAR)
                y=(format!("{top:.2}")) height=(format!("{height:.2}")) {
                title {
                    (Bytes(bytes)) ", " (group.word()) ": " (units::percent(spread.median)) " (" (figure_text::middle_half(&spread, units::percent)) ")"
                }
            }
        }
        text x=(left + BAR / 2.0) y=(WHOLE + 24.0) text-anchor="middle" font-size="11" { (Bytes(bytes)) }
    }
}
