//! Resource usage of the roles of a run, by key.
//!
//! Each sample has some twenty keys, the same as the sample before it. Stored as a map of strings, they took half
//! of the memory and half of the time needed for a large file. Therefore samples with the same keys share them.

use std::sync::Arc;

use serde::ser::{Serialize, SerializeMap, Serializer};

/// Values by key, in the order of the keys.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RoleValues {
    keys: Arc<[String]>,
    /// One value for each key.
    values: Box<[Option<u64>]>,
}

/// Sets of keys seen so far, for sharing with later samples.
#[derive(Debug, Default)]
pub(super) struct KeyCache(Vec<Arc<[String]>>);

/// Maximum number of shared sets of keys; no measured file has more.
const MAX_CACHED: usize = 8;

impl RoleValues {
    /// Returns the value of `key`.
    pub fn get(&self, key: &str) -> Option<&Option<u64>> {
        let at = self.keys.binary_search_by(|known| known.as_str().cmp(key)).ok()?;
        self.values.get(at)
    }

    /// Returns the keys in ascending order.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.keys.iter().map(String::as_str)
    }

    /// Returns the keys in ascending order, with their values.
    pub fn iter(&self) -> impl Iterator<Item = (&str, Option<u64>)> {
        self.keys().zip(self.values.iter().copied())
    }

    /// Sets one value.
    #[cfg(any(test, feature = "testing"))]
    pub fn insert(&mut self, key: String, value: Option<u64>) {
        let old = self.iter().map(|(key, value)| (key.to_owned(), value));
        *self = old.chain([(key, value)]).collect();
    }
}

impl KeyCache {
    /// Builds the map from `pairs` in any order. If a key occurs twice, the last value counts.
    pub(super) fn build_role_values(&mut self, mut pairs: Vec<(&str, Option<u64>)>) -> RoleValues {
        pairs.reverse();
        pairs.sort_by_key(|(key, _)| *key);
        pairs.dedup_by_key(|(key, _)| *key);
        let values = pairs.iter().map(|(_, value)| *value).collect();
        RoleValues { keys: self.keys(&pairs), values }
    }

    fn keys(&mut self, pairs: &[(&str, Option<u64>)]) -> Arc<[String]> {
        let keys = || pairs.iter().map(|(key, _)| *key);
        if let Some(known) = self.0.iter().find(|known| keys().eq(known.iter())) {
            return Arc::clone(known);
        }
        let new: Arc<[String]> = keys().map(str::to_owned).collect();
        if self.0.len() < MAX_CACHED {
            self.0.push(Arc::clone(&new));
        }
        new
    }
}

impl FromIterator<(String, Option<u64>)> for RoleValues {
    fn from_iter<I: IntoIterator<Item = (String, Option<u64>)>>(pairs: I) -> Self {
        let pairs: Vec<(String, Option<u64>)> = pairs.into_iter().collect();
        KeyCache::default()
            .build_role_values(pairs.iter().map(|(key, value)| (key.as_str(), *value)).collect())
    }
}

impl Serialize for RoleValues {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.keys.len()))?;
        self.iter().try_for_each(|(key, value)| map.serialize_entry(key, &value))?;
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_key_that_is_there_twice_the_last_counts() {
        let mut known = KeyCache::default();
        let roles = known.build_role_values(vec![
            ("b", Some(1)),
            ("a", None),
            ("b", Some(2)),
            ("c", Some(3)),
        ]);
        assert_eq!(roles.iter().collect::<Vec<_>>(), [("a", None), ("b", Some(2)), ("c", Some(3))]);
        assert_eq!((roles.get("b"), roles.get("d")), (Some(&Some(2)), None));
        assert_eq!(serde_json::to_string(&roles).unwrap(), r#"{"a":null,"b":2,"c":3}"#);
    }

    #[test]
    fn the_same_keys_are_shared_and_others_are_not() {
        let mut known = KeyCache::default();
        let one = known.build_role_values(vec![("a", Some(1)), ("b", Some(2))]);
        let same = known.build_role_values(vec![("b", None), ("a", None)]);
        let other = known.build_role_values(vec![("a", Some(1))]);
        assert!(Arc::ptr_eq(&one.keys, &same.keys) && !Arc::ptr_eq(&one.keys, &other.keys));
        for number in 0..20 {
            let key = number.to_string();
            assert_eq!(
                known.build_role_values(vec![(&key, None)]).keys().collect::<Vec<_>>(),
                [&key]
            );
        }
        assert_eq!(known.0.len(), MAX_CACHED);
    }
}
