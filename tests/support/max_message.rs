//! Message sizes that mechanisms carry.

use std::collections::BTreeMap;

use ipcperf_engine::channel::{Blocking, Mechanism, PeerPlacement, Setup};
use ipcperf_model::Privilege;
use ipcperf_model::message_options::BufferReuse;
use ipcperf_model::workload::WorkloadKind;

/// Returns `bytes`, or the largest message that `mechanism` carries by default if that is less.
pub(crate) fn largest_message(mechanism: &Mechanism, bytes: u64) -> u64 {
    let setup = Setup {
        options: &BTreeMap::new(),
        buffer_bytes: bytes,
        smallest_bytes: bytes,
        kernel_buffer_requested_bytes: None,
        privilege: Privilege::Used,
        placement: PeerPlacement::Unpinned,
        cpus: None,
        blocking: Blocking::Wait,
        workload: WorkloadKind::Stream,
        buffers: BufferReuse::Hot,
    };
    (mechanism.limit)(&setup).map_or(bytes, |limit| limit.bytes.min(bytes))
}
