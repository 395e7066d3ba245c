//! One matrix of a study: levels of factors, and the request that they make.

use std::collections::{BTreeMap, BTreeSet};

use ipcperf_model::TouchCheck;
use ipcperf_model::instrument::{counters, profile};
use ipcperf_model::size::count_list as count_sizes;
use ipcperf_model::suggestion::nearest;
use ipcperf_plan::{MECHANISMS, OwnKind, own_mechanism};

use super::document::Entry;
use super::key::Need;
use super::length::Length;
use super::mistake::Mistakes;
use super::remedy;
use super::sections::MATRIX;
use super::selection::{FACTORS, MOST_LEVELS, canonical};
use super::values::Values;
use ipcperf_plan::Error;
use ipcperf_plan::{
    CustomFiles, MOST_CELLS, Request, Typed, TypedHandling, check_events, custom_name,
};

/// One matrix.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix {
    /// Its name.
    pub name: String,
    values: Values,
    /// `MECHANISM.OPTION=VALUES`, with the lines they stand in.
    options: Vec<(usize, String)>,
    /// What its cases have of each factor. Every selection of a study is held against it.
    levels: BTreeMap<String, BTreeSet<String>>,
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

/// Keys that cannot be judged where there is a slip in another one.
const NEEDS: [(&str, &str); 4] = [
    ("first_touch", "total"),
    ("reply", "workload"),
    ("events", "instrument"),
    ("event", "instrument"),
];

/// Repetitions of a quick look at most.
const QUICK_REPETITIONS: u64 = 10;
/// A factor with more levels than this is long.
const LONG: usize = 4;

impl Matrix {
    /// The matrix number `number`, whose keys were given `values` and whose options are `options`.
    pub(super) fn new(values: Values, options: Vec<(usize, String)>, number: usize) -> Self {
        let name = values.text("name").map_or_else(|| number.to_string(), str::to_owned);
        let mut matrix = Self { name, values, options, levels: BTreeMap::new() };
        matrix.levels = matrix.all_levels();
        matrix
    }

    /// Options: a table of their mechanism's name.
    pub(super) fn options(
        entry: &Entry<'_, '_>,
        into: &mut Vec<(usize, String)>,
        mistakes: &mut Mistakes,
    ) -> bool {
        let Some(table) = entry.table() else { return false };
        if is_nearer_a_key(entry.name) {
            return false;
        }
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

    /// What its keys were given, with what is otherwise at `length`.
    fn values_at(&self, length: Length) -> Values {
        let other = length.key().and_then(|key| self.values.table(key));
        other.map_or_else(|| self.values.clone(), |other| self.values.with(other))
    }

    /// The tables of what is otherwise at some length.
    fn others(&self) -> impl Iterator<Item = (Length, &Values)> {
        let lengths = [Length::Quick, Length::AsPublished].into_iter();
        lengths.filter_map(|length| Some((length, self.values.table(length.key()?)?)))
    }

    /// Its levels as words of a request, of those keys that `takes` says.
    fn words(&self, length: Length) -> BTreeMap<&'static str, String> {
        let values = self.values_at(length);
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
        let mut request = asked(&words, &set, self.messages(length), sampling, CustomFiles::Ask)?;
        if length == Length::Quick {
            self.shorten(&mut request, sampling)?;
        }
        Ok(request)
    }

    /// The custom mechanisms that it names, by their whole paths.
    pub(super) fn custom_mechanisms(&self) -> BTreeSet<String> {
        let tables = std::iter::once(&self.values).chain(self.others().map(|(_, other)| other));
        let levels = tables.filter_map(|values| values.levels("mechanism")).flatten();
        let words = levels.flat_map(|level| level.split(','));
        words.filter_map(|word| custom_name(word.trim())).collect()
    }

    fn messages(&self, length: Length) -> Option<u64> {
        self.values_at(length).whole("messages")
    }

    /// Every second size where there are many, and at most ten repetitions.
    fn shorten(&self, request: &mut Request, sampling: &Values) -> Result<(), Error> {
        let is_said =
            self.values.table("quick").is_some_and(|quick| quick.levels("buffer").is_some());
        if !is_said && request.buffers.len() > LONG {
            let last = request.buffers.len() - 1;
            // The largest stays: what falls there is what many a study is about.
            let kept = |at: &usize| (last - at).is_multiple_of(2);
            let buffers = std::mem::take(&mut request.buffers).into_iter().enumerate();
            request.buffers = buffers.filter(|(at, _)| kept(at)).map(|(_, bytes)| bytes).collect();
        }
        let asked = sampling.whole("quick_repetitions").or_else(|| sampling.whole("repetitions"));
        let repetitions = asked.unwrap_or(QUICK_REPETITIONS).min(QUICK_REPETITIONS);
        request.repeat(u32::try_from(repetitions).unwrap_or(u32::MAX))
    }

    /// Tells each key whose words cannot be: held against those before it, one after another.
    pub(super) fn check(&self, mistakes: &mut Mistakes) {
        if !self.is_small_enough(mistakes) {
            return;
        }
        let right = self.check_words(mistakes);
        for (length, other) in self.others() {
            self.check_other((length, other), &right, mistakes);
        }
        self.check_amount(mistakes);
        if !right.contains_key("mechanism") || !right.contains_key("buffer") {
            return;
        }
        for (line, option) in &self.options {
            let set = std::slice::from_ref(option);
            if let Err(error) = parse(&right, set, self.messages(Length::Full), &Values::default())
            {
                let name = option.split('=').next().unwrap_or(option);
                tell((*line, &format!("{}.{name}", self.values.path)), &error, mistakes);
            }
        }
        self.check_events(&right, mistakes);
    }

    fn check_events(&self, right: &BTreeMap<&'static str, String>, mistakes: &mut Mistakes) {
        let Ok(request) = parse(right, &[], None, &Values::default()) else { return };
        for (key, instrument) in [("events", counters::FACTS.name), ("event", profile::FACTS.name)]
        {
            if let Err(error) = check_events(&request.events, instrument) {
                let (line, path) = self.values.place_of(key);
                tell((line, &path), &error, mistakes);
            }
        }
    }

    /// The words that can be, as far as each goes with those before it.
    fn check_words(&self, mistakes: &mut Mistakes) -> BTreeMap<&'static str, String> {
        let all = self.words(Length::Full);
        let mut right = BTreeMap::new();
        for (key, words) in WORDS.into_iter().filter_map(|key| Some((key, all.get(key)?.clone()))) {
            let is_missing = |needed: &str| all.contains_key(needed) && !right.contains_key(needed);
            if NEEDS.iter().any(|(needs, needed)| *needs == key && is_missing(needed)) {
                continue;
            }
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
        right
    }

    /// The same of what another length has instead.
    fn check_other(
        &self,
        (length, other): (Length, &Values),
        right: &BTreeMap<&'static str, String>,
        mistakes: &mut Mistakes,
    ) {
        let given = WORDS.into_iter().filter_map(|key| Some((key, other.levels(key)?.join(","))));
        for (key, words) in given {
            let mut tried = right.clone();
            tried.insert(key, words);
            if let Err(error) = parse(&tried, &[], self.messages(length), &Values::default()) {
                let (line, path) = other.place_of(key);
                tell((line, &path), &error, mistakes);
            }
        }
        let total = other.levels("total").or_else(|| self.values.levels("total"));
        if other.whole("messages").is_some() && total.is_some() {
            let (line, path) = other.place_of("messages");
            mistakes.add((line, &path), "it stands beside total", "give it a total instead");
        }
    }

    /// Whether its cells can be counted at all: what has millions is a slip, and would take an age to look at.
    fn is_small_enough(&self, mistakes: &mut Mistakes) -> bool {
        let tables = std::iter::once(&self.values).chain(self.others().map(|(_, other)| other));
        let keys = tables.flat_map(|values| {
            WORDS.into_iter().filter_map(move |key| Some((values, key, values.levels(key)?)))
        });
        let keys = keys.map(|(values, key, levels)| (values.place_of(key), levels.join(",")));
        let options = self.options.iter().filter_map(|(line, set)| {
            let (name, words) = set.split_once('=')?;
            Some(((*line, format!("{}.{name}", self.values.path)), words.to_owned()))
        });
        let long = keys.chain(options).find(|(_, words)| count(words) > MOST_LEVELS);
        if let Some(((line, path), words)) = long {
            let what = format!("it has {} levels; {MOST_LEVELS} are the most", count(&words));
            mistakes.add((line, &path), what, "give it fewer");
            return false;
        }
        let cells = self.cells();
        if cells <= MOST_CELLS {
            return true;
        }
        let what = format!("it has {cells} cells; {MOST_CELLS} are the most");
        let remedy = "give its factors fewer levels, or make several matrices of it";
        mistakes.add((self.values.line, &self.values.path), what, remedy);
        false
    }

    /// Combinations of levels, as they are written: at least as many as will be cells.
    pub(super) fn cells(&self) -> usize {
        let words = self.words(Length::Full);
        let common = words.iter().filter(|(key, _)| **key != "mechanism" && FACTORS.contains(key));
        let common = common.filter(|(key, _)| **key != "instrument");
        let common = common.map(|(_, words)| count(words)).fold(1, usize::saturating_mul);
        let mut options: BTreeMap<&str, usize> = BTreeMap::new();
        for (name, words) in self.options.iter().filter_map(|(_, set)| set.split_once('=')) {
            let mechanism = name.split('.').next().unwrap_or(name);
            let sets = options.entry(mechanism).or_insert(1);
            *sets = sets.saturating_mul(count(words));
        }
        let sets = |name: &str| {
            let kind = own_mechanism(name).map(|(kind, _)| kind.word());
            options.get(kind.unwrap_or(name)).copied().unwrap_or(1)
        };
        let named = words.get("mechanism").map_or("", String::as_str);
        let variants = match named.trim() {
            "all" => MECHANISMS.iter().map(|known| sets(known.name)).fold(0, usize::saturating_add),
            named => named.split(',').map(|name| sets(name.trim())).fold(0, usize::saturating_add),
        };
        variants.saturating_mul(common)
    }

    fn check_amount(&self, mistakes: &mut Mistakes) {
        if self.values.whole("messages").is_some() && self.values.levels("total").is_some() {
            let (line, path) = self.values.place_of("messages");
            mistakes.add((line, &path), "it stands beside total", "keep one of them");
        }
    }

    /// What it has of levels, as they are written: `mechanism pipe,tcp; buffer 64`.
    pub fn summary(&self) -> String {
        let words = self.words(Length::Full);
        let words = WORDS.into_iter().filter_map(|key| Some(format!("{key} {}", words.get(key)?)));
        let messages = self.values.whole("messages").map(|count| format!("messages {count}"));
        let options = self.options.iter().map(|(_, set)| set.replacen('=', " ", 1));
        words.chain(messages).chain(options).collect::<Vec<_>>().join("; ")
    }

    /// The line it begins in.
    pub(super) const fn line(&self) -> usize {
        self.values.line
    }

    /// Each factor with the levels that its cases have.
    pub(super) fn factors(&self) -> impl Iterator<Item = (&str, &BTreeSet<String>)> {
        self.levels.iter().map(|(factor, levels)| (factor.as_str(), levels))
    }

    fn all_levels(&self) -> BTreeMap<String, BTreeSet<String>> {
        let words = self.words(Length::Full);
        // What has too many levels is refused, and nothing is held against them.
        let each = |factor: &str, words: &str| -> BTreeSet<String> {
            let words = Some(words).filter(|words| count(words) <= MOST_LEVELS);
            words
                .into_iter()
                .flat_map(|words| words.split(','))
                .flat_map(|word| canonical(factor, word))
                .collect()
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

/// What `words` ask for, to see whether they can be asked: nothing that they name is loaded, as the file that
/// holds them may be anybody's.
fn parse(
    words: &BTreeMap<&'static str, String>,
    set: &[String],
    messages: Option<u64>,
    sampling: &Values,
) -> Result<Request, Error> {
    asked(words, set, messages, sampling, CustomFiles::Leave)
}

/// What `words` ask for; what is not there is as usual.
fn asked(
    words: &BTreeMap<&'static str, String>,
    set: &[String],
    messages: Option<u64>,
    sampling: &Values,
    custom_files: CustomFiles,
) -> Result<Request, Error> {
    let word = |key: &str| words.get(key).map(String::as_str);
    let or = |key: &str, usual: &'static str| words.get(key).map_or(usual, String::as_str);
    let whole =
        |key: &str| sampling.whole(key).map(|number| u32::try_from(number).unwrap_or(u32::MAX));
    let typed = Typed {
        mechanisms: or("mechanism", "null"),
        custom_files,
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

/// Whether `name` looks like a slip in a key, and not like a mechanism.
fn is_nearer_a_key(name: &str) -> bool {
    let own = OwnKind::ALL.into_iter().map(OwnKind::word);
    let mut mechanisms = MECHANISMS.iter().map(|known| known.name).chain(own);
    let is_key = nearest(name, MATRIX.keys.iter().map(|key| key.name)).is_some();
    is_key
        && !mechanisms.clone().any(|known| known == name)
        && nearest(name, &mut mechanisms).is_none()
}

/// How many levels `words` name, each range as many as are in it, without making them.
fn count(words: &str) -> usize {
    usize::try_from(count_sizes(words)).unwrap_or(usize::MAX)
}

/// What is wrong, in the words of `error`.
fn tell(place: (usize, &str), error: &Error, mistakes: &mut Mistakes) {
    let (what, remedy) = remedy::apart(&error.to_string());
    mistakes.add(place, what, remedy);
}
