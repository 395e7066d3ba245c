//! Compatibility programs, under their own names: `ipcperf compat PROGRAM ARGS...`, or a link of that name.
//!
//! ```text
//! the original's arguments -> RunSpec -> runner::SingleRunner -> the original's lines and exit codes
//! ```
//!
//! Each program is a thin layer: it measures in the same way as every other run. To add one, add a file here and a line
//! in [`PROGRAMS`].

mod comparison;
mod getopt;
mod install;
mod ipc;
mod lmbench;
mod program_exit;
mod program_runner;
mod rates;
mod send;

use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::Path;

pub(crate) use install::install;
use ipcperf_model::suggestion::unknown_word;

use crate::error::Error;
use crate::printing::{print_message, print_to};
use program_exit::ProgramExit;

/// A compatibility program, or a family of programs with the same arguments.
#[derive(Debug)]
pub(crate) struct Program {
    /// Names of the program.
    pub(crate) names: &'static [&'static str],
    /// Description and author, in one line.
    pub(crate) about: &'static str,
    /// Intended differences from the original.
    pub(crate) differences: &'static [&'static str],
    /// Returns the usage text for one of its names, which is also the message for wrong usage.
    pub(crate) usage: fn(&str) -> String,
    /// Runs the program.
    run: fn(&Invocation<'_>) -> Result<(), ProgramExit>,
}

/// All compatibility programs.
pub(crate) const PROGRAMS: &[Program] = &[
    ipc::STATIC,
    ipc::BENCHMARK,
    send::PROGRAM,
    rates::IBENCH,
    rates::KDBENCH,
    rates::BUS_BENCHMARK,
    comparison::PROGRAM,
    lmbench::LATENCIES,
    lmbench::BANDWIDTHS,
];

/// Name and arguments that a program was called with.
#[derive(Clone, Copy, Debug)]
struct Invocation<'a> {
    name: &'a str,
    arguments: &'a [OsString],
}

/// Returns the names of all programs.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    PROGRAMS.iter().flat_map(|program| program.names.iter().copied())
}

/// Returns the program with the name `name`.
///
/// # Errors
/// Returns a usage error if there is none.
fn find(name: &str) -> Result<&'static Program, Error> {
    let known = PROGRAMS.iter().find(|program| program.names.contains(&name));
    known.ok_or_else(|| {
        let all: Vec<&str> = names().collect();
        let words = unknown_word("program", name, all.iter().copied());
        Error::usage(format!("{words} (to list the programs: ipcperf compat)"))
    })
}

/// Returns one line per program.
pub(crate) fn list() -> String {
    let line = |program: &Program| format!("{}: {}", program.names.join(", "), program.about);
    PROGRAMS.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Returns the usage of the program `name` and its differences from the original.
///
/// # Errors
/// Returns a usage error if no program has that name.
pub(crate) fn about(name: &str) -> Result<String, Error> {
    let program = find(name)?;
    let differs = program.differences.iter().map(|difference| format!("- {difference}\n"));
    Ok(format!(
        "{name}: {}\n\n{}\n\nIntended differences from the original:\n\n{}",
        program.about,
        (program.usage)(name).trim_end(),
        differs.collect::<String>().trim_end()
    ))
}

/// Returns the program named by `path`, the path by which this process was started.
pub(crate) fn program_for_path(path: &Path) -> Option<&'static str> {
    let name = path.file_name()?.to_str()?;
    names().find(|known| *known == name)
}

/// Runs the program `name` with `arguments` and returns its exit code.
///
/// # Errors
/// Returns a usage error if no program has that name.
pub(crate) fn run_program(name: &str, arguments: &[OsString]) -> Result<u8, Error> {
    let Err(ended) = (find(name)?.run)(&Invocation { name, arguments }) else { return Ok(0) };
    if !ended.message.is_empty() {
        print_message(ended.message.trim_end());
    }
    Ok(ended.code)
}

/// Prints `text` to standard output, with a newline at its end if it has none.
fn print_line(text: &str) -> Result<(), ProgramExit> {
    print_text(&format!("{}\n", text.strip_suffix('\n').unwrap_or(text)))
}

/// Prints `piece` to standard output.
fn print_text(piece: &str) -> Result<(), ProgramExit> {
    print_to(std::io::stdout(), piece).map_err(|error| match error.kind() {
        ErrorKind::BrokenPipe => ProgramExit::broken_pipe(),
        _ => ProgramExit::os_error(&Error::Stdout(error).to_string()),
    })
}

/// Prints `line` to standard error, where some of the originals print. Errors other than a broken pipe are ignored.
fn print_error_line(line: &str) -> Result<(), ProgramExit> {
    match print_to(std::io::stderr(), &format!("{line}\n")) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Err(ProgramExit::broken_pipe()),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_programs_have_one_name() {
        let mut all: Vec<&str> = names().collect();
        all.sort_unstable();
        let count = all.len();
        all.dedup();
        assert_eq!(all.len(), count);
    }

    #[test]
    fn a_link_is_known_by_the_last_part_of_its_path() {
        assert_eq!(program_for_path(Path::new("/opt/lab/ipc-static")), Some("ipc-static"));
        assert_eq!(program_for_path(Path::new("ipc")), Some("ipc"));
        assert_eq!(program_for_path(Path::new("/usr/bin/ipcperf")), None);
        assert_eq!(program_for_path(Path::new("/")), None);
    }

    #[test]
    fn every_name_says_how_it_is_used() {
        for program in PROGRAMS {
            for name in program.names {
                let usage = (program.usage)(name);
                assert!(usage.contains(name), "{name}: {usage}");
            }
        }
    }
}
