//! Lists of mechanisms, workloads, instruments and export formats, from the registries.

use ipcperf_engine::channel::{Mechanism, OptionSpec, OptionValues, UnavailableValue};
use ipcperf_engine::mechanism::MECHANISMS;
use ipcperf_model::Unavailable;
use ipcperf_model::instrument::Intrusive;
use ipcperf_model::workload::WORKLOADS;
use ipcperf_observe::{INSTRUMENTS, Instrument};
use serde_json::{Value, json};

use ipcperf_report::export::EXPORTERS;
use ipcperf_report::terminal::cells::new_table;

/// Returns the mechanisms as a table.
pub(crate) fn mechanism_list(columns: usize) -> String {
    let mut table = new_table(columns);
    table.set_header(["mechanism", "about", "boundaries", "options", "available"]);
    for mechanism in MECHANISMS {
        let options: Vec<String> = mechanism.options.iter().map(option_text).collect();
        table.add_row([
            mechanism.name,
            mechanism.about,
            mechanism.boundaries.name(),
            &options.join("\n"),
            &mechanism_availability(mechanism),
        ]);
    }
    let custom = "your own mechanisms: exec:PROGRAM and lib:FILE.so (docs/custom-mechanisms.md)";
    format!("{table}\n{custom}")
}

/// States whether all or part of `mechanism` can be used on this machine.
fn mechanism_availability(mechanism: &Mechanism) -> String {
    if let Err(why) = (mechanism.availability)() {
        return format!("no: {} ({})", why.reason, why.remedy);
    }
    let lacks = mechanism.options.iter().flat_map(OptionSpec::unavailable_values);
    let lacks = lacks.map(|UnavailableValue { option, value, missing }| {
        format!("without {option}={value}: {} ({})", missing.reason, missing.remedy)
    });
    std::iter::once("yes".to_owned()).chain(lacks).collect::<Vec<_>>().join("; ")
}

/// Returns the workloads as a table.
pub(crate) fn workload_list(columns: usize) -> String {
    let mut table = new_table(columns);
    table.set_header(["workload", "about", "measures"]);
    for facts in WORKLOADS {
        table.add_row([facts.name, facts.about, facts.measures]);
    }
    table.to_string()
}

/// Returns the instruments as a table. Tries each of them, which takes just under a second in total.
pub(crate) fn instrument_list(columns: usize) -> String {
    let mut table = new_table(columns);
    table.set_header(["instrument", "about", "needs", "intrusive", "available"]);
    for instrument in INSTRUMENTS {
        let here = instrument_availability(instrument);
        table.add_row([
            instrument.facts.name,
            instrument.about,
            instrument.needs,
            disturbs(instrument),
            &here,
        ]);
    }
    table.to_string()
}

/// Returns the instruments as a table, without trying them.
pub(crate) fn instrument_list_without_probes(columns: usize) -> String {
    let mut table = new_table(columns);
    table.set_header(["instrument", "about", "needs", "intrusive"]);
    for instrument in INSTRUMENTS {
        let disturbs = disturbs(instrument);
        table.add_row([instrument.facts.name, instrument.about, instrument.needs, disturbs]);
    }
    format!("{table}\nTo see which instruments work here: ipcperf list instruments")
}

fn disturbs(instrument: &Instrument) -> &'static str {
    match instrument.facts.intrusive {
        Intrusive::Yes => "yes: gets its own runs, paired with runs without it",
        Intrusive::No => "no",
    }
}

/// States whether `instrument` works on this machine, and without which events.
fn instrument_availability(instrument: &Instrument) -> String {
    match instrument.check_available(&[]) {
        Err(why) => format!("no: {why}"),
        Ok(events) => {
            let events = events.iter().map(|why| format!("without {why}"));
            std::iter::once("yes".to_owned()).chain(events).collect::<Vec<_>>().join("; ")
        }
    }
}

/// Returns the instruments as JSON.
pub(crate) fn instruments_json() -> Value {
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

/// Returns the export formats as a table.
pub(crate) fn exporter_list(columns: usize) -> String {
    let mut table = new_table(columns);
    table.set_header(["export format", "about"]);
    for exporter in EXPORTERS {
        table.add_row([exporter.name, exporter.about]);
    }
    table.to_string()
}

fn option_text(option: &OptionSpec) -> String {
    format!("{}={}", option.name, values_text(option))
}

fn values_text(option: &OptionSpec) -> String {
    match &option.values {
        OptionValues::OneOf(words) => words.join("|"),
        OptionValues::Choices(choices) => {
            choices.iter().map(|choice| choice.value).collect::<Vec<_>>().join("|")
        }
        OptionValues::Bytes => format!("{}|BYTES", option.default),
        OptionValues::BytesOr(words) => format!("{}|BYTES", words.join("|")),
        OptionValues::Number(range) => {
            let numbers = format!("{}..{}", range.start(), range.end());
            match option.default.parse::<u64>() {
                Ok(_) => numbers,
                Err(_) => format!("{}|{numbers}", option.default),
            }
        }
        OptionValues::Folder => format!("{}|FOLDER", option.default),
    }
}

/// Returns the mechanisms as JSON.
pub(crate) fn mechanisms_json() -> Value {
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
    let entry = |UnavailableValue { value, missing, .. }| json!({ "value": value, "reason": missing.reason, "remedy": missing.remedy });
    option.unavailable_values().into_iter().map(entry).collect()
}

/// Returns the workloads as JSON.
pub(crate) fn workloads_json() -> Value {
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
pub(crate) fn exporters_json() -> Value {
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

/// Returns the documentation of a mechanism as Markdown.
#[cfg(test)]
pub(crate) fn mechanism_page(mechanism: &Mechanism) -> String {
    let text = &mechanism.documentation;
    let mut page = format!("## `{}`\n\n{}\n", mechanism.name, capitalized(mechanism.about));
    let sections = [
        ("How it works", text.how_it_works),
        ("Message boundaries", text.message_boundaries),
        ("Minimum kernel", text.minimum_kernel),
        ("Defaults that matter", text.defaults_that_matter),
    ];
    if let Some(library) = mechanism.library {
        let (name, licence) = (library.name, library.license);
        page +=
            &format!("\n**Library.** {name} ({licence}); its version is stored in the results.\n");
    }
    for (title, words) in sections {
        page += &format!("\n**{title}.** {words}\n");
    }
    if !mechanism.options.is_empty() {
        page += "\n| option | values | default | about |\n|---|---|---|---|\n";
    }
    for option in mechanism.options {
        let values = values_text(option).replace('|', "\\|");
        let (name, default, about) = (option.name, option.default, option.about);
        page += &format!("| `{}.{name}` | {values} | {default} | {about} |\n", mechanism.name);
    }
    let references: Vec<String> = text.references.iter().map(|text| linked(text)).collect();
    if !references.is_empty() {
        page += &format!(
            "
**References.** {}
",
            references.join("; ")
        );
    }
    page
}

/// Converts a reference to a manual page, `man:NAME(SECTION)` with optional text after it, into a link.
#[cfg(test)]
fn linked(reference: &str) -> String {
    let page = reference.strip_prefix("man:").and_then(|page| {
        let (name, rest) = page.split_once('(')?;
        let (section, rest) = rest.split_once(')')?;
        let folder = section.chars().next()?;
        let address = format!("https://man7.org/linux/man-pages/man{folder}/{name}.{section}.html");
        Some(format!("[{name}({section})]({address}){rest}"))
    });
    page.unwrap_or_else(|| reference.to_owned())
}

#[cfg(test)]
fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    letters
        .next()
        .map_or_else(String::new, |first| format!("{}{}.", first.to_uppercase(), letters.as_str()))
}
