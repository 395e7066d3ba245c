//! A request as it was typed: levels as words, numbers as numbers.

use super::CustomFiles;
use crate::factor::Factor;
use crate::factor_error::{FactorError, Reason};

/// Levels of a factor as they were typed. Each text may be a list with commas itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Words<'a> {
    /// The value of a flag.
    Text(&'a str),
    /// The items of a list in a study file.
    Items(&'a [String]),
}

impl<'a> Words<'a> {
    /// Returns the texts as they were typed.
    pub(crate) fn texts(self) -> Vec<&'a str> {
        match self {
            Self::Text(text) => vec![text],
            Self::Items(items) => items.iter().map(String::as_str).collect(),
        }
    }

    /// Returns the levels, parted at commas.
    pub(crate) fn levels(self) -> Vec<&'a str> {
        self.texts().into_iter().flat_map(|text| text.split(',')).map(str::trim).collect()
    }
}

/// A mechanism's option with its values, as they were typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OptionSetting<'a> {
    /// The mechanism, or the kind of all custom ones.
    pub mechanism: &'a str,
    /// The option.
    pub option: &'a str,
    /// Its values.
    pub values: Words<'a>,
}

impl<'a> OptionSetting<'a> {
    /// Parses `MECHANISM.OPTION=VALUES`.
    ///
    /// # Errors
    /// `text` has another shape.
    pub fn parse(text: &'a str) -> Result<Self, FactorError> {
        let shape = || {
            let reason = Reason::Takes("MECHANISM.OPTION=VALUES".to_owned());
            FactorError::new(Factor::MechanismOption, text, reason)
        };
        let (name, values) = text.split_once('=').ok_or_else(shape)?;
        let (mechanism, option) = name.trim().split_once('.').ok_or_else(shape)?;
        Ok(Self { mechanism, option, values: Words::Text(values) })
    }

    /// Returns `MECHANISM.OPTION`.
    #[must_use]
    pub fn name(&self) -> String {
        format!("{}.{}", self.mechanism, self.option)
    }
}

/// A request as it was typed. What is left out has its default.
#[derive(Clone, Debug, Default)]
pub struct Typed<'a> {
    /// `--mechanism`.
    pub mechanisms: Option<Words<'a>>,
    /// Whether the files of custom mechanisms are asked what they are.
    pub custom_files: CustomFiles,
    /// `--workload`.
    pub workloads: Option<Words<'a>>,
    /// `--buffer`.
    pub buffers: Option<Words<'a>>,
    /// `--total`.
    pub total: Option<Words<'a>>,
    /// Messages in a run, in place of a total.
    pub messages: Option<u64>,
    /// `--mode`.
    pub modes: Option<Words<'a>>,
    /// `--placement`.
    pub placements: Option<Words<'a>>,
    /// `--kernel-buffer`.
    pub kernel_buffers: Option<Words<'a>>,
    /// The flags of message options.
    pub handling: TypedHandling<'a>,
    /// `--instrument`.
    pub instruments: Option<Words<'a>>,
    /// For counters, and for the profile.
    pub events: [Option<Words<'a>>; 2],
    /// `--set`.
    pub options: Vec<OptionSetting<'a>>,
    /// `--repetitions`.
    pub repetitions: Option<u32>,
    /// `--until-ci`, per cent.
    pub until_ci_percent: Option<f64>,
    /// `--most-repetitions`.
    pub most_repetitions: Option<u32>,
    /// `--most-seconds`, s.
    pub most_s: Option<f64>,
    /// `--attempts`.
    pub attempts: Option<u32>,
    /// `--seed`.
    pub seed: Option<u64>,
    /// `--deadline`, s.
    pub deadline_s: Option<f64>,
}

/// Message options as they were typed. What is left out has its default.
#[derive(Clone, Copy, Debug, Default)]
pub struct TypedHandling<'a> {
    /// `--touch`.
    pub touch: Option<Words<'a>>,
    /// `--payload`.
    pub payload: Option<Words<'a>>,
    /// `--buffers`.
    pub buffers: Option<Words<'a>>,
    /// `--first-touch`.
    pub first_touch: Option<Words<'a>>,
    /// `--reply`.
    pub reply: Option<Words<'a>>,
}
