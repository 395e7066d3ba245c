//! Sampling until a bar is decided.

use std::time::{Duration, Instant};

use crate::error::BenchError;
use crate::estimate::Estimate;
use crate::finding::{Bar, Position};

/// Number of values before the first look at the interval.
const FIRST_LOOK: usize = 16;

/// Limits at which sampling stops, decided or not.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SamplingLimit {
    pub(crate) values: usize,
    pub(crate) time: Duration,
}

/// Calls `take` with the number of values so far, until their interval lies within or outside `bar`, or until `cap`.
///
/// The interval is looked at after 16 values and then whenever their number has grown by half: each look is another
/// chance to be wrong, and at most nine happen up to 400 values.
pub(crate) fn until_decided(
    bar: Bar,
    cap: SamplingLimit,
    mut take: impl FnMut(usize) -> Result<f64, BenchError>,
) -> Result<Estimate, BenchError> {
    let start = Instant::now();
    let (mut values, mut next_look) = (Vec::new(), FIRST_LOOK);
    loop {
        while values.len() < next_look {
            values.push(take(values.len())?);
            if values.len() >= FIRST_LOOK && is_over(cap, values.len(), start) {
                break;
            }
        }
        next_look = values.len() + values.len() / 2;
        let Some(estimate) = Estimate::from_values(&values) else { continue };
        let is_decided = bar.position(&estimate) != Position::Across;
        if is_decided || is_over(cap, values.len(), start) {
            return Ok(estimate);
        }
    }
}

fn is_over(cap: SamplingLimit, values: usize, start: Instant) -> bool {
    values >= cap.values || start.elapsed() >= cap.time
}

/// Runs both sides in the order for pair `number`, which alternates.
pub(crate) fn alternate<A, B>(
    number: usize,
    ours: impl FnOnce() -> Result<A, BenchError>,
    theirs: impl FnOnce() -> Result<B, BenchError>,
) -> Result<(A, B), BenchError> {
    if number.is_multiple_of(2) {
        let ours = ours()?;
        return Ok((ours, theirs()?));
    }
    let theirs = theirs()?;
    Ok((ours()?, theirs))
}

/// Runs `count` quads, each with two runs of both sides in an order that cancels a steady drift, and returns the estimate of
/// our time divided by theirs. The ratio of a quad is the geometric mean of its two pairs.
#[allow(clippy::cast_precision_loss, reason = "times of milliseconds in ns")]
pub(crate) fn quads(
    count: usize,
    mut ours: impl FnMut() -> Result<u64, BenchError>,
    mut theirs: impl FnMut() -> Result<u64, BenchError>,
) -> Result<Estimate, BenchError> {
    let mut values = Vec::with_capacity(count);
    for quad in 0..count {
        let mut product = 1.0;
        // Even quads begin with ours, odd ones with theirs, and the second pair is in the opposite order.
        for pair in [quad, quad + 1] {
            let (ours_ns, theirs_ns) = alternate(pair, &mut ours, &mut theirs)?;
            product *= ours_ns as f64 / theirs_ns.max(1) as f64;
        }
        values.push(product.sqrt());
    }
    Estimate::from_values(&values).ok_or(BenchError::NoValues)
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    const CAP: SamplingLimit = SamplingLimit { values: 400, time: Duration::from_secs(60) };
    const BAR: Bar = Bar::Between(0.97, 1.03);

    fn taken(value: impl Fn(usize) -> f64) -> Estimate {
        until_decided(BAR, CAP, |number| Ok(value(number))).unwrap()
    }

    #[test]
    fn a_quad_has_both_orders_and_no_steady_drift() {
        let (order, time) = (RefCell::new(String::new()), RefCell::new(1_000.0_f64));
        let run = |side: char| {
            order.borrow_mut().push(side);
            *time.borrow_mut() *= 1.01;
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a time")]
            Ok((*time.borrow() * 1e6) as u64)
        };
        let estimate = quads(8, || run('A'), || run('B')).unwrap();
        assert!(order.borrow().starts_with("ABBABAAB"), "{}", order.borrow());
        assert!((estimate.median - 1.0).abs() < 1e-6 && estimate.n == 8, "{estimate:?}");
    }

    #[test]
    fn what_is_clear_at_once_takes_sixteen() {
        assert_eq!(taken(|_| 1.0).n, 16);
        assert_eq!(taken(|_| 1.2).n, 16);
    }

    #[test]
    fn what_is_not_clear_goes_on_to_the_cap() {
        assert_eq!(taken(|number| if number % 2 == 0 { 0.9 } else { 1.1 }).n, 400);
    }

    #[test]
    fn a_time_that_is_up_still_gives_an_interval() {
        let cap = SamplingLimit { time: Duration::ZERO, ..CAP };
        let estimate = until_decided(BAR, cap, |number| Ok([0.9, 1.1][number % 2])).unwrap();
        assert_eq!(estimate.n, FIRST_LOOK);
        assert!(estimate.interval.is_some());
    }

    #[test]
    fn the_parties_take_turns_to_be_first() {
        let order = RefCell::new(String::new());
        let note = |name| {
            order.borrow_mut().push_str(name);
            Ok(())
        };
        for number in 0..3 {
            alternate(number, || note("o"), || note("t")).unwrap();
        }
        assert_eq!(*order.borrow(), "ottoot");
    }
}
