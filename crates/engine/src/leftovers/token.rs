//! Random part of a run's names.

use std::{fmt, io};

use ipcperf_model::peers::MAX_PEERS;
use serde::{Deserialize, Serialize};

use crate::platform::random;

/// Length of a token's text: 26 characters of 5 bits hold 128 bits.
const CHARACTERS: u32 = 26;
/// Alphabet of RFC 4648 (base 32) in lower case: safe in a file name on every file system.
const ALPHABET: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
/// Number of System V keys of a run: a mechanism creates at most one object of a kind for each connection, and a few keys may
/// be in use by another user.
const KEYS: u64 = MAX_PEERS as u64 + 3;

/// 128 random bits from which all names of one run are derived. No other user can guess a name and create it first. The
/// text has 26 characters, because the path of a socket has at most 107 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RunToken(u128);

impl RunToken {
    /// Draws a token from the kernel's random number generator.
    ///
    /// # Errors
    /// Returns an error if the kernel or a seccomp filter refuses getrandom.
    pub fn random() -> io::Result<Self> {
        let mut bytes = [0_u8; 16];
        random::fill(&mut bytes)?;
        Ok(Self(u128::from_ne_bytes(bytes)))
    }

    /// Parses the text form; returns `None` for any other text.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        if text.len() != CHARACTERS as usize {
            return None;
        }
        text.bytes()
            .try_fold(0_u128, |value, byte| {
                let digit = ALPHABET.iter().position(|&one| one == byte)?;
                // The first character has only 3 bits.
                value.checked_mul(32)?.checked_add(digit as u128)
            })
            .map(Self)
    }

    /// System V keys of the run, in the order in which they are tried.
    pub fn system_v_keys(self) -> impl Iterator<Item = i32> {
        (0..KEYS).map(move |index| self.key(index))
    }

    /// The truncations are intended: they take halves of the token, and a key of 32 bits.
    #[allow(clippy::cast_possible_truncation)]
    fn key(self, index: u64) -> i32 {
        let (high, low) = ((self.0 >> 64) as u64, self.0 as u64);
        let key = (splitmix64(high ^ splitmix64(low.wrapping_add(index))) as u32).cast_signed();
        // 0 is IPC_PRIVATE, under which no object can be found.
        if key == 0 { 1 } else { key }
    }
}

/// Finalizer of splitmix64: every bit of the result depends on every bit of `value`.
fn splitmix64(value: u64) -> u64 {
    let value = value.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    value ^ (value >> 31)
}

impl fmt::Display for RunToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digit =
            |place: u32| ALPHABET[usize::try_from((self.0 >> (5 * place)) & 31).unwrap_or(0)];
        let text: String = (0..CHARACTERS).rev().map(|place| char::from(digit(place))).collect();
        f.write_str(&text)
    }
}

impl From<RunToken> for String {
    fn from(token: RunToken) -> Self {
        token.to_string()
    }
}

impl TryFrom<String> for RunToken {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Self::parse(&text).ok_or_else(|| format!("`{text}` is not the token of a run"))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_text_of_a_token_is_read_back() {
        for value in [0, 1, u128::MAX, 1 << 127, 0x0123_4567_89AB_CDEF] {
            let text = RunToken(value).to_string();
            assert_eq!(text.len(), 26);
            assert_eq!(RunToken::parse(&text), Some(RunToken(value)));
        }
        let drawn = RunToken::random().unwrap();
        let json = serde_json::to_string(&drawn).unwrap();
        assert_eq!(serde_json::from_str::<RunToken>(&json).unwrap(), drawn);
    }

    #[test]
    fn nothing_else_is_taken_for_a_token() {
        let long = "a".repeat(27);
        let too_large = format!("i{}", "a".repeat(25));
        for text in ["", "a", "../../../../../etc/passwd0", &long, &too_large, &"A".repeat(26)] {
            assert_eq!(RunToken::parse(text), None, "{text}");
        }
    }

    #[test]
    fn no_two_tokens_and_no_two_keys_are_alike() {
        let tokens: Vec<RunToken> = (0..4).map(|_| RunToken::random().unwrap()).collect();
        let texts: BTreeSet<String> = tokens.iter().map(RunToken::to_string).collect();
        let keys: BTreeSet<i32> = tokens.iter().flat_map(|token| token.system_v_keys()).collect();
        assert_eq!(texts.len(), 4);
        // Among some 270 keys of 32 bits, two are equal once in 100,000 draws.
        let all = 4 * usize::try_from(KEYS).unwrap();
        assert!(keys.len() >= all - 2 && !keys.contains(&0), "{}", keys.len());
    }
}
