//! Values of a mechanism's options as text, for lists, manuals and the documentation.

use ipcperf_engine::channel::{OptionSpec, OptionValues};
use ipcperf_model::units;
use ipcperf_model::wait::Wait;

/// Returns the values that an option accepts, separated by `|`.
pub(crate) fn values_text(option: &OptionSpec) -> String {
    match &option.values {
        OptionValues::OneOf(words) => words.join("|"),
        OptionValues::Waits(words) => {
            let spins = words.contains(&Wait::Spin.word());
            let window = spins.then(|| format!("{}:DURATION", Wait::Spin));
            words.iter().map(|word| (*word).to_owned()).chain(window).collect::<Vec<_>>().join("|")
        }
        OptionValues::Choices(choices) => {
            choices.iter().map(|choice| choice.value).collect::<Vec<_>>().join("|")
        }
        OptionValues::Bytes => format!("{}|BYTES", option.default),
        OptionValues::BytesOr(words) => format!("{}|BYTES", words.join("|")),
        OptionValues::BytesUpTo(max) => {
            format!("{}|BYTES, at most {}", option.default, units::bytes(*max))
        }
        OptionValues::Number(range) => {
            let numbers = format!("{}..{}", range.start(), range.end());
            match option.default.parse::<u64>() {
                Ok(_) => numbers,
                Err(_) => format!("{}|{numbers}", option.default),
            }
        }
        OptionValues::Folder => format!("{}|FOLDER", option.default),
    }
}
