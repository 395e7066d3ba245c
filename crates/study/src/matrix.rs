//! A matrix of a study: levels of factors, and the request built from them.

use std::collections::{BTreeMap, BTreeSet};

use ipcperf_model::size::count_list as count_sizes;
use ipcperf_model::suggestion::nearest;
use ipcperf_model::{CustomKind, PayloadCheck};
use ipcperf_plan::{
    CustomFiles, Error, Factor, FactorError, MAX_CELLS, OptionSetting, ParsedRequest, Request,
    TypedLevels, TypedMessageOptions, TypedPacing, TypedPeers, TypedPrefixes, TypedRequest,
    custom_name, mechanism_names, options_prefix,
};

use super::document::Entry;
use super::key::Requirement;
use super::length::Length;
use super::mistake::Mistakes;
use super::section_keys::MATRIX;
use super::selection::{COMMAND_FACTORS, FACTORS, MAX_LEVELS, canonical, split_levels};
use super::values::Values;

/// A matrix of cases.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix {
    /// Name of the matrix.
    pub name: String,
    values: Values,
    options: Vec<OptionKey>,
    /// Levels of its cases by factor. Cached, because every selection of the study is checked against them.
    levels: BTreeMap<String, BTreeSet<String>>,
}

/// An option of a mechanism, as set by a matrix.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct OptionKey {
    /// Line in the file.
    line: usize,
    mechanism: String,
    option: String,
    levels: Vec<String>,
}

impl OptionKey {
    /// Returns `MECHANISM.OPTION`.
    fn name(&self) -> String {
        self.setting().name()
    }

    fn setting(&self) -> OptionSetting<'_> {
        let values = TypedLevels::Items(&self.levels);
        OptionSetting { mechanism: &self.mechanism, option: &self.option, values }
    }
}

/// Maximum number of repetitions with `--quick`.
const QUICK_REPETITIONS: u64 = 10;
/// Number of levels above which `--quick` thins out a factor.
const MAX_QUICK_LEVELS: usize = 4;

impl Matrix {
    /// Creates matrix number `number`, whose keys have `values`. The number is its name if it has none.
    pub(super) fn new(values: Values, options: Vec<OptionKey>, number: usize) -> Self {
        let name = values.text("name").map_or_else(|| number.to_string(), str::to_owned);
        let mut matrix = Self { name, values, options, levels: BTreeMap::new() };
        matrix.levels = matrix.all_levels();
        matrix
    }

    /// Reads options from a table that has the name of their mechanism. Returns `false` if `entry` is not such a table.
    pub(super) fn options(
        entry: &Entry<'_, '_>,
        into: &mut Vec<OptionKey>,
        mistakes: &mut Mistakes,
    ) -> bool {
        let Some(table) = entry.table() else { return false };
        if is_probably_key(entry.name) {
            return false;
        }
        for option in table.entries(&entry.path) {
            let levels: Option<Vec<String>> = option.items().iter().map(Entry::text).collect();
            match levels {
                Some(levels) => into.push(OptionKey {
                    line: option.line,
                    mechanism: entry.name.to_owned(),
                    option: option.name.to_owned(),
                    levels,
                }),
                None => mistakes.add(
                    option.location(),
                    format!("must not be {}", option.kind()),
                    "use a value, or a list of values",
                ),
            }
        }
        true
    }

    /// Returns the values of its keys at `length`.
    fn values_at(&self, length: Length) -> Values {
        let other = length.key().and_then(|key| self.values.table(key));
        other.map_or_else(|| self.values.clone(), |other| self.values.with_overrides(other))
    }

    /// Returns the tables that override values at other lengths.
    fn overrides(&self) -> impl Iterator<Item = (Length, &Values)> {
        let lengths = [Length::Quick, Length::AsPublished].into_iter();
        lengths.filter_map(|length| Some((length, self.values.table(length.key()?)?)))
    }

    /// Builds the request for the matrix.
    ///
    /// # Errors
    /// Fails as [`Request::parse`] does.
    pub(super) fn request(&self, sampling: &Values, length: Length) -> Result<Request, Error> {
        let values = self.values_at(length);
        let sampled = with_sampling(typed(&values, CustomFiles::Inspect), sampling);
        let request = TypedRequest { options: self.settings_at(length, &values), ..sampled };
        let mut request = Request::parse(&request, PayloadCheck::Off)?;
        if length == Length::Quick {
            self.shorten(&mut request, sampling)?;
        }
        Ok(request)
    }

    fn settings(&self) -> Vec<OptionSetting<'_>> {
        self.options.iter().map(OptionKey::setting).collect()
    }

    /// Returns the options that apply at `length`, at which the keys have `values`. A length other than full may omit
    /// the mechanism of an option.
    fn settings_at(&self, length: Length, values: &Values) -> Vec<OptionSetting<'_>> {
        let named = mechanisms_of(values);
        let is_meant = |option: &&OptionKey| {
            let is_its = |name: &&str| options_prefix(name) == option.mechanism;
            length == Length::Full || named.iter().any(is_its)
        };
        self.options.iter().filter(is_meant).map(OptionKey::setting).collect()
    }

    /// Returns the custom mechanisms that it names, with absolute paths, and the commands in front of programs.
    pub(super) fn custom_programs(&self) -> BTreeSet<String> {
        let tables =
            || std::iter::once(&self.values).chain(self.overrides().map(|(_, other)| other));
        let levels = |factor| tables().filter_map(move |values| values.levels(factor)).flatten();
        let words = levels(Factor::Mechanism.key()).flat_map(|level| level.split(','));
        let mechanisms = words.filter_map(|word| custom_name(word.trim()));
        let commands = COMMAND_FACTORS.into_iter().flat_map(levels).cloned();
        let none = Factor::SenderPrefix.default_text();
        mechanisms.chain(commands.filter(|command| command.trim() != none)).collect()
    }

    /// Shortens a request for `--quick`: every second size of a long list, and at most ten repetitions.
    fn shorten(&self, request: &mut Request, sampling: &Values) -> Result<(), Error> {
        let is_set =
            self.values.table("quick").is_some_and(|quick| quick.levels("buffer").is_some());
        if !is_set && request.buffers.len() > MAX_QUICK_LEVELS {
            let last = request.buffers.len() - 1;
            // Keep the largest size: many studies are about an effect that appears there.
            let kept = |at: &usize| (last - at).is_multiple_of(2);
            let buffers = std::mem::take(&mut request.buffers).into_iter().enumerate();
            request.buffers = buffers.filter(|(at, _)| kept(at)).map(|(_, bytes)| bytes).collect();
        }
        let asked =
            sampling.integer("quick_repetitions").or_else(|| sampling.integer("repetitions"));
        let repetitions = asked.unwrap_or(QUICK_REPETITIONS).min(QUICK_REPETITIONS);
        request.set_repetitions(u32::try_from(repetitions).unwrap_or(u32::MAX))
    }

    /// Reports each key with an invalid value.
    pub(super) fn check(&self, mistakes: &mut Mistakes) {
        if !self.check_size(mistakes) {
            return;
        }
        // Do not load custom mechanisms: a check must not execute files from an untrusted study.
        let typed = typed(&self.values, CustomFiles::Skip);
        let parsed = ParsedRequest::parse(&TypedRequest { options: self.settings(), ..typed });
        for error in parsed.errors().into_iter().chain(parsed.unknown_events()) {
            self.report(&error, &self.values, mistakes);
        }
        for (length, other) in self.overrides() {
            self.check_overrides(length, other, mistakes);
        }
        self.check_amount(mistakes);
    }

    /// Reports each invalid value in the overrides for `length`. Options are not checked, because the overrides may
    /// omit their mechanism.
    fn check_overrides(&self, length: Length, other: &Values, mistakes: &mut Mistakes) {
        let values = self.values_at(length);
        for error in ParsedRequest::parse(&typed(&values, CustomFiles::Skip)).errors() {
            self.report(&error, other, mistakes);
        }
        let total = other.levels("total").or_else(|| self.values.levels("total"));
        if other.integer("messages").is_some() && total.is_some() {
            let (line, path) = other.location_of("messages");
            mistakes.add(
                (line, &path),
                "messages cannot be combined with total",
                "use total instead",
            );
        }
    }

    /// Reports `error` at its option, or at its key if that is in `values`. A missing key or a value of the wrong type
    /// is already reported.
    fn report(&self, error: &FactorError, values: &Values, mistakes: &mut Mistakes) {
        let place = match &error.option {
            Some(name) => {
                let option = self.options.iter().find(|option| option.name() == *name);
                option.map(|option| (option.line, format!("{}.{name}", self.values.path)))
            }
            None => Some(error.factor.key())
                .filter(|key| values.has(key))
                .map(|key| values.location_of(key)),
        };
        if let Some((line, path)) = place {
            mistakes.add((line, &path), error.reason_by_keys(), error.remedy_by_keys());
        }
    }

    /// Whether the matrix is small enough to expand. Millions of cells are taken for an error, and checking them would
    /// take too long.
    fn check_size(&self, mistakes: &mut Mistakes) -> bool {
        let tables = std::iter::once(&self.values).chain(self.overrides().map(|(_, other)| other));
        let keys = tables.flat_map(|values| {
            levels_of(values).map(|(key, levels)| (values.location_of(key), level_count(levels)))
        });
        let options = self.options.iter().map(|option| {
            let path = format!("{}.{}", self.values.path, option.name());
            ((option.line, path), level_count(&option.levels))
        });
        let long = keys.chain(options).find(|(_, count)| *count > MAX_LEVELS);
        if let Some(((line, path), count)) = long {
            let what = format!("it has {count} levels; the maximum is {MAX_LEVELS}");
            mistakes.add((line, &path), what, "remove levels");
            return false;
        }
        let cells = self.cells();
        if cells <= MAX_CELLS {
            return true;
        }
        let what = format!("the matrix has {cells} cells; the maximum is {MAX_CELLS}");
        let remedy = "remove levels, or split the matrix";
        mistakes.add((self.values.line, &self.values.path), what, remedy);
        false
    }

    /// Returns the number of combinations of levels as written. This is an upper bound of the number of cells.
    pub(super) fn cells(&self) -> usize {
        let own = [Factor::Mechanism.key(), Factor::Instrument.key()];
        let common = levels_of(&self.values)
            .filter(|(key, _)| FACTORS.contains(key) && !own.contains(key))
            .map(|(_, levels)| level_count(levels))
            .fold(1, usize::saturating_mul);
        let mut options: BTreeMap<&str, usize> = BTreeMap::new();
        for option in &self.options {
            let sets = options.entry(&option.mechanism).or_insert(1);
            *sets = sets.saturating_mul(level_count(&option.levels));
        }
        let sets = |name: &str| options.get(options_prefix(name)).copied().unwrap_or(1);
        let named = mechanisms_of(&self.values);
        let variants = named.into_iter().map(sets).fold(0, usize::saturating_add);
        variants.saturating_mul(common)
    }

    fn check_amount(&self, mistakes: &mut Mistakes) {
        if self.values.integer("messages").is_some() && self.values.levels("total").is_some() {
            let (line, path) = self.values.location_of("messages");
            mistakes.add(
                (line, &path),
                "messages cannot be combined with total",
                "keep one of the two",
            );
        }
    }

    /// Summarizes its levels as written: `mechanism pipe,tcp; buffer 64`.
    pub fn summary(&self) -> String {
        let words = levels_of(&self.values);
        let words = words.map(|(key, levels)| format!("{key} {}", levels.join(",")));
        let messages = self.values.integer("messages").map(|count| format!("messages {count}"));
        let options = self.options.iter();
        let options =
            options.map(|option| format!("{} {}", option.name(), option.levels.join(",")));
        words.chain(messages).chain(options).collect::<Vec<_>>().join("; ")
    }

    /// Returns the line in which it begins.
    pub(super) const fn line(&self) -> usize {
        self.values.line
    }

    /// Returns each factor with the levels of its cases.
    pub(super) fn factors(&self) -> impl Iterator<Item = (&str, &BTreeSet<String>)> {
        self.levels.iter().map(|(factor, levels)| (factor.as_str(), levels))
    }

    fn all_levels(&self) -> BTreeMap<String, BTreeSet<String>> {
        let mut levels: BTreeMap<String, BTreeSet<String>> = levels_of(&self.values)
            .map(|(key, levels)| (key.to_owned(), canonical_levels(key, levels)))
            .collect();
        for option in &self.options {
            levels.insert(option.name(), canonical_levels(&option.name(), &option.levels));
        }
        levels.insert("matrix".to_owned(), BTreeSet::from([self.name.clone()]));
        // Each case that an instrument disturbs has an uninstrumented twin, and a case that none disturbs has this
        // level, too.
        levels.entry("instrument".to_owned()).or_default().insert("none".to_owned());
        for key in MATRIX.keys {
            if let Requirement::Optional(usual) = key.requirement {
                let level = || BTreeSet::from([usual.to_owned()]);
                levels.entry(key.name.to_owned()).or_insert_with(level);
            }
        }
        levels
    }
}

/// Returns the keys of a matrix that have levels, in the order of the documentation.
fn levels_of(values: &Values) -> impl Iterator<Item = (&'static str, &[String])> {
    MATRIX.keys.iter().filter_map(|key| Some((key.name, values.levels(key.name)?)))
}

/// Returns the canonical form of the levels in `written`. Returns none if there are more than the maximum: that is an
/// error, and nothing is checked against them.
fn canonical_levels(factor: &str, written: &[String]) -> BTreeSet<String> {
    let few = Some(written).filter(|written| level_count(written) <= MAX_LEVELS);
    let words = few.into_iter().flatten().flat_map(|level| split_levels(factor, level));
    words.flat_map(|word| canonical(factor, word)).collect()
}

/// Converts the values of a matrix to a typed request.
fn typed(values: &Values, custom_files: CustomFiles) -> TypedRequest<'_> {
    let words = |factor: Factor| values.levels(factor.key()).map(TypedLevels::Items);
    TypedRequest {
        mechanisms: words(Factor::Mechanism),
        custom_files,
        workloads: words(Factor::Workload),
        buffers: words(Factor::Buffer),
        total: words(Factor::Total),
        messages: values.integer("messages"),
        modes: words(Factor::Mode),
        placements: words(Factor::Placement),
        kernel_buffers: words(Factor::KernelBuffer),
        pacing: TypedPacing {
            rate: words(Factor::Rate),
            arrivals: words(Factor::Arrivals),
            pacer: words(Factor::Pacer),
            duration_s: values.number(Factor::Duration.key()),
            knee: None,
        },
        peers: TypedPeers { peers: words(Factor::Peers), traffic: words(Factor::Traffic) },
        prefixes: TypedPrefixes {
            sender: words(Factor::SenderPrefix),
            receiver: words(Factor::ReceiverPrefix),
        },
        message_options: TypedMessageOptions {
            sizes: words(Factor::Messages),
            touch: words(Factor::Touch),
            payload: words(Factor::Payload),
            buffers: words(Factor::Buffers),
            first_touch: words(Factor::FirstTouch),
            reply: words(Factor::Reply),
        },
        instruments: words(Factor::Instrument),
        events: [words(Factor::CounterEvents), words(Factor::ProfileEvent)],
        ..TypedRequest::default()
    }
}

/// Adds the repetitions and limits of `[sampling]` to a request.
fn with_sampling<'v>(typed: TypedRequest<'v>, sampling: &Values) -> TypedRequest<'v> {
    let whole = |factor: Factor| {
        let number = sampling.integer(factor.key())?;
        Some(u32::try_from(number).unwrap_or(u32::MAX))
    };
    TypedRequest {
        repetitions: whole(Factor::Repetitions),
        until_ci_percent: sampling.number(Factor::UntilCi.key()),
        max_repetitions: whole(Factor::MaxRepetitions),
        max_time_s: sampling.number(Factor::MaxTime.key()),
        attempts: whole(Factor::Attempts),
        seed: sampling.integer(Factor::Seed.key()),
        timeout_s: sampling.number(Factor::Timeout.key()),
        ..typed
    }
}

/// Returns the names of the mechanisms in `values` as written; `all` expands to every known one.
fn mechanisms_of(values: &Values) -> Vec<&str> {
    let named = values.levels(Factor::Mechanism.key()).unwrap_or_default();
    let named: Vec<&str> = named.iter().flat_map(|level| level.split(',')).map(str::trim).collect();
    if named == ["all"] { mechanism_names().collect() } else { named }
}

/// Whether `name` is probably a misspelled key rather than a mechanism.
fn is_probably_key(name: &str) -> bool {
    let custom = CustomKind::ALL.into_iter().map(CustomKind::word);
    let mut mechanisms = mechanism_names().chain(custom);
    let is_key = nearest(name, MATRIX.keys.iter().map(|key| key.name)).is_some();
    is_key
        && !mechanisms.clone().any(|known| known == name)
        && nearest(name, &mut mechanisms).is_none()
}

/// Returns the number of levels that `written` names. Counts ranges without expanding them.
fn level_count(written: &[String]) -> usize {
    let counts = written.iter().map(|level| count_sizes(level));
    usize::try_from(counts.fold(0, u64::saturating_add)).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests;
