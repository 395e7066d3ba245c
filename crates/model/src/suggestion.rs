//! What somebody may have meant who mistyped a word.

/// Below this similarity (Jaro-Winkler) a suggestion would only puzzle.
const SIMILAR: f64 = 0.7;

/// Words longer than this are near nothing, and comparing them would take long.
const LONGEST_NEAR: usize = 100;

/// The known word that is nearest to `word`, where one is near.
pub fn nearest<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    if word.len() > LONGEST_NEAR {
        return None;
    }
    known
        .map(|candidate| (similarity(word, candidate), candidate))
        .filter(|(similarity, _)| *similarity >= SIMILAR)
        .max_by(|one, other| one.0.total_cmp(&other.0))
        .map(|(_, nearest)| nearest)
}

/// The error for a word that is not known, with the nearest that is.
pub fn unknown_word<'a>(
    what: &str,
    word: &str,
    known: impl Iterator<Item = &'a str> + Clone,
) -> String {
    format!("unknown {what} `{}`; {}", shortened(word), suggestion(word, known))
}

/// The remedy for `word`, which is not known: the nearest known word, or all of them where none is near.
pub fn suggestion<'a>(word: &str, known: impl Iterator<Item = &'a str> + Clone) -> String {
    match nearest(word, known.clone()) {
        Some(nearest) => format!("did you mean `{nearest}`?"),
        None => format!("known are {}", known.collect::<Vec<_>>().join(", ")),
    }
}

/// The start of `word`, or all of it where it is short enough to be quoted.
#[must_use]
pub fn shortened(word: &str) -> String {
    match word.char_indices().nth(LONGEST_NEAR) {
        Some((end, _)) => format!("{}...", &word[..end]),
        None => word.to_owned(),
    }
}

/// From 0 to 1. One slip of the fingers is always near, also in a word of three letters.
fn similarity(word: &str, known: &str) -> f64 {
    if strsim::osa_distance(word, known) == 1 { 1.0 } else { strsim::jaro_winkler(word, known) }
}
