//! Reads, writes and summarizes the results files of ipcperf: lines of JSON that are appended while the command
//! runs.
//!
//! [`read()`] returns [`Results`]; [`analysis`] reduces them to one figure for each case.

pub mod analysis;
mod blocks;
mod error;
mod fast_sample;
pub mod folders;
mod identity;
mod intrusive;
mod line_checker;
mod line_kind;
mod missing;
mod origin;
mod paced_values;
mod parse_error;
mod parsed_block;
mod peer_record;
mod planned;
mod read;
mod record;
mod reserve;
mod roles;
mod sample;
mod tally;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
mod warnings;
mod write;

pub use error::Error;
pub use identity::{CaseIdentity, PEERS_KEYS, RunIdentity, SCHEDULE_KEYS};
pub use origin::Origin;
pub use parse_error::ParseError;
pub use peer_record::PeerRecord;
pub use planned::{
    CustomRecord, PlanRecord, RefusedRecord, SpecRecord, UnavailableInstrumentRecord,
    UnavailableRecord,
};
pub use read::{Completeness, FileEnd, Results, Strictness, parse, read};
pub use record::{
    FailedRun, Footer, Header, ObservationRecord, ProbeEffect, ResultsLine, final_failures,
};
pub use sample::{ExclusionReason, Sample, keys_of_role, role_key, role_keys};
pub use write::{Overwrite, Writer};

/// Version of the file format that this ipcperf writes. It also reads older versions.
pub const SCHEMA: u32 = 2;
