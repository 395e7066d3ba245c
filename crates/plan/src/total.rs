//! Amount of payload that a case moves.

/// Amount of payload that a run moves in one direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Total {
    /// An amount for which a run lasts long enough, found by calibration.
    Calibrated,
    /// This many bytes, whatever the buffer size.
    Bytes(u64),
    /// This many messages, each of the size of the buffer.
    Messages(u64),
}

impl Total {
    /// Returns the total number of bytes in messages of `buffer_bytes`; `None` if calibration finds it during the
    /// run.
    pub const fn bytes(self, buffer_bytes: u64) -> Option<u64> {
        match self {
            Self::Calibrated => None,
            Self::Bytes(bytes) => Some(bytes),
            Self::Messages(messages) => Some(messages.saturating_mul(buffer_bytes)),
        }
    }
}
