//! `mptcp`: Multipath TCP over the loopback interface.

use ipcperf_model::mechanism::{
    Boundaries, Delivery, Helper, PayloadFate, PayloadWay, PeerDeath, PeerWait, Unrelated,
};
use ipcperf_model::{Failure, Mode, Unavailable};
use rustix::net::{AddressFamily, SocketFlags, SocketType, ipproto, socket_with};

use super::kernel_setting::kernel_setting;
use super::socket::{SocketEnd, joined};
use super::tcp::connected;
use crate::channel::{Channel, Documentation, Mechanism, Opened, Setup};
use crate::worker;

/// Facts about `mptcp`.
pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "mptcp",
    about: "Multipath TCP over the loopback interface, on one path",
    boundaries: Boundaries::None,
    delivery: Delivery::Reliable,
    way: PayloadWay::Kernel,
    waits: PeerWait::Sleeps,
    payload: PayloadFate::Copied,
    peer_death: PeerDeath::Told,
    unrelated: Unrelated::Yes,
    helper: Helper::KernelThread("ksoftirqd"),
    modes: &Mode::ALL,
    documentation: Documentation {
        how_it_works: "A TCP connection whose bytes carry numbers of a second kind, so that \
            several paths could share them. Here there is one: what differs from tcp is what that \
            costs.",
        message_boundaries: "None, as with tcp.",
        minimum_kernel: "Linux 5.6, with CONFIG_MPTCP.",
        defaults_that_matter: "TCP_NODELAY is set. net.mptcp.enabled switches it for a network \
            namespace. Buffers are those of tcp, but never less than 128 KiB are asked for: with 16 KiB \
            connections stand still for good. With any size, and with buffers left as they are, the kernel \
            (seen on Linux 6.18) now and then stands still for 0.2 s: a receiver's window update does not \
            arrive, and the transfer goes on when the timer of MPTCP's own retransmission fires \
            (MPTcpExtMPTCPRetrans and MPTcpExtDuplicateData of nstat count it: what is sent again had \
            arrived). Small messages meet it most: 6.5 MB in messages of 64 bytes took 0.4 to 6 s where tcp \
            takes 0.2 s. No option of the socket prevents it; allow for it with --deadline.",
        references: &["https://docs.kernel.org/networking/mptcp.html", "man:tcp(7)"],
    },
    availability: available,
    execute: worker::execute::<Mptcp>,
    ..Mechanism::BASE
};

/// Minimum buffer size that is requested. With 4 and 16 KiB, messages larger than the buffer stall forever
/// (Linux 6.18). With 64 KiB, 15 streams of 65 MB in messages of 64 KiB stalled for 0.2 s 16 times; with 128
/// KiB, once. Larger buffers do not help: with 512 KiB they stalled 9 times.
const LEAST_BYTES: u64 = 131_072;

fn available() -> Result<(), Unavailable> {
    if kernel_setting("net/mptcp/enabled", 1) == 0 {
        return Err(Unavailable {
            reason: "net.mptcp.enabled is 0".to_owned(),
            remedy: "sysctl net.mptcp.enabled=1".to_owned(),
        });
    }
    let (family, kind) = (AddressFamily::INET, SocketType::STREAM);
    socket_with(family, kind, SocketFlags::CLOEXEC, Some(ipproto::MPTCP)).map(drop).map_err(
        |errno| Unavailable {
            reason: format!("socket(IPPROTO_MPTCP): {errno}"),
            remedy: "needs Linux 5.6 with CONFIG_MPTCP, and a seccomp filter that lets it through"
                .to_owned(),
        },
    )
}

struct Mptcp;

impl Channel for Mptcp {
    type End = SocketEnd<false>;

    fn open(setup: &Setup<'_>) -> Result<Opened<Self::End>, Failure> {
        let asked_bytes = setup.kernel_buffer_asked_bytes.map(|bytes| bytes.max(LEAST_BYTES));
        let setup = Setup { kernel_buffer_asked_bytes: asked_bytes, ..*setup };
        let (sender, receiver) = connected(&setup, Some(ipproto::MPTCP))?;
        joined(sender, receiver, &setup)
    }
}
