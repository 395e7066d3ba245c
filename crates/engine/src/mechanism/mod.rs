//! The mechanisms: ways to move bytes from one peer to another.
//!
//! Each mechanism is one file here and two lines below: its `mod`, and its entry in [`MECHANISMS`]. If it needs Linux,
//! its implementation is in `NAME/endpoint.rs`, and other systems get the one of `needs_linux.rs`. The file contains
//! the mechanism's facts (a [`Mechanism`], the source of the list, the help, the documentation and the conformance
//! tests) and its implementation (a [`Channel`](crate::channel::Channel) that opens two
//! [`Endpoint`](crate::channel::Endpoint)s). Dispatch happens once per run, through
//! [`Mechanism::execute`]; the loops are generic over the endpoint.

mod cache_padded;
mod custom;
mod dbus;
mod feature;
mod foreign_text;
mod futex_doorbell;
#[cfg(target_os = "linux")]
mod iceoryx;
mod iceoryx_facts;
#[cfg(target_os = "linux")]
mod mapping;
mod meeting_fds;
mod meeting_socket;
#[cfg(target_os = "linux")]
mod memfd;
#[cfg(any(not(target_os = "linux"), test))]
mod needs_linux;
mod pipe_capacity;
mod pipe_end;
#[cfg(target_os = "linux")]
mod pool_socket;
#[cfg(target_os = "linux")]
mod process_log;
mod requested;
mod ring_sides;
mod ring_size;
#[cfg(target_os = "linux")]
mod run_dir;
#[cfg(target_os = "linux")]
mod scm_rights;
mod self_connect;
mod setup_failure;
mod shared_options;
mod sleep_flag;
mod slot;
mod socket;
#[cfg(target_os = "linux")]
mod sysv;

#[cfg(all(target_os = "linux", any(feature = "grpc", feature = "nng", feature = "zeromq")))]
mod uds_path;

mod bus_copy;
mod bus_memfd;
mod dbus_copy;
mod dbus_memfd;
mod dgram_compressed;
mod dgram_fds;
mod eventfd;
mod fifo;
mod file_ref;
mod futex;
mod grpc;
mod iceoryx2_pubsub;
mod iceoryx2_reqres;
mod io_uring;
mod ipc_channel;
mod memfd_ref;
mod mmap_file;
mod mmap_queue;
mod mptcp;
mod nng;
mod null;
mod pipe;
mod pipe_borrow;
mod posix_mq;
mod posix_sem;
mod process_vm;
mod pty;
mod shm_ring;
mod signal;
mod splice;
mod sysv_mq;
mod sysv_sem;
mod sysv_shm;
mod tcp;
mod udp;
mod unix_dgram;
mod unix_seqpacket;
mod unix_stream;
mod unix_stream_named;
mod vsock;
mod waiting;
mod zeromq;

use std::path::Path;

use ipcperf_model::{Failure, MechanismName, RunSpec};

use crate::channel::{Mechanism, OptionValues};
use crate::leftovers::{RunNames, names_unavailable};

pub use crate::temp_dir::TempDir;
pub use custom::{CustomMechanism, LibraryFacts, check_library_support, library_facts};
pub use requested::RequestedMechanism;

/// Every mechanism, in the order in which tables show them. A static: each crate that uses a constant would compile the
/// loops of all mechanisms again.
pub static MECHANISMS: &[&Mechanism] = &[
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
    &bus_copy::MECHANISM,
    &bus_memfd::MECHANISM,
    &tcp::MECHANISM,
    &udp::MECHANISM,
    &shm_ring::MECHANISM,
    &mmap_queue::MECHANISM,
    &posix_mq::MECHANISM,
    &sysv_mq::MECHANISM,
    &futex::MECHANISM,
    &eventfd::MECHANISM,
    &posix_sem::MECHANISM,
    &sysv_sem::MECHANISM,
    &sysv_shm::MECHANISM,
    &mmap_file::MECHANISM,
    &signal::MECHANISM,
    &pty::MECHANISM,
    &splice::MECHANISM,
    &process_vm::MECHANISM,
    &io_uring::MECHANISM,
    &mptcp::MECHANISM,
    &dbus_copy::MECHANISM,
    &dbus_memfd::MECHANISM,
    &iceoryx2_pubsub::MECHANISM,
    &iceoryx2_reqres::MECHANISM,
    &vsock::MECHANISM,
    &zeromq::MECHANISM,
    &grpc::MECHANISM,
    &ipc_channel::MECHANISM,
    &nng::MECHANISM,
];

/// Mechanisms that a survey measures, in the order of [`MECHANISMS`]: the ones that a reader would choose
/// from today, and few enough to finish within a minute.
pub static SURVEYED: &[&Mechanism] = &[
    &null::MECHANISM,
    &pipe::MECHANISM,
    &fifo::MECHANISM,
    &unix_stream::MECHANISM,
    &unix_stream_named::MECHANISM,
    &unix_dgram::MECHANISM,
    &unix_seqpacket::MECHANISM,
    &tcp::MECHANISM,
    &udp::MECHANISM,
    &shm_ring::MECHANISM,
];

/// Draws names for one run of `spec`, including names in the folders that its options give.
///
/// # Errors
/// [`ipcperf_model::FailureKind::SetUp`] if no name can be drawn.
pub fn draw_names(spec: &RunSpec) -> Result<RunNames, Failure> {
    let options = find(&spec.mechanism).map_or(&[][..], |mechanism| mechanism.options);
    let folders = options.iter().filter(|option| matches!(option.values, OptionValues::Folder));
    let set = folders.filter_map(|option| {
        spec.options.get(option.name).filter(|folder| *folder != option.default)
    });
    RunNames::new(set.map(Path::new)).map_err(|error| names_unavailable(&error))
}

/// Returns the mechanism called `name` in the list, or the facts common to all custom mechanisms of the kind
/// that `name` gives. The facts that a custom mechanism's own file reports are in the [`RequestedMechanism`]
/// for which it was queried.
#[must_use]
pub fn find(name: &MechanismName) -> Option<&'static Mechanism<'static>> {
    MECHANISMS
        .iter()
        .copied()
        .find(|mechanism| mechanism.name == name.as_str())
        .or_else(|| custom::find(name))
}
