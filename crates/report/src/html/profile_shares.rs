//! Shares of the profile's samples by role and symbol group, over the buffer size.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use ipcperf_model::instrument::profile::Group;
use ipcperf_model::size::Bytes;
use ipcperf_model::units;
use ipcperf_results::analysis::{AnalyzedFile, CaseSummary, CountKind, CountedValue};
use maud::{Markup, html};

use super::lettered;
use crate::wording::{by_heading, metric_text};

/// Dimensions of a drawing: step from bar to bar, width of a bar, height of the bars, and room for text.
const BAR_STEP: f64 = 54.0;
const BAR_WIDTH: f64 = 40.0;
const BAR_HEIGHT: f64 = 200.0;
const LABEL_HEIGHT: f64 = 34.0;
const LEFT_MARGIN: f64 = 44.0;

/// The bars of one role of one series.
struct BarChart<'a> {
    title: String,
    /// Shares by buffer size.
    bars: BTreeMap<u64, Vec<(Group, &'a CountedValue)>>,
}

/// Whether there is anything to show.
pub(super) fn has_shares(files: &[AnalyzedFile]) -> bool {
    files.iter().any(|file| file.summaries.iter().any(|case| case.counted.iter().any(is_share)))
}

fn is_share(counted: &CountedValue) -> bool {
    counted.what.kind == CountKind::Share
}

pub(super) fn section(files: &[AnalyzedFile]) -> Markup {
    html! {
        figure.chart id="figure-shares" {
            h3 { "CPU time by function group and buffer size" }
            (legend(files))
            @for (file, letter) in lettered(files) {
                @if let Some(letter) = letter { h4 { (letter) } }
                div.panels { @for stack in bar_charts(file) { (bar_chart(&stack)) } }
            }
            figcaption {
                "Each bar shows how the samples of a peer divide among functions for copying, scheduling, locking, \
                 allocation, and kernel entry and exit. The shares are medians over the sampled \
                 runs; they differ a little from the profiles under Instruments, which pool the samples of these runs. \
                 Where copying dominates, the time depends on the number of bytes; where scheduling dominates, on the \
                 number of wake-ups. If a timer takes the samples, a sample that is due while interrupts are disabled counts for \
                 the function that enables interrupts again."
            }
        }
    }
}

/// Draws the legend of the groups that occur.
fn legend(files: &[AnalyzedFile]) -> Markup {
    let all = || files.iter().flat_map(|file| &file.summaries).flat_map(|case| &case.counted);
    let has_samples =
        |group: &Group| all().any(|one| is_share(one) && one.what.name == group.name());
    html! {
        div.legend { @for group in Group::ALL.into_iter().filter(has_samples) {
            span.guide-name {
                svg.swatch viewBox="0 0 12 12" width="12" height="12" aria-hidden="true" {
                    rect width="12" height="12" fill=(group.color()) {}
                }
                span { (group.name()) }
            }
        } }
    }
}

fn bar_charts(file: &AnalyzedFile) -> Vec<BarChart<'_>> {
    let mut stacks: Vec<BarChart<'_>> = Vec::new();
    for (heading, cases) in by_heading(&file.summaries) {
        for case in cases {
            for (role, shares) in by_role(case) {
                let workload = heading.workload().name();
                let place = heading.short_configuration();
                let title = format!("{} · {workload} · {place} · {role}", case.series());
                let bar = (case.case.buffer_bytes, shares);
                match stacks.iter_mut().find(|stack| stack.title == title) {
                    Some(stack) => drop(stack.bars.insert(bar.0, bar.1)),
                    None => stacks.push(BarChart { title, bars: BTreeMap::from([bar]) }),
                }
            }
        }
    }
    stacks
}

/// Returns the shares of each role, the sender first: the reverse of alphabetical order.
fn by_role(case: &CaseSummary) -> Vec<(&str, Vec<(Group, &CountedValue)>)> {
    let mut roles: BTreeMap<Reverse<&str>, Vec<(Group, &CountedValue)>> = BTreeMap::new();
    for group in Group::ALL {
        let of_group = |one: &&CountedValue| is_share(one) && one.what.name == group.name();
        for one in case.counted.iter().filter(of_group) {
            roles.entry(Reverse(&one.role)).or_default().push((group, one));
        }
    }
    roles.into_iter().map(|(Reverse(role), shares)| (role, shares)).collect()
}

fn bar_chart(stack: &BarChart<'_>) -> Markup {
    let width = LEFT_MARGIN + BAR_STEP * stack.bars.len() as f64;
    html! {
        div.panel-box {
            h4 { (stack.title) }
            svg.shares viewBox={ "0 0 " (width) " " (BAR_HEIGHT + LABEL_HEIGHT) } width=(width) role="img"
                aria-label={ "Shares of samples: " (stack.title) } {
                @for tenths in [0_u8, 5, 10] {
                    @let y = BAR_HEIGHT * (1.0 - f64::from(tenths) / 10.0) + 8.0;
                    text x=(LEFT_MARGIN - 6.0) y=(y + 4.0) text-anchor="end" font-size="11" {
                        (tenths * 10) " %"
                    }
                }
                @for (number, (bytes, shares)) in stack.bars.iter().enumerate() {
                    (bar(LEFT_MARGIN + BAR_STEP * number as f64, *bytes, shares))
                }
            }
        }
    }
}

/// Draws the groups of one size from the bottom up. The medians of the shares need not sum to 1, so heights are scaled
/// by their sum; the texts give the medians themselves.
fn bar(left: f64, bytes: u64, shares: &[(Group, &CountedValue)]) -> Markup {
    let sum: f64 = shares.iter().map(|(_, counted)| counted.spread.median).sum();
    let mut top = BAR_HEIGHT + 8.0;
    let parts = shares.iter().map(|(group, counted)| {
        let height = BAR_HEIGHT * counted.spread.median / sum.max(f64::MIN_POSITIVE);
        top -= height;
        (group, counted.spread, top, height)
    });
    let parts: Vec<_> = parts.collect();
    html! {
        @for (group, spread, top, height) in parts {
            rect fill=(group.color()) x=(left) width=(BAR_WIDTH)
                y=(format!("{top:.2}")) height=(format!("{height:.2}")) {
                title {
                    (Bytes(bytes)) ", " (group.name()) ": " (units::percent(spread.median)) " ("
                    (metric_text::middle_half(&spread, units::percent)) ")"
                }
            }
        }
        text x=(left + BAR_WIDTH / 2.0) y=(BAR_HEIGHT + 24.0) text-anchor="middle" font-size="11" { (Bytes(bytes)) }
    }
}
