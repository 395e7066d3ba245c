//! A record: a word, then the payload, padded to whole words. A long payload begins at a cache line.

use crate::Error;

/// Size of the word before each record, bytes.
pub(crate) const WORD_BYTES: usize = 8;
/// Flag in the word of a record that is present.
const PRESENT: u64 = 1 << 63;
/// Flag of a message that continues in the next record.
const MORE: u64 = 1 << 62;
/// Flag of a payload that lies in the pool; the record then holds the slot's number.
const POOLED: u64 = 1 << 61;

/// Whether the message continues after this record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Continuation {
    Last,
    More,
}

/// Location of a record's payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PayloadLocation {
    Inline,
    Pool,
}

/// Decoded word of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Word {
    pub(crate) bytes: u64,
    pub(crate) continuation: Continuation,
    pub(crate) location: PayloadLocation,
}

impl Word {
    #[inline]
    pub(crate) const fn encode(
        bytes: usize,
        continuation: Continuation,
        location: PayloadLocation,
    ) -> u64 {
        let more = if matches!(continuation, Continuation::More) { MORE } else { 0 };
        let pooled = if matches!(location, PayloadLocation::Pool) { POOLED } else { 0 };
        PRESENT | more | pooled | bytes as u64
    }

    /// Decodes the copy of a word that was loaded once. The caller must still check the length.
    ///
    /// # Errors
    /// Returns [`Error::Corrupt`] for a word without the present flag, or with both the pool and the continuation flag:
    /// a producer writes neither.
    #[inline]
    pub(crate) const fn decode(word: u64) -> Result<Self, Error> {
        if word & PRESENT == 0 || word & (MORE | POOLED) == MORE | POOLED {
            return Err(Error::Corrupt);
        }
        Ok(Self {
            bytes: word & !(PRESENT | MORE | POOLED),
            continuation: if word & MORE == 0 { Continuation::Last } else { Continuation::More },
            location: if word & POOLED == 0 {
                PayloadLocation::Inline
            } else {
                PayloadLocation::Pool
            },
        })
    }
}

/// Minimum size of payloads that begin at a cache line, bytes. A copy whose source or target is aligned is up to a
/// quarter faster between distant CPUs. For a shorter payload the extra line costs more than alignment saves.
const MIN_ALIGNED_BYTES: usize = 2048;
const LINE_BYTES: usize = 64;

/// Longest payload that fits into a ring of `capacity_bytes`, next to its lead and the word after it.
#[inline]
pub(crate) const fn max_payload_bytes(capacity_bytes: usize) -> usize {
    capacity_bytes
        - if capacity_bytes < MIN_ALIGNED_BYTES { 2 * WORD_BYTES } else { LINE_BYTES + WORD_BYTES }
}

/// Smallest ring that has room for a payload of `bytes`.
pub(crate) const fn capacity_for(bytes: usize) -> usize {
    (bytes.next_multiple_of(WORD_BYTES) + LINE_BYTES + WORD_BYTES).next_power_of_two()
}

/// Offset of the payload in a record at `position`.
#[inline]
#[allow(clippy::cast_possible_truncation, reason = "a remainder below LINE")]
pub(crate) const fn lead_bytes(position: u64, payload_bytes: usize) -> usize {
    if payload_bytes < MIN_ALIGNED_BYTES {
        return WORD_BYTES;
    }
    let after_word = (position % LINE_BYTES as u64) as usize + WORD_BYTES;
    WORD_BYTES + after_word.next_multiple_of(LINE_BYTES) - after_word
}

/// Size of a record at `position` in the ring, including its word, bytes.
#[inline]
pub(crate) const fn record_bytes(position: u64, payload_bytes: usize) -> usize {
    lead_bytes(position, payload_bytes) + payload_bytes.next_multiple_of(WORD_BYTES)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn long_payloads_begin_at_a_line_and_short_ones_behind_the_word() {
        for position in (0..256).step_by(WORD_BYTES) {
            for bytes in [0, 1, 2047] {
                assert_eq!(lead_bytes(position, bytes), WORD_BYTES);
            }
            for bytes in [2048, 2049, 1 << 20] {
                let lead = lead_bytes(position, bytes);
                assert_eq!((position + lead as u64) % 64, 0);
                assert!((WORD_BYTES..=LINE_BYTES).contains(&lead), "{lead}");
                assert_eq!(record_bytes(position, bytes) % WORD_BYTES, 0);
                let capacity = capacity_for(bytes);
                assert!(bytes <= max_payload_bytes(capacity));
                assert!(
                    record_bytes(position, max_payload_bytes(capacity)) + WORD_BYTES <= capacity
                );
            }
        }
    }
}
