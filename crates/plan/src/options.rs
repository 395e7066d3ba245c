//! Looks up the options of mechanisms, and parses their values.

use std::collections::BTreeMap;

use ipcperf_engine::channel::{Mechanism, OptionSpec, OptionValues};
use ipcperf_engine::mechanism::{MECHANISMS, RequestedMechanism};
use ipcperf_model::CustomKind;
use ipcperf_model::size;
use ipcperf_model::suggestion::suggestion;
use ipcperf_model::units;
use ipcperf_model::wait::{VALID_WINDOW, Wait};

use crate::CustomFiles;
use crate::factor::Factor;
use crate::factor_error::{FactorError, Reason};
use crate::spelling;
use crate::typed::{OptionSetting, TypedLevels};

/// Start of a way to wait that has a time.
const SPIN_FOR: &str = "spin:";

/// Values by mechanism and option.
pub(super) type Options = BTreeMap<(String, String), Vec<String>>;

/// Mechanism, option, and values of the option.
type Setting = (String, String, Vec<String>);

/// Returns the options set for the requested `mechanisms`, or all errors in them.
pub(super) fn parse_options(
    settings: &[OptionSetting<'_>],
    mechanisms: &[RequestedMechanism],
) -> Result<Options, Vec<FactorError>> {
    let (mut options, mut errors) = (Options::new(), Vec::new());
    for setting in settings {
        let parsed = parse_setting(setting, mechanisms);
        if let Err(error) = parsed.and_then(|parsed| insert(&mut options, parsed)) {
            errors.push(error.with_option(&setting.name()));
        }
    }
    if errors.is_empty() { Ok(options) } else { Err(errors) }
}

fn insert(options: &mut Options, parsed: Vec<Setting>) -> Result<(), FactorError> {
    for (mechanism, option, values) in parsed {
        let name = format!("{mechanism}.{option}");
        if options.insert((mechanism, option), values).is_some() {
            let reason = Reason::SetTwice(name);
            return Err(FactorError::new(Factor::MechanismOption, "", reason));
        }
    }
    Ok(())
}

fn parse_setting(
    setting: &OptionSetting<'_>,
    mechanisms: &[RequestedMechanism],
) -> Result<Vec<Setting>, FactorError> {
    let kind = CustomKind::ALL.into_iter().find(|kind| kind.word() == setting.mechanism);
    if let Some(kind) = kind {
        return custom_settings(kind, setting, mechanisms);
    }
    // A mechanism named here was requested before, and inspected then.
    let named = spelling::parse_mechanism(setting.mechanism, CustomFiles::Skip)?;
    let Some(requested) = mechanisms.iter().find(|asked| asked.name() == named.name()) else {
        let reason = Reason::NotMeasured(named.name().to_owned());
        return Err(FactorError::new(Factor::MechanismOption, "", reason));
    };
    let mechanism = &requested.mechanism();
    let spec = find_option(mechanism, setting.option)?;
    let values = parse_values(mechanism, spec, setting.values)?;
    Ok(vec![(mechanism.name.to_owned(), spec.name.to_owned(), values)])
}

/// Returns the settings of an option for all custom mechanisms of a kind. Only the mechanism itself knows whether
/// it has the option, and what it means.
fn custom_settings(
    kind: CustomKind,
    setting: &OptionSetting<'_>,
    mechanisms: &[RequestedMechanism],
) -> Result<Vec<Setting>, FactorError> {
    let option = setting.option;
    let wrong = |value: &str, reason| FactorError::new(Factor::MechanismOption, value, reason);
    let odd = setting.values.texts().into_iter().find(|text| !is_custom_option(option, text));
    if let Some(odd) = odd {
        return Err(wrong(&format!("{option}={odd}"), Reason::CustomOption(kind.word())));
    }
    let values =
        spelling::parse_list(
            Factor::MechanismOption,
            setting.values,
            |value| Ok(value.to_owned()),
        )?;
    let of_kind = mechanisms.iter().filter(|asked| asked.custom_kind() == Some(kind));
    let names = of_kind.map(RequestedMechanism::name);
    let settings: Vec<Setting> =
        names.map(|name| (name.to_owned(), option.to_owned(), values.clone())).collect();
    if settings.is_empty() {
        return Err(wrong("", Reason::NoneMeasured(kind.word())));
    }
    Ok(settings)
}

/// Returns the options of the mechanism `name` of the list; a custom mechanism has none there.
fn options_of(name: &str) -> &'static [OptionSpec] {
    let mechanism = MECHANISMS.iter().find(|known| known.name == name);
    mechanism.map_or(&[][..], |known| known.options)
}

/// Returns the names of the options of the mechanism `name` of the list.
pub fn option_names(name: &str) -> impl Iterator<Item = &'static str> + use<> {
    options_of(name).iter().map(|option| option.name)
}

/// Whether `option` of the mechanism `name` takes sizes. Options of custom mechanisms are passed on unparsed.
pub fn has_sizes(name: &str, option: &str) -> bool {
    let spec = options_of(name).iter().find(|spec| spec.name == option);
    spec.is_some_and(|spec| match spec.values {
        OptionValues::Bytes | OptionValues::BytesOr(_) | OptionValues::BytesUpTo(_) => true,
        OptionValues::OneOf(_)
        | OptionValues::Waits(_)
        | OptionValues::Choices(_)
        | OptionValues::Number(_)
        | OptionValues::Folder => false,
    })
}

/// Whether `option` and `values` are valid for a custom mechanism.
pub(super) fn is_custom_option(option: &str, values: &str) -> bool {
    let is_odd = |letter: char| letter.is_control() || letter.is_whitespace();
    !option.is_empty() && !option.contains(is_odd) && !values.contains(char::is_control)
}

pub(super) fn find_option(
    mechanism: &Mechanism<'_>,
    option: &str,
) -> Result<&'static OptionSpec, FactorError> {
    let known = mechanism.options.iter().find(|spec| spec.name == option);
    known.ok_or_else(|| {
        let reason = if mechanism.options.is_empty() {
            Reason::NoOptions(mechanism.name.to_owned())
        } else {
            let names = mechanism.options.iter().map(|spec| spec.name);
            Reason::UnknownOption(mechanism.name.to_owned(), suggestion(option, names))
        };
        FactorError::new(Factor::MechanismOption, option, reason)
    })
}

/// Parses the values of an option into their canonical form: sizes as plain bytes.
pub(super) fn parse_values(
    mechanism: &Mechanism<'_>,
    spec: &OptionSpec,
    values: TypedLevels<'_>,
) -> Result<Vec<String>, FactorError> {
    let list = |value: &dyn Fn(&str) -> Result<String, FactorError>| {
        spelling::parse_list(Factor::MechanismOption, values, value)
    };
    let parsed = match &spec.values {
        OptionValues::OneOf(known) => list(&|word| parse_one_of(word, known)),
        OptionValues::Waits(known) => list(&|word| parse_wait(word, known)),
        OptionValues::Choices(known) => {
            let known: Vec<&str> = known.iter().map(|choice| choice.value).collect();
            list(&|word| parse_one_of(word, &known))
        }
        OptionValues::Bytes => parse_byte_sizes(values, &[spec.default]),
        OptionValues::BytesOr(known) => parse_byte_sizes(values, known),
        OptionValues::BytesUpTo(max) => {
            parse_byte_sizes(values, &[spec.default]).and_then(|sizes| {
                match sizes.iter().find(|&size| !spec.accepts(size)) {
                    Some(size) => Err(value_error(size, format!("at most {}", units::bytes(*max)))),
                    None => Ok(sizes),
                }
            })
        }
        OptionValues::Number(range) => list(&|word| match word.parse::<u64>() {
            Ok(number) if range.contains(&number) => Ok(number.to_string()),
            Err(_) if word == spec.default => Ok(word.to_owned()),
            _ => Err(value_error(
                word,
                format!("a number from {} to {}", range.start(), range.end()),
            )),
        }),
        OptionValues::Folder => list(&|word| {
            if word == spec.default || word.starts_with('/') {
                return Ok(word.to_owned());
            }
            Err(value_error(word, "the absolute path of a folder".to_owned()))
        }),
    };
    parsed.map_err(|error| error.with_option(&format!("{}.{}", mechanism.name, spec.name)))
}

fn value_error(word: &str, what: String) -> FactorError {
    FactorError::new(Factor::MechanismOption, word, Reason::Takes(what))
}

fn parse_one_of(word: &str, known: &[&str]) -> Result<String, FactorError> {
    if known.contains(&word) {
        return Ok(word.to_owned());
    }
    Err(FactorError::unknown(Factor::MechanismOption, word, known.iter().copied()))
}

/// Parses a way to wait, whose word must be one of `known`.
fn parse_wait(word: &str, known: &[&str]) -> Result<String, FactorError> {
    match word.parse::<Wait>() {
        Ok(wait) if known.contains(&wait.word()) => Ok(wait.to_string()),
        _ if word.starts_with(SPIN_FOR) && known.contains(&Wait::Spin.word()) => {
            Err(value_error(word, format!("{SPIN_FOR}DURATION, with {VALID_WINDOW}")))
        }
        _ => Err(FactorError::unknown(Factor::MechanismOption, word, known.iter().copied())),
    }
}

/// Parses sizes into plain bytes, and leaves `known` words unchanged.
fn parse_byte_sizes(values: TypedLevels<'_>, known: &[&str]) -> Result<Vec<String>, FactorError> {
    let refused = |error| FactorError::new(Factor::MechanismOption, "", Reason::Size(error));
    let items = values.levels();
    size::check_count(&items).map_err(refused)?;
    let mut bytes = Vec::new();
    for item in items {
        if known.contains(&item) {
            bytes.push(item.to_owned());
            continue;
        }
        let sizes = size::parse_list(item).map_err(refused)?;
        bytes.extend(sizes.iter().map(u64::to_string));
    }
    bytes.dedup();
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_told_from_numbers_by_what_the_option_takes() {
        assert!(has_sizes("pipe", "capacity"));
        assert!(!has_sizes("dgram-fds", "fds"));
        assert!(!has_sizes("exec", "capacity"), "only the program knows what it takes");
    }
}
