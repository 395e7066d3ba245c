//! Kernel settings that limit mechanisms.

/// Returns the number in `/proc/sys/NAME`, or `default` if the file cannot be read.
pub(crate) fn read_sysctl(name: &str, default: u64) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/sys/{name}"));
    text.ok().and_then(|text| text.trim().parse().ok()).unwrap_or(default)
}
