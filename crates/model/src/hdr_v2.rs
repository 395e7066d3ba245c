//! The bins of a stored histogram, read straight from its bytes.
//!
//! HDR V2 is a header of 40 bytes, all of it big-endian, and a payload:
//!
//! | bytes | what |
//! |---|---|
//! | 4 | a cookie that names the format |
//! | 4 | bytes of the payload |
//! | 4 | an offset, always 0 here |
//! | 4 | significant decimal digits |
//! | 8, 8 | lowest value told from 0, highest value that can be held |
//! | 8 | a factor, always 1.0 here |
//!
//! The payload has the counts of the bins in ascending order, as signed integers in a variable
//! number of bytes (`ZigZag`, then LEB128 of at most nine); a negative one is a run of empty bins.
//! Building a histogram from that takes a quarter of a megabyte and a walk over it, whatever is in
//! it, and as much as a header claims. Here nothing is allocated, and a header can claim what it
//! likes.
//!
//! Reference: G. Tene, *`HdrHistogram`*, `AbstractHistogram.encodeIntoByteBuffer`.

/// What a V2 histogram, not compressed, starts with.
const COOKIE: u32 = 0x1c84_9313;
/// Bytes before the payload.
const HEADER: usize = 40;
/// More digits than these HDR does not have.
const MOST_DIGITS: u32 = 5;
/// An integer has no more bytes than this; the last is taken whole.
const MOST_BYTES: u32 = 9;

/// Which values fall into which bin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Scale {
    /// The width of the narrowest bins is two to this power.
    unit: u32,
    /// So many bins, two to this power, are of one width; of the narrowest twice as many.
    half: u32,
}

/// A stored histogram.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stored<'a> {
    pub(crate) scale: Scale,
    bins: usize,
    payload: &'a [u8],
}

impl Scale {
    /// The scale that tells values from `low` on apart to `digits` decimal digits. `None` where 64
    /// bits do not hold it.
    pub(crate) fn new(low: u64, digits: u32) -> Option<Self> {
        let whole = 2 * 10_u32.pow(Some(digits).filter(|digits| *digits <= MOST_DIGITS)?);
        let half = whole.next_power_of_two().trailing_zeros() - 1;
        let unit = low.checked_ilog2()?;
        (unit + half < 63).then_some(Self { unit, half })
    }

    /// The value in the middle of the bin `index`.
    pub(crate) fn value(self, index: usize) -> u64 {
        let (width, place) = match index >> self.half {
            0 => (0, index),
            doublings => {
                let within = index & ((1 << self.half) - 1);
                (doublings - 1, within | (1 << self.half))
            }
        };
        // A bin beyond 64 bits is refused before its value is asked for.
        let shift = u32::try_from(width).unwrap_or(u32::MAX).saturating_add(self.unit);
        let lowest = (place as u64).checked_shl(shift).unwrap_or(u64::MAX);
        lowest.saturating_add(1_u64.checked_shl(shift).unwrap_or(0) >> 1)
    }

    /// How many bins hold the values up to `high`.
    fn bins(self, high: u64) -> usize {
        let narrowest = self.unit + self.half + 1;
        let doublings = high.checked_ilog2().map_or(0, |log| (log + 1).saturating_sub(narrowest));
        (doublings as usize + 2) << self.half
    }
}

impl<'a> Stored<'a> {
    /// Reads the header.
    ///
    /// # Errors
    /// That it is none, or of a kind that ipcperf does not write.
    pub(crate) fn parse(bytes: &'a [u8]) -> Result<Self, String> {
        let short = || "not an HDR V2 histogram: too short".to_owned();
        let (header, rest) = bytes.split_at_checked(HEADER).ok_or_else(short)?;
        let long = |at: usize| u64::from_be_bytes(std::array::from_fn(|i| header[at + i]));
        let short_word = |at: usize| u32::from_be_bytes(std::array::from_fn(|i| header[at + i]));
        if short_word(0) != COOKIE {
            return Err("not an HDR V2 histogram: it starts otherwise".to_owned());
        }
        if short_word(8) != 0 || long(32) != 1.0_f64.to_bits() {
            return Err("an HDR histogram with an offset or a factor".to_owned());
        }
        let (low, high) = (long(16), long(24));
        let scale = Scale::new(low, short_word(12)).filter(|_| high / 2 >= low);
        let scale = scale.ok_or("an HDR histogram of impossible bounds")?;
        let payload = usize::try_from(short_word(4)).ok().and_then(|length| rest.get(..length));
        Ok(Self { scale, bins: scale.bins(high), payload: payload.ok_or_else(short)? })
    }

    /// Hands each bin that is not empty to `see`, by index and count, in ascending order.
    ///
    /// # Errors
    /// That the payload ends within an integer, or has more bins than its bounds.
    pub(crate) fn each(&self, mut see: impl FnMut(usize, u64)) -> Result<(), String> {
        let (mut left, mut index) = (self.payload, 0_usize);
        while !left.is_empty() {
            let (value, rest) = integer(left).ok_or("an HDR histogram that ends too soon")?;
            left = rest;
            let run = match value {
                0 => 1,
                1.. if index >= self.bins => return Err("an HDR histogram too long".to_owned()),
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

/// The integer at the start of `bytes`, and what comes after it.
#[inline]
fn integer(bytes: &[u8]) -> Option<(i64, &[u8])> {
    let (mut value, mut at) = (0_u64, 0_u32);
    for &byte in bytes.iter().take(MOST_BYTES as usize) {
        let is_last = at + 1 == MOST_BYTES;
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

    /// What the crate that writes histograms says of `bytes`.
    fn by_hdr(bytes: &[u8]) -> Option<Vec<(u64, u64)>> {
        let histogram: Histogram<u64> = Deserializer::new().deserialize(&mut &*bytes).ok()?;
        let middle = |value| histogram.median_equivalent(value);
        let steps = histogram.iter_recorded();
        Some(steps.map(|s| (middle(s.value_iterated_to()), s.count_at_value())).collect())
    }

    fn by_us(bytes: &[u8]) -> Result<Vec<(u64, u64)>, String> {
        let (stored, mut pairs) = (Stored::parse(bytes)?, Vec::new());
        stored.each(|index, count| pairs.push((stored.scale.value(index), count)))?;
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
            prop_assert_eq!(by_us(&bytes).unwrap(), by_hdr(&bytes).unwrap());
        }

        /// A changed payload is read alike or refused by both; claims in the header are left out,
        /// for HDR would allocate what they say.
        #[test]
        fn what_was_changed_is_read_as_hdr_reads_it(
            values in values(),
            at: prop::sample::Index,
            flip in 1_u8..,
        ) {
            let mut bytes = stored(1, 1 << 39, 3, &values);
            if bytes.len() > HEADER {
                let at = HEADER + at.index(bytes.len() - HEADER);
                bytes[at] ^= flip;
                prop_assert_eq!(by_us(&bytes).ok(), by_hdr(&bytes));
            }
        }

        #[test]
        fn nothing_makes_it_panic(bytes: Vec<u8>, at: prop::sample::Index, byte: u8) {
            let _ = by_us(&bytes);
            let mut bytes = stored(1, 1 << 39, 3, &[(1, 1), (1 << 38, 7)]);
            let at = at.index(bytes.len());
            bytes[at] = byte;
            let _ = by_us(&bytes);
            let _ = by_us(&bytes[..at]);
        }
    }

    #[test]
    fn the_largest_values_have_bins() {
        let bytes = stored(1, u64::MAX, 3, &[(u64::MAX, 2), (u64::MAX / 2, 1)]);
        assert_eq!(by_us(&bytes).unwrap(), by_hdr(&bytes).unwrap());
    }

    #[test]
    fn a_claim_of_gigabytes_is_refused_at_once() {
        let mut bytes = stored(1, 1 << 39, 3, &[(5, 5)]);
        bytes[4..8].fill(0xff);
        assert!(by_us(&bytes).unwrap_err().contains("too short"));
    }
}
