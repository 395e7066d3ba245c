//! `ipcperf completions`: scripts that make a shell complete commands, flags and names.

use clap::CommandFactory as _;

use super::arguments::{Arguments, CompletionsArguments};
use crate::error::{Error, ExitStatus};
use crate::printing::print_with;

pub(super) fn completions(arguments: &CompletionsArguments) -> Result<ExitStatus, Error> {
    let mut command = Arguments::command();
    let name = command.get_name().to_owned();
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut command, name, &mut script);
    print_with(|out| out.write_all(&script))
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum as _;
    use clap_complete::Shell;

    use super::*;

    /// Returns every command and every long flag of the command line.
    fn commands_and_flags() -> Vec<String> {
        let mut all = Arguments::command();
        all.build();
        let commands = all.get_subcommands().map(|command| command.get_name().to_owned());
        let flags = all.get_subcommands().flat_map(clap::Command::get_arguments);
        let flags = flags.filter_map(|flag| flag.get_long().map(str::to_owned));
        commands.chain(flags).collect()
    }

    #[test]
    fn every_shell_is_offered_every_command_and_flag_and_the_names_of_the_registries() {
        assert!(
            commands_and_flags().contains(&"until-ci".to_owned()),
            "{:?}",
            commands_and_flags()
        );
        for shell in Shell::value_variants() {
            let mut script = Vec::new();
            clap_complete::generate(*shell, &mut Arguments::command(), "ipcperf", &mut script);
            let script = String::from_utf8(script).unwrap();
            for word in commands_and_flags() {
                assert!(script.contains(&word), "{shell}: no {word}");
            }
            // Completions for Elvish and PowerShell have commands and flags, but not values of flags.
            if matches!(shell, Shell::Bash | Shell::Zsh | Shell::Fish) {
                for name in ["unix-seqpacket", "round-trip", "2thread", "numa", "csv-runs"] {
                    assert!(script.contains(name), "{shell}: no {name}");
                }
            }
        }
    }
}
