//! Placement of the peers on CPUs.

use std::fmt;
use std::str::FromStr;

/// Placement of the peers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Placement {
    /// Both peers on the first allowed CPU.
    Same,
    /// The first two allowed CPUs.
    Split,
    /// Two hardware threads of one core.
    Smt,
    /// Two cores that share a last-level cache.
    Llc,
    /// Two NUMA nodes.
    Numa,
    /// No pinning: the scheduler places the peers.
    Free,
    /// The given CPUs: that of the sender and that of the receiver.
    Pair(u32, u32),
}

/// Error for a word that is not a placement.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown placement `{0}`; expected one of {names}, or {pair}", names = names(), pair = PAIR)]
pub struct UnknownPlacement(pub String);

/// Description of the placements that have no name.
pub const PAIR: &str = "a pair of CPUs such as 0:1";

/// Placements that have a name. [`Placement::about`] describes each.
pub const NAMES: [(&str, Placement); 6] = [
    ("same", Placement::Same),
    ("split", Placement::Split),
    ("smt", Placement::Smt),
    ("llc", Placement::Llc),
    ("numa", Placement::Numa),
    ("free", Placement::Free),
];

fn names() -> String {
    NAMES.map(|(word, _)| word).join(", ")
}

impl Placement {
    /// Returns a description in a few words, for help.
    #[must_use]
    pub const fn about(self) -> &'static str {
        match self {
            Self::Same => {
                "one CPU for both: shows the cost of a message if nothing runs in parallel"
            }
            Self::Split => {
                "the first two allowed CPUs: shows what peers gain and lose by working in parallel"
            }
            Self::Smt => "two hardware threads of a core",
            Self::Llc => "two cores that share the last-level cache",
            Self::Numa => "two NUMA nodes",
            Self::Free => "not pinned: the scheduler decides, as for most services",
            Self::Pair(..) => "the given CPUs",
        }
    }
}

impl fmt::Display for Placement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Self::Pair(sender, receiver) = self {
            return write!(f, "{sender}:{receiver}");
        }
        let word = NAMES.iter().find(|(_, placement)| placement == self);
        f.write_str(word.map_or("", |(word, _)| word))
    }
}

impl FromStr for Placement {
    type Err = UnknownPlacement;

    fn from_str(text: &str) -> Result<Self, UnknownPlacement> {
        if let Some((_, placement)) = NAMES.iter().find(|(word, _)| *word == text) {
            return Ok(*placement);
        }
        let pair = text.split_once(':').and_then(|(sender, receiver)| {
            Some(Self::Pair(sender.parse().ok()?, receiver.parse().ok()?))
        });
        pair.ok_or_else(|| UnknownPlacement(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placements_are_written_as_they_are_read() {
        for word in ["same", "split", "smt", "llc", "numa", "free", "0:1", "3:3"] {
            assert_eq!(word.parse::<Placement>().unwrap().to_string(), word);
        }
        assert!("0:".parse::<Placement>().is_err());
        let refused = "splti".parse::<Placement>().unwrap_err().to_string();
        let words = "unknown placement `splti`; expected one of same, split, smt, llc, numa, free, or a pair of CPUs \
            such as 0:1";
        assert_eq!(refused, words);
    }
}
