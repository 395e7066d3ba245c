//! How much a case moves.

/// How much is moved one way in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Total {
    /// So much that a run lasts long enough.
    Calibrated,
    /// So many bytes, whatever the buffer.
    Bytes(u64),
    /// So many buffers full.
    Messages(u64),
}

impl Total {
    /// Bytes in all, in buffers of `buffer_bytes`; `None` where that is found out in the run.
    pub const fn bytes(self, buffer_bytes: u64) -> Option<u64> {
        match self {
            Self::Calibrated => None,
            Self::Bytes(bytes) => Some(bytes),
            Self::Messages(messages) => Some(messages.saturating_mul(buffer_bytes)),
        }
    }
}
