//! FreeBSD and macOS. Type-checked, but never run.

#[cfg(target_os = "freebsd")]
mod freebsd;
#[cfg(not(target_os = "freebsd"))]
mod macos;

pub(crate) mod capabilities;
pub(crate) mod folder;
pub(crate) mod futex;
pub(crate) mod memory;
pub(crate) mod random;
pub(crate) mod socket_options;

#[cfg(target_os = "freebsd")]
pub(crate) use freebsd::*;
#[cfg(not(target_os = "freebsd"))]
pub(crate) use macos::*;
