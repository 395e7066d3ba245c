//! `vsock`: a stream of the socket family of virtual machines, over its loopback transport.

#[cfg(target_os = "linux")]
mod endpoint;

use ipcperf_model::Mode;
use ipcperf_model::mechanism::{
    Boundaries, Delivery, Helper, PayloadPath, PayloadTransfer, PeerDeath, Unrelated,
};

use super::waiting::{WAIT, WAITS};
use crate::channel::{Documentation, MULTIPLEX, ManyPeers, Mechanism};

#[cfg(not(target_os = "linux"))]
use super::needs_linux as endpoint;

/// Facts about `vsock`.
pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "vsock",
    about: "VM stream socket (AF_VSOCK), over loopback",
    boundaries: Boundaries::None,
    delivery: Delivery::Reliable,
    path: PayloadPath::Kernel,
    waits: WAITS,
    payload: PayloadTransfer::Copied,
    peer_death: PeerDeath::EofOrError,
    unrelated: Unrelated::Yes,
    helper: Helper::WorkQueue,
    many_peers: ManyPeers::Multiplexed,
    options: &[WAIT, MULTIPLEX],
    modes: &Mode::INHERITED,
    documentation: Documentation {
        how_it_works: "The kernel copies the bytes into packets of up to 64 KiB. A kernel worker \
            (kworker) passes the packets to the receiving socket. The CPU time per message \
            includes that of the kernel worker. Between virtual machines, a hypervisor would transfer the \
            packets. Packets in the opposite direction report how much of the receiving socket's \
            buffer is free (credit).",
        message_boundaries: "None: a read returns what has arrived, up to the requested size.",
        minimum_kernel: "Linux 5.6, with CONFIG_VSOCKETS_LOOPBACK.",
        defaults_that_matter: "The buffer of the receiving socket holds 256 KiB. --kernel-buffer \
            sets this size (SO_VM_SOCKETS_BUFFER_SIZE) and the maximum of this size. Setting them \
            needs no privilege. ipcperf requests at least 128 bytes. The kernel worker may \
            run on another CPU, so noise detection ignores missing CPU time and run delay (time that a \
            peer waited for its CPU) in runs of vsock.",
        references: &["man:vsock(7)"],
    },
    ..endpoint::IMPLEMENTATION
};
