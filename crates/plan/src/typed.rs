//! Request in the words of the user: levels as text, numbers as numbers.

use super::CustomFiles;
use crate::factor::Factor;
use crate::factor_error::{FactorError, Reason};

/// Unparsed levels of a factor, as the user wrote them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypedLevels<'a> {
    /// One text: the value of an option that is given once, or a default. May be a comma-separated list.
    Text(&'a str),
    /// Several texts: the values of a repeatable option, or the items of a list in a study file. Each may be a
    /// comma-separated list.
    Items(&'a [String]),
}

impl<'a> TypedLevels<'a> {
    /// Returns the unparsed texts.
    pub(crate) fn texts(self) -> Vec<&'a str> {
        match self {
            Self::Text(text) => vec![text],
            Self::Items(items) => items.iter().map(String::as_str).collect(),
        }
    }

    /// Returns the levels, split at commas.
    pub(crate) fn levels(self) -> Vec<&'a str> {
        self.texts().into_iter().flat_map(|text| text.split(',')).map(str::trim).collect()
    }
}

/// Option of a mechanism with its values, in the words of the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OptionSetting<'a> {
    /// Name of the mechanism, or the kind of all custom ones.
    pub mechanism: &'a str,
    /// Name of the option.
    pub option: &'a str,
    /// Values of the option.
    pub values: TypedLevels<'a>,
}

impl<'a> OptionSetting<'a> {
    /// Parses `MECHANISM.OPTION=VALUES`.
    ///
    /// # Errors
    /// Returns an error if `text` does not have this form.
    pub fn parse(text: &'a str) -> Result<Self, FactorError> {
        let shape = || {
            let reason = Reason::Takes("MECHANISM.OPTION=VALUES".to_owned());
            FactorError::new(Factor::MechanismOption, text, reason)
        };
        let (name, values) = text.split_once('=').ok_or_else(shape)?;
        let (mechanism, option) = name.trim().split_once('.').ok_or_else(shape)?;
        Ok(Self { mechanism, option, values: TypedLevels::Text(values) })
    }

    /// Returns `MECHANISM.OPTION`.
    #[must_use]
    pub fn name(&self) -> String {
        format!("{}.{}", self.mechanism, self.option)
    }
}

/// Request in the words of the user. An omitted factor has its default.
#[derive(Clone, Debug, Default)]
pub struct TypedRequest<'a> {
    /// Value of `--mechanism`.
    pub mechanisms: Option<TypedLevels<'a>>,
    /// Whether the files of custom mechanisms are inspected.
    pub custom_files: CustomFiles,
    /// Value of `--workload`.
    pub workloads: Option<TypedLevels<'a>>,
    /// Value of `--buffer`.
    pub buffers: Option<TypedLevels<'a>>,
    /// Value of `--total`.
    pub total: Option<TypedLevels<'a>>,
    /// Number of messages in a run, instead of a total.
    pub messages: Option<u64>,
    /// Value of `--mode`.
    pub modes: Option<TypedLevels<'a>>,
    /// Value of `--placement`.
    pub placements: Option<TypedLevels<'a>>,
    /// Value of `--kernel-buffer`.
    pub kernel_buffers: Option<TypedLevels<'a>>,
    /// Flags of the schedule.
    pub pacing: TypedPacing<'a>,
    /// Flags of workloads with several peers.
    pub peers: TypedPeers<'a>,
    /// Flags of the message options.
    pub message_options: TypedMessageOptions<'a>,
    /// Commands in front of the programs of mode 2exec.
    pub prefixes: TypedPrefixes<'a>,
    /// Value of `--instrument`.
    pub instruments: Option<TypedLevels<'a>>,
    /// Values of `--counter-events` and of `--profile-event`.
    pub events: [Option<TypedLevels<'a>>; 2],
    /// Values of `--set`.
    pub options: Vec<OptionSetting<'a>>,
    /// Value of `--repetitions`.
    pub repetitions: Option<u32>,
    /// Value of `--until-ci`, per cent.
    pub until_ci_percent: Option<f64>,
    /// Value of `--max-repetitions`.
    pub max_repetitions: Option<u32>,
    /// Value of `--max-time`, s.
    pub max_time_s: Option<f64>,
    /// Value of `--attempts`.
    pub attempts: Option<u32>,
    /// Value of `--seed`.
    pub seed: Option<u64>,
    /// Value of `--timeout`, s.
    pub timeout_s: Option<f64>,
}

/// Schedule of paced traffic in the words of the user. An omitted setting has its default.
#[derive(Clone, Copy, Debug, Default)]
pub struct TypedPacing<'a> {
    /// Value of `--rate`.
    pub rate: Option<TypedLevels<'a>>,
    /// Value of `--arrivals`.
    pub arrivals: Option<TypedLevels<'a>>,
    /// Value of `--pacer`.
    pub pacer: Option<TypedLevels<'a>>,
    /// Value of `--duration`, s.
    pub duration_s: Option<f64>,
    /// Search for the knee, if `--find-knee` was given.
    pub knee: Option<TypedKnee>,
}

/// Peers of workloads with several in the words of the user. An omitted setting has its default.
#[derive(Clone, Copy, Debug, Default)]
pub struct TypedPeers<'a> {
    /// Value of `--peers`.
    pub peers: Option<TypedLevels<'a>>,
    /// Value of `--traffic`.
    pub traffic: Option<TypedLevels<'a>>,
}

/// Search for the knee in the words of the user.
#[derive(Clone, Copy, Debug, Default)]
pub struct TypedKnee {
    /// Value of `--knee-p99`, s.
    pub p99_s: Option<f64>,
}

/// Message options in the words of the user. An omitted option has its default.
#[derive(Clone, Copy, Debug, Default)]
pub struct TypedMessageOptions<'a> {
    /// Values of `--messages`, each a mixture of sizes.
    pub sizes: Option<TypedLevels<'a>>,
    /// Value of `--touch`.
    pub touch: Option<TypedLevels<'a>>,
    /// Value of `--payload`.
    pub payload: Option<TypedLevels<'a>>,
    /// Value of `--buffers`.
    pub buffers: Option<TypedLevels<'a>>,
    /// Value of `--first-touch`.
    pub first_touch: Option<TypedLevels<'a>>,
    /// Value of `--reply`.
    pub reply: Option<TypedLevels<'a>>,
}

/// Commands in front of the programs of mode 2exec, in the words of the user.
#[derive(Clone, Copy, Debug, Default)]
pub struct TypedPrefixes<'a> {
    /// Values of `--sender-prefix`.
    pub sender: Option<TypedLevels<'a>>,
    /// Values of `--receiver-prefix`.
    pub receiver: Option<TypedLevels<'a>>,
}
