//! What was asked for, parsed but not yet held against the machine.

use std::collections::BTreeMap;
use std::time::Duration;

use ipcperf_engine::channel::{Mechanism, OptionSpec, OptionValues};
use ipcperf_engine::mechanism::{OwnKind, SURVEYED, own_mechanism};
use ipcperf_model::message_options::Handling;
use ipcperf_model::placement::Placement;
use ipcperf_model::workload::{self, Kind};
use ipcperf_model::{KernelBuffer, Mode, TouchCheck, size};
use ipcperf_observe::Instrument;

use super::{CustomFiles, Enough, Events, Grouping, Total, TypedHandling, watchers};
use crate::error::Error;
use crate::spelling as words;

/// Kept repetitions of the survey, so that it ends within a minute.
const SURVEY_REPETITIONS: u32 = 7;
/// Buffer sizes of the survey.
const SURVEY_BUFFERS: [u64; 4] = [64, 4 << 10, 64 << 10, 1 << 20];
/// Runs made for one repetition at most, until one is undisturbed.
const ATTEMPTS: u32 = 3;
/// A longer deadline than a day is a slip.
const LONGEST_DEADLINE_S: f64 = 86_400.0;

/// The levels of each factor, and what is fixed. An option with several values is a factor.
#[derive(Clone, Debug)]
pub struct Request {
    /// Mechanisms, in the order in which they were named.
    pub mechanisms: Vec<&'static Mechanism>,
    /// Values by mechanism and option.
    pub options: Options,
    /// Workloads.
    pub workloads: Vec<Kind>,
    /// Sizes of messages, bytes.
    pub buffers: Vec<u64>,
    /// How much each case moves.
    pub total: Total,
    /// Which peers there are.
    pub modes: Vec<Mode>,
    /// Where they run.
    pub placements: Vec<Placement>,
    /// What the kernel shall hold between them.
    pub kernel_buffers: Vec<KernelBuffer>,
    /// Whether messages are checked.
    pub check: TouchCheck,
    /// Message options, each combination for itself.
    pub handlings: Vec<Handling>,
    /// Instruments.
    pub instruments: Vec<&'static Instrument>,
    /// Events of those that have a choice of them.
    pub events: Events,
    /// Whether instruments share runs.
    pub grouping: Grouping,
    /// When a case has been measured often enough.
    pub enough: Enough,
    /// Attempts for each repetition, until one is undisturbed.
    pub attempts: u32,
    /// Shuffles the blocks.
    pub seed: u64,
    /// After which a run is ended.
    pub deadline: Duration,
}

/// The arguments of `run` and `plan` as they were typed.
#[derive(Clone, Debug, Default)]
pub struct Typed<'a> {
    /// `--mechanism`.
    pub mechanisms: &'a str,
    /// Whether the files of custom mechanisms are asked what they are.
    pub custom_files: CustomFiles,
    /// `--workload`.
    pub workloads: &'a str,
    /// `--buffer`.
    pub buffers: &'a str,
    /// `--total`.
    pub total: Option<&'a str>,
    /// `--messages`.
    pub messages: Option<u64>,
    /// `--mode`.
    pub modes: &'a str,
    /// `--placement`.
    pub placements: &'a str,
    /// `--kernel-buffer`.
    pub kernel_buffers: &'a str,
    /// The flags of message options.
    pub handling: TypedHandling<'a>,
    /// `--instrument`.
    pub instruments: Option<&'a str>,
    /// For counters, and for the profile.
    pub events: [Option<&'a str>; 2],
    /// `--set`, each as it was typed.
    pub set: &'a [String],
    /// `--repetitions`.
    pub repetitions: Option<u32>,
    /// `--until-ci`, per cent.
    pub until_ci_percent: Option<f64>,
    /// `--most-repetitions`.
    pub most_repetitions: Option<u32>,
    /// `--most-seconds`, s.
    pub most_s: Option<f64>,
    /// `--attempts`.
    pub attempts: Option<u32>,
    /// `--seed`.
    pub seed: Option<u64>,
    /// `--deadline`, s.
    pub deadline_s: Option<f64>,
}

impl Request {
    /// Parses what was typed.
    ///
    /// # Errors
    ///
    /// A mechanism, an option or a list of values that cannot be parsed.
    pub fn parse(typed: &Typed<'_>, check: TouchCheck) -> Result<Self, Error> {
        let mechanisms = words::mechanisms(typed.mechanisms, typed.custom_files)?;
        let options = parse_options(typed.set, &mechanisms)?;
        let bad_size = |flag: &'static str| move |error| Error::usage(format!("{flag}: {error}"));
        let workloads = words::list(typed.workloads, words::workload)?;
        let instruments = watchers::parse(typed.instruments)?;
        let total = match (typed.total, typed.messages) {
            (Some(text), _) => Total::Bytes(size::parse(text).map_err(bad_size("--total"))?),
            (None, Some(messages)) => Total::Messages(messages),
            (None, None) => Total::Calibrated,
        };
        Ok(Self {
            options,
            mechanisms,
            handlings: typed.handling.parse(&workloads, total)?,
            workloads,
            buffers: size::parse_list(typed.buffers).map_err(bad_size("--buffer"))?,
            total,
            modes: words::list(typed.modes, words::mode)?,
            placements: words::list(typed.placements, |word| {
                word.parse::<Placement>().map_err(|error| Error::usage(error.to_string()))
            })?,
            kernel_buffers: words::list(typed.kernel_buffers, words::kernel_buffer)?,
            check,
            events: watchers::parse_events(typed.events, &instruments)?,
            instruments,
            grouping: Grouping::Apart,
            enough: Enough::parse(
                typed.repetitions,
                typed.until_ci_percent,
                typed.most_repetitions,
                typed.most_s,
            )?,
            attempts: attempts(typed.attempts.unwrap_or(ATTEMPTS))?,
            seed: typed.seed.unwrap_or_else(fresh_seed),
            deadline: deadline(typed.deadline_s.unwrap_or(10.0))?,
        })
    }

    /// Repeats each case at most `repetitions` times.
    ///
    /// # Errors
    /// Usage for no repetitions.
    pub fn repeat(&mut self, repetitions: u32) -> Result<(), Error> {
        self.enough = Enough::parse(Some(repetitions), None, None, None)?;
        Ok(())
    }

    /// The mechanisms a reader would pick, streams and round trips, four sizes, on one CPU and on two.
    pub fn survey(length: SurveyLength) -> Self {
        let step = match length {
            SurveyLength::Full => 1,
            SurveyLength::Quick => 2,
        };
        Self {
            mechanisms: SURVEYED.to_vec(),
            options: BTreeMap::new(),
            workloads: workload::SURVEYED.to_vec(),
            buffers: SURVEY_BUFFERS.into_iter().step_by(step).collect(),
            total: Total::Calibrated,
            modes: vec![Mode::TwoProcesses],
            placements: vec![Placement::Same, Placement::Split],
            kernel_buffers: vec![KernelBuffer::Default],
            check: TouchCheck::Off,
            handlings: vec![Handling::default()],
            instruments: Vec::new(),
            events: Events::new(),
            grouping: Grouping::Apart,
            enough: Enough::Repetitions(SURVEY_REPETITIONS),
            attempts: ATTEMPTS,
            seed: fresh_seed(),
            deadline: Duration::from_secs(10),
        }
    }
}

/// How much the survey measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SurveyLength {
    /// Every size.
    Full,
    /// Every second size.
    Quick,
}

pub(super) fn attempts(asked: u32) -> Result<u32, Error> {
    if asked == 0 {
        return Err(Error::usage("--attempts must be at least 1"));
    }
    Ok(asked)
}

pub(super) fn deadline(seconds: f64) -> Result<Duration, Error> {
    if !(seconds > 0.0 && seconds <= LONGEST_DEADLINE_S) {
        let words = format!("--deadline must be above 0 and at most {LONGEST_DEADLINE_S} s");
        return Err(Error::usage(words));
    }
    Ok(Duration::from_secs_f64(seconds))
}

/// A seed nobody chose: from the clock, and stored, so that the order can be had again.
fn fresh_seed() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    now.map_or(0, |since| u64::from(since.subsec_nanos()) ^ (since.as_secs() << 30))
}

/// A mechanism, its option, and the values it shall have.
type Setting = (&'static str, String, Vec<String>);

pub(super) type Options = BTreeMap<(&'static str, String), Vec<String>>;

fn parse_options(set: &[String], mechanisms: &[&'static Mechanism]) -> Result<Options, Error> {
    let mut options = Options::new();
    for text in set {
        for (mechanism, option, values) in parse_setting(text, mechanisms)? {
            if options.insert((mechanism, option.clone()), values).is_some() {
                return Err(Error::usage(format!("{mechanism}.{option} is set twice")));
            }
        }
    }
    Ok(options)
}

fn parse_setting(text: &str, mechanisms: &[&'static Mechanism]) -> Result<Vec<Setting>, Error> {
    let shape = || Error::usage(format!("--set takes MECHANISM.OPTION=VALUES, not `{text}`"));
    let (name, values) = text.split_once('=').ok_or_else(shape)?;
    let (mechanism, option) = name.trim().split_once('.').ok_or_else(shape)?;
    if let Some(kind) = OwnKind::ALL.into_iter().find(|kind| kind.word() == mechanism) {
        return own_settings(kind, option, values, mechanisms);
    }
    // What is set here was named, and asked, before.
    let mechanism = words::mechanism(mechanism, CustomFiles::Leave)?;
    if !mechanisms.iter().any(|asked| asked.name == mechanism.name) {
        let words = format!("--set names {}, which -m does not", mechanism.name);
        return Err(Error::usage(words));
    }
    let spec = find_option(mechanism, option)?;
    let values = parse_values(mechanism, spec, values)?;
    Ok(vec![(mechanism.name, spec.name.to_owned(), values)])
}

/// An option of all own mechanisms of a kind: what it means, and whether it is one, is for them to say.
fn own_settings(
    kind: OwnKind,
    option: &str,
    values: &str,
    mechanisms: &[&'static Mechanism],
) -> Result<Vec<Setting>, Error> {
    let word = kind.word();
    if !is_custom_option(option, values) {
        let words =
            format!("--set {word}.NAME=VALUES takes a name without spaces, and plain values");
        return Err(Error::usage(words));
    }
    let values = words::list(values, |value| Ok(value.to_owned()))?;
    let is_one = |name: &str| own_mechanism(name).is_some_and(|(its, _)| its == kind);
    let names = mechanisms.iter().map(|asked| asked.name).filter(|name| is_one(name));
    let settings: Vec<Setting> =
        names.map(|name| (name, option.to_owned(), values.clone())).collect();
    if settings.is_empty() {
        return Err(Error::usage(format!("--set names {word}, of which -m has none")));
    }
    Ok(settings)
}

/// Whether a custom mechanism can have `option` with `values`.
pub(super) fn is_custom_option(option: &str, values: &str) -> bool {
    let is_odd = |letter: char| letter.is_control() || letter.is_whitespace();
    !option.is_empty() && !option.contains(is_odd) && !values.contains(char::is_control)
}

pub(super) fn find_option(
    mechanism: &Mechanism,
    option: &str,
) -> Result<&'static OptionSpec, Error> {
    let known = mechanism.options.iter().find(|spec| spec.name == option);
    known.ok_or_else(|| {
        if mechanism.options.is_empty() {
            return Error::usage(format!("{} has no options", mechanism.name));
        }
        let names = mechanism.options.iter().map(|spec| spec.name);
        words::unknown(&format!("option of {}", mechanism.name), option, names)
    })
}

/// The values of an option in canonical form: sizes as plain bytes.
pub(super) fn parse_values(
    mechanism: &Mechanism,
    spec: &OptionSpec,
    values: &str,
) -> Result<Vec<String>, Error> {
    let full = format!("{}.{}", mechanism.name, spec.name);
    let one_of = |word: &str, known: &[&str]| {
        if known.contains(&word) {
            return Ok(word.to_owned());
        }
        Err(words::unknown(&format!("value of {full}"), word, known.iter().copied()))
    };
    match &spec.values {
        OptionValues::OneOf(known) => words::list(values, |word| one_of(word, known)),
        OptionValues::Choices(known) => {
            let known: Vec<&str> = known.iter().map(|choice| choice.word).collect();
            words::list(values, |word| one_of(word, &known))
        }
        OptionValues::Bytes => byte_sizes(&full, values, &[spec.default]),
        OptionValues::BytesOr(known) => byte_sizes(&full, values, known),
        OptionValues::Number(range) => words::list(values, |word| match word.parse::<u64>() {
            Ok(number) if range.contains(&number) => Ok(number.to_string()),
            Err(_) if word == spec.default => Ok(word.to_owned()),
            _ => {
                let (least, most) = (range.start(), range.end());
                Err(Error::usage(format!("{full} takes a number of {least} to {most}, not {word}")))
            }
        }),
        OptionValues::Folder => words::list(values, |word| {
            if word == spec.default || word.starts_with('/') {
                return Ok(word.to_owned());
            }
            let shape = format!("{full} takes the whole path of a folder, not `{word}`");
            Err(Error::usage(shape))
        }),
    }
}

/// Sizes as plain bytes, and `known` words as they are.
fn byte_sizes(full: &str, values: &str, known: &[&str]) -> Result<Vec<String>, Error> {
    let refused = |error: size::SizeError| Error::usage(format!("{full}: {error}"));
    size::check_count(values).map_err(refused)?;
    let mut bytes = Vec::new();
    for item in values.split(',').map(str::trim) {
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
