//! Looks up words; an unknown word is rejected with the nearest known one.

use ipcperf_engine::mechanism::{MECHANISMS, RequestedMechanism};
use ipcperf_model::placement::{self, Placement};
use ipcperf_model::suggestion::{nearest, unknown_word};
use ipcperf_model::workload::{self, WORKLOADS};
use ipcperf_model::{CustomKind, KernelBuffer, Mode, size};

use super::CustomFiles;
use crate::custom;
use crate::error::Error;
use crate::factor::Factor;
use crate::factor_error::{FactorError, Reason};
use crate::typed::TypedLevels;

/// Parses the levels of `factor` in `words`; repeated values are dropped.
///
/// # Errors
/// Returns the first error of `level`, or an error if there are more levels than a factor may have.
pub(super) fn parse_list<T: PartialEq>(
    factor: Factor,
    words: TypedLevels<'_>,
    level: impl Fn(&str) -> Result<T, FactorError>,
) -> Result<Vec<T>, FactorError> {
    let levels = words.levels();
    let count = levels.len() as u64;
    if count > size::MAX_VALUES {
        return Err(FactorError::new(factor, "", Reason::TooMany(count, size::MAX_VALUES)));
    }
    let mut values = Vec::new();
    for word in levels {
        let value = level(word)?;
        if !values.contains(&value) {
            values.push(value);
        }
    }
    Ok(values)
}

/// Parses like [`parse_list`], or returns the default of `factor` if nothing was given.
pub(super) fn parse_levels<T: PartialEq>(
    factor: Factor,
    words: Option<TypedLevels<'_>>,
    level: impl Fn(&str) -> Result<T, FactorError>,
) -> Result<Vec<T>, FactorError> {
    parse_list(factor, words.unwrap_or(TypedLevels::Text(factor.default_text())), level)
}

/// Parses the sizes of `factor` and expands ranges; returns its default if nothing was given.
pub(super) fn parse_sizes(
    factor: Factor,
    words: Option<TypedLevels<'_>>,
) -> Result<Vec<u64>, FactorError> {
    let words = words.unwrap_or(TypedLevels::Text(factor.default_text()));
    size::parse_items(&words.levels()).map_err(|error| size_error(factor, error))
}

/// Builds the error for an invalid size of `factor`.
pub(super) fn size_error(factor: Factor, error: size::SizeError) -> FactorError {
    FactorError::new(factor, "", Reason::Size(error))
}

/// Parses the mechanisms in `words`; `all` stands for all of them.
pub(super) fn parse_mechanisms(
    words: Option<TypedLevels<'_>>,
    files: CustomFiles,
) -> Result<Vec<RequestedMechanism>, FactorError> {
    let missing = || FactorError::new(Factor::Mechanism, "", Reason::Missing);
    let words = words.ok_or_else(missing)?;
    if words.levels() == ["all"] {
        return Ok(MECHANISMS.iter().copied().map(Into::into).collect());
    }
    let named =
        parse_list(Factor::Mechanism, words, |word| parse_mechanism(word, files).map(ByName))?;
    Ok(named.into_iter().map(|ByName(mechanism)| mechanism).collect())
}

/// Mechanism that compares by name only.
struct ByName(RequestedMechanism);

impl PartialEq for ByName {
    fn eq(&self, other: &Self) -> bool {
        self.0.name() == other.0.name()
    }
}

/// Returns the mechanism called `word`.
pub(super) fn parse_mechanism(
    word: &str,
    files: CustomFiles,
) -> Result<RequestedMechanism, FactorError> {
    if let Some(planned) = custom::resolve(word, files)? {
        return Ok(planned.into());
    }
    let found = MECHANISMS.iter().copied().find(|known| known.name == word);
    found.map(RequestedMechanism::from).ok_or_else(|| unknown_mechanism(word))
}

/// Builds the error for a `word` that is not the name of a mechanism.
fn unknown_mechanism(word: &str) -> FactorError {
    match custom_hint(word) {
        Some(hint) => FactorError::new(Factor::Mechanism, word, Reason::Unknown(hint)),
        None => {
            let forms = CustomKind::ALL.into_iter().map(CustomKind::form);
            FactorError::unknown(Factor::Mechanism, word, mechanism_names().chain(forms))
        }
    }
}

/// Returns a hint if `word` is the prefix of a custom mechanism without a file, or a file without the prefix. Names of
/// the list contain neither a slash nor a dot.
fn custom_hint(word: &str) -> Option<String> {
    let prefix = word.strip_suffix(':');
    if let Some(kind) = CustomKind::ALL.into_iter().find(|kind| prefix == Some(kind.word())) {
        return Some(format!("{word} needs a file: {}", kind.form()));
    }
    let [program, library] = CustomKind::ALL.map(CustomKind::form);
    let hint = || format!("write {program} for a program, or {library} for a library");
    word.contains(['/', '.']).then(hint)
}

/// Returns the names of the mechanisms of the list.
pub fn mechanism_names() -> impl Iterator<Item = &'static str> + Clone {
    MECHANISMS.iter().map(|known| known.name)
}

pub(super) fn parse_workload(word: &str) -> Result<workload::WorkloadKind, FactorError> {
    let known = WORKLOADS.iter().find(|facts| facts.name == word).map(|facts| facts.kind);
    let names = WORKLOADS.iter().map(|facts| facts.name);
    known.ok_or_else(|| FactorError::unknown(Factor::Workload, word, names))
}

pub(super) fn parse_mode(word: &str) -> Result<Mode, FactorError> {
    let known = Mode::ALL.into_iter().find(|mode| mode.name() == word);
    let names = Mode::ALL.into_iter().map(Mode::name);
    known.ok_or_else(|| FactorError::unknown(Factor::Mode, word, names))
}

pub(super) fn parse_placement(word: &str) -> Result<Placement, FactorError> {
    word.parse().map_err(|_| {
        let mut known: Vec<&str> = placement::NAMES.iter().map(|(word, _)| *word).collect();
        // It is not a word, so it must not be suggested as the nearest.
        if nearest(word, known.iter().copied()).is_none() {
            known.push(placement::PAIR);
        }
        FactorError::unknown(Factor::Placement, word, known.into_iter())
    })
}

pub(super) fn parse_kernel_buffer(word: &str) -> Result<KernelBuffer, FactorError> {
    match word {
        "default" => Ok(KernelBuffer::Default),
        "match" => Ok(KernelBuffer::Match),
        bytes => size::parse(bytes)
            .map(KernelBuffer::Bytes)
            .map_err(|error| size_error(Factor::KernelBuffer, error)),
    }
}

/// Builds the error for an unknown `word`, where `what` is its kind, with the nearest of the `known` words.
pub fn unknown_word_error<'a>(
    what: &str,
    word: &str,
    known: impl Iterator<Item = &'a str> + Clone,
) -> Error {
    Error::usage(unknown_word(what, word, known))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_near_miss_gets_a_suggestion_and_a_far_one_the_list() {
        let near = parse_mechanism("unix-steam", CustomFiles::Inspect).unwrap_err().to_string();
        assert_eq!(near, "unknown mechanism `unix-steam`; did you mean `unix-stream`?");
        let short =
            unknown_word_error("export format", "cvs", ["csv", "json"].into_iter()).to_string();
        assert_eq!(short, "unknown export format `cvs`; did you mean `csv`?");
        let far = parse_mechanism("zzz", CustomFiles::Inspect).unwrap_err().to_string();
        assert!(far.ends_with(", exec:PROGRAM, lib:FILE.so"), "{far}");
        let far = parse_workload("zzz").unwrap_err().to_string();
        assert_eq!(
            far,
            "unknown workload `zzz`; expected one of stream, round-trip, request-reply, paced, fan-in, fan-out, pairs, \
             pairs-round-trip, server"
        );
    }

    #[test]
    fn a_custom_mechanism_needs_its_prefix_and_its_file() {
        let printed = |word| parse_mechanism(word, CustomFiles::Inspect).unwrap_err().to_string();
        assert_eq!(printed("exec:"), "unknown mechanism `exec:`; exec: needs a file: exec:PROGRAM");
        let hint = "write exec:PROGRAM for a program, or lib:FILE.so for a library";
        assert_eq!(printed("./prog"), format!("unknown mechanism `./prog`; {hint}"));
        assert_eq!(printed("lbi:x.so"), format!("unknown mechanism `lbi:x.so`; {hint}"));
    }

    /// The test would take minutes if the list were compared with itself, or the word letter by letter.
    #[test]
    fn what_is_too_long_is_refused_before_it_is_compared() {
        let numbers: Vec<String> = (1..1_000_000).map(|number| number.to_string()).collect();
        let printed =
            parse_list(Factor::KernelBuffer, TypedLevels::Items(&numbers), parse_kernel_buffer);
        let words = "--kernel-buffer: 999999 values; the maximum is 4096";
        assert_eq!(printed.unwrap_err().to_string(), words);
        let printed = parse_mechanism(&"pipe".repeat(1_000_000), CustomFiles::Inspect)
            .unwrap_err()
            .to_string();
        assert!(printed.starts_with("unknown mechanism `pipepipe"), "{printed}");
        assert!(printed.len() < 2_000 && printed.contains("...`; expected one of"), "{printed}");
    }

    #[test]
    fn all_is_every_mechanism_and_repeats_count_once() {
        let count = |words| parse_mechanisms(Some(words), CustomFiles::Inspect).unwrap().len();
        assert_eq!(count(TypedLevels::Text(" all")), MECHANISMS.len());
        assert_eq!(count(TypedLevels::Text("pipe,tcp,pipe")), 2);
        assert_eq!(count(TypedLevels::Items(&["pipe".to_owned(), "tcp, pipe".to_owned()])), 2);
    }
}
