//! A record: a word, then the payload, padded to whole words. A long payload begins at a cache line.

use crate::Error;

/// Bytes of the word before each record.
pub(crate) const WORD: usize = 8;
/// Set in the word of a record that is there.
const PRESENT: u64 = 1 << 63;
/// Set where the message goes on in the next record.
const MORE: u64 = 1 << 62;
/// Set where the payload lies in the pool, and the record holds the slot's number.
const POOLED: u64 = 1 << 61;

/// Whether the message goes on after this record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Continuation {
    Last,
    More,
}

/// Where the payload of a record lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lies {
    Behind,
    InPool,
}

/// What the word of a record says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Word {
    pub(crate) bytes: u64,
    pub(crate) continuation: Continuation,
    pub(crate) lies: Lies,
}

impl Word {
    #[inline]
    pub(crate) const fn of(bytes: usize, continuation: Continuation, lies: Lies) -> u64 {
        let more = if matches!(continuation, Continuation::More) { MORE } else { 0 };
        let pooled = if matches!(lies, Lies::InPool) { POOLED } else { 0 };
        PRESENT | more | pooled | bytes as u64
    }

    /// Reads the copy of a word that was loaded once. The length is still to be checked.
    ///
    /// # Errors
    /// [`Error::Corrupt`] for one that is not there, or that lies in the pool and goes on: a producer
    /// writes neither.
    #[inline]
    pub(crate) const fn read(word: u64) -> Result<Self, Error> {
        if word & PRESENT == 0 || word & (MORE | POOLED) == MORE | POOLED {
            return Err(Error::Corrupt);
        }
        Ok(Self {
            bytes: word & !(PRESENT | MORE | POOLED),
            continuation: if word & MORE == 0 { Continuation::Last } else { Continuation::More },
            lies: if word & POOLED == 0 { Lies::Behind } else { Lies::InPool },
        })
    }
}

/// Payloads of this many bytes and more begin at a cache line: a copy whose source or target is aligned
/// is up to a quarter faster between far CPUs. To a shorter one the line in between costs more than that.
const ALIGNED_FROM: usize = 2048;
const LINE: usize = 64;

/// The longest payload that a ring of `capacity_bytes` has room for, beside what precedes it and the word
/// after it.
#[inline]
pub(crate) const fn longest_bytes(capacity_bytes: usize) -> usize {
    capacity_bytes - if capacity_bytes < ALIGNED_FROM { 2 * WORD } else { LINE + WORD }
}

/// The smallest ring that has room for a payload of `bytes`.
pub(crate) const fn capacity_for(bytes: usize) -> usize {
    (bytes.next_multiple_of(WORD) + LINE + WORD).next_power_of_two()
}

/// Where in a record at `position` its payload begins.
#[inline]
#[allow(clippy::cast_possible_truncation, reason = "a remainder below LINE")]
pub(crate) const fn lead_bytes(position: u64, payload_bytes: usize) -> usize {
    if payload_bytes < ALIGNED_FROM {
        return WORD;
    }
    let after_word = (position % LINE as u64) as usize + WORD;
    WORD + after_word.next_multiple_of(LINE) - after_word
}

/// Bytes a record at `position` takes in the ring, its word included.
#[inline]
pub(crate) const fn record_bytes(position: u64, payload_bytes: usize) -> usize {
    lead_bytes(position, payload_bytes) + payload_bytes.next_multiple_of(WORD)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn long_payloads_begin_at_a_line_and_short_ones_behind_the_word() {
        for position in (0..256).step_by(WORD) {
            for bytes in [0, 1, 2047] {
                assert_eq!(lead_bytes(position, bytes), WORD);
            }
            for bytes in [2048, 2049, 1 << 20] {
                let lead = lead_bytes(position, bytes);
                assert_eq!((position + lead as u64) % 64, 0);
                assert!((WORD..=LINE).contains(&lead), "{lead}");
                assert_eq!(record_bytes(position, bytes) % WORD, 0);
                let capacity = capacity_for(bytes);
                assert!(bytes <= longest_bytes(capacity));
                assert!(record_bytes(position, longest_bytes(capacity)) + WORD <= capacity);
            }
        }
    }
}
