//! What was asked for, parsed but not yet held against the machine.

use std::collections::BTreeMap;
use std::time::Duration;

use ipcperf_engine::mechanism::{RequestedMechanism, SURVEYED};
use ipcperf_model::message_options::Handling;
use ipcperf_model::placement::Placement;
use ipcperf_model::workload::{self, Kind};
use ipcperf_model::{KernelBuffer, Mode, TouchCheck};
use ipcperf_observe::Instrument;

use super::options::Options;
use super::stopping_rule::{at_least, must_be};
use super::{Enough, Events, Grouping, Total};
use crate::error::Error;
use crate::factor::{ATTEMPTS, DEADLINE_S, Factor};
use crate::factor_error::FactorError;

/// Kept repetitions of the survey, so that it ends within a minute.
const SURVEY_REPETITIONS: u32 = 7;
/// Buffer sizes of the survey.
const SURVEY_BUFFERS: [u64; 4] = [64, 4 << 10, 64 << 10, 1 << 20];
/// A longer deadline than a day is a slip.
pub const LONGEST_DEADLINE_S: f64 = 86_400.0;

/// The levels of each factor, and what is fixed. An option with several values is a factor.
#[derive(Clone, Debug)]
pub struct Request {
    /// Mechanisms, in the order in which they were named; custom ones with what their files said.
    pub mechanisms: Vec<RequestedMechanism>,
    /// Values by mechanism and option.
    pub options: Options,
    /// Workloads.
    pub workloads: Vec<Kind>,
    /// Sizes of messages, bytes.
    pub buffers: Vec<u64>,
    /// How much each case moves.
    pub total: Total,
    /// Which peers there are.
    pub modes: Vec<Mode>,
    /// Where they run.
    pub placements: Vec<Placement>,
    /// What the kernel shall hold between them.
    pub kernel_buffers: Vec<KernelBuffer>,
    /// Whether messages are checked.
    pub check: TouchCheck,
    /// Message options, each combination for itself.
    pub handlings: Vec<Handling>,
    /// Instruments.
    pub instruments: Vec<&'static Instrument>,
    /// Events of those that have a choice of them.
    pub events: Events,
    /// Whether instruments share runs.
    pub grouping: Grouping,
    /// When a case has been measured often enough.
    pub enough: Enough,
    /// Attempts for each repetition, until one is undisturbed.
    pub attempts: u32,
    /// Shuffles the blocks.
    pub seed: u64,
    /// After which a run is ended.
    pub deadline: Duration,
}

impl Request {
    /// Repeats each case at most `repetitions` times.
    ///
    /// # Errors
    /// Usage for no repetitions.
    pub fn repeat(&mut self, repetitions: u32) -> Result<(), Error> {
        self.enough = Enough::parse(Some(repetitions), None, None, None)?;
        Ok(())
    }

    /// The mechanisms a reader would pick, streams and round trips, four sizes, on one CPU and on two.
    pub fn survey(length: SurveyLength) -> Self {
        let step = match length {
            SurveyLength::Full => 1,
            SurveyLength::Quick => 2,
        };
        Self {
            mechanisms: SURVEYED.iter().copied().map(Into::into).collect(),
            options: BTreeMap::new(),
            workloads: workload::SURVEYED.to_vec(),
            buffers: SURVEY_BUFFERS.into_iter().step_by(step).collect(),
            total: Total::Calibrated,
            modes: vec![Mode::TwoProcesses],
            placements: vec![Placement::Same, Placement::Split],
            kernel_buffers: vec![KernelBuffer::Default],
            check: TouchCheck::Off,
            handlings: vec![Handling::default()],
            instruments: Vec::new(),
            events: Events::new(),
            grouping: Grouping::Apart,
            enough: Enough::Repetitions(SURVEY_REPETITIONS),
            attempts: ATTEMPTS.value,
            seed: fresh_seed(),
            deadline: Duration::from_secs(DEADLINE_S.value.into()),
        }
    }
}

/// How much the survey measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SurveyLength {
    /// Every size.
    Full,
    /// Every second size.
    Quick,
}

pub(super) fn attempts(number: u32) -> Result<u32, FactorError> {
    at_least(1, number, Factor::Attempts)
}

pub(super) fn deadline(seconds: f64) -> Result<Duration, FactorError> {
    if !(seconds > 0.0 && seconds <= LONGEST_DEADLINE_S) {
        let what = format!("above 0 and at most {LONGEST_DEADLINE_S} s");
        return Err(must_be(Factor::Deadline, &seconds, &what));
    }
    Ok(Duration::from_secs_f64(seconds))
}

/// A seed nobody chose: from the clock, and stored, so that the order can be had again.
pub(super) fn fresh_seed() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    now.map_or(0, |since| u64::from(since.subsec_nanos()) ^ (since.as_secs() << 30))
}
