//! A key of a study file and the values that it accepts. The reader, the JSON Schema, the page on writing a study and
//! the file written by `study new` are all generated from lists of these.

/// A key that a table of the file may have.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Name of the key.
    pub name: &'static str,
    /// Values that it accepts.
    pub value_type: ValueType,
    /// Whether it is required.
    pub requirement: Requirement,
    /// Meaning of the key, for documentation.
    pub about: &'static str,
    /// Example value, as written after the equals sign.
    pub example: &'static str,
}

/// Whether a key is required.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Requirement {
    /// The key is required.
    Required,
    /// The key is required unless this one is given instead.
    Unless(&'static str),
    /// The key is optional; the text describes the default.
    Optional(&'static str),
}

impl Key {
    /// Returns the default as it would be written, or a description of it. `None` if the key is required.
    #[must_use]
    pub const fn default(&self) -> Option<&'static str> {
        match self.requirement {
            Requirement::Required | Requirement::Unless(_) => None,
            Requirement::Optional(words) => Some(words),
        }
    }
}

/// Width from which a numeric range counts as unbounded. Such ranges exist only to keep sums finite.
const UNBOUNDED: f64 = 1e300;

/// Values that a key accepts.
#[derive(Clone, Copy, Debug)]
pub enum ValueType {
    /// Free text.
    Text,
    /// A name of letters, digits and `-_.`, so that it can be typed on a command line.
    Name,
    /// A level of a factor or a list of levels, in the syntax of the flags of `ipcperf run`.
    Levels,
    /// An integer in this inclusive range.
    Integer(u64, u64),
    /// A number in this inclusive range.
    Number(f64, f64),
    /// A duration in this inclusive range of seconds: a number of seconds, or text with a unit, such as `2s`.
    Duration(f64, f64),
    /// Two levels of a factor.
    LevelPair,
    /// Name of an earlier row or column of a table, or a list of such names.
    Names,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// A size in bytes, such as `64KiB`.
    Bytes,
    /// A selection of cases: a table of factors, each with a level or a list of levels.
    Cases,
    /// A metric: its name, or a table that selects numbers of an instrument.
    Metric,
    /// A metric or a list of metrics.
    Metrics,
    /// One or several of these words.
    Choices(&'static [&'static str]),
    /// A table of required field values of an instrument's rows.
    Fields,
    /// A table with these keys.
    Table(&'static [Key]),
    /// A table with the keys of the test that the hypothesis names. It is read once the test is known.
    OriginalTest,
    /// A list of tables with these keys, each written as `[[name]]`.
    Tables(&'static [Key]),
}

impl ValueType {
    /// Returns the keys of the table that it accepts, if they are fixed.
    #[must_use]
    pub const fn table(self) -> Option<&'static [Key]> {
        match self {
            Self::Table(keys) | Self::Tables(keys) => Some(keys),
            _ => None,
        }
    }

    /// Describes the accepted values, for a message about a wrong one.
    pub fn description(self) -> String {
        match self {
            Self::Text => "text in quotes".to_owned(),
            Self::Name => "a name of letters, digits, `-`, `_` and `.`".to_owned(),
            Self::Levels => "one level or a list of levels".to_owned(),
            Self::LevelPair => "a list of two levels".to_owned(),
            Self::Names => "one name or a list of names".to_owned(),
            Self::Integer(least, most) => format!("a whole number from {least} to {most}"),
            Self::Number(least, f64::MAX) => format!("a number that is at least {least}"),
            Self::Number(least, most) if most - least >= UNBOUNDED => "a number".to_owned(),
            Self::Number(least, most) => format!("a number from {least} to {most}"),
            Self::Duration(least, most) => {
                format!("a duration from {least} s to {most} s: a number of seconds, or text such as \"2min\"")
            }
            Self::Choice(words) => alternatives(words),
            Self::Bytes => "a size such as \"64KiB\"".to_owned(),
            Self::Cases => "a table of factors and their levels".to_owned(),
            Self::Metric => {
                "the name of a metric, or a table { instrument = ..., field = ... }".to_owned()
            }
            Self::Metrics => "one metric or a list of metrics, each a name or a table { instrument = ..., field = ... }"
                .to_owned(),
            Self::Choices(words) => format!("one or several of {}", quoted(words).join(", ")),
            Self::Fields => "a table of fields and their values".to_owned(),
            Self::Table(_) | Self::OriginalTest => "a table".to_owned(),
            Self::Tables(_) => "a list of tables".to_owned(),
        }
    }
}

/// Returns `words` in the quotes of a study file.
fn quoted(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| format!("\"{word}\"")).collect()
}

/// Lists `words` as alternatives: `"a", "b" or "c"`.
fn alternatives(words: &[&str]) -> String {
    match quoted(words).as_slice() {
        [first @ .., last] if !first.is_empty() => format!("{} or {last}", first.join(", ")),
        one => one.concat(),
    }
}
