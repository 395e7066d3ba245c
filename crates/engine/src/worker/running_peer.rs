//! A peer with the ends that it uses, before it runs.

use std::ops::Range;

use ipcperf_model::Role;

use super::message_memory::MessageMemory;
use super::peer_ends::PeerEnds;
use crate::workload::SendTimes;

/// A peer with the ends that it uses.
pub(super) struct RunningPeer {
    pub(super) role: Role,
    /// Numbers of its connections.
    pub(super) connections: Range<usize>,
    pub(super) ends: Box<dyn PeerEnds>,
    /// Message memory, if it was touched before the fork.
    pub(super) memory: Option<MessageMemory>,
    /// Place of the stamps of a paced run, for each of its connections.
    pub(super) times: Vec<SendTimes>,
}
