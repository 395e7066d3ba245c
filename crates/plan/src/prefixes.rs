//! Parses the commands in front of the programs of mode 2exec.

use ipcperf_model::prefixes::{Prefixes, split_words};
use ipcperf_model::{Gate, Mode, RunSpec};

use crate::factor::Factor;
use crate::factor_error::{FactorError, Reason};
use crate::typed::{TypedLevels, TypedPrefixes};

/// Level that stands for no command.
const NONE: &str = Factor::SenderPrefix.default_text();

/// Commands, each setting parsed separately.
#[derive(Debug)]
pub(super) struct ParsedPrefixes {
    senders: Result<Vec<Option<String>>, FactorError>,
    receivers: Result<Vec<Option<String>>, FactorError>,
    /// Settings that were given.
    given: [Option<Factor>; 2],
}

impl TypedPrefixes<'_> {
    pub(super) fn parse(&self) -> ParsedPrefixes {
        let (sender, receiver) = (Factor::SenderPrefix, Factor::ReceiverPrefix);
        ParsedPrefixes {
            senders: parse(sender, self.sender),
            receivers: parse(receiver, self.receiver),
            given: [self.sender.map(|_| sender), self.receiver.map(|_| receiver)],
        }
    }
}

/// Parses the levels of `factor`. A command may contain commas, so each text is one level.
fn parse(
    factor: Factor,
    levels: Option<TypedLevels<'_>>,
) -> Result<Vec<Option<String>>, FactorError> {
    let Some(levels) = levels else { return Ok(vec![None]) };
    let parse = |text: &str| match text.trim() {
        NONE => Ok(None),
        command if split_words(command).is_some() => Ok(Some(command.to_owned())),
        other => {
            let takes = "a command without control characters, such as 'chrt -f 50', or none";
            Err(FactorError::new(factor, other, Reason::Takes(takes.to_owned())))
        }
    };
    let mut commands: Vec<Option<String>> = Vec::new();
    for command in levels.texts().into_iter().map(parse) {
        let command = command?;
        if !commands.contains(&command) {
            commands.push(command);
        }
    }
    Ok(commands)
}

impl ParsedPrefixes {
    /// Returns the settings that could not be parsed.
    pub(super) fn errors(&self) -> impl Iterator<Item = &FactorError> {
        [self.senders.as_ref().err(), self.receivers.as_ref().err()].into_iter().flatten()
    }

    /// Returns the settings that none of `modes` uses.
    pub(super) fn contradictions(&self, modes: &[Mode]) -> Vec<FactorError> {
        if modes.contains(&Mode::TwoPrograms) {
            return Vec::new();
        }
        let needs = || Reason::IsFor(Factor::Mode, vec![Mode::TwoPrograms.name()]);
        self.given.iter().flatten().map(|&factor| FactorError::new(factor, "", needs())).collect()
    }

    /// Returns every combination of the commands, for cases in mode 2exec.
    ///
    /// # Errors
    /// Returns the first setting that could not be parsed.
    pub(super) fn combine(self) -> Result<Vec<Prefixes>, FactorError> {
        let (senders, receivers) = (self.senders?, self.receivers?);
        let pairs = senders.iter().flat_map(|sender| {
            receivers
                .iter()
                .map(|receiver| Prefixes { sender: sender.clone(), receiver: receiver.clone() })
        });
        Ok(pairs.collect())
    }
}

/// Returns the levels of `prefixes` for `mode`: one without commands if its peers are not separate programs.
pub(super) fn levels(prefixes: &[Prefixes], mode: Mode) -> Vec<Prefixes> {
    match mode {
        Mode::TwoPrograms => prefixes.to_vec(),
        _ => vec![Prefixes::default()],
    }
}

/// Checks the mode of a stored specification.
pub(super) fn check_stored(spec: &RunSpec) -> Result<(), String> {
    let commands = [&spec.prefixes.sender, &spec.prefixes.receiver];
    let mut commands = commands.into_iter().flatten();
    let are_valid = commands.all(|one| one != NONE && split_words(one).is_some());
    let is_valid = match spec.mode {
        Mode::TwoPrograms => are_valid && spec.gate == Gate::Open,
        _ => spec.prefixes.is_empty(),
    };
    if is_valid {
        Ok(())
    } else {
        Err("the commands of the peers could not have been requested".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(senders: &[&str], receivers: &[&str]) -> ParsedPrefixes {
        let [senders, receivers] = [senders, receivers]
            .map(|list| list.iter().map(|&one| one.to_owned()).collect::<Vec<_>>());
        let levels =
            |items: &'static [String]| (!items.is_empty()).then_some(TypedLevels::Items(items));
        let [sender, receiver] = [senders, receivers].map(|list| levels(list.leak()));
        TypedPrefixes { sender, receiver }.parse()
    }

    #[test]
    fn every_combination_is_a_level_of_mode_2exec_alone() {
        let all = parsed(&["none", "chrt -f 50", "chrt -f 50"], &["nice -n 5"]).combine().unwrap();
        let receiver = Some("nice -n 5".to_owned());
        let sender = Some("chrt -f 50".to_owned());
        let expected =
            [Prefixes { sender: None, receiver: receiver.clone() }, Prefixes { sender, receiver }];
        assert_eq!(all, expected);
        assert_eq!(levels(&all, Mode::TwoPrograms), expected);
        assert_eq!(levels(&all, Mode::TwoProcesses), [Prefixes::default()]);
        assert_eq!(parsed(&[], &[]).combine().unwrap(), [Prefixes::default()]);
    }

    #[test]
    fn mistakes_are_named() {
        for wrong in ["", "'open", "a\nb", " "] {
            let error = parsed(&[wrong], &[]).combine().unwrap_err().to_string();
            assert!(error.contains("--sender-prefix takes a command"), "{error}");
        }
        let unused = parsed(&["nice"], &["nice"]).contradictions(&[Mode::TwoProcesses]);
        let words: Vec<String> = unused.iter().map(ToString::to_string).collect();
        assert_eq!(
            words,
            ["--sender-prefix requires --mode 2exec", "--receiver-prefix requires --mode 2exec"]
        );
        assert!(parsed(&["nice"], &[]).contradictions(&[Mode::TwoPrograms]).is_empty());
    }
}
