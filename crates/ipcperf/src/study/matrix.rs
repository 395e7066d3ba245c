//! One matrix of a study: levels of factors, and the request that they make.

use std::collections::{BTreeMap, BTreeSet};

use ipcperf_engine::TouchCheck;

use super::document::Entry;
use super::key::Need;
use super::mistake::Mistakes;
use super::sections::MATRIX;
use super::selection::canonical;
use super::values::Values;
use crate::error::Error;
use crate::plan::{Request, Typed, TypedHandling};

/// How much of a study is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Length {
    /// All of it.
    Full,
    /// Every second level of long factors, at most ten repetitions, shorter counts.
    Quick,
}

/// One matrix.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Matrix {
    pub(crate) name: String,
    values: Values,
    /// `MECHANISM.OPTION=VALUES`, with the lines they stand in.
    options: Vec<(usize, String)>,
}

/// The keys that are words of a request, in the order in which they are held against one another.
const WORDS: [&str; 15] = [
    "mechanism",
    "workload",
    "mode",
    "placement",
    "buffer",
    "kernel_buffer",
    "total",
    "touch",
    "payload",
    "buffers",
    "first_touch",
    "reply",
    "instrument",
    "events",
    "event",
];

/// Repetitions of a quick look at most.
const QUICK_REPETITIONS: u64 = 10;
/// A factor with more levels than this is long.
const LONG: usize = 4;

impl Matrix {
    /// The matrix number `number`, whose keys were given `values` and whose options are `options`.
    pub(super) fn new(values: Values, options: Vec<(usize, String)>, number: usize) -> Self {
        let name = values.text("name").map_or_else(|| number.to_string(), str::to_owned);
        Self { name, values, options }
    }

    /// Options: a table of their mechanism's name.
    pub(super) fn options(
        entry: &Entry<'_, '_>,
        into: &mut Vec<(usize, String)>,
        mistakes: &mut Mistakes,
    ) -> bool {
        let Some(table) = entry.table() else { return false };
        for option in table.entries(&entry.path) {
            let words: Option<Vec<String>> = option.items().iter().map(Entry::text).collect();
            match words {
                Some(words) => {
                    let set = format!("{}.{}={}", entry.name, option.name, words.join(","));
                    into.push((option.line, set));
                }
                None => mistakes.add(
                    option.place(),
                    format!("it cannot be {}", option.kind()),
                    "give the option a value, or a list of values",
                ),
            }
        }
        true
    }

    /// Its levels as words of a request, of those keys that `takes` says.
    fn words(&self, length: Length) -> BTreeMap<&'static str, String> {
        let values = match (length, self.values.table("quick")) {
            (Length::Quick, Some(quick)) => self.values.with(quick),
            _ => self.values.clone(),
        };
        let words = WORDS.into_iter().map(|key| Some((key, values.levels(key)?.join(","))));
        words.flatten().collect()
    }

    /// The request that it is.
    ///
    /// # Errors
    /// As [`Request::parse`] has them.
    pub(super) fn request(&self, sampling: &Values, length: Length) -> Result<Request, Error> {
        let words = self.words(length);
        let set: Vec<String> = self.options.iter().map(|(_, set)| set.clone()).collect();
        let mut request = parse(&words, &set, self.messages(length), sampling)?;
        if length == Length::Quick {
            self.shorten(&mut request, sampling)?;
        }
        Ok(request)
    }

    fn messages(&self, length: Length) -> Option<u64> {
        let quick = self.values.table("quick").and_then(|quick| quick.whole("messages"));
        match length {
            Length::Quick if quick.is_some() => quick,
            Length::Quick | Length::Full => self.values.whole("messages"),
        }
    }

    /// Every second size where there are many, and at most ten repetitions.
    fn shorten(&self, request: &mut Request, sampling: &Values) -> Result<(), Error> {
        let is_said =
            self.values.table("quick").is_some_and(|quick| quick.levels("buffer").is_some());
        if !is_said && request.buffers.len() > LONG {
            let last = request.buffers.len() - 1;
            // The largest stays: what falls there is what many a study is about.
            let kept = |at: &usize| (last - at) % 2 == 0;
            let buffers = std::mem::take(&mut request.buffers).into_iter().enumerate();
            request.buffers = buffers.filter(|(at, _)| kept(at)).map(|(_, bytes)| bytes).collect();
        }
        let repetitions =
            sampling.whole("repetitions").unwrap_or(QUICK_REPETITIONS).min(QUICK_REPETITIONS);
        request.repeat(u32::try_from(repetitions).unwrap_or(u32::MAX))
    }

    /// Tells each key whose words cannot be: held against those before it, one after another.
    pub(super) fn check(&self, sampling: &Values, mistakes: &mut Mistakes) {
        let all = self.words(Length::Full);
        let mut right = BTreeMap::new();
        for (key, words) in WORDS.into_iter().filter_map(|key| Some((key, all.get(key)?.clone()))) {
            let mut tried = right.clone();
            tried.insert(key, words);
            match parse(&tried, &[], self.messages(Length::Full), &Values::default()) {
                Ok(_) => right = tried,
                Err(error) => {
                    let (line, path) = self.values.place_of(key);
                    tell((line, &path), &error, mistakes);
                }
            }
        }
        if !right.contains_key("mechanism") || !right.contains_key("buffer") {
            return;
        }
        for (line, option) in &self.options {
            if let Err(error) =
                parse(&right, std::slice::from_ref(option), None, &Values::default())
            {
                let name = option.split('=').next().unwrap_or(option);
                tell((*line, &format!("{}.{name}", self.values.path)), &error, mistakes);
            }
        }
        self.check_amount(mistakes);
        if let Err(error) = parse(&right, &[], None, sampling) {
            tell((sampling.line, "sampling"), &error, mistakes);
        }
    }

    fn check_amount(&self, mistakes: &mut Mistakes) {
        if self.values.whole("messages").is_some() && self.values.levels("total").is_some() {
            let (line, path) = self.values.place_of("messages");
            mistakes.add((line, &path), "it stands beside total", "keep one of them");
        }
    }

    /// The line it begins in.
    pub(super) const fn line(&self) -> usize {
        self.values.line
    }

    /// The levels of `factor` that its cases have.
    pub(crate) fn levels(&self, factor: &str) -> BTreeSet<String> {
        self.all_levels().remove(factor).unwrap_or_default()
    }

    fn all_levels(&self) -> BTreeMap<String, BTreeSet<String>> {
        let words = self.words(Length::Full);
        let each = |factor: &str, words: &str| -> BTreeSet<String> {
            words.split(',').flat_map(|word| canonical(factor, word)).collect()
        };
        let mut levels: BTreeMap<String, BTreeSet<String>> =
            words.iter().map(|(key, words)| ((*key).to_owned(), each(key, words))).collect();
        for (_, option) in &self.options {
            if let Some((name, values)) = option.split_once('=') {
                levels.insert(name.to_owned(), each(name, values));
            }
        }
        levels.insert("matrix".to_owned(), BTreeSet::from([self.name.clone()]));
        // What nobody disturbs is there beside what somebody does.
        levels.entry("instrument".to_owned()).or_default().insert("none".to_owned());
        for key in MATRIX.keys {
            if let Need::Optional(usual) = key.need {
                let level = || BTreeSet::from([usual.to_owned()]);
                levels.entry(key.name.to_owned()).or_insert_with(level);
            }
        }
        levels
    }
}

/// What `words` ask for; what is not there is as usual.
fn parse(
    words: &BTreeMap<&'static str, String>,
    set: &[String],
    messages: Option<u64>,
    sampling: &Values,
) -> Result<Request, Error> {
    let word = |key: &str| words.get(key).map(String::as_str);
    let or = |key: &str, usual: &'static str| words.get(key).map_or(usual, String::as_str);
    let whole =
        |key: &str| sampling.whole(key).map(|number| u32::try_from(number).unwrap_or(u32::MAX));
    let typed = Typed {
        mechanisms: or("mechanism", "null"),
        workloads: or("workload", "stream"),
        buffers: or("buffer", "64"),
        total: word("total"),
        messages,
        modes: or("mode", "2proc"),
        placements: or("placement", "same"),
        kernel_buffers: or("kernel_buffer", "default"),
        handling: TypedHandling {
            touch: word("touch"),
            payload: word("payload"),
            buffers: word("buffers"),
            first_touch: word("first_touch"),
            reply: word("reply"),
        },
        instruments: word("instrument"),
        events: [word("events"), word("event")],
        set,
        repetitions: whole("repetitions"),
        until_ci_percent: sampling.number("until_ci"),
        most_repetitions: whole("most_repetitions"),
        most_s: sampling.number("most_s"),
        attempts: whole("attempts"),
        seed: sampling.whole("seed"),
        deadline_s: sampling.number("deadline"),
    };
    Request::parse(&typed, TouchCheck::Off)
}

/// What is wrong, in the words of `error`, which speak of flags; the second half is the remedy where it has
/// one.
fn tell(place: (usize, &str), error: &Error, mistakes: &mut Mistakes) {
    let words = error.to_string().replace("--", "");
    let split = words
        .split_once("; ")
        .or_else(|| words.split_once(": use "))
        .or_else(|| words.split_once(", not "));
    match split {
        Some((what, remedy)) => mistakes.add(place, what, remedy),
        None => mistakes.add(place, words, "see ipcperf run --help for what it may be"),
    }
}
