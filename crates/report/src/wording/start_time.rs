//! Start time of a measurement.

/// Formats an RFC 3339 time without fractions of a second.
pub fn start_time_text(time: &str) -> String {
    match time.split_once('.') {
        Some((seconds, _)) => format!("{seconds}Z").replace('T', " "),
        None => time.replace('T', " "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions_of_a_second_are_left_out() {
        assert_eq!(start_time_text("2026-11-20T10:00:00.123Z"), "2026-11-20 10:00:00Z");
        assert_eq!(start_time_text("2026-11-20T10:00:00Z"), "2026-11-20 10:00:00Z");
    }
}
