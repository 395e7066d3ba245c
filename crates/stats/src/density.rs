//! Kernel density estimate of values on a logarithmic scale: Gaussian kernels on a grid, and the valleys of the
//! density.

/// Values that are equal, or that fell into the same bin of a histogram.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WeightedPoint {
    /// Value, above 0.
    pub(crate) value: f64,
    /// Natural logarithm of the value.
    pub(crate) log: f64,
    /// Number of values.
    pub(crate) count: u64,
}

impl WeightedPoint {
    #[allow(clippy::cast_precision_loss, reason = "counts stay below 2^53")]
    pub(crate) fn weight(&self) -> f64 {
        self.count as f64
    }
}

/// Total number of values in `points`.
pub(crate) fn weight(points: &[WeightedPoint]) -> f64 {
    points.iter().map(WeightedPoint::weight).sum()
}

/// Grid points per bandwidth: enough for the grid to have no visible effect.
const STEPS_PER_BANDWIDTH: f64 = 4.0;
/// Cutoff of the kernel, in bandwidths.
const KERNEL_CUTOFF: f64 = 4.0;

/// A density over the logarithm of the values, at equally spaced points. The heights are not normalized.
pub(crate) struct Density {
    first: f64,
    step: f64,
    heights: Vec<f64>,
}

/// A region where the density falls below both of the peaks around it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Valley {
    /// Logarithm at which the density is lowest; the middle of the longest stretch if there are several.
    pub(crate) lowest: f64,
    /// Range in which the density is nearer to the valley's than to the lower peak's.
    pub(crate) floor: (f64, f64),
    /// Range around the lower peak in which it is nearer to the peak's.
    pub(crate) lower_peak: (f64, f64),
    /// Height of the valley relative to that of the lower peak.
    pub(crate) depth: f64,
}

impl Density {
    /// Density of `points`, which ascend and are not empty. A value that was rounded to a multiple of `quantum` is
    /// spread over the values that would have been rounded to it.
    pub(crate) fn from_points(points: &[WeightedPoint], bandwidth: f64, quantum: f64) -> Self {
        let step = bandwidth / STEPS_PER_BANDWIDTH;
        let cells: Vec<(f64, f64)> = points.iter().map(|point| cell(point, quantum)).collect();
        let margin = KERNEL_CUTOFF * bandwidth + step;
        let first = cells.iter().map(|cell| cell.0).fold(f64::INFINITY, f64::min) - margin;
        let last = cells.iter().map(|cell| cell.1).fold(f64::NEG_INFINITY, f64::max) + margin;
        let mut density =
            Self { first, step, heights: vec![0.0; index((last - first) / step) + 2] };
        for (point, cell) in points.iter().zip(cells) {
            density.spread(point.weight(), cell);
        }
        density.smooth();
        density
    }

    /// Adds `weight` evenly over the grid points of `cell`, or to the two grid points around a narrow one.
    fn spread(&mut self, weight: f64, cell: (f64, f64)) {
        let place = |log: f64| (log - self.first) / self.step;
        let (from, to) = (place(cell.0), place(cell.1));
        if to - from < 1.0 {
            let middle = f64::midpoint(from, to);
            let below = index(middle);
            self.heights[below] += weight * (1.0 - middle.fract());
            self.heights[below + 1] += weight * middle.fract();
            return;
        }
        let touched = &mut self.heights[index(from.round())..=index(to.round())];
        #[allow(clippy::cast_precision_loss, reason = "a number of grid points")]
        let each = weight / touched.len() as f64;
        touched.iter_mut().for_each(|height| *height += each);
    }

    fn smooth(&mut self) {
        let reach = index(KERNEL_CUTOFF * STEPS_PER_BANDWIDTH);
        #[allow(clippy::cast_precision_loss, reason = "a number of grid points")]
        let kernel: Vec<f64> = (0..=2 * reach)
            .map(|at| (-0.5 * (at.abs_diff(reach) as f64 / STEPS_PER_BANDWIDTH).powi(2)).exp())
            .collect();
        let mut smoothed = vec![0.0; self.heights.len()];
        for (at, &height) in self.heights.iter().enumerate().filter(|(_, height)| **height > 0.0) {
            let from = at.saturating_sub(reach);
            let to = (at + reach).min(smoothed.len() - 1);
            for (smoothed, kernel) in
                smoothed[from..=to].iter_mut().zip(&kernel[from + reach - at..])
            {
                *smoothed += height * kernel;
            }
        }
        self.heights = smoothed;
    }

    /// Valleys no higher than `depth` times the lower of the two peaks around them, ascending.
    pub(crate) fn valleys(&self, depth: f64) -> Vec<Valley> {
        let left = highest_so_far(self.heights.iter());
        let mut right = highest_so_far(self.heights.iter().rev());
        right.reverse();
        let low = |i: usize| self.heights[i] <= depth * left[i].1.min(right[i].1);
        let mut valleys = Vec::new();
        let mut i = 0;
        while i < self.heights.len() {
            let from = i;
            while i < self.heights.len() && low(i) && left[i].1.min(right[i].1) > 0.0 {
                i += 1;
            }
            if i > from {
                let last = self.heights.len() - 1;
                let peak =
                    if left[from].1 <= right[from].1 { left[from].0 } else { last - right[from].0 };
                valleys.push(self.valley(from, i, peak));
            }
            i += 1;
        }
        valleys
    }

    fn valley(&self, from: usize, to: usize, peak: usize) -> Valley {
        let lowest = middle_of_lowest(&self.heights[from..to]) + from;
        let level = f64::midpoint(self.heights[lowest], self.heights[peak]);
        let floor = self.around(lowest, |height| height < level);
        let lower_peak = self.around(peak, |height| height >= level);
        let depth = self.heights[lowest] / self.heights[peak];
        Valley { lowest: self.log(lowest), floor, lower_peak, depth }
    }

    /// Contiguous range around grid point `i` in which `holds` is true.
    fn around(&self, i: usize, holds: impl Fn(f64) -> bool) -> (f64, f64) {
        let below = self.heights[..i].iter().rev().take_while(|height| holds(**height)).count();
        let above = self.heights[i..].iter().take_while(|height| holds(**height)).count();
        (self.log(i - below) - self.step / 2.0, self.log(i + above) - self.step / 2.0)
    }

    #[allow(clippy::cast_precision_loss, reason = "a number of grid points")]
    fn log(&self, i: usize) -> f64 {
        self.first + i as f64 * self.step
    }
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a place on the grid")]
fn index(place: f64) -> usize {
    place.max(0.0) as usize
}

/// Logarithms of the range of values that would have been rounded to this one.
fn cell(point: &WeightedPoint, quantum: f64) -> (f64, f64) {
    let half = (quantum / point.value).min(1.0) / 2.0;
    (point.log + (-half).ln_1p(), point.log + half.ln_1p())
}

/// For each height, the index and the value of the highest one so far.
fn highest_so_far<'a>(heights: impl Iterator<Item = &'a f64>) -> Vec<(usize, f64)> {
    heights
        .enumerate()
        .scan((0, 0.0), |highest, (i, &height)| {
            if height > highest.1 {
                *highest = (i, height);
            }
            Some(*highest)
        })
        .collect()
}

/// Middle of the longest stretch at the lowest height.
fn middle_of_lowest(heights: &[f64]) -> usize {
    let lowest = heights.iter().copied().fold(f64::INFINITY, f64::min);
    let (mut best, mut length) = ((0, 0), 0_usize);
    for (i, &height) in heights.iter().enumerate() {
        length = if height == lowest { length + 1 } else { 0 };
        if length > best.1 {
            best = (i, length);
        }
    }
    best.0 - best.1.saturating_sub(1) / 2
}
