//! Reads the bins of a stored histogram directly from its bytes.
//!
//! HDR V2 is a header of 40 bytes, all big-endian, followed by a payload:
//!
//! | bytes | field |
//! |---|---|
//! | 4 | cookie that identifies the format |
//! | 4 | length of the payload in bytes |
//! | 4 | offset, always 0 here |
//! | 4 | significant decimal digits |
//! | 8, 8 | lowest value that is distinguished from 0, highest value that can be stored |
//! | 8 | factor, always 1.0 here |
//!
//! The payload holds the counts of the bins in ascending order, as signed integers of variable length (`ZigZag`,
//! then LEB128 of at most nine bytes). A negative integer is a run of empty bins.
//!
//! The `hdrhistogram` crate allocates whatever the header claims: a quarter of a megabyte even for a small
//! histogram, and then walks all of it. This reader allocates nothing, so a false claim in a header is harmless.
//!
//! Reference: G. Tene, *`HdrHistogram`*, `AbstractHistogram.encodeIntoByteBuffer`.

/// Cookie of an uncompressed V2 histogram.
const COOKIE: u32 = 0x1c84_9313;
/// Length of the header, bytes.
const HEADER_BYTES: usize = 40;
/// Maximum number of significant digits in HDR.
const MAX_DIGITS: u32 = 5;
/// Maximum length of an integer, bytes; the last byte carries eight bits of value.
const MAX_INTEGER_BYTES: u32 = 9;

/// Mapping of values to bins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Scale {
    /// Binary logarithm of the width of the narrowest bins.
    unit_magnitude: u32,
    /// Binary logarithm of the number of bins of one width; there are twice as many of the narrowest.
    half_count_magnitude: u32,
}

/// Histogram in its stored form.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EncodedHistogram<'a> {
    pub(crate) scale: Scale,
    bins: usize,
    payload: &'a [u8],
}

impl Scale {
    /// Returns the scale that distinguishes values from `low` on to `digits` decimal digits, or `None` if it does
    /// not fit into 64 bits.
    pub(crate) fn new(low: u64, digits: u32) -> Option<Self> {
        let whole = 2 * 10_u32.pow(Some(digits).filter(|digits| *digits <= MAX_DIGITS)?);
        let half = whole.next_power_of_two().trailing_zeros() - 1;
        let unit = low.checked_ilog2()?;
        (unit + half < 63).then_some(Self { unit_magnitude: unit, half_count_magnitude: half })
    }

    /// Returns the value in the middle of the bin `index`.
    pub(crate) fn value(self, index: usize) -> u64 {
        let (width, place) = match index >> self.half_count_magnitude {
            0 => (0, index),
            doublings => {
                let within = index & ((1 << self.half_count_magnitude) - 1);
                (doublings - 1, within | (1 << self.half_count_magnitude))
            }
        };
        // Bins beyond 64 bits are rejected before this function is called.
        let shift = u32::try_from(width).unwrap_or(u32::MAX).saturating_add(self.unit_magnitude);
        let lowest = (place as u64).checked_shl(shift).unwrap_or(u64::MAX);
        lowest.saturating_add(1_u64.checked_shl(shift).unwrap_or(0) >> 1)
    }

    /// Number of bins that hold the values up to `high`.
    fn bins(self, high: u64) -> usize {
        let narrowest = self.unit_magnitude + self.half_count_magnitude + 1;
        let doublings = high.checked_ilog2().map_or(0, |log| (log + 1).saturating_sub(narrowest));
        (doublings as usize + 2) << self.half_count_magnitude
    }
}

impl<'a> EncodedHistogram<'a> {
    /// Parses the header.
    ///
    /// # Errors
    /// Returns a message if `bytes` is not an HDR V2 histogram, or is of a variant that ipcperf does not write.
    pub(crate) fn parse(bytes: &'a [u8]) -> Result<Self, String> {
        let short = || "not an HDR V2 histogram: too short".to_owned();
        let (header, rest) = bytes.split_at_checked(HEADER_BYTES).ok_or_else(short)?;
        let long = |at: usize| u64::from_be_bytes(std::array::from_fn(|i| header[at + i]));
        let short_word = |at: usize| u32::from_be_bytes(std::array::from_fn(|i| header[at + i]));
        if short_word(0) != COOKIE {
            return Err("not an HDR V2 histogram: wrong magic number".to_owned());
        }
        if short_word(8) != 0 || long(32) != 1.0_f64.to_bits() {
            return Err(
                "unsupported HDR histogram: it has a normalizing offset or a conversion factor"
                    .to_owned(),
            );
        }
        let (low, high) = (long(16), long(24));
        let scale = Scale::new(low, short_word(12)).filter(|_| high / 2 >= low);
        let scale = scale.ok_or("invalid HDR histogram: impossible bounds")?;
        let payload = usize::try_from(short_word(4)).ok().and_then(|length| rest.get(..length));
        Ok(Self { scale, bins: scale.bins(high), payload: payload.ok_or_else(short)? })
    }

    /// Calls `see` with the index and count of each bin that is not empty, in ascending order.
    ///
    /// # Errors
    /// Returns a message if the payload ends within an integer, or has more bins than its bounds allow.
    pub(crate) fn for_each(&self, mut see: impl FnMut(usize, u64)) -> Result<(), String> {
        let (mut left, mut index) = (self.payload, 0_usize);
        while !left.is_empty() {
            let (value, rest) = read_integer(left).ok_or("invalid HDR histogram: truncated")?;
            left = rest;
            let run = match value {
                0 => 1,
                1.. if index >= self.bins => {
                    return Err("invalid HDR histogram: too long".to_owned());
                }
                1.. => {
                    see(index, value.unsigned_abs());
                    1
                }
                _ => usize::try_from(value.unsigned_abs()).unwrap_or(usize::MAX),
            };
            index = index.saturating_add(run);
        }
        Ok(())
    }
}

/// Returns the integer at the start of `bytes` and the bytes after it.
#[inline]
fn read_integer(bytes: &[u8]) -> Option<(i64, &[u8])> {
    let (mut value, mut at) = (0_u64, 0_u32);
    for &byte in bytes.iter().take(MAX_INTEGER_BYTES as usize) {
        let is_last = at + 1 == MAX_INTEGER_BYTES;
        value |= u64::from(if is_last { byte } else { byte & 0x7f }) << (7 * at);
        at += 1;
        if is_last || byte < 0x80 {
            // ZigZag: the sign is the lowest bit.
            let signed = (value >> 1).cast_signed() ^ -((value & 1).cast_signed());
            return Some((signed, &bytes[at as usize..]));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use hdrhistogram::Histogram;
    use hdrhistogram::serialization::{Deserializer, Serializer as _, V2Serializer};
    use proptest::prelude::*;

    use super::*;

    /// Decodes `bytes` with the crate that writes the histograms.
    fn decode_with_hdrhistogram(bytes: &[u8]) -> Option<Vec<(u64, u64)>> {
        let histogram: Histogram<u64> = Deserializer::new().deserialize(&mut &*bytes).ok()?;
        let middle = |value| histogram.median_equivalent(value);
        let steps = histogram.iter_recorded();
        Some(steps.map(|s| (middle(s.value_iterated_to()), s.count_at_value())).collect())
    }

    fn decode_here(bytes: &[u8]) -> Result<Vec<(u64, u64)>, String> {
        let (stored, mut pairs) = (EncodedHistogram::parse(bytes)?, Vec::new());
        stored.for_each(|index, count| pairs.push((stored.scale.value(index), count)))?;
        Ok(pairs)
    }

    fn stored(low: u64, high: u64, digits: u8, values: &[(u64, u64)]) -> Vec<u8> {
        let mut histogram = Histogram::<u64>::new_with_bounds(low, high, digits).unwrap();
        values.iter().for_each(|&(value, count)| histogram.saturating_record_n(value, count));
        let mut bytes = Vec::new();
        V2Serializer::new().serialize(&histogram, &mut bytes).unwrap();
        bytes
    }

    fn values() -> impl Strategy<Value = Vec<(u64, u64)>> {
        let value = (0..63_u32, any::<u64>()).prop_map(|(bits, any)| any >> (63 - bits));
        let count = prop_oneof![1..100_u64, 1..(1_u64 << 40)];
        prop::collection::vec((value, count), 0..60)
    }

    proptest! {
        #[test]
        fn bins_are_those_of_hdr(
            low in prop_oneof![Just(1_u64), 1..5_000_u64],
            high in 14..62_u32,
            digits in 0..=5_u8,
            values in values(),
        ) {
            let bytes = stored(low, 1 << high, digits, &values);
            prop_assert_eq!(decode_here(&bytes).unwrap(), decode_with_hdrhistogram(&bytes).unwrap());
        }

        /// A changed payload is read with the same result, or rejected, by both readers. The header is not changed:
        /// HDR would allocate whatever it claims.
        #[test]
        fn what_was_changed_is_read_as_hdr_reads_it(
            values in values(),
            at: prop::sample::Index,
            flip in 1_u8..,
        ) {
            let mut bytes = stored(1, 1 << 39, 3, &values);
            if bytes.len() > HEADER_BYTES {
                let at = HEADER_BYTES + at.index(bytes.len() - HEADER_BYTES);
                bytes[at] ^= flip;
                prop_assert_eq!(decode_here(&bytes).ok(), decode_with_hdrhistogram(&bytes));
            }
        }

        #[test]
        fn nothing_makes_it_panic(bytes: Vec<u8>, at: prop::sample::Index, byte: u8) {
            let _ = decode_here(&bytes);
            let mut bytes = stored(1, 1 << 39, 3, &[(1, 1), (1 << 38, 7)]);
            let at = at.index(bytes.len());
            bytes[at] = byte;
            let _ = decode_here(&bytes);
            let _ = decode_here(&bytes[..at]);
        }
    }

    #[test]
    fn the_largest_values_have_bins() {
        let bytes = stored(1, u64::MAX, 3, &[(u64::MAX, 2), (u64::MAX / 2, 1)]);
        assert_eq!(decode_here(&bytes).unwrap(), decode_with_hdrhistogram(&bytes).unwrap());
    }

    #[test]
    fn a_claim_of_gigabytes_is_refused_at_once() {
        let mut bytes = stored(1, 1 << 39, 3, &[(5, 5)]);
        bytes[4..8].fill(0xff);
        assert!(decode_here(&bytes).unwrap_err().contains("too short"));
    }
}
