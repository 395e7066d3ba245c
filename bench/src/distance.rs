//! Distance between two CPUs. In a virtual machine it may change from one minute to the next, so each run is assigned
//! its own distance.

use ipcperf_engine::limits::cacheline::CLOSE_BELOW_NS;
use ipcperf_model::Measurement;

/// Maximum factor between the two probes of a run; beyond it, the CPUs moved or the run was disturbed.
const AGREEMENT: f64 = 1.2;

/// Distance class of a pair of CPUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Distance {
    Close,
    Far,
}

impl Distance {
    pub(crate) const ALL: [Self; 2] = [Self::Close, Self::Far];

    /// Returns the class of the CPUs of a run; `None` if its two probes disagree or are missing.
    pub(crate) fn from_measurement(measured: &Measurement) -> Option<Self> {
        measured.cacheline_round_trip_ns.and_then(Self::between)
    }

    fn between([before_ns, after_ns]: [f64; 2]) -> Option<Self> {
        if before_ns.max(after_ns) > AGREEMENT * before_ns.min(after_ns) {
            return None;
        }
        let is_close = f64::midpoint(before_ns, after_ns) < CLOSE_BELOW_NS;
        Some(if is_close { Self::Close } else { Self::Far })
    }

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Close => "close",
            Self::Far => "far",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_has_the_distance_both_its_probes_say() {
        assert_eq!(Distance::between([46.0, 50.0]), Some(Distance::Close));
        assert_eq!(Distance::between([375.0, 340.0]), Some(Distance::Far));
        assert_eq!(Distance::between([46.0, 375.0]), None);
        assert_eq!(Distance::between([46.0, 60.0]), None);
    }
}
