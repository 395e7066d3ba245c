//! Parses a request factor by factor, so that all errors are reported at once.

use std::time::Duration;

use ipcperf_engine::mechanism::RequestedMechanism;
use ipcperf_model::placement::Placement;
use ipcperf_model::workload::WorkloadKind;
use ipcperf_model::{KernelBuffer, Mode, PayloadCheck, size};
use ipcperf_observe::Instrument;

use super::instruments::{self, unknown_events, unused_events};
use super::message_options::ParsedMessageOptions;
use super::options::{Options, parse_options};
use super::pacing::ParsedPacing;
use super::peers::{ParsedPeers, with_several};
use super::prefixes::ParsedPrefixes;
use super::request::{Request, check_attempts, check_timeout, fresh_seed};
use super::{Events, Grouping, StoppingRule, Total, TypedRequest};
use crate::error::Error;
use crate::factor::{ATTEMPTS, Factor, TIMEOUT_S};
use crate::factor_error::{FactorError, Reason};
use crate::spelling;

/// Request in which each factor is either parsed or an error.
#[derive(Debug)]
pub struct ParsedRequest {
    mechanisms: Result<Vec<RequestedMechanism>, FactorError>,
    /// Empty if the mechanisms could not be parsed, because they determine the options.
    options: Result<Options, Vec<FactorError>>,
    workloads: Result<Vec<WorkloadKind>, FactorError>,
    buffers: Result<Vec<u64>, FactorError>,
    total: Result<Total, FactorError>,
    modes: Result<Vec<Mode>, FactorError>,
    placements: Result<Vec<Placement>, FactorError>,
    kernel_buffers: Result<Vec<KernelBuffer>, FactorError>,
    pacing: ParsedPacing,
    peers: ParsedPeers,
    prefixes: ParsedPrefixes,
    message_options: ParsedMessageOptions,
    /// Error of sizes that were given together with a mixture of sizes.
    unused_buffers: Option<FactorError>,
    instruments: Result<Vec<&'static Instrument>, FactorError>,
    events: Result<Events, Vec<FactorError>>,
    stopping_rule: Result<StoppingRule, FactorError>,
    attempts: Result<u32, FactorError>,
    timeout: Result<Duration, FactorError>,
    seed: u64,
}

impl Request {
    /// Parses the words of the user.
    ///
    /// # Errors
    /// Returns the first invalid factor, or a usage error if the message options make too many cells.
    pub fn parse(typed: &TypedRequest<'_>, check: PayloadCheck) -> Result<Self, Error> {
        ParsedRequest::parse(typed).into_request(check)
    }
}

impl ParsedRequest {
    /// Parses each factor separately.
    #[must_use]
    pub fn parse(typed: &TypedRequest<'_>) -> Self {
        let mechanisms = spelling::parse_mechanisms(typed.mechanisms, typed.custom_files);
        let known = mechanisms.as_ref().ok();
        let message_options = typed.message_options.parse();
        Self {
            unused_buffers: message_options.check_buffers(typed.buffers).err(),
            options: known.map_or(Ok(Options::new()), |known| parse_options(&typed.options, known)),
            mechanisms,
            workloads: spelling::parse_levels(
                Factor::Workload,
                typed.workloads,
                spelling::parse_workload,
            ),
            buffers: spelling::parse_sizes(Factor::Buffer, typed.buffers),
            total: parse_total(typed),
            modes: spelling::parse_levels(Factor::Mode, typed.modes, spelling::parse_mode),
            placements: spelling::parse_levels(
                Factor::Placement,
                typed.placements,
                spelling::parse_placement,
            ),
            kernel_buffers: spelling::parse_levels(
                Factor::KernelBuffer,
                typed.kernel_buffers,
                spelling::parse_kernel_buffer,
            ),
            pacing: typed.pacing.parse(),
            peers: typed.peers.parse(),
            prefixes: typed.prefixes.parse(),
            message_options,
            instruments: instruments::parse(typed.instruments),
            events: instruments::parse_events(typed.events),
            stopping_rule: StoppingRule::parse(
                typed.repetitions,
                typed.until_ci_percent,
                typed.max_repetitions,
                typed.max_time_s,
            ),
            attempts: check_attempts(typed.attempts.unwrap_or(ATTEMPTS.value)),
            timeout: check_timeout(typed.timeout_s.unwrap_or_else(|| TIMEOUT_S.value.into())),
            seed: typed.seed.unwrap_or_else(fresh_seed),
        }
    }

    /// Returns all errors: those of single factors first, then those of contradicting factors.
    #[must_use]
    pub fn errors(&self) -> Vec<FactorError> {
        let each = [
            self.mechanisms.as_ref().err(),
            self.workloads.as_ref().err(),
            self.buffers.as_ref().err(),
            self.total.as_ref().err(),
            self.modes.as_ref().err(),
            self.placements.as_ref().err(),
            self.kernel_buffers.as_ref().err(),
            self.instruments.as_ref().err(),
            self.stopping_rule.as_ref().err(),
            self.attempts.as_ref().err(),
            self.timeout.as_ref().err(),
        ];
        let lists = [self.options.as_ref().err(), self.events.as_ref().err()];
        let each = each.into_iter().flatten().chain(lists.into_iter().flatten().flatten());
        let each = each
            .chain(self.pacing.errors())
            .chain(self.peers.errors())
            .chain(self.prefixes.errors())
            .chain(self.message_options.errors());
        each.cloned().chain(self.contradictions()).collect()
    }

    /// Returns the errors of contradicting factors. A rule is skipped if a factor that it reads has an error.
    fn contradictions(&self) -> Vec<FactorError> {
        let workloads = self.workloads.as_deref().ok();
        let reply =
            workloads.and_then(|workloads| self.message_options.check_reply(workloads).err());
        let total = self.total.as_ref().ok();
        let first_touch =
            total.and_then(|total| self.message_options.check_first_touch(*total).err());
        let unused = match (&self.events, &self.instruments) {
            (Ok(events), Ok(instruments)) => unused_events(events, instruments),
            _ => Vec::new(),
        };
        let schedule = workloads.map(|known| self.pacing.contradictions(known, total.copied()));
        let schedule = schedule.unwrap_or_default();
        let peers = workloads.map(|known| self.peers.contradictions(known)).unwrap_or_default();
        let alone = workloads.map(|known| self.unused_with_peers(known)).unwrap_or_default();
        let programs = self.modes.as_deref().map_or_else(
            |_| Vec::new(),
            |modes| {
                let unobserved = self.unobserved(modes);
                self.prefixes.contradictions(modes).into_iter().chain(unobserved).collect()
            },
        );
        let sizes = self.unused_buffers.clone();
        let messages = sizes.into_iter().chain(reply).chain(first_touch).chain(unused);
        messages.chain(schedule).chain(peers).chain(alone).chain(programs).collect()
    }

    /// Returns the error of instruments with separate programs, which they do not observe.
    fn unobserved(&self, modes: &[Mode]) -> Option<FactorError> {
        let mode = Mode::TwoPrograms;
        let are_named = self.instruments.as_ref().is_ok_and(|named| !named.is_empty());
        let reason = Reason::Without(Factor::Instrument.flag());
        (are_named && modes.contains(&mode))
            .then(|| FactorError::new(Factor::Mode, mode.name(), reason))
    }

    /// Returns the errors of flags that do not apply to those of `workloads` that have several peers.
    fn unused_with_peers(&self, workloads: &[WorkloadKind]) -> Vec<FactorError> {
        let Some(kind) = with_several(workloads) else { return Vec::new() };
        let instruments = self.instruments.as_ref().is_ok_and(|named| !named.is_empty());
        let flags = [
            self.pacing.searches_knee().then_some("--find-knee"),
            instruments.then_some(Factor::Instrument.flag()),
        ];
        let error = |flag| FactorError::new(Factor::Workload, kind.name(), Reason::Without(flag));
        flags.into_iter().flatten().map(error).collect()
    }

    /// Returns the errors of events that do not exist; finding out requires opening counters.
    #[must_use]
    pub fn unknown_events(&self) -> Vec<FactorError> {
        self.events.as_ref().map_or_else(|_| Vec::new(), unknown_events)
    }

    /// Returns the request, with messages checked according to `check`.
    ///
    /// # Errors
    /// Returns the first error, or a usage error if the message options make too many cells.
    pub fn into_request(self, check: PayloadCheck) -> Result<Request, Error> {
        if let Some(error) = self.errors().into_iter().next() {
            return Err(error.into());
        }
        Ok(Request {
            mechanisms: self.mechanisms?,
            options: self.options.unwrap_or_default(),
            workloads: self.peers.workloads(&self.workloads?),
            buffers: self.buffers?,
            total: self.total?,
            modes: self.modes?,
            placements: self.placements?,
            kernel_buffers: self.kernel_buffers?,
            check,
            pacing: self.pacing.into_requested()?,
            peers: self.peers.into_requested()?,
            prefixes: self.prefixes.combine()?,
            message_options: self.message_options.combine()?,
            instruments: self.instruments?,
            events: self.events.unwrap_or_default(),
            grouping: Grouping::Apart,
            stopping_rule: self.stopping_rule?,
            attempts: self.attempts?,
            seed: self.seed,
            timeout: self.timeout?,
        })
    }
}

fn parse_total(typed: &TypedRequest<'_>) -> Result<Total, FactorError> {
    let Some(words) = typed.total else {
        return Ok(typed.messages.map_or(Total::Calibrated, Total::Messages));
    };
    // A total is one size, not a list.
    let bytes = size::parse(&words.texts().join(","));
    bytes.map(Total::Bytes).map_err(|error| spelling::size_error(Factor::Total, error))
}
