//! Words for completions and help, from the registries. Any text is accepted where the parser of the value reports
//! unknown words and the nearest known one.

use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use ipcperf_engine::mechanism::MECHANISMS;
use ipcperf_model::Mode;
use ipcperf_model::message_options::{BufferReuse, FirstTouch, Touch};
use ipcperf_model::pacing::Pacer;
use ipcperf_model::placement::NAMES;
use ipcperf_model::workload::WORKLOADS;
use ipcperf_observe::INSTRUMENTS;

use crate::compat::PROGRAMS;
use crate::printing::LIST_KINDS;
use ipcperf_report::export::EXPORTERS;
use ipcperf_study::STUDIES;

/// A name and its description, which may be empty.
type Word = (&'static str, &'static str);

/// Value parser that accepts any text; completions offer the words of a registry.
#[derive(Clone, Debug)]
pub(super) struct Known(fn() -> Vec<Word>);

impl TypedValueParser for Known {
    type Value = String;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &std::ffi::OsStr,
    ) -> Result<String, clap::Error> {
        StringValueParser::new().parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new((self.0)().into_iter().map(possible_value)))
    }
}

fn possible_value((name, about): Word) -> PossibleValue {
    match about {
        "" => PossibleValue::new(name),
        about => PossibleValue::new(name).help(about),
    }
}

impl Known {
    /// Returns the kinds of entries that can be listed, and the names of all entries.
    pub(super) fn listed() -> Self {
        Self(|| {
            let kinds = LIST_KINDS.iter().map(|kind| (kind.name, "the list of them"));
            kinds.chain(LIST_KINDS.iter().flat_map(|kind| (kind.entries)())).collect()
        })
    }

    /// Returns the kinds of entries that can be listed.
    pub(super) fn list_kinds() -> Self {
        Self(|| LIST_KINDS.iter().map(|kind| (kind.name, "")).collect())
    }

    pub(super) fn mechanisms() -> Self {
        Self(|| {
            let all = std::iter::once(("all", "every mechanism"));
            all.chain(MECHANISMS.iter().map(|known| (known.name, known.about))).collect()
        })
    }

    pub(super) fn workloads() -> Self {
        Self(|| WORKLOADS.iter().map(|facts| (facts.name, facts.about)).collect())
    }

    pub(super) fn modes() -> Self {
        Self(|| Mode::ALL.iter().map(|mode| (mode.name(), "")).collect())
    }

    pub(super) fn placements() -> Self {
        Self(|| NAMES.iter().map(|(word, placement)| (*word, placement.about())).collect())
    }

    pub(super) fn touches() -> Self {
        Self(|| Touch::ALL.iter().map(|touch| (touch.name(), "")).collect())
    }

    pub(super) fn pacers() -> Self {
        Self(|| Pacer::ALL.iter().map(|pacer| (pacer.name(), "")).collect())
    }

    pub(super) fn reuses() -> Self {
        Self(|| BufferReuse::ALL.iter().map(|reuse| (reuse.name(), "")).collect())
    }

    pub(super) fn first_touches() -> Self {
        Self(|| FirstTouch::ALL.iter().map(|first| (first.name(), "")).collect())
    }

    pub(super) fn instruments() -> Self {
        Self(|| INSTRUMENTS.iter().map(|known| (known.facts.name, known.about)).collect())
    }

    pub(super) fn studies() -> Self {
        Self(|| STUDIES.iter().map(|&(name, _)| (name, "")).collect())
    }

    pub(super) fn programs() -> Self {
        Self(|| {
            let words = PROGRAMS
                .iter()
                .flat_map(|program| program.names.iter().map(|&name| (name, program.about)));
            words.collect()
        })
    }

    pub(super) fn exporters() -> Self {
        Self(|| EXPORTERS.iter().map(|exporter| (exporter.name, exporter.about)).collect())
    }

    /// Returns `what`, and the words with their descriptions, for help texts.
    pub(super) fn described_help(&self, what: &str) -> String {
        let words = (self.0)().into_iter().map(|(name, about)| format!("{name} ({about})"));
        format!("{what}: {}", words.collect::<Vec<_>>().join(", "))
    }

    /// Returns `what` and the words, for help texts.
    pub(super) fn help(&self, what: &str) -> String {
        let names: Vec<&str> = (self.0)().into_iter().map(|(name, _)| name).collect();
        format!("{what}: {}", names.join(", "))
    }
}
