//! Reads, writes and summarizes the results files of ipcperf: lines of JSON that are appended while the command
//! runs.
//!
//! [`read()`] returns [`Results`]; [`analysis`] reduces them to one figure for each case.

pub mod analysis;
mod blocks;
mod disturbance;
mod error;
pub mod folders;
mod identity;
mod line_kind;
mod missing;
mod order;
mod origin;
mod part;
mod plain;
mod planned;
mod read;
mod record;
mod roles;
mod sample;
mod tally;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
mod warnings;
mod write;
mod wrong;

pub use error::Error;
pub use identity::{CaseIdentity, RunIdentity};
pub use origin::Origin;
pub use planned::{
    CustomRecord, PlanRecord, RefusedRecord, SpecRecord, UnavailableRecord, UnwatchedRecord,
};
pub use read::{Condition, End, Results, Strictness, parse, read};
pub use record::{FailedRun, Footer, Header, Line, ObservationRecord, ProbeEffect, standing};
pub use sample::{Sample, SetAside, keys_of_role, keys_of_roles, role_key};
pub use write::{Overwrite, Writer};
pub use wrong::Wrong;

/// Version of the file format that this ipcperf writes. It also reads older versions.
pub const SCHEMA: u32 = 1;
