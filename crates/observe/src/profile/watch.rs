//! Samples every thread of every role, and aggregates the samples of the measured phase.

use ipcperf_model::Unavailable;
use ipcperf_model::instrument::profile::{KernelSymbols, SampledThreads};
use ipcperf_model::observation::Observation;
use rustix::io::Errno;

use super::aggregate::{self, ProfiledPhase, SampledRole};
use super::copy_detection::CopyRanges;
use super::event::{DEFAULT_EVENT, resolve};
use super::kallsyms::{self, KernelFunctions};
use super::mappings::Mappings;
use super::perf_event::{SampleConfig, SampledSpaces, try_open};
use super::refusal;
use super::sampling::Sampling;
use super::symbolize::KernelResolver;
use super::threads::{self, SampledThread};
use crate::counters::EventError;
use crate::{Member, RunResult, Targets, Watch};

/// Sampling frequency. Not higher, because in a virtual machine each timer interrupt can cost tens of us; and not a
/// multiple of the kernel's tick rate, because samples in step with the tick would always hit the same code.
const FREQUENCY_HZ: u64 = 1_999;

/// Checks each requested event without sampling any peer.
pub(super) fn available(events: &[String]) -> Result<Vec<Unavailable>, Unavailable> {
    let tried = requested_or_default(events).into_iter().map(|event| best_config(&event));
    let (usable, unusable): (Vec<_>, Vec<_>) = tried.partition(Result::is_ok);
    let mut unavailable: Vec<_> = unusable.into_iter().filter_map(Result::err).collect();
    if usable.is_empty() {
        return Err(unavailable.swap_remove(0));
    }
    // The restrictions of one event apply to all.
    unavailable.extend(usable.first().and_then(|manner| limitation(manner.as_ref().ok()?)));
    Ok(unavailable)
}

/// Returns what `manner` cannot sample, if anything.
fn limitation(config: &SampleConfig) -> Option<Unavailable> {
    match (config.spaces, config.sampled) {
        (SampledSpaces::UserOnly, _) => Some(refusal::no_kernel_samples()),
        (SampledSpaces::Both, SampledThreads::Threads) => Some(refusal::no_cpu_wide_sampling()),
        (SampledSpaces::Both, SampledThreads::Cpus) => None,
    }
}

/// Returns one group for each available event.
pub(super) fn divide(events: &[String]) -> Result<Vec<Vec<String>>, Unavailable> {
    let mut parts = Vec::new();
    for event in requested_or_default(events) {
        if let Err(EventError::UnknownEvent(why)) = resolve(&event) {
            return Err(why);
        }
        if best_config(&event).is_ok() {
            parts.push(vec![event]);
        }
    }
    Ok(parts)
}

/// Starts sampling `targets` by the one event of a group.
pub(super) fn arm(targets: &Targets, events: &[String]) -> Result<Box<dyn Watch>, Unavailable> {
    let event = requested_or_default(events).swap_remove(0);
    Ok(Box::new(ProfileWatch::new(targets, best_config(&event)?, kallsyms::check_readable())?))
}

fn requested_or_default(events: &[String]) -> Vec<String> {
    if events.is_empty() { vec![DEFAULT_EVENT.to_owned()] } else { events.to_vec() }
}

/// Finds the most complete way in which `event` may be sampled here.
fn best_config(event: &str) -> Result<SampleConfig, Unavailable> {
    let full = SampleConfig::new(event, FREQUENCY_HZ)?;
    let per_thread = SampleConfig { sampled: SampledThreads::Threads, ..full.clone() };
    let user_only = SampleConfig { spaces: SampledSpaces::UserOnly, ..per_thread.clone() };
    let mut refused = Errno::ACCESS;
    for config in [full, per_thread, user_only] {
        match try_open(&config) {
            Ok(()) => return Ok(config),
            Err(errno) => refused = errno,
        }
        if !matches!(refused, Errno::ACCESS | Errno::PERM) {
            break;
        }
    }
    Err(refusal::from_errno(event, refused))
}

#[derive(Debug)]
pub(super) struct ProfileWatch {
    manner: SampleConfig,
    roles: Vec<SampledRole>,
    /// Addresses at which the kernel copies, if its symbols are hidden.
    copies: Option<CopyRanges>,
    sampling: Sampling,
    run_result: Option<RunResult>,
}

impl ProfileWatch {
    pub(super) fn new(
        targets: &Targets,
        config: SampleConfig,
        symbols: KernelSymbols,
    ) -> Result<Self, Unavailable> {
        let must_infer = symbols == KernelSymbols::Hidden && config.spaces == SampledSpaces::Both;
        let copies = must_infer.then(CopyRanges::infer);
        let members = targets.members.iter();
        let role = |member: &Member| SampledRole {
            member: member.clone(),
            mappings: Mappings::from_pid(member.pid),
        };
        let roles = members.clone().map(role).collect();
        let threads: Vec<SampledThread> = members.flat_map(threads::list).collect();
        let sampling = Sampling::start(&config, &threads)?;
        Ok(Self { manner: config, roles, copies, sampling, run_result: None })
    }
}

impl Watch for ProfileWatch {
    fn set_run_result(&mut self, result: &RunResult) {
        self.run_result = Some(result.clone());
    }

    fn finish(self: Box<Self>) -> Result<Vec<Observation>, Unavailable> {
        let Self { manner, roles, copies, sampling, run_result } = *self;
        let taken = sampling.stop().map_err(|errno| refusal::from_errno(&manner.event, errno))?;
        let result = run_result.ok_or_else(missing_run_result)?;
        let kernel = (manner.spaces == SampledSpaces::Both).then(|| {
            copies.map_or_else(
                || KernelResolver::Symbols(KernelFunctions::read()),
                KernelResolver::Inferred,
            )
        });
        let end_ns = result.began_ns.saturating_add(result.elapsed_ns);
        let phase_ns = result.began_ns..=end_ns;
        let cpu_ns = &result.cpu_ns;
        let phase = ProfiledPhase { config: &manner, kernel: kernel.as_ref(), phase_ns, cpu_ns };
        Ok(aggregate::observations(&roles, &taken, &phase))
    }
}

fn missing_run_result() -> Unavailable {
    Unavailable {
        reason: "it is not known when the measured phase ran".to_owned(),
        remedy: "see why the run failed".to_owned(),
    }
}
