//! Report of a peer at its end.

use ipcperf_model::{CounterReading, KernelObject, PeerMeasurement, RoleUsage, RoundTrips};
use serde::{Deserialize, Serialize};

use super::paced_report::PacedReport;
use super::phases::PhaseReport;

/// Report of a peer at its end. Values that all know (elapsed time, arrived messages) are the same in all reports.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct PeerReport {
    pub(super) usage: RoleUsage,
    /// Number among the peers of its role.
    pub(super) peer: u32,
    /// Number of its connections.
    pub(super) connections: usize,
    pub(super) cpu: Option<u32>,
    /// Time from the first byte of any peer to its own last, ns.
    pub(super) own_elapsed_ns: u64,
    /// Messages, or round trips, over its own connections that arrived.
    pub(super) own_messages: u64,
    pub(super) began_ns: u64,
    pub(super) elapsed_ns: u64,
    pub(super) arrived: u64,
    pub(super) messages: u64,
    pub(super) total_bytes: u64,
    /// Payload that arrived here over a mechanism that may lose messages, bytes.
    pub(super) arrived_bytes: u64,
    pub(super) calibration_phases: u32,
    pub(super) slices_ns: Vec<u64>,
    pub(super) kernel_thread_ns: Option<u64>,
    pub(super) broker: Option<RoleUsage>,
    pub(super) objects: Vec<KernelObject>,
    pub(super) counter_readings: Vec<CounterReading>,
    pub(super) round_trips: Option<RoundTrips>,
    /// One for each connection whose messages it sends or times.
    pub(super) paced: Vec<PacedReport>,
    pub(super) cacheline_round_trip_ns: Option<[f64; 2]>,
    pub(super) repeats: Vec<PhaseReport>,
}

impl PeerReport {
    /// Returns what is stored of one of several peers.
    pub(super) fn measurement(&self) -> PeerMeasurement {
        PeerMeasurement {
            peer: self.peer,
            cpu: self.cpu,
            elapsed_ns: self.own_elapsed_ns,
            messages: self.own_messages,
            usage: self.usage.clone(),
            round_trips: self.round_trips.clone(),
            latencies: None,
        }
    }
}
