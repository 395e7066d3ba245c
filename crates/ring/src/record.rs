//! A record: a word, then the payload, padded to whole words.

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

    #[inline]
    pub(crate) const fn read(word: u64) -> Self {
        Self {
            bytes: word & !(PRESENT | MORE | POOLED),
            continuation: if word & MORE == 0 { Continuation::Last } else { Continuation::More },
            lies: if word & POOLED == 0 { Lies::Behind } else { Lies::InPool },
        }
    }
}

/// Bytes a record takes in the ring, its word included.
#[inline]
pub(crate) const fn record_bytes(payload_bytes: usize) -> usize {
    WORD + payload_bytes.next_multiple_of(WORD)
}
