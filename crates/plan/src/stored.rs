//! Validates a plan from a results file against the rules of the command line: the file may have been edited by
//! hand, or made with malicious intent.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashSet};

use ipcperf_engine::channel::Mechanism;
use ipcperf_engine::mechanism::RequestedMechanism;
use ipcperf_model::case_id::NamedAmount;
use ipcperf_model::message_options::FirstTouch;
use ipcperf_model::placement::Placement;
use ipcperf_model::rate::MAX_RATE_PER_S;
use ipcperf_model::workload::WorkloadKind;
use ipcperf_model::{CustomKind, Mode, RunSpec, WarmUp, size};

use super::custom::whole_name;
use super::instruments::check_events;
use super::options::{find_option, is_custom_option, parse_values};
use super::pacing::max_duration_ns;
use super::request::{check_attempts, check_timeout};
use super::{Case, CustomFiles, Plan, StoppingRule, TypedLevels, cell};
use crate::error::Error;
use crate::spelling;

impl Plan {
    /// Checks that the name of each case matches its specification and is unique. No file that the plan names is
    /// loaded.
    ///
    /// # Errors
    /// Returns a usage error with the stored name and the name that the case should have.
    pub fn check_names(&self) -> Result<(), Error> {
        crate::cell_count::check_count(self.cases.len())?;
        let mut seen = HashSet::new();
        for case in &self.cases {
            let (stored, made) = (&case.id, case.build_id());
            if *stored != made {
                return Err(changed_error(&format!(
                    "the case named `{stored}` has the specification of `{made}`"
                )));
            }
            if !seen.insert(stored) {
                return Err(changed_error(&format!("two cases have the name `{stored}`")));
            }
        }
        for case in &self.cases {
            let twin_of = case.instruments.twin_of.as_deref();
            if let Some(of) = twin_of.filter(|of| *of != case.instrumented_id()) {
                return Err(changed_error(&format!(
                    "the case `{}` is not the uninstrumented twin of `{of}`",
                    case.id
                )));
            }
        }
        Ok(())
    }

    /// Returns the custom mechanisms, and the commands in front of programs (`--sender-prefix`), that the plan runs.
    pub fn custom_programs(&self) -> BTreeSet<String> {
        let named = self.cases.iter().filter_map(|case| case.spec.mechanism.custom());
        let prefixes = self.cases.iter().map(|case| &case.spec.prefixes);
        let commands = prefixes.flat_map(|one| [&one.sender, &one.receiver]).flatten().cloned();
        named.map(whole_name).chain(commands).collect()
    }

    /// Checks that each case could have been requested and can run on this machine. The files of custom mechanisms
    /// are inspected.
    ///
    /// # Errors
    /// Returns a usage error with the first invalid case and the reason.
    pub fn check_stored(&self) -> Result<(), Error> {
        check_attempts(self.attempts)?;
        check_timeout(self.timeout.as_secs_f64())?;
        self.stopping_rule.check()?;
        let mut requested = RequestedMechanisms::new();
        for case in &self.cases {
            check_case(case, &mut requested)
                .map_err(|error| Error::usage(format!("case `{}`: {error}", case.id)))?;
        }
        Ok(())
    }
}

fn changed_error(what: &str) -> Error {
    Error::usage(format!("{what}, so the file was modified; start a new measurement"))
}

/// Mechanisms of a plan by name: the file of a custom one is inspected once, however many cases use it.
type RequestedMechanisms = BTreeMap<String, RequestedMechanism>;

fn find_requested<'a>(
    name: &str,
    requested: &'a mut RequestedMechanisms,
) -> Result<Mechanism<'a>, Error> {
    let requested = match requested.entry(name.to_owned()) {
        Entry::Occupied(known) => known.into_mut(),
        Entry::Vacant(new) => new.insert(spelling::parse_mechanism(name, CustomFiles::Inspect)?),
    };
    Ok(requested.mechanism())
}

fn check_case(case: &Case, requested: &mut RequestedMechanisms) -> Result<(), Error> {
    let spec = &case.spec;
    let mechanism = &find_requested(spec.mechanism.as_str(), requested)?;
    if mechanism.name != spec.mechanism.as_str() {
        return Err(Error::usage(format!("`{}` is not an absolute path", spec.mechanism)));
    }
    check_options(mechanism, spec)?;
    check_amounts(case)?;
    check_pacing(case)?;
    super::peers::check_stored(spec).map_err(Error::usage)?;
    super::prefixes::check_stored(spec).map_err(Error::usage)?;
    check_cpus(case.placement, spec)?;
    check_instruments(case)?;
    let run_by_run = spec.warm_up == WarmUp::None && spec.repeats.is_none();
    let (gate, objects) = (case.instruments.gate(), case.instruments.objects());
    if !run_by_run || spec.gate != gate || spec.objects != objects {
        return Err(Error::usage(
            "warm-up, repeats, gate and kernel objects of a run must have their default values",
        ));
    }
    cell::refusal(mechanism, spec).map_or(Ok(()), |reason| Err(Error::usage(reason)))
}

fn check_options(mechanism: &Mechanism<'_>, spec: &RunSpec) -> Result<(), Error> {
    let is_custom = spec.mechanism.custom().is_some();
    for (name, value) in &spec.options {
        if is_custom && is_custom_option(name, value) && !value.contains(',') {
            continue;
        }
        let known = find_option(mechanism, name)?;
        let values = parse_values(mechanism, known, TypedLevels::Text(value))?;
        if values.len() != 1 || values[0] != *value {
            let full = format!("{}.{name}", mechanism.name);
            return Err(Error::usage(format!("{full} does not accept `{value}`")));
        }
    }
    Ok(())
}

/// Checks that the sizes are valid, and that the amount matches the name.
fn check_amounts(case: &Case) -> Result<(), Error> {
    let spec = &case.spec;
    let size =
        |bytes: u64| size::parse(&bytes.to_string()).map_err(|e| Error::usage(e.to_string()));
    size(spec.buffer_bytes)?;
    check_mixture(spec)?;
    spec.total_bytes.map_or(Ok(0), size)?;
    if spelling::parse_kernel_buffer(&spec.kernel_buffer.to_string())? != spec.kernel_buffer {
        return Err(Error::usage(format!("invalid kernel buffer {}", spec.kernel_buffer)));
    }
    let first = spec.message_options.first_touch;
    if first != FirstTouch::AfterFork && spec.total_bytes.is_none() {
        return Err(Error::usage(format!("--first-touch {} needs --total", first.name())));
    }
    let moved = case.name.amount.map(|amount| match amount {
        NamedAmount::Bytes(bytes) => bytes,
        NamedAmount::Messages(messages) => messages.saturating_mul(spec.mean_bytes()),
    });
    match (moved, spec.total_bytes) {
        (Some(said), total) if total != Some(said) => {
            let words =
                format!("the total differs from the total in the name of the case, {said} bytes");
            Err(Error::usage(words))
        }
        _ => Ok(()),
    }
}

/// Checks that the largest of messages of different sizes has the size of the buffer.
fn check_mixture(spec: &RunSpec) -> Result<(), Error> {
    if spec.has_fitting_sizes() && spec.order_seed == 0 {
        return Ok(());
    }
    Err(Error::usage("the sizes of the messages could not have been requested"))
}

/// Checks that the schedule could have been requested.
fn check_pacing(case: &Case) -> Result<(), Error> {
    let spec = &case.spec;
    let Some(pacing) = spec.pacing else {
        return match spec.workload {
            WorkloadKind::Paced => Err(Error::usage("a paced run needs a rate")),
            _ => Ok(()),
        };
    };
    let rate = 1..=MAX_RATE_PER_S;
    let is_valid = rate.contains(&pacing.rate_per_s)
        && pacing.messages > 0
        && pacing.duration_ns() <= max_duration_ns()
        && pacing.seed == 0
        && spec.total_bytes.is_none()
        && spec.workload != WorkloadKind::Stream
        && spec.mechanism.custom().is_none_or(|custom| custom.kind() == CustomKind::Library);
    if !is_valid {
        return Err(Error::usage("the schedule could not have been requested"));
    }
    cell::refused_by_pacer(spec, case.placement).map_or(Ok(()), |reason| Err(Error::usage(reason)))
}

/// Checks that the CPUs fit the placement. The CPUs that the machine has for a placement may have changed since the
/// file was written.
fn check_cpus(placement: Placement, spec: &RunSpec) -> Result<(), Error> {
    let fits = match (placement, spec.cpus) {
        (Placement::Free, cpus) => cpus.is_none(),
        (Placement::Same, Some([sender, receiver])) => sender == receiver,
        (Placement::Pair(first, second), Some(cpus)) => cpus == [first, second],
        (_, Some([sender, receiver])) => sender != receiver || spec.mode == Mode::OneThread,
        (_, None) => false,
    };
    if fits {
        return Ok(());
    }
    Err(Error::usage(format!("CPUs {:?} do not fit placement {placement}", spec.cpus)))
}

fn check_instruments(case: &Case) -> Result<(), Error> {
    let (watched, named) = (&case.instruments, &case.name.instruments);
    for instrument in &watched.names {
        check_events(&watched.events, instrument)?;
    }
    let is_there = |name: &str| watched.names.contains(&name);
    let disturbing = watched.intrusive().map(|instrument| instrument.facts.name);
    let named_instruments: BTreeSet<&str> =
        named.iter().map(|one| one.instrument.as_str()).collect();
    let is_consistent = match watched.twin_of {
        Some(_) => disturbing.count() == 0,
        None => {
            disturbing.collect::<BTreeSet<_>>() == named_instruments
                && named_instruments.iter().all(|name| is_there(name))
        }
    };
    if is_consistent {
        return Ok(());
    }
    Err(Error::usage("the instruments differ from the instruments in the name of the case"))
}

impl StoppingRule {
    /// Checks that the rule could have been requested.
    ///
    /// # Errors
    /// Returns a usage error like [`StoppingRule::parse`].
    fn check(&self) -> Result<(), Error> {
        match self {
            Self::UntilDecided(looks) => looks.check().map_err(Error::usage),
            Self::Repetitions(count) => {
                Self::parse(Some(*count), None, None, None)?;
                Ok(())
            }
            Self::UntilCi(precision) => {
                let percent = Some(precision.half_width * 100.0);
                let (most, most_s) = (Some(precision.max_repetitions), Some(precision.max_time_s));
                let requested = Self::parse(None, percent, most, most_s)?;
                if requested.min_repetitions() == precision.min_repetitions {
                    return Ok(());
                }
                Err(Error::usage("the minimum number of repetitions of until_ci is wrong"))
            }
        }
    }
}
