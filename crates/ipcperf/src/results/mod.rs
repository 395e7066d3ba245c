//! Results files: lines of JSON, appended as a run of the command goes.

mod blocks;
mod missing;
mod order;
mod part;
mod plain;
mod planned;
mod read;
mod record;
mod roles;
mod sample;
mod tally;
mod warnings;
mod write;

pub(crate) use planned::{CustomRecord, PlanRecord, RefusedRecord, SpecRecord, UnwatchedRecord};
pub(crate) use read::{Condition, End, Results, Strictness, read};
#[cfg(test)]
pub(crate) use read::{Wrong, parse};
pub(crate) use record::{
    CaseIdentity, FailedRun, Footer, Header, Line, ObservationRecord, RunIdentity, standing,
};
pub(crate) use sample::{Sample, SetAside, keys_of_roles};
pub(crate) use write::{Overwrite, Writer, default_path};

/// The version of the format this ipcperf writes; it reads this and older ones.
pub(crate) const SCHEMA: u32 = 1;

#[cfg(test)]
pub(crate) use sample::tests::sample;
