//! Values with their units, as estimated by tests.

use ipcperf_model::units;

/// Formats a number in its unit.
pub(crate) fn amount(value: f64, unit: &str) -> String {
    match unit {
        "bytes/s" => units::bandwidth(value),
        "ns" => units::time(value),
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "rounded, above zero"
        )]
        "bytes" if value >= 0.5 => units::bytes(value.round() as u64),
        "" => number(value),
        unit => format!("{} {unit}", number(value)),
    }
}

/// Formats a number with about three digits.
fn number(value: f64) -> String {
    let size = value.abs();
    match size {
        _ if size >= 100.0 => format!("{value:.0}"),
        _ if size >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.3}"),
    }
}

/// Formats a p-value. Below 0.001, only its magnitude is informative.
pub(crate) fn p_value(p: f64) -> String {
    if p < 0.001 { format!("{p:.1e}") } else { format!("{p:.3}") }
}
