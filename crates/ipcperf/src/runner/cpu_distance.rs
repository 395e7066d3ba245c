//! Classes of distance between two CPUs, found from the cache-line probes.
//!
//! The CPUs of a virtual machine may be close now and far a minute later, with nothing in between. A probe joins the
//! class whose median it is near. A probe that is near no class starts a new one, which is named after that first
//! figure. No distances are assumed: one machine has classes at 46 and 375 ns, another at 90 and 160 ns.

use ipcperf_results::{ExclusionReason, Sample};
use ipcperf_stats::median;

/// Factor by which a probe may differ from the median of its class. Probes of one pair of CPUs at one distance agree
/// within a few percent; the distances of a machine (one core, one cache, one socket, two sockets) differ by a factor
/// of about 2 or more.
const MAX_RATIO: f64 = 1.5;
/// Maximum number of probes stored per class; more would not make its median noticeably more precise.
const MAX_PROBES: usize = 1_000;

/// Classes found so far.
#[derive(Debug, Default)]
pub(super) struct CpuDistanceClasses {
    classes: Vec<CpuDistanceClass>,
}

#[derive(Debug)]
struct CpuDistanceClass {
    name: String,
    probes_ns: Vec<f64>,
}

impl CpuDistanceClasses {
    /// Restores the classes recorded in `samples`, with the probes that formed them.
    pub(super) fn from_samples<'a>(samples: impl IntoIterator<Item = &'a Sample>) -> Self {
        let mut classes = Self::default();
        let counts =
            |sample: &&Sample| !sample.excluded.is_some_and(ExclusionReason::is_disturbance);
        for sample in samples.into_iter().filter(counts) {
            let pair = sample.cpu_pair_class.as_ref().zip(sample.cacheline_round_trip_ns);
            if let Some((name, ns)) = pair {
                classes.class(name.clone()).add_probe(ns);
            }
        }
        classes
    }

    /// Returns the class of two CPUs whose cache-line round trip takes `ns`. A disturbed run neither creates nor
    /// changes a class, because its probe may have been disturbed too.
    pub(super) fn classify(
        &mut self,
        ns: f64,
        excluded: Option<ExclusionReason>,
    ) -> Option<String> {
        let near = self.classes.iter().filter(|class| class.factor(ns) < MAX_RATIO);
        let nearest = near.min_by(|a, b| a.factor(ns).total_cmp(&b.factor(ns)));
        let name = nearest.map(|class| class.name.clone());
        if excluded.is_some_and(ExclusionReason::is_disturbance) {
            return name;
        }
        let name = name.unwrap_or_else(|| format!("{ns:.0}ns"));
        self.class(name.clone()).add_probe(ns);
        Some(name)
    }

    fn class(&mut self, name: String) -> &mut CpuDistanceClass {
        let found = self.classes.iter().position(|class| class.name == name);
        let index = found.unwrap_or_else(|| {
            self.classes.push(CpuDistanceClass { name, probes_ns: Vec::new() });
            self.classes.len() - 1
        });
        &mut self.classes[index]
    }
}

impl CpuDistanceClass {
    fn add_probe(&mut self, ns: f64) {
        if self.probes_ns.len() < MAX_PROBES {
            self.probes_ns.push(ns);
        }
    }

    /// Returns the factor, at least 1, between `ns` and the median of this class.
    fn factor(&self, ns: f64) -> f64 {
        let middle = median(&self.probes_ns).unwrap_or(ns);
        (ns / middle).max(middle / ns)
    }
}

#[cfg(test)]
mod tests {
    use ipcperf_model::workload::WorkloadKind;
    use ipcperf_results::testing::sample;

    use super::*;

    fn names(classes: &mut CpuDistanceClasses, probes_ns: &[f64]) -> Vec<String> {
        probes_ns.iter().filter_map(|&ns| classes.classify(ns, None)).collect()
    }

    #[test]
    fn two_distances_make_two_classes_named_after_their_founders() {
        let names =
            names(&mut CpuDistanceClasses::default(), &[375.0, 360.0, 46.2, 390.0, 48.0, 44.1]);
        assert_eq!(names, ["375ns", "375ns", "46ns", "375ns", "46ns", "46ns"]);
    }

    #[test]
    fn one_distance_with_some_noise_is_one_class() {
        let noisy = (0..200).map(|k| 250.0 * (1.0 + 0.1 * f64::from(k % 7 - 3) / 3.0));
        let names = names(&mut CpuDistanceClasses::default(), &noisy.collect::<Vec<_>>());
        assert!(names.len() == 200 && names.iter().all(|name| name == "225ns"));
    }

    #[test]
    fn a_disturbed_probe_founds_nothing() {
        let mut classes = CpuDistanceClasses::default();
        let disturbed = Some(ExclusionReason::Disturbed);
        assert_eq!(classes.classify(46_836.0, disturbed), None);
        assert_eq!(classes.classify(250.0, None).as_deref(), Some("250ns"));
        assert_eq!(classes.classify(260.0, disturbed).as_deref(), Some("250ns"));
    }

    #[test]
    fn classes_come_back_from_samples() {
        let mut seen = sample("pipe", WorkloadKind::Stream, 64, 1, 1_000);
        seen.cpu_pair_class = Some("375ns".to_owned());
        seen.cacheline_round_trip_ns = Some(380.0);
        let mut classes = CpuDistanceClasses::from_samples([&seen]);
        assert_eq!(names(&mut classes, &[390.0, 50.0]), ["375ns", "50ns"]);
    }
}
