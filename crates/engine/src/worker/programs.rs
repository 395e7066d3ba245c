//! Peers as separately executed programs, which the worker only starts and supervises.
//!
//! Each program reads a [`PeerAssignment`] from its standard input and writes its report to its standard output. It ends
//! when its input is closed, so none outlives the worker, even if another program has started it.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Write;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, Command, Stdio};

use ipcperf_model::prefixes::split_words;
use ipcperf_model::{Failure, FailureKind};
use rustix::fs::{Mode, chmod};
use rustix::io::Errno;
use rustix::process::Pid;

use super::PeerReports;
use super::ends::parts;
use super::peer_program::{OpenedReport, ProgramMemory};
use super::peer_results::collect_reports;
use super::processes::{Child, kill_and_reap, wait_for_reports};
use crate::assignment::{Assignment, PeerAssignment};
use crate::channel::{Granted, MeetingPlace, Part, ProgramPart, Visitors};
use crate::harness_failure;
use crate::leftovers::{RunToken, make_private_folder, names_unavailable};
use crate::namespaces::Namespaces;
use crate::peer_memory::PeerMemory;
use crate::temp_dir::TempDir;

/// Subcommand with which the program starts itself as a peer. Not for users.
pub const PEER: &str = "peer";
/// Maximum length of the words of a program that are quoted in a failure, characters.
const MAX_QUOTED: usize = 200;

/// A started program.
struct Program {
    child: Child,
    /// Kept open as long as it may run.
    _input: ChildStdin,
    /// File with its standard error.
    errors: PathBuf,
    /// Whether a command has started it.
    is_prefixed: bool,
}

/// Starts all peers of `assignment` and returns their reports, in their order.
pub(super) fn run(assignment: &Assignment) -> Result<PeerReports, Failure> {
    let spec = &assignment.spec;
    // A prefix may change the user.
    let visitors = if spec.prefixes.is_empty() { Visitors::SameUser } else { Visitors::AnyUser };
    let folder = TempDir::lasting()?;
    let place = make_place(&folder, visitors)?;
    let memory = PeerMemory::create(&place.memory_path(), visitors.file_mode())
        .map_err(|errno| harness_failure(FailureKind::SetUp, "creating shared memory", errno))?;
    // Gives the file its length.
    ProgramMemory::map(spec, &memory)?;
    open_to(&place.memory_path(), visitors.file_mode())?;
    let mut programs = Vec::new();
    for (number, part) in parts(spec).into_iter().enumerate() {
        match start(assignment, part, &place, number) {
            Ok(program) => programs.push(program),
            Err(failure) => {
                programs.iter().for_each(|program| kill_and_reap(&program.child));
                return Err(failure);
            }
        }
    }
    collect(&programs)
}

/// Makes the place where the programs meet, in `folder`.
fn make_place(folder: &TempDir, visitors: Visitors) -> Result<MeetingPlace, Failure> {
    let (secret, namespaces) = (draw()?, Namespaces::own());
    let [folder, sockets] = match visitors {
        Visitors::SameUser => [folder.folder().to_owned(), folder.folder().to_owned()],
        Visitors::AnyUser => {
            // Other users may pass, but not list: only a program that knows the name of a folder inside finds it.
            open_to(folder.folder(), Mode::from_raw_mode(0o711))?;
            [hidden_folder(folder)?, hidden_folder(folder)?]
        }
    };
    Ok(MeetingPlace { folder, sockets, secret, visitors, namespaces })
}

fn draw() -> Result<RunToken, Failure> {
    RunToken::random().map_err(|error| names_unavailable(&error))
}

/// Makes a folder with a name that cannot be guessed inside `folder`, for every user.
fn hidden_folder(folder: &TempDir) -> Result<PathBuf, Failure> {
    let inside = folder.path(&draw()?.to_string());
    make_private_folder(&inside).map_err(|error| Failure {
        errno: error.raw_os_error(),
        ..Failure::new(FailureKind::SetUp, format!("creating {}", inside.display()))
    })?;
    open_to(&inside, Mode::from_raw_mode(0o777))?;
    Ok(inside)
}

/// Sets the permissions of `path`, whatever the umask.
fn open_to(path: &Path, mode: Mode) -> Result<(), Failure> {
    chmod(path, mode).map_err(|errno| harness_failure(FailureKind::SetUp, "chmod", errno))
}

/// Starts the program of `part`, the `number`th of the run.
fn start(
    assignment: &Assignment,
    part: Part,
    place: &MeetingPlace,
    number: usize,
) -> Result<Program, Failure> {
    let (role, errors) = (part.role, place.folder.join(format!("errors-{number}")));
    let prefix = assignment.spec.prefixes.for_role(role);
    let mut child = spawn(prefix, &errors).map_err(|failure| match failure.errno {
        // Another attempt would not find it either.
        Some(libc::ENOENT | libc::EACCES) if prefix.is_some() => {
            let remedy = format!("correct --{}-prefix", role.name());
            Failure { transient: false, ..failure.with_remedy(remedy) }.with_role(role)
        }
        _ => failure.with_role(role),
    })?;
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let (Some(mut input), Some(report), Some(pid)) = (child.stdin.take(), child.stdout.take(), pid)
    else {
        return Err(Failure::new(FailureKind::Worker, "starting a peer"));
    };
    let program = ProgramPart { part, place: place.clone() };
    let mut line = serde_json::to_vec(&PeerAssignment { assignment: assignment.clone(), program })
        .unwrap_or_default();
    line.push(b'\n');
    // A program that ended already is reported when its answer is read.
    let _ = input.write_all(&line);
    let child = Child { role, pid, report: OwnedFd::from(report) };
    Ok(Program { child, _input: input, errors, is_prefixed: prefix.is_some() })
}

/// Starts this program as a peer, by `prefix`. Its standard error goes to the new file `errors`.
fn spawn(prefix: Option<&str>, errors: &Path) -> Result<std::process::Child, Failure> {
    let failed = |what: &str, error: &std::io::Error| {
        let errno = Errno::from_io_error(error).unwrap_or(Errno::AGAIN);
        harness_failure(FailureKind::SetUp, what, errno)
    };
    let own = std::env::current_exe().map_err(|error| failed("finding ipcperf", &error))?;
    let errors = File::create(errors).map_err(|error| failed("creating a file", &error))?;
    let mut command = command(&own, prefix);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(errors);
    command
        .spawn()
        .map_err(|error| failed(&format!("starting {}", command.get_program().display()), &error))
}

/// Command that runs the program `own` as a peer, started by `prefix`.
fn command(own: &Path, prefix: Option<&str>) -> Command {
    let words = prefix.and_then(split_words).unwrap_or_default();
    let mut words = words.iter().map(OsStr::new).chain([own.as_os_str(), OsStr::new(PEER)]);
    let mut command = Command::new(words.next().unwrap_or_default());
    command.args(words);
    command
}

/// Waits for all reports and combines them.
fn collect(programs: &[Program]) -> Result<PeerReports, Failure> {
    let answers = {
        let children: Vec<&Child> = programs.iter().map(|program| &program.child).collect();
        wait_for_reports::<OpenedReport>(&children)
    };
    let explained = programs
        .iter()
        .zip(answers)
        .filter_map(|(program, answer)| Some(answer?.map_err(|failure| program.explain(failure))));
    let reports = collect_reports(explained)?;
    let is_lossy = reports.iter().any(|one| one.is_lossy);
    let kernel_buffer_bytes = reports.first().and_then(|one| one.kernel_buffer_bytes);
    Ok(PeerReports {
        reports: reports.into_iter().map(|one| one.report).collect(),
        granted: Granted { kernel_buffer_bytes },
        is_lossy,
    })
}

impl Program {
    /// Adds to `failure` the last line of the standard error of the program, if it died, and a remedy if a command has
    /// started it.
    fn explain(&self, failure: Failure) -> Failure {
        // A panic names no role.
        let role = failure.role.or(Some(self.child.role));
        let failure = Failure { role, ..failure };
        if failure.what != FailureKind::Died {
            return failure;
        }
        let text = std::fs::read(&self.errors).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let last = text.lines().rev().find(|line| !line.trim().is_empty()).map(|line| {
            let quoted: String = line.trim().chars().take(MAX_QUOTED).collect();
            format!(": {quoted:?}")
        });
        let place = format!("{}{}", failure.place, last.unwrap_or_default());
        let failure = Failure { place, ..failure };
        if failure.transient || !self.is_prefixed {
            return failure;
        }
        failure.with_remedy(format!(
            "check --{}-prefix: the command must execute the program that follows it, and pass on standard input and output",
            self.child.role.name()
        ))
    }
}
