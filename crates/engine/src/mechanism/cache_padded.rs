//! A type for values in shared memory that two CPUs write to.

/// A value alone in two cache lines, since CPUs fetch lines in pairs.
#[derive(Debug, Default)]
#[repr(C, align(128))]
pub(super) struct CachePadded<T>(pub(super) T);
