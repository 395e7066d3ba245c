//! Message sizes that mechanisms carry.

use std::collections::BTreeMap;

use ipcperf_engine::channel::{Blocking, Mechanism, Nearness, Setup};
use ipcperf_model::Privilege;
use ipcperf_model::message_options::Reuse;
use ipcperf_model::workload::Kind;

/// Returns `bytes`, or the largest message that `mechanism` carries by default if that is less.
pub(crate) fn carried(mechanism: &Mechanism, bytes: u64) -> u64 {
    let setup = Setup {
        options: &BTreeMap::new(),
        buffer_bytes: bytes,
        kernel_buffer_asked_bytes: None,
        privilege: Privilege::Used,
        nearness: Nearness::Unpinned,
        cpus: None,
        blocking: Blocking::Wait,
        workload: Kind::Stream,
        buffers: Reuse::Hot,
    };
    (mechanism.limit)(&setup).map_or(bytes, |limit| limit.bytes.min(bytes))
}
