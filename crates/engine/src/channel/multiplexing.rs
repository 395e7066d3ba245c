//! How a peer that is connected to several others waits for a message from any of them.

use std::collections::BTreeMap;

#[cfg(target_os = "linux")]
use super::Choice;
use super::{OptionSpec, OptionValues};

/// Option of mechanisms whose ends have descriptors.
pub const MULTIPLEX: OptionSpec = OptionSpec {
    name: "multiplex",
    about: "system call in which a receiver or server with several connections waits for a message from any of them: \
        poll, which is given all descriptors each time; epoll, to which they are given once; or io_uring, which is given those \
        that were ready the last time. No effect with one peer",
    #[cfg(target_os = "linux")]
    values: OptionValues::Choices(&[
        Choice { value: "epoll", availability: || Ok(()) },
        Choice { value: "poll", availability: || Ok(()) },
        Choice { value: "io_uring", availability: crate::platform::uring::available },
    ]),
    #[cfg(target_os = "linux")]
    default: "epoll",
    #[cfg(not(target_os = "linux"))]
    values: OptionValues::OneOf(&["poll"]),
    #[cfg(not(target_os = "linux"))]
    default: "poll",
};

/// System call that waits for several descriptors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Multiplexing {
    /// `poll`, which gets all descriptors each time.
    Poll,
    /// `epoll_wait`, on descriptors that were registered before.
    #[cfg(target_os = "linux")]
    Epoll,
    /// `io_uring_enter`, with a poll of each descriptor that is not being polled already.
    #[cfg(target_os = "linux")]
    Uring,
}

impl Multiplexing {
    /// Returns the one that `options` select.
    #[must_use]
    pub fn from_options(options: &BTreeMap<String, String>) -> Self {
        match MULTIPLEX.chosen(options) {
            #[cfg(target_os = "linux")]
            "epoll" => Self::Epoll,
            #[cfg(target_os = "linux")]
            "io_uring" => Self::Uring,
            _ => Self::Poll,
        }
    }
}
