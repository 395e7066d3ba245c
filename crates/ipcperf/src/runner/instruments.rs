//! Instruments of one run: attached while its peers wait at the gate, read when the run is over.

use std::io::IoSlice;
use std::mem::MaybeUninit;
use std::os::fd::BorrowedFd;
use std::os::unix::net::UnixStream;

use ipcperf_engine::privilege;
use ipcperf_engine::worker::{MAX_COUNTER_FDS, Participants, PeerId, PeerScope};
use ipcperf_model::observation::Observation;
use ipcperf_model::pacing::Pacing;
use ipcperf_model::{
    CounterReading, Failure, FailureKind, Measurement, PacedMeasurement, Role, RoleUsage,
    Unavailable,
};
use ipcperf_observe::{
    Instrument, Member, PacedResult, Reading, RunResult, Scope, Source, Targets, Watch,
};
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};

use ipcperf_plan::CaseInstruments;

/// Observation of a run, with the name of its instrument.
pub(crate) type InstrumentObservation = (&'static str, Observation);

/// Instruments of a run, and those of them that are attached.
#[derive(Debug)]
pub(super) struct RunInstruments {
    instruments: Vec<(&'static Instrument, Vec<String>)>,
    attached: Vec<(&'static str, Box<dyn Watch>)>,
    /// Roles whose peers wait at the gate, in the order of their release.
    waiting: Vec<String>,
    /// Number of messages, if the run is paced.
    paced_messages: Option<u64>,
}

impl RunInstruments {
    /// Creates the instruments of `watched` for a run with `pacing`; none is attached yet.
    pub(super) fn new(watched: &CaseInstruments, pacing: Option<Pacing>) -> Self {
        let chosen =
            |one: &Instrument| watched.events.get(one.facts.name).cloned().unwrap_or_default();
        Self {
            instruments: watched.instruments().map(|one| (one, chosen(one))).collect(),
            attached: Vec::new(),
            waiting: Vec::new(),
            paced_messages: pacing.map(|pacing| pacing.messages),
        }
    }

    /// Attaches the instruments that observe from outside. `line` is the worker's report of the peers at the gate.
    ///
    /// # Errors
    /// Returns which instrument refused, and why.
    pub(super) fn attach(&mut self, line: &[u8]) -> Result<(), Failure> {
        let announced: Participants = serde_json::from_slice(line).map_err(|error| {
            Failure::new(
                FailureKind::Worker,
                format!("cannot parse the worker's list of peers: {error}"),
            )
        })?;
        let targets = Targets { paced_messages: self.paced_messages, ..participants(&announced) };
        check_owner(&targets)?;
        let peers = targets.members.iter().filter(|member| member.scope != Scope::Daemon);
        self.waiting = peers.map(|peer| peer.role.clone()).collect();
        for (instrument, events) in &self.instruments {
            let armed = match instrument.source {
                Source::Worker { .. } => continue,
                Source::External { arm, .. } => arm(&targets),
                Source::Events { arm, .. } => arm(&targets, events),
            };
            let watch = armed.map_err(|why| instrument_failure(instrument.facts.name, why))?;
            self.attached.push((instrument.facts.name, watch));
        }
        Ok(())
    }

    /// Opens the gate: passes each peer the counters that it reads, over the socket it listens on.
    ///
    /// # Errors
    /// Fails if there are more counters than can be passed.
    pub(super) fn open_gate(&self, gate: &UnixStream) -> Result<(), Failure> {
        for role in &self.waiting {
            let counter_fds: Vec<BorrowedFd<'_>> = self.counter_fds_of(role).collect();
            if counter_fds.len() > MAX_COUNTER_FDS {
                let place =
                    format!("too many counters for the {role} in one run: {}", counter_fds.len());
                return Err(Failure::new(FailureKind::Instrument, place).with_remedy(format!(
                    "request fewer events; the maximum is {MAX_COUNTER_FDS}"
                )));
            }
            send_counters(gate, &counter_fds);
        }
        Ok(())
    }

    /// Returns every counter of every instrument, with the number of the instrument and the role that reads it.
    fn counter_fds(&self) -> impl Iterator<Item = (usize, &str, BorrowedFd<'_>)> {
        let first = self.waiting.first().map_or("", String::as_str);
        self.attached.iter().enumerate().flat_map(move |(number, (_, watch))| {
            watch.counter_fds().into_iter().map(move |counter_fd| {
                let waits = self.waiting.iter().any(|role| role == counter_fd.role);
                (number, if waits { counter_fd.role } else { first }, counter_fd.fd)
            })
        })
    }

    fn counter_fds_of<'a>(&'a self, role: &'a str) -> impl Iterator<Item = BorrowedFd<'a>> {
        self.counter_fds()
            .filter(move |(_, reader, _)| *reader == role)
            .map(|(.., descriptor)| descriptor)
    }

    /// Returns the counter readings of each instrument, in its own order. `by_peer` is by peer.
    fn readings(&self, by_peer: &[Vec<CounterReading>]) -> Vec<Vec<Reading>> {
        let mut readings = vec![Vec::new(); self.attached.len()];
        let mut said: Vec<_> = by_peer.iter().map(|one| one.iter()).collect();
        for (watch, reader, _) in self.counter_fds() {
            let peer = self.waiting.iter().position(|role| role == reader).unwrap_or(0);
            let one = said.get_mut(peer).and_then(Iterator::next).cloned().unwrap_or_default();
            readings[watch].push(Reading { before: one.before, after: one.after });
        }
        readings
    }

    /// Ends the instruments and returns what they observed of the run with the result `measured`.
    ///
    /// # Errors
    /// Returns which instrument has no observation, and why.
    pub(super) fn finish(
        self,
        measured: &Measurement,
    ) -> Result<Vec<InstrumentObservation>, Failure> {
        let mut told = Vec::new();
        let readings = self.readings(&measured.counter_readings);
        let Measurement { began_ns, elapsed_ns, .. } = *measured;
        let cpu = |usage: &RoleUsage| Some((usage.role.name().to_owned(), usage.cpu_ns?));
        let cpu_ns: Vec<(String, u64)> = measured.roles.iter().filter_map(cpu).collect();
        for ((name, mut watch), readings) in self.attached.into_iter().zip(readings) {
            watch.set_run_result(&RunResult {
                began_ns,
                elapsed_ns,
                readings,
                cpu_ns: cpu_ns.clone(),
                paced: measured.paced.as_ref().map(paced_result),
            });
            let seen = watch.finish().map_err(|why| instrument_failure(name, why))?;
            told.extend(seen.into_iter().map(|observation| (name, observation)));
        }
        for (instrument, _) in self.instruments {
            if let Source::Worker { rows } = instrument.source {
                let own = rows(measured).into_iter();
                told.extend(own.map(|observation| (instrument.facts.name, observation)));
            }
        }
        Ok(told)
    }
}

fn paced_result(paced: &PacedMeasurement) -> PacedResult {
    PacedResult {
        slow_messages: paced.slow_messages.clone(),
        median_from_send_ns: paced.from_send.p50_ns.unwrap_or_default(),
    }
}

/// Flag with which a write to a worker that is gone sends no `SIGPIPE`.
#[cfg(not(target_os = "macos"))]
const WITHOUT_SIGNAL: SendFlags = SendFlags::NOSIGNAL;

/// macOS has no such flag; the signal is ignored, as in every Rust program.
#[cfg(target_os = "macos")]
const WITHOUT_SIGNAL: SendFlags = SendFlags::empty();

/// Sends a line, and `counter_fds` with it. If the worker is gone, that is noticed elsewhere.
fn send_counters(gate: &UnixStream, counter_fds: &[BorrowedFd<'_>]) {
    let mut space = vec![MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_COUNTER_FDS))];
    let mut passed = SendAncillaryBuffer::new(&mut space);
    if !counter_fds.is_empty() {
        // The buffer has room for the maximum.
        passed.push(SendAncillaryMessage::ScmRights(counter_fds));
    }
    let _ = sendmsg(gate, &[IoSlice::new(b"\n")], &mut passed, WITHOUT_SIGNAL);
}

fn instrument_failure(instrument: &str, why: Unavailable) -> Failure {
    Failure::new(FailureKind::Instrument, format!("{instrument}: {}", why.reason))
        .with_remedy(why.remedy)
}

/// Checks that all processes belong to this user. A worker may contain code of the user, which may report any process.
/// The file capabilities of the command, which allow it to observe the user's processes, must not be used on those of
/// others.
fn check_owner(targets: &Targets) -> Result<(), Failure> {
    if !privilege::is_granted_by_file() {
        return Ok(());
    }
    let mut named = targets.members.iter().flat_map(|member| [member.pid, member.tid]);
    match named.find(|&pid| !privilege::is_owned_by_this_user(pid)) {
        None => Ok(()),
        Some(pid) => {
            let place = format!("process {pid} belongs to another user");
            Err(Failure::new(FailureKind::Instrument, place))
        }
    }
}

/// Returns the peers at the gate in the form that instruments use.
fn participants(announced: &Participants) -> Targets {
    let member = |peer: &PeerId| Member {
        role: peer.role.name().to_owned(),
        pid: peer.pid,
        tid: peer.tid,
        scope: match (peer.role, peer.scope) {
            (Role::Broker, _) => Scope::Daemon,
            (_, PeerScope::Thread) => Scope::Thread,
            (_, PeerScope::Process) => Scope::Process,
        },
    };
    Targets::new(announced.peers.iter().map(member).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_at_the_gate_are_known_by_role_and_scope() {
        let line = br#"{"peers":[{"role":"sender","pid":7,"tid":8,"scope":"thread"},
            {"role":"broker","pid":9,"tid":9,"scope":"process"}]}"#;
        let targets = participants(&serde_json::from_slice(line).unwrap());
        let known: Vec<_> =
            targets.members.iter().map(|m| (m.role.as_str(), m.tid, m.scope)).collect();
        assert_eq!(known, [("sender", 8, Scope::Thread), ("broker", 9, Scope::Daemon)]);
    }

    #[test]
    fn what_is_no_gathering_is_told() {
        let refused = RunInstruments::new(&CaseInstruments::default(), None)
            .attach(b"{\"failed\":1}")
            .unwrap_err();
        assert_eq!(refused.what, FailureKind::Worker);
    }
}
