//! Whether disturbed runs are excluded.

/// Whether disturbed runs are marked, excluded and retried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoiseDetection {
    /// They are.
    On,
    /// They are kept like any other.
    Off,
}

/// On, unless `IPCPERF_KEEP_DISTURBED` is 1: tests of structure must pass on a busy machine too, where few
/// runs would be left. Stored with the results and warned of, so that nobody takes such figures for a
/// measurement.
#[must_use]
pub fn noise_detection() -> NoiseDetection {
    match std::env::var_os("IPCPERF_KEEP_DISTURBED") {
        Some(value) if value == "1" => NoiseDetection::Off,
        _ => NoiseDetection::On,
    }
}
