//! Units of the options of mechanisms.

use ipcperf_engine::channel::OptionValues;
use ipcperf_engine::mechanism::MECHANISMS;

/// Whether `option` of the mechanism `name` takes sizes. Options of custom mechanisms are taken as they are typed.
pub fn takes_sizes(name: &str, option: &str) -> bool {
    let mechanism = MECHANISMS.iter().find(|known| known.name == name);
    let options = mechanism.map_or(&[][..], |known| known.options);
    let spec = options.iter().find(|spec| spec.name == option);
    spec.is_some_and(|spec| matches!(spec.values, OptionValues::Bytes | OptionValues::BytesOr(_)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_told_from_numbers_by_what_the_option_takes() {
        assert!(takes_sizes("pipe", "capacity"));
        assert!(!takes_sizes("dgram-fds", "fds"));
        assert!(!takes_sizes("exec", "capacity"), "only the program knows what it takes");
    }
}
