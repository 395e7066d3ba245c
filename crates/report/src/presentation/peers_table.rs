//! Tables of the peers of cases with several: a row for each mechanism, size and number of peers.

use ipcperf_model::rate::PerSecond;
use ipcperf_model::units;
use ipcperf_model::workload::Arrangement;
use ipcperf_results::analysis::{CaseSummary, PeersSummary, Spread};

use super::text_table::{SizeColumn, TextTable};
use crate::wording::{Heading, by_heading};

/// Explanation of the columns, below the tables.
pub const PEERS_LEGEND: &str = "in total: messages, or round trips, of all peers per second. slowest, fastest: those of the \
    slowest and of the fastest peer. fairness: slowest / fastest of a run, so that 1 means that all were equally fast. All values \
    are medians over the repetitions, each column by itself. --out FILE stores every peer of every run (lines of kind peer)";
/// Headings of the columns after the name and the size.
const FIGURES: [&str; 4] = ["in total", "slowest", "fastest", "fairness"];

/// Returns the tables of the cases of `summaries` with several peers.
#[must_use]
pub fn peers_tables(summaries: &[CaseSummary]) -> Vec<TextTable> {
    let headings = by_heading(summaries).into_iter();
    headings.filter_map(|(heading, cases)| table(&heading, &cases)).collect()
}

fn table(heading: &Heading, cases: &[&CaseSummary]) -> Option<TextTable> {
    let rated: Vec<(&CaseSummary, &PeersSummary)> =
        cases.iter().filter_map(|case| Some((*case, case.peer_rates.as_ref()?))).collect();
    if rated.is_empty() {
        return None;
    }
    let sizes = SizeColumn::new(cases);
    let row = |(case, peers): &(&CaseSummary, &PeersSummary)| {
        sizes.cells(case.series(), case).chain(figures(peers)).collect()
    };
    let one = match heading.workload().facts().arrangement {
        Arrangement::ManyToOne if heading.workload().is_answered() => "client",
        Arrangement::ManyToOne => "sender",
        Arrangement::OneToMany => "receiver",
        Arrangement::Pairs | Arrangement::OnePair => "pair",
    };
    let (workload, configuration) = (heading.workload().name(), heading.configuration());
    Some(TextTable {
        heading: format!("Rate of each {one} ({workload}), {configuration}{}", sizes.heading_end()),
        header: sizes.names().iter().copied().chain(FIGURES).collect(),
        rows: rated.iter().map(row).collect(),
        notes: rated
            .iter()
            .flat_map(|(case, _)| [cost_note(case, one), scalability_note(case)])
            .flatten()
            .collect(),
    })
}

/// States the CPU time of one more peer.
fn cost_note(case: &CaseSummary, one: &str) -> Option<String> {
    let cost = case.peer_cost.as_ref()?;
    let peers: Vec<String> = cost.peers.iter().map(u32::to_string).collect();
    let rate = case.case.rate_per_s.map_or_else(String::new, |rate| PerSecond(rate).to_string());
    let message = if case.case.workload.is_answered() { "request" } else { "message" };
    let fewest = match cost.peers.first() {
        Some(1) | None => format!("1 {one}"),
        Some(fewest) => format!("{fewest} {one}s"),
    };
    let counted = match case.case.workload.facts().arrangement {
        Arrangement::OneToMany => "; here each message counts once, in CPU/msg each delivery",
        _ => "",
    };
    let [low, high] = cost.interval.map(signed_time);
    Some(format!(
        "{} at {rate}: each further {one} {} of CPU time per {message} (95 % interval {low} to {high}); with {fewest} a \
         {message} takes {} (straight line through {} {one}s{counted})",
        name_without_peers(case),
        effect(cost.cpu_ns_per_peer),
        units::time(cost.cpu_ns_with_fewest.max(0.0)),
        peers.join(", ")
    ))
}

/// Formats a change of a time: a larger number of peers may share wake-ups and save some.
fn effect(ns: f64) -> String {
    let verb = if ns < 0.0 { "saves" } else { "adds" };
    format!("{verb} {}", units::time(ns.abs()))
}

fn signed_time(ns: f64) -> String {
    if ns < 0.0 { format!("-{}", units::time(-ns)) } else { units::time(ns) }
}

/// States how the throughput grows with the number of pairs, or why that is not known.
fn scalability_note(case: &CaseSummary) -> Option<String> {
    let scalability = case.scalability.as_ref()?;
    let name = name_without_peers(case);
    let Some(fit) = &scalability.fit else {
        return scalability.reason.as_ref().map(|reason| format!("{name}: {reason}"));
    };
    let within = |interval: Option<[f64; 2]>| {
        interval.map_or_else(String::new, |[low, high]| format!(" ({low:.3} to {high:.3})"))
    };
    let peak = match fit.peak_pairs {
        Some(pairs) => format!("most throughput with {pairs:.0} pairs"),
        None => "throughput that grows with every pair".to_owned(),
    };
    Some(format!(
        "{name}: universal scalability law: contention {:.3}{}, coherency {:.4}{}, {peak}",
        fit.contention,
        within(fit.contention_interval),
        fit.coherency,
        within(fit.coherency_interval),
    ))
}

/// Returns the mechanism with its options and other settings, without its number of peers.
fn name_without_peers(case: &CaseSummary) -> String {
    let mut case = case.clone();
    case.case.peers = None;
    case.series()
}

fn figures(peers: &PeersSummary) -> [String; 4] {
    let rate = |spread: Spread| units::rate(spread.median);
    [
        rate(peers.total_per_s),
        rate(peers.slowest_per_s),
        rate(peers.fastest_per_s),
        format!("{:.2}", peers.fairness.median),
    ]
}
