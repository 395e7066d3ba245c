//! One cell of the matrix: a case that will be run, or a refusal with its reason.

use std::fmt;

use ipcperf_engine::channel::{Lack, Mechanism, Setup};
use ipcperf_engine::mechanism;
use ipcperf_engine::mechanism::{OwnKind, own_mechanism};
use ipcperf_engine::placement::{PlacementError, Topology};
use ipcperf_engine::workload::places_bytes;
use ipcperf_model::case_id::{NameParts, NamedAmount, Side, case_id, variant};
use ipcperf_model::mechanism::{Delivery, PayloadFate};
use ipcperf_model::message_options::{Content, FirstTouch, Handling, Reuse};
use ipcperf_model::placement::Placement;
use ipcperf_model::size::Bytes;
use ipcperf_model::{Mode, RunSpec, TouchCheck, Unavailable};

use super::Watched;
use crate::error::Error;
use crate::machine;
use crate::total::Total;

/// A cell that will be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// Names the case in results: everything that distinguishes it, readable.
    pub id: String,
    /// What of the name the specification does not say.
    pub name: NameParts,
    /// Where its peers run.
    pub placement: Placement,
    /// The run, as a worker gets it.
    pub spec: RunSpec,
    /// Which instruments watch it.
    pub watched: Watched,
    /// The matrices of the study that have it.
    pub matrices: Vec<String>,
}

impl Case {
    /// Whether its mechanism moves nothing: what remains is the harness.
    pub fn moves_nothing(&self) -> bool {
        mechanism::find(&self.spec.mechanism)
            .is_some_and(|known| known.delivery == Delivery::Nothing)
    }

    /// The mechanism, with the options that were set.
    pub fn variant(&self) -> String {
        variant(&self.spec)
    }
}

/// A cell that cannot be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Names the case that it would be.
    pub id: String,
    /// The run that it would be.
    pub spec: RunSpec,
    /// Where its peers would run.
    pub placement: Placement,
    /// Why it cannot be run.
    pub reason: String,
    /// Whether it is the machine that lacks something.
    pub cause: Cause,
}

/// Why a cell cannot be run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// It is more than mechanism, mode or machine can carry.
    Limit,
    /// Something is not installed here.
    Missing,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.id, self.reason)
    }
}

/// What the name of a case holds beside what it usually does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Naming {
    /// Nothing.
    Usual,
    /// How much is moved and by which events it is counted, where that was said: cases of one plan differ in it.
    InFull,
}

impl Naming {
    /// What is added to the name of a case that moves `total`.
    pub(super) const fn amount(self, total: Total) -> Option<NamedAmount> {
        match (self, total) {
            (Self::Usual, _) | (Self::InFull, Total::Calibrated) => None,
            (Self::InFull, Total::Bytes(bytes)) => Some(NamedAmount::Bytes(bytes)),
            (Self::InFull, Total::Messages(messages)) => Some(NamedAmount::Messages(messages)),
        }
    }
}

/// Holds a cell of `mechanism`, complete but for its CPUs, against mechanism, mode and machine; `amount` ends its name.
///
/// # Errors
/// Usage where a CPU was named that is outside the cpuset: that is no limit but a slip.
pub(super) fn resolve(
    mechanism: &Mechanism<'_>,
    mut spec: RunSpec,
    placement: Placement,
    amount: Option<NamedAmount>,
    topology: &Topology,
) -> Result<Result<Case, Refused>, Error> {
    let name = NameParts { amount, ..NameParts::default() };
    let id = case_id(&spec, placement, &name, Side::Watched);
    let refused =
        |spec, reason, cause| Ok(Err(Refused { id: id.clone(), spec, placement, reason, cause }));
    match topology.resolve(placement) {
        Ok(cpus) => spec.cpus = cpus,
        Err(error @ PlacementError::OutsideCpuset { .. }) => {
            return Err(Error::usage(error.to_string()));
        }
        Err(error) => return refused(spec, error.to_string(), Cause::Limit),
    }
    match (refusal(mechanism, &spec), missing(mechanism, &spec)) {
        (Some(reason), _) => refused(spec, reason, Cause::Limit),
        (None, Some(reason)) => refused(spec, reason, Cause::Missing),
        (None, None) => {
            let (watched, matrices) = (Watched::default(), Vec::new());
            Ok(Ok(Case { id, name, placement, spec, watched, matrices }))
        }
    }
}

/// Why `spec`, complete with its CPUs, cannot run here; `None` where nothing is known to be against it.
pub fn obstacle(spec: &RunSpec) -> Option<String> {
    let mechanism = mechanism::find(&spec.mechanism)?;
    refusal(mechanism, spec).or_else(|| missing(mechanism, spec))
}

/// What of mechanism, mode or machine `spec` is too much for.
pub(super) fn refusal(mechanism: &Mechanism<'_>, spec: &RunSpec) -> Option<String> {
    refused_by_mode(mechanism, spec)
        .or_else(|| refused_by_place(mechanism, spec))
        .or_else(|| refused_by_memory(mechanism, spec))
        .or_else(|| refused_by_limit(mechanism, spec))
}

fn refused_by_mode(mechanism: &Mechanism<'_>, spec: &RunSpec) -> Option<String> {
    if !mechanism.modes.contains(&spec.mode) {
        return Some(format!("{} cannot run in {}", mechanism.name, spec.mode.name()));
    }
    if mechanism.delivery == Delivery::Nothing && spec.check == TouchCheck::Verify {
        return Some(format!("{} moves nothing that could be verified", mechanism.name));
    }
    let hands_over = mechanism.fate(&spec.options) == PayloadFate::HandedOver;
    if spec.mode == Mode::OneThread && hands_over {
        return Some(format!(
            "one thread has nobody to hand over to: {} copies there",
            mechanism.name
        ));
    }
    if spec.handling.first_touch == FirstTouch::BeforeFork && spec.mode != Mode::TwoProcesses {
        return Some(format!("{} forks nothing: --first-touch says nothing", spec.mode.name()));
    }
    match spec.cpus {
        Some([sender, receiver]) if spec.mode == Mode::OneThread && sender != receiver => {
            Some("one thread cannot be on two CPUs".to_owned())
        }
        _ => None,
    }
}

/// What an option needs that is not here.
fn missing(mechanism: &Mechanism<'_>, spec: &RunSpec) -> Option<String> {
    let Lack { option, value, missing } = mechanism.lack(&spec.options)?;
    let (name, Unavailable { reason, remedy }) = (mechanism.name, missing);
    Some(format!("{name} with {option}={value}: {reason} ({remedy})"))
}

/// What is handed over in place lies in memory of the mechanism's own.
fn refused_by_place(mechanism: &Mechanism<'_>, spec: &RunSpec) -> Option<String> {
    let Handling { content, buffers, first_touch, reply, .. } = spec.handling;
    let is_program = matches!(own_mechanism(mechanism.name), Some((OwnKind::Program, _)));
    if is_program && spec.handling != (Handling { reply, ..Handling::default() }) {
        let name = mechanism.name;
        return Some(format!(
            "{name} has loops of its own: --touch, --payload, --buffers and --first-touch do not apply"
        ));
    }
    if first_touch == FirstTouch::Timed && content != Content::default() {
        return Some(format!(
            "--payload {content} is written before the clock starts: nothing is left for --first-touch timed"
        ));
    }
    let is_timed = first_touch == FirstTouch::Timed;
    let is_elsewhere = content != Content::default() || buffers != Reuse::default() || is_timed;
    (mechanism.fate(&spec.options) == PayloadFate::HandedOver && is_elsewhere).then(|| {
        let name = mechanism.name;
        format!(
            "{name} has messages in memory of its own: --payload, --buffers and --first-touch timed do not apply"
        )
    })
}

/// Buffers of both parties: each may send and receive.
const BUFFERS: u64 = 4;

/// The parties' buffers and what the mechanism holds, or as much again where that is more.
fn refused_by_memory(mechanism: &Mechanism<'_>, spec: &RunSpec) -> Option<String> {
    let available = machine::available_memory_bytes()?;
    let (bytes, held) = (spec.largest_bytes(), (mechanism.holds)(&Setup::new(spec)).max(BUFFERS));
    let most = available / (BUFFERS + held);
    if bytes > most {
        let (name, most, times) = (mechanism.name, Bytes(most >> 20 << 20), BUFFERS + held);
        return Some(format!(
            "this machine has memory for messages of at most {most} ({name}: {times} times that)"
        ));
    }
    let buffers = spec.handling.buffers;
    let places = places_bytes(bytes, 1, buffers).saturating_mul(BUFFERS);
    let needed = places.saturating_add(held * bytes);
    (buffers != Reuse::Hot && needed > available).then(|| {
        let (name, needed) = (buffers.name(), Bytes(needed));
        format!("--buffers {name} needs {needed} of memory here, of which there is less")
    })
}

fn refused_by_limit(mechanism: &Mechanism<'_>, spec: &RunSpec) -> Option<String> {
    let limit = (mechanism.limit)(&Setup::new(spec))?;
    (spec.largest_bytes() > limit.bytes).then(|| {
        let (name, bytes, because) = (mechanism.name, limit.bytes, limit.because);
        format!("{name} carries at most {bytes} bytes a message ({because})")
    })
}
