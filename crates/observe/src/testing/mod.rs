//! Peers for tests of instruments, and functions shared by these tests.

pub(crate) mod forked_one;
pub(crate) mod forked_pair;
pub(crate) mod process_and_daemon;
pub(crate) mod skip;
pub(crate) mod thread_pair;
pub(crate) mod tool_conformance;
pub(crate) mod unprivileged;
