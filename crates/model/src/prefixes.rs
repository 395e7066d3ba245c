//! Commands that start the peers of a run in separate programs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Condition, ConditionValue, Role};

/// Commands in front of the programs of the peers, such as `chrt -f 50`, in the words of a shell.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Prefixes {
    /// Command in front of the senders' programs; null for none.
    pub sender: Option<String>,
    /// Command in front of the receivers' programs; null for none.
    pub receiver: Option<String>,
}

impl Prefixes {
    /// Whether no program has a command.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.sender.is_none() && self.receiver.is_none()
    }

    /// Returns the command in front of the program of `role`.
    #[must_use]
    pub fn for_role(&self, role: Role) -> Option<&str> {
        match role {
            Role::Receiver => self.receiver.as_deref(),
            _ => self.sender.as_deref(),
        }
    }

    /// Returns the commands, with the flags that set them.
    #[must_use]
    pub fn conditions(&self) -> Vec<Condition> {
        let condition = |flag, command: &Option<String>| {
            Some(Condition { flag, value: ConditionValue::Word(command.clone()?) })
        };
        let sender = condition("sender-prefix", &self.sender);
        sender.into_iter().chain(condition("receiver-prefix", &self.receiver)).collect()
    }
}

/// Splits a command into words, as a shell does, but expands nothing. Returns `None` if it has no word, a quote is open, or a
/// character cannot be part of a line.
#[must_use]
pub fn split_words(command: &str) -> Option<Vec<String>> {
    if command.chars().any(char::is_control) {
        return None;
    }
    shlex::split(command).filter(|words| !words.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_split_as_by_a_shell() {
        let words = |command| split_words(command).unwrap();
        assert_eq!(words("chrt -f  50"), ["chrt", "-f", "50"]);
        assert_eq!(words("env A='b c' \"d e\" $HOME"), ["env", "A=b c", "d e", "$HOME"]);
        for wrong in ["", "  ", "'open", "a\nb", "a\u{7}b"] {
            assert_eq!(split_words(wrong), None, "{wrong:?}");
        }
    }
}
