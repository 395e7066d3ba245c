//! Compatibility programs, under their own names: `ipcperf as PROGRAM ARGS...`, or a link of that name.
//!
//! ```text
//! the original's arguments -> RunSpec -> runner::Alone -> the original's lines and exit codes
//! ```
//!
//! Each program is a thin layer: it measures in the same way as every other run. To add one, add a file here and a line
//! in [`PROGRAMS`].

mod carried;
mod comparison;
mod ended;
mod install;
mod ipc;
mod lmbench;
mod rates;
mod send;
mod typed;

use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::Path;

pub(crate) use install::install;

use crate::error::Error;
use crate::printing::{print_to, tell};
use ended::Ended;

/// A compatibility program, or a family of programs with the same arguments.
#[derive(Debug)]
pub(crate) struct Program {
    /// Names of the program.
    pub(crate) names: &'static [&'static str],
    /// Description and author, in one line.
    pub(crate) about: &'static str,
    /// Intended differences from the original.
    pub(crate) differs: &'static [&'static str],
    /// Returns the usage text for one of its names, which is also the message for wrong usage.
    pub(crate) usage: fn(&str) -> String,
    /// Runs the program.
    run: fn(&Call<'_>) -> Result<(), Ended>,
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
struct Call<'a> {
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
        Error::usage(format!("no program is called {name}; there are {}", all.join(", ")))
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
    let differs = program.differs.iter().map(|difference| format!("- {difference}\n"));
    Ok(format!(
        "{name}: {}\n\n{}\n\nOn purpose not as in the original:\n\n{}",
        program.about,
        (program.usage)(name).trim_end(),
        differs.collect::<String>().trim_end()
    ))
}

/// Returns the program named by `path`, the path by which this process was started.
pub(crate) fn named_by(path: &Path) -> Option<&'static str> {
    let name = path.file_name()?.to_str()?;
    names().find(|known| *known == name)
}

/// Runs the program `name` with `arguments` and returns its exit code.
///
/// # Errors
/// Returns a usage error if no program has that name.
pub(crate) fn stand_for(name: &str, arguments: &[OsString]) -> Result<u8, Error> {
    let Err(ended) = (find(name)?.run)(&Call { name, arguments }) else { return Ok(0) };
    if !ended.words.is_empty() {
        tell(ended.words.trim_end());
    }
    Ok(ended.code)
}

/// Prints `text` to standard output, with a newline at its end if it has none.
fn say(text: &str) -> Result<(), Ended> {
    say_piece(&format!("{}\n", text.strip_suffix('\n').unwrap_or(text)))
}

/// Prints `piece` to standard output.
fn say_piece(piece: &str) -> Result<(), Ended> {
    print_to(std::io::stdout(), piece).map_err(|error| match error.kind() {
        ErrorKind::BrokenPipe => Ended::broken_pipe(),
        _ => Ended::because(&Error::Output(error).to_string()),
    })
}

/// Prints `line` to standard error, where some of the originals print. Errors other than a broken pipe are ignored.
fn say_on_error(line: &str) -> Result<(), Ended> {
    match print_to(std::io::stderr(), &format!("{line}\n")) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Err(Ended::broken_pipe()),
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
        assert_eq!(named_by(Path::new("/opt/lab/ipc-static")), Some("ipc-static"));
        assert_eq!(named_by(Path::new("ipc")), Some("ipc"));
        assert_eq!(named_by(Path::new("/usr/bin/ipcperf")), None);
        assert_eq!(named_by(Path::new("/")), None);
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
