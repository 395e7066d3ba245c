//! Mechanisms of one's own, looked at before anything runs: a file that cannot be used must neither
//! fail a plan nor take the command down.

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ExitCode, Stdio};
use std::time::Duration;

use ipcperf_engine::mechanism::{
    LibraryFacts, Mechanism, OwnKind, Unavailable, learn_library, learn_program, library_facts,
    name_unasked, own_mechanism,
};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitStatus, set_parent_process_death_signal};

use crate::children::{Children, adopt_orphans, end_group};
use crate::error::Error;
use crate::program_file;

/// How long a library gets to say what it is.
const PATIENCE: Duration = Duration::from_secs(5);
/// The longest path that the system takes.
const LONGEST_PATH: usize = 2_048;
/// Most that is read of what is to be a line.
const LONGEST_ANSWER: u64 = 4_096;
/// Where it is said how it is done.
const PAGE: &str = "see docs/your-own-mechanism.md";

/// Whether the files of custom mechanisms are asked what they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum CustomFiles {
    /// They are: a library is loaded, which runs its code, in a process of its own.
    #[default]
    Ask,
    /// They are left alone: what names them is only read.
    Leave,
}

/// The custom mechanism that `word` names, by its whole path; `None` where it names none.
///
/// # Errors
/// Usage where the path is none that results could hold.
pub(super) fn planned(word: &str, files: CustomFiles) -> Result<Option<&'static Mechanism>, Error> {
    let Some((kind, path)) = own_mechanism(word) else { return Ok(None) };
    let path = whole(word, path)?;
    let name = format!("{}:{}", kind.word(), path.display());
    Ok(Some(match (files, kind) {
        (CustomFiles::Leave, _) => name_unasked(kind, &name),
        (CustomFiles::Ask, OwnKind::Program) => learn_program(&name, program(&path)),
        (CustomFiles::Ask, OwnKind::Library) => learn_library(&name, library(&path)),
    }))
}

/// The name of the custom mechanism that `word` names, with its whole path; `None` where it names none.
pub(crate) fn custom_name(word: &str) -> Option<String> {
    let (kind, path) = own_mechanism(word)?;
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    Some(format!("{}:{}", kind.word(), path.display()))
}

/// `path` from the root, so that the name means the same wherever the results are gone on with.
fn whole(word: &str, path: &Path) -> Result<PathBuf, Error> {
    let refused = |why: &str| Error::usage(format!("mechanism `{word}`: {why}"));
    let path = std::path::absolute(path).map_err(|error| refused(&error.to_string()))?;
    let text = path.to_str().ok_or_else(|| refused("its path is not UTF-8"))?;
    if text.len() > LONGEST_PATH || text.chars().any(char::is_control) {
        return Err(refused("its path is too long, or holds what cannot be printed"));
    }
    Ok(path)
}

/// Whether there is a program at `path`.
fn program(path: &Path) -> Result<(), Unavailable> {
    let mode = file(path)?;
    if mode & 0o111 == 0 {
        return Err(unusable("it is not executable", "chmod +x it"));
    }
    Ok(())
}

/// The permissions of the file at `path`.
fn file(path: &Path) -> Result<u32, Unavailable> {
    let facts = path
        .metadata()
        .map_err(|error| unusable(&error.to_string(), "name a file that is there"))?;
    if !facts.is_file() {
        return Err(unusable("it is no file", "name a file"));
    }
    Ok(facts.permissions().mode())
}

fn unusable(reason: &str, remedy: &str) -> Unavailable {
    Unavailable { reason: reason.to_owned(), remedy: remedy.to_owned() }
}

/// What the library at `path` says of itself to a process of its own.
fn library(path: &Path) -> Result<LibraryFacts, Unavailable> {
    file(path)?;
    let unasked = |error: std::io::Error| unusable(&format!("it cannot be asked: {error}"), PAGE);
    // What it starts goes with it, wherever it went.
    adopt_orphans();
    let others = Children::now();
    let mut asked = program_file::again(crate::LIBRARY)
        .map_err(unasked)?
        .arg(path)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
        .map_err(unasked)?;
    let text = listen(&mut asked);
    let (status, end) = end_group(Pid::from_child(&asked));
    // Where a filter of system calls refuses it, they live until the command ends.
    let _ = others.end_others(end);
    let text = text.ok_or_else(|| {
        let words = format!("loading it did not end within {} s", PATIENCE.as_secs());
        unusable(&words, PAGE)
    })?;
    match serde_json::from_str::<Result<LibraryFacts, String>>(&text) {
        Ok(facts) => facts.map_err(|words| unusable(&words, PAGE)),
        Err(_) => Err(unusable(&died(status), PAGE)),
    }
}

/// What it says until it closes its output; `None` where that takes too long.
fn listen(asked: &mut Child) -> Option<String> {
    let output = asked.stdout.as_mut()?;
    let limit = Timespec { tv_sec: PATIENCE.as_secs().cast_signed(), tv_nsec: 0 };
    loop {
        match poll(&mut [PollFd::new(output, PollFlags::IN)], Some(&limit)) {
            Ok(0) => return None,
            Err(Errno::INTR) => {}
            _ => break,
        }
    }
    let mut line = String::new();
    // What is no text, or is cut off, is no answer either.
    let _ = BufReader::new(output.take(LONGEST_ANSWER)).read_line(&mut line);
    Some(line)
}

fn died(status: Option<WaitStatus>) -> String {
    let code = status.and_then(WaitStatus::exit_status);
    match (status.and_then(WaitStatus::terminating_signal), code) {
        (Some(signal), _) => format!("loading it ended in signal {signal}"),
        (None, code) => format!("loading it ended the process, with status {}", code.unwrap_or(0)),
    }
}

/// The other side of [`library`]: one line on what the library at `path` says of itself.
pub(crate) fn answer_for_library(path: Option<OsString>) -> ExitCode {
    program_file::take_name();
    // Refused only for a number that is no signal.
    let _ = set_parent_process_death_signal(Some(Signal::KILL));
    let facts = library_facts(Path::new(&path.unwrap_or_default()));
    let text = serde_json::to_string(&facts).unwrap_or_default();
    match writeln!(std::io::stdout(), "{text}") {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}
