//! Root finding.

const MAX_STEPS: u32 = 200;

/// Root of `f` between `low` and `high`, at which it has different signs, accurate to the last few bits. Uses the
/// secant method, halving the weight of an end that stays (the Illinois method; Dowell and Jarratt 1971, *A Modified
/// Regula Falsi Method*, BIT 11).
pub(crate) fn find_root(low: f64, high: f64, f: impl Fn(f64) -> f64) -> f64 {
    let (mut a, mut b) = ((low, f(low)), (high, f(high)));
    for _ in 0..MAX_STEPS {
        if b.1 == 0.0 || (a.0 - b.0).abs() <= 1e-14 * (a.0.abs() + b.0.abs()) {
            break;
        }
        let next = (a.0 * b.1 - b.0 * a.1) / (b.1 - a.1);
        let next = if next.is_finite() { next } else { f64::midpoint(a.0, b.0) };
        let value = f(next);
        a = if value.signum() == b.1.signum() { (a.0, a.1 / 2.0) } else { b };
        b = (next, value);
    }
    b.0
}
