//! The factors and settings of a request: the flag, the key of a study file and the default of each.

use ipcperf_model::Mode;
use ipcperf_model::message_options::{FirstTouch, Reuse, Touch};

/// A default number, and the same as text for docs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DefaultNumber {
    /// The number.
    pub value: u32,
    /// As help and docs show it.
    pub text: &'static str,
}

macro_rules! default_number {
    ($value:literal) => {
        DefaultNumber { value: $value, text: stringify!($value) }
    };
}

/// Repetitions of each case that count.
pub(crate) const REPETITIONS: DefaultNumber = default_number!(10);
/// With `--until-ci`: repetitions after which a case is given up.
pub(crate) const MOST_REPETITIONS: DefaultNumber = default_number!(500);
/// With `--until-ci`: time after which no case is repeated, s.
pub(crate) const MOST_SECONDS: DefaultNumber = default_number!(60);
/// Runs made for one repetition at most, until one is undisturbed.
pub(crate) const ATTEMPTS: DefaultNumber = default_number!(3);
/// Time after which a run is ended, s.
pub(crate) const DEADLINE_S: DefaultNumber = default_number!(10);

/// A factor of the matrix, or a setting of how it is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Factor {
    /// Mechanism of communication.
    Mechanism,
    /// Traffic pattern.
    Workload,
    /// Bytes of a message.
    Buffer,
    /// Payload one way in a run.
    Total,
    /// Kind and number of peers.
    Mode,
    /// CPUs of the peers.
    Placement,
    /// Size of the kernel's buffer.
    KernelBuffer,
    /// Peers that access every payload byte.
    Touch,
    /// Content of messages.
    Payload,
    /// Memory that messages lie in.
    Buffers,
    /// Time of the first access to buffers.
    FirstTouch,
    /// Answer to a request.
    Reply,
    /// Instruments that observe runs.
    Instrument,
    /// Events that counters count.
    CounterEvents,
    /// Event that the profile samples by.
    ProfileEvent,
    /// Option of a mechanism.
    MechanismOption,
    /// Repetitions of each case.
    Repetitions,
    /// Width of the interval at which a case is known well enough.
    UntilCi,
    /// Repetitions after which a case is given up.
    MostRepetitions,
    /// Time after which no case is repeated.
    MostSeconds,
    /// Runs made for one repetition at most.
    Attempts,
    /// Time after which a run is ended.
    Deadline,
    /// Seed of the order of cases.
    Seed,
}

/// Names and default of a factor.
struct Facts {
    flag: &'static str,
    key: &'static str,
    default: &'static str,
}

const fn facts(flag: &'static str, key: &'static str, default: &'static str) -> Facts {
    Facts { flag, key, default }
}

impl Factor {
    /// Every factor, in the order in which they are explained.
    pub const ALL: [Self; 23] = [
        Self::Mechanism,
        Self::Workload,
        Self::Buffer,
        Self::Total,
        Self::Mode,
        Self::Placement,
        Self::KernelBuffer,
        Self::Touch,
        Self::Payload,
        Self::Buffers,
        Self::FirstTouch,
        Self::Reply,
        Self::Instrument,
        Self::CounterEvents,
        Self::ProfileEvent,
        Self::MechanismOption,
        Self::Repetitions,
        Self::UntilCi,
        Self::MostRepetitions,
        Self::MostSeconds,
        Self::Attempts,
        Self::Deadline,
        Self::Seed,
    ];

    const fn facts(self) -> Facts {
        match self {
            Self::Mechanism => facts("--mechanism", "mechanism", "none"),
            Self::Workload => facts("--workload", "workload", "stream"),
            Self::Buffer => facts("--buffer", "buffer", "64KiB"),
            Self::Total => facts("--total", "total", "calibrated"),
            Self::Mode => facts("--mode", "mode", Mode::TwoProcesses.name()),
            Self::Placement => facts("--placement", "placement", "same"),
            Self::KernelBuffer => facts("--kernel-buffer", "kernel_buffer", "default"),
            Self::Touch => facts("--touch", "touch", Touch::ALL[0].name()),
            Self::Payload => facts("--payload", "payload", "constant"),
            Self::Buffers => facts("--buffers", "buffers", Reuse::ALL[0].name()),
            Self::FirstTouch => facts("--first-touch", "first_touch", FirstTouch::ALL[0].name()),
            Self::Reply => facts("--reply", "reply", "echo"),
            Self::Instrument => facts("--instrument", "instrument", "none"),
            Self::CounterEvents => facts("--events", "events", "usual"),
            Self::ProfileEvent => facts("--event", "event", "usual"),
            Self::MechanismOption => facts("--set", "an option", "none"),
            Self::Repetitions => facts("--repetitions", "repetitions", REPETITIONS.text),
            Self::UntilCi => facts("--until-ci", "until_ci", "none"),
            Self::MostRepetitions => {
                facts("--most-repetitions", "most_repetitions", MOST_REPETITIONS.text)
            }
            Self::MostSeconds => facts("--most-seconds", "most_s", MOST_SECONDS.text),
            Self::Attempts => facts("--attempts", "attempts", ATTEMPTS.text),
            Self::Deadline => facts("--deadline", "deadline", DEADLINE_S.text),
            Self::Seed => facts("--seed", "seed", "from the clock"),
        }
    }

    /// Returns the flag of `ipcperf run`: `--kernel-buffer`.
    #[must_use]
    pub const fn flag(self) -> &'static str {
        self.facts().flag
    }

    /// Returns the key of a study file: `kernel_buffer`.
    #[must_use]
    pub const fn key(self) -> &'static str {
        self.facts().key
    }

    /// Returns the default: a level, or a description where the default is not a level.
    #[must_use]
    pub const fn default_text(self) -> &'static str {
        self.facts().default
    }

    /// Returns a line of help: `about`, with the default.
    #[must_use]
    pub fn help(self, about: &str) -> String {
        format!("{about} [default: {}]", self.default_text())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_factor_has_names_of_its_own() {
        let flags: BTreeSet<&str> = Factor::ALL.into_iter().map(Factor::flag).collect();
        let keys: BTreeSet<&str> = Factor::ALL.into_iter().map(Factor::key).collect();
        assert_eq!((flags.len(), keys.len()), (Factor::ALL.len(), Factor::ALL.len()));
        assert!(flags.iter().all(|flag| flag.starts_with("--")));
    }
}
