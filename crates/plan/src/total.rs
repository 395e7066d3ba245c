//! Amount of payload that a case moves.

/// Amount of payload that a run moves in one direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Total {
    /// An amount for which a run lasts long enough, found by calibration.
    Calibrated,
    /// This many bytes, whatever the buffer size.
    Bytes(u64),
    /// This many messages.
    Messages(u64),
}

impl Total {
    /// Returns the total number of bytes in messages of `message_bytes`, on average; `None` if calibration finds it during
    /// the run.
    pub const fn bytes(self, message_bytes: u64) -> Option<u64> {
        match self {
            Self::Calibrated => None,
            Self::Bytes(bytes) => Some(bytes),
            Self::Messages(messages) => Some(messages.saturating_mul(message_bytes)),
        }
    }
}
