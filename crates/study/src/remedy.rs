//! What the parser of a request says of flags, said of the keys of a study's file: what is wrong, and apart
//! from it what would be right.

/// What is wrong, and the remedy, in `words` that speak of flags.
pub(super) fn apart(words: &str) -> (String, String) {
    let words = of_keys(words);
    let words = without_key(&words);
    let splits = [refused_value, second_half, elsewhere, of_option, of_range];
    let found = splits.into_iter().find_map(|split| split(words));
    found.unwrap_or_else(|| {
        (words.to_owned(), "see ipcperf run --help for what it may be".to_owned())
    })
}

/// Flags as keys: `--kernel-buffer` is `kernel_buffer`, `-w` is `workload`.
fn of_keys(words: &str) -> String {
    let word = |word: &str| match word {
        "-w" => "workload".to_owned(),
        "-m" => "mechanism".to_owned(),
        "--set" => "an option".to_owned(),
        flag => {
            flag.strip_prefix("--").map_or_else(|| flag.to_owned(), |key| key.replace('-', "_"))
        }
    };
    words.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

/// Without `KEY: ` before it, which is told as the place.
fn without_key(words: &str) -> &str {
    let is_key = |text: &str| {
        text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte))
    };
    match words.split_once(": ") {
        Some((key, rest)) if is_key(key) => rest,
        _ => words,
    }
}

/// `a size must be at least 1 byte, not X`.
fn refused_value(words: &str) -> Option<(String, String)> {
    let (right, wrong) = words.rsplit_once(", not ")?;
    Some((format!("it cannot be {wrong}"), right.to_owned()))
}

/// `what is wrong; what would be right`, and such with a colon.
fn second_half(words: &str) -> Option<(String, String)> {
    let parted = words.split_once("; ");
    let (wrong, right) = parted
        .or_else(|| parted_before(words, "use "))
        .or_else(|| parted_before(words, "write "))
        .or_else(|| parted_before(words, "a step "))
        .or_else(|| parted_before(words, "the short phases "))?;
    Some((wrong.to_owned(), right.to_owned()))
}

/// Parted at a colon, where `begin` comes after it.
fn parted_before<'w>(words: &'w str, begin: &str) -> Option<(&'w str, &'w str)> {
    let at = words.find(&format!(": {begin}"))?;
    Some((&words[..at], &words[at + 2..]))
}

/// `KEY is for OTHER WORD`.
fn elsewhere(words: &str) -> Option<(String, String)> {
    let (_, other) = words.split_once(" is for ")?;
    let (key, word) = other.split_once(' ')?;
    Some((words.to_owned(), format!("write {key} = \"{word}\", or leave it out")))
}

/// Options of what has none, or is not asked for.
fn of_option(words: &str) -> Option<(String, String)> {
    if words.ends_with("has no options") {
        return Some((words.to_owned(), "leave it out".to_owned()));
    }
    let (_, name) = words.split_once("an option names ")?;
    let name = name.split(',').next().unwrap_or(name);
    let remedy = format!("add {name} to mechanism, or leave the option out");
    Some((format!("{name} is not among the mechanisms"), remedy))
}

fn of_range(words: &str) -> Option<(String, String)> {
    let shape = if words.contains("a count") { "FROM..TO:COUNT" } else { "FROM..TO" };
    words.starts_with("range ").then(|| (words.to_owned(), format!("write {shape}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn assert_apart(words: &str, wrong: &str, right: &str) {
        assert_eq!(apart(words), (wrong.to_owned(), right.to_owned()));
    }

    #[test]
    fn what_is_wrong_and_what_would_be_right_are_told_apart() {
        assert_apart(
            "--buffer: a size must be at least 1 byte, not `0`",
            "it cannot be `0`",
            "a size must be at least 1 byte",
        );
        assert_apart(
            "unknown mode `2pro`; did you mean `2proc`?",
            "unknown mode `2pro`",
            "did you mean `2proc`?",
        );
        assert_apart(
            "--buffer: `64kib` is no size: use a whole number",
            "`64kib` is no size",
            "use a whole number",
        );
        assert_apart(
            "--reply is for -w request-reply",
            "reply is for workload request-reply",
            "write workload = \"request-reply\", or leave it out",
        );
        assert_apart(
            "--set names tcp, which -m does not",
            "tcp is not among the mechanisms",
            "add tcp to mechanism, or leave the option out",
        );
        assert_apart(
            "range `64..1` ends before it starts",
            "range `64..1` ends before it starts",
            "write FROM..TO",
        );
        assert_apart("udp has no options", "udp has no options", "leave it out");
    }

    #[test]
    fn words_of_another_shape_are_kept_whole() {
        assert_apart(
            "--until-ci must be above 0",
            "until_ci must be above 0",
            "see ipcperf run --help for what it may be",
        );
        assert_apart("", "", "see ipcperf run --help for what it may be");
    }
}
