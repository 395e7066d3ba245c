//! The mechanisms: ways for bytes to get from one party to another.
//!
//! Each is one file here and one line in [`MECHANISMS`]. The file says what the mechanism is
//! (a [`Mechanism`], from which list, help, documentation and conformance tests are made) and how
//! it works (a [`Channel`] that opens two [`Endpoint`]s). Dispatch happens once for a run, through
//! [`Mechanism::execute`]; the loops are generic over the endpoint.

mod channel;
mod descriptor;
mod facts;
mod lasting;
mod mapping;
mod passing;
mod polled;
mod scratch;
mod socket;

mod dgram_compressed;
mod dgram_fds;
mod fifo;
mod file_ref;
mod memfd_ref;
mod mmap_queue;
mod null;
mod pipe;
mod pipe_borrow;
mod shm_ring;
mod tcp;
mod udp;
mod unix_dgram;
mod unix_seqpacket;
mod unix_stream;
mod unix_stream_named;

pub use channel::{Blocking, Channel, Descriptors, Endpoint, Granted, Nearness, Opened, Setup};
pub use facts::{
    Boundaries, Delivery, Documentation, Limit, Mechanism, OptionSpec, OptionValues, PayloadWay,
    Unavailable,
};
pub use lasting::lasting_path;
pub use scratch::{Scratch, scratch_path};

/// Every mechanism, in the order in which tables show them.
pub const MECHANISMS: &[&Mechanism] = &[
    &null::MECHANISM,
    &pipe::MECHANISM,
    &pipe_borrow::MECHANISM,
    &fifo::MECHANISM,
    &unix_stream::MECHANISM,
    &unix_stream_named::MECHANISM,
    &unix_dgram::MECHANISM,
    &unix_seqpacket::MECHANISM,
    &dgram_fds::MECHANISM,
    &dgram_compressed::MECHANISM,
    &file_ref::MECHANISM,
    &memfd_ref::MECHANISM,
    &tcp::MECHANISM,
    &udp::MECHANISM,
    &shm_ring::MECHANISM,
    &mmap_queue::MECHANISM,
];

/// The mechanism called `name`, if there is one.
#[must_use]
pub fn find(name: &str) -> Option<&'static Mechanism> {
    MECHANISMS.iter().copied().find(|mechanism| mechanism.name == name)
}
