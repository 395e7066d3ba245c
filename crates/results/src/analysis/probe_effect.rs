//! Probe effect: the effect of instruments on the runs that they observe.
//!
//! An instrumented case and its uninstrumented twin are paired by block, if both have a valid run of the same CPU
//! distance class in it. The compared figure is the time of a message or round trip.

use std::collections::{BTreeMap, HashMap};

use ipcperf_stats::{Bootstrap, cliffs_delta, median};

use super::ns_per_message;
use crate::{ProbeEffect, Sample};

/// Time of a message by block, ns.
type Times = BTreeMap<u32, f64>;

/// Runs of a case in one CPU distance class.
#[derive(Debug, Default)]
struct CaseTimes<'a> {
    cell: &'a str,
    instruments: &'a [String],
    times: Times,
}

/// Instrumented case, its twin, and the CPU distance class in which both were measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Pairing<'a> {
    instrumented: &'a str,
    twin: &'a str,
    class: Option<&'a str>,
}

/// Returns the effect on each case of `samples` that has a twin, in the order of their first appearance.
pub fn probe_effects(samples: &[Sample]) -> Vec<ProbeEffect> {
    let mut cases: HashMap<(&str, Option<&str>), CaseTimes<'_>> = HashMap::new();
    let mut pairings = Vec::new();
    for sample in samples.iter().filter(|sample| sample.excluded.is_none()) {
        let (id, class) = (sample.run.case.case_id.as_str(), sample.cpu_pair_class.as_deref());
        if let Some(watched) = sample.twin_of.as_deref() {
            let pairing = Pairing { instrumented: watched, twin: id, class };
            if !pairings.contains(&pairing) {
                pairings.push(pairing);
            }
        }
        let case = cases.entry((id, class)).or_default();
        case.cell = sample.run.case.cell();
        case.instruments = &sample.instruments;
        case.times.extend(ns_per_message(sample).map(|ns| (sample.run.block, ns)));
    }
    let effect = |pairing: &Pairing<'_>| {
        let class = pairing.class;
        effect(
            pairing,
            cases.get(&(pairing.instrumented, class))?,
            cases.get(&(pairing.twin, class))?,
        )
    };
    pairings.iter().filter_map(effect).collect()
}

fn effect(
    pairing: &Pairing<'_>,
    watched: &CaseTimes<'_>,
    twin: &CaseTimes<'_>,
) -> Option<ProbeEffect> {
    let both = watched.times.iter().filter_map(|(block, ns)| Some((*ns, *twin.times.get(block)?)));
    let (watched_ns, twin_ns): (Vec<f64>, Vec<f64>) = both.unzip();
    let ratios: Vec<f64> =
        watched_ns.iter().zip(&twin_ns).map(|(one, other)| one / other).collect();
    let interval = Bootstrap::default().median(&ratios);
    let own = watched.instruments.iter().filter(|name| !twin.instruments.contains(name));
    Some(ProbeEffect {
        case_id: pairing.instrumented.to_owned(),
        twin_case_id: pairing.twin.to_owned(),
        cell: twin.cell.to_owned(),
        instruments: own.cloned().collect(),
        cpu_pair_class: pairing.class.map(str::to_owned),
        slowdown: median(&ratios)?,
        slowdown_interval: interval.map(|interval| [interval.low, interval.high]),
        cliffs_delta: cliffs_delta(&watched_ns, &twin_ns)?,
        pairs: ratios.len(),
    })
}

#[cfg(test)]
mod tests {
    use ipcperf_model::workload::WorkloadKind;

    use super::*;
    use crate::ExclusionReason;
    use crate::testing::sample;

    /// Returns a run of the instrumented case, or of its twin, in `block`.
    fn run(is_twin: bool, block: u32, elapsed_ns: u64) -> Sample {
        let mut sample = sample("pipe", WorkloadKind::Stream, 64, block, elapsed_ns);
        sample.run.case.case_id = if is_twin { "twin" } else { "watched" }.to_owned();
        sample.twin_of = is_twin.then(|| "watched".to_owned());
        sample.instruments = if is_twin { vec![] } else { vec!["syscalls".to_owned()] };
        sample
    }

    #[test]
    fn watched_runs_are_held_against_their_twins_of_the_same_block() {
        let mut samples: Vec<Sample> = (1..=8)
            .flat_map(|block| {
                let ns = u64::from(block) * 1_000_000;
                [run(true, block, ns), run(false, block, 2 * ns)]
            })
            .collect();
        samples.push(run(false, 9, 1));
        samples[15].excluded = Some(ExclusionReason::Disturbed);
        let effects = probe_effects(&samples);
        let [effect] = effects.as_slice() else { panic!("one case was watched") };
        assert_eq!(
            (effect.pairs, effect.slowdown),
            (7, 2.0),
            "block 8 was disturbed, 9 has no twin"
        );
        assert_eq!(effect.slowdown_interval, Some([2.0, 2.0]));
        assert_eq!(effect.instruments, ["syscalls"]);
        assert!(effect.cliffs_delta > 0.3 && effect.cliffs_delta < 1.0);
    }

    #[test]
    fn cases_without_a_twin_have_no_effect() {
        let samples = [run(false, 1, 1_000), sample("pipe", WorkloadKind::Stream, 64, 1, 1_000)];
        assert_eq!(probe_effects(&samples), []);
    }
}
