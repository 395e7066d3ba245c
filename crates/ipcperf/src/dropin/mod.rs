//! The documents' programs by their own names: `ipcperf as PROGRAM ARGS...`, or a link of that name.
//!
//! ```text
//! the original's arguments -> RunSpec -> runner::Alone -> the original's lines and exit codes
//! ```
//!
//! Each is a thin layer: what is measured is what every run measures. Adding one is a file here and a line in
//! [`PROGRAMS`].

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

/// A program of the documents, or a family of them that take the same arguments.
#[derive(Debug)]
pub(crate) struct Program {
    /// The names it is called by.
    pub(crate) names: &'static [&'static str],
    /// What it is and whose, in one line.
    pub(crate) about: &'static str,
    /// What is not as in the original, on purpose.
    pub(crate) differs: &'static [&'static str],
    /// How one of its names is used, as it says itself where it is used wrongly.
    pub(crate) usage: fn(&str) -> String,
    /// Does what the original did.
    run: fn(&Call<'_>) -> Result<(), Ended>,
}

/// Every program there is.
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

/// How a program was called.
#[derive(Clone, Copy, Debug)]
struct Call<'a> {
    name: &'a str,
    arguments: &'a [OsString],
}

/// Every name of every program.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    PROGRAMS.iter().flat_map(|program| program.names.iter().copied())
}

/// The program that is called `name`.
///
/// # Errors
/// Usage where none is.
fn find(name: &str) -> Result<&'static Program, Error> {
    let known = PROGRAMS.iter().find(|program| program.names.contains(&name));
    known.ok_or_else(|| {
        let all: Vec<&str> = names().collect();
        Error::usage(format!("no program is called {name}; there are {}", all.join(", ")))
    })
}

/// A line for each program.
pub(crate) fn list() -> String {
    let line = |program: &Program| format!("{}: {}", program.names.join(", "), program.about);
    PROGRAMS.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// How the program `name` is used, and what is not as in the original.
///
/// # Errors
/// Usage where no program has that name.
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

/// The program that `path`, by which this one was started, names.
pub(crate) fn named_by(path: &Path) -> Option<&'static str> {
    let name = path.file_name()?.to_str()?;
    names().find(|known| *known == name)
}

/// Does what the program `name` does with `arguments`, and returns its exit code.
///
/// # Errors
/// Usage where no program has that name.
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

/// Prints `line` to standard error, where some of the originals print. What cannot be printed there is lost.
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
