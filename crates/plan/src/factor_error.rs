//! Errors of factors: typed, so that the command line can name flags, and a study file its keys.

use std::fmt;

use ipcperf_model::Unavailable;
use ipcperf_model::rate::RateError;
use ipcperf_model::size::SizeError;
use ipcperf_model::suggestion::{shorten, suggestion};

use crate::factor::Factor;

/// Error in one factor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FactorError {
    /// Factor with the error.
    pub factor: Factor,
    /// Option with the error, as the user wrote it: `MECHANISM.OPTION`; `None` if the error is not in an option.
    pub option: Option<String>,
    /// Wrong value; empty if no single value is wrong, or if the reason holds it.
    pub value: String,
    /// Reason why it is wrong.
    pub reason: Reason,
}

/// Reason why a value of a factor is wrong, with the data for the hint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Nothing was given, and there is no default.
    Missing,
    /// The value is not a known word. Holds a suggestion.
    Unknown(String),
    /// The value is not an option of this mechanism. Holds the mechanism and a suggestion.
    UnknownOption(String, String),
    /// This mechanism has no options.
    NoOptions(String),
    /// The factor only accepts values of this description.
    Takes(String),
    /// The value breaks this rule.
    Rule(&'static str),
    /// The number is outside of this range.
    MustBe(String),
    /// The value is not a size.
    Size(SizeError),
    /// The value is not a rate.
    Rate(RateError),
    /// There are too many values. Holds their number and the maximum.
    TooMany(u64, u64),
    /// The path of a custom mechanism cannot be stored, for this reason.
    Path(String),
    /// The factor only has an effect with one of these levels of another factor.
    IsFor(Factor, Vec<&'static str>),
    /// The value needs a total.
    NeedsTotal,
    /// The value needs a rate.
    NeedsRate,
    /// This flag does not apply to the value, for a reason that the docs give.
    Without(&'static str),
    /// The factor does not apply together with the first of these; the second has its effect there.
    NotWith(Factor, Factor),
    /// The option is of this mechanism, which is not measured.
    NotMeasured(String),
    /// The option is of custom mechanisms of this kind, none of which is measured.
    NoneMeasured(&'static str),
    /// This option was set before.
    SetTwice(String),
    /// Custom mechanisms of this kind cannot have such an option.
    CustomOption(&'static str),
    /// The instrument has no such event.
    Event(Unavailable),
}

/// Place where a factor is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NamingStyle {
    /// On the command line, by flags.
    Flags,
    /// In a study file, by keys.
    Keys,
}

impl NamingStyle {
    const fn name(self, factor: Factor) -> &'static str {
        match (self, factor) {
            // The short flags, which users usually type.
            (Self::Flags, Factor::Workload) => "-w",
            (Self::Flags, Factor::Mechanism) => "-m",
            (Self::Flags, factor) => factor.flag(),
            (Self::Keys, factor) => factor.key(),
        }
    }
}

/// Reason why no total can be calibrated if buffers are first touched in the timed region.
const SHORT_PHASES: &str =
    "without it, short calibration phases would cause all page faults before the clock starts";
/// Rule for options of custom mechanisms.
const CUSTOM_OPTION: &str = "takes a name without spaces, and values without control characters";

impl FactorError {
    /// Builds an error about `value` of `factor`.
    pub(crate) fn new(factor: Factor, value: &str, reason: Reason) -> Self {
        Self { factor, option: None, value: shorten(value), reason }
    }

    /// Builds an error about a `word` that is not one of the `known` ones.
    pub(crate) fn unknown<'a>(
        factor: Factor,
        word: &str,
        known: impl Iterator<Item = &'a str> + Clone,
    ) -> Self {
        Self::new(factor, word, Reason::Unknown(suggestion(word, known)))
    }

    /// Attributes the error to `option`.
    pub(crate) fn with_option(self, option: &str) -> Self {
        Self { option: Some(option.to_owned()), ..self }
    }

    /// Returns a description of the error that names factors by the keys of a study file.
    #[must_use]
    pub fn reason_by_keys(&self) -> String {
        self.reason(NamingStyle::Keys)
    }

    /// Returns a hint that names factors by the keys of a study file.
    #[must_use]
    pub fn remedy_by_keys(&self) -> String {
        match &self.reason {
            Reason::Missing => "name at least one".to_owned(),
            Reason::Unknown(remedy) | Reason::UnknownOption(_, remedy) => remedy.clone(),
            Reason::NoOptions(_) => "leave it out".to_owned(),
            Reason::Takes(what) => format!("{} takes {what}", self.subject(NamingStyle::Keys)),
            Reason::Rule(rule) => (*rule).to_owned(),
            Reason::MustBe(what) => format!("it must be {what}"),
            Reason::Size(error) => {
                format!("{}{}", self.alternatives(NamingStyle::Keys), error.remedy())
            }
            Reason::Rate(error) => error.remedy(),
            Reason::TooMany(_, most) => format!("the maximum is {most}"),
            Reason::Path(_) => "use another path".to_owned(),
            Reason::IsFor(other, levels) => {
                let level = levels.first().copied().unwrap_or_default();
                format!("write {} = \"{level}\", or leave it out", other.key())
            }
            Reason::Without(flag) => format!("leave out {}", flag.trim_start_matches('-')),
            Reason::NeedsTotal => format!("add total = \"16MiB\": {SHORT_PHASES}"),
            Reason::NeedsRate => "add rate = \"10k\"".to_owned(),
            Reason::NotWith(_, instead) => format!("use {}", instead.key()),
            Reason::NotMeasured(name) => {
                format!("add {name} to mechanism, or leave the option out")
            }
            Reason::NoneMeasured(kind) => {
                format!("add {kind}:FILE to mechanism, or leave the option out")
            }
            Reason::SetTwice(_) => "set it once".to_owned(),
            Reason::CustomOption(kind) => format!("{kind}.NAME {CUSTOM_OPTION}"),
            Reason::Event(why) => why.remedy.clone(),
        }
    }

    /// Returns a description of the error without a hint.
    fn reason(&self, names: NamingStyle) -> String {
        let (value, name_of) = (&self.value, |factor| names.name(factor));
        match (&self.reason, names) {
            (Reason::Missing, _) => format!("{} is missing", name_of(self.factor)),
            (Reason::Unknown(_), _) => self.unknown_value(names),
            (Reason::UnknownOption(mechanism, _), _) => {
                format!("the mechanism {mechanism} has no option `{value}`")
            }
            (Reason::NoOptions(mechanism), _) => {
                format!("the mechanism {mechanism} has no options")
            }
            (
                Reason::Takes(_) | Reason::Rule(_) | Reason::MustBe(_) | Reason::CustomOption(_),
                _,
            ) => {
                format!("invalid value `{value}`")
            }
            (Reason::Size(error), _) => error.reason(),
            (Reason::Rate(error), _) => error.reason(),
            (Reason::NeedsRate, _) if value.is_empty() => {
                format!("{} needs {}", name_of(self.factor), name_of(Factor::Rate))
            }
            (Reason::NeedsRate, _) => {
                format!("{} {value} needs {}", name_of(self.factor), name_of(Factor::Rate))
            }
            (Reason::NotWith(other, _), _) => {
                format!("{} does not apply with {}", name_of(self.factor), name_of(*other))
            }
            (Reason::TooMany(count, _), _) => format!("{count} values"),
            (Reason::Path(why), _) => format!("mechanism `{value}`: {why}"),
            (Reason::IsFor(other, levels), _) => {
                let levels = levels.join(" or ");
                format!("{} requires {} {levels}", name_of(self.factor), name_of(*other))
            }
            (Reason::Without(flag), _) => {
                format!("{flag} does not apply to {} {value}", name_of(self.factor))
            }
            (Reason::NeedsTotal, _) => {
                format!("{} {value} needs {}", name_of(self.factor), name_of(Factor::Total))
            }
            (Reason::NotMeasured(name), NamingStyle::Flags) => {
                format!("--set names the mechanism {name}, but -m does not; add {name} to -m")
            }
            (Reason::NotMeasured(name), NamingStyle::Keys) => {
                format!("this is an option of {name}, which is not measured")
            }
            (Reason::NoneMeasured(kind), NamingStyle::Flags) => {
                format!("--set {kind}.NAME needs a mechanism {kind}:FILE in -m")
            }
            (Reason::NoneMeasured(kind), NamingStyle::Keys) => {
                format!("this is an option of {kind}: mechanisms, which are not measured")
            }
            (Reason::SetTwice(option), _) => format!("{option} is set twice"),
            (Reason::Event(why), _) => why.reason.clone(),
        }
    }

    /// Returns a description of a value that is not one of the known words.
    fn unknown_value(&self, names: NamingStyle) -> String {
        let value = &self.value;
        match (&self.option, self.factor) {
            (Some(option), Factor::MechanismOption) => {
                format!("unknown value `{value}` of {option}")
            }
            (_, factor @ (Factor::Touch | Factor::Buffers | Factor::FirstTouch)) => {
                format!("unknown value `{value}` of {}", names.name(factor))
            }
            (_, factor) => format!("unknown {} `{value}`", factor.key()),
        }
    }

    /// Returns the name of the option, or of the factor, that has the error.
    fn subject(&self, names: NamingStyle) -> &str {
        match (&self.option, names) {
            (Some(option), _) => option,
            (None, NamingStyle::Flags) => self.factor.flag(),
            (None, NamingStyle::Keys) => self.factor.key(),
        }
    }

    /// Returns the words that a factor accepts besides sizes, as a prefix for an error about a size.
    fn alternatives(&self, names: NamingStyle) -> String {
        let others = match self.factor {
            Factor::KernelBuffer => "default, match",
            Factor::Reply => "echo",
            _ => return String::new(),
        };
        format!("{} takes {others} or a size: ", self.subject(names))
    }
}

/// Formats the message of the command line, which names flags.
impl fmt::Display for FactorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (subject, value) = (self.subject(NamingStyle::Flags), &self.value);
        let reason = self.reason(NamingStyle::Flags);
        match &self.reason {
            Reason::Takes(what) => write!(f, "{subject} takes {what}, not `{value}`"),
            Reason::Rule(rule) => write!(f, "{subject}: {rule}, not `{value}`"),
            Reason::MustBe(what) => write!(f, "{subject} must be {what}, not `{value}`"),
            Reason::Size(error) => match &*self.alternatives(NamingStyle::Flags) {
                "" => write!(f, "{subject}: {error}"),
                alternatives => write!(f, "{alternatives}{error}"),
            },
            Reason::Rate(error) => write!(f, "{subject}: {error}"),
            Reason::NeedsRate => write!(f, "{reason}, such as {} 10k", Factor::Rate.flag()),
            Reason::NotWith(_, instead) => write!(f, "{reason}; use {}", instead.flag()),
            Reason::CustomOption(kind) => {
                write!(f, "--set {kind}.NAME=VALUES {CUSTOM_OPTION}")
            }
            Reason::NeedsTotal => write!(f, "{reason}: {SHORT_PHASES}"),
            Reason::TooMany(_, most) => write!(f, "{subject}: {reason}; the maximum is {most}"),
            Reason::Event(why) => write!(f, "{subject}: {}; {}", why.reason, why.remedy),
            Reason::Unknown(remedy) | Reason::UnknownOption(_, remedy) => {
                write!(f, "{reason}; {remedy}")
            }
            Reason::Missing
            | Reason::NoOptions(_)
            | Reason::Path(_)
            | Reason::IsFor(..)
            | Reason::Without(_)
            | Reason::NotMeasured(_)
            | Reason::NoneMeasured(_)
            | Reason::SetTwice(_) => f.write_str(&reason),
        }
    }
}

impl std::error::Error for FactorError {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::typed::{OptionSetting, TypedLevels, TypedRequest};
    use crate::{CustomFiles, ParsedRequest, TypedMessageOptions};

    const fn text(text: &str) -> Option<TypedLevels<'_>> {
        Some(TypedLevels::Text(text))
    }

    fn typed() -> TypedRequest<'static> {
        TypedRequest {
            mechanisms: text("pipe"),
            custom_files: CustomFiles::Skip,
            ..TypedRequest::default()
        }
    }

    /// Checks the messages of the single error of `typed`, for the command line and for a study file.
    #[track_caller]
    fn assert_told(typed: &TypedRequest<'_>, line: &str, wrong: &str, right: &str) {
        let errors = ParsedRequest::parse(typed).errors();
        let [error] = &errors[..] else { panic!("one error: {errors:?}") };
        assert_eq!(error.to_string(), line);
        assert_eq!((&*error.reason_by_keys(), &*error.remedy_by_keys()), (wrong, right));
    }

    #[test]
    fn what_is_wrong_and_what_would_be_right_are_apart() {
        assert_told(
            &TypedRequest { buffers: text("0"), ..typed() },
            "--buffer: a size must be at least 1 byte, not `0`",
            "invalid value `0`",
            "a size must be at least 1 byte",
        );
        assert_told(
            &TypedRequest { modes: text("2pro"), ..typed() },
            "unknown mode `2pro`; did you mean `2proc`?",
            "unknown mode `2pro`",
            "did you mean `2proc`?",
        );
        assert_told(
            &TypedRequest { buffers: text("64..1"), ..typed() },
            "--buffer: range `64..1` ends before it starts; write the smaller size first",
            "range `64..1` ends before it starts",
            "write the smaller size first",
        );
        assert_told(
            &TypedRequest { attempts: Some(0), ..typed() },
            "--attempts must be at least 1, not `0`",
            "invalid value `0`",
            "it must be at least 1",
        );
    }

    #[test]
    fn options_are_named_as_they_were_given() {
        let with =
            |set| TypedRequest { options: vec![OptionSetting::parse(set).unwrap()], ..typed() };
        assert_told(
            &with("tcp.nodelay=on"),
            "--set names the mechanism tcp, but -m does not; add tcp to -m",
            "this is an option of tcp, which is not measured",
            "add tcp to mechanism, or leave the option out",
        );
        assert_told(
            &with("pipe.capacity=0"),
            "pipe.capacity: a size must be at least 1 byte, not `0`",
            "invalid value `0`",
            "a size must be at least 1 byte",
        );
        let bare = TypedRequest { mechanisms: text("null"), ..with("null.x=1") };
        let none = "the mechanism null has no options";
        assert_told(&bare, none, none, "leave it out");
        let errors = ParsedRequest::parse(&bare).errors();
        assert_eq!(errors[0].option.as_deref(), Some("null.x"));
    }

    #[test]
    fn message_options_are_named_by_flag_or_key() {
        let with = |message_options| TypedRequest { message_options, ..typed() };
        let usual = TypedMessageOptions::default();
        assert_told(
            &with(TypedMessageOptions { touch: text("boht"), ..usual }),
            "unknown value `boht` of --touch; did you mean `both`?",
            "unknown value `boht` of touch",
            "did you mean `both`?",
        );
        assert_told(
            &with(TypedMessageOptions { reply: text("8"), ..usual }),
            "--reply requires -w request-reply or server",
            "reply requires workload request-reply or server",
            "write workload = \"request-reply\", or leave it out",
        );
        assert_told(
            &with(TypedMessageOptions { payload: text("compressible:0"), ..usual }),
            "--payload: compressible:R takes a factor of 1 to 100, such as compressible:4, not `0`",
            "invalid value `0`",
            "compressible:R takes a factor of 1 to 100, such as compressible:4",
        );
    }

    #[test]
    fn a_factor_that_takes_more_than_sizes_says_so() {
        let sizes = "write a whole number of bytes, such as 64, or one with KiB, MiB, GiB, TiB, kB, MB, GB or TB";
        assert_told(
            &TypedRequest { kernel_buffers: text("some"), ..typed() },
            &format!(
                "--kernel-buffer takes default, match or a size: `some` is not a size; {sizes}"
            ),
            "`some` is not a size",
            &format!("kernel_buffer takes default, match or a size: {sizes}"),
        );
    }

    /// A factor that could not be parsed must not cause errors in other factors.
    #[test]
    fn all_that_is_wrong_is_told_at_once_and_each_once() {
        let message_options = TypedMessageOptions {
            first_touch: text("timed"),
            reply: text("8"),
            ..TypedMessageOptions::default()
        };
        let (workloads, total) = (text("request-repyl"), text("lots"));
        let both = TypedRequest { workloads, total, message_options, modes: text("x"), ..typed() };
        let errors = ParsedRequest::parse(&both).errors();
        let factors: Vec<Factor> = errors.iter().map(|error| error.factor).collect();
        assert_eq!(factors, [Factor::Workload, Factor::Total, Factor::Mode]);
        let typed = TypedRequest { workloads: None, total: None, modes: None, ..both };
        let errors = ParsedRequest::parse(&typed).errors();
        let factors: Vec<Factor> = errors.iter().map(|error| error.factor).collect();
        assert_eq!(factors, [Factor::Reply, Factor::FirstTouch]);
    }
}
