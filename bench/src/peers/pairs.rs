//! Pairs of runs, ours and theirs, and whether others used the CPU meanwhile.

use super::occupancy::Occupancy;
use crate::estimate::Estimate;
use crate::sampling::in_turn;
use crate::trouble::Trouble;

/// One run of each, in ns per operation.
#[derive(Clone, Copy, Debug)]
struct Pair {
    ours_ns: f64,
    theirs_ns: f64,
    /// `None` if the kernel does not provide the counts.
    is_disturbed: Option<bool>,
}

/// All pairs: the figure includes disturbed ones, and the note names them.
#[derive(Debug)]
pub(super) struct Pairs(Vec<Pair>);

impl Pair {
    fn ratio(self) -> f64 {
        self.ours_ns / self.theirs_ns
    }
}

impl Pairs {
    /// Makes `count` pairs on `cpu`; the order alternates.
    pub(super) fn take(
        cpu: u32,
        count: u16,
        ours: impl Fn() -> Result<f64, Trouble>,
        theirs: impl Fn() -> Result<f64, Trouble>,
    ) -> Result<Self, Trouble> {
        let take = |number| {
            let before = Occupancy::of(cpu);
            let (ours_ns, theirs_ns) = in_turn(number, &ours, &theirs)?;
            let is_disturbed =
                Occupancy::of(cpu).zip(before).map(|(now, before)| now.is_disturbed_since(before));
            Ok(Pair { ours_ns, theirs_ns, is_disturbed })
        };
        (0..usize::from(count)).map(take).collect::<Result<_, _>>().map(Self)
    }

    /// Returns the median of our time divided by theirs.
    pub(super) fn estimate(&self) -> Option<Estimate> {
        Estimate::of(&self.0.iter().map(|pair| pair.ratio()).collect::<Vec<_>>())
    }

    /// Returns both medians and the number of disturbed pairs.
    pub(super) fn note(&self) -> String {
        let both = [|pair: &Pair| pair.ours_ns, |pair: &Pair| pair.theirs_ns];
        let [ours_us, theirs_us] = both.map(|side| self.median_of(|_| true, side) / 1e3);
        let disturbance = self.disturbance();
        format!("medians {ours_us:.3} us ours, {theirs_us:.3} us theirs; {disturbance}")
    }

    fn disturbance(&self) -> String {
        if self.0.iter().any(|pair| pair.is_disturbed.is_none()) {
            return "/proc does not say whether others had the CPU".to_owned();
        }
        let is_quiet = |pair: &Pair| pair.is_disturbed == Some(false);
        let (all, quiet) = (self.0.len(), self.0.iter().filter(|pair| is_quiet(pair)).count());
        match quiet {
            quiet if quiet == all => "no pair disturbed".to_owned(),
            0 => "all pairs disturbed".to_owned(),
            _ => format!(
                "{} of {all} pairs disturbed, median of the others {:.3}",
                all - quiet,
                self.median_of(is_quiet, |pair| pair.ratio())
            ),
        }
    }

    fn median_of(&self, which: impl Fn(&Pair) -> bool, figure: impl Fn(&Pair) -> f64) -> f64 {
        let figures: Vec<f64> = self.0.iter().filter(|pair| which(pair)).map(figure).collect();
        Estimate::of(&figures).map_or(f64::NAN, |estimate| estimate.median)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(disturbed: [Option<bool>; 3]) -> Pairs {
        let pair = |(ours_ns, is_disturbed)| Pair { ours_ns, theirs_ns: 1_000.0, is_disturbed };
        Pairs([1_000.0, 1_010.0, 2_000.0].into_iter().zip(disturbed).map(pair).collect())
    }

    #[test]
    fn a_disturbed_pair_is_named_and_stays() {
        let pairs = pairs([Some(false), Some(false), Some(true)]);
        let estimate = pairs.estimate().unwrap();
        assert_eq!(estimate.n, 3);
        assert!((estimate.median - 1.010).abs() < 1e-9);
        let note = "medians 1.010 us ours, 1.000 us theirs; \
            1 of 3 pairs disturbed, median of the others 1.005";
        assert_eq!(pairs.note(), note);
    }

    #[test]
    fn what_is_not_known_is_not_called_quiet() {
        assert!(pairs([Some(false); 3]).note().ends_with("no pair disturbed"));
        assert!(pairs([Some(true); 3]).note().ends_with("all pairs disturbed"));
        assert!(pairs([Some(false), None, None]).note().contains("/proc does not say"));
    }

    #[test]
    fn as_many_pairs_as_asked_for_and_trouble_ends_them() {
        let pairs = Pairs::take(0, 7, || Ok(2.0), || Ok(1.0)).unwrap();
        assert_eq!(pairs.estimate().unwrap().n, 7);
        let failed = Pairs::take(0, 7, || Ok(2.0), || Err(Trouble::DebugBuild));
        assert!(failed.is_err());
    }
}
