//! The machine for display on a terminal and for scripts. Names and units are derived from the keys of the environment,
//! so that a new field is shown without changes here.

use std::time::Duration;

use ipcperf_model::environment::{Environment, Section};
use ipcperf_model::hardware_limits::HardwareLimits;
use ipcperf_model::printable::pretty_json;
use ipcperf_model::units;
use ipcperf_plan::machine::{Severity, Warning};
use serde::Serialize;
use serde_json::{Value, json};

use super::cells::{align_second_column, new_table, truncate};
use super::limits::limits_table;

/// A suffix of keys that denotes a unit, and the formatter for its values.
type UnitFormat = (&'static str, fn(f64) -> String);

/// Bytes are integers and handled separately.
const UNITS: [UnitFormat; 5] = [
    ("_ns", units::time),
    ("_us", |us| units::time(us * 1e3)),
    ("_s", |s| units::duration(Duration::try_from_secs_f64(s).unwrap_or(Duration::MAX))),
    ("_khz", units::frequency),
    ("_share", units::percent),
];
const BYTES_SUFFIX: &str = "_bytes";
/// Suffix that the kernel reports for a vulnerability that the CPU does not have.
const NOT_AFFECTED: &str = ": Not affected";

/// Formats the machine: its properties by topic, the hardware limits, and warnings about measurements.
/// The page is at most `columns` wide.
pub fn machine_page(
    environment: &Environment,
    limits: &HardwareLimits,
    warnings: &[Warning],
    columns: usize,
) -> String {
    let sections = environment.sections();
    let topics = sections.iter().filter_map(|topic| section(topic, columns));
    let mut parts: Vec<String> = topics.collect();
    parts.extend(unknown_properties(&sections, columns));
    parts.push(limits_table(limits, columns));
    parts.push(warning_section(warnings, columns));
    parts.join("\n\n")
}

/// Formats the same as JSON.
pub fn machine_json(
    environment: &Environment,
    limits: &HardwareLimits,
    warnings: &[Warning],
) -> String {
    let warnings = warnings_json(warnings);
    let object = json!({"environment": environment, "limits": limits, "warnings": warnings});
    pretty_json(&object)
}

/// Returns the warnings with their texts as JSON.
pub fn warnings_json(warnings: &[Warning]) -> Value {
    json!(warnings.iter().map(WarningEntry::new).collect::<Vec<_>>())
}

/// Formats a warning on one line, for display before a measurement.
pub fn warning_line(warning: &Warning) -> String {
    format!("ipcperf: warning: {warning} ({})", warning.remedy())
}

/// A warning with its texts.
#[derive(Serialize)]
struct WarningEntry<'a> {
    #[serde(flatten)]
    warning: &'a Warning,
    severity: Severity,
    what: String,
    remedy: &'static str,
}

impl<'a> WarningEntry<'a> {
    fn new(warning: &'a Warning) -> Self {
        let (severity, what, remedy) = (warning.severity(), warning.to_string(), warning.remedy());
        Self { warning, severity, what, remedy }
    }
}

/// Formats the known properties of a topic. `None` if there are none.
fn section(section: &Section, columns: usize) -> Option<String> {
    let mut table = new_table(columns);
    table.set_header([section.title, ""]);
    for (name, words) in known_properties(section) {
        table.add_row([name, truncate(words)]);
    }
    align_second_column(&mut table);
    (!table.is_empty()).then(|| table.to_string())
}

/// Returns the known properties of a topic: names and values with units.
pub fn known_properties(section: &Section) -> Vec<(String, String)> {
    let properties = section
        .fields
        .iter()
        .filter_map(|(key, value)| Some((property_name(key), format_value(key, value)?)));
    properties.collect()
}

/// Lists the unknown properties together. Blanks between the values would only distract.
fn unknown_properties(sections: &[Section], columns: usize) -> Option<String> {
    let fields = sections.iter().flat_map(|section| &section.fields);
    let keys = fields.filter(|(_, value)| value.is_null()).map(|(key, _)| property_name(key));
    let keys: Vec<String> = keys.collect();
    let mut table = new_table(columns);
    table.add_row([format!("Not determined: {}.", keys.join(", "))]);
    (!keys.is_empty()).then(|| table.to_string())
}

/// Formats the warnings as a section of the page.
pub fn warning_section(warnings: &[Warning], columns: usize) -> String {
    if warnings.is_empty() {
        return "No warnings: no known problem affects measurements.".to_owned();
    }
    let mut table = new_table(columns);
    table.set_header(["Warnings", ""]);
    for warning in warnings {
        let words = format!("{warning}\nremedy: {}", warning.remedy());
        table.add_row([warning.severity().to_string(), truncate(words)]);
    }
    table.to_string()
}

/// Converts a key to a name. The unit is dropped, because it is part of the value.
fn property_name(key: &str) -> String {
    let units = UNITS.iter().map(|(unit, _)| *unit).chain([BYTES_SUFFIX]);
    let stem = units.filter_map(|unit| key.strip_suffix(unit)).next();
    stem.unwrap_or(key).replace('_', " ")
}

/// Formats the value at `key`. `None` if it is unknown.
fn format_value(key: &str, value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::Bool(value) => Some(if *value { "yes" } else { "no" }.to_owned()),
        Value::Number(number) => Some(format_number(key, number)),
        Value::String(text) if text.is_empty() => Some("none".to_owned()),
        Value::String(text) => Some(active_option(key, text).to_owned()),
        Value::Array(values) => Some(format_list(key, values)),
        Value::Object(_) => Some(value.to_string()),
    }
}

/// Formats a number with its unit. Zero has no unit; a negative number is a special value of the kernel.
fn format_number(key: &str, number: &serde_json::Number) -> String {
    if let Some(bytes) = number.as_u64().filter(|_| key.ends_with(BYTES_SUFFIX)) {
        return units::bytes(bytes);
    }
    let unit = UNITS.iter().find(|(unit, _)| key.ends_with(unit));
    match (unit, number.as_f64()) {
        (Some((_, format)), Some(value)) if value > 0.0 => format(value),
        _ => number.to_string(),
    }
}

/// Returns the active one of the kernel's options, such as `madvise` in `always [madvise] never`.
fn active_option<'a>(key: &str, text: &'a str) -> &'a str {
    let bracketed = text.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    match bracketed {
        Some((chosen, _)) if key.starts_with("transparent_hugepage") => chosen,
        _ => text,
    }
}

fn format_list(key: &str, values: &[Value]) -> String {
    let texts: Vec<&str> = values.iter().filter_map(Value::as_str).collect();
    if texts.is_empty() {
        return "none".to_owned();
    }
    if key != "mitigations" {
        return texts.join(", ");
    }
    let (without, with): (Vec<&str>, Vec<&str>) =
        texts.iter().partition(|text| text.ends_with(NOT_AFFECTED));
    let rest = (!without.is_empty()).then(|| format!("{} more: not affected", without.len()));
    with.into_iter().map(str::to_owned).chain(rest).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use ipcperf_plan::machine::warnings;

    /// Returns a machine with properties of every kind: sizes, times, lists, choices and blanks.
    fn synthetic_environment() -> Environment {
        let some = |text: &str| Some(text.to_owned());
        let mut planted = Environment::default();
        planted.program.version = "0.1.0".to_owned();
        planted.program.build_profile = some("release");
        planted.program.noise_detection = Some(true);
        planted.kernel.kernel = some("Linux 6.12.0");
        planted.kernel.isolated_cpus = some("");
        planted.kernel.mitigations =
            ["l1tf: Not affected", "mds: Mitigation: PTI", "tsa: Vulnerable"]
                .map(str::to_owned)
                .to_vec();
        planted.kernel.uptime_s = Some(11_000);
        planted.cpus.allowed_cpus = some("0-7");
        planted.cpus.cpu_flags = Some(vec!["constant_tsc".to_owned(), "nonstop_tsc".to_owned()]);
        planted.cpus.cache_l3_bytes = Some(272_629_760);
        planted.power.governor = some("powersave");
        planted.power.frequency_max_khz = Some(3_400_000);
        planted.virtualization.hypervisor = Some(false);
        planted.virtualization.guest_halt_poll_ns = Some(0);
        planted.virtualization.steal_share = Some(0.0214);
        planted.memory.memory_bytes = Some(25_276_510_208);
        planted.memory.transparent_hugepage = some("always [madvise] never");
        planted.scheduler.sched_rt_runtime_us = Some(-1);
        planted.scheduler.timer_slack_ns = Some(50_000);
        planted.network.wmem_max_bytes = Some(212_992);
        planted
    }

    #[test]
    fn a_planted_machine_is_shown_with_its_units_and_warnings() {
        let environment = synthetic_environment();
        let page =
            machine_page(&environment, &HardwareLimits::default(), &warnings(&environment), 116);
        insta::assert_snapshot!(page);
    }

    #[test]
    fn names_lose_their_units_alone() {
        assert_eq!(property_name("clock_cost_ns"), "clock cost");
        assert_eq!(property_name("ulimit_stack_bytes"), "ulimit stack");
        assert_eq!(property_name("somaxconn"), "somaxconn");
        assert_eq!(property_name("uptime_s"), "uptime");
        assert_eq!(property_name("cpu_flags"), "cpu flags");
    }

    #[test]
    fn what_is_not_known_is_said_together_and_nowhere_else() {
        let page = machine_page(&synthetic_environment(), &HardwareLimits::default(), &[], 116);
        let lines: Vec<&str> = page.lines().filter(|line| line.contains("energy pref")).collect();
        assert_eq!(lines.len(), 1, "{page}");
        assert!(page.contains("Not determined: "), "{page}");
        assert!(page.ends_with("no known problem affects measurements."), "{page}");
    }

    #[test]
    fn scripts_get_environment_limits_and_warnings() {
        let environment = synthetic_environment();
        let text = machine_json(&environment, &HardwareLimits::default(), &warnings(&environment));
        let object: Value = serde_json::from_str(&text).unwrap();
        let keys: Vec<&String> = object.as_object().unwrap().keys().collect();
        assert_eq!(keys.len(), 3, "{keys:?}");
        assert_eq!(object["environment"]["governor"], "powersave");
        assert_eq!(object["environment"]["boost"], Value::Null);
        assert_eq!(object["limits"]["system_call_ns"], Value::Null);
        let saves = &object["warnings"][1];
        assert_eq!(
            (&saves["name"], &saves["severity"]),
            (&json!("governor-saves"), &json!("distorts"))
        );
        assert_eq!(saves["remedy"], "cpupower frequency-set -g performance");
        assert!(saves["what"].as_str().is_some_and(|what| what.contains("powersave")));
    }

    #[test]
    fn a_warning_is_one_line_before_measuring() {
        let line = warning_line(&Warning::DebugBuild);
        assert!(line.starts_with("ipcperf: warning: built without"), "{line}");
        assert!(line.ends_with("(cargo build --release)"), "{line}");
    }
}
