//! Sampling events of threads or CPUs, and the rings that they write into.

use std::collections::{BTreeMap, BTreeSet};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use ipcperf_model::Unavailable;
use ipcperf_model::instrument::profile::SampledThreads;
use perf_event_open_sys::ioctls;
use rustix::io::Errno;
use rustix::param::page_size;

use super::perf_event::{SampleConfig, check_result, open};
use super::refusal;
use super::ring::{Ring, RingContent};
use super::sample::Sample;
use super::threads::{ALL_THREADS, SampledThread};

/// Maximum total size of all rings if locked memory is not limited, unless there are many CPUs, bytes.
const MAX_TOTAL_BYTES: usize = 64 << 20;
/// Maximum size of one ring, bytes: 2,000 samples per second of 250 bytes for 16 s.
const MAX_RING_BYTES: usize = 8 << 20;
const MIN_RING_BYTES: usize = 1 << 20;

/// Events that write into the same ring, by CPU.
type ByCpu = BTreeMap<i32, Vec<OwnedFd>>;

/// Active sampling events. Dropping the value closes them.
#[derive(Debug)]
pub(super) struct Sampling {
    /// Declared first, so that rings are unmapped before the events they belong to are closed.
    rings: Vec<Ring>,
    events: Vec<OwnedFd>,
}

/// Samples that were taken.
#[derive(Debug, Default)]
pub(super) struct CollectedSamples {
    /// Samples of the requested threads, possibly mixed with those of others, ordered by time.
    pub(super) samples: Vec<Sample>,
    /// Time since which no sample was overwritten, on the monotonic clock, ns.
    pub(super) complete_since_ns: u64,
}

impl Sampling {
    /// Starts sampling `threads`.
    ///
    /// # Errors
    /// The reason why none, or not all, of them can be sampled.
    pub(super) fn start(
        config: &SampleConfig,
        threads: &[SampledThread],
    ) -> Result<Self, Unavailable> {
        let refused = |errno| refusal::from_errno(&config.event, errno);
        let by_cpu = match config.sampled {
            SampledThreads::Cpus => open_on_cpus(config, threads),
            SampledThreads::Threads => open_on_threads(config, threads),
        };
        let by_cpu = by_cpu.map_err(refused)?;
        let rings = map_rings(&by_cpu).map_err(refusal::no_ring_memory)?;
        let events: Vec<OwnedFd> = by_cpu.into_values().flatten().collect();
        let sampling = Self { rings, events };
        sampling.set_state(EventState::Enabled).map_err(refused)?;
        Ok(sampling)
    }

    /// Stops sampling and returns the samples.
    ///
    /// # Errors
    /// An event could not be disabled.
    pub(super) fn stop(self) -> Result<CollectedSamples, Errno> {
        self.set_state(EventState::Disabled)?;
        let mut taken = CollectedSamples::default();
        for content in self.rings.iter().map(Ring::content) {
            taken.add(&content);
        }
        taken.samples.sort_by_key(|sample| sample.time_ns);
        Ok(taken)
    }

    fn set_state(&self, to: EventState) -> Result<(), Errno> {
        for event in &self.events {
            let fd = event.as_raw_fd();
            // SAFETY: the descriptor belongs to this value, and the call takes no pointer.
            let result = unsafe {
                match to {
                    EventState::Enabled => ioctls::ENABLE(fd, 0),
                    EventState::Disabled => ioctls::DISABLE(fd, 0),
                }
            };
            check_result(result)?;
        }
        Ok(())
    }
}

impl CollectedSamples {
    fn add(&mut self, content: &RingContent) {
        let samples: Vec<Sample> = content.records.iter().filter_map(Sample::parse).collect();
        if content.has_overwritten {
            // The newest record is first.
            let oldest_ns = samples.last().map_or(u64::MAX, |sample| sample.time_ns);
            self.complete_since_ns = self.complete_since_ns.max(oldest_ns);
        }
        self.samples.extend(samples);
    }
}

fn open_on_cpus(config: &SampleConfig, threads: &[SampledThread]) -> Result<ByCpu, Errno> {
    let cpus: BTreeSet<i32> = threads.iter().flat_map(|thread| thread.cpus.clone()).collect();
    cpus.into_iter().map(|cpu| Ok((cpu, vec![open(config, &ALL_THREADS, cpu)?]))).collect()
}

fn open_on_threads(config: &SampleConfig, threads: &[SampledThread]) -> Result<ByCpu, Errno> {
    let mut by_cpu = ByCpu::new();
    for thread in threads {
        for &cpu in &thread.cpus {
            match open(config, thread, cpu) {
                // Threads of a daemon may exit at any time.
                Err(Errno::SRCH) => {}
                opened => by_cpu.entry(cpu).or_default().push(opened?),
            }
        }
    }
    Ok(by_cpu)
}

#[derive(Clone, Copy, Debug)]
enum EventState {
    Enabled,
    Disabled,
}

/// Maps one ring per CPU, as large as the kernel allows.
fn map_rings(by_cpu: &ByCpu) -> Result<Vec<Ring>, Errno> {
    let share = (MAX_TOTAL_BYTES / by_cpu.len().max(1)).next_power_of_two();
    let mut bytes = share.clamp(MIN_RING_BYTES, MAX_RING_BYTES);
    let rings = loop {
        match try_map_rings(by_cpu, bytes) {
            Err(Errno::PERM | Errno::NOMEM) if bytes > page_size() => bytes /= 2,
            answer => break answer?,
        }
    };
    for events in by_cpu.values() {
        redirect(events)?;
    }
    Ok(rings)
}

fn try_map_rings(by_cpu: &ByCpu, bytes: usize) -> Result<Vec<Ring>, Errno> {
    by_cpu.values().map(|events| Ring::map(events[0].as_fd(), bytes)).collect()
}

/// Redirects all events to the ring of the first.
fn redirect(events: &[OwnedFd]) -> Result<(), Errno> {
    let Some((first, others)) = events.split_first() else { return Ok(()) };
    for event in others {
        // SAFETY: both descriptors belong to the caller, and the call takes no pointer.
        check_result(unsafe { ioctls::SET_OUTPUT(event.as_raw_fd(), first.as_raw_fd()) })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use perf_event_open_sys::bindings::PERF_RECORD_SAMPLE;

    use super::super::ring::Record;
    use super::*;

    /// Returns a sample without a call chain.
    fn record(time_ns: u64) -> Record {
        let words = [0xf1, 5, time_ns, 1, 0];
        let body = words.iter().flat_map(|word: &u64| word.to_ne_bytes()).collect();
        Record { kind: PERF_RECORD_SAMPLE, misc: 1, body }
    }

    #[test]
    fn all_is_there_since_the_oldest_of_the_ring_that_forgot_most() {
        let mut taken = CollectedSamples::default();
        taken.add(&RingContent { records: vec![record(90), record(10)], has_overwritten: false });
        assert_eq!((taken.samples.len(), taken.complete_since_ns), (2, 0));
        taken.add(&RingContent { records: vec![record(80), record(40)], has_overwritten: true });
        taken.add(&RingContent { records: vec![record(95), record(30)], has_overwritten: true });
        assert_eq!((taken.samples.len(), taken.complete_since_ns), (6, 40));
    }
}
