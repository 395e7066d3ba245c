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
    let cut = word.char_indices().nth(LONGEST_NEAR).map(|(end, _)| format!("{}...", &word[..end]));
    let word = cut.as_deref().unwrap_or(word);
    match nearest(word, known.clone()) {
        Some(nearest) => format!("unknown {what} `{word}`; did you mean `{nearest}`?"),
        None => {
            let known: Vec<&str> = known.collect();
            format!("unknown {what} `{word}`; known are {}", known.join(", "))
        }
    }
}

/// From 0 to 1. One slip of the fingers is always near, also in a word of three letters.
fn similarity(word: &str, known: &str) -> f64 {
    if strsim::osa_distance(word, known) == 1 { 1.0 } else { strsim::jaro_winkler(word, known) }
}
