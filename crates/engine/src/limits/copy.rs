//! Copy bandwidth: what memcpy does on one CPU with source and target reused.

use std::hint::black_box;
use std::time::Duration;

use rustix::io::Errno;

use crate::buffer::Buffer;
use crate::clock::now_ns;

/// Bytes per second that copying `bytes` (at least 1) again and again reaches, over `duration`, on
/// the CPU this thread runs on. Hot: the same source and target each time.
///
/// # Errors
/// `ENOMEM` where the buffers cannot be had.
#[allow(clippy::cast_precision_loss, reason = "a rate, good to three digits")]
pub fn hot_bytes_per_s(bytes: usize, duration: Duration) -> Result<f64, Errno> {
    let (source, mut target) = (Buffer::touched(bytes, 1)?, Buffer::touched(bytes, 2)?);
    let batch = (1_usize << 20).div_ceil(source.len());
    let start = now_ns();
    let end = start + u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
    let (mut copied, mut now) = (0_u64, start);
    while now < end {
        for _ in 0..batch {
            target.copy_from_slice(black_box(&source));
            black_box(&mut target);
        }
        copied += (batch * source.len()) as u64;
        now = now_ns();
    }
    Ok(copied as f64 * 1e9 / (now - start) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copying_has_a_positive_rate() {
        let rate = hot_bytes_per_s(64 * 1024, Duration::from_millis(2)).unwrap();
        assert!(rate > 1e6, "{rate}");
    }
}
