//! Words that name something known: looked up, or refused with the nearest one.

use ipcperf_engine::channel::Mechanism;
use ipcperf_engine::mechanism;
use ipcperf_engine::mechanism::MECHANISMS;
use ipcperf_model::suggestion::unknown_word;
use ipcperf_model::workload::{self, WORKLOADS};
use ipcperf_model::{KernelBuffer, Mode, size};

use super::CustomFiles;
use crate::custom as own;
use crate::error::Error;

/// The comma-separated items of `text`, each turned into a value; repeated ones count once.
///
/// # Errors
/// Those of `item`; usage where there are more items than a factor may have levels.
pub(super) fn list<T: PartialEq>(
    text: &str,
    item: impl Fn(&str) -> Result<T, Error>,
) -> Result<Vec<T>, Error> {
    let count = text.split(',').count() as u64;
    if count > size::MOST_VALUES {
        let most = size::MOST_VALUES;
        return Err(Error::usage(format!("a list of {count} values; {most} are the most")));
    }
    let mut values = Vec::new();
    for word in text.split(',') {
        let value = item(word.trim())?;
        if !values.contains(&value) {
            values.push(value);
        }
    }
    Ok(values)
}

/// As [`list`], or the usual level alone where nothing was typed.
pub(super) fn levels<T: PartialEq + Default>(
    text: Option<&str>,
    item: impl Fn(&str) -> Result<T, Error>,
) -> Result<Vec<T>, Error> {
    text.map_or_else(|| Ok(vec![T::default()]), |text| list(text, item))
}

/// The mechanisms named in `text`; the word `all` is each of them.
pub(super) fn mechanisms(text: &str, files: CustomFiles) -> Result<Vec<&'static Mechanism>, Error> {
    if text.trim() == "all" {
        return Ok(MECHANISMS.to_vec());
    }
    let named = list(text, |word| mechanism(word, files).map(Named))?;
    Ok(named.into_iter().map(|Named(mechanism)| mechanism).collect())
}

/// A mechanism that is the same as another of its name.
struct Named(&'static Mechanism);

impl PartialEq for Named {
    fn eq(&self, other: &Self) -> bool {
        self.0.name == other.0.name
    }
}

/// The mechanism called `word`.
pub(super) fn mechanism(word: &str, files: CustomFiles) -> Result<&'static Mechanism, Error> {
    if let Some(own) = own::planned(word, files)? {
        return Ok(own);
    }
    mechanism::find(word)
        .ok_or_else(|| unknown("mechanism", word, MECHANISMS.iter().map(|known| known.name)))
}

pub(super) fn workload(word: &str) -> Result<workload::Kind, Error> {
    let known = WORKLOADS.iter().find(|facts| facts.name == word);
    known
        .map(|facts| facts.kind)
        .ok_or_else(|| unknown("workload", word, WORKLOADS.iter().map(|facts| facts.name)))
}

pub(super) fn mode(word: &str) -> Result<Mode, Error> {
    let known = Mode::ALL.into_iter().find(|mode| mode.name() == word);
    known.ok_or_else(|| unknown("mode", word, Mode::ALL.into_iter().map(Mode::name)))
}

pub(super) fn kernel_buffer(word: &str) -> Result<KernelBuffer, Error> {
    match word {
        "default" => Ok(KernelBuffer::Default),
        "match" => Ok(KernelBuffer::Match),
        bytes => size::parse(bytes).map(KernelBuffer::Bytes).map_err(|error| {
            Error::usage(format!("--kernel-buffer takes default, match or a size: {error}"))
        }),
    }
}

/// That `word` is no `what` of those `known`, with the nearest of them.
pub fn unknown<'a>(what: &str, word: &str, known: impl Iterator<Item = &'a str> + Clone) -> Error {
    Error::usage(unknown_word(what, word, known))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_near_miss_gets_a_suggestion_and_a_far_one_the_list() {
        let near = mechanism("unix-steam", CustomFiles::Ask).unwrap_err().to_string();
        assert_eq!(near, "unknown mechanism `unix-steam`; did you mean `unix-stream`?");
        let short = unknown("export format", "cvs", ["csv", "json"].into_iter()).to_string();
        assert_eq!(short, "unknown export format `cvs`; did you mean `csv`?");
        let far = workload("zzz").unwrap_err().to_string();
        assert_eq!(far, "unknown workload `zzz`; known are stream, round-trip, request-reply");
    }

    /// A list that is compared with itself, or a word that is compared letter by letter, would take minutes.
    #[test]
    fn what_is_too_long_is_refused_before_it_is_compared() {
        let numbers: Vec<String> = (1..1_000_000).map(|number| number.to_string()).collect();
        let told = list(&numbers.join(","), kernel_buffer).unwrap_err().to_string();
        assert_eq!(told, "a list of 999999 values; 4096 are the most");
        let told = mechanism(&"pipe".repeat(1_000_000), CustomFiles::Ask).unwrap_err().to_string();
        assert!(told.starts_with("unknown mechanism `pipepipe"), "{told}");
        assert!(told.len() < 2_000 && told.contains("...`; known are"), "{told}");
    }

    #[test]
    fn all_is_every_mechanism_and_repeats_count_once() {
        assert_eq!(mechanisms("all", CustomFiles::Ask).unwrap().len(), MECHANISMS.len());
        assert_eq!(mechanisms("pipe,tcp,pipe", CustomFiles::Ask).unwrap().len(), 2);
    }
}
