//! Implementation of `mptcp`.

use ipcperf_model::{Failure, Unavailable};
use rustix::net::{AddressFamily, SocketFlags, SocketType, ipproto, socket_with};

use crate::channel::{Channel, Mechanism, Opened, Setup};
use crate::mechanism::socket::{SocketEnd, open_endpoints};
use crate::mechanism::tcp::connect_loopback;
use crate::mechanism::waiting::{self, AnyWait};
use crate::platform::sysctl::read_sysctl;

/// The part of `mptcp` that needs Linux.
pub(super) const IMPLEMENTATION: Mechanism = Mechanism {
    availability: available,
    execute: waiting::execute::<Mptcp, AnyWait>,
    ..Mechanism::BASE
};

/// Minimum buffer size that is requested. With 4 and 16 KiB, messages larger than the buffer stall forever
/// (Linux 6.18). With 64 KiB, 15 streams of 65 MB in messages of 64 KiB stalled for 0.2 s 16 times; with 128
/// KiB, once. Larger buffers do not help: with 512 KiB they stalled 9 times.
const MIN_BUFFER_BYTES: u64 = 131_072;

fn available() -> Result<(), Unavailable> {
    if read_sysctl("net/mptcp/enabled", 1) == 0 {
        return Err(Unavailable {
            reason: "net.mptcp.enabled is 0".to_owned(),
            remedy: "sysctl net.mptcp.enabled=1".to_owned(),
        });
    }
    let (family, kind) = (AddressFamily::INET, SocketType::STREAM);
    socket_with(family, kind, SocketFlags::CLOEXEC, Some(ipproto::MPTCP)).map(drop).map_err(
        |errno| Unavailable {
            reason: format!("socket(IPPROTO_MPTCP): {errno}"),
            remedy:
                "needs Linux 5.6 with CONFIG_MPTCP, and a seccomp filter that allows the socket"
                    .to_owned(),
        },
    )
}

struct Mptcp;

impl Channel for Mptcp {
    type End = SocketEnd<false>;

    fn open(setup: &Setup<'_>) -> Result<Opened<Self::End>, Failure> {
        let requested_bytes =
            setup.kernel_buffer_requested_bytes.map(|bytes| bytes.max(MIN_BUFFER_BYTES));
        let setup = Setup { kernel_buffer_requested_bytes: requested_bytes, ..*setup };
        let (sender, receiver) = connect_loopback(&setup, Some(ipproto::MPTCP))?;
        open_endpoints(sender, receiver, &setup)
    }
}
