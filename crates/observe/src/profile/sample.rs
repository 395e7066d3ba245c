//! Parses a sample record of the kernel.

use ipcperf_model::instrument::profile::Space;
use perf_event_open_sys::bindings;

use super::ring::Record;

/// Fields of each sample, in the order in which the kernel writes them.
pub(super) const SAMPLE_TYPE: u64 = (bindings::PERF_SAMPLE_IP
    | bindings::PERF_SAMPLE_TID
    | bindings::PERF_SAMPLE_TIME
    | bindings::PERF_SAMPLE_PERIOD
    | bindings::PERF_SAMPLE_CALLCHAIN) as u64;

/// Lowest value of the context markers within a call chain.
const FIRST_MARKER: u64 = bindings::PERF_CONTEXT_MAX;
const IN_KERNEL: u64 = bindings::PERF_CONTEXT_KERNEL;
const IN_USER: u64 = bindings::PERF_CONTEXT_USER;

/// One sample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Sample {
    /// Process ID, in the PID namespace of this process.
    pub(super) pid: u32,
    /// Thread ID.
    pub(super) tid: u32,
    /// Time of the sample, on the monotonic clock, ns.
    pub(super) time_ns: u64,
    /// Number of events that the sample represents.
    pub(super) period: u64,
    /// Sampled address and its callers, innermost first; never empty.
    pub(super) chain: Vec<(Space, u64)>,
}

impl Sample {
    /// Parses `record`; `None` if it is not a sample.
    pub(super) fn parse(record: &Record) -> Option<Self> {
        if record.kind != bindings::PERF_RECORD_SAMPLE {
            return None;
        }
        let mut words = record.body.chunks_exact(8).map_while(|word| word.try_into().ok());
        let mut next = || words.next().map(u64::from_ne_bytes);
        let (at, thread) = (next()?, next()?.to_ne_bytes());
        let (time_ns, period, length) = (next()?, next()?, next()?);
        let [p0, p1, p2, p3, t0, t1, t2, t3] = thread;
        let number = u32::from_ne_bytes;
        let (pid, tid) = (number([p0, p1, p2, p3]), number([t0, t1, t2, t3]));
        let length = usize::try_from(length).ok()?;
        let mut chain = chain(words.map(u64::from_ne_bytes).take(length));
        if chain.is_empty() {
            chain.push((space(record.misc), at));
        }
        Some(Self { pid, tid, time_ns, period, chain })
    }

    /// Returns the sampled address.
    pub(super) fn leaf(&self) -> (Space, u64) {
        self.chain[0]
    }
}

fn space(misc: u16) -> Space {
    let mode = u32::from(misc) & bindings::PERF_RECORD_MISC_CPUMODE_MASK;
    if mode == bindings::PERF_RECORD_MISC_USER { Space::User } else { Space::Kernel }
}

/// Returns the addresses between the markers.
fn chain(words: impl Iterator<Item = u64>) -> Vec<(Space, u64)> {
    let (mut chain, mut space) = (Vec::new(), None);
    for word in words {
        match word {
            IN_KERNEL => space = Some(Space::Kernel),
            IN_USER => space = Some(Space::User),
            FIRST_MARKER.. => space = None,
            address => chain.extend(space.map(|space| (space, address))),
        }
    }
    chain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(kind: u32, words: &[u64]) -> Record {
        let body = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        Record { kind, misc: 1, body }
    }

    fn thread(pid: u32, tid: u32) -> u64 {
        let [pid, tid] = [pid, tid].map(u32::to_ne_bytes);
        u64::from_ne_bytes([pid, tid].concat().try_into().unwrap())
    }

    #[test]
    fn a_sample_is_read_with_its_chain() {
        let words = [0xf1, thread(5, 6), 100, 250, 5, IN_KERNEL, 0xf1, 0xf2, IN_USER, 0x10];
        let sample = Sample::parse(&record(bindings::PERF_RECORD_SAMPLE, &words)).unwrap();
        assert_eq!((sample.pid, sample.tid), (5, 6));
        assert_eq!((sample.time_ns, sample.period), (100, 250));
        let chain = [(Space::Kernel, 0xf1), (Space::Kernel, 0xf2), (Space::User, 0x10)];
        assert_eq!(sample.chain, chain);
    }

    #[test]
    fn without_a_chain_there_is_still_a_place() {
        let words = [0xf1, thread(5, 6), 100, 250, 0];
        let sample = Sample::parse(&record(bindings::PERF_RECORD_SAMPLE, &words)).unwrap();
        assert_eq!(sample.chain, [(Space::Kernel, 0xf1)]);
    }

    #[test]
    fn what_is_no_sample_or_cut_short_is_none() {
        assert_eq!(Sample::parse(&record(bindings::PERF_RECORD_THROTTLE, &[1, 2, 3])), None);
        assert_eq!(Sample::parse(&record(bindings::PERF_RECORD_SAMPLE, &[1, 2, 3])), None);
    }
}
