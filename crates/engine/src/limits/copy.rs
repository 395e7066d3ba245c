//! Copy bandwidth: what memcpy does on one CPU.
//!
//! *Hot* reuses source and target, as a mechanism does whose parties reuse their buffers; what it
//! reaches depends on the size, as caches do. *Cold* walks over [`COLD_BYTES`] of source and as
//! many of target, so that hardly a byte comes from a cache.

use std::hint::black_box;
use std::time::Duration;

use rustix::io::Errno;

use super::median::median;
use super::memory::available_bytes;
use super::unmeasured::Unmeasured;
use crate::buffer::Buffer;
use crate::clock::now_ns;

/// Bytes copied at least between two readings of the clock.
const BATCH_BYTES: usize = 1 << 20;
/// Batches that a median needs to stand above an interruption or two, unless ten times the duration
/// is over before: long copies on a busy machine.
const LEAST_BATCHES: usize = 5;
/// Source and, again, target of the cold copy.
pub const COLD_BYTES: usize = 256 << 20;
/// Memory that must be available for each byte of source: itself, its target, and as much again
/// for the rest of the machine.
const MEMORY_FACTOR: u64 = 3;

/// Bytes per second that copying `bytes` (at least 1) again and again reaches, over `duration`, on
/// the CPU this thread runs on: the median over batches. Hot: the same source and target each time.
///
/// # Errors
/// `ENOMEM` where the buffers cannot be had.
pub fn hot_bytes_per_s(bytes: usize, duration: Duration) -> Result<f64, Errno> {
    let (source, mut target) = (Buffer::touched(bytes, 1)?, Buffer::touched(bytes, 2)?);
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
    let limit = if batches < LEAST_BATCHES { 10 * duration } else { duration };
    batches == 0 || elapsed < limit
}

/// As [`hot_bytes_per_s`], where memory for it is available.
///
/// # Errors
/// Memory is short or refused.
pub fn careful_hot_bytes_per_s(bytes: usize, duration: Duration) -> Result<f64, Unmeasured> {
    check_memory(bytes, available_bytes())?;
    hot_bytes_per_s(bytes, duration).map_err(Unmeasured::refused("mmap"))
}

/// Bytes per second that copying reaches over [`COLD_BYTES`] of source, `passes` times (at least
/// once), on the CPU this thread runs on: the median over pieces of 1 MiB.
///
/// # Errors
/// Memory is short or refused.
pub fn cold_bytes_per_s(passes: usize) -> Result<f64, Unmeasured> {
    check_memory(COLD_BYTES, available_bytes())?;
    let mut both = Buffer::populated(2 * COLD_BYTES).map_err(Unmeasured::refused("mmap"))?;
    Ok(walk(&mut both, passes.max(1)))
}

/// Copies every other piece of `both` into the piece after it. So making it, just before, from its
/// start to its end, leaves as little of the source as of the target in a cache.
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

fn check_memory(source_bytes: usize, available_bytes: Option<u64>) -> Result<(), Unmeasured> {
    let needed_bytes = MEMORY_FACTOR.saturating_mul(source_bytes as u64);
    match available_bytes {
        Some(available_bytes) if available_bytes < needed_bytes => {
            Err(Unmeasured::ShortOfMemory { needed_bytes, available_bytes })
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
        let mut both = Buffer::touched(4 * BATCH_BYTES, 1).unwrap();
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
        assert_eq!(short, Unmeasured::ShortOfMemory { needed_bytes: 300, available_bytes: 299 });
        assert!(check_memory(usize::MAX, Some(u64::MAX - 1)).is_err());
    }
}
