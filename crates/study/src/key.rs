//! What a key of a study's file is, and what it may be given. Reading, the JSON Schema, the page on how to
//! write a study and the file that `study new` makes all come from lists of these.

/// A key that a table of the file may have.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Its name.
    pub name: &'static str,
    /// What it may be given.
    pub takes: Takes,
    /// Whether it must be there.
    pub need: Need,
    /// What it means.
    pub about: &'static str,
    /// As it is written after the equals sign.
    pub example: &'static str,
}

/// Whether a key must be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// It must.
    Required,
    /// Left out, it is as these words say.
    Optional(&'static str),
}

impl Key {
    /// The default as it would be written, or words that say that there is none; `None` where the key is required.
    #[must_use]
    pub const fn default(&self) -> Option<&'static str> {
        match self.need {
            Need::Required => None,
            Need::Optional(words) => Some(words),
        }
    }
}

/// A range as wide as this is there to keep sums finite, and bounds nothing that anyone would write.
const UNBOUNDED: f64 = 1e300;

/// What a key may be given.
#[derive(Clone, Copy, Debug)]
pub enum Takes {
    /// Words for people.
    Text,
    /// Letters, digits and `-_.`: what can be named on a command line.
    Name,
    /// A level of a factor, or a list of levels, as a flag of `ipcperf run` takes them.
    Levels,
    /// A whole number from the first to the second.
    Whole(u64, u64),
    /// A number from the first to the second, both in.
    Number(f64, f64),
    /// One of these.
    OneOf(&'static [&'static str]),
    /// Bytes, such as `64KiB`.
    Bytes,
    /// Cases: a table of factors with a level or a list of them.
    Cases,
    /// What is compared: the name of a metric, or a table that says which numbers of an instrument.
    Metric,
    /// One such or several.
    Metrics,
    /// One of these words or several.
    Words(&'static [&'static str]),
    /// A table of words: fields of what an instrument told, with what they must be.
    Fields,
    /// A table with keys of its own.
    Table(&'static [Key]),
    /// A table with keys of the test that the hypothesis names: read where that is known.
    Judgement,
    /// Several such, each as `[[name]]`.
    Tables(&'static [Key]),
}

impl Takes {
    /// The keys of the table that it takes, if these are its own.
    #[must_use]
    pub const fn table(self) -> Option<&'static [Key]> {
        match self {
            Self::Table(keys) | Self::Tables(keys) => Some(keys),
            _ => None,
        }
    }

    /// In words, for who gave something else.
    pub fn words(self) -> String {
        match self {
            Self::Text => "text in quotes".to_owned(),
            Self::Name => "a name of letters, digits and -_.".to_owned(),
            Self::Levels => "a level or a list of levels, as the flag of ipcperf run".to_owned(),
            Self::Whole(least, most) => format!("a whole number of {least} to {most}"),
            Self::Number(least, f64::MAX) => format!("a number of at least {least}"),
            Self::Number(least, most) if most - least >= UNBOUNDED => "a number".to_owned(),
            Self::Number(least, most) => format!("a number of {least} to {most}"),
            Self::OneOf(words) => format!("one of {}", words.join(", ")),
            Self::Bytes => "a size such as \"64KiB\"".to_owned(),
            Self::Cases => "a table of factors, such as { mechanism = \"pipe\" }".to_owned(),
            Self::Metric => {
                "the name of a metric, or a table { instrument = ..., field = ... }".to_owned()
            }
            Self::Metrics => "the name of a metric, or a list of metrics".to_owned(),
            Self::Words(words) => format!("one or several of {}", words.join(", ")),
            Self::Fields => "a table of fields, such as { syscall = \"openat\" }".to_owned(),
            Self::Table(_) | Self::Judgement => "a table".to_owned(),
            Self::Tables(_) => "a list of tables".to_owned(),
        }
    }
}
