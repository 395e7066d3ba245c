//! Request of the user, parsed but not yet resolved against the machine.

use std::collections::BTreeMap;
use std::time::Duration;

use ipcperf_engine::mechanism::{RequestedMechanism, SURVEYED};
use ipcperf_model::message_options::MessageOptions;
use ipcperf_model::placement::Placement;
use ipcperf_model::prefixes::Prefixes;
use ipcperf_model::workload::{self, WorkloadKind};
use ipcperf_model::{KernelBuffer, Mode, PayloadCheck};
use ipcperf_observe::Instrument;

use super::options::Options;
use super::pacing::RequestedPacing;
use super::peers::RequestedPeers;
use super::stopping_rule::{check_minimum, range_error};
use super::{Events, Grouping, StoppingRule, Total};
use crate::error::Error;
use crate::factor::{ATTEMPTS, Factor, TIMEOUT_S};
use crate::factor_error::FactorError;

/// Buffer sizes of the survey, bytes.
const SURVEY_BUFFERS: [u64; 4] = [64, 4 << 10, 64 << 10, 1 << 20];
/// Maximum timeout, s (one day): a longer one is a typing error.
pub const MAX_TIMEOUT_S: f64 = 86_400.0;

/// Levels of each factor, and fixed settings. An option with several values is a factor.
#[derive(Clone, Debug)]
pub struct Request {
    /// Mechanisms, in the order in which they were named; custom ones with the facts from their files.
    pub mechanisms: Vec<RequestedMechanism>,
    /// Values by mechanism and option.
    pub options: Options,
    /// Traffic patterns.
    pub workloads: Vec<WorkloadKind>,
    /// Message sizes, bytes.
    pub buffers: Vec<u64>,
    /// Amount of payload of each case.
    pub total: Total,
    /// Kinds of peers.
    pub modes: Vec<Mode>,
    /// Placements of the peers.
    pub placements: Vec<Placement>,
    /// Capacities of the kernel buffer between the peers.
    pub kernel_buffers: Vec<KernelBuffer>,
    /// Whether messages are verified.
    pub check: PayloadCheck,
    /// Schedules of paced traffic.
    pub pacing: RequestedPacing,
    /// Numbers of peers, for workloads with several.
    pub peers: RequestedPeers,
    /// Every combination of commands in front of the programs of mode 2exec.
    pub prefixes: Vec<Prefixes>,
    /// Every combination of message options.
    pub message_options: Vec<MessageOptions>,
    /// Instruments.
    pub instruments: Vec<&'static Instrument>,
    /// Events of the instruments that offer a choice.
    pub events: Events,
    /// Whether instruments share runs.
    pub grouping: Grouping,
    /// Rule for when a case has been repeated often enough.
    pub stopping_rule: StoppingRule,
    /// Maximum number of attempts for each repetition, until a run is undisturbed.
    pub attempts: u32,
    /// Seed that shuffles the blocks.
    pub seed: u64,
    /// Time after which a run is ended.
    pub timeout: Duration,
}

impl Request {
    /// Sets the number of repetitions of each case.
    ///
    /// # Errors
    /// Returns a usage error if `repetitions` is 0.
    pub fn set_repetitions(&mut self, repetitions: u32) -> Result<(), Error> {
        self.stopping_rule = StoppingRule::parse(Some(repetitions), None, None, None)?;
        Ok(())
    }

    /// Returns the request of the survey: the common mechanisms, streams and round trips, four sizes, on one CPU
    /// and on two.
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
            check: PayloadCheck::Off,
            pacing: RequestedPacing::default(),
            peers: RequestedPeers::default(),
            prefixes: vec![Prefixes::default()],
            message_options: vec![MessageOptions::default()],
            instruments: Vec::new(),
            events: Events::new(),
            grouping: Grouping::Apart,
            stopping_rule: StoppingRule::Repetitions(length.repetitions()),
            attempts: ATTEMPTS.value,
            seed: fresh_seed(),
            timeout: Duration::from_secs(TIMEOUT_S.value.into()),
        }
    }
}

/// Extent of the survey.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SurveyLength {
    /// All sizes.
    Full,
    /// Every second size.
    Quick,
}

impl SurveyLength {
    /// Returns the number of valid repetitions. A run takes 40 to 45 ms, so that on a quiet machine all of them, and
    /// some retries, fit into [`Self::max_time`].
    const fn repetitions(self) -> u32 {
        match self {
            Self::Full => 7,
            Self::Quick => 4,
        }
    }

    /// Returns the time within which the survey ends, however disturbed the machine is. Starting and printing take
    /// some of the minute, or of the 20 s of a quick survey, as well.
    pub const fn max_time(self) -> Duration {
        match self {
            Self::Full => Duration::from_secs(57),
            Self::Quick => Duration::from_secs(18),
        }
    }
}

pub(super) fn check_attempts(number: u32) -> Result<u32, FactorError> {
    check_minimum(Factor::Attempts, number)
}

pub(super) fn check_timeout(seconds: f64) -> Result<Duration, FactorError> {
    if !(seconds > 0.0 && seconds <= MAX_TIMEOUT_S) {
        let what = format!("above 0 s and at most {MAX_TIMEOUT_S} s (one day)");
        return Err(range_error(Factor::Timeout, &seconds, &what));
    }
    Ok(Duration::from_secs_f64(seconds))
}

/// Returns a seed from the clock. Results store it, so that the order can be reproduced.
pub(super) fn fresh_seed() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    now.map_or(0, |since| u64::from(since.subsec_nanos()) ^ (since.as_secs() << 30))
}
