//! How a peer waits for the other one: values of the option `wait` of mechanisms.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use crate::duration::parse_duration;

/// Word of the wait that spins, alone or with a duration.
const SPIN: &str = "spin";
/// Longest time for which a peer tries before it blocks: longer waits are as good as never blocking.
const MAX_WINDOW: Duration = Duration::from_secs(10);
/// Description of the duration of `spin:DURATION`.
pub const VALID_WINDOW: &str = "a duration from 1ns to 10s, such as 20us";

/// How a peer waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Wait {
    /// Sleeps in the transfer itself.
    Block,
    /// Sleeps in `poll`, then transfers.
    Poll,
    /// Sleeps in `select`, then transfers.
    Select,
    /// Tries again and again, and never sleeps.
    Spin,
    /// Tries without blocking for this long, then sleeps in the transfer.
    SpinFor(Duration),
    /// Spins for a time that the mechanism adapts, then sleeps.
    Adaptive,
}

impl Wait {
    /// Word in lists of values: that of [`Wait::SpinFor`] is the one of [`Wait::Spin`].
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Block => "block",
            Self::Poll => "poll",
            Self::Select => "select",
            Self::Spin | Self::SpinFor(_) => SPIN,
            Self::Adaptive => "adaptive",
        }
    }
}

impl fmt::Display for Wait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::SpinFor(window) = self else { return f.write_str(self.word()) };
        let ns = window.as_nanos();
        let units = [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us"), (1, "ns")];
        let (factor, unit) =
            units.into_iter().find(|(factor, _)| ns.is_multiple_of(*factor)).unwrap_or((1, "ns"));
        write!(f, "{SPIN}:{}{unit}", ns / factor)
    }
}

/// Text that names no way to wait.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a way to wait")]
pub struct WaitError(String);

impl FromStr for Wait {
    type Err = WaitError;

    fn from_str(text: &str) -> Result<Self, WaitError> {
        let refused = || WaitError(text.to_owned());
        match text {
            "block" => Ok(Self::Block),
            "poll" => Ok(Self::Poll),
            "select" => Ok(Self::Select),
            SPIN => Ok(Self::Spin),
            "adaptive" => Ok(Self::Adaptive),
            _ => {
                let window = text.strip_prefix(SPIN).and_then(|rest| rest.strip_prefix(':'));
                let seconds = parse_duration(window.ok_or_else(refused)?).map_err(|_| refused())?;
                let window = Duration::try_from_secs_f64(seconds).map_err(|_| refused())?;
                if window.is_zero() || window > MAX_WINDOW {
                    return Err(refused());
                }
                Ok(Self::SpinFor(window))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_window_has_its_shortest_form() {
        for (text, shown) in [
            ("block", "block"),
            ("adaptive", "adaptive"),
            ("spin", "spin"),
            ("spin:20us", "spin:20us"),
            ("spin:20µs", "spin:20us"),
            ("spin:0.02ms", "spin:20us"),
            ("spin:1.5us", "spin:1500ns"),
            ("spin:2", "spin:2s"),
        ] {
            assert_eq!(text.parse::<Wait>().unwrap().to_string(), shown, "{text}");
        }
        for wrong in ["", "spin:", "spin:0us", "spin:-1us", "spin:11s", "spin:soon", "futex"] {
            wrong.parse::<Wait>().unwrap_err();
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(ns in 1_u64..10_000_000_000) {
            let wait = Wait::SpinFor(Duration::from_nanos(ns));
            prop_assert_eq!(wait.to_string().parse::<Wait>(), Ok(wait));
        }
    }
}
