//! Kinds of hardware limits that reference lines show.

/// Hardware limit that a reference line shows, in the order of the legend.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LimitKind {
    /// Limit of peers that sleep between messages.
    Sleep,
    /// Limit of a transfer out of the sender's memory.
    CrossMemoryRead,
    /// Limit of a transfer through shared memory.
    Memory,
    /// Limit of a transfer through the kernel.
    Kernel,
    /// Limit of every case, on an axis of shares.
    Whole,
}

impl LimitKind {
    /// Returns the name in the legend.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Kernel => "limit (kernel)",
            Self::CrossMemoryRead => "limit (cross-memory read)",
            Self::Sleep => "limit (peers that sleep)",
            Self::Memory => "limit (shared memory)",
            Self::Whole => "hardware limit",
        }
    }

    /// Returns the SVG `stroke-dasharray`.
    pub(super) const fn dashes(self) -> &'static str {
        match self {
            Self::Memory => "2 2",
            Self::CrossMemoryRead => "5 2 1 2",
            Self::Sleep => "8 3",
            Self::Kernel | Self::Whole => "5 3",
        }
    }
}
