//! Fills memory with the content of messages.

use ipcperf_model::message_options::Content;

/// Period of the random parts of compressible memory, bytes: short enough for the window of any codec.
const PERIOD_BYTES: usize = 1024;

/// Fills `memory` with `content`. It holds a message of `message_bytes` every `stride_bytes` and is constant before the
/// call.
pub(crate) fn fill(content: Content, memory: &mut [u8], message_bytes: usize, stride_bytes: usize) {
    let mut words = SplitMix64(message_bytes as u64);
    for place in memory.chunks_mut(stride_bytes) {
        let bytes = message_bytes.min(place.len());
        fill_one(content, &mut place[..bytes], &mut words);
    }
}

fn fill_one(content: Content, message: &mut [u8], words: &mut SplitMix64) {
    match content {
        Content::Constant => {}
        Content::Random => words.fill(message),
        Content::Compressible(ratio) => {
            for part in message.chunks_mut(PERIOD_BYTES) {
                let random = ratio.compressed_bytes(part.len());
                words.fill(&mut part[..random]);
            }
        }
    }
}

/// `SplitMix64` (Steele, Lea, Flood 2014, *Fast Splittable Pseudorandom Number Generators*).
struct SplitMix64(u64);

impl SplitMix64 {
    fn fill(&mut self, memory: &mut [u8]) {
        for bytes in memory.chunks_mut(8) {
            bytes.copy_from_slice(&self.next().to_le_bytes()[..bytes.len()]);
        }
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::DeflateEncoder;

    use super::*;

    /// Factor by which deflate shrinks messages that hold `content`.
    #[allow(clippy::cast_precision_loss, reason = "bytes of a message")]
    fn factor(content: &str, message_bytes: usize) -> f64 {
        let mut memory = vec![0x5A; 1 << 20];
        fill(content.parse().unwrap(), &mut memory, message_bytes, message_bytes);
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(&memory).unwrap();
        memory.len() as f64 / encoder.finish().unwrap().len() as f64
    }

    #[test]
    fn what_is_compressible_by_a_factor_is_made_smaller_by_about_that() {
        for bytes in [4_096, 112_192, 1 << 20] {
            assert!(factor("random", bytes) < 1.01);
            assert!(factor("constant", bytes) > 500.0);
            for wanted in [1.5, 2.0, 4.0, 10.0] {
                let found = factor(&format!("compressible:{wanted}"), bytes);
                assert!((found / wanted - 1.0).abs() < 0.1, "{wanted}: {found} at {bytes}");
            }
        }
    }
}
