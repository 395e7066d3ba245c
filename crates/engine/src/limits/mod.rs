//! What this machine cannot beat: the figures that mechanisms are held against.

pub mod cacheline;
pub mod copy;
