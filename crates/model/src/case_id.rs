//! Names of cases. A name is readable and holds everything that distinguishes the case. It is built only from
//! values that the results file stores for the case, so a reader of the file can check it against them.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::peers::PEERS_FLAG;
use crate::placement::Placement;
use crate::{Condition, KernelBuffer, PayloadCheck, RunSpec};

/// Prefix of the number of bytes that a case moves, in a case name.
const TOTAL_PREFIX: &str = "/total=";
/// Prefix of the number of messages, where the amount was requested in messages.
const MESSAGES_PREFIX: &str = "/messages=";
/// Prefix of the instruments that observe the case.
const INSTRUMENT_PREFIX: &str = "/instrument=";
/// Prefix of the instruments whose uninstrumented twin the case is.
const TWIN_PREFIX: &str = "/twin-of=";
/// Separator between the name of an instrument and the words that chose its events.
const EVENTS_SEPARATOR: char = ':';

/// Parts of a case name that do not follow from the run specification: they depend on the other cases of the plan.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NameParts {
    /// Amount of payload; null if all cases of the plan move the same amount.
    #[serde(default)]
    pub amount: Option<NamedAmount>,
    /// Instruments of the group that observes the case, or whose uninstrumented twin it is.
    #[serde(default)]
    pub instruments: Vec<NamedInstrument>,
}

/// Amount of payload that a run moves in one direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NamedAmount {
    /// Number of bytes, whatever the buffer size.
    Bytes(u64),
    /// Number of messages, each of the size of the buffer.
    Messages(u64),
}

/// Instrument as it appears in a case name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NamedInstrument {
    /// Name of the instrument.
    pub instrument: String,
    /// Words that chose the events of the instrument; empty unless other cases of the plan have other events.
    #[serde(default)]
    pub events: Vec<String>,
    /// Number of the part, if the events of the instrument take several runs.
    #[serde(default)]
    pub part: Option<usize>,
}

impl NamedAmount {
    /// Formats the amount as a level of the factor `total`: bytes as a number, messages with their unit.
    #[must_use]
    pub fn to_level(self) -> String {
        match self {
            Self::Bytes(bytes) => bytes.to_string(),
            Self::Messages(1) => "1 message".to_owned(),
            Self::Messages(messages) => format!("{messages} messages"),
        }
    }
}

impl fmt::Display for NamedInstrument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.instrument)?;
        if !self.events.is_empty() {
            write!(f, "{EVENTS_SEPARATOR}{}", self.events.join(","))?;
        }
        self.part.map_or(Ok(()), |part| write!(f, ".{part}"))
    }
}

/// Side of the pair of cases that a group of instruments makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Instrumented case.
    Instrumented,
    /// Uninstrumented twin.
    Twin,
}

/// Components of a case name, for readers that distinguish cases or pair them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaseName {
    /// Name of the case without instruments: equal for an instrumented case and its twin.
    pub cell: String,
    /// Amount of payload, and the instruments.
    pub parts: NameParts,
    /// Side of the pair; has no meaning without instruments.
    pub side: Side,
}

impl CaseName {
    /// Builds the name of a case of `spec` at `placement`.
    #[must_use]
    pub fn new(spec: &RunSpec, placement: Placement, parts: NameParts, side: Side) -> Self {
        let uninstrumented = NameParts { amount: parts.amount, instruments: Vec::new() };
        let cell = case_id(spec, placement, &uninstrumented, side);
        Self { cell, parts, side }
    }

    /// Whether instruments that disturb observe the case.
    #[must_use]
    pub fn is_instrumented(&self) -> bool {
        self.side == Side::Instrumented && !self.parts.instruments.is_empty()
    }
}

/// Returns the name of a case: `pipe[capacity=4096]/stream/2proc/same/65536`, followed by the settings that differ
/// from their defaults.
pub fn case_id(spec: &RunSpec, placement: Placement, parts: &NameParts, side: Side) -> String {
    let mut id = cell_id(spec, placement);
    match parts.amount {
        None => {}
        Some(NamedAmount::Bytes(bytes)) => id += &format!("{TOTAL_PREFIX}{bytes}"),
        Some(NamedAmount::Messages(messages)) => id += &format!("{MESSAGES_PREFIX}{messages}"),
    }
    if parts.instruments.is_empty() {
        return id;
    }
    id += match side {
        Side::Instrumented => INSTRUMENT_PREFIX,
        Side::Twin => TWIN_PREFIX,
    };
    let names: Vec<String> = parts.instruments.iter().map(NamedInstrument::to_string).collect();
    id + &names.join("+")
}

fn cell_id(spec: &RunSpec, placement: Placement) -> String {
    let name = variant(spec);
    let (workload, mode, bytes) = (spec.workload.name(), spec.mode.name(), spec.buffer_bytes);
    let mut id = format!("{name}/{workload}/{mode}/{placement}/{bytes}");
    if spec.kernel_buffer != KernelBuffer::Default {
        id += &format!("/kernel-buffer={}", spec.kernel_buffer);
    }
    for Condition { flag, value } in spec.message_options.non_defaults() {
        id += &format!("/{flag}={value}");
    }
    for Condition { flag, value } in
        spec.pacing.iter().flat_map(|pacing| pacing.conditions(spec.mode, placement))
    {
        id += &format!("/{flag}={value}");
    }
    for Condition { flag, value } in spec.prefixes.conditions() {
        id += &format!("/{flag}={value}");
    }
    if let Some(peers) = &spec.peers {
        id += &format!("/{PEERS_FLAG}={}", peers.count);
    }
    if spec.check == PayloadCheck::Verify {
        id += "/verify";
    }
    id
}

/// Returns the mechanism with the options that were set: `pipe[capacity=4096]`.
pub fn variant(spec: &RunSpec) -> String {
    if spec.options.is_empty() {
        return spec.mechanism.to_string();
    }
    let options = spec.options.iter().map(|(name, value)| format!("{name}={value}"));
    format!("{}[{}]", spec.mechanism, options.collect::<Vec<_>>().join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_have_numbers_where_there_are_several() {
        let one = NamedInstrument { instrument: "counters".to_owned(), ..Default::default() };
        let second = NamedInstrument {
            events: vec!["l1d".to_owned(), "mem".to_owned()],
            part: Some(2),
            ..one.clone()
        };
        assert_eq!([one.to_string(), second.to_string()], ["counters", "counters:l1d,mem.2"]);
    }

    #[test]
    fn a_name_has_the_amount_before_the_instruments() {
        let spec = RunSpec::with_defaults("pipe", 64);
        let instruments =
            vec![NamedInstrument { instrument: "sched".to_owned(), ..Default::default() }];
        let parts = NameParts { amount: Some(NamedAmount::Messages(5)), instruments };
        let name = |parts: &NameParts, side| case_id(&spec, Placement::Same, parts, side);
        let cell = "pipe/stream/2proc/same/64";
        assert_eq!(name(&NameParts::default(), Side::Instrumented), cell);
        assert_eq!(name(&parts, Side::Instrumented), format!("{cell}/messages=5/instrument=sched"));
        assert_eq!(name(&parts, Side::Twin), format!("{cell}/messages=5/twin-of=sched"));
    }
}
