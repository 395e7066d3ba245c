//! Execution of the runs of compatibility programs.

use std::time::Duration;

use ipcperf_engine::placement::Topology;
use ipcperf_model::message_options::Reply;
use ipcperf_model::placement::Placement;
use ipcperf_model::workload::WorkloadKind;
use ipcperf_model::{Failure, FailureKind, Measurement, PhasePause, RepeatedPhases, RunSpec};

use super::program_exit::ProgramExit;
use crate::runner::{InstrumentObservation, SingleRunner, Stopped};
use ipcperf_plan::{CaseInstruments, find_obstacle};

/// Minimum timeout of a run.
const MIN_TIMEOUT: Duration = Duration::from_secs(60);
/// Upper limits for a message and for a byte; slower is a hang. TCP with small buffers waits up to 40 ms for an
/// acknowledgement.
const NS_PER_MESSAGE: u64 = 50_000_000;
const NS_PER_BYTE: u64 = 1_000;
/// Maximum overhead of a phase whose total is found by calibration; its target is 21 ms.
const NS_PER_PHASE: u64 = 500_000_000;
/// Maximum duration of a rest, including the flush of file systems.
const NS_PER_REST: u64 = 30_000_000_000;

/// Returns `spec` with `options` added.
pub(super) fn with_options(mut spec: RunSpec, options: &[(&str, &str)]) -> RunSpec {
    let owned = options.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    spec.options.extend(owned);
    spec
}

/// Returns `spec` with requests that are answered by `reply`.
pub(super) fn with_reply(mut spec: RunSpec, reply: Reply) -> RunSpec {
    spec.workload = WorkloadKind::RequestReply;
    spec.message_options.reply = reply;
    spec
}

/// Returns `count` phases in one pair of peers.
pub(super) const fn repeats(count: u32, rest: PhasePause) -> Option<RepeatedPhases> {
    Some(RepeatedPhases { count, rest })
}

/// Returns the CPUs of `placement`.
///
/// # Errors
/// Fails if this machine has no such CPUs.
pub(super) fn cpus(placement: Placement) -> Result<Option<[u32; 2]>, ProgramExit> {
    let topology = Topology::read().map_err(|errno| ProgramExit::os_error(&errno.to_string()))?;
    topology.resolve(placement).map_err(|error| ProgramExit::os_error(&error.to_string()))
}

/// Executor of the runs of a program.
#[derive(Debug)]
pub(super) struct ProgramRunner<'a> {
    name: &'a str,
    runner: SingleRunner,
}

impl<'a> ProgramRunner<'a> {
    /// Creates the executor for the program `name`.
    ///
    /// # Errors
    /// Fails if signals cannot be caught.
    pub(super) fn new(name: &'a str) -> Result<Self, ProgramExit> {
        let alone = SingleRunner::new()
            .map_err(|error| ProgramExit::os_error(&format!("{name}: {error}")))?;
        // Scripts that trace the original find it by its name.
        Ok(Self { name, runner: alone.with_comm(name) })
    }

    /// Executes `spec` and returns the measurement.
    ///
    /// # Errors
    /// Returns the reason why the run was stopped.
    pub(super) fn measure(&mut self, spec: &RunSpec) -> Result<Measurement, ProgramExit> {
        let ran = self.run(spec, &CaseInstruments::default());
        ran.map(|(measured, _)| measured).map_err(|why| ProgramExit::from_stopped(self.name, &why))
    }

    /// Executes `spec` and returns the measurement and what the instruments of `watched` reported.
    ///
    /// # Errors
    /// Returns the reason why the run was stopped.
    pub(super) fn run(
        &mut self,
        spec: &RunSpec,
        watched: &CaseInstruments,
    ) -> Result<(Measurement, Vec<InstrumentObservation>), Stopped> {
        match find_obstacle(spec).or_else(|| too_many_phases(spec)) {
            Some(why) => Err(Stopped::Failed(Failure::new(FailureKind::SetUp, why))),
            None => self.runner.run(spec, watched, timeout(spec)),
        }
    }
}

/// Maximum number of phases per run: the result of each is stored until the end.
pub(super) const MAX_PHASES: u32 = 1_000_000;

/// Returns an error message if `spec` has more phases than one pair of peers may run.
fn too_many_phases(spec: &RunSpec) -> Option<String> {
    let count = spec.repeats.map_or(1, |repeats| repeats.count);
    (count > MAX_PHASES)
        .then(|| format!("{count} phases in one pair of peers; the maximum is {MAX_PHASES}"))
}

/// Returns the timeout of `spec`, which ends a run that hangs but not one that is slow.
fn timeout(spec: &RunSpec) -> Duration {
    let phases = spec.repeats.map_or(1, |repeats| u64::from(repeats.count.max(1)));
    // Calibration sends at least a few messages and their replies, however large.
    let total_bytes = spec.total_bytes.unwrap_or(spec.buffer_bytes.saturating_mul(4));
    let messages = total_bytes / spec.buffer_bytes.max(1);
    let phase_ns = messages
        .saturating_mul(NS_PER_MESSAGE)
        .saturating_add(total_bytes.saturating_mul(NS_PER_BYTE))
        .saturating_add(if spec.total_bytes.is_none() { NS_PER_PHASE } else { 0 })
        .saturating_add(spec.repeats.map_or(0, |repeats| match repeats.rest {
            PhasePause::None => 0,
            PhasePause::Settle => NS_PER_REST,
        }));
    MIN_TIMEOUT.saturating_add(Duration::from_nanos(phase_ns.saturating_mul(phases)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_moves_more_may_take_longer_and_nothing_overflows() {
        let of = |total_bytes, buffer_bytes, count| {
            let repeats = repeats(count, PhasePause::Settle);
            timeout(&RunSpec {
                total_bytes,
                repeats,
                ..RunSpec::with_defaults("pipe", buffer_bytes)
            })
        };
        assert!(of(Some(1 << 24), 1, 1) > Duration::from_secs(16_000));
        assert!(of(Some(1 << 24), 1 << 24, 1) < Duration::from_secs(120));
        assert!(of(Some(u64::MAX), 1, u32::MAX) >= MIN_TIMEOUT);
        let calibrated = RunSpec {
            repeats: repeats(100_000, PhasePause::None),
            ..RunSpec::with_defaults("pipe", 1)
        };
        assert!(timeout(&calibrated) > Duration::from_secs(100_000 / 40), "each is aimed at 21 ms");
    }
}
