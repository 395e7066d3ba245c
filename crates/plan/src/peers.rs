//! Parses the number of peers and the traffic of pairs.

use ipcperf_engine::channel::{ManyPeers, Mechanism};
use ipcperf_engine::mechanism::SURVEYED;
use ipcperf_engine::placement::Topology;
use ipcperf_model::pacing::Pacer;
use ipcperf_model::peers::{MAX_PEERS, Peers};
use ipcperf_model::placement::Placement;
use ipcperf_model::workload::{Arrangement, WorkloadKind};
use ipcperf_model::{Gate, Mode, RunSpec};

use crate::factor::Factor;
use crate::factor_error::{FactorError, Reason};
use crate::spelling;
use crate::typed::TypedPeers;

/// Maximum number of other mechanisms that a refusal names.
const MAX_NAMED: usize = 4;
/// Traffic of pairs, as it is written.
const TRAFFIC: [&str; 2] = ["stream", "round-trip"];

/// Peers of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestedPeers {
    /// Numbers of peers of the workloads that have several.
    pub counts: Vec<u32>,
}

/// Peers, each setting parsed separately.
#[derive(Debug)]
pub(super) struct ParsedPeers {
    counts: Result<Vec<u32>, FactorError>,
    traffic: Result<Vec<PairTraffic>, FactorError>,
    /// Settings that were given.
    given: [Option<Factor>; 2],
}

/// Traffic of pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PairTraffic {
    Stream,
    RoundTrip,
}

impl TypedPeers<'_> {
    pub(super) fn parse(&self) -> ParsedPeers {
        ParsedPeers {
            counts: spelling::parse_levels(Factor::Peers, self.peers, parse_count),
            traffic: spelling::parse_levels(Factor::Traffic, self.traffic, parse_traffic),
            given: [self.peers.map(|_| Factor::Peers), self.traffic.map(|_| Factor::Traffic)],
        }
    }
}

impl ParsedPeers {
    /// Returns the settings that could not be parsed.
    pub(super) fn errors(&self) -> impl Iterator<Item = &FactorError> {
        [self.counts.as_ref().err(), self.traffic.as_ref().err()].into_iter().flatten()
    }

    /// Returns the settings that none of `workloads` uses.
    pub(super) fn contradictions(&self, workloads: &[WorkloadKind]) -> Vec<FactorError> {
        let is_used = |factor: Factor| match factor {
            Factor::Traffic => workloads.contains(&WorkloadKind::Pairs),
            _ => with_several(workloads).is_some(),
        };
        let user = |factor| match factor {
            Factor::Traffic => &["pairs"][..],
            _ => &["fan-in", "fan-out", "pairs", "server"],
        };
        let unused = self.given.iter().flatten().filter(|factor| !is_used(**factor));
        let error = |&factor: &Factor| {
            FactorError::new(factor, "", Reason::IsFor(Factor::Workload, user(factor).to_vec()))
        };
        unused.map(error).collect()
    }

    /// Returns `workloads` with the traffic of their pairs.
    pub(super) fn workloads(&self, workloads: &[WorkloadKind]) -> Vec<WorkloadKind> {
        let traffic = self.traffic.as_deref().unwrap_or(&[PairTraffic::Stream]);
        let mut kinds: Vec<WorkloadKind> = Vec::new();
        for &kind in workloads {
            let of_kind = match kind {
                WorkloadKind::Pairs => traffic.iter().map(|one| one.of_pairs()).collect(),
                _ => vec![kind],
            };
            kinds.extend(of_kind);
        }
        let mut seen = Vec::new();
        kinds.retain(|kind| {
            !seen.contains(kind) && {
                seen.push(*kind);
                true
            }
        });
        kinds
    }

    /// Returns the peers.
    ///
    /// # Errors
    /// Returns the first setting that could not be parsed.
    pub(super) fn into_requested(self) -> Result<RequestedPeers, FactorError> {
        self.traffic?;
        Ok(RequestedPeers { counts: self.counts? })
    }
}

impl PairTraffic {
    const fn of_pairs(self) -> WorkloadKind {
        match self {
            Self::Stream => WorkloadKind::Pairs,
            Self::RoundTrip => WorkloadKind::PairsRoundTrip,
        }
    }
}

/// Returns the first of `workloads` that has several peers.
pub(super) fn with_several(workloads: &[WorkloadKind]) -> Option<WorkloadKind> {
    workloads.iter().copied().find(|workload| workload.takes_peers())
}

impl RequestedPeers {
    /// Returns the levels for `workload`: one `None` if it has two peers. The CPUs are not known yet.
    pub(super) fn levels(&self, workload: WorkloadKind) -> Vec<Option<Peers>> {
        if !workload.takes_peers() {
            return vec![None];
        }
        self.counts.iter().map(|&count| Some(Peers { count, cpus: Vec::new() })).collect()
    }
}

impl Default for RequestedPeers {
    fn default() -> Self {
        Self { counts: vec![1] }
    }
}

fn parse_count(word: &str) -> Result<u32, FactorError> {
    let count = word.parse().ok().filter(|count| (1..=MAX_PEERS).contains(count));
    let takes = || Reason::Takes(format!("whole numbers from 1 to {MAX_PEERS}, such as 1,2,4"));
    count.ok_or_else(|| FactorError::new(Factor::Peers, word, takes()))
}

fn parse_traffic(word: &str) -> Result<PairTraffic, FactorError> {
    match word {
        "stream" => Ok(PairTraffic::Stream),
        "round-trip" => Ok(PairTraffic::RoundTrip),
        _ => Err(FactorError::unknown(Factor::Traffic, word, TRAFFIC.into_iter())),
    }
}

/// Assigns CPUs to the connections of `spec`: the peer that is the only one of its side has one for itself, and the others
/// take turns on the rest of those that `placement` names.
pub(super) fn assign_cpus(spec: &mut RunSpec, placement: Placement, topology: &Topology) {
    let arrangement = spec.workload.facts().arrangement;
    let (Some(peers), Some([first, second])) = (&mut spec.peers, spec.cpus) else { return };
    let all: Vec<u32> = match placement {
        Placement::Split => topology.cpus.iter().map(|cpu| cpu.number).collect(),
        _ => vec![first, second],
    };
    let turn = |cpus: &[u32], number: usize| cpus[number % cpus.len()];
    let rest = |own: u32| -> Vec<u32> {
        let rest: Vec<u32> = all.iter().copied().filter(|cpu| *cpu != own).collect();
        if rest.is_empty() { vec![own] } else { rest }
    };
    let of_connection = |number: usize| match arrangement {
        Arrangement::OneToMany => [first, turn(&rest(first), number)],
        Arrangement::ManyToOne => [turn(&rest(second), number), second],
        Arrangement::Pairs | Arrangement::OnePair => {
            [turn(&all, 2 * number), turn(&all, 2 * number + 1)]
        }
    };
    peers.cpus = (0..peers.count as usize).map(of_connection).collect();
    spec.cpus = peers.cpus.first().copied();
}

/// Whether a sender of `spec` that spins would keep another peer on its CPU from running.
pub(super) fn shares_sender_cpu(spec: &RunSpec) -> bool {
    let cpus = spec.peer_cpus();
    let senders = match spec.workload.facts().arrangement {
        Arrangement::OneToMany => 1,
        _ => spec.connections(),
    };
    let is_shared = |cpu: &u32| cpus.iter().filter(|other| *other == cpu).count() > 1;
    spec.connections() > 1 && cpus.iter().take(senders).any(is_shared)
}

/// Returns the default pacer of `spec` with each of `levels` of peers: one that sleeps if a sender shares its CPU at any of
/// them, so that numbers of peers can be compared.
pub(super) fn usual_pacer(
    spec: &RunSpec,
    levels: &[Option<Peers>],
    placement: Placement,
    topology: &Topology,
) -> Pacer {
    let is_crowded = |peers: &Option<Peers>| {
        let cpus = topology.resolve(placement).unwrap_or_default();
        let mut spec = RunSpec { peers: peers.clone(), cpus, ..spec.clone() };
        assign_cpus(&mut spec, placement, topology);
        shares_sender_cpu(&spec)
    };
    match levels.iter().any(is_crowded) {
        true => Pacer::Sleep,
        false => Pacer::usual(spec.mode, placement),
    }
}

/// Returns the reason why `mechanism` cannot connect the peers of `spec`.
pub(super) fn refused_by_peers(mechanism: &Mechanism<'_>, spec: &RunSpec) -> Option<String> {
    let peers = spec.peers.as_ref()?;
    let (name, workload) = (mechanism.name, spec.workload.name());
    if spec.mode == Mode::OneThread {
        return Some(format!(
            "{workload} has several peers, which mode 1thread cannot run; use --mode 2thread or 2proc"
        ));
    }
    let gathers = spec.workload.facts().arrangement == Arrangement::ManyToOne;
    match mechanism.many_peers {
        _ if peers.count == 1 => None,
        ManyPeers::TwoPeersOnly(reason) => {
            Some(format!("{name} connects two peers only: {reason}; use --peers 1"))
        }
        ManyPeers::OneByOne if gathers => Some(format!(
            "ipcperf cannot wait for messages of several peers with {name}; use another mechanism ({}, ...), or -w pairs or \
             -w fan-out",
            gathering_mechanisms().join(", ")
        )),
        _ => None,
    }
}

/// Returns some mechanisms with which one peer can wait for several others.
fn gathering_mechanisms() -> Vec<&'static str> {
    let can_gather = |known: &&&Mechanism<'_>| {
        matches!(known.many_peers, ManyPeers::Multiplexed | ManyPeers::Polled)
    };
    SURVEYED.iter().filter(can_gather).map(|known| known.name).take(MAX_NAMED).collect()
}

/// Checks the peers of a stored specification.
pub(super) fn check_stored(spec: &RunSpec) -> Result<(), String> {
    let Some(peers) = &spec.peers else {
        return match spec.workload.takes_peers() {
            true => Err(format!("{} needs a number of peers", spec.workload.name())),
            false => Ok(()),
        };
    };
    let cpus = if spec.cpus.is_some() { peers.count as usize } else { 0 };
    let is_valid = spec.workload.takes_peers()
        && (1..=MAX_PEERS).contains(&peers.count)
        && spec.gate == Gate::Open
        && peers.cpus.len() == cpus
        && peers.cpus.first().copied() == spec.cpus;
    if is_valid { Ok(()) } else { Err("the peers could not have been requested".to_owned()) }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use ipcperf_engine::placement::Cpu;

    use super::*;
    use crate::typed::TypedLevels;

    fn parsed(peers: Option<&str>, traffic: Option<&str>) -> ParsedPeers {
        let text = |word| TypedLevels::Text(word);
        TypedPeers { peers: peers.map(text), traffic: traffic.map(text) }.parse()
    }

    fn cpus(
        workload: WorkloadKind,
        count: u32,
        placement: Placement,
        machine: u32,
    ) -> Vec<[u32; 2]> {
        let cpu = |number| {
            let alone = BTreeSet::from([number]);
            Cpu { number, core: alone.clone(), llc: alone, node: None }
        };
        let topology = Topology { cpus: (0..machine).map(cpu).collect() };
        let peers = Some(Peers { count, cpus: Vec::new() });
        let cpus = topology.resolve(placement).unwrap();
        let mut spec = RunSpec { workload, peers, cpus, ..RunSpec::with_defaults("pipe", 64) };
        assign_cpus(&mut spec, placement, &topology);
        assert_eq!(check_stored(&spec), Ok(()));
        spec.peers.unwrap().cpus
    }

    #[test]
    fn the_only_peer_of_a_side_has_a_cpu_and_the_others_take_turns_on_the_rest() {
        let split = |workload, machine| cpus(workload, 4, Placement::Split, machine);
        assert_eq!(split(WorkloadKind::FanIn, 2), [[0, 1]; 4]);
        assert_eq!(split(WorkloadKind::FanIn, 3), [[0, 1], [2, 1], [0, 1], [2, 1]]);
        assert_eq!(split(WorkloadKind::FanOut, 4), [[0, 1], [0, 2], [0, 3], [0, 1]]);
        assert_eq!(split(WorkloadKind::Pairs, 4), [[0, 1], [2, 3], [0, 1], [2, 3]]);
        assert_eq!(split(WorkloadKind::Pairs, 3), [[0, 1], [2, 0], [1, 2], [0, 1]]);
        assert_eq!(cpus(WorkloadKind::Server, 2, Placement::Same, 4), [[0, 0]; 2]);
        assert_eq!(cpus(WorkloadKind::Server, 2, Placement::Pair(3, 1), 4), [[3, 1]; 2]);
        assert!(cpus(WorkloadKind::Server, 2, Placement::Free, 4).is_empty());
    }

    #[test]
    fn traffic_chooses_among_the_workloads_of_pairs() {
        let both = parsed(None, Some("stream,round-trip"));
        let kinds = both.workloads(&[WorkloadKind::FanIn, WorkloadKind::Pairs]);
        let wanted = [WorkloadKind::FanIn, WorkloadKind::Pairs, WorkloadKind::PairsRoundTrip];
        assert_eq!(kinds, wanted);
        assert_eq!(parsed(None, None).workloads(&[WorkloadKind::Pairs]), [WorkloadKind::Pairs]);
    }

    #[test]
    fn mistakes_are_named() {
        let words = |parsed: &ParsedPeers| {
            let errors =
                parsed.errors().cloned().chain(parsed.contradictions(&[WorkloadKind::Stream]));
            errors.map(|error| error.to_string()).collect::<Vec<_>>().join("; ")
        };
        for wrong in ["0", "65", "x", "-1", ""] {
            let told = words(&parsed(Some(wrong), None));
            assert!(
                told.starts_with("--peers takes whole numbers from 1 to 64, such as 1,2,4"),
                "{told}"
            );
        }
        let told = words(&parsed(Some("4"), None));
        assert_eq!(told, "--peers requires -w fan-in or fan-out or pairs or server");
        let told = words(&parsed(None, Some("echo")));
        assert!(told.starts_with("unknown traffic `echo`"), "{told}");
    }
}
