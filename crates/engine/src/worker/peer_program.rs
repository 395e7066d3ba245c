//! A peer that runs in a separate program and meets the other one by name.

use ipcperf_model::{Failure, FailureKind, RunSpec};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use super::connections::Connections;
use super::ends::{parts, send_times, with_ends};
use super::peer::PeerRunner;
use super::peer_report::PeerReport;
use crate::channel::{
    Granted, Mechanism, Meet, Meeting, MeetingPlace, ProgramPart, ProgramReport, Setup,
    peer_placement,
};
use crate::harness_failure;
use crate::peer_memory::PeerMemory;
use crate::workload::SendTimes;

/// Content of a [`ProgramReport`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct OpenedReport {
    pub(super) report: PeerReport,
    /// Size the kernel reports for its buffers, bytes.
    pub(super) kernel_buffer_bytes: Option<u64>,
    /// Whether the mechanism may lose messages.
    pub(super) is_lossy: bool,
}

/// Memory that the peers of a run in separate programs share.
pub(super) struct ProgramMemory {
    pub(super) connections: Connections,
    pub(super) times: Vec<SendTimes>,
}

impl ProgramMemory {
    /// Maps everything that the peers share, always in the same order.
    pub(super) fn map(spec: &RunSpec, memory: &PeerMemory) -> Result<Self, Failure> {
        let peers = u32::try_from(parts(spec).len()).unwrap_or(u32::MAX);
        let connections = Connections::new_shared(spec.connections(), peers, memory)
            .map_err(|errno| harness_failure(FailureKind::SetUp, "mmap", errno))?;
        Ok(Self { connections, times: send_times(spec, memory)? })
    }
}

/// Opens the ends of a peer of mechanism `M` by name, and runs it.
pub(crate) fn meet<M: Meet>(
    spec: &RunSpec,
    mechanism: &Mechanism<'_>,
    program: &ProgramPart,
) -> Result<ProgramReport, Failure> {
    let ProgramPart { part, place } = program;
    let shared = ProgramMemory::map(spec, &open_memory(place)?)?;
    let (mut ends, mut granted) = (Vec::new(), Granted::default());
    for connection in part.connections.clone() {
        let setup = Setup { cpus: spec.connection_cpus(connection), ..Setup::new(spec) };
        let (end, of_end) = M::meet(&setup, &Meeting::new(place, part.role, connection))?;
        ends.push(end);
        granted = of_end;
    }
    let mut peer = with_ends(part.clone(), ends);
    peer.times = shared.times[part.connections.clone()].to_vec();
    let (connections, placement) = (&shared.connections, peer_placement(spec));
    let is_lossy = peer.ends.is_lossy();
    let runner = PeerRunner { spec, peer, connections, placement, helper: mechanism.helper };
    let kernel_buffer_bytes = granted.kernel_buffer_bytes;
    let report = OpenedReport { report: runner.run()?, kernel_buffer_bytes, is_lossy };
    serde_json::to_value(report)
        .map_err(|error| Failure::new(FailureKind::Worker, format!("writing a report: {error}")))
}

fn open_memory(place: &MeetingPlace) -> Result<PeerMemory, Failure> {
    let path = place.memory_path();
    PeerMemory::open(&path).map_err(|errno| {
        let place = format!("opening {}", path.display());
        let failure = Failure::from_errno(FailureKind::Unreachable, place, errno.raw_os_error());
        match errno {
            Errno::ACCESS => {
                failure.with_remedy("set TMPDIR to a folder that the user of this peer may enter")
            }
            _ => failure,
        }
    })
}
