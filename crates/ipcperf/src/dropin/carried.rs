//! Runs as the programs have them carried out.

use std::time::Duration;

use ipcperf_engine::placement::Topology;
use ipcperf_model::message_options::Reply;
use ipcperf_model::placement::Placement;
use ipcperf_model::workload::Kind;
use ipcperf_model::{Failure, FailureKind, Measurement, Repeats, Rest, RunSpec};

use super::ended::Ended;
use crate::runner::{Alone, Stopped, Told};
use ipcperf_plan::{Watched, obstacle};

/// What every run may take.
const LEAST_DEADLINE: Duration = Duration::from_secs(60);
/// A message takes no longer, and neither does a kilobyte: slower is a hang. TCP with small buffers waits up to 40 ms
/// for an acknowledgement.
const NS_PER_MESSAGE: u64 = 50_000_000;
const NS_PER_BYTE: u64 = 1_000;
/// What a phase whose total is found takes at most, beside its messages: it is aimed at 21 ms.
const NS_PER_PHASE: u64 = 500_000_000;
/// What a rest takes, with the flush of file systems.
const NS_PER_REST: u64 = 30_000_000_000;

/// `spec` with its options set to `options`.
pub(super) fn with_options(mut spec: RunSpec, options: &[(&str, &str)]) -> RunSpec {
    let owned = options.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    spec.options.extend(owned);
    spec
}

/// `spec` with requests that are answered by `reply`.
pub(super) fn with_reply(mut spec: RunSpec, reply: Reply) -> RunSpec {
    spec.workload = Kind::RequestReply;
    spec.handling.reply = reply;
    spec
}

/// `count` phases in one pair of parties.
pub(super) const fn repeats(count: u32, rest: Rest) -> Option<Repeats> {
    Some(Repeats { count, rest })
}

/// The CPUs of `placement`.
///
/// # Errors
/// That this machine has none such.
pub(super) fn cpus(placement: Placement) -> Result<Option<[u32; 2]>, Ended> {
    let topology = Topology::read().map_err(|errno| Ended::because(&errno.to_string()))?;
    topology.resolve(placement).map_err(|error| Ended::because(&error.to_string()))
}

/// Whoever carries out the runs of a program.
#[derive(Debug)]
pub(super) struct Carrier<'a> {
    name: &'a str,
    alone: Alone,
}

impl<'a> Carrier<'a> {
    /// For the program `name`.
    ///
    /// # Errors
    /// That signals cannot be caught.
    pub(super) fn ready(name: &'a str) -> Result<Self, Ended> {
        let alone = Alone::ready().map_err(|error| Ended::because(&format!("{name}: {error}")))?;
        // Scripts that trace the original look for it by its name.
        Ok(Self { name, alone: alone.called(name) })
    }

    /// What `spec` comes to.
    ///
    /// # Errors
    /// What stopped it.
    pub(super) fn measure(&mut self, spec: &RunSpec) -> Result<Measurement, Ended> {
        let ran = self.run(spec, &Watched::default());
        ran.map(|(measured, _)| measured).map_err(|why| Ended::stopped(self.name, &why))
    }

    /// What `spec` comes to, and what the instruments of `watched` told.
    ///
    /// # Errors
    /// What stopped it.
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

/// What each phase came to is kept to the end.
pub(super) const MOST_PHASES: u32 = 1_000_000;

/// That more phases are asked of `spec` than one pair of parties plays.
fn too_many(spec: &RunSpec) -> Option<String> {
    let count = spec.repeats.map_or(1, |repeats| repeats.count);
    (count > MOST_PHASES)
        .then(|| format!("{count} times in one pair of parties: at most {MOST_PHASES} are kept"))
}

/// How long `spec` may take: a run that hangs ends, one that is slow does not.
fn deadline(spec: &RunSpec) -> Duration {
    let phases = spec.repeats.map_or(1, |repeats| u64::from(repeats.count.max(1)));
    // Where the total is found, at least a few messages are sent and answered, however large.
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
