//! Search for the knee: the highest rate at which the 99th percentile of the latency stays below a bound.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Mode;
use crate::pacing::{Arrivals, Pacer, Pacing, message_count};
use crate::placement::Placement;

/// Settings of the search for the knee of each case of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KneeSearch {
    /// Bound on the 99th percentile, ns; null for ten times the median at a hundredth of the unpaced rate.
    pub p99_bound_ns: Option<u64>,
    /// Distributions of the times between messages; each has its own search.
    pub arrivals: Vec<Arrivals>,
    /// Pacers, each with its own search; empty for the default of each placement.
    pub pacers: Vec<Pacer>,
    /// Duration of the schedule of a run, ns; null for a second or 2,000 messages, whichever is longer.
    pub duration_ns: Option<u64>,
}

/// How the messages of one search are scheduled, at whichever rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct KneeSchedule {
    /// Distribution of the times between messages.
    pub arrivals: Arrivals,
    /// How the sender waits for the time of a message.
    pub pacer: Pacer,
}

impl KneeSearch {
    /// Returns the schedules of a case in `mode` at `placement`, each of which has its own search.
    #[must_use]
    pub fn schedules(&self, mode: Mode, placement: Placement) -> Vec<KneeSchedule> {
        let usual = [Pacer::usual(mode, placement)];
        let pacers = if self.pacers.is_empty() { &usual[..] } else { &self.pacers };
        let with_pacers = |&arrivals| {
            pacers.iter().map(move |&pacer| KneeSchedule { arrivals, pacer }).collect::<Vec<_>>()
        };
        self.arrivals.iter().flat_map(with_pacers).collect()
    }

    /// Returns the pacing of a run of `schedule` at `rate_per_s`.
    #[must_use]
    pub fn pacing(&self, schedule: KneeSchedule, rate_per_s: u64) -> Pacing {
        Pacing {
            rate_per_s,
            arrivals: schedule.arrivals,
            pacer: schedule.pacer,
            messages: message_count(rate_per_s, self.duration_ns.map(Duration::from_nanos)),
            seed: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_combination_has_its_search() {
        let search = KneeSearch {
            p99_bound_ns: None,
            arrivals: vec![Arrivals::Even, Arrivals::Poisson],
            pacers: Vec::new(),
            duration_ns: Some(100_000_000),
        };
        let schedules = search.schedules(Mode::TwoProcesses, Placement::Split);
        assert_eq!(schedules.len(), 2);
        assert!(schedules.iter().all(|schedule| schedule.pacer == Pacer::Spin));
        let both = KneeSearch { pacers: Pacer::ALL.to_vec(), ..search };
        let schedules = both.schedules(Mode::TwoProcesses, Placement::Split);
        assert_eq!(schedules.len(), 4);
        assert_eq!(both.pacing(schedules[3], 20_000).messages, 2_000);
    }
}
