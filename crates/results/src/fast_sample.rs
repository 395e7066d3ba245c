//! Fast path that parses samples, several times as fast as the general one.
//!
//! To parse a [`Line`](super::ResultsLine), serde buffers the whole object until it has seen the kind, and buffers the
//! flattened fields of a sample again at each level. Nearly all lines are samples, and nearly all keys of a sample
//! belong to roles. So this module checks the kind first and extracts the keys of roles on the way. All other
//! fields are left to the types, which alone know them.

use std::fmt::Formatter;

use serde::Deserialize;
use serde::de::value::{BorrowedStrDeserializer, MapAccessDeserializer};
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, Visitor};
use serde_json::Value;

use super::roles::KeyCache;
use crate::sample::{Sample, is_role_key};

/// Parses `line` as a sample. Returns `None` in every other case, so that the slow path can report it: the line is
/// not a sample, its kind does not come first, or it is invalid.
pub(super) fn parse_sample_fast(line: &str, known: &mut KeyCache) -> Option<Sample> {
    let mut json = serde_json::Deserializer::from_str(line);
    let sample = json.deserialize_map(SampleVisitor(known)).ok()?;
    json.end().is_ok().then_some(sample)
}

struct SampleVisitor<'a>(&'a mut KeyCache);

/// Capacity for the keys of two roles.
const ROLE_KEYS: usize = 24;

impl<'de> Visitor<'de> for SampleVisitor<'_> {
    type Value = Sample;

    fn expecting(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.write_str("a sample")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Sample, A::Error> {
        if map.next_entry::<&str, &str>()? != Some(("kind", "sample")) {
            return Err(A::Error::custom("no sample"));
        }
        let mut roles = Vec::with_capacity(ROLE_KEYS);
        let fields = SampleFields { map, roles: &mut roles };
        let mut sample = Sample::deserialize(MapAccessDeserializer::new(fields))?;
        sample.roles = self.0.build_role_values(roles);
        Ok(sample)
    }
}

/// Fields of a sample after its kind, without the keys of roles.
struct SampleFields<'a, 'de, A> {
    map: A,
    roles: &'a mut Vec<(&'de str, Option<u64>)>,
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for SampleFields<'_, 'de, A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, A::Error> {
        while let Some(key) = self.map.next_key::<&str>()? {
            if key == "kind" {
                return Err(A::Error::duplicate_field("kind"));
            }
            if !is_role_key(key) {
                return seed.deserialize(BorrowedStrDeserializer::new(key)).map(Some);
            }
            let value = self.map.next_value::<Value>()?;
            self.roles.push((key, value.as_u64()));
        }
        Ok(None)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, A::Error> {
        self.map.next_value_seed(seed)
    }
}

#[cfg(test)]
mod tests {
    use ipcperf_model::workload::WorkloadKind;
    use proptest::prelude::*;

    use super::*;
    use crate::ResultsLine;
    use crate::testing::sample;

    fn line() -> String {
        let mut sample = sample("pipe", WorkloadKind::RoundTrip, 64, 1, 4_000_000);
        sample.roles.insert("sender_user_ns".to_owned(), Some(5));
        sample.roles.insert("receiver_calls".to_owned(), None);
        sample.run.case.options.insert("mode".to_owned(), "fast".to_owned());
        serde_json::to_string(&ResultsLine::Sample(sample)).unwrap()
    }

    fn read(line: &str) -> Option<Sample> {
        parse_sample_fast(line, &mut KeyCache::default())
    }

    /// Parses `line` on the slow path, if it is a sample.
    fn parse_sample_slow(line: &str) -> Option<Sample> {
        match serde_json::from_str(line) {
            Ok(ResultsLine::Sample(sample)) => Some(sample),
            _ => None,
        }
    }

    #[test]
    fn a_sample_as_it_is_written_needs_no_long_way() {
        assert!(read(&line()).is_some());
        assert_eq!(read(&line()), parse_sample_slow(&line()));
    }

    #[test]
    fn what_is_not_plain_is_left_to_the_long_way() {
        let line = line();
        let doubled = line.replacen("\"block\"", "\"kind\":\"footer\",\"block\"", 1);
        let other = line.replacen("sample", "failure", 1);
        let torn = &line[..line.len() / 2];
        let followed = format!("{line} {line}");
        for text in ["", "{}", "[]", &doubled, &other, torn, &followed] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    /// Returns the positions in `line` where a key or a value begins, and so can be duplicated or changed.
    fn places(line: &str) -> Vec<usize> {
        line.match_indices(['"', ',', ':']).map(|(at, _)| at).collect()
    }

    proptest! {
        /// The fast path may give up, but must never return a different sample.
        #[test]
        fn both_ways_read_the_same(
            place: prop::sample::Index,
            length in 0..30_usize,
            put in "([{}\\[\\],:\"]|null|0|-1|1e3|1e999|\"kind\":|\"sender_x\":|\\\\u0061){0,3}",
        ) {
            let mut line = line();
            let start = *place.get(&places(&line));
            line.replace_range(start..(start + length).min(line.len()), &put);
            if let Some(sample) = read(&line) {
                prop_assert_eq!(Some(sample), parse_sample_slow(&line));
            }
        }
    }
}
