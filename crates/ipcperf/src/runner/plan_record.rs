//! Conversion between plans and their records in the header of a results file.

use std::collections::BTreeMap;
use std::time::{Duration, TryFromFloatSecsError};

use ipcperf_engine::mechanism::find;
use ipcperf_model::mechanism::CaseFacts;
use ipcperf_model::placement::Placement;
use ipcperf_model::{CustomName, RunSpec, instrument};
use ipcperf_results::{
    CaseIdentity, CustomRecord, PlanRecord, RefusedRecord, SpecRecord, UnavailableInstrumentRecord,
    UnavailableRecord,
};

use ipcperf_plan::{
    Case, CaseInstruments, MissingPart, Plan, RefusedCell, StoppingRule, UnavailableInstrument,
    UnavailableMechanism, custom_sha256,
};

/// Returns the record of `plan` for a header.
pub(crate) fn plan_record(plan: &Plan) -> PlanRecord {
    PlanRecord {
        repetitions: plan.stopping_rule.min_repetitions(),
        until_ci: match plan.stopping_rule {
            StoppingRule::UntilCi(precision) => Some(precision),
            StoppingRule::Repetitions(_) | StoppingRule::UntilDecided(_) => None,
        },
        until_decided: match &plan.stopping_rule {
            StoppingRule::UntilDecided(looks) => Some(looks.clone()),
            StoppingRule::Repetitions(_) | StoppingRule::UntilCi(_) => None,
        },
        attempts: plan.attempts,
        timeout_s: plan.timeout.as_secs_f64(),
        cases: plan.cases.iter().map(|case| case.id.clone()).collect(),
        specs: plan.cases.iter().map(spec_record).collect(),
        knee: plan.knee.clone(),
        refused: plan.refused.iter().map(refused_record).collect(),
        unavailable: plan.unavailable.iter().map(unavailable_record).collect(),
        unavailable_instruments: plan
            .unavailable_instruments
            .iter()
            .map(unavailable_instrument_record)
            .collect(),
        custom: custom_record(plan.cases.iter().filter_map(|case| case.spec.mechanism.custom())),
        libraries: plan.cases.iter().filter_map(library).collect(),
    }
}

/// Returns the identity of `case` in a results file.
pub(crate) fn identity(case: &Case) -> CaseIdentity {
    CaseIdentity::new(&case.id, &case.spec, case.placement, case_facts(&case.spec))
        .with_name(case.case_name())
}

/// Returns the facts about the mechanism of `spec` that readers of results need.
fn case_facts(spec: &RunSpec) -> Option<CaseFacts> {
    find(&spec.mechanism).map(|mechanism| mechanism.case_facts(&spec.options))
}

/// Returns the current checksums of the files of custom `mechanisms`; `None` if there are none.
fn custom_record<'a>(mechanisms: impl Iterator<Item = &'a CustomName>) -> Option<CustomRecord> {
    let names: BTreeMap<String, &CustomName> =
        mechanisms.map(|name| (name.to_string(), name)).collect();
    let sha256 = |(text, name): (String, &CustomName)| (text, custom_sha256(name).ok());
    let sha256: BTreeMap<String, Option<String>> = names.into_iter().map(sha256).collect();
    let folder = std::env::current_dir().ok().and_then(|path| path.to_str().map(str::to_owned));
    (!sha256.is_empty()).then_some(CustomRecord { folder, sha256 })
}

/// Checks that each file of `custom` is unchanged.
///
/// # Errors
/// Returns a message that names the file that has changed.
pub(crate) fn check_custom(custom: &CustomRecord) -> Result<(), String> {
    for (name, then) in &custom.sha256 {
        let now = CustomName::parse(name).and_then(|name| custom_sha256(&name).ok());
        if let (Some(then), Some(now)) = (then, &now)
            && then != now
        {
            return Err(format!(
                "the file of {name} has changed since the measurement: its SHA-256 was {then} and is now {now}; \
                 restore the file, or start a new measurement"
            ));
        }
    }
    Ok(())
}

/// Returns the name and version of the library that implements the mechanism of `case`.
fn library(case: &Case) -> Option<(String, String)> {
    let library = find(&case.spec.mechanism)?.library?;
    Some((library.name.to_owned(), library.version.to_owned()))
}

fn spec_record(case: &Case) -> SpecRecord {
    let events = case.instruments.events.iter();
    SpecRecord {
        placement: case.placement.to_string(),
        spec: case.spec.clone(),
        instruments: case.instruments.names.iter().map(|&name| name.to_owned()).collect(),
        events: events.map(|(&name, events)| (name.to_owned(), events.clone())).collect(),
        twin_of: case.instruments.twin_of.clone(),
        name_parts: case.name.clone(),
        matrices: case.matrices.clone(),
        facts: case_facts(&case.spec),
    }
}

fn refused_record(refused: &RefusedCell) -> RefusedRecord {
    let case =
        CaseIdentity::new(&refused.id, &refused.spec, refused.placement, case_facts(&refused.spec));
    RefusedRecord::new(case, refused.amount, refused.reason.clone())
}

fn unavailable_record(absent: &UnavailableMechanism) -> UnavailableRecord {
    UnavailableRecord {
        mechanism: absent.mechanism.clone(),
        reason: absent.reason.clone(),
        remedy: absent.remedy.clone(),
    }
}

fn unavailable_instrument_record(missing: &UnavailableInstrument) -> UnavailableInstrumentRecord {
    UnavailableInstrumentRecord {
        instrument: missing.instrument.to_owned(),
        partly_available: missing.missing_part == MissingPart::Event,
        reason: missing.why.reason.clone(),
        remedy: missing.why.remedy.clone(),
        cells_left_out: missing.cells_left_out,
        matrices: missing.matrices.clone(),
    }
}

/// Restores the plan that `record` describes, with its blocks shuffled by `seed`.
///
/// # Errors
/// Returns a message if something is missing: old files do not store the assignments of workers.
pub(crate) fn stored_plan(record: &PlanRecord, seed: u64) -> Result<Plan, String> {
    if record.specs.len() != record.cases.len() {
        let words =
            "written by a version of ipcperf that did not store its plan; start a new measurement";
        return Err(words.to_owned());
    }
    let cases = record.cases.iter().zip(&record.specs).map(|(id, spec)| stored_case(id, spec));
    Ok(Plan {
        cases: cases.collect::<Result<_, _>>()?,
        knee: record.knee.clone(),
        refused: Vec::new(),
        unavailable: Vec::new(),
        unavailable_instruments: Vec::new(),
        stopping_rule: stopping_rule(record),
        attempts: record.attempts,
        seed,
        timeout: Duration::try_from_secs_f64(record.timeout_s)
            .map_err(|error| stored_timeout_error(record.timeout_s, &error))?,
    })
}

/// Returns the message for a stored timeout that is not a duration.
fn stored_timeout_error(timeout_s: f64, error: &TryFromFloatSecsError) -> String {
    format!("timeout_s is {timeout_s} s: {error}; start a new measurement")
}

/// Returns the stopping rule of `record`.
fn stopping_rule(record: &PlanRecord) -> StoppingRule {
    match (record.until_ci, &record.until_decided) {
        (Some(precision), _) => StoppingRule::UntilCi(precision),
        (None, Some(looks)) => StoppingRule::UntilDecided(looks.clone()),
        (None, None) => StoppingRule::Repetitions(record.repetitions),
    }
}

fn stored_case(id: &str, record: &SpecRecord) -> Result<Case, String> {
    let placement = record.placement.parse::<Placement>().map_err(|error| error.to_string())?;
    let by =
        record.instruments.iter().map(|name| instrument_name(name)).collect::<Result<_, _>>()?;
    let chosen =
        |(name, events): (&String, &Vec<String>)| Ok((instrument_name(name)?, events.clone()));
    let events = record.events.iter().map(chosen).collect::<Result<_, String>>()?;
    let watched = CaseInstruments { names: by, events, twin_of: record.twin_of.clone() };
    let (spec, matrices) = (record.spec.clone(), record.matrices.clone());
    let name = record.name_parts.clone();
    Ok(Case { id: id.to_owned(), name, placement, spec, instruments: watched, matrices })
}

fn instrument_name(instrument: &str) -> Result<&'static str, String> {
    let known = instrument::find(instrument).map(|known| known.name);
    known.ok_or_else(|| {
        format!(
            "measured with the instrument {instrument}, which this version of ipcperf does not have; resume with the \
             version that wrote the file, or start a new measurement"
        )
    })
}

#[cfg(test)]
mod tests {
    use ipcperf_results::testing::facts;

    use super::*;

    fn facts_of(mechanism: &str, options: &[(&str, &str)]) -> CaseFacts {
        let options = options.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        find(&mechanism.into()).expect(mechanism).case_facts(&options.collect())
    }

    /// Hardware limits and rankings are chosen by these facts: a wait that sleeps is compared with the cost of a
    /// wake-up.
    #[test]
    fn facts_follow_the_options_that_change_them() {
        for (wait, sleeps) in [("adaptive", false), ("spin:20us", false), ("block", true)] {
            assert_eq!(facts_of("shm-ring", &[("wait", wait)]).sleeps, sleeps, "{wait}");
        }
        assert!(
            facts_of("mmap-queue", &[]).sleeps
                && !facts_of("mmap-queue", &[("lock", "fcntl-each")]).sleeps
        );
        assert!(
            facts_of("bus-memfd", &[]).is_handed_over && !facts_of("bus-copy", &[]).is_handed_over
        );
    }

    /// Tests of readers make up samples without the engine.
    #[test]
    fn facts_for_tests_are_those_of_the_engine() {
        for name in [
            "null",
            "shm-ring",
            "mmap-file",
            "mmap-queue",
            "eventfd",
            "process-vm",
            "pipe",
            "unix-stream",
            "tcp",
            "bus-copy",
            "bus-memfd",
        ] {
            assert_eq!(facts(name), facts_of(name, &[]), "{name}");
        }
    }
}
