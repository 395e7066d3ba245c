//! Errors that end the command, with their messages and exit codes.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use ipcperf_model::printable::printable_line;

use ipcperf_study::Mistake;

/// Reason why the command could not do what was asked. Printed once, by [`crate::cli::main`].
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// Wrong arguments, a file that is not a results file, or a matrix in which every cell is refused.
    #[error("{0}")]
    Usage(String),
    /// A study with mistakes.
    #[error("{}", wrong_study(path, mistakes))]
    InvalidStudy {
        /// File of the study, or its name.
        path: PathBuf,
        /// Mistakes found; at least one.
        mistakes: Vec<Mistake>,
    },
    /// Bad input that has already been reported in full.
    #[error("")]
    AlreadyReported,
    /// A named file that cannot be read.
    #[error("cannot read {}: {source}; {}", path.display(), read_remedy(source))]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Cause.
        source: std::io::Error,
    },
    /// None of the requested cases can run on this machine.
    #[error("none of the requested cases can run here: {0}")]
    NothingRuns(String),
    /// A results file that cannot be written.
    #[error("cannot write results to {}: {source}; {}", path.display(), write_remedy(path, *stage, source))]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// Stage at which writing failed.
        stage: WriteStage,
        /// Cause.
        source: std::io::Error,
    },
    /// No results file was named, and there is no default folder for one.
    #[error(
        "no folder for results: HOME is not an absolute path, and the password database has no home folder for this \
         user; name a file with --out FILE"
    )]
    NoFolder,
    /// Output made from results (a figure, report or export) that cannot be written.
    #[error("cannot write {}: {source}; {}", path.display(), output_remedy(source))]
    NotWritten {
        /// The file.
        path: PathBuf,
        /// Cause.
        source: std::io::Error,
    },
    /// A figure that cannot be converted into another format.
    #[error("cannot draw a figure: {0}")]
    Figure(String),
    /// Standard output that cannot be written.
    #[error("cannot write to standard output: {0}")]
    Stdout(std::io::Error),
    /// A refusal by the machine of something that every run needs.
    #[error("{0}")]
    Machine(String),
}

/// Stage at which writing a results file failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WriteStage {
    /// A new file was being created. It holds no results.
    Create,
    /// An existing file was being opened to resume it.
    Open,
    /// The file was open. What was written before is kept.
    Append,
}

/// Returns the remedy for the results file at `path` that cannot be written because of `error`.
fn write_remedy(path: &Path, stage: WriteStage, error: &std::io::Error) -> String {
    match stage {
        WriteStage::Create => create_remedy(error.kind()).to_owned(),
        WriteStage::Open => open_remedy(error.kind()).to_owned(),
        WriteStage::Append => {
            let first = append_remedy(error.kind());
            format!("results so far are kept; {first} ipcperf resume {}", path.display())
        }
    }
}

/// Returns the remedy for a new results file that cannot be created.
const fn create_remedy(error: ErrorKind) -> &'static str {
    match error {
        ErrorKind::NotFound => "create the folder, or name another file with --out FILE",
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            "free disk space, or name another file with --out FILE"
        }
        ErrorKind::FileTooLarge => "raise the maximum size of a file with ulimit -f",
        _ => "name another file with --out FILE",
    }
}

/// Returns the remedy for output made from results that cannot be written because of `error`.
fn output_remedy(error: &std::io::Error) -> &'static str {
    match error.kind() {
        ErrorKind::NotFound => "create the folder, or name another file",
        // Only creating a folder fails like this.
        ErrorKind::AlreadyExists => "name a folder, not a file",
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            "free disk space, or name another file"
        }
        ErrorKind::FileTooLarge => "raise the maximum size of a file with ulimit -f",
        _ => "name another file",
    }
}

/// Returns the remedy for an existing results file that cannot be opened for writing.
const fn open_remedy(error: ErrorKind) -> &'static str {
    match error {
        ErrorKind::PermissionDenied => "permit writing to the file, or resume a copy of it",
        ErrorKind::IsADirectory => "name a results file, not a folder",
        _ => "resume a copy of the file",
    }
}

/// Returns the remedy for an open results file to which nothing more can be written, up to the command that continues.
const fn append_remedy(error: ErrorKind) -> &'static str {
    match error {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => "free disk space and run",
        ErrorKind::FileTooLarge => "raise the maximum size of a file with ulimit -f and run",
        _ => "to continue:",
    }
}

/// Returns the remedy for a file that cannot be read because of `error`.
fn read_remedy(error: &std::io::Error) -> &'static str {
    match error.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => "check the path",
        ErrorKind::PermissionDenied => "name a file that you may read",
        ErrorKind::IsADirectory => "name a file, not a folder",
        _ => "check the file and its disk",
    }
}

impl From<ipcperf_plan::Error> for Error {
    fn from(error: ipcperf_plan::Error) -> Self {
        match error {
            ipcperf_plan::Error::Factor(error) => Self::Usage(error.to_string()),
            ipcperf_plan::Error::Usage(words) => Self::Usage(words),
            ipcperf_plan::Error::NothingRuns(words) => Self::NothingRuns(words),
        }
    }
}

impl From<ipcperf_study::Error> for Error {
    fn from(error: ipcperf_study::Error) -> Self {
        use ipcperf_study::Error as Wrong;
        match error {
            Wrong::Unreadable { .. } => Self::usage(error.to_string()),
            Wrong::InvalidStudy { path, mistakes } => Self::InvalidStudy { path, mistakes },
            Wrong::Plan(error) => error.into(),
        }
    }
}

impl From<ipcperf_report::Error> for Error {
    fn from(error: ipcperf_report::Error) -> Self {
        use ipcperf_report::Error as Wrong;
        match error {
            Wrong::Usage(error) => error.into(),
            Wrong::NotWritten { path, source } => Self::NotWritten { path, source },
            Wrong::Render(words) => Self::Figure(words),
        }
    }
}

impl From<ipcperf_results::Error> for Error {
    fn from(error: ipcperf_results::Error) -> Self {
        use ipcperf_results::Error as Wrong;
        match error {
            Wrong::Unreadable { path, source } => Self::Unreadable { path, source },
            Wrong::Unwritable { path, source } => {
                Self::Unwritable { path, stage: WriteStage::Append, source }
            }
            Wrong::Exists(_) | Wrong::Folder(_) | Wrong::Busy(_) | Wrong::Contents { .. } => {
                Self::usage(error.to_string())
            }
        }
    }
}

impl Error {
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::Usage(message.into())
    }

    /// Returns the error of a results file that is not open yet: a file that cannot be written failed at `stage`.
    pub(crate) fn before_open(error: ipcperf_results::Error, stage: WriteStage) -> Self {
        match Self::from(error) {
            Self::Unwritable { path, source, .. } => Self::Unwritable { path, stage, source },
            other => other,
        }
    }

    /// Returns the message for the user: one line, or one per mistake of a study. Line breaks in quoted text are
    /// escaped.
    pub(crate) fn message(&self) -> String {
        match self {
            Self::InvalidStudy { path, mistakes } => {
                let path = path.display().to_string();
                let line = |mistake: &Mistake| format!("ipcperf: {path}: {mistake}");
                let lines = mistakes.iter().map(line);
                let lines = lines.map(|line| printable_line(&line).into_owned());
                lines.collect::<Vec<_>>().join("\n")
            }
            other => printable_line(&format!("ipcperf: {other}")).into_owned(),
        }
    }

    /// Returns the exit code: 2 for bad input, 3 if nothing can run, 5 if results cannot be written.
    pub(crate) fn exit_code(&self) -> ExitCode {
        ExitCode::from(match self {
            Self::Usage(_)
            | Self::Unreadable { .. }
            | Self::InvalidStudy { .. }
            | Self::AlreadyReported => 2,
            Self::NothingRuns(_) | Self::Machine(_) => 3,
            Self::NoFolder
            | Self::Unwritable { .. }
            | Self::NotWritten { .. }
            | Self::Figure(_)
            | Self::Stdout(_) => 5,
        })
    }
}

/// Formats one line per mistake, each with the path of the study.
fn wrong_study(path: &Path, mistakes: &[Mistake]) -> String {
    let lines: Vec<String> =
        mistakes.iter().map(|mistake| format!("{}: {mistake}", path.display())).collect();
    lines.join("\nipcperf: ")
}

/// Meaning of each exit code, for the help and the manual page.
pub(crate) const EXIT_CODES: [(&str, &str); 7] = [
    ("0", "done"),
    (
        "1",
        "study judge --gate: a hypothesis is rejected or inconclusive, or no hypothesis is testable",
    ),
    ("2", "wrong arguments, bad input, or every case refused (such as too large messages)"),
    ("3", "this machine lacks what the requested cases need (CPUs, kernel features, programs)"),
    ("4", "some runs failed; the results of the other runs are kept"),
    ("5", "results or other output could not be written"),
    ("130, 143", "stopped by SIGINT (130) or SIGTERM (143); results so far are kept"),
];

/// Result of a command that did what was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExitStatus {
    /// Everything succeeded.
    Done,
    /// Some runs failed; the other results are kept.
    SomeFailed,
    /// The command was interrupted; results measured so far are kept.
    Interrupted,
    /// A gate failed: not every hypothesis that could be judged is supported.
    GateFailed,
    /// Exit code of the compatibility program that the command ran as.
    CompatProgram(u8),
}

impl From<ExitStatus> for ExitCode {
    fn from(ending: ExitStatus) -> Self {
        Self::from(match ending {
            ExitStatus::Done => 0,
            ExitStatus::GateFailed => 1,
            ExitStatus::SomeFailed => 4,
            // The command dies of the signal; 130 is what a shell shows for SIGINT, the most frequent one.
            ExitStatus::Interrupted => 130,
            ExitStatus::CompatProgram(code) => code,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unwritable(stage: WriteStage, kind: ErrorKind) -> String {
        let path = PathBuf::from("/data/x.jsonl");
        Error::Unwritable { path, stage, source: kind.into() }.to_string()
    }

    #[test]
    fn results_are_kept_only_in_a_file_that_was_open() {
        let full = unwritable(WriteStage::Append, ErrorKind::StorageFull);
        let remedy =
            "results so far are kept; free disk space and run ipcperf resume /data/x.jsonl";
        assert!(full.ends_with(remedy), "{full}");
        let other = unwritable(WriteStage::Append, ErrorKind::Other);
        assert!(other.ends_with("are kept; to continue: ipcperf resume /data/x.jsonl"), "{other}");
        for kind in [ErrorKind::NotFound, ErrorKind::StorageFull, ErrorKind::Other] {
            let created = unwritable(WriteStage::Create, kind);
            assert!(!created.contains("are kept") && created.contains("--out FILE"), "{created}");
        }
    }

    /// `ipcperf resume` has no `--out`.
    #[test]
    fn a_file_that_cannot_be_resumed_gets_a_remedy_of_resume() {
        for kind in [ErrorKind::PermissionDenied, ErrorKind::IsADirectory, ErrorKind::Other] {
            let refused = unwritable(WriteStage::Open, kind);
            assert!(!refused.contains("--out") && !refused.contains("are kept"), "{refused}");
        }
    }
}
