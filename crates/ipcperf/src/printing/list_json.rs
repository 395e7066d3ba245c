//! Entries of lists as JSON.

use ipcperf_engine::channel::{Mechanism, OptionSpec, UnavailableValue};
use ipcperf_engine::mechanism::MECHANISMS;
use ipcperf_model::Unavailable;
use ipcperf_model::instrument::Intrusive;
use ipcperf_model::workload::WORKLOADS;
use ipcperf_observe::{INSTRUMENTS, Instrument};
use ipcperf_report::export::EXPORTERS;
use ipcperf_study::hypothesis::TESTS;
use serde_json::{Value, json};

use super::option_values::values_text;

/// Returns the instruments as JSON.
pub(super) fn instruments_json() -> Value {
    INSTRUMENTS.iter().map(instrument_json).collect()
}

fn instrument_json(instrument: &Instrument) -> Value {
    let lacks = instrument.check_available(&[]);
    let missing = |why: &Unavailable| json!({ "reason": why.reason, "remedy": why.remedy });
    json!({
        "name": instrument.facts.name,
        "about": instrument.about,
        "available": lacks.is_ok(),
        "reason": lacks.as_ref().err().map(|why| why.reason.clone()),
        "remedy": lacks.as_ref().err().map(|why| why.remedy.clone()),
        "needs": instrument.needs,
        "intrusive": instrument.facts.intrusive == Intrusive::Yes,
        "without": lacks.iter().flatten().map(missing).collect::<Vec<_>>(),
    })
}

/// Returns the mechanisms as JSON.
pub(super) fn mechanisms_json() -> Value {
    MECHANISMS.iter().map(|mechanism| mechanism_json(mechanism)).collect()
}

fn mechanism_json(mechanism: &Mechanism) -> Value {
    let unavailable = (mechanism.availability)().err();
    let options: Vec<Value> = mechanism.options.iter().map(option_json).collect();
    let modes: Vec<&str> = mechanism.modes.iter().map(|mode| mode.name()).collect();
    let mut entry = json!({
        "name": mechanism.name,
        "about": mechanism.about,
        "available": unavailable.is_none(),
        "reason": unavailable.as_ref().map(|why| why.reason.clone()),
        "remedy": unavailable.as_ref().map(|why| why.remedy.clone()),
        "library": mechanism.library.map(|library| json!({
            "name": library.name,
            "version": library.version,
            "license": library.license,
        })),
        "modes": modes,
        "options": options,
        "minimum_kernel": mechanism.documentation.minimum_kernel,
    });
    for fact in mechanism.formatted_facts() {
        entry[fact.key] = Value::from(fact.text);
    }
    entry
}

fn option_json(option: &OptionSpec) -> Value {
    json!({
        "name": option.name,
        "about": option.about,
        "values": values_text(option),
        "default": option.default,
        "unavailable": unavailable_values(option),
    })
}

/// Returns the values of an option that are unavailable here, as JSON.
fn unavailable_values(option: &OptionSpec) -> Vec<Value> {
    let entry = |UnavailableValue { value, missing, .. }| {
        let Unavailable { reason, remedy } = missing;
        json!({ "value": value, "reason": reason, "remedy": remedy })
    };
    option.unavailable_values().into_iter().map(entry).collect()
}

/// Returns the workloads as JSON.
pub(super) fn workloads_json() -> Value {
    let entry = |facts: &&ipcperf_model::workload::WorkloadFacts| {
        json!({
            "name": facts.name,
            "about": facts.about,
            "available": true,
            "reason": null,
            "measures": facts.measures,
        })
    };
    WORKLOADS.iter().map(entry).collect()
}

/// Returns the export formats as JSON.
pub(super) fn exporters_json() -> Value {
    let entries = EXPORTERS.iter().map(|exporter| {
        json!({
            "name": exporter.name,
            "about": exporter.about,
            "available": true,
            "reason": null,
            "details": exporter.details,
        })
    });
    entries.collect()
}

/// Returns the tests of hypotheses as JSON.
pub(super) fn tests_json() -> Value {
    let entries = TESTS.iter().map(|test| {
        json!({
            "name": test.name,
            "about": test.about,
            "available": true,
            "reason": null,
            "estimate": test.estimate,
            "supported_if": test.supported_if,
            "rejected_if": test.rejected_if,
            "assumptions": test.assumptions,
            "source": test.source,
        })
    });
    entries.collect()
}
