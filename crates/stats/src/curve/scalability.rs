//! The universal scalability law of Gunther (*Guerrilla Capacity Planning*, Springer 2007, chapter 4): throughput X of N
//! workers is X(N) = g N / (1 + a (N - 1) + b N (N - 1)).

use super::{Curve, CurveStatisticError};
use crate::bootstrap::{Bootstrap, Interval};
use crate::spread::median;

/// Minimum number of levels: three parameters, and one more level.
const MIN_LEVELS: usize = 4;

/// Parameters of the universal scalability law: medians over the blocks of a fit within each.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scalability {
    /// Throughput g of one worker, in the unit of y.
    pub of_one: f64,
    /// Contention a: share of the work for which workers wait for each other; 0 if they do not. Dimensionless.
    pub contention: f64,
    /// Interval of the contention; `None` for fewer than six blocks at 95 %.
    pub contention_interval: Option<Interval>,
    /// Coherency b: cost of keeping each pair of workers in agreement, relative to the work of one. Dimensionless.
    pub coherency: f64,
    /// Interval of the coherency.
    pub coherency_interval: Option<Interval>,
    /// Number of workers with the highest throughput, the square root of (1 - a) / b; `None` unless b is above 0 and a below 1.
    pub peak: Option<f64>,
    /// Number of blocks with a fit.
    pub blocks: usize,
}

impl Curve {
    /// Fits N / X(N), which is linear in the parameters, by least squares within each block that has all levels. Levels are
    /// numbers of workers, and values are throughputs.
    ///
    /// # Errors
    ///
    /// Returns an error for fewer than four levels, if a value is not above 0, and if no block has a fit.
    pub fn scalability(&self, bootstrap: &Bootstrap) -> Result<Scalability, CurveStatisticError> {
        super::enough_levels(self.levels.len(), MIN_LEVELS)?;
        self.logs()?;
        let fits: Vec<[f64; 3]> = self
            .blocks
            .iter()
            .filter_map(|block| {
                fit(&self.levels, &block.iter().copied().collect::<Option<Vec<f64>>>()?)
            })
            .collect();
        let of = |number: usize| fits.iter().map(|fit| fit[number]).collect::<Vec<f64>>();
        let [ones, contentions, coherencies] = [of(0), of(1), of(2)];
        let (Some(of_one), Some(contention), Some(coherency)) =
            (median(&ones), median(&contentions), median(&coherencies))
        else {
            return Err(CurveStatisticError::TooFewBlocks { found: 0, needed: 1 });
        };
        Ok(Scalability {
            of_one,
            contention,
            contention_interval: bootstrap.median(&contentions),
            coherency,
            coherency_interval: bootstrap.median(&coherencies),
            peak: (coherency > 0.0 && contention < 1.0)
                .then(|| ((1.0 - contention) / coherency).sqrt()),
            blocks: fits.len(),
        })
    }
}

/// Fits N / X(N) = (1 + a (N - 1) + b N (N - 1)) / g to one block, and returns g, a and b. `None` if the levels determine no
/// fit.
fn fit(workers: &[f64], throughputs: &[f64]) -> Option<[f64; 3]> {
    let terms = |n: f64| [1.0, n - 1.0, n * (n - 1.0)];
    let mut equations = [[0.0; 4]; 3];
    for (&n, &x) in workers.iter().zip(throughputs) {
        let terms = terms(n);
        for (row, own) in equations.iter_mut().zip(terms) {
            for (cell, other) in row.iter_mut().zip(terms.into_iter().chain([n / x])) {
                *cell += own * other;
            }
        }
    }
    let [one, contention, coherency] = solve(equations)?;
    let fit = [1.0 / one, contention / one, coherency / one];
    fit.iter().all(|value| value.is_finite()).then_some(fit)
}

/// Solves three linear equations, each three coefficients and its right side, by elimination with row pivots.
fn solve(mut rows: [[f64; 4]; 3]) -> Option<[f64; 3]> {
    for column in 0..3 {
        let largest = (column..3)
            .max_by(|one, other| rows[*one][column].abs().total_cmp(&rows[*other][column].abs()))?;
        rows.swap(column, largest);
        let pivot = rows[column];
        if pivot[column] == 0.0 {
            return None;
        }
        for (number, row) in rows.iter_mut().enumerate() {
            if number != column {
                let factor = row[column] / pivot[column];
                row.iter_mut().zip(pivot).for_each(|(cell, own)| *cell -= factor * own);
            }
        }
    }
    Some(std::array::from_fn(|number| rows[number][3] / rows[number][number]))
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORKERS: [f64; 6] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0];

    fn law(g: f64, a: f64, b: f64, n: f64) -> f64 {
        g * n / (1.0 + a * (n - 1.0) + b * n * (n - 1.0))
    }

    #[test]
    fn planted_parameters_are_found() {
        for (g, a, b) in [(1e6, 0.05, 0.002), (3.0, 0.3, 0.0), (1e3, 0.0, 0.0)] {
            let block = WORKERS.map(|n| Some(law(g, a, b, n))).to_vec();
            let curve = Curve::new(WORKERS.to_vec(), vec![block; 7]).unwrap();
            let found = curve.scalability(&Bootstrap::default()).unwrap();
            assert!((found.of_one / g - 1.0).abs() < 1e-9, "{found:?}");
            assert!((found.contention - a).abs() < 1e-9, "{found:?}");
            assert!((found.coherency - b).abs() < 1e-9, "{found:?}");
            assert!(found.contention_interval.is_some() && found.blocks == 7);
            if b > 1e-6 {
                let peak = ((1.0 - a) / b).sqrt();
                assert!((found.peak.unwrap() / peak - 1.0).abs() < 1e-6, "{found:?}");
            }
        }
    }

    #[test]
    fn noise_moves_the_parameters_a_little() {
        let noise = [1.01, 0.99, 1.0, 1.02, 0.98, 1.01, 0.99];
        let block = |shift: usize| {
            let noisy =
                |(at, n): (usize, f64)| Some(law(1e6, 0.1, 0.001, n) * noise[(at + shift) % 7]);
            WORKERS.into_iter().enumerate().map(noisy).collect()
        };
        let curve = Curve::new(WORKERS.to_vec(), (0..7).map(block).collect()).unwrap();
        let found = curve.scalability(&Bootstrap::default()).unwrap();
        let interval = found.contention_interval.unwrap();
        assert!(interval.low <= 0.1 && 0.1 <= interval.high, "{found:?}");
        assert!((found.coherency - 0.001).abs() < 0.001, "{found:?}");
    }

    #[test]
    fn three_levels_or_no_whole_block_have_no_fit() {
        let curve = Curve::new(vec![1.0, 2.0, 3.0], vec![vec![Some(1.0); 3]; 9]).unwrap();
        assert!(curve.scalability(&Bootstrap::default()).is_err());
        let holed = vec![Some(1.0), None, Some(1.0), Some(1.0)];
        let curve = Curve::new(vec![1.0, 2.0, 3.0, 4.0], vec![holed; 9]).unwrap();
        assert!(curve.scalability(&Bootstrap::default()).is_err());
    }
}
