//! Derives one outcome of a run from the answers of its peers.

use std::time::Duration;

use ipcperf_model::{Failure, FailureKind};
use rustix::io::Errno;

use super::peer_report::PeerReport;

/// Time the other peer has to report after one has failed, ms.
const GRACE_MS: u64 = 100;
/// Time that it has if the first one found it gone, ms: its death is the cause, and may take that long on a busy
/// machine.
const GONE_GRACE_MS: u64 = 2_000;

/// Time to wait for the other peer after `failure`.
pub(super) fn grace(failure: &Failure) -> Duration {
    let is_effect = rank(failure) == EFFECT;
    Duration::from_millis(if is_effect { GONE_GRACE_MS } else { GRACE_MS })
}

/// A peer's report or failure.
pub(super) type PeerResult = Result<PeerReport, Failure>;

/// The failure of a peer that has no end of the mechanism.
pub(super) fn missing_end() -> Failure {
    Failure::new(FailureKind::Worker, "the peer was started without its end")
}

/// Returns all reports, or the failure that explains the others: a peer found gone is an effect, not a cause.
pub(super) fn collect_reports<R>(
    results: impl IntoIterator<Item = Result<R, Failure>>,
) -> Result<Vec<R>, Failure> {
    let (mut reports, mut failures) = (Vec::new(), Vec::new());
    for answer in results {
        match answer {
            Ok(report) => reports.push(report),
            Err(failure) => failures.push(failure),
        }
    }
    failures.sort_by_key(rank);
    match failures.into_iter().next() {
        Some(failure) => Err(failure),
        None => Ok(reports),
    }
}

/// Rank of a failure that another one caused.
const EFFECT: u8 = 2;

/// Rank of a failure: lower is closer to the cause.
fn rank(failure: &Failure) -> u8 {
    let errno = failure.errno.map(Errno::from_raw_os_error);
    match failure.what {
        FailureKind::Died => 0,
        FailureKind::PeerGone => EFFECT,
        FailureKind::SetUp if matches!(errno, Some(Errno::PIPE | Errno::CONNRESET)) => EFFECT,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_peer_that_was_found_gone_has_more_time_to_be_so() {
        let grace_of = |what| grace(&Failure::new(what, "a place"));
        assert!(grace_of(FailureKind::PeerGone) > grace_of(FailureKind::Call));
        assert_eq!(grace_of(FailureKind::Died), Duration::from_millis(GRACE_MS));
    }

    #[test]
    fn the_failure_that_caused_the_others_is_returned() {
        let failure =
            |what, errno: Errno| Failure::from_errno(what, "a place", errno.raw_os_error());
        let cause = failure(FailureKind::SetUp, Errno::NOSPC);
        for effect in [
            failure(FailureKind::SetUp, Errno::PIPE),
            failure(FailureKind::SetUp, Errno::CONNRESET),
            failure(FailureKind::PeerGone, Errno::PIPE),
        ] {
            for both in [[cause.clone(), effect.clone()], [effect, cause.clone()]] {
                let outcome = collect_reports(both.map(Err::<(), _>));
                assert_eq!(outcome.unwrap_err(), cause);
            }
        }
    }
}
