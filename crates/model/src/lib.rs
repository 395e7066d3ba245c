//! Data types that ipcperf stores and exchanges.
//!
//! They describe a run ([`RunSpec`]) and its outcome ([`Measurement`], [`Failure`]), the properties of a
//! [`mechanism`] and of a [`workload`], the [`hardware_limits`] of a machine, and the observations of instruments.
//! This crate makes no system calls, except that [`parallel`] starts threads.

pub mod case_id;
mod condition;
pub mod duration;
pub mod environment;
mod failure;
pub mod hardware_limits;
mod hdr_v2;
pub mod instrument;
pub mod instrument_view;
pub mod knee;
pub mod log2_histogram;
mod looks;
mod measurement;
pub mod mechanism;
mod mechanism_name;
pub mod message_options;
pub mod message_sizes;
mod mode;
pub mod observation;
pub mod pacing;
pub mod parallel;
pub mod peers;
pub mod placement;
mod precision;
pub mod prefixes;
pub mod printable;
pub mod rate;
mod role;
pub mod round_trip_histogram;
mod run_spec;
pub mod size;
pub mod slow_message;
mod stored_as_words;
pub mod suggestion;
mod unavailable;
pub mod units;
pub mod wait;
pub mod workload;

pub use condition::{Condition, ConditionValue};
pub use failure::{Failure, FailureKind};
pub use looks::Looks;
pub use measurement::{
    CounterReading, KernelObject, Latencies, MeasuredPhase, Measurement, PacedMeasurement,
    PacerReport, PeerMeasurement, RoleUsage, RoundTrips, SendDelays, UserSystemSplit, WorkerReport,
};
pub use mechanism_name::{CustomKind, CustomName, MechanismName};
pub use mode::Mode;
pub use observation::Observation;
pub use precision::Precision;
pub use role::Role;
pub use run_spec::{
    Answer, Gate, KernelBuffer, KernelObjectLimits, PayloadCheck, PhasePause, Privilege,
    RepeatedPhases, RunSpec, WarmUp,
};
pub use slow_message::SlowMessage;
pub use unavailable::Unavailable;
