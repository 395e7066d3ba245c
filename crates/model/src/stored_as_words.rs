//! Conversions of types that results files store as words.

/// Implements the conversions from and to a string with which serde stores each type, by its `FromStr` and `Display`.
macro_rules! stored_as_words {
    ($($stored:ty),+) => {$(
        impl TryFrom<String> for $stored {
            type Error = <Self as std::str::FromStr>::Err;

            fn try_from(word: String) -> Result<Self, Self::Error> {
                word.parse()
            }
        }

        impl From<$stored> for String {
            fn from(stored: $stored) -> Self {
                stored.to_string()
            }
        }
    )+};
}

pub(crate) use stored_as_words;
