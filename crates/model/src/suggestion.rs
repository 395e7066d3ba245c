//! Suggestions for mistyped words.

/// Minimum similarity (Jaro-Winkler) of a suggestion; less similar words would only puzzle the user.
const MIN_SIMILARITY: f64 = 0.7;

/// Maximum length of a word that gets a suggestion: longer words resemble nothing, and comparing them takes long.
const MAX_WORD_CHARS: usize = 100;

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

/// Returns the hint for the unknown `word`: the known words of its family, or else the nearest known word, or else all
/// known words.
pub fn suggestion<'a>(word: &str, known: impl Iterator<Item = &'a str> + Clone) -> String {
    similar_words(word, known.clone())
        .unwrap_or_else(|| format!("expected one of {}", known.collect::<Vec<_>>().join(", ")))
}

/// Returns the hint with the known words of the family of the unknown `word`, or else with the nearest known word.
/// `None` if no known word is similar enough.
pub fn similar_words<'a>(
    word: &str,
    known: impl Iterator<Item = &'a str> + Clone,
) -> Option<String> {
    let family = family(word, known.clone());
    if family.len() > 1 {
        return Some(format!("did you mean one of {}?", family.join(", ")));
    }
    nearest(word, known).map(|nearest| format!("did you mean `{nearest}`?"))
}

/// Returns the known words that consist of `word`, a hyphen and more, in backticks: `unix-stream` and `unix-dgram` for
/// `unix`.
fn family<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> Vec<String> {
    let is_in_family = |known: &&str| {
        !word.is_empty() && known.strip_prefix(word).is_some_and(|rest| rest.starts_with('-'))
    };
    known.filter(is_in_family).map(|known| format!("`{known}`")).collect()
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
}
