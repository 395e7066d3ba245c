//! Cell of the matrix: a case that will be run, or a refusal with its reason.

use std::fmt;

use ipcperf_engine::channel::{Mechanism, Setup, UnavailableValue};
use ipcperf_engine::mechanism::{self, MECHANISMS};
use ipcperf_engine::placement::{PlacementError, Topology};
use ipcperf_engine::workload::{STAMP_BYTES, TABLE_BYTES_PER_MESSAGE, needs_table, pool_bytes};
use ipcperf_model::case_id::{NameParts, NamedAmount, Side, case_id, variant};
use ipcperf_model::mechanism::{Delivery, PayloadTransfer};
use ipcperf_model::message_options::{BufferReuse, Content, FirstTouch, MessageOptions};
use ipcperf_model::pacing::Pacer;
use ipcperf_model::placement::Placement;
use ipcperf_model::size::Bytes;
use ipcperf_model::{CustomKind, Mode, PayloadCheck, RunSpec, Unavailable};

use super::CaseInstruments;
use super::peers::{assign_cpus, refused_by_peers, shares_sender_cpu};
use crate::error::Error;
use crate::machine;
use crate::total::Total;

/// Maximum number of mechanisms with a mode that a refusal names.
const MAX_NAMED: usize = 20;

/// Cell that will be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// Readable name of the case in results; it holds everything that distinguishes the case.
    pub id: String,
    /// Parts of the name that do not follow from the specification.
    pub name: NameParts,
    /// Placement of the peers.
    pub placement: Placement,
    /// Specification of the run, as a worker receives it.
    pub spec: RunSpec,
    /// Instruments that observe the case.
    pub instruments: CaseInstruments,
    /// Matrices of the study that contain the case.
    pub matrices: Vec<String>,
}

impl Case {
    /// Whether the mechanism transfers nothing, so that the run measures the harness alone.
    pub fn is_harness_only(&self) -> bool {
        mechanism::find(&self.spec.mechanism)
            .is_some_and(|known| known.delivery == Delivery::Nothing)
    }

    /// Returns the mechanism with the options that were set.
    pub fn variant(&self) -> String {
        variant(&self.spec)
    }
}

/// Cell that cannot be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedCell {
    /// Name that the case would have.
    pub id: String,
    /// Amount in its name; `None` if all cells of the plan move the same.
    pub amount: Option<NamedAmount>,
    /// Specification that the run would have.
    pub spec: RunSpec,
    /// Placement that the peers would have.
    pub placement: Placement,
    /// Reason why the cell cannot be run.
    pub reason: String,
    /// Kind of the reason.
    pub cause: RefusalCause,
}

/// Kind of reason why a cell cannot be run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusalCause {
    /// The cell exceeds a limit of the mechanism, the mode or the machine.
    Limit,
    /// This machine lacks a component, or the CPUs that the placement needs.
    Missing,
}

impl fmt::Display for RefusedCell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.id, self.reason)
    }
}

/// Amount of detail in the name of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Naming {
    /// The specification only.
    Short,
    /// Also the amount of payload and the counted events where they were given, because cases of one plan differ in
    /// them.
    Full,
}

impl Naming {
    /// Returns the amount to add to the name of a case that moves `total`.
    pub(super) const fn amount(self, total: Total) -> Option<NamedAmount> {
        match (self, total) {
            (Self::Short, _) | (Self::Full, Total::Calibrated) => None,
            (Self::Full, Total::Bytes(bytes)) => Some(NamedAmount::Bytes(bytes)),
            (Self::Full, Total::Messages(messages)) => Some(NamedAmount::Messages(messages)),
        }
    }
}

/// Checks a cell of `mechanism`, complete except for its CPUs, against the mechanism, the mode and the machine.
/// `amount` is the last part of its name.
///
/// # Errors
/// Returns a usage error if a CPU outside the cpuset was named: that is a mistake of the user, not a limit.
pub(super) fn resolve(
    mechanism: &Mechanism<'_>,
    mut spec: RunSpec,
    placement: Placement,
    amount: Option<NamedAmount>,
    topology: &Topology,
) -> Result<Result<Case, RefusedCell>, Error> {
    let name = NameParts { amount, ..NameParts::default() };
    let id = case_id(&spec, placement, &name, Side::Instrumented);
    let refused = |spec, reason, cause| {
        Ok(Err(RefusedCell { id: id.clone(), amount, spec, placement, reason, cause }))
    };
    match topology.resolve(placement) {
        Ok(cpus) => spec.cpus = cpus,
        Err(error @ PlacementError::OutsideCpuset { .. }) => {
            return Err(Error::usage(format!("placement {placement}: {error}")));
        }
        Err(error) => return refused(spec, error.to_string(), RefusalCause::Missing),
    }
    assign_cpus(&mut spec, placement, topology);
    let refusal = refused_by_pacer(&spec, placement).or_else(|| refusal(mechanism, &spec));
    match (refusal, missing(mechanism, &spec)) {
        (Some(reason), _) => refused(spec, reason, RefusalCause::Limit),
        (None, Some(reason)) => refused(spec, reason, RefusalCause::Missing),
        (None, None) => {
            let (watched, matrices) = (CaseInstruments::default(), Vec::new());
            Ok(Ok(Case { id, name, placement, spec, instruments: watched, matrices }))
        }
    }
}

/// Returns the reason why `spec`, complete with its CPUs, cannot run here, or `None` if no reason is known.
pub fn find_obstacle(spec: &RunSpec) -> Option<String> {
    let mechanism = mechanism::find(&spec.mechanism)?;
    refusal(mechanism, spec).or_else(|| missing(mechanism, spec))
}

/// Returns the limit of the mechanism, the mode or the machine that `spec` exceeds.
pub(super) fn refusal(mechanism: &Mechanism<'_>, spec: &RunSpec) -> Option<String> {
    refused_by_mode(mechanism, spec)
        .or_else(|| refused_by_peers(mechanism, spec))
        .or_else(|| refused_by_buffer_location(mechanism, spec))
        .or_else(|| refused_by_pacing(mechanism, spec))
        .or_else(|| refused_by_memory(mechanism, spec))
        .or_else(|| refused_by_limit(mechanism, spec))
}

/// Names the mechanisms that support `mode`, unless they are many.
fn supporters(mode: Mode) -> String {
    let all = MECHANISMS.iter().filter(|one| one.modes.contains(&mode)).map(|one| one.name);
    match all.collect::<Vec<_>>() {
        few if (1..=MAX_NAMED).contains(&few.len()) => {
            format!("; mechanisms with {}: {}", mode.name(), few.join(", "))
        }
        _ => String::new(),
    }
}

fn refused_by_mode(mechanism: &Mechanism<'_>, spec: &RunSpec) -> Option<String> {
    if !mechanism.modes.contains(&spec.mode) {
        let modes: Vec<&str> = mechanism.modes.iter().map(|mode| mode.name()).collect();
        let (name, mode, modes) = (mechanism.name, spec.mode.name(), modes.join(", "));
        let others = supporters(spec.mode);
        return Some(format!("{name} does not support mode {mode}; it supports {modes}{others}"));
    }
    if mechanism.delivery == Delivery::Nothing && spec.check == PayloadCheck::Verify {
        return Some(format!(
            "--verify does not apply to {}, whose receiver gets no data to check; leave out --verify",
            mechanism.name
        ));
    }
    let hands_over = mechanism.effective_payload(&spec.options) == PayloadTransfer::HandedOver;
    if spec.mode == Mode::OneThread && hands_over {
        return Some(format!(
            "in mode 1thread, {} would copy messages, because there is no second peer to hand them over to",
            mechanism.name
        ));
    }
    if spec.message_options.first_touch == FirstTouch::BeforeFork && spec.mode != Mode::TwoProcesses
    {
        return Some(format!(
            "--first-touch before-fork does not apply, because mode {} does not fork",
            spec.mode.name()
        ));
    }
    match spec.cpus {
        Some([sender, receiver]) if spec.mode == Mode::OneThread && sender != receiver => {
            Some("one thread cannot be on two CPUs; use placement same, or another mode".to_owned())
        }
        _ => None,
    }
}

/// A sender that spins on the receiver's CPU would keep the receiver from running.
pub(super) fn refused_by_pacer(spec: &RunSpec, placement: Placement) -> Option<String> {
    let pacer = spec.pacing?.pacer;
    let is_crowded = pacer == Pacer::Spin && shares_sender_cpu(spec);
    (is_crowded || !pacer.is_possible(spec.mode, placement)).then(|| {
        let others = if is_crowded { "other peers" } else { "the receiver" };
        format!(
            "--pacer {} does not apply at placement {placement}: while the sender spins, {others} on the same CPU \
             cannot run; use --pacer sleep",
            pacer.name()
        )
    })
}

fn refused_by_pacing(mechanism: &Mechanism<'_>, spec: &RunSpec) -> Option<String> {
    let pacing = spec.pacing?;
    let name = mechanism.name;
    let custom = spec.mechanism.custom();
    if custom.is_some_and(|custom| custom.kind() == CustomKind::Program) {
        return Some(format!("{name} runs its own loop, so --rate does not apply"));
    }
    if !needs_table(spec) {
        return None;
    }
    if mechanism.delivery == Delivery::Lossy && spec.check == PayloadCheck::Off {
        return Some(format!(
            "{name} may lose messages, so a paced message carries its number, and needs at least {STAMP_BYTES} bytes"
        ));
    }
    let table_bytes = pacing.messages.saturating_mul(TABLE_BYTES_PER_MESSAGE);
    let available = machine::available_memory_bytes()?;
    (table_bytes > available / 2).then(|| {
        format!(
            "{} messages of less than {STAMP_BYTES} bytes, or with --verify, need a table of {}, which is more than half \
             of the available memory; use a shorter --duration",
            pacing.messages,
            Bytes(table_bytes)
        )
    })
}

/// Returns the component that an option requires and that this machine lacks.
fn missing(mechanism: &Mechanism<'_>, spec: &RunSpec) -> Option<String> {
    let UnavailableValue { option, value, missing } = mechanism.unavailable_value(&spec.options)?;
    let (name, Unavailable { reason, remedy }) = (mechanism.name, missing);
    Some(format!("{name} with {option}={value}: {reason} ({remedy})"))
}

/// Payload that is handed over in place lies in memory of the mechanism, which some message options cannot affect.
fn refused_by_buffer_location(mechanism: &Mechanism<'_>, spec: &RunSpec) -> Option<String> {
    let MessageOptions { content, buffers, first_touch, reply, .. } = spec.message_options;
    let custom = spec.mechanism.custom();
    let is_program = custom.is_some_and(|name| name.kind() == CustomKind::Program);
    if is_program && spec.message_options != (MessageOptions { reply, ..MessageOptions::default() })
    {
        let name = mechanism.name;
        return Some(format!(
            "{name} runs its own loop, so --messages, --touch, --payload, --buffers and --first-touch do not apply"
        ));
    }
    if first_touch == FirstTouch::Timed && content != Content::default() {
        return Some(format!(
            "--payload {content} is written before the clock starts, so --first-touch timed does not apply"
        ));
    }
    let is_timed = first_touch == FirstTouch::Timed;
    let is_elsewhere =
        content != Content::default() || buffers != BufferReuse::default() || is_timed;
    (mechanism.effective_payload(&spec.options) == PayloadTransfer::HandedOver && is_elsewhere).then(|| {
        let name = mechanism.name;
        format!(
            "{name} keeps messages in its own memory, so --payload, --buffers and --first-touch timed do not apply"
        )
    })
}

/// Number of buffers of both peers: each peer may send and receive.
const BUFFERS: u64 = 4;

/// Memory that a run needs, as a number of messages of the largest size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct MemoryNeed {
    /// Messages that the mechanism holds, counted as at least as many as the peers have buffers.
    in_flight: u64,
    /// Number of connections, each with all of these.
    connections: u64,
}

impl MemoryNeed {
    fn new(mechanism: &Mechanism<'_>, spec: &RunSpec) -> Self {
        let in_flight = (mechanism.in_flight_messages)(&Setup::new(spec)).max(BUFFERS);
        Self { in_flight, connections: spec.connections() as u64 }
    }

    /// Number of messages that are in memory at the same time: the factor by which the need exceeds the message size.
    const fn messages(self) -> u64 {
        (BUFFERS + self.in_flight) * self.connections
    }
}

/// Checks the memory for the peers' buffers plus the messages that the mechanism holds.
fn refused_by_memory(mechanism: &Mechanism<'_>, spec: &RunSpec) -> Option<String> {
    let available = machine::available_memory_bytes()?;
    let (bytes, need) = (spec.largest_bytes(), MemoryNeed::new(mechanism, spec));
    let max_bytes = available / need.messages();
    if bytes > max_bytes {
        return Some(memory_refusal(mechanism.name, need, Bytes(max_bytes >> 20 << 20)));
    }
    let buffers = spec.message_options.buffers;
    let places = pool_bytes(bytes, 1, buffers).saturating_mul(BUFFERS);
    let needed = places.saturating_add(need.in_flight * bytes).saturating_mul(need.connections);
    (buffers != BufferReuse::Hot && needed > available).then(|| {
        let (name, needed) = (buffers.name(), Bytes(needed));
        format!("--buffers {name} needs {needed} of memory, which is more than is available")
    })
}

/// States the memory that the mechanism called `name` needs, and the largest message for which there is enough.
fn memory_refusal(name: &str, need: MemoryNeed, max: Bytes) -> String {
    let times = need.messages();
    format!(
        "a run with {name} keeps up to {times} messages in memory, so the largest message that fits in the available \
         memory is {max}"
    )
}

fn refused_by_limit(mechanism: &Mechanism<'_>, spec: &RunSpec) -> Option<String> {
    let limit = (mechanism.limit)(&Setup::new(spec))?;
    (spec.largest_bytes() > limit.bytes).then(|| {
        let (name, bytes, because) = (mechanism.name, limit.bytes, limit.reason);
        format!("{name} carries at most {bytes} bytes per message ({because})")
    })
}
