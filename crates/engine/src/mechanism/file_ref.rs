//! `file-ref`: a temporary file for each message, with its descriptor sent in an empty datagram.

#[cfg(target_os = "linux")]
mod endpoint;

use ipcperf_model::Mode;
use ipcperf_model::mechanism::{
    Boundaries, Delivery, Helper, PayloadPath, PayloadTransfer, PeerDeath, Unrelated,
};

use super::shared_options::{DIR, FDS};
use super::waiting::{WAIT_NONBLOCKING, WAITS};
use crate::channel::{Documentation, ManyPeers, Mechanism};

#[cfg(not(target_os = "linux"))]
use super::needs_linux as endpoint;

/// Facts about `file-ref`.
pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "file-ref",
    about: "a file per message; the file's descriptor is sent",
    boundaries: Boundaries::Preserved,
    delivery: Delivery::Reliable,
    path: PayloadPath::Kernel,
    waits: WAITS,
    payload: PayloadTransfer::Copied,
    peer_death: PeerDeath::ErrorOnSend,
    unrelated: Unrelated::No("descriptors must be inherited or passed"),
    helper: Helper::Disk,
    many_peers: ManyPeers::TwoPeersOnly("its files have names for one pair of peers"),
    options: &[DIR, FDS, WAIT_NONBLOCKING],
    modes: &Mode::INHERITED,
    documentation: Documentation {
        how_it_works: "For each message the sender creates a file, unlinks it, writes the message \
            into it, sends the file's descriptor in an empty Unix domain datagram, and closes its \
            own descriptor (open, unlink, write, sendmsg, close). The receiver gets a descriptor \
            of the same open file, with the same file offset. The receiver seeks to the start, \
            reads the message and closes the descriptor (recvmsg, lseek, read, close). The \
            datagram also carries additional descriptors of /dev/null, as with dgram-fds; the \
            option fds sets their number. The receiver closes these descriptors, too. The last \
            close frees the file. The files are created in a private folder, which ipcperf removes \
            after the run.",
        message_boundaries: "Kept: each datagram refers to one file, which contains one message.",
        minimum_kernel: "Linux 2.6.23 (MSG_CMSG_CLOEXEC).",
        defaults_that_matter: "The result depends on the file system. On a disk, the file system \
            allocates and frees an inode for each message, and writes to its journal. With \
            dir=/dev/shm, the files are in tmpfs, which has neither a disk nor a journal. If the \
            receiver does not lag, no file exists long enough to be written to the disk. By \
            default, three additional descriptors are passed together with the descriptor of the \
            file. If the receiver of a stream lags, messages wait in the queue of the socket. \
            SO_SNDBUF limits this queue to about 200 to 300 messages. A file exists for each of \
            these messages. The number of descriptors in the queue may exceed the limit on \
            descriptors that are sent but not yet received. sendmsg then fails, as with dgram-fds. \
            --kernel-buffer does not apply.",
        references: &[
            "man:unlink(2)",
            "man:unix(7)",
            "man:cmsg(3)",
            "man:lseek(2)",
            "man:tmpfs(5)",
        ],
    },
    ..endpoint::IMPLEMENTATION
};
