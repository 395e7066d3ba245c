//! The schedules of a peer's connections in a paced run.

use ipcperf_model::pacing::Pacing;
use ipcperf_model::slow_message::slow_message_count;
use ipcperf_model::workload::Arrangement;
use ipcperf_model::{Failure, Gate, Role, RoleUsage, RunSpec};

use super::paced_report::{PacedReport, PeerTime};
use super::running_peer::RunningPeer;
use crate::message_order::MessageOrder;
use crate::shared_state::Control;
use crate::workload::{PacedPeer, Traffic};

/// Creates the state for each connection of `peer` whose messages it sends or times. A sender with several connections has one
/// schedule, and a server with several times nothing.
pub(super) fn paced_peers(spec: &RunSpec, peer: &RunningPeer) -> Vec<PacedPeer> {
    let Some(pacing) = spec.pacing else { return Vec::new() };
    let count = match peer.role {
        Role::Receiver if spec.workload.is_answered() && peer.times.len() > 1 => 0,
        Role::Receiver => peer.times.len(),
        Role::Sender | Role::Both | Role::Broker => 1,
    };
    let slow = match spec.gate {
        // An instrument may want to explain them.
        Gate::Closed => slow_message_count(pacing.messages),
        Gate::Open => 0,
    };
    let own = peer.times.iter().zip(peer.connections.clone()).take(count);
    own.map(|(times, connection)| PacedPeer::new(schedule(spec, pacing, connection), *times, slow))
        .collect()
}

/// Schedule of a connection. Each sender has its own random phase and arrivals, which its receivers know.
fn schedule(spec: &RunSpec, pacing: Pacing, connection: usize) -> Pacing {
    match spec.workload.facts().arrangement {
        Arrangement::OneToMany | Arrangement::OnePair => pacing,
        Arrangement::ManyToOne | Arrangement::Pairs => {
            Pacing { seed: pacing.seed.wrapping_add(connection as u64), ..pacing }
        }
    }
}

/// Returns the reports of `paced`, the state of connections of `peer`, which used `usage` and the time with it.
pub(super) fn reports(
    spec: &RunSpec,
    peer: &RunningPeer,
    paced: &[PacedPeer],
    usage: (&RoleUsage, PeerTime),
    controls: &[&'static Control],
) -> Result<Vec<PacedReport>, Failure> {
    let traffic = Traffic::from_spec(spec);
    let report = |(paced, connection): (&PacedPeer, usize)| {
        let (order, mean_bytes) = (MessageOrder::from_spec(spec, connection), spec.buffer_bytes);
        let bytes =
            |number| order.as_ref().map_or(mean_bytes, |order| order.message_bytes(number) as u64);
        let connected = (peer.role, connection);
        PacedReport::new(paced, connected, traffic, usage, controls[connection], bytes)
    };
    paced.iter().zip(peer.connections.clone()).map(report).collect()
}

#[cfg(test)]
mod tests {
    use ipcperf_model::pacing::{Arrivals, Pacer};
    use ipcperf_model::workload::WorkloadKind;

    use super::*;

    #[test]
    fn only_a_single_sender_has_one_schedule_for_all() {
        let pacing = Pacing {
            rate_per_s: 1_000,
            arrivals: Arrivals::Even,
            pacer: Pacer::Sleep,
            messages: 3,
            seed: 7,
        };
        let seeds = |workload| {
            let spec = RunSpec { workload, ..RunSpec::with_defaults("pipe", 64) };
            [0, 2].map(|connection| schedule(&spec, pacing, connection).seed)
        };
        assert_eq!(seeds(WorkloadKind::FanOut), [7, 7]);
        assert_eq!(seeds(WorkloadKind::FanIn), [7, 9]);
        assert_eq!(seeds(WorkloadKind::Server), [7, 9]);
    }
}
