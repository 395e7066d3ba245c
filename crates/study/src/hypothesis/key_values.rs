//! Parsing of a claim's keys into the types that tests judge with.

use crate::better::float;
use crate::values::Value;
use crate::{Key, Metric, Mistakes, Selection, Values};

/// Values of the keys of a claim. Each is the one that the study file gives, or the default of its key.
pub(super) struct KeyValues<'v>(&'v Values);

/// Reason why a key has no usable value.
#[derive(Debug)]
pub(super) enum KeyError {
    /// The key is required and has no valid value, which was reported when its table was read.
    Absent,
    /// Its value or its default has the wrong form.
    Unusable {
        /// Name of the key.
        key: &'static str,
        /// Description of the mistake.
        what: String,
        /// How to fix it.
        remedy: String,
    },
}

/// A type that values of keys are parsed into.
pub(super) trait KeyValue: Sized {
    /// Converts the value that a study file gives. `None` if it has the wrong form.
    fn from_value(value: &Value) -> Option<Self>;
}

/// A type whose keys may have a default.
pub(super) trait KeyDefault: KeyValue {
    /// Parses the default of a key. `None` if it has the wrong form.
    fn from_default(text: &str) -> Option<Self>;
}

/// A type with a variant for each word that its key accepts.
pub(super) trait KeyChoice: Sized {
    /// Returns the variant for `word`.
    fn from_choice(word: &str) -> Option<Self>;
}

impl<'v> KeyValues<'v> {
    pub(super) const fn new(values: &'v Values) -> Self {
        Self(values)
    }

    /// Parses the value of `key`, which has no default.
    pub(super) fn required<T: KeyValue>(&self, key: &Key) -> Result<T, KeyError> {
        self.optional(key)?.ok_or(KeyError::Absent)
    }

    /// Parses the value of `key`, or its default if it is left out.
    pub(super) fn value<T: KeyDefault>(&self, key: &Key) -> Result<T, KeyError> {
        if let Some(value) = self.optional(key)? {
            return Ok(value);
        }
        let default = key.default().ok_or(KeyError::Absent)?;
        T::from_default(default).ok_or_else(|| KeyError::Unusable {
            key: key.name,
            what: format!("the default `{default}` is invalid"),
            remedy: format!("set a value, such as {}, and report this as a bug", example(key)),
        })
    }

    /// Parses the value of `key`, if it is given. Its default is a description of what leaving it out means.
    pub(super) fn optional<T: KeyValue>(&self, key: &Key) -> Result<Option<T>, KeyError> {
        let Some(value) = self.0.get(key.name) else { return Ok(None) };
        T::from_value(value).map(Some).ok_or_else(|| KeyError::Unusable {
            key: key.name,
            what: format!("it must be {}", key.about),
            remedy: format!("example: {}", example(key)),
        })
    }
}

fn example(key: &Key) -> String {
    format!("{} = {}", key.name, key.example)
}

impl KeyError {
    /// Reports the error as a mistake in the table that holds `values`, unless it is reported already.
    pub(super) fn report(self, values: &Values, mistakes: &mut Mistakes) {
        if let Self::Unusable { key, what, remedy } = self {
            let (line, path) = values.location_of(key);
            mistakes.add((line, &path), what, remedy);
        }
    }
}

/// A number, or a size in bytes as a level of a line.
impl KeyValue for f64 {
    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Number(number) => Some(*number),
            Value::Bytes(bytes) => Some(float(*bytes)),
            _ => None,
        }
    }
}

impl KeyDefault for f64 {
    fn from_default(text: &str) -> Option<Self> {
        text.parse().ok()
    }
}

impl KeyValue for usize {
    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Integer(count) => Self::try_from(*count).ok(),
            _ => None,
        }
    }
}

impl KeyDefault for usize {
    fn from_default(text: &str) -> Option<Self> {
        text.parse().ok()
    }
}

impl KeyValue for String {
    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Text(text) => Some(text.clone()),
            _ => None,
        }
    }
}

impl KeyDefault for String {
    fn from_default(text: &str) -> Option<Self> {
        Some(text.to_owned())
    }
}

impl<T: KeyChoice> KeyValue for T {
    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Choice(word) => Self::from_choice(word),
            _ => None,
        }
    }
}

impl<T: KeyChoice> KeyDefault for T {
    fn from_default(text: &str) -> Option<Self> {
        Self::from_choice(text)
    }
}

impl KeyValue for Selection {
    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Cases(selection) => Some(selection.clone()),
            _ => None,
        }
    }
}

impl KeyValue for Metric {
    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Metric(metric) => Some(metric.clone()),
            _ => None,
        }
    }
}
