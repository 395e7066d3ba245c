//! Stand-in for the implementation of a mechanism that exists only on Linux: its facts are in the list everywhere, and
//! it says what it needs.

use ipcperf_model::{Failure, FailureKind, Unavailable, WorkerReport};

use crate::channel::Mechanism;
use crate::platform::needs;

/// The part of such a mechanism that needs Linux, on another system.
pub(super) const IMPLEMENTATION: Mechanism = Mechanism {
    availability: unavailable,
    execute: |_, _| refuse(needs("Linux")),
    ..Mechanism::BASE
};

/// Whether a value of an option can be used on this system: it cannot.
pub(super) fn unavailable() -> Result<(), Unavailable> {
    Err(needs("Linux"))
}

fn refuse(Unavailable { reason, remedy }: Unavailable) -> WorkerReport {
    WorkerReport::Failed(Failure::new(FailureKind::SetUp, reason).with_remedy(remedy))
}

/// The same for mechanisms that exist on FreeBSD too.
#[cfg(any(not(any(target_os = "linux", target_os = "freebsd")), test))]
pub(super) mod or_freebsd {
    use super::{Mechanism, needs, refuse};

    /// The part of such a mechanism that needs one of the two systems, on another one.
    pub(in crate::mechanism) const IMPLEMENTATION: Mechanism = Mechanism {
        availability: || Err(needs("Linux or FreeBSD")),
        execute: |_, _| refuse(needs("Linux or FreeBSD")),
        ..Mechanism::BASE
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stand_ins_say_what_they_need() {
        for (stand_in, reason) in [
            (IMPLEMENTATION, "needs Linux"),
            (or_freebsd::IMPLEMENTATION, "needs Linux or FreeBSD"),
        ] {
            let missing = (stand_in.availability)().unwrap_err();
            assert_eq!(missing.reason, reason);
            let WorkerReport::Failed(failure) = refuse(missing.clone()) else { panic!("it ran") };
            assert_eq!(failure.place, reason);
            assert_eq!(failure.remedy, Some(missing.remedy));
        }
        assert_eq!(unavailable(), Err(needs("Linux")));
    }
}
