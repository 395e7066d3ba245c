//! Names of cases: everything that distinguishes one, readable. A name is made from what a results file stores
//! of its case, so that whoever goes on with the file can hold one against the other.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::placement::Placement;
use crate::{KernelBuffer, RunSpec, TouchCheck};

/// What leads to the bytes that a case moves, or to its messages, in the name of a case.
const TOTAL: &str = "/total=";
/// As above, where messages were asked for.
const MESSAGES: &str = "/messages=";
/// What stands between the name of a case and the instruments that watch it.
const WATCHED: &str = "/instrument=";
/// What stands between the name of a case and the instruments whose twin it is.
const TWIN: &str = "/twin-of=";
/// What lies between the name of an instrument and the words that chose its events.
const CHOSEN: char = ':';

/// What the name of a case holds beside what its specification says: it depends on the other cases of its plan.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NameParts {
    /// The amount that is moved; null where all cases of the plan move the same.
    #[serde(default)]
    pub amount: Option<NamedAmount>,
    /// The instruments of the group that watches the case, or whose uninstrumented twin it is.
    #[serde(default)]
    pub instruments: Vec<NamedInstrument>,
}

/// How much is moved one way in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NamedAmount {
    /// Bytes, whatever the buffer.
    Bytes(u64),
    /// Buffers full.
    Messages(u64),
}

/// An instrument as the name of a case has it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NamedInstrument {
    /// Its name.
    pub instrument: String,
    /// The words that chose its events, where other cases of the plan have other events.
    #[serde(default)]
    pub events: Vec<String>,
    /// The number of its part, where its events take several runs.
    #[serde(default)]
    pub part: Option<usize>,
}

impl NamedAmount {
    /// The amount as a level of the factor `total`: bytes as a number, messages with their unit.
    #[must_use]
    pub fn level(self) -> String {
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
            write!(f, "{CHOSEN}{}", self.events.join(","))?;
        }
        self.part.map_or(Ok(()), |part| write!(f, ".{part}"))
    }
}

/// Which of the two cases a group of instruments makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The one that it watches.
    Watched,
    /// The one that it leaves alone.
    Twin,
}

/// What the name of a case is made of, for readers that must tell cases apart or pair them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaseName {
    /// Name of the case as it would be without instruments: equal for a watched case and its twin.
    pub cell: String,
    /// Amount that is moved and the instruments.
    pub parts: NameParts,
    /// Side of the pair; meaningless without instruments.
    pub side: Side,
}

impl CaseName {
    /// The name of a case of `spec` at `placement`.
    #[must_use]
    pub fn new(spec: &RunSpec, placement: Placement, parts: NameParts, side: Side) -> Self {
        let unwatched = NameParts { amount: parts.amount, instruments: Vec::new() };
        let cell = case_id(spec, placement, &unwatched, side);
        Self { cell, parts, side }
    }

    /// Whether instruments that disturb watch it.
    #[must_use]
    pub fn is_watched(&self) -> bool {
        self.side == Side::Watched && !self.parts.instruments.is_empty()
    }
}

/// The name of a case: `pipe[capacity=4096]/stream/2proc/same/65536`, and what else is not as usual.
pub fn case_id(spec: &RunSpec, placement: Placement, parts: &NameParts, side: Side) -> String {
    let mut id = cell_id(spec, placement);
    match parts.amount {
        None => {}
        Some(NamedAmount::Bytes(bytes)) => id += &format!("{TOTAL}{bytes}"),
        Some(NamedAmount::Messages(messages)) => id += &format!("{MESSAGES}{messages}"),
    }
    if parts.instruments.is_empty() {
        return id;
    }
    id += match side {
        Side::Watched => WATCHED,
        Side::Twin => TWIN,
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
    for (flag, value) in spec.handling.conditions() {
        id += &format!("/{flag}={value}");
    }
    if spec.check == TouchCheck::Verify {
        id += "/verify";
    }
    id
}

/// The mechanism with the options that were set: `pipe[capacity=4096]`.
pub fn variant(spec: &RunSpec) -> String {
    if spec.options.is_empty() {
        return spec.mechanism.clone();
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
        let spec = RunSpec::usual("pipe", 64);
        let instruments =
            vec![NamedInstrument { instrument: "sched".to_owned(), ..Default::default() }];
        let parts = NameParts { amount: Some(NamedAmount::Messages(5)), instruments };
        let name = |parts: &NameParts, side| case_id(&spec, Placement::Same, parts, side);
        let cell = "pipe/stream/2proc/same/64";
        assert_eq!(name(&NameParts::default(), Side::Watched), cell);
        assert_eq!(name(&parts, Side::Watched), format!("{cell}/messages=5/instrument=sched"));
        assert_eq!(name(&parts, Side::Twin), format!("{cell}/messages=5/twin-of=sched"));
    }
}
