//! Copy bandwidth: memcpy on one CPU.
//!
//! *Hot* reuses source and target, like a mechanism whose peers reuse their buffers; the bandwidth depends on the size,
//! because of the caches. *Cold* walks over [`COLD_BYTES`] of source and of target, so that hardly a byte comes from a
//! cache.

use std::hint::black_box;
use std::time::Duration;

use rustix::io::Errno;

use super::error::LimitError;
use super::median::median;
use super::memory::available_bytes;
use crate::buffer::Buffer;
use crate::clock::now_ns;

/// Minimum number of bytes copied between two readings of the clock.
const BATCH_BYTES: usize = 1 << 20;
/// Minimum number of batches, so that one or two interruptions do not move the median. Long copies on a busy machine
/// get fewer if ten times the duration passes first.
const MIN_BATCHES: usize = 5;
/// Size of the source and of the target of the cold copy, bytes.
pub const COLD_BYTES: usize = 256 << 20;
/// Available memory required per byte of source: source, target, and as much again for the rest of the machine.
const MEMORY_FACTOR: u64 = 3;

/// Bandwidth in bytes per second of copying `bytes` (at least 1) repeatedly for `duration` on the calling thread's CPU:
/// the median over batches. Hot: the source and target are the same each time.
///
/// # Errors
/// Returns `ENOMEM` if the buffers cannot be allocated.
pub fn hot_bytes_per_s(bytes: usize, duration: Duration) -> Result<f64, Errno> {
    let (source, mut target) = (Buffer::new_touched(bytes, 1)?, Buffer::new_touched(bytes, 2)?);
    let copies = BATCH_BYTES.div_ceil(source.len());
    let (start, mut batches_ns) = (now_ns(), Vec::new());
    let mut last = start;
    while wants_more(batches_ns.len(), Duration::from_nanos(last - start), duration) {
        for _ in 0..copies {
            target.copy_from_slice(black_box(&source));
            black_box(&mut target);
        }
        let now = now_ns();
        batches_ns.push(now - last);
        last = now;
    }
    median(batches_ns).map(|batch_ns| rate(copies * source.len(), batch_ns)).ok_or(Errno::INVAL)
}

fn wants_more(batches: usize, elapsed: Duration, duration: Duration) -> bool {
    let limit = if batches < MIN_BATCHES { 10 * duration } else { duration };
    batches == 0 || elapsed < limit
}

/// Like [`hot_bytes_per_s`], but first checks that enough memory is available.
///
/// # Errors
/// Returns an error if memory is short or refused.
pub fn checked_hot_bytes_per_s(bytes: usize, duration: Duration) -> Result<f64, LimitError> {
    check_memory(bytes, available_bytes())?;
    hot_bytes_per_s(bytes, duration).map_err(LimitError::refused("mmap"))
}

/// Bandwidth in bytes per second of copying over [`COLD_BYTES`] of source, `passes` times (at least once), on the
/// calling thread's CPU: the median over pieces of 1 MiB.
///
/// # Errors
/// Returns an error if memory is short or refused.
pub fn cold_bytes_per_s(passes: usize) -> Result<f64, LimitError> {
    check_memory(COLD_BYTES, available_bytes())?;
    let mut both = Buffer::new_populated(2 * COLD_BYTES).map_err(LimitError::refused("mmap"))?;
    Ok(walk(&mut both, passes.max(1)))
}

/// Copies every other piece of `both` into the piece after it. The buffer was just initialized from start to end, so
/// the caches hold as little of the source as of the target.
fn walk(both: &mut Buffer, passes: usize) -> f64 {
    let mut pieces_ns = Vec::with_capacity(passes * both.len() / (2 * BATCH_BYTES));
    for _ in 0..passes {
        let mut last = now_ns();
        for pair in both.chunks_exact_mut(2 * BATCH_BYTES) {
            let (source, target) = pair.split_at_mut(BATCH_BYTES);
            target.copy_from_slice(black_box(source));
            black_box(target);
            let now = now_ns();
            pieces_ns.push(now - last);
            last = now;
        }
    }
    rate(BATCH_BYTES, median(pieces_ns).unwrap_or(u64::MAX))
}

fn check_memory(source_bytes: usize, available_bytes: Option<u64>) -> Result<(), LimitError> {
    let needed_bytes = MEMORY_FACTOR.saturating_mul(source_bytes as u64);
    match available_bytes {
        Some(available_bytes) if available_bytes < needed_bytes => {
            Err(LimitError::ShortOfMemory { needed_bytes, available_bytes })
        }
        _ => Ok(()),
    }
}

#[allow(clippy::cast_precision_loss, reason = "a rate, good to 53 bits")]
fn rate(bytes: usize, batch_ns: u64) -> f64 {
    bytes as f64 * 1e9 / batch_ns.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copying_has_a_positive_rate() {
        for duration in [Duration::ZERO, Duration::from_millis(2)] {
            let rate = hot_bytes_per_s(64 * 1024, duration).unwrap();
            assert!(rate > 0.0, "{rate}");
        }
    }

    #[test]
    fn a_few_batches_are_waited_for_and_not_for_ever() {
        let ms = Duration::from_millis;
        assert!(wants_more(0, ms(60_000), ms(5)));
        assert!(wants_more(4, ms(49), ms(5)) && !wants_more(4, ms(50), ms(5)));
        assert!(wants_more(5, ms(4), ms(5)) && !wants_more(5, ms(5), ms(5)));
    }

    #[test]
    fn walking_copies_every_source_to_its_target() {
        let mut both = Buffer::new_touched(4 * BATCH_BYTES, 1).unwrap();
        both[2 * BATCH_BYTES..][..BATCH_BYTES].fill(7);
        let rate = walk(&mut both, 1);
        assert!(rate > 0.0, "{rate}");
        assert!(both[3 * BATCH_BYTES..].iter().all(|&byte| byte == 7));
        assert!(both[..2 * BATCH_BYTES].iter().all(|&byte| byte == 1));
    }

    #[test]
    fn what_others_need_is_not_taken() {
        assert_eq!(check_memory(100, Some(300)), Ok(()));
        assert_eq!(check_memory(100, None), Ok(()));
        let short = check_memory(100, Some(299)).unwrap_err();
        assert_eq!(short, LimitError::ShortOfMemory { needed_bytes: 300, available_bytes: 299 });
        assert!(check_memory(usize::MAX, Some(u64::MAX - 1)).is_err());
    }
}
