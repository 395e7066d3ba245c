//! Several counted phases between the same two peers.

use std::thread;
use std::time::Duration;

use ipcperf_model::{MeasuredPhase, PhasePause, RepeatedPhases, Role, RoleUsage};
use serde::{Deserialize, Serialize};

use crate::shared_state::Control;

/// Number of times file systems are flushed before a phase: a later flush writes what an earlier one left.
const FLUSHES: usize = 3;
/// Time for the machine to settle after the flushes, as in `ipc-static`, which waits one second before its peers start
/// and one second in the sender.
const SETTLE_TIME: Duration = Duration::from_secs(2);

/// Report of a peer on one of its phases.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct PhaseReport {
    usage: RoleUsage,
    elapsed_ns: u64,
    arrived: u64,
}

/// Phases that have counted so far, and the number requested.
#[derive(Debug)]
pub(super) struct PhaseReports {
    requested: Option<RepeatedPhases>,
    done: Vec<PhaseReport>,
}

impl PhaseReports {
    pub(super) fn new(requested: Option<RepeatedPhases>) -> Self {
        Self { requested, done: Vec::new() }
    }

    /// Lets the machine settle, if requested. The other peer waits at the barrier.
    pub(super) fn settle(&self, role: Role) {
        let rest = self.requested.map_or(PhasePause::None, |phases| phases.rest);
        if rest == PhasePause::Settle && role != Role::Receiver {
            (0..FLUSHES).for_each(|_| rustix::fs::sync());
            thread::sleep(SETTLE_TIME);
        }
    }

    /// Records a counted phase and returns whether it was the last.
    pub(super) fn record(&mut self, usage: &RoleUsage, control: &Control) -> bool {
        let Some(requested) = self.requested else { return true };
        let (elapsed_ns, arrived) = (control.elapsed_ns(), control.messages());
        self.done.push(PhaseReport { usage: usage.clone(), elapsed_ns, arrived });
        self.done.len() as u64 >= u64::from(requested.count)
    }

    /// Whether a phase has counted.
    pub(super) fn has_begun(&self) -> bool {
        !self.done.is_empty()
    }

    /// Reports of all phases; empty if no repeats were requested.
    pub(super) fn reports(self) -> Vec<PhaseReport> {
        self.done
    }
}

/// Combines the reports of `reports` (the sender first) phase by phase.
pub(super) fn combine(reports: Vec<Vec<PhaseReport>>) -> Vec<MeasuredPhase> {
    let mut repeats: Vec<MeasuredPhase> = Vec::new();
    for peer in reports {
        for (number, phase) in peer.into_iter().enumerate() {
            match repeats.get_mut(number) {
                Some(known) => known.roles.push(phase.usage),
                None => repeats.push(MeasuredPhase {
                    elapsed_ns: phase.elapsed_ns,
                    messages: phase.arrived,
                    roles: vec![phase.usage],
                }),
            }
        }
    }
    repeats
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(role: Role, user_ns: u64) -> RoleUsage {
        RoleUsage {
            role,
            user_ns,
            system_ns: 0,
            minor_faults: 0,
            voluntary_switches: 0,
            involuntary_switches: 0,
            calls: None,
            short_writes: 0,
            short_reads: 0,
            cpu_ns: None,
            run_delay_ns: None,
        }
    }

    #[test]
    fn each_phase_has_the_usage_of_both_peers() {
        let phase = |role, number: u64| PhaseReport {
            usage: usage(role, number),
            elapsed_ns: 10 * number,
            arrived: number,
        };
        let all = |role| (1..=3).map(|number| phase(role, number)).collect();
        let repeats = combine(vec![all(Role::Sender), all(Role::Receiver)]);
        for (repeat, number) in repeats.iter().zip(1..) {
            assert_eq!((repeat.elapsed_ns, repeat.messages), (10 * number, number));
            let of: Vec<_> = repeat.roles.iter().map(|usage| (usage.role, usage.user_ns)).collect();
            assert_eq!(of, [(Role::Sender, number), (Role::Receiver, number)]);
        }
        assert_eq!(repeats.len(), 3);
    }

    #[test]
    fn one_phase_counts_if_no_number_was_requested() {
        let (control, usage) = (Control::default(), usage(Role::Sender, 1));
        assert!(PhaseReports::new(None).record(&usage, &control));
        let mut twice =
            PhaseReports::new(Some(RepeatedPhases { count: 2, rest: PhasePause::None }));
        assert!(!twice.record(&usage, &control));
        assert!(twice.record(&usage, &control));
        assert_eq!(twice.reports().len(), 2);
        let none = Some(RepeatedPhases { count: 0, rest: PhasePause::None });
        assert!(PhaseReports::new(none).record(&usage, &control), "none is taken for one");
    }
}
