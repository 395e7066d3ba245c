//! Cost of one system call: the minimum cost of entering the kernel and returning.
//!
//! `getppid` does next to nothing in the kernel, and neither the C library nor the vDSO answers it in user space. It is
//! called through the C library, as mechanisms call theirs.
//!
//! References: [getppid(2)](https://man7.org/linux/man-pages/man2/getppid.2.html).

use std::hint::black_box;
use std::time::Duration;

use rustix::process::getppid;

use super::error::LimitError;
use super::median::median;
use crate::clock::now_ns;

/// Calls between two readings of the clock.
const BATCH: u64 = 200;

/// Cost of one system call on the calling thread's CPU, ns: the median over batches, for `duration`.
///
/// # Errors
/// Returns an error if not one batch ended: `duration` is zero.
#[allow(clippy::cast_precision_loss, reason = "microseconds in ns")]
pub fn system_call_ns(duration: Duration) -> Result<f64, LimitError> {
    let (start, mut batches_ns) = (now_ns(), Vec::new());
    let mut last = start;
    while u128::from(last - start) < duration.as_nanos() {
        for _ in 0..BATCH {
            black_box(getppid());
        }
        let now = now_ns();
        batches_ns.push(now - last);
        last = now;
    }
    let batch_ns = median(batches_ns).ok_or(LimitError::TooBusy { after: duration })?;
    Ok(batch_ns as f64 / BATCH as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_takes_longer_than_an_instruction() {
        let call_ns = system_call_ns(Duration::from_millis(2)).unwrap();
        assert!(call_ns > 5.0, "{call_ns}");
        assert!(system_call_ns(Duration::ZERO).is_err());
    }
}
