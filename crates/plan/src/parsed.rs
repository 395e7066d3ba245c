//! Parses a request factor by factor, so that all errors are reported at once.

use std::time::Duration;

use ipcperf_engine::mechanism::RequestedMechanism;
use ipcperf_model::placement::Placement;
use ipcperf_model::workload::Kind;
use ipcperf_model::{KernelBuffer, Mode, TouchCheck, size};
use ipcperf_observe::Instrument;

use super::message_options::ParsedHandling;
use super::options::{Options, parse_options};
use super::request::{Request, attempts, deadline, fresh_seed};
use super::watchers::{self, unknown_events, unused_events};
use super::{Enough, Events, Grouping, Total, Typed};
use crate::error::Error;
use crate::factor::{ATTEMPTS, DEADLINE_S, Factor};
use crate::factor_error::FactorError;
use crate::spelling;

/// Request in which each factor is either parsed or an error.
#[derive(Debug)]
pub struct ParsedRequest {
    mechanisms: Result<Vec<RequestedMechanism>, FactorError>,
    /// Empty if the mechanisms could not be parsed, because they determine the options.
    options: Result<Options, Vec<FactorError>>,
    workloads: Result<Vec<Kind>, FactorError>,
    buffers: Result<Vec<u64>, FactorError>,
    total: Result<Total, FactorError>,
    modes: Result<Vec<Mode>, FactorError>,
    placements: Result<Vec<Placement>, FactorError>,
    kernel_buffers: Result<Vec<KernelBuffer>, FactorError>,
    handling: ParsedHandling,
    instruments: Result<Vec<&'static Instrument>, FactorError>,
    events: Result<Events, Vec<FactorError>>,
    enough: Result<Enough, FactorError>,
    attempts: Result<u32, FactorError>,
    deadline: Result<Duration, FactorError>,
    seed: u64,
}

impl Request {
    /// Parses the words of the user.
    ///
    /// # Errors
    /// Returns the first invalid factor, or a usage error if the message options make too many cells.
    pub fn parse(typed: &Typed<'_>, check: TouchCheck) -> Result<Self, Error> {
        ParsedRequest::parse(typed).into_request(check)
    }
}

impl ParsedRequest {
    /// Parses each factor separately.
    #[must_use]
    pub fn parse(typed: &Typed<'_>) -> Self {
        let mechanisms = spelling::mechanisms(typed.mechanisms, typed.custom_files);
        let known = mechanisms.as_ref().ok();
        Self {
            options: known.map_or(Ok(Options::new()), |known| parse_options(&typed.options, known)),
            mechanisms,
            workloads: spelling::levels(Factor::Workload, typed.workloads, spelling::workload),
            buffers: spelling::sizes(Factor::Buffer, typed.buffers),
            total: total(typed),
            modes: spelling::levels(Factor::Mode, typed.modes, spelling::mode),
            placements: spelling::levels(Factor::Placement, typed.placements, spelling::placement),
            kernel_buffers: spelling::levels(
                Factor::KernelBuffer,
                typed.kernel_buffers,
                spelling::kernel_buffer,
            ),
            handling: typed.handling.parse(),
            instruments: watchers::parse(typed.instruments),
            events: watchers::parse_events(typed.events),
            enough: Enough::parse(
                typed.repetitions,
                typed.until_ci_percent,
                typed.most_repetitions,
                typed.most_s,
            ),
            attempts: attempts(typed.attempts.unwrap_or(ATTEMPTS.value)),
            deadline: deadline(typed.deadline_s.unwrap_or_else(|| DEADLINE_S.value.into())),
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
            self.enough.as_ref().err(),
            self.attempts.as_ref().err(),
            self.deadline.as_ref().err(),
        ];
        let lists = [self.options.as_ref().err(), self.events.as_ref().err()];
        let each = each.into_iter().flatten().chain(lists.into_iter().flatten().flatten());
        each.chain(self.handling.errors()).cloned().chain(self.contradictions()).collect()
    }

    /// Returns the errors of contradicting factors. A rule is skipped if a factor that it reads has an error.
    fn contradictions(&self) -> Vec<FactorError> {
        let workloads = self.workloads.as_deref().ok();
        let reply = workloads.and_then(|workloads| self.handling.check_reply(workloads).err());
        let total = self.total.as_ref().ok();
        let first_touch = total.and_then(|total| self.handling.check_first_touch(*total).err());
        let unused = match (&self.events, &self.instruments) {
            (Ok(events), Ok(instruments)) => unused_events(events, instruments),
            _ => Vec::new(),
        };
        reply.into_iter().chain(first_touch).chain(unused).collect()
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
    pub fn into_request(self, check: TouchCheck) -> Result<Request, Error> {
        if let Some(error) = self.errors().into_iter().next() {
            return Err(error.into());
        }
        Ok(Request {
            mechanisms: self.mechanisms?,
            options: self.options.unwrap_or_default(),
            workloads: self.workloads?,
            buffers: self.buffers?,
            total: self.total?,
            modes: self.modes?,
            placements: self.placements?,
            kernel_buffers: self.kernel_buffers?,
            check,
            handlings: self.handling.crossed()?,
            instruments: self.instruments?,
            events: self.events.unwrap_or_default(),
            grouping: Grouping::Apart,
            enough: self.enough?,
            attempts: self.attempts?,
            seed: self.seed,
            deadline: self.deadline?,
        })
    }
}

fn total(typed: &Typed<'_>) -> Result<Total, FactorError> {
    let Some(words) = typed.total else {
        return Ok(typed.messages.map_or(Total::Calibrated, Total::Messages));
    };
    // A total is one size, not a list.
    let bytes = size::parse(&words.texts().join(","));
    bytes.map(Total::Bytes).map_err(|error| spelling::no_size(Factor::Total, error))
}
