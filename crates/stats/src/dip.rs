//! The dip test for more than one mode (Hartigan and Hartigan 1985, *The Dip Test of Unimodality*, Annals of Statistics
//! 13). It compares the minimum distance between the distribution of the values and any unimodal distribution with that
//! of uniform values, the least favorable unimodal case.

use crate::{moments::scaled, quantile::ascending};

/// Result of the dip test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dip {
    /// The dip: the largest distance between the empirical distribution function and that of the nearest unimodal
    /// distribution. From `1 / 2n` to 0.25; dimensionless.
    pub statistic: f64,
    /// Probability of a dip this large or larger among as many uniform values, from 0.001 to 1; 0.001 stands for
    /// anything below as well.
    pub p_value: f64,
}

/// The dip test of `values` in any order. Returns `None` for fewer than four values, which are always compatible with
/// one mode, and if one is not finite.
///
/// The probability is interpolated in a table computed for this crate: quantiles of the dip over 200,000 samples of
/// uniform values for each n up to 30, and over 100,000 to 10,000 samples for n up to 5000
/// (`tests/recorded/make_dip_table.py`). Ties are not corrected: coarsely rounded values have a large dip for that
/// reason alone.
#[must_use]
pub fn dip_test(values: &[f64]) -> Option<Dip> {
    if values.len() < MIN_VALUES {
        return None;
    }
    let steps = steps(&scaled(&ascending(values)?)?);
    #[allow(clippy::cast_precision_loss, reason = "a number of values")]
    let n = values.len() as f64;
    let statistic = twice_dip(&steps) / (2.0 * n);
    Some(Dip { statistic, p_value: p_value(statistic, n) })
}

const MIN_VALUES: usize = 4;

/// A jump of the empirical distribution function, in counts.
#[derive(Clone, Copy)]
struct Step {
    at: f64,
    below: f64,
    up_to: f64,
}

fn steps(sorted: &[f64]) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for &at in sorted {
        match steps.last_mut() {
            Some(last) if last.at == at => last.up_to += 1.0,
            last => {
                let below = last.map_or(0.0, |last| last.up_to);
                steps.push(Step { at, below, up_to: below + 1.0 });
            }
        }
    }
    steps
}

/// Twice the dip, in counts. The nearest unimodal distribution is convex up to some interval and concave after it. The
/// search narrows the interval from both ends until the distance inside cannot exceed the one found outside (Hartigan
/// and Hartigan 1985, section 3).
fn twice_dip(steps: &[Step]) -> f64 {
    let (mut low, mut high) = (0, steps.len() - 1);
    let mut largest = 1.0_f64;
    while low < high {
        let convex = Hull::new(steps, low, high, Side::Below);
        let concave = Hull::new(steps, low, high, Side::Above);
        let widest = widest_gap(steps, &convex, &concave);
        if widest.distance <= largest {
            break;
        }
        // The ends of the interval are left to the next iteration: the mode may be a jump there.
        let before = (low..widest.low).map(|i| steps[i].up_to - convex.height(steps, i));
        let after = (widest.high + 1..=high).map(|i| concave.height(steps, i) - steps[i].below);
        largest = before.chain(after).fold(largest, f64::max);
        if (widest.low, widest.high) == (low, high) {
            break;
        }
        (low, high) = (widest.low, widest.high);
    }
    largest
}

/// Side of the distribution function on which a hull lies.
#[derive(Clone, Copy)]
enum Side {
    Below,
    Above,
}

/// Greatest convex function below the steps, or least concave one above, given by the steps that it touches.
struct Hull {
    side: Side,
    touches: Vec<usize>,
}

impl Hull {
    /// Computed with the scan of Andrew (1979) over ascending steps.
    fn new(steps: &[Step], low: usize, high: usize, side: Side) -> Self {
        let mut touches: Vec<usize> = Vec::new();
        let height = |i: usize| side.height(&steps[i]);
        for next in low..=high {
            while let [.., first, middle] = touches[..] {
                let run = |i: usize| steps[i].at - steps[first].at;
                let rise = |i: usize| height(i) - height(first);
                let turn = run(middle) * rise(next) - rise(middle) * run(next);
                let keeps = match side {
                    Side::Below => turn > 0.0,
                    Side::Above => turn < 0.0,
                };
                if keeps {
                    break;
                }
                touches.pop();
            }
            touches.push(next);
        }
        Self { side, touches }
    }

    /// Height of the hull at step `i`.
    fn height(&self, steps: &[Step], i: usize) -> f64 {
        let after = self.touches.partition_point(|&touch| touch < i).min(self.touches.len() - 1);
        let right = self.touches[after];
        if right == i || after == 0 {
            return self.side.height(&steps[right]);
        }
        let left = self.touches[after - 1];
        let share = (steps[i].at - steps[left].at) / (steps[right].at - steps[left].at);
        let (from, to) = (self.side.height(&steps[left]), self.side.height(&steps[right]));
        from + share * (to - from)
    }

    /// Touching steps next to `i`: the last one not above it, and the first one not below.
    fn around(&self, i: usize) -> (usize, usize) {
        let after = self.touches.partition_point(|&touch| touch < i);
        let up_to = self.touches.partition_point(|&touch| touch <= i);
        (self.touches[up_to.max(1) - 1], self.touches[after.min(self.touches.len() - 1)])
    }
}

impl Side {
    fn height(self, step: &Step) -> f64 {
        match self {
            Self::Below => step.below,
            Self::Above => step.up_to,
        }
    }
}

/// Point at which the two hulls are furthest apart, and the interval that contains the mode if that distance is the
/// dip.
struct WidestGap {
    distance: f64,
    low: usize,
    high: usize,
}

fn widest_gap(steps: &[Step], convex: &Hull, concave: &Hull) -> WidestGap {
    let mut widest = WidestGap { distance: 0.0, low: 0, high: 0 };
    let mut see = |i: usize, low: usize, high: usize| {
        let distance = concave.height(steps, i) - convex.height(steps, i);
        if distance > widest.distance {
            widest = WidestGap { distance, low, high };
        }
    };
    for &i in &convex.touches {
        see(i, i, concave.around(i).1);
    }
    for &i in &concave.touches {
        see(i, convex.around(i).0, i);
    }
    widest
}

/// Probability that `n` uniform values have a dip of `statistic` or more.
fn p_value(statistic: f64, n: f64) -> f64 {
    let scaled = statistic * n.sqrt();
    let row = critical(n);
    let passed = row.partition_point(|&critical| critical <= scaled);
    match passed {
        0 => 1.0,
        all if all == P_VALUES.len() => P_VALUES[all - 1],
        within => {
            let share = (scaled - row[within - 1]) / (row[within] - row[within - 1]);
            let (from, to) = (P_VALUES[within - 1], P_VALUES[within]);
            from + share * (to - from)
        }
    }
}

/// Row of the table for `n`; between two rows, interpolated in the logarithm of n.
fn critical(n: f64) -> [f64; P_VALUES.len()] {
    let after = CRITICAL.partition_point(|&(of, _)| of < n).min(CRITICAL.len() - 1);
    let (next_n, next) = CRITICAL[after];
    if after == 0 || n >= next_n {
        return next;
    }
    let (last_n, last) = CRITICAL[after - 1];
    let share = (n / last_n).ln() / (next_n / last_n).ln();
    std::array::from_fn(|i| last[i] + share * (next[i] - last[i]))
}

/// Probabilities of the columns of [`CRITICAL`].
const P_VALUES: [f64; 17] = [
    0.99, 0.95, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001,
];

/// n, and the values that the dip times the square root of n exceeds with each probability.
#[allow(clippy::approx_constant, reason = "simulated, not computed")]
#[rustfmt::skip]
const CRITICAL: [(f64, [f64; P_VALUES.len()]); 17] = [
    (4.0, [0.2500, 0.2500, 0.2500, 0.2500, 0.2500, 0.2500, 0.2500, 0.2500, 0.2652, 0.3145, 0.3748, 0.4139, 0.4474, 0.4631, 0.4740, 0.4840, 0.4889]),
    (5.0, [0.2236, 0.2236, 0.2236, 0.2236, 0.2236, 0.2433, 0.2721, 0.3004, 0.3287, 0.3598, 0.3951, 0.4167, 0.4328, 0.4393, 0.4431, 0.4455, 0.4463]),
    (6.0, [0.2041, 0.2041, 0.2041, 0.2261, 0.2545, 0.2792, 0.3018, 0.3232, 0.3444, 0.3662, 0.3899, 0.4035, 0.4390, 0.4704, 0.4943, 0.5211, 0.5355]),
    (7.0, [0.1890, 0.1925, 0.2166, 0.2490, 0.2732, 0.2935, 0.3116, 0.3285, 0.3450, 0.3615, 0.3817, 0.4227, 0.4635, 0.4868, 0.5043, 0.5234, 0.5347]),
    (8.0, [0.1768, 0.2090, 0.2319, 0.2613, 0.2821, 0.2992, 0.3141, 0.3279, 0.3411, 0.3550, 0.4015, 0.4361, 0.4694, 0.4893, 0.5052, 0.5259, 0.5515]),
    (9.0, [0.1838, 0.2201, 0.2415, 0.2672, 0.2853, 0.2997, 0.3124, 0.3239, 0.3374, 0.3685, 0.4090, 0.4395, 0.4710, 0.4922, 0.5181, 0.5446, 0.5628]),
    (10.0, [0.1925, 0.2273, 0.2467, 0.2696, 0.2854, 0.2982, 0.3091, 0.3229, 0.3477, 0.3758, 0.4130, 0.4417, 0.4768, 0.5058, 0.5298, 0.5561, 0.5718]),
    (12.0, [0.2041, 0.2344, 0.2506, 0.2693, 0.2818, 0.2952, 0.3152, 0.3352, 0.3562, 0.3807, 0.4157, 0.4499, 0.4886, 0.5139, 0.5362, 0.5651, 0.5845]),
    (15.0, [0.2114, 0.2361, 0.2487, 0.2678, 0.2882, 0.3061, 0.3234, 0.3410, 0.3605, 0.3855, 0.4264, 0.4602, 0.4997, 0.5268, 0.5506, 0.5793, 0.5989]),
    (20.0, [0.2121, 0.2356, 0.2537, 0.2772, 0.2952, 0.3115, 0.3279, 0.3472, 0.3687, 0.3948, 0.4348, 0.4703, 0.5117, 0.5391, 0.5663, 0.5980, 0.6218]),
    (30.0, [0.2165, 0.2434, 0.2595, 0.2826, 0.3017, 0.3190, 0.3365, 0.3554, 0.3773, 0.4045, 0.4461, 0.4829, 0.5266, 0.5566, 0.5840, 0.6166, 0.6389]),
    (50.0, [0.2222, 0.2492, 0.2666, 0.2899, 0.3090, 0.3271, 0.3455, 0.3648, 0.3874, 0.4161, 0.4588, 0.4968, 0.5411, 0.5725, 0.6029, 0.6392, 0.6630]),
    (100.0, [0.2288, 0.2568, 0.2745, 0.2983, 0.3181, 0.3366, 0.3555, 0.3755, 0.3985, 0.4273, 0.4718, 0.5114, 0.5591, 0.5937, 0.6235, 0.6599, 0.6899]),
    (200.0, [0.2327, 0.2619, 0.2795, 0.3043, 0.3239, 0.3424, 0.3614, 0.3812, 0.4048, 0.4349, 0.4808, 0.5221, 0.5690, 0.6044, 0.6383, 0.6801, 0.7068]),
    (500.0, [0.2365, 0.2663, 0.2845, 0.3096, 0.3294, 0.3485, 0.3678, 0.3888, 0.4125, 0.4427, 0.4876, 0.5283, 0.5788, 0.6130, 0.6448, 0.6829, 0.7124]),
    (1000.0, [0.2425, 0.2706, 0.2883, 0.3128, 0.3330, 0.3519, 0.3711, 0.3926, 0.4165, 0.4469, 0.4932, 0.5338, 0.5870, 0.6198, 0.6526, 0.6957, 0.7304]),
    (5000.0, [0.2446, 0.2737, 0.2924, 0.3177, 0.3383, 0.3569, 0.3761, 0.3960, 0.4190, 0.4499, 0.4980, 0.5414, 0.5891, 0.6247, 0.6573, 0.6935, 0.7211]),
];
