//! Validation of custom mechanisms before anything runs: an unusable file must neither fail a plan nor crash the
//! command.

use std::ffi::OsString;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Component, Path, PathBuf};
use std::process::{Child, ExitCode, Stdio};
use std::time::Duration;

use ipcperf_engine::mechanism::{
    CustomMechanism, LibraryFacts, check_library_support, library_facts,
};
use ipcperf_engine::process::set_parent_death_signal;
use ipcperf_model::{CustomKind, CustomName, Unavailable};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitStatus};

use crate::children::{Children, adopt_orphans, kill_group};
use crate::factor::Factor;
use crate::factor_error::{FactorError, Reason};
use crate::program_file;

/// Time limit for a library to describe itself.
const LIBRARY_TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum length of a path, bytes.
const MAX_PATH_BYTES: usize = 2_048;
/// Maximum length of the description of a library, bytes.
const MAX_ANSWER_BYTES: u64 = 4_096;
/// Number of bytes of a file that are read at once.
const CHUNK_BYTES: usize = 65_536;
/// First bytes of a shared library on Linux.
const ELF_MAGIC: [u8; 4] = *b"\x7fELF";
/// Reference to the documentation, for hints.
const DOCS_HINT: &str = "see docs/custom-mechanisms.md";

/// Whether the files of custom mechanisms are inspected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CustomFiles {
    /// They are inspected. A library is loaded, which runs its code, in a separate process.
    #[default]
    Inspect,
    /// They are not inspected: only their names are parsed.
    Skip,
}

/// Returns the custom mechanism that `word` names, by its absolute path; `None` if it names none.
///
/// # Errors
/// Returns an error if results cannot store the path.
pub(super) fn resolve(
    word: &str,
    files: CustomFiles,
) -> Result<Option<CustomMechanism>, FactorError> {
    let Some(typed) = CustomName::parse(word) else { return Ok(None) };
    let name = CustomName::new(typed.kind(), absolute_path(word, typed.path())?);
    Ok(Some(match (files, name.kind()) {
        (CustomFiles::Skip, _) => CustomMechanism::unasked(&name),
        (CustomFiles::Inspect, CustomKind::Program) => {
            CustomMechanism::new_program(&name, check_program(name.path()))
        }
        (CustomFiles::Inspect, CustomKind::Library) => {
            CustomMechanism::new_library(&name, inspect_library(name.path()))
        }
    }))
}

/// Returns the name of the custom mechanism that `word` names, with its absolute path; `None` if it names none.
pub fn custom_name(word: &str) -> Option<String> {
    CustomName::parse(word).map(|name| whole_name(&name))
}

/// Returns `name` with its absolute path.
pub(super) fn whole_name(name: &CustomName) -> String {
    let path = std::path::absolute(name.path()).unwrap_or_else(|_| name.path().to_owned());
    CustomName::new(name.kind(), path).to_string()
}

/// Returns `word` with the path in its shortest form, if it names a custom mechanism: `lib:./a/../x.so` becomes
/// `lib:x.so`. Symbolic links are not followed.
pub fn normalized_custom(word: &str) -> Option<String> {
    let name = CustomName::parse(word)?;
    Some(CustomName::new(name.kind(), normalize(name.path())).to_string())
}

/// Returns `word` with the shortest path relative to `folder`, if it names a custom mechanism.
pub fn custom_relative_to(word: &str, folder: &Path) -> Option<String> {
    let name = CustomName::parse(word)?;
    Some(CustomName::new(name.kind(), normalize(&folder.join(name.path()))).to_string())
}

/// Returns the prefix of the options of `mechanism` in a study: its name, or the kind of a custom one.
pub fn options_prefix(mechanism: &str) -> &str {
    CustomName::parse(mechanism).map_or(mechanism, |name| name.kind().word())
}

/// Removes the components of `path` that have no effect, such as `.` and `a/..`.
fn normalize(path: &Path) -> PathBuf {
    let mut parts: Vec<Component<'_>> = Vec::new();
    for part in path.components() {
        match (part, parts.last()) {
            (Component::CurDir, _) | (Component::ParentDir, Some(Component::RootDir)) => {}
            (Component::ParentDir, Some(Component::Normal(_))) => drop(parts.pop()),
            (part, _) => parts.push(part),
        }
    }
    parts.iter().collect()
}

/// Returns the SHA-256 of the file of the custom mechanism `name`, as `sha256sum` prints it.
///
/// # Errors
/// Returns an error if the path is not a regular file, or cannot be read.
pub fn custom_sha256(name: &CustomName) -> std::io::Result<String> {
    let path = name.path();
    // Reading a device or a pipe might never end.
    if !path.metadata()?.is_file() {
        return Err(std::io::Error::other("it is not a regular file"));
    }
    let (mut file, mut hash) = (File::open(path)?, hmac_sha256::Hash::new());
    let mut piece = vec![0; CHUNK_BYTES];
    loop {
        match file.read(&mut piece)? {
            0 => break,
            bytes => hash.update(&piece[..bytes]),
        }
    }
    Ok(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Returns the absolute form of `path`, so that the name stays valid when the results are resumed from another
/// folder.
fn absolute_path(word: &str, path: &Path) -> Result<PathBuf, FactorError> {
    let refused =
        |why: &str| FactorError::new(Factor::Mechanism, word, Reason::Path(why.to_owned()));
    let path = std::path::absolute(path).map_err(|error| refused(&error.to_string()))?;
    let text = path.to_str().ok_or_else(|| refused("its path is not UTF-8"))?;
    if text.len() > MAX_PATH_BYTES {
        let bytes = text.len();
        return Err(refused(&format!(
            "its path is {bytes} bytes long; the maximum is {MAX_PATH_BYTES}"
        )));
    }
    if text.chars().any(char::is_control) {
        return Err(refused("its path contains control characters"));
    }
    Ok(path)
}

/// Checks that `path` is an executable file.
fn check_program(path: &Path) -> Result<(), Unavailable> {
    let mode = file_mode(path)?;
    if mode & 0o111 == 0 {
        return Err(unusable("it is not executable", "make it executable: chmod +x"));
    }
    Ok(())
}

/// Returns the permissions of the file at `path`.
fn file_mode(path: &Path) -> Result<u32, Unavailable> {
    let facts = path.metadata().map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => unusable("the file does not exist", "check the path"),
        _ => unusable(&error.to_string(), "name a file that you may read"),
    })?;
    if !facts.is_file() {
        return Err(unusable("it is not a regular file", "name a regular file"));
    }
    Ok(facts.permissions().mode())
}

fn unusable(reason: &str, remedy: &str) -> Unavailable {
    Unavailable { reason: reason.to_owned(), remedy: remedy.to_owned() }
}

/// Checks that the regular file at `path` starts like a shared library. The error of the dynamic loader would only
/// describe the first bytes of the file.
fn check_format(path: &Path) -> Result<(), Unavailable> {
    if !cfg!(target_os = "linux") {
        return Ok(());
    }
    let mut start = Vec::new();
    let read =
        File::open(path).and_then(|file| file.take(ELF_MAGIC.len() as u64).read_to_end(&mut start));
    // If the file cannot be read, the loader reports the reason.
    if read.is_ok() && start != ELF_MAGIC {
        return Err(unusable("it is not a shared library", DOCS_HINT));
    }
    Ok(())
}

/// Starts a separate process in which the library at `path` describes itself, and returns the description.
fn inspect_library(path: &Path) -> Result<LibraryFacts, Unavailable> {
    check_library_support()?;
    file_mode(path)?;
    check_format(path)?;
    let failed = |error: std::io::Error| {
        unusable(&format!("ipcperf cannot start a process that loads it: {error}"), DOCS_HINT)
    };
    // Processes that the library starts are ended with it, even if they leave its process group.
    adopt_orphans();
    let others = Children::now();
    let mut child = program_file::restart_command(crate::DESCRIBE_LIBRARY)
        .map_err(failed)?
        .arg(path)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
        .map_err(failed)?;
    let text = read_first_line(&mut child);
    let (status, end) = kill_group(Pid::from_child(&child));
    // If a seccomp filter refuses `kill`, they live until the command ends.
    let _ = others.kill_others(end);
    let text = text.ok_or_else(|| {
        let words = format!("it was not loaded within {} s", LIBRARY_TIMEOUT.as_secs());
        unusable(&words, DOCS_HINT)
    })?;
    match serde_json::from_str::<Result<LibraryFacts, String>>(&text) {
        Ok(facts) => facts.map_err(|words| unusable(&words, DOCS_HINT)),
        Err(_) => Err(unusable(&describe_exit(status), DOCS_HINT)),
    }
}

/// Returns the first line of the output, or `None` if the process takes too long.
fn read_first_line(child: &mut Child) -> Option<String> {
    let output = child.stdout.as_mut()?;
    let limit = Timespec { tv_sec: LIBRARY_TIMEOUT.as_secs().cast_signed(), tv_nsec: 0 };
    loop {
        match poll(&mut [PollFd::new(output, PollFlags::IN)], Some(&limit)) {
            Ok(0) => return None,
            Err(Errno::INTR) => {}
            _ => break,
        }
    }
    let mut line = String::new();
    // Output that is not text, or that is truncated, fails to parse later.
    let _ = BufReader::new(output.take(MAX_ANSWER_BYTES)).read_line(&mut line);
    Some(line)
}

fn describe_exit(status: Option<WaitStatus>) -> String {
    let code = status.and_then(WaitStatus::exit_status);
    match (status.and_then(WaitStatus::terminating_signal), code) {
        (Some(signal), _) => format!("signal {signal} ended the process that loaded it"),
        (None, code) => {
            format!("the process that loaded it exited with status {}", code.unwrap_or(0))
        }
    }
}

/// Entry point of the process that `inspect_library` starts: prints one line with the description of the library at
/// `path`.
pub fn print_library_facts(path: Option<OsString>) -> ExitCode {
    program_file::set_process_name();
    // Fails only where there is no such signal.
    let _ = set_parent_death_signal(Signal::KILL);
    let facts = library_facts(Path::new(&path.unwrap_or_default()));
    let text = serde_json::to_string(&facts).unwrap_or_default();
    match writeln!(std::io::stdout(), "{text}") {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_file_has_one_name_however_it_is_spelled() {
        let short = |word: &str| normalized_custom(word).unwrap();
        assert_eq!(short("lib:./x.so"), "lib:x.so");
        assert_eq!(short("exec:a/../b/./x"), "exec:b/x");
        assert_eq!(short("lib:../x.so"), "lib:../x.so");
        assert_eq!(short("lib:/../a//x.so"), "lib:/a/x.so");
        assert_eq!(normalized_custom("pipe"), None);
        let within = |word: &str| custom_relative_to(word, Path::new("/data/in")).unwrap();
        assert_eq!(within("lib:./x.so"), "lib:/data/in/x.so");
        assert_eq!(within("lib:../x.so"), "lib:/data/x.so");
        assert_eq!(within("lib:/else/x.so"), "lib:/else/x.so");
    }

    /// The first example of FIPS 180-4.
    #[test]
    fn the_hash_of_a_file_is_that_of_the_standard() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "abc").unwrap();
        let name = CustomName::new(CustomKind::Library, file.path().to_str().unwrap());
        assert_eq!(
            custom_sha256(&name).unwrap(),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
    }

    #[test]
    fn what_is_no_file_is_not_read_for_its_hash() {
        custom_sha256(&CustomName::new(CustomKind::Library, "/dev/zero")).unwrap_err();
    }
}
