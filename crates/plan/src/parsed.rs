//! A request, parsed factor by factor, so that all errors are found at once.

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
use crate::spelling as words;

/// Each factor of a request, or its error.
#[derive(Debug)]
pub struct ParsedRequest {
    mechanisms: Result<Vec<RequestedMechanism>, FactorError>,
    /// Empty where mechanisms could not be parsed: they decide which options there are.
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
    /// Parses what was typed.
    ///
    /// # Errors
    /// The first factor that cannot be what was typed; usage where message options make too many cells.
    pub fn parse(typed: &Typed<'_>, check: TouchCheck) -> Result<Self, Error> {
        ParsedRequest::parse(typed).into_request(check)
    }
}

impl ParsedRequest {
    /// Parses each factor by itself.
    #[must_use]
    pub fn parse(typed: &Typed<'_>) -> Self {
        let mechanisms = words::mechanisms(typed.mechanisms, typed.custom_files);
        let known = mechanisms.as_ref().ok();
        Self {
            options: known.map_or(Ok(Options::new()), |known| parse_options(&typed.options, known)),
            mechanisms,
            workloads: words::levels(Factor::Workload, typed.workloads, words::workload),
            buffers: words::sizes(Factor::Buffer, typed.buffers),
            total: total(typed),
            modes: words::levels(Factor::Mode, typed.modes, words::mode),
            placements: words::levels(Factor::Placement, typed.placements, words::placement),
            kernel_buffers: words::levels(
                Factor::KernelBuffer,
                typed.kernel_buffers,
                words::kernel_buffer,
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

    /// Returns all errors: of each factor by itself, then of factors that contradict each other.
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

    /// Errors of factors that contradict each other. A rule is skipped where a factor that it reads has an error.
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

    /// Returns the errors of events that do not exist: counters are opened to find out.
    #[must_use]
    pub fn unknown_events(&self) -> Vec<FactorError> {
        self.events.as_ref().map_or_else(|_| Vec::new(), unknown_events)
    }

    /// Returns the request, whose messages are checked as `check` says.
    ///
    /// # Errors
    /// The first that is wrong; usage where message options make too many cells.
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
    // One size, not a list of them.
    let bytes = size::parse(&words.texts().join(","));
    bytes.map(Total::Bytes).map_err(|error| words::no_size(Factor::Total, error))
}
