//! Endings of a compatibility program that fails.

use ipcperf_model::{Failure, FailureKind};

use crate::exit_signal;
use crate::runner::Stopped;

/// Codes of sysexits(3) for wrong usage, for a refusal by the system, and for a transfer that fails.
pub(super) const EX_USAGE: u8 = 64;
const EX_OSERR: u8 = 71;
const EX_IOERR: u8 = 74;
/// Exit code for any failure in programs that do not use sysexits.
pub(super) const EXIT_FAILURE: u8 = 1;
/// Exit codes that a shell shows for death by SIGINT and by SIGPIPE. The command dies of the signal at its end; until
/// then these codes stand for it.
const INTERRUPTED: u8 = 130;
const BROKEN_PIPE: u8 = 141;

/// Exit code, and the message for standard error.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ProgramExit {
    pub(super) code: u8,
    pub(super) message: String,
}

impl ProgramExit {
    /// Wrong usage; `usage` is the usage text.
    pub(super) fn wrong_usage(code: u8, usage: String) -> Self {
        Self { code, message: usage }
    }

    /// A refusal by the system, or a resource that it lacks.
    pub(super) fn os_error(words: &str) -> Self {
        Self { code: EX_OSERR, message: words.to_owned() }
    }

    /// A run of the program `name` was stopped. Failures map to exit codes as far as the original distinguished them.
    pub(super) fn from_stopped(name: &str, why: &Stopped) -> Self {
        match why {
            Stopped::Interrupted => Self { code: INTERRUPTED, message: String::new() },
            Stopped::Failed(failure) => Self {
                code: exit_code(failure),
                message: format!("{name}: FAIL: {failure}{}", remedy(failure)),
            },
        }
    }

    /// The reader of standard output is gone: the program dies of SIGPIPE, without a message.
    pub(super) fn broken_pipe() -> Self {
        exit_signal::record_broken_pipe();
        Self { code: BROKEN_PIPE, message: String::new() }
    }

    /// Replaces the exit code with [`EXIT_FAILURE`], for originals that had one code for every failure.
    pub(super) fn into_failed(self) -> Self {
        let is_by_signal = [INTERRUPTED, BROKEN_PIPE].contains(&self.code);
        let code = if is_by_signal { self.code } else { EXIT_FAILURE };
        Self { code, ..self }
    }
}

fn exit_code(failure: &Failure) -> u8 {
    match failure.what {
        FailureKind::Call
        | FailureKind::PeerGone
        | FailureKind::Corrupt
        | FailureKind::Boundary
        | FailureKind::Timeout => EX_IOERR,
        FailureKind::SetUp
        | FailureKind::Unreachable
        | FailureKind::Died
        | FailureKind::Panicked
        | FailureKind::Worker
        | FailureKind::Instrument
        | FailureKind::Answer => EX_OSERR,
    }
}

fn remedy(failure: &Failure) -> String {
    // The remedy for a timeout is a flag that these programs do not have.
    let remedy = failure.remedy.as_ref().filter(|_| failure.what != FailureKind::Timeout);
    remedy.map_or_else(String::new, |remedy| format!("; {remedy}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_keeps_its_kind_and_its_remedy() {
        let failure = Failure::new(FailureKind::SetUp, "pipe2").with_remedy("close some files");
        let ended = ProgramExit::from_stopped("ipc-static", &Stopped::Failed(failure));
        assert_eq!(ended.code, EX_OSERR);
        assert_eq!(ended.message, "ipc-static: FAIL: could not be set up: pipe2; close some files");
        let broken = Failure::new(FailureKind::PeerGone, "write");
        assert_eq!(ProgramExit::from_stopped("ipc", &Stopped::Failed(broken)).code, EX_IOERR);
    }

    #[test]
    fn what_was_interrupted_says_so_whatever_else_the_code_is() {
        let ended = ProgramExit::from_stopped("lat_pipe", &Stopped::Interrupted);
        assert_eq!(ended.into_failed(), ProgramExit { code: INTERRUPTED, message: String::new() });
    }
}
