//! Pairs of runs, ours and theirs, and whether others used the CPU meanwhile.

use super::occupancy::Occupancy;
use crate::error::BenchError;
use crate::estimate::Estimate;
use crate::sampling::alternate;

/// One run of each, in ns per operation.
#[derive(Clone, Copy, Debug)]
struct ToolPair {
    ours_ns: f64,
    theirs_ns: f64,
    /// `None` if the kernel does not provide the counts.
    is_disturbed: Option<bool>,
}

/// All pairs: the figure includes disturbed ones, and the note names them.
#[derive(Debug)]
pub(super) struct ToolPairs(Vec<ToolPair>);

impl ToolPair {
    fn ratio(self) -> f64 {
        self.ours_ns / self.theirs_ns
    }
}

impl ToolPairs {
    /// Makes `count` pairs on `cpu`; the order alternates.
    pub(super) fn take(
        cpu: u32,
        count: u16,
        ours: impl Fn() -> Result<f64, BenchError>,
        theirs: impl Fn() -> Result<f64, BenchError>,
    ) -> Result<Self, BenchError> {
        let take = |number| {
            let before = Occupancy::read(cpu);
            let (ours_ns, theirs_ns) = alternate(number, &ours, &theirs)?;
            let is_disturbed = Occupancy::read(cpu)
                .zip(before)
                .map(|(now, before)| now.is_disturbed_since(before));
            Ok(ToolPair { ours_ns, theirs_ns, is_disturbed })
        };
        (0..usize::from(count)).map(take).collect::<Result<_, _>>().map(Self)
    }

    /// Returns the median of our time divided by theirs.
    pub(super) fn estimate(&self) -> Option<Estimate> {
        Estimate::from_values(&self.0.iter().map(|pair| pair.ratio()).collect::<Vec<_>>())
    }

    /// Returns both medians and the number of disturbed pairs.
    pub(super) fn note(&self) -> String {
        let both = [|pair: &ToolPair| pair.ours_ns, |pair: &ToolPair| pair.theirs_ns];
        let [ours_us, theirs_us] = both.map(|side| self.median_of(|_| true, side) / 1e3);
        let disturbance = self.disturbance();
        format!("medians: {ours_us:.3} us (ipcperf), {theirs_us:.3} us (reference); {disturbance}")
    }

    fn disturbance(&self) -> String {
        if self.0.iter().any(|pair| pair.is_disturbed.is_none()) {
            return "/proc does not show whether other processes used the CPU".to_owned();
        }
        let is_quiet = |pair: &ToolPair| pair.is_disturbed == Some(false);
        let (all, quiet) = (self.0.len(), self.0.iter().filter(|pair| is_quiet(pair)).count());
        match quiet {
            quiet if quiet == all => "no pair was disturbed".to_owned(),
            0 => "all pairs were disturbed".to_owned(),
            _ => format!(
                "{} of {all} pairs disturbed, median of the others {:.3}",
                all - quiet,
                self.median_of(is_quiet, |pair| pair.ratio())
            ),
        }
    }

    fn median_of(
        &self,
        which: impl Fn(&ToolPair) -> bool,
        figure: impl Fn(&ToolPair) -> f64,
    ) -> f64 {
        let figures: Vec<f64> = self.0.iter().filter(|pair| which(pair)).map(figure).collect();
        Estimate::from_values(&figures).map_or(f64::NAN, |estimate| estimate.median)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(disturbed: [Option<bool>; 3]) -> ToolPairs {
        let pair = |(ours_ns, is_disturbed)| ToolPair { ours_ns, theirs_ns: 1_000.0, is_disturbed };
        ToolPairs([1_000.0, 1_010.0, 2_000.0].into_iter().zip(disturbed).map(pair).collect())
    }

    #[test]
    fn a_disturbed_pair_is_named_and_stays() {
        let pairs = pairs([Some(false), Some(false), Some(true)]);
        let estimate = pairs.estimate().unwrap();
        assert_eq!(estimate.n, 3);
        assert!((estimate.median - 1.010).abs() < 1e-9);
        let note = "medians: 1.010 us (ipcperf), 1.000 us (reference); \
            1 of 3 pairs disturbed, median of the others 1.005";
        assert_eq!(pairs.note(), note);
    }

    #[test]
    fn what_is_not_known_is_not_called_quiet() {
        assert!(pairs([Some(false); 3]).note().ends_with("no pair was disturbed"));
        assert!(pairs([Some(true); 3]).note().ends_with("all pairs were disturbed"));
        assert!(pairs([Some(false), None, None]).note().contains("/proc does not show"));
    }

    #[test]
    fn as_many_pairs_as_asked_for_and_trouble_ends_them() {
        let pairs = ToolPairs::take(0, 7, || Ok(2.0), || Ok(1.0)).unwrap();
        assert_eq!(pairs.estimate().unwrap().n, 7);
        let failed = ToolPairs::take(0, 7, || Ok(2.0), || Err(BenchError::DebugBuild));
        assert!(failed.is_err());
    }
}
