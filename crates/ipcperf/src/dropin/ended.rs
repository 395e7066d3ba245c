//! Endings of a compatibility program that fails.

use ipcperf_model::{Failure, FailureKind};

use crate::last_signal;
use crate::runner::Stopped;

/// Codes of sysexits(3) for wrong usage, for a refusal by the system, and for a transfer that fails.
pub(super) const EX_USAGE: u8 = 64;
const EX_OSERR: u8 = 71;
const EX_IOERR: u8 = 74;
/// Exit code for any failure in programs that do not use sysexits.
pub(super) const FAILED: u8 = 1;
/// Exit codes that a shell shows for death by SIGINT and by SIGPIPE. The command dies of the signal at its end; until
/// then these codes stand for it.
const INTERRUPTED: u8 = 130;
const BROKEN_PIPE: u8 = 141;

/// Exit code, and the message for standard error.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Ended {
    pub(super) code: u8,
    pub(super) words: String,
}

impl Ended {
    /// Wrong usage; `usage` is the usage text.
    pub(super) fn wrong_usage(code: u8, usage: String) -> Self {
        Self { code, words: usage }
    }

    /// A refusal by the system, or a resource that it lacks.
    pub(super) fn because(words: &str) -> Self {
        Self { code: EX_OSERR, words: words.to_owned() }
    }

    /// A run of the program `name` was stopped. Failures map to exit codes as far as the original distinguished them.
    pub(super) fn stopped(name: &str, why: &Stopped) -> Self {
        match why {
            Stopped::Interrupted => Self { code: INTERRUPTED, words: String::new() },
            Stopped::Failed(failure) => Self {
                code: code_of(failure),
                words: format!("{name}: FAIL: {failure}{}", remedy(failure)),
            },
        }
    }

    /// The reader of standard output is gone: the program dies of SIGPIPE, without a message.
    pub(super) fn broken_pipe() -> Self {
        last_signal::pipe_is_broken();
        Self { code: BROKEN_PIPE, words: String::new() }
    }

    /// Replaces the exit code with [`FAILED`], for originals that had one code for every failure.
    pub(super) fn into_failed(self) -> Self {
        let is_by_signal = [INTERRUPTED, BROKEN_PIPE].contains(&self.code);
        let code = if is_by_signal { self.code } else { FAILED };
        Self { code, ..self }
    }
}

fn code_of(failure: &Failure) -> u8 {
    match failure.what {
        FailureKind::Call
        | FailureKind::PeerGone
        | FailureKind::Corrupt
        | FailureKind::Boundary
        | FailureKind::Deadline => EX_IOERR,
        FailureKind::SetUp
        | FailureKind::Died
        | FailureKind::Panicked
        | FailureKind::Worker
        | FailureKind::Instrument
        | FailureKind::Answer => EX_OSERR,
    }
}

fn remedy(failure: &Failure) -> String {
    // The remedy for a timeout is a flag that these programs do not have.
    let remedy = failure.remedy.as_ref().filter(|_| failure.what != FailureKind::Deadline);
    remedy.map_or_else(String::new, |remedy| format!("; {remedy}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_keeps_its_kind_and_its_remedy() {
        let failure = Failure::new(FailureKind::SetUp, "pipe2").with_remedy("close some files");
        let ended = Ended::stopped("ipc-static", &Stopped::Failed(failure));
        assert_eq!(ended.code, EX_OSERR);
        assert_eq!(ended.words, "ipc-static: FAIL: could not be set up: pipe2; close some files");
        let broken = Failure::new(FailureKind::PeerGone, "write");
        assert_eq!(Ended::stopped("ipc", &Stopped::Failed(broken)).code, EX_IOERR);
    }

    #[test]
    fn what_was_interrupted_says_so_whatever_else_the_code_is() {
        let ended = Ended::stopped("lat_pipe", &Stopped::Interrupted);
        assert_eq!(ended.into_failed(), Ended { code: INTERRUPTED, words: String::new() });
    }
}
