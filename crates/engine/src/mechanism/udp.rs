//! `udp`: datagrams over the loopback interface.

use std::os::fd::{AsFd, OwnedFd};

use ipcperf_model::mechanism::{
    Boundaries, Delivery, Helper, PayloadPath, PayloadTransfer, PeerDeath, Unrelated,
};
use ipcperf_model::{Failure, Mode, Role};
use rustix::io::Errno;
use rustix::net::{SocketType, connect, getsockname};

use super::meeting_socket::{discard_received, exchange_secrets};
use super::setup_failure::setup_failure;
use super::socket::{flags, set_buffers};
use super::tcp::{ANY_PORT, available, bind_loopback, publish_port, published_address};
use super::waiting::{self, AnyWait, TryTransfer, WAIT, WAITS};
use crate::channel::{
    Channel, Descriptors, Documentation, Endpoint, Granted, Limit, MULTIPLEX, ManyPeers, Mechanism,
    Meet, Meeting, Opened, Setup,
};
use crate::platform::read_write;

/// Facts about `udp`.
pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "udp",
    about: "UDP over the loopback interface; may lose datagrams",
    boundaries: Boundaries::Preserved,
    delivery: Delivery::Lossy,
    path: PayloadPath::Kernel,
    waits: WAITS,
    payload: PayloadTransfer::Copied,
    peer_death: PeerDeath::ErrorOnSend,
    unrelated: Unrelated::Yes,
    helper: Helper::KernelThread("ksoftirqd"),
    many_peers: ManyPeers::Multiplexed,
    options: &[WAIT, MULTIPLEX],
    modes: &Mode::ALL,
    documentation: Documentation {
        how_it_works: "A datagram is delivered to the receiving socket within the sender's own \
            system call. If the receive buffer is full (its size is SO_RCVBUF), the kernel drops \
            the datagram. The sender is not slowed down. Bandwidth counts the messages that \
            arrived, and lost_messages counts those that did not. The sender ends a stream with an \
            empty datagram, which it repeats until the receiver has received one. The elapsed time \
            ends when the last message arrives. The receiver cannot know which message is the \
            last, so it reads the CPU's time stamp counter after each message.",
        message_boundaries: "Kept: each receive returns one message. Over IPv4, a message has at \
            most 65507 bytes.",
        minimum_kernel: "Any.",
        defaults_that_matter: "By default, SO_RCVBUF has the value of net.core.rmem_default \
            (212992 bytes). The kernel also counts its own data for each datagram towards \
            SO_RCVBUF: about 770 bytes for a small datagram.",
        references: &["man:udp(7)", "man:ip(7)", "man:socket(7)"],
    },
    availability: || available(SocketType::DGRAM),
    limit: |_| Some(Limit { bytes: 65_507, reason: "UDP over IPv4 carries no more".to_owned() }),
    execute: waiting::execute::<Udp, AnyWait>,
    meet: Some(waiting::meet::<Udp, AnyWait>),
    ..Mechanism::BASE
};

struct Udp;

impl Channel for Udp {
    type End = UdpEnd;

    fn open(setup: &Setup<'_>) -> Result<Opened<UdpEnd>, Failure> {
        let failed = |e| setup_failure("binding 127.0.0.1", e);
        let [sender, receiver] = bind_pair(setup).map_err(failed)?;
        connect_both(&sender, &receiver).map_err(failed)?;
        set_buffers(&sender, setup)?;
        let granted_bytes = set_buffers(&receiver, setup)?.receive_bytes;
        Ok(Opened {
            sender: UdpEnd { socket: sender },
            receiver: UdpEnd { socket: receiver },
            granted: Granted { kernel_buffer_bytes: Some(granted_bytes) },
        })
    }
}

impl Meet for Udp {
    fn meet(setup: &Setup<'_>, meeting: &Meeting<'_>) -> Result<(UdpEnd, Granted), Failure> {
        let failed = |e| setup_failure("binding 127.0.0.1", e);
        let socket =
            bind_loopback(SocketType::DGRAM, flags(setup), None, ANY_PORT).map_err(failed)?;
        let [own, other] = match meeting.role() {
            Role::Receiver => ["receiver-port", "sender-port"],
            _ => ["sender-port", "receiver-port"],
        };
        publish_port(&socket, own, meeting)?;
        let address = published_address(other, meeting)?;
        let what = format!("connecting to {address}");
        meeting.retry(&what, |_| false, || connect(&socket, &address))?;
        exchange_secrets(&socket, &address.to_string(), meeting)?;
        let granted_bytes = set_buffers(&socket, setup)?.receive_bytes;
        Ok((UdpEnd { socket }, Granted { kernel_buffer_bytes: Some(granted_bytes) }))
    }
}

fn bind_pair(setup: &Setup<'_>) -> Result<[OwnedFd; 2], Errno> {
    let socket = || bind_loopback(SocketType::DGRAM, flags(setup), None, ANY_PORT);
    Ok([socket()?, socket()?])
}

/// Connects each socket to the other: from now on neither receives from other sockets. [`UdpEnd::prepare`]
/// discards what arrived before.
fn connect_both(sender: &OwnedFd, receiver: &OwnedFd) -> Result<(), Errno> {
    connect(sender, &getsockname(receiver)?)?;
    connect(receiver, &getsockname(sender)?)
}

#[derive(Debug)]
struct UdpEnd {
    socket: OwnedFd,
}

impl Endpoint for UdpEnd {
    const KEEPS_BOUNDARIES: bool = true;
    const LOSSY: bool = true;

    /// Discards foreign datagrams: any local process can send to a socket that is bound and not yet
    /// connected. The peer sends nothing before both endpoints are prepared.
    fn prepare(&mut self) -> Result<(), Errno> {
        self.drain();
        Ok(())
    }

    #[inline]
    fn send(&mut self, bytes: &[u8]) -> Result<usize, Errno> {
        read_write::write(&self.socket, bytes)
    }

    #[inline]
    fn recv(&mut self, bytes: &mut [u8]) -> Result<usize, Errno> {
        read_write::read(&self.socket, bytes)
    }

    fn drain(&mut self) {
        discard_received(&self.socket);
    }

    fn descriptors(&self) -> Option<Descriptors<'_>> {
        Some(Descriptors { read: self.socket.as_fd(), write: self.socket.as_fd() })
    }
}

impl TryTransfer for UdpEnd {}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::net::UdpSocket;

    use rustix::net::SendFlags;

    use super::*;
    use crate::channel::Blocking;

    #[test]
    fn datagrams_of_others_are_not_received() {
        let options = BTreeMap::new();
        let setup = Setup { blocking: Blocking::Try, ..Setup::with_options(&options) };
        let [sender, receiver] = bind_pair(&setup).unwrap();
        let stranger = UdpSocket::bind("127.0.0.1:0").unwrap();
        let send_to_both = || {
            for socket in [&sender, &receiver] {
                let address = getsockname(socket).unwrap();
                rustix::net::sendto(&stranger, &[9], SendFlags::empty(), &address).unwrap();
            }
        };
        send_to_both();
        connect_both(&sender, &receiver).unwrap();
        send_to_both();
        let [mut sender, mut receiver] = [sender, receiver].map(|socket| UdpEnd { socket });
        for end in [&mut sender, &mut receiver] {
            end.prepare().unwrap();
            assert_eq!(end.recv(&mut [0]), Err(Errno::AGAIN));
        }
        sender.send(&[7]).unwrap();
        assert_eq!(receiver.recv(&mut [0]), Ok(1));
    }
}
