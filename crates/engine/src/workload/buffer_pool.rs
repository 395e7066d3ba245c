//! Buffers for messages before they are sent and after they have arrived.

use ipcperf_model::message_options::{FirstTouch, Handling, Reuse};
use rustix::io::Errno;

use crate::buffer::Buffer;
use crate::channel::Endpoint;
use crate::limits::copy::COLD_BYTES;
use crate::message_content::fill;

/// Number of buffers of a program that keeps a pool of them.
const POOL: usize = 16;
/// Byte that fills constant messages.
const FILLER: u8 = 0x5A;
/// Alignment of small messages: a cache line. Larger ones are aligned to a page.
const LINE_BYTES: usize = 64;
const PAGE_BYTES: usize = 4096;

/// One buffer for all messages, or several used in rotation.
#[derive(Debug)]
pub struct Places {
    memory: Buffer,
    /// Distance between the starts of two consecutive buffers, bytes.
    stride_bytes: usize,
    /// Number of buffers; a power of two, unless the mechanism borrows send buffers.
    turns: u64,
    /// Index of the buffer of message 0.
    first: u64,
}

impl Places {
    /// Maps and fills buffers for messages of `bytes`, as `handling` says; at least `least` of them, for a mechanism
    /// that borrows send buffers. Every page is present, unless the first touch is to be timed: then none is, and
    /// messages hold zeroes.
    ///
    /// # Errors
    /// Returns `ENOMEM` if the system cannot provide the memory.
    pub fn mapped(bytes: usize, least: usize, handling: &Handling) -> Result<Self, Errno> {
        let stride_bytes = stride_bytes(bytes, least);
        let turns = turns(stride_bytes, handling.buffers).max(least);
        let all = turns.checked_mul(stride_bytes).ok_or(Errno::NOMEM)?;
        if handling.first_touch == FirstTouch::Timed {
            let memory = Buffer::untouched(all)?;
            return Ok(Self { memory, stride_bytes, turns: turns as u64, first: 0 });
        }
        let mut memory = Buffer::touched(all, FILLER)?;
        fill(handling.content, &mut memory, bytes, stride_bytes);
        Ok(Self { memory, stride_bytes, turns: turns as u64, first: 0 })
    }

    /// Memory of all buffers.
    pub(crate) fn all(&self) -> &[u8] {
        &self.memory
    }

    /// Buffer of message `number`, of `bytes`.
    #[inline]
    pub fn of<E: Endpoint>(&mut self, number: u64, bytes: usize) -> &mut [u8] {
        // Fast path for the usual case: the arithmetic below would be noticeable in messages of 2 ns.
        if self.turns == 1 {
            return &mut self.memory[..bytes];
        }
        let number = self.first + number;
        // A division takes longer than a short message through shared memory, so use the mask where possible.
        let turn = if E::LENDS { number % self.turns } else { number & (self.turns - 1) };
        #[allow(clippy::cast_possible_truncation, reason = "below the number of places")]
        let start = turn as usize * self.stride_bytes;
        &mut self.memory[start..start + bytes]
    }
}

impl Places {
    /// Continues after a phase of `messages` with the buffers that follow, so that no phase finds the buffers of the
    /// previous one in the caches.
    pub fn go_on(&mut self, messages: u64) {
        self.first = (self.first + messages) % self.turns;
    }
}

/// Size in bytes of all buffers for messages of `bytes`, at least `least` of them.
#[must_use]
pub fn places_bytes(bytes: u64, least: usize, buffers: Reuse) -> u64 {
    let bytes = usize::try_from(bytes).unwrap_or(usize::MAX / 4);
    let stride_bytes = stride_bytes(bytes, least);
    turns(stride_bytes, buffers).max(least).saturating_mul(stride_bytes) as u64
}

/// Borrowed buffers are aligned to pages.
fn stride_bytes(bytes: usize, least: usize) -> usize {
    let unit = if bytes < PAGE_BYTES && least == 1 { LINE_BYTES } else { PAGE_BYTES };
    bytes.max(1).checked_next_multiple_of(unit).unwrap_or(usize::MAX)
}

fn turns(stride_bytes: usize, buffers: Reuse) -> usize {
    match buffers {
        Reuse::Hot => 1,
        Reuse::Rotate => POOL,
        Reuse::Cold => COLD_BYTES.div_ceil(stride_bytes).next_power_of_two().max(2),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An end that moves no data.
    struct End<const LENDS: bool>;

    impl<const LENDS: bool> Endpoint for End<LENDS> {
        const KEEPS_BOUNDARIES: bool = true;
        const LENDS: bool = LENDS;
    }

    type Plain = End<false>;
    type Borrower = End<true>;

    fn starts<E: Endpoint>(places: &mut Places, numbers: u64) -> Vec<usize> {
        (0..numbers).map(|number| places.of::<E>(number, 100).as_ptr() as usize).collect()
    }

    fn distinct<E: Endpoint>(least: usize, buffers: Reuse, numbers: u64) -> usize {
        let handling = Handling { buffers, ..Handling::default() };
        let mut all = starts::<E>(&mut Places::mapped(100, least, &handling).unwrap(), numbers);
        all.sort_unstable();
        all.dedup();
        all.len()
    }

    #[test]
    fn messages_lie_in_as_many_places_as_was_asked() {
        assert_eq!(distinct::<Plain>(1, Reuse::Hot, 40), 1);
        assert_eq!(distinct::<Plain>(1, Reuse::Rotate, 40), POOL);
        assert_eq!(distinct::<Plain>(1, Reuse::Cold, 1 << 16), 1 << 16);
        assert_eq!(distinct::<Borrower>(3, Reuse::Hot, 40), 3);
        assert_eq!(distinct::<Borrower>(18, Reuse::Rotate, 40), 18);
    }

    #[test]
    fn cold_is_more_than_caches_hold_and_an_absurd_size_an_error() {
        assert_eq!(places_bytes(1 << 20, 1, Reuse::Cold), COLD_BYTES as u64);
        assert_eq!(places_bytes(1 << 30, 1, Reuse::Cold), 2 << 30);
        assert!(places_bytes(u64::MAX, 1, Reuse::Cold) > 1 << 60);
        Places::mapped(usize::MAX / 2, 1, &Handling::default()).unwrap_err();
    }

    #[test]
    fn the_next_phase_goes_on_where_the_last_one_ended() {
        let cold = Handling { buffers: Reuse::Cold, ..Handling::default() };
        let mut places = Places::mapped(100, 1, &cold).unwrap();
        let all = starts::<Plain>(&mut places, 7);
        places.go_on(5);
        assert_eq!(starts::<Plain>(&mut places, 2), all[5..]);
        places.go_on(places.turns - 5);
        assert_eq!(starts::<Plain>(&mut places, 7), all);
    }

    #[test]
    fn small_messages_are_as_compressible_as_large_ones() {
        let content = "compressible:4".parse().unwrap();
        let handling = Handling { content, buffers: Reuse::Rotate, ..Handling::default() };
        for bytes in [16, 100, 1000] {
            let mut places = Places::mapped(bytes, 1, &handling).unwrap();
            let message = places.of::<Plain>(3, bytes);
            let constant = message.iter().rev().take_while(|&&byte| byte == FILLER).count();
            assert!(constant >= bytes / 2, "{bytes}: {constant}");
        }
    }

    #[test]
    fn what_is_touched_while_the_clock_runs_holds_zeroes_until_then() {
        let timed = Handling { first_touch: FirstTouch::Timed, ..Handling::default() };
        let mut places = Places::mapped(10_000, 1, &timed).unwrap();
        assert_eq!(places.of::<Plain>(0, 10_000), [0; 10_000]);
        let mut touched = Places::mapped(10_000, 1, &Handling::default()).unwrap();
        assert_eq!(touched.of::<Plain>(0, 10_000), [FILLER; 10_000]);
    }

    #[test]
    fn what_is_lent_begins_on_a_page() {
        let mut places = Places::mapped(100, 3, &Handling::default()).unwrap();
        assert!(starts::<Borrower>(&mut places, 3).iter().all(|start| start % PAGE_BYTES == 0));
    }
}
