//! `null`: does nothing, and so measures the harness.

use std::hint::black_box;

use ipcperf_model::mechanism::{
    Boundaries, Delivery, Helper, PayloadPath, PayloadTransfer, PeerDeath, PeerWait, Unrelated,
};
use ipcperf_model::{Failure, Mode};
use rustix::io::Errno;

use crate::channel::{Channel, Documentation, Endpoint, Granted, Mechanism, Opened, Setup};
use crate::worker;

/// Facts about `null`.
pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "null",
    about: "moves nothing: measures the harness itself",
    boundaries: Boundaries::Preserved,
    delivery: Delivery::Nothing,
    path: PayloadPath::Nowhere,
    waits: PeerWait::Spins,
    payload: PayloadTransfer::Nothing,
    peer_death: PeerDeath::NotDetected,
    unrelated: Unrelated::No("there is nothing to connect to"),
    helper: Helper::None,
    modes: &Mode::INHERITED,
    documentation: Documentation {
        how_it_works: "Send and receive return at once and report success. The peers never synchronize inside the \
            timed loop. The result is therefore the cost of the loop itself, which is a lower bound for the time \
            per message of every other mechanism. ipcperf never ranks null, reports no bandwidth for it, and \
            refuses to run it with --verify.",
        message_boundaries: "Kept: no data is moved, so no message can be split or merged.",
        minimum_kernel: "Any.",
        defaults_that_matter: "None.",
        references: &[],
    },
    execute: worker::execute::<Null>,
    ..Mechanism::BASE
};

struct Null;

impl Channel for Null {
    type End = NullEnd;

    fn open(_: &Setup<'_>) -> Result<Opened<NullEnd>, Failure> {
        Ok(Opened { sender: NullEnd, receiver: NullEnd, granted: Granted::default() })
    }
}

#[derive(Debug)]
struct NullEnd;

impl Endpoint for NullEnd {
    const KEEPS_BOUNDARIES: bool = true;

    #[inline(always)]
    fn send(&mut self, bytes: &[u8]) -> Result<usize, Errno> {
        black_box(bytes.as_ptr());
        Ok(bytes.len())
    }

    #[inline(always)]
    fn recv(&mut self, bytes: &mut [u8]) -> Result<usize, Errno> {
        black_box(bytes.as_ptr());
        Ok(bytes.len())
    }

    fn take_calls(&mut self) -> Option<u64> {
        Some(0)
    }
}
