//! Setting of noise detection: whether disturbed runs are excluded.

/// Whether disturbed runs are marked, excluded and retried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoiseDetection {
    /// Disturbed runs are excluded.
    On,
    /// Disturbed runs count like any other.
    Off,
}

/// Returns `On`, unless `IPCPERF_KEEP_DISTURBED` is 1. Structural tests set it, because they must pass on a busy
/// machine too, where few runs would remain. Results store the setting and a warning reports it, so that such
/// figures are not mistaken for a measurement.
#[must_use]
pub fn noise_detection() -> NoiseDetection {
    match std::env::var_os("IPCPERF_KEEP_DISTURBED") {
        Some(value) if value == "1" => NoiseDetection::Off,
        _ => NoiseDetection::On,
    }
}
