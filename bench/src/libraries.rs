//! `libraries`: speed of `shm-ring` relative to iceoryx2's publish-subscribe, on two CPUs.
//!
//! A pair is one run of each, both in fresh processes; the order alternates. It counts if both runs saw their CPUs at
//! the same distance and neither was disturbed. With copying, both copy in and out; with loans, both write and read in
//! place and touch every byte.

use std::time::Instant;

use ipcperf_engine::find_disturbance;
use ipcperf_model::message_options::{MessageOptions, Touch};
use ipcperf_model::placement::Placement;
use ipcperf_model::workload::WorkloadKind;
use ipcperf_model::{Measurement, RunSpec};

use crate::arguments::LimitArguments;
use crate::distance::Distance;
use crate::error::BenchError;
use crate::estimate::Estimate;
use crate::finding::{Bar, Finding, Position, Question, Unit};
use crate::output::{announce, bytes};
use crate::program::{Ipcperf, cpus, spec};
use crate::sampling::{SamplingLimit, alternate};

/// Minimum number of pairs per figure.
const MIN_PAIRS: usize = 20;

/// How messages enter and leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Api {
    Copy,
    Loan,
}

/// A comparison, and the required speed of the ring relative to the library, for close and for far CPUs.
#[derive(Clone, Copy, Debug)]
struct Case {
    workload: WorkloadKind,
    api: Api,
    buffer_bytes: u64,
    min_ratio: [f64; 2],
}

const fn copying(workload: WorkloadKind, buffer_bytes: u64, least: [f64; 2]) -> Case {
    Case { workload, api: Api::Copy, buffer_bytes, min_ratio: least }
}

const COPYING: [Case; 7] = [
    copying(WorkloadKind::RoundTrip, 1, [5.0, 3.0]),
    copying(WorkloadKind::RoundTrip, 64 << 10, [1.7; 2]),
    copying(WorkloadKind::RoundTrip, 1 << 20, [1.7; 2]),
    copying(WorkloadKind::Stream, 64, [10.0; 2]),
    copying(WorkloadKind::Stream, 4 << 10, [3.0; 2]),
    copying(WorkloadKind::Stream, 64 << 10, [1.2; 2]),
    copying(WorkloadKind::Stream, 1 << 20, [1.2; 2]),
];

/// Message sizes for loans.
const LOANED: [u64; 9] =
    [64, 256, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20];

fn cases() -> impl Iterator<Item = Case> {
    let loaned = LOANED.into_iter().flat_map(|buffer_bytes| {
        [WorkloadKind::RoundTrip, WorkloadKind::Stream].map(|workload| Case {
            workload,
            api: Api::Loan,
            buffer_bytes,
            min_ratio: [1.0; 2],
        })
    });
    COPYING.into_iter().chain(loaned)
}

/// Measures every case.
pub(crate) fn measure(ipcperf: &Ipcperf, cap: LimitArguments) -> Vec<Finding> {
    let split = cpus(Placement::Split);
    let findings = cases().flat_map(|case| match &split {
        Err(why) => Distance::ALL.map(|distance| case.question(distance).untestable(why)),
        Ok(cpus) => match case.pairs(ipcperf, *cpus, cap.into()) {
            Ok(pairs) => Distance::ALL.map(|distance| pairs.finding(case, distance)),
            Err(trouble) => Distance::ALL.map(|distance| case.question(distance).failed(&trouble)),
        },
    });
    findings.map(announce).collect()
}

/// Speed of the ring relative to the library, at each distance.
#[derive(Debug, Default)]
struct LibraryPairs {
    ratios: [Vec<f64>; 2],
    left_out: usize,
}

impl Case {
    fn question(self, distance: Distance) -> Question {
        let what = match (self.workload, self.api) {
            (WorkloadKind::Stream, Api::Copy) => "stream",
            (WorkloadKind::Stream, Api::Loan) => "stream, loaned and touched",
            (_, Api::Copy) => "round trip",
            (_, Api::Loan) => "round trip, loaned and touched",
        };
        let size = bytes(self.buffer_bytes);
        let case = format!("iceoryx2-pubsub / shm-ring, {what} {size}, {} CPUs", distance.name());
        let bar = Bar::AtLeast(self.min_ratio[distance as usize]);
        Question { bench: "libraries", case, unit: Unit::Ratio, bar }
    }

    fn spec(self, mechanism: &str, cpus: [u32; 2]) -> RunSpec {
        let (api, touch) = match self.api {
            Api::Copy => ("copy", Touch::None),
            Api::Loan => ("loan", Touch::Both),
        };
        RunSpec {
            options: [("api".to_owned(), api.to_owned())].into(),
            message_options: MessageOptions { touch, ..MessageOptions::default() },
            ..spec(mechanism, self.workload, cpus, self.buffer_bytes)
        }
    }

    /// Makes pairs until the distances that occurred are decided by at least [`MIN_PAIRS`], or until `cap`.
    fn pairs(
        self,
        ipcperf: &Ipcperf,
        cpus: [u32; 2],
        cap: SamplingLimit,
    ) -> Result<LibraryPairs, BenchError> {
        let [ring, library] = ["shm-ring", "iceoryx2-pubsub"].map(|name| self.spec(name, cpus));
        let (start, mut pairs, mut made) = (Instant::now(), LibraryPairs::default(), 0);
        while made < MIN_PAIRS
            || (!pairs.is_decided(self) && made < cap.values && start.elapsed() < cap.time)
        {
            let run = |spec: &RunSpec| ipcperf.measure(spec);
            let (ours, theirs) = alternate(made, || run(&ring), || run(&library))?;
            made += 1;
            let is_good = find_disturbance(&ring, &ours).is_none()
                && find_disturbance(&library, &theirs).is_none();
            match (Distance::from_measurement(&ours), Distance::from_measurement(&theirs)) {
                (Some(one), Some(other)) if one == other && is_good => {
                    pairs.ratios[one as usize].push(message_ns(&theirs) / message_ns(&ours));
                }
                _ => pairs.left_out += 1,
            }
        }
        Ok(pairs)
    }
}

#[allow(clippy::cast_precision_loss, reason = "times and counts of one run")]
fn message_ns(measured: &Measurement) -> f64 {
    measured.elapsed_ns as f64 / measured.messages.max(1) as f64
}

impl LibraryPairs {
    fn estimate(&self, distance: Distance) -> Option<Estimate> {
        Estimate::from_values(&self.ratios[distance as usize])
            .filter(|known| known.interval.is_some())
    }

    /// Whether the distances that occurred are within or outside their bars, with enough pairs.
    fn is_decided(&self, case: Case) -> bool {
        let shown = Distance::ALL.iter().filter(|&&one| !self.ratios[one as usize].is_empty());
        let mut positions = shown.map(|&distance| {
            let bar = case.question(distance).bar;
            let known = self.estimate(distance).filter(|known| known.n >= MIN_PAIRS);
            known.map(|known| bar.position(&known))
        });
        positions.all(|one| matches!(one, Some(Position::Within | Position::Outside)))
    }

    fn finding(&self, case: Case, distance: Distance) -> Finding {
        let (question, left_out) = (case.question(distance), self.left_out);
        let note = format!("{left_out} pairs excluded: disturbed, or at different CPU distances");
        match self.estimate(distance) {
            Some(known) => question.judge(known, (left_out > 0).then_some(note)),
            None => question.untestable(format!("found in fewer than 6 pairs; {note}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Verdict;

    #[test]
    fn a_distance_that_did_not_show_is_not_failed() {
        let (case, mut pairs) = (COPYING[0], LibraryPairs::default());
        assert_eq!(pairs.finding(case, Distance::Close).verdict, Verdict::NotTestable);
        pairs.ratios[Distance::Far as usize] = vec![3.5; 20];
        assert_eq!(pairs.finding(case, Distance::Far).verdict, Verdict::Met);
        assert_eq!(pairs.finding(case, Distance::Close).verdict, Verdict::NotTestable);
        assert!(pairs.is_decided(case));
    }

    #[test]
    fn each_distance_has_its_own_bar() {
        let pairs = LibraryPairs { ratios: [vec![4.0; 20], vec![4.0; 20]], left_out: 0 };
        assert_eq!(pairs.finding(COPYING[0], Distance::Close).verdict, Verdict::NotMet);
        assert_eq!(pairs.finding(COPYING[0], Distance::Far).verdict, Verdict::Met);
    }
}
