//! `ring`: `shm-ring` on two CPUs compared with limits of the hardware.
//!
//! A round of measurements is: memcpy, a stream of 1 MiB, memcpy, round trips of 1 byte. The stream is compared with
//! the mean of the two memcpy measurements around it, the round trips with the mean of the cache-line probes just
//! before and after them, which are part of the run.

use std::time::{Duration, Instant};

use ipcperf_engine::find_disturbance;
use ipcperf_engine::limits::copy::hot_bytes_per_s;
use ipcperf_model::placement::Placement;
use ipcperf_model::workload::WorkloadKind;
use ipcperf_model::{Measurement, RunSpec};

use crate::arguments::RingArguments;
use crate::distance::Distance;
use crate::error::BenchError;
use crate::estimate::Estimate;
use crate::finding::{Bar, Finding, Position, Question, Unit};
use crate::output::announce;
use crate::pinned::on_cpu;
use crate::program::{Ipcperf, cpus, spec};

/// Size of a message in the stream, and of a copy.
const STREAM_BYTES: u64 = 1 << 20;
/// Duration of each memcpy measurement.
const COPY_TIME: Duration = Duration::from_millis(10);
/// Minimum and maximum number of rounds.
const MIN_ROUNDS: usize = 30;
const MAX_ROUNDS: usize = 300;
/// Time after which no further round starts, once the minimum is reached.
const MAX_TIME: Duration = Duration::from_secs(90);

/// Ratios of one workload at one distance, and their bar.
#[derive(Debug)]
struct Series {
    workload: WorkloadKind,
    distance: Distance,
    bar: Bar,
    ratios: Vec<f64>,
}

/// Results so far.
#[derive(Debug)]
struct RingResults {
    series: [Series; 4],
    rounds: usize,
    /// Runs left out, by workload: stream, round trip.
    left_out: [usize; 2],
}

/// Measures both workloads.
pub(crate) fn measure(ipcperf: &Ipcperf, arguments: RingArguments) -> Vec<Finding> {
    let mut seen = RingResults::new();
    let trouble = match cpus(Placement::Split) {
        Err(why) => {
            return untestable(&seen, &why);
        }
        Ok(cpus) => {
            seen.measure_rounds(ipcperf, cpus, Duration::from_secs(arguments.patience)).err()
        }
    };
    let finding = |series: &Series| match &trouble {
        Some(trouble) => series.question().failed(trouble),
        None => series.finding(seen.rounds, seen.left_out[index(series.workload)]),
    };
    seen.series.iter().map(finding).map(announce).collect()
}

fn untestable(seen: &RingResults, why: &str) -> Vec<Finding> {
    seen.series.iter().map(|one| announce(one.question().untestable(why))).collect()
}

const fn index(workload: WorkloadKind) -> usize {
    workload.is_answered() as usize
}

impl RingResults {
    fn new() -> Self {
        let empty =
            |workload, distance, bar| Series { workload, distance, bar, ratios: Vec::new() };
        let series = [
            empty(WorkloadKind::RoundTrip, Distance::Close, Bar::AtMost(1.7)),
            empty(WorkloadKind::RoundTrip, Distance::Far, Bar::AtMost(1.3)),
            empty(WorkloadKind::Stream, Distance::Close, Bar::AtLeast(0.95)),
            empty(WorkloadKind::Stream, Distance::Far, Bar::AtLeast(0.6)),
        ];
        Self { series, rounds: 0, left_out: [0; 2] }
    }

    /// Makes rounds until all series with values are decided, and for up to `patience` until every series has values.
    fn measure_rounds(
        &mut self,
        ipcperf: &Ipcperf,
        cpus: [u32; 2],
        patience: Duration,
    ) -> Result<(), BenchError> {
        let start = Instant::now();
        let stream = spec("shm-ring", WorkloadKind::Stream, cpus, STREAM_BYTES);
        let round_trip = spec("shm-ring", WorkloadKind::RoundTrip, cpus, 1);
        while self.rounds < MIN_ROUNDS
            || (self.rounds < MAX_ROUNDS && start.elapsed() < MAX_TIME && !self.is_decided())
            || (start.elapsed() < patience && !self.series.iter().all(Series::is_decided))
        {
            self.rounds += 1;
            self.stream(ipcperf, &stream, cpus[0])?;
            self.round_trip(ipcperf, &round_trip)?;
        }
        Ok(())
    }

    fn stream(&mut self, ipcperf: &Ipcperf, spec: &RunSpec, cpu: u32) -> Result<(), BenchError> {
        let before = copy_bytes_per_s(cpu)?;
        let measured = ipcperf.measure(spec)?;
        let beside = f64::midpoint(before, copy_bytes_per_s(cpu)?);
        self.record(spec, &measured, bandwidth(&measured) / beside);
        Ok(())
    }

    fn round_trip(&mut self, ipcperf: &Ipcperf, spec: &RunSpec) -> Result<(), BenchError> {
        let measured = ipcperf.measure(spec)?;
        let mean_ns =
            measured.round_trips.as_ref().map_or(f64::NAN, |trips| trips.latencies.mean_ns);
        let [before, after] = measured.cacheline_round_trip_ns.unwrap_or([f64::NAN; 2]);
        self.record(spec, &measured, mean_ns / f64::midpoint(before, after));
        Ok(())
    }

    fn record(&mut self, spec: &RunSpec, measured: &Measurement, ratio: f64) {
        let distance = Distance::from_measurement(measured);
        let Some(distance) = distance.filter(|_| find_disturbance(spec, measured).is_none()) else {
            self.left_out[index(spec.workload)] += 1;
            return;
        };
        let fits = |one: &&mut Series| one.workload == spec.workload && one.distance == distance;
        if let Some(series) = self.series.iter_mut().find(fits) {
            series.ratios.push(ratio);
        }
    }

    /// Whether each workload has values at some distance, and all series with values are decided.
    fn is_decided(&self) -> bool {
        let shown = || self.series.iter().filter(|one| !one.ratios.is_empty());
        let has_shown = |workload| shown().any(|one| one.workload == workload);
        has_shown(WorkloadKind::Stream)
            && has_shown(WorkloadKind::RoundTrip)
            && shown().all(Series::is_decided)
    }
}

#[allow(clippy::cast_precision_loss, reason = "a rate, good to 53 bits")]
fn bandwidth(measured: &Measurement) -> f64 {
    measured.arrived_bytes as f64 * 1e9 / measured.elapsed_ns as f64
}

/// Measures memcpy in the cache of `cpu`. In a separate thread, so that processes started by this one do not inherit
/// the pinning.
fn copy_bytes_per_s(cpu: u32) -> Result<f64, BenchError> {
    let copied = on_cpu(cpu, || hot_bytes_per_s(1 << 20, COPY_TIME)).and_then(|copied| copied);
    copied.map_err(|errno| BenchError::System("memcpy of 1 MiB", errno))
}

impl Series {
    fn question(&self) -> Question {
        let distance = self.distance.name();
        let what = match self.workload.is_answered() {
            true => "round trip 1 B / cache line",
            false => "stream 1 MiB / hot memcpy",
        };
        let case = format!("{what}, {distance} CPUs");
        Question { bench: "ring", case, unit: Unit::Ratio, bar: self.bar }
    }

    /// Returns the estimate, if there are enough values for an interval.
    fn estimate(&self) -> Option<Estimate> {
        Estimate::from_values(&self.ratios).filter(|estimate| estimate.interval.is_some())
    }

    fn is_decided(&self) -> bool {
        let position = self.estimate().map(|estimate| self.bar.position(&estimate));
        matches!(position, Some(Position::Within | Position::Outside))
    }

    fn finding(&self, runs: usize, left_out: usize) -> Finding {
        let question = self.question();
        let note =
            format!("{left_out} of {runs} runs excluded: disturbed, or CPU distance changed");
        match self.estimate() {
            Some(estimate) => question.judge(estimate, (left_out > 0).then_some(note)),
            None if self.ratios.is_empty() => {
                question.untestable(format!("not found in {runs} runs; {note}"))
            }
            None => {
                let seen = self.ratios.len();
                question
                    .untestable(format!("found in {seen} of {runs} runs, but 6 are needed; {note}"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Verdict;

    #[test]
    fn a_distance_that_did_not_show_is_not_failed() {
        let mut seen = RingResults::new();
        assert_eq!(seen.series[0].finding(30, 0).verdict, Verdict::NotTestable);
        seen.series[0].ratios = vec![1.5; 5];
        assert_eq!(seen.series[0].finding(30, 0).verdict, Verdict::NotTestable);
        seen.series[0].ratios = vec![1.5; 6];
        assert_eq!(seen.series[0].finding(30, 0).verdict, Verdict::Met);
    }
}
