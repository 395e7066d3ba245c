//! Carries the number of each paced message, and the time at which it was sent, to the receiver.
//!
//! Both lie in the first 16 bytes of the message. Where these bytes are checked, or a message is shorter, the time lies in
//! a table in memory that the peers share, and the receiver counts the messages.

use std::mem::size_of;
use std::slice;
use std::sync::atomic::{AtomicU64, Ordering};

use ipcperf_model::{PayloadCheck, RunSpec};
use rustix::io::Errno;

use crate::peer_memory::PeerMemory;

/// Length of the stamp at the start of a message, bytes.
pub const STAMP_BYTES: usize = 16;
/// Size of an entry of the table, bytes.
pub const TABLE_BYTES_PER_MESSAGE: u64 = size_of::<AtomicU64>() as u64;

/// Bit of the time in a stamp that marks a message that was due in a gap of its sender. Clocks do not reach it: at 5 ticks
/// per ns, that would take 58 years.
const GAP_BIT: u64 = 1 << 63;

/// Number and time of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SendStamp {
    /// Number of the message, from 0.
    pub number: u64,
    /// Time at which its sender began to send it, ticks.
    pub sent: u64,
    /// Whether the message was due while its sender was waiting but did not run.
    pub is_in_gap: bool,
}

impl SendStamp {
    /// Reads the time and the mark of message `number` from `word`.
    #[inline]
    const fn from_word(number: u64, word: u64) -> Self {
        Self { number, sent: word & !GAP_BIT, is_in_gap: word & GAP_BIT != 0 }
    }

    /// Returns the time and the mark in one word.
    #[inline]
    const fn word(self) -> u64 {
        if self.is_in_gap { self.sent | GAP_BIT } else { self.sent }
    }
}

/// Place of the stamps of a run.
#[derive(Clone, Copy, Debug)]
pub enum SendTimes {
    /// In the messages themselves.
    InMessages,
    /// In shared memory, by number.
    Table(&'static [AtomicU64]),
}

/// Whether the stamps of `spec` lie in a table.
#[must_use]
pub fn needs_table(spec: &RunSpec) -> bool {
    !spec.workload.is_answered()
        && (spec.check == PayloadCheck::Verify || spec.smallest_bytes() < STAMP_BYTES as u64)
}

impl SendTimes {
    /// Provides the place of the stamps of `spec`. A table is the next part of `memory`; it stays mapped until the process
    /// ends.
    ///
    /// # Errors
    /// Returns the system's error if it cannot provide the memory.
    pub fn new_shared(spec: &RunSpec, memory: &PeerMemory) -> Result<Self, Errno> {
        let messages = spec.pacing.map_or(0, |pacing| pacing.messages);
        if !needs_table(spec) || messages == 0 {
            return Ok(Self::InMessages);
        }
        let entries = usize::try_from(messages).map_err(|_| Errno::NOMEM)?;
        let bytes = entries.checked_mul(size_of::<AtomicU64>()).ok_or(Errno::NOMEM)?;
        let start = memory.map(bytes)?.cast::<AtomicU64>();
        // SAFETY: the mapping has room for `entries`, is page-aligned and zeroed, or what another process has stored there,
        // which is a valid `AtomicU64` either way, is accessed only through atomics, and is never unmapped.
        Ok(Self::Table(unsafe { slice::from_raw_parts(start.as_ptr(), entries) }))
    }

    /// Makes every page of a table present.
    pub fn touch(&self) {
        if let Self::Table(times) = self {
            times.iter().for_each(|time| time.store(0, Ordering::Relaxed));
        }
    }

    /// Stores `stamp`, for the message in `message`.
    #[inline]
    pub fn store(&self, stamp: SendStamp, message: &mut [u8]) {
        match self {
            Self::InMessages => {
                if let Some(start) = message.first_chunk_mut::<STAMP_BYTES>() {
                    start[..8].copy_from_slice(&stamp.number.to_ne_bytes());
                    start[8..].copy_from_slice(&stamp.word().to_ne_bytes());
                }
            }
            Self::Table(times) => {
                if let Some(time) = usize::try_from(stamp.number).ok().and_then(|at| times.get(at))
                {
                    time.store(stamp.word(), Ordering::Relaxed);
                }
            }
        }
    }

    /// Returns the stamp of the message that arrived as `message`, and which is number `expected` if its stamp lies in the
    /// table. A message that is too short for its stamp counts as sent when the machine started.
    #[inline]
    pub fn load(&self, expected: u64, message: &[u8]) -> SendStamp {
        match self {
            Self::InMessages => {
                let word = |at: usize| {
                    let bytes = message.get(at..).and_then(<[u8]>::first_chunk::<8>);
                    bytes.map_or(0, |bytes| u64::from_ne_bytes(*bytes))
                };
                SendStamp::from_word(word(0), word(8))
            }
            Self::Table(times) => {
                let time = usize::try_from(expected).ok().and_then(|at| times.get(at));
                let word = time.map_or(0, |time| time.load(Ordering::Relaxed));
                SendStamp::from_word(expected, word)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use ipcperf_model::pacing::{Arrivals, Pacer, Pacing};
    use ipcperf_model::workload::WorkloadKind;

    use super::*;

    fn times(buffer_bytes: u64, check: PayloadCheck) -> SendTimes {
        let pacing = Pacing {
            rate_per_s: 1,
            arrivals: Arrivals::Even,
            pacer: Pacer::Spin,
            messages: 3,
            seed: 0,
        };
        let spec = RunSpec {
            workload: WorkloadKind::Paced,
            check,
            pacing: Some(pacing),
            ..RunSpec::with_defaults("pipe", buffer_bytes)
        };
        let times = SendTimes::new_shared(&spec, &PeerMemory::Inherited).unwrap();
        times.touch();
        times
    }

    #[test]
    fn what_is_stored_is_loaded() {
        for (bytes, check) in
            [(16, PayloadCheck::Off), (15, PayloadCheck::Off), (64, PayloadCheck::Verify)]
        {
            let (times, mut message) = (times(bytes, check), [0; 16]);
            for number in 0..3 {
                let stamp = SendStamp { number, sent: 100 + number, is_in_gap: number == 1 };
                times.store(stamp, &mut message);
                assert_eq!(times.load(number, &message), stamp);
            }
        }
    }

    #[test]
    fn checked_content_and_short_messages_are_left_alone() {
        for (bytes, check) in [(15, PayloadCheck::Off), (64, PayloadCheck::Verify)] {
            let mut message = [7; 64];
            times(bytes, check).store(SendStamp::from_word(1, 2), &mut message);
            assert_eq!(message, [7; 64]);
        }
    }

    #[test]
    fn a_number_without_an_entry_and_a_torn_message_do_no_harm() {
        let table = times(8, PayloadCheck::Off);
        table.store(SendStamp::from_word(u64::MAX, 2), &mut []);
        assert_eq!(table.load(3, &[]), SendStamp::from_word(3, 0));
        assert_eq!(SendTimes::InMessages.load(3, &[1; 3]), SendStamp::from_word(0, 0));
    }
}
