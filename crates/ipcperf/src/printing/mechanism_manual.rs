//! The manual of a mechanism: its facts, limits, documentation and options. The page in `docs/` has the same sections.

use std::collections::BTreeMap;

use ipcperf_engine::channel::{
    Blocking, Mechanism, OptionSpec, PeerPlacement, Setup, UnavailableValue,
};
use ipcperf_engine::mechanism::MECHANISMS;
use ipcperf_model::Privilege;
use ipcperf_model::message_options::BufferReuse;
use ipcperf_model::size::Bytes;
use ipcperf_model::workload::WorkloadKind;

use super::manual_page::ManualPage;
use super::option_values::values_text;

/// Message size for which the manual states the limit of a mechanism, bytes.
const LIMIT_BUFFER_BYTES: u64 = 64;

/// Returns the manual of the mechanism called `name`, at most `columns` wide.
pub(super) fn mechanism_manual(name: &str, columns: usize) -> Option<String> {
    let mechanism = MECHANISMS.iter().copied().find(|known| known.name == name)?;
    let mut page = ManualPage::new(name, mechanism.about, columns);
    page.facts(&facts(mechanism));
    for (title, text) in documentation_sections(mechanism) {
        page.section(title, text);
    }
    if !mechanism.options.is_empty() {
        page.entries(
            &format!("Options, set with --set {name}.OPTION=VALUES"),
            mechanism.options.iter().map(option_entry),
        );
    }
    let references: Vec<&str> =
        mechanism.documentation.references.iter().map(|text| reference_text(text)).collect();
    if !references.is_empty() {
        page.section("References", &references.join("; "));
    }
    page.section("Example", &format!("ipcperf run -m {name} -b 64,64KiB"));
    Some(page.into_text())
}

/// Returns the sections of a mechanism's documentation, each with its title.
pub(super) fn documentation_sections(mechanism: &Mechanism) -> [(&'static str, &'static str); 4] {
    let text = &mechanism.documentation;
    [
        ("How it works", text.how_it_works),
        ("Message boundaries", text.message_boundaries),
        ("Minimum kernel", text.minimum_kernel),
        ("Defaults that matter", text.defaults_that_matter),
    ]
}

/// Returns the properties of a mechanism, each with its label.
fn facts(mechanism: &Mechanism) -> Vec<(&'static str, String)> {
    let mut facts = match (mechanism.availability)() {
        Ok(()) => vec![("available", "yes".to_owned())],
        Err(why) => vec![("available", format!("no: {}", why.reason)), ("remedy", why.remedy)],
    };
    let formatted = mechanism.formatted_facts().into_iter();
    facts.extend(formatted.map(|fact| (fact.heading, fact.text)));
    let modes: Vec<&str> = mechanism.modes.iter().map(|mode| mode.name()).collect();
    facts.push(("modes", modes.join(", ")));
    facts.push(("largest message", limit_text(mechanism)));
    facts.extend(mechanism.library.map(|library| {
        let version = format!("{} {} ({})", library.name, library.version, library.license);
        ("library", version)
    }));
    facts
}

/// Describes the largest message of a mechanism with default options on this machine.
fn limit_text(mechanism: &Mechanism) -> String {
    let options = BTreeMap::new();
    let setup = Setup {
        options: &options,
        buffer_bytes: LIMIT_BUFFER_BYTES,
        smallest_bytes: LIMIT_BUFFER_BYTES,
        kernel_buffer_requested_bytes: None,
        privilege: Privilege::Used,
        placement: PeerPlacement::SeparateCpus,
        cpus: None,
        blocking: Blocking::Wait,
        workload: WorkloadKind::Stream,
        buffers: BufferReuse::Hot,
    };
    (mechanism.limit)(&setup).map_or_else(
        || "any size that fits in memory".to_owned(),
        |limit| format!("{}, with default options ({})", Bytes(limit.bytes), limit.reason),
    )
}

/// Returns an option's name and description: values, meaning, default, and values that are unavailable here.
fn option_entry(option: &OptionSpec) -> (String, Vec<String>) {
    let mut lines = vec![
        format!("values: {}", values_text(option).replace('|', ", ")),
        format!("{} [default: {}]", option.about, option.default),
    ];
    lines.extend(option.unavailable_values().into_iter().map(
        |UnavailableValue { value, missing, .. }| {
            format!("{value} is unavailable here: {} ({})", missing.reason, missing.remedy)
        },
    ));
    (option.name.to_owned(), lines)
}

/// Returns a reference without the prefix that makes it a link in the documentation.
fn reference_text(reference: &str) -> &str {
    reference.strip_prefix("man:").unwrap_or(reference)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mechanism_has_a_manual_with_its_sections_and_options() {
        for mechanism in MECHANISMS {
            let manual = mechanism_manual(mechanism.name, 80).unwrap();
            let lines: Vec<&str> = manual.lines().collect();
            for (title, text) in documentation_sections(mechanism) {
                assert!(lines.contains(&title), "{}: no {title}:\n{manual}", mechanism.name);
                let start = text.split_whitespace().next().unwrap();
                assert!(manual.contains(start), "{}: no {start}", mechanism.name);
            }
            for option in mechanism.options {
                let name = format!("  {}", option.name);
                assert!(lines.iter().any(|line| line.starts_with(&name)), "{manual}");
            }
            let long: Vec<&&str> = lines.iter().filter(|line| line.chars().count() > 80).collect();
            assert!(long.is_empty(), "{long:?}");
        }
        assert_eq!(mechanism_manual("no-such", 80), None);
    }
}
