//! Execution of the runs of compatibility programs.

use std::time::Duration;

use ipcperf_engine::placement::Topology;
use ipcperf_model::message_options::Reply;
use ipcperf_model::placement::Placement;
use ipcperf_model::workload::Kind;
use ipcperf_model::{Failure, FailureKind, Measurement, Repeats, Rest, RunSpec};

use super::ended::Ended;
use crate::runner::{Alone, Stopped, Told};
use ipcperf_plan::{Watched, obstacle};

/// Minimum timeout of a run.
const LEAST_DEADLINE: Duration = Duration::from_secs(60);
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
    spec.workload = Kind::RequestReply;
    spec.handling.reply = reply;
    spec
}

/// Returns `count` phases in one pair of peers.
pub(super) const fn repeats(count: u32, rest: Rest) -> Option<Repeats> {
    Some(Repeats { count, rest })
}

/// Returns the CPUs of `placement`.
///
/// # Errors
/// Fails if this machine has no such CPUs.
pub(super) fn cpus(placement: Placement) -> Result<Option<[u32; 2]>, Ended> {
    let topology = Topology::read().map_err(|errno| Ended::because(&errno.to_string()))?;
    topology.resolve(placement).map_err(|error| Ended::because(&error.to_string()))
}

/// Executor of the runs of a program.
#[derive(Debug)]
pub(super) struct Carrier<'a> {
    name: &'a str,
    alone: Alone,
}

impl<'a> Carrier<'a> {
    /// Creates the executor for the program `name`.
    ///
    /// # Errors
    /// Fails if signals cannot be caught.
    pub(super) fn ready(name: &'a str) -> Result<Self, Ended> {
        let alone = Alone::ready().map_err(|error| Ended::because(&format!("{name}: {error}")))?;
        // Scripts that trace the original find it by its name.
        Ok(Self { name, alone: alone.called(name) })
    }

    /// Executes `spec` and returns the measurement.
    ///
    /// # Errors
    /// Returns the reason why the run was stopped.
    pub(super) fn measure(&mut self, spec: &RunSpec) -> Result<Measurement, Ended> {
        let ran = self.run(spec, &Watched::default());
        ran.map(|(measured, _)| measured).map_err(|why| Ended::stopped(self.name, &why))
    }

    /// Executes `spec` and returns the measurement and what the instruments of `watched` reported.
    ///
    /// # Errors
    /// Returns the reason why the run was stopped.
    pub(super) fn run(
        &mut self,
        spec: &RunSpec,
        watched: &Watched,
    ) -> Result<(Measurement, Vec<Told>), Stopped> {
        match obstacle(spec).or_else(|| too_many(spec)) {
            Some(why) => Err(Stopped::Failed(Failure::new(FailureKind::SetUp, why))),
            None => self.alone.run(spec, watched, deadline(spec)),
        }
    }
}

/// Maximum number of phases per run: the result of each is stored until the end.
pub(super) const MOST_PHASES: u32 = 1_000_000;

/// Returns an error message if `spec` has more phases than one pair of peers may run.
fn too_many(spec: &RunSpec) -> Option<String> {
    let count = spec.repeats.map_or(1, |repeats| repeats.count);
    (count > MOST_PHASES)
        .then(|| format!("{count} times in one pair of parties: at most {MOST_PHASES} are kept"))
}

/// Returns the timeout of `spec`, which ends a run that hangs but not one that is slow.
fn deadline(spec: &RunSpec) -> Duration {
    let phases = spec.repeats.map_or(1, |repeats| u64::from(repeats.count.max(1)));
    // Calibration sends at least a few messages and their replies, however large.
    let total_bytes = spec.total_bytes.unwrap_or(spec.buffer_bytes.saturating_mul(4));
    let messages = total_bytes / spec.buffer_bytes.max(1);
    let phase_ns = messages
        .saturating_mul(NS_PER_MESSAGE)
        .saturating_add(total_bytes.saturating_mul(NS_PER_BYTE))
        .saturating_add(if spec.total_bytes.is_none() { NS_PER_PHASE } else { 0 })
        .saturating_add(spec.repeats.map_or(0, |repeats| match repeats.rest {
            Rest::None => 0,
            Rest::Settle => NS_PER_REST,
        }));
    LEAST_DEADLINE.saturating_add(Duration::from_nanos(phase_ns.saturating_mul(phases)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_moves_more_may_take_longer_and_nothing_overflows() {
        let of = |total_bytes, buffer_bytes, count| {
            let repeats = repeats(count, Rest::Settle);
            deadline(&RunSpec { total_bytes, repeats, ..RunSpec::usual("pipe", buffer_bytes) })
        };
        assert!(of(Some(1 << 24), 1, 1) > Duration::from_secs(16_000));
        assert!(of(Some(1 << 24), 1 << 24, 1) < Duration::from_secs(120));
        assert!(of(Some(u64::MAX), 1, u32::MAX) >= LEAST_DEADLINE);
        let calibrated =
            RunSpec { repeats: repeats(100_000, Rest::None), ..RunSpec::usual("pipe", 1) };
        assert!(
            deadline(&calibrated) > Duration::from_secs(100_000 / 40),
            "each is aimed at 21 ms"
        );
    }
}
