//! Buffers for messages before they are sent and after they have arrived.

use ipcperf_model::message_options::{BufferReuse, FirstTouch, MessageOptions};
use rustix::io::Errno;

use crate::buffer::Buffer;
use crate::channel::EndTraits;
use crate::limits::copy::COLD_BYTES;
use crate::message_content::fill;

/// Number of buffers of a program that keeps a pool of them.
const POOL_BUFFERS: usize = 16;
/// Byte that fills constant messages.
const FILL_BYTE: u8 = 0x5A;
/// Alignment of small messages: a cache line. Larger ones are aligned to a page.
const CACHE_LINE_BYTES: usize = 64;
const PAGE_BYTES: usize = 4096;

/// One buffer for all messages, or several used in rotation.
#[derive(Debug)]
pub struct BufferPool {
    memory: Buffer,
    /// Distance between the starts of two consecutive buffers, bytes.
    stride_bytes: usize,
    /// Number of buffers; a power of two, unless the mechanism borrows send buffers.
    buffers: u64,
    /// Index of the buffer of message 0.
    first: u64,
}

impl BufferPool {
    /// Maps and fills buffers for messages of `bytes`, as `message_options` says; at least `min_buffers` of them, for a
    /// mechanism that borrows send buffers. Every page is present, unless the first touch is to be timed: then none is,
    /// and messages hold zeroes.
    ///
    /// # Errors
    /// Returns `ENOMEM` if the system cannot provide the memory.
    pub fn new(
        bytes: usize,
        min_buffers: usize,
        message_options: &MessageOptions,
    ) -> Result<Self, Errno> {
        let stride_bytes = stride_bytes(bytes, min_buffers);
        let count = buffer_count(stride_bytes, message_options.buffers).max(min_buffers);
        let all = count.checked_mul(stride_bytes).ok_or(Errno::NOMEM)?;
        if message_options.first_touch == FirstTouch::Timed {
            let memory = Buffer::new_untouched(all)?;
            return Ok(Self { memory, stride_bytes, buffers: count as u64, first: 0 });
        }
        let mut memory = Buffer::new_touched(all, FILL_BYTE)?;
        fill(message_options.content, &mut memory, bytes, stride_bytes);
        Ok(Self { memory, stride_bytes, buffers: count as u64, first: 0 })
    }

    /// Memory of all buffers.
    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.memory
    }

    /// Buffers for the messages of one phase.
    pub fn phase_buffers(&mut self) -> PhaseBuffers<'_> {
        let Self { stride_bytes, buffers, first, .. } = *self;
        PhaseBuffers { bytes: &mut self.memory, stride_bytes, buffers, first }
    }
}

/// The buffers of a pool during one phase. A loop that owns them keeps their number and distance in registers; those of a
/// [`BufferPool`] that it borrows would be loaded again for each message.
#[derive(Debug)]
pub struct PhaseBuffers<'a> {
    bytes: &'a mut [u8],
    /// As in [`BufferPool`], like the fields below.
    stride_bytes: usize,
    buffers: u64,
    first: u64,
}

impl PhaseBuffers<'_> {
    /// Buffer of message `number`, of `bytes`, of an end with the properties `end`.
    #[inline]
    pub fn buffer(&mut self, end: EndTraits, number: u64, bytes: usize) -> &mut [u8] {
        // Fast path for the usual case: the arithmetic below would be noticeable in messages of 2 ns.
        if self.buffers == 1 {
            return &mut self.bytes[..bytes];
        }
        let number = self.first + number;
        // A division takes longer than a short message through shared memory, so use the mask where possible.
        let turn = if end.borrows_send_buffer {
            number % self.buffers
        } else {
            number & (self.buffers - 1)
        };
        #[allow(clippy::cast_possible_truncation, reason = "below the number of places")]
        let start = turn as usize * self.stride_bytes;
        &mut self.bytes[start..start + bytes]
    }
}

impl BufferPool {
    /// Continues after a phase of `messages` with the buffers that follow, so that no phase finds the buffers of the
    /// previous one in the caches.
    pub fn advance(&mut self, messages: u64) {
        self.first = (self.first + messages) % self.buffers;
    }
}

/// Size in bytes of all buffers for messages of `bytes`, at least `min_buffers` of them.
#[must_use]
pub fn pool_bytes(bytes: u64, min_buffers: usize, buffers: BufferReuse) -> u64 {
    let bytes = usize::try_from(bytes).unwrap_or(usize::MAX / 4);
    let stride_bytes = stride_bytes(bytes, min_buffers);
    buffer_count(stride_bytes, buffers).max(min_buffers).saturating_mul(stride_bytes) as u64
}

/// Borrowed buffers are aligned to pages.
fn stride_bytes(bytes: usize, min_buffers: usize) -> usize {
    let unit = if bytes < PAGE_BYTES && min_buffers == 1 { CACHE_LINE_BYTES } else { PAGE_BYTES };
    bytes.max(1).checked_next_multiple_of(unit).unwrap_or(usize::MAX)
}

fn buffer_count(stride_bytes: usize, buffers: BufferReuse) -> usize {
    match buffers {
        BufferReuse::Hot => 1,
        BufferReuse::Rotate => POOL_BUFFERS,
        BufferReuse::Cold => COLD_BYTES.div_ceil(stride_bytes).next_power_of_two().max(2),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: EndTraits = EndTraits {
        keeps_boundaries: true,
        lossy: false,
        borrows_send_buffer: false,
        sends_in_place: false,
        receives_in_place: false,
    };
    const BORROWER: EndTraits = EndTraits { borrows_send_buffer: true, ..PLAIN };

    fn starts(end: EndTraits, places: &mut BufferPool, numbers: u64) -> Vec<usize> {
        (0..numbers)
            .map(|number| places.phase_buffers().buffer(end, number, 100).as_ptr() as usize)
            .collect()
    }

    fn distinct(end: EndTraits, least: usize, buffers: BufferReuse, numbers: u64) -> usize {
        let message_options = MessageOptions { buffers, ..MessageOptions::default() };
        let mut all =
            starts(end, &mut BufferPool::new(100, least, &message_options).unwrap(), numbers);
        all.sort_unstable();
        all.dedup();
        all.len()
    }

    #[test]
    fn the_number_of_buffers_is_as_requested() {
        assert_eq!(distinct(PLAIN, 1, BufferReuse::Hot, 40), 1);
        assert_eq!(distinct(PLAIN, 1, BufferReuse::Rotate, 40), POOL_BUFFERS);
        assert_eq!(distinct(PLAIN, 1, BufferReuse::Cold, 1 << 16), 1 << 16);
        assert_eq!(distinct(BORROWER, 3, BufferReuse::Hot, 40), 3);
        assert_eq!(distinct(BORROWER, 18, BufferReuse::Rotate, 40), 18);
    }

    #[test]
    fn cold_is_more_than_caches_hold_and_an_absurd_size_an_error() {
        assert_eq!(pool_bytes(1 << 20, 1, BufferReuse::Cold), COLD_BYTES as u64);
        assert_eq!(pool_bytes(1 << 30, 1, BufferReuse::Cold), 2 << 30);
        assert!(pool_bytes(u64::MAX, 1, BufferReuse::Cold) > 1 << 60);
        BufferPool::new(usize::MAX / 2, 1, &MessageOptions::default()).unwrap_err();
    }

    #[test]
    fn the_next_phase_goes_on_where_the_last_one_ended() {
        let cold = MessageOptions { buffers: BufferReuse::Cold, ..MessageOptions::default() };
        let mut places = BufferPool::new(100, 1, &cold).unwrap();
        let all = starts(PLAIN, &mut places, 7);
        places.advance(5);
        assert_eq!(starts(PLAIN, &mut places, 2), all[5..]);
        places.advance(places.buffers - 5);
        assert_eq!(starts(PLAIN, &mut places, 7), all);
    }

    #[test]
    fn small_messages_are_as_compressible_as_large_ones() {
        let content = "compressible:4".parse().unwrap();
        let message_options =
            MessageOptions { content, buffers: BufferReuse::Rotate, ..MessageOptions::default() };
        for bytes in [16, 100, 1000] {
            let mut places = BufferPool::new(bytes, 1, &message_options).unwrap();
            let mut buffers = places.phase_buffers();
            let message = buffers.buffer(PLAIN, 3, bytes);
            let constant = message.iter().rev().take_while(|&&byte| byte == FILL_BYTE).count();
            assert!(constant >= bytes / 2, "{bytes}: {constant}");
        }
    }

    #[test]
    fn what_is_touched_while_the_clock_runs_holds_zeroes_until_then() {
        let timed = MessageOptions { first_touch: FirstTouch::Timed, ..MessageOptions::default() };
        let mut places = BufferPool::new(10_000, 1, &timed).unwrap();
        assert_eq!(places.phase_buffers().buffer(PLAIN, 0, 10_000), [0; 10_000]);
        let mut touched = BufferPool::new(10_000, 1, &MessageOptions::default()).unwrap();
        assert_eq!(touched.phase_buffers().buffer(PLAIN, 0, 10_000), [FILL_BYTE; 10_000]);
    }

    #[test]
    fn borrowed_buffers_are_page_aligned() {
        let mut places = BufferPool::new(100, 3, &MessageOptions::default()).unwrap();
        assert!(starts(BORROWER, &mut places, 3).iter().all(|start| start % PAGE_BYTES == 0));
    }
}
