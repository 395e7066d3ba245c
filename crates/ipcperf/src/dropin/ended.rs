//! How a program of the documents ends where it does not do what was asked.

use ipcperf_model::{Failure, FailureKind};

use crate::last_signal;
use crate::runner::Stopped;

/// What sysexits(3) has for wrong usage, for what the system refuses, and for what fails in mid-transfer.
pub(super) const EX_USAGE: u8 = 64;
const EX_OSERR: u8 = 71;
const EX_IOERR: u8 = 74;
/// What programs without sysexits end with, whatever went wrong.
pub(super) const FAILED: u8 = 1;
/// What a shell shows of a program that died of SIGINT, and of SIGPIPE. The command dies of them at its end; these
/// codes stand for that until then.
const INTERRUPTED: u8 = 130;
const BROKEN_PIPE: u8 = 141;

/// Its last words, for standard error, and its exit code.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Ended {
    pub(super) code: u8,
    pub(super) words: String,
}

impl Ended {
    /// Wrong usage: `usage` says how it is used.
    pub(super) fn wrong_usage(code: u8, usage: String) -> Self {
        Self { code, words: usage }
    }

    /// The system does not have, or not give, what was asked.
    pub(super) fn because(words: &str) -> Self {
        Self { code: EX_OSERR, words: words.to_owned() }
    }

    /// A run of program `name` was stopped. A failure keeps its kind, as far as the original told them apart.
    pub(super) fn stopped(name: &str, why: &Stopped) -> Self {
        match why {
            Stopped::Interrupted => Self { code: INTERRUPTED, words: String::new() },
            Stopped::Failed(failure) => Self {
                code: code_of(failure),
                words: format!("{name}: FAIL: {failure}{}", remedy(failure)),
            },
        }
    }

    /// Nobody reads any more what it prints: it dies of SIGPIPE, without a word.
    pub(super) fn broken_pipe() -> Self {
        last_signal::pipe_is_broken();
        Self { code: BROKEN_PIPE, words: String::new() }
    }

    /// The same end with [`FAILED`]: the original had one code for everything.
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
    // Its remedy is a flag that these programs do not have.
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
