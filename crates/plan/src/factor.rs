//! Factors and settings of a request: the flag, the key of a study file and the default of each.

use ipcperf_model::Mode;
use ipcperf_model::message_options::{BufferReuse, FirstTouch, Touch};

/// Default number, with its text for help and docs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DefaultNumber {
    /// Value of the default.
    pub value: u32,
    /// Text of the default in help and docs.
    pub text: &'static str,
}

macro_rules! default_number {
    ($value:literal) => {
        DefaultNumber { value: $value, text: stringify!($value) }
    };
    ($value:literal, $unit:literal) => {
        DefaultNumber { value: $value, text: concat!($value, $unit) }
    };
}

/// Number of valid repetitions of each case.
pub(crate) const REPETITIONS: DefaultNumber = default_number!(10);
/// With `--until-ci`: number of valid repetitions before the interval is first checked.
pub(crate) const MIN_REPETITIONS: u32 = 10;
/// With `--until-ci`: number of repetitions after which a case is given up.
pub(crate) const MAX_REPETITIONS: DefaultNumber = default_number!(500);
/// With `--until-ci`: time after which no case that has the minimum number of repetitions is repeated, s.
pub(crate) const MAX_TIME_S: DefaultNumber = default_number!(60, "s");
/// Maximum number of attempts for one repetition, until a run is undisturbed.
pub(crate) const ATTEMPTS: DefaultNumber = default_number!(3);
/// Time after which a run is ended, s.
pub(crate) const TIMEOUT_S: DefaultNumber = default_number!(10, "s");

/// Description of the events that are counted if none are named.
const COPY_EVENTS: &str = "events of this CPU that explain the cost of a copy";

/// Factor of the matrix, or setting of the measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Factor {
    /// Mechanism of communication.
    Mechanism,
    /// Traffic pattern.
    Workload,
    /// Size of a message, bytes.
    Buffer,
    /// Payload of a run in one direction.
    Total,
    /// Kind and number of peers.
    Mode,
    /// CPUs of the peers.
    Placement,
    /// Capacity of the kernel buffer.
    KernelBuffer,
    /// Peers that access every payload byte.
    Touch,
    /// Sizes of the messages, if they differ.
    Messages,
    /// Content of the messages.
    Payload,
    /// Memory that holds the messages.
    Buffers,
    /// Time at which buffers are first touched.
    FirstTouch,
    /// Reply to a request.
    Reply,
    /// Number of peers of workloads with several.
    Peers,
    /// Traffic of pairs.
    Traffic,
    /// Command in front of the senders' programs.
    SenderPrefix,
    /// Command in front of the receivers' programs.
    ReceiverPrefix,
    /// Scheduled messages per second.
    Rate,
    /// Distribution of the times between messages.
    Arrivals,
    /// How the sender waits for the time of a message.
    Pacer,
    /// Duration of the schedule of a run.
    Duration,
    /// Bound on the 99th percentile in a search for the knee.
    KneeP99,
    /// Instruments that observe runs.
    Instrument,
    /// Events that counters count.
    CounterEvents,
    /// Event that the profile samples by.
    ProfileEvent,
    /// Option of a mechanism.
    MechanismOption,
    /// Number of repetitions of each case.
    Repetitions,
    /// Relative half-width of the confidence interval at which a case is no longer repeated.
    UntilCi,
    /// Number of repetitions after which a case is given up.
    MaxRepetitions,
    /// Time after which no case that has the minimum number of repetitions is repeated.
    MaxTime,
    /// Maximum number of attempts for one repetition.
    Attempts,
    /// Time after which a run is ended.
    Timeout,
    /// Seed of the order of cases.
    Seed,
}

/// Names and default of a factor.
struct FactorNames {
    flag: &'static str,
    key: &'static str,
    default: &'static str,
}

const fn names(flag: &'static str, key: &'static str, default: &'static str) -> FactorNames {
    FactorNames { flag, key, default }
}

impl Factor {
    /// Every factor, in the order in which they are explained.
    pub const ALL: [Self; 33] = [
        Self::Mechanism,
        Self::Workload,
        Self::Buffer,
        Self::Total,
        Self::Mode,
        Self::Placement,
        Self::KernelBuffer,
        Self::Messages,
        Self::Touch,
        Self::Payload,
        Self::Buffers,
        Self::FirstTouch,
        Self::Reply,
        Self::Peers,
        Self::Traffic,
        Self::SenderPrefix,
        Self::ReceiverPrefix,
        Self::Rate,
        Self::Arrivals,
        Self::Pacer,
        Self::Duration,
        Self::KneeP99,
        Self::Instrument,
        Self::CounterEvents,
        Self::ProfileEvent,
        Self::MechanismOption,
        Self::Repetitions,
        Self::UntilCi,
        Self::MaxRepetitions,
        Self::MaxTime,
        Self::Attempts,
        Self::Timeout,
        Self::Seed,
    ];

    const fn names(self) -> FactorNames {
        match self {
            Self::Mechanism => names("--mechanism", "mechanism", "none"),
            Self::Workload => names("--workload", "workload", "stream"),
            Self::Buffer => names("--buffer", "buffer", "64KiB"),
            Self::Total => names("--total", "total", "calibrated"),
            Self::Mode => names("--mode", "mode", Mode::TwoProcesses.name()),
            Self::Placement => names("--placement", "placement", "same"),
            Self::KernelBuffer => names("--kernel-buffer", "kernel_buffer", "default"),
            Self::Touch => names("--touch", "touch", Touch::ALL[0].name()),
            Self::Messages => names("--messages", "message_sizes", "none"),
            Self::Payload => names("--payload", "payload", "constant"),
            Self::Buffers => names("--buffers", "buffers", BufferReuse::ALL[0].name()),
            Self::FirstTouch => names("--first-touch", "first_touch", FirstTouch::ALL[0].name()),
            Self::Reply => names("--reply", "reply", "echo"),
            Self::Peers => names("--peers", "peers", "4"),
            Self::Traffic => names("--traffic", "traffic", "stream"),
            Self::SenderPrefix => names("--sender-prefix", "sender_prefix", "none"),
            Self::ReceiverPrefix => names("--receiver-prefix", "receiver_prefix", "none"),
            Self::Rate => names("--rate", "rate", "none"),
            Self::Arrivals => names("--arrivals", "arrivals", "even"),
            Self::Pacer => names("--pacer", "pacer", "spin; sleep if both peers share a CPU"),
            Self::Duration => names("--duration", "duration", "1s, or longer for 2000 messages"),
            Self::KneeP99 => names(
                "--knee-p99",
                "knee_p99",
                "ten times the median at a hundredth of the unpaced rate",
            ),
            Self::Instrument => names("--instrument", "instrument", "none"),
            Self::CounterEvents => names("--counter-events", "counter_events", COPY_EVENTS),
            Self::ProfileEvent => names("--profile-event", "profile_event", "cpu-clock"),
            Self::MechanismOption => names("--set", "an option", "none"),
            Self::Repetitions => names("--repetitions", "repetitions", REPETITIONS.text),
            Self::UntilCi => names("--until-ci", "until_ci", "none"),
            Self::MaxRepetitions => {
                names("--max-repetitions", "max_repetitions", MAX_REPETITIONS.text)
            }
            Self::MaxTime => names("--max-time", "max_time", MAX_TIME_S.text),
            Self::Attempts => names("--attempts", "attempts", ATTEMPTS.text),
            Self::Timeout => names("--timeout", "timeout", TIMEOUT_S.text),
            Self::Seed => names("--seed", "seed", "from the clock"),
        }
    }

    /// Returns the flag of `ipcperf run`: `--kernel-buffer`.
    #[must_use]
    pub const fn flag(self) -> &'static str {
        self.names().flag
    }

    /// Returns the key of a study file: `kernel_buffer`.
    #[must_use]
    pub const fn key(self) -> &'static str {
        self.names().key
    }

    /// Returns the default: a level, or a description where the default is not a level.
    #[must_use]
    pub const fn default_text(self) -> &'static str {
        self.names().default
    }

    /// Returns the minimum of a number of repetitions or attempts; `None` for other factors.
    #[must_use]
    pub const fn minimum(self) -> Option<u32> {
        match self {
            Self::Repetitions | Self::Attempts => Some(1),
            Self::MaxRepetitions => Some(MIN_REPETITIONS),
            _ => None,
        }
    }

    /// Returns a line of help: `about` and the default.
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
