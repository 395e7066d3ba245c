//! `splice`: pages lent to a pipe and discarded. Nothing is moved.

#[cfg(target_os = "linux")]
mod endpoint;

use ipcperf_model::Mode;
use ipcperf_model::mechanism::{
    Boundaries, Delivery, Helper, PayloadPath, PayloadTransfer, PeerDeath, Unrelated,
};

use super::waiting::{WAIT_NONBLOCKING, WAITS};
use crate::channel::{Documentation, MULTIPLEX, ManyPeers, Mechanism};

#[cfg(not(target_os = "linux"))]
use super::needs_linux as endpoint;

/// Facts about `splice`.
pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "splice",
    about: "sends pages through a pipe to /dev/null: moves no data",
    boundaries: Boundaries::None,
    delivery: Delivery::Nothing,
    path: PayloadPath::Nowhere,
    waits: WAITS,
    payload: PayloadTransfer::Nothing,
    peer_death: PeerDeath::EofOrError,
    unrelated: Unrelated::No("descriptors must be inherited or passed"),
    helper: Helper::None,
    many_peers: ManyPeers::Multiplexed,
    options: &[WAIT_NONBLOCKING, MULTIPLEX],
    modes: &Mode::INHERITED,
    documentation: Documentation {
        how_it_works: "vmsplice puts references to the sender's pages into a pipe; splice moves the references to \
            /dev/null, where they are dropped. The receiver never gets a byte, and nothing is copied. Bandwidths \
            that others published for these two calls therefore show only the cost of passing references to pages. \
            ipcperf never ranks splice, reports no bandwidth for it, and refuses to run it with --verify.",
        message_boundaries: "None: a splice moves what is in the pipe, up to the requested size.",
        minimum_kernel: "Linux 2.6.17.",
        defaults_that_matter: "A pipe has 16 slots. Each slot refers to one page or to a part of \
            one page, so small messages fill the pipe early. --kernel-buffer does not apply.",
        references: &["man:vmsplice(2)", "man:splice(2)", "man:pipe(7)"],
    },
    ..endpoint::IMPLEMENTATION
};
