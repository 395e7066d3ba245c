//! `mptcp`: Multipath TCP over the loopback interface.

use ipcperf_model::mechanism::{
    Boundaries, Delivery, Helper, PayloadPath, PayloadTransfer, PeerDeath, PeerWait, Unrelated,
};
use ipcperf_model::{Failure, Mode, Unavailable};
use rustix::net::{AddressFamily, SocketFlags, SocketType, ipproto, socket_with};

use super::socket::{SocketEnd, open_endpoints};
use super::sysctl::read_sysctl;
use super::tcp::connect_loopback;
use crate::channel::{Channel, Documentation, Mechanism, Opened, Setup};
use crate::worker;

/// Facts about `mptcp`.
pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "mptcp",
    about: "Multipath TCP over the loopback interface, on one path",
    boundaries: Boundaries::None,
    delivery: Delivery::Reliable,
    path: PayloadPath::Kernel,
    waits: PeerWait::Sleeps,
    payload: PayloadTransfer::Copied,
    peer_death: PeerDeath::EofOrError,
    unrelated: Unrelated::Yes,
    helper: Helper::KernelThread("ksoftirqd"),
    modes: &Mode::ALL,
    documentation: Documentation {
        how_it_works: "A TCP connection whose bytes carry additional sequence numbers, which let \
            several network paths share the data. Here there is only one path, so the difference \
            from tcp is the cost of these numbers.",
        message_boundaries: "None, as with tcp.",
        minimum_kernel: "Linux 5.6, with CONFIG_MPTCP.",
        defaults_that_matter: "TCP_NODELAY is set. net.mptcp.enabled enables MPTCP for a network \
            namespace. Buffers are the same as with tcp, but --kernel-buffer requests at least 128 \
            KiB: with 16 KiB, connections stall forever.\n\n\
            With any buffer size, including the default, a connection occasionally stalls for 0.2 \
            s (observed on Linux 6.18). The cause is that a window update of the receiver does not \
            arrive. The transfer continues when the retransmission timer of MPTCP fires and sends \
            data again that had already arrived; nstat counts this in MPTcpExtMPTCPRetrans and \
            MPTcpExtDuplicateData. Small messages are affected most: 6.5 MB in messages of 64 \
            bytes took 0.4 to 6 s, compared with 0.2 s over tcp. No socket option prevents the \
            stalls; set --timeout high enough for them.",
        references: &["https://docs.kernel.org/networking/mptcp.html", "man:tcp(7)"],
    },
    availability: available,
    execute: worker::execute::<Mptcp>,
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
            remedy: "needs Linux 5.6 with CONFIG_MPTCP, and a seccomp filter that allows it"
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
