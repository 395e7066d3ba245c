//! Suggestions for mistyped words.

/// Minimum similarity (Jaro-Winkler) of a suggestion; less similar words would only puzzle the user.
const MIN_SIMILARITY: f64 = 0.7;

/// Maximum length of a word that gets a suggestion: longer words resemble nothing, and comparing them takes long.
const MAX_WORD_CHARS: usize = 100;

/// Words of other programs, each with a known word for the same thing. The known word is suggested only where it is
/// valid.
const ALIASES: [(&str, &str); 6] = [
    ("perf", "counters"),
    ("perf", "profile"),
    ("--buffer-size", "--buffer"),
    ("--buffersize", "--buffer"),
    ("--message-size", "--buffer"),
    ("--size", "--buffer"),
];

/// Returns the known word that is nearest to `word`, if one is similar enough.
pub fn nearest<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    if word.len() > MAX_WORD_CHARS {
        return None;
    }
    known
        .map(|candidate| (similarity(word, candidate), candidate))
        .filter(|(similarity, _)| *similarity >= MIN_SIMILARITY)
        .max_by(|one, other| one.0.total_cmp(&other.0))
        .map(|(_, nearest)| nearest)
}

/// Returns the error message for an unknown word, with the nearest known word.
pub fn unknown_word<'a>(
    what: &str,
    word: &str,
    known: impl Iterator<Item = &'a str> + Clone,
) -> String {
    format!("unknown {what} `{}`; {}", shorten(word), suggestion(word, known))
}

/// Returns the hint for the unknown `word`: the related known words, or else the nearest known word, or else all known
/// words.
pub fn suggestion<'a>(word: &str, known: impl Iterator<Item = &'a str> + Clone) -> String {
    similar_words(word, known.clone())
        .unwrap_or_else(|| format!("expected one of {}", known.collect::<Vec<_>>().join(", ")))
}

/// Returns the hint with the known words that are related to the unknown `word`, or else with the nearest known word.
/// `None` if no known word is similar enough.
pub fn similar_words<'a>(
    word: &str,
    known: impl Iterator<Item = &'a str> + Clone,
) -> Option<String> {
    let related = related_words(word, known.clone());
    related.or_else(|| nearest(word, known).map(|nearest| did_you_mean(&[nearest])))
}

/// Returns the hint with the known words that are related to the unknown `word`. `None` if there are none.
pub fn related_words<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> Option<String> {
    let related: Vec<&str> = known.filter(|known| is_related(word, known)).collect();
    (!related.is_empty()).then(|| did_you_mean(&related))
}

/// Whether `word` is the first or the last part of the `known` word (`unix` or `dgram` of `unix-dgram`), or an alias of
/// it.
fn is_related(word: &str, known: &str) -> bool {
    // `-` is not a part of every option.
    let is_part = word.ends_with(char::is_alphanumeric)
        && (known.strip_prefix(word).is_some_and(|rest| rest.starts_with('-'))
            || known.strip_suffix(word).is_some_and(|rest| rest.ends_with('-')));
    is_part || ALIASES.contains(&(word, known))
}

fn did_you_mean(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    let one_of = if words.len() > 1 { "one of " } else { "" };
    format!("did you mean {one_of}{}?", quoted.join(", "))
}

/// Returns the start of `word`, or the whole word if it is short enough to quote.
#[must_use]
pub fn shorten(word: &str) -> String {
    match word.char_indices().nth(MAX_WORD_CHARS) {
        Some((end, _)) => format!("{}...", &word[..end]),
        None => word.to_owned(),
    }
}

/// Similarity from 0 to 1. A single typing error always counts as similar, even in a word of three letters.
fn similarity(word: &str, known: &str) -> f64 {
    if strsim::osa_distance(word, known) == 1 { 1.0 } else { strsim::jaro_winkler(word, known) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_family_is_listed_a_near_word_suggested_and_else_all_are_named() {
        let known = ["pipe", "unix-stream", "unix-dgram", "tcp"];
        let hint = |word| suggestion(word, known.into_iter());
        assert_eq!(hint("unix"), "did you mean one of `unix-stream`, `unix-dgram`?");
        assert_eq!(hint("pip"), "did you mean `pipe`?");
        assert_eq!(hint("zzz"), "expected one of pipe, unix-stream, unix-dgram, tcp");
        assert_eq!(hint(""), hint("zzz").as_str());
    }

    #[test]
    fn the_last_part_of_a_word_is_enough() {
        let known = ["mmap-queue", "posix-mq", "sysv-mq"];
        let hint = |word| suggestion(word, known.into_iter());
        assert_eq!(hint("mq"), "did you mean one of `posix-mq`, `sysv-mq`?");
        assert_eq!(hint("queue"), "did you mean `mmap-queue`?");
    }

    #[test]
    fn a_word_of_another_program_gets_the_words_that_are_valid_here() {
        let instruments = suggestion("perf", ["rusage", "counters", "profile"].into_iter());
        assert_eq!(instruments, "did you mean one of `counters`, `profile`?");
        let option = related_words("--size", ["--buffer", "--buffers"].into_iter());
        assert_eq!(option.as_deref(), Some("did you mean `--buffer`?"));
        for word in ["", "-", "--"] {
            assert_eq!(related_words(word, ["--buffer", "unix-dgram"].into_iter()), None);
        }
    }
}
