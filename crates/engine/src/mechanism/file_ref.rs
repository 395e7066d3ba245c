//! `file-ref`: a temporary file for each message, with its descriptor sent in an empty datagram.

use std::ffi::CStr;
use std::os::fd::{AsFd, OwnedFd};

use ipcperf_model::mechanism::{
    Boundaries, Delivery, Helper, PayloadPath, PayloadTransfer, PeerDeath, PeerWait, Unrelated,
};
use ipcperf_model::{Failure, Mode, RunSpec, WorkerReport};
use rustix::fs::{Mode as Access, OFlags, SeekFrom, open, seek, unlink};
use rustix::io::{Errno, read, write};

use super::readiness::{self, Select, WAIT_SELECT};
use super::run_dir::{self, DIR};
use super::scm_rights::{FDS, close, datagram_pair, open_extra_fds, recv_with, send_with};
use crate::channel::{
    Channel, Descriptors, Documentation, Endpoint, Granted, Mechanism, Opened, Setup,
};

/// Facts about `file-ref`.
pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "file-ref",
    about: "file for each message; its descriptor is sent",
    boundaries: Boundaries::Preserved,
    delivery: Delivery::Reliable,
    path: PayloadPath::Kernel,
    waits: PeerWait::Sleeps,
    payload: PayloadTransfer::Copied,
    peer_death: PeerDeath::ErrorOnSend,
    unrelated: Unrelated::No("descriptors must be inherited or passed"),
    helper: Helper::Disk,
    options: &[DIR, FDS, WAIT_SELECT],
    modes: &Mode::ALL,
    documentation: Documentation {
        how_it_works: "For each message the sender creates a file, unlinks it, writes the message \
            into it, sends the file's descriptor in an empty Unix domain datagram, and closes its \
            own descriptor (open, unlink, write, sendmsg, close). The receiver gets a descriptor \
            of the same open file, with the same file offset. It seeks to the start, reads the \
            message and closes the descriptor (recvmsg, lseek, read, close). It also closes each \
            additional descriptor. The last close frees the file. While a file has a name, this \
            name is in a private folder, which ipcperf removes after the run.",
        message_boundaries: "Kept: each datagram refers to one file, which contains one message.",
        minimum_kernel: "Linux 2.6.23 (MSG_CMSG_CLOEXEC).",
        defaults_that_matter: "The result depends on the file system. On a disk, the file system \
            allocates and frees an inode for each message and adds to its journal. With \
            dir=/dev/shm, the files are in tmpfs, which has neither a disk nor a journal. No file \
            exists long enough to be written to the disk, unless the receiver lags. By default \
            three more descriptors are passed together with that of the file, as with dgram-fds. \
            If the receiver of a stream lags, SO_SNDBUF limits the queue of the socket to some 200 \
            to 300 messages, and as many files exist at a time. Their descriptors may exceed the \
            limit that dgram-fds describes. --kernel-buffer does not apply.",
        references: &[
            "man:unlink(2)",
            "man:unix(7)",
            "man:cmsg(3)",
            "man:lseek(2)",
            "man:tmpfs(5)",
        ],
    },
    execute,
    ..Mechanism::BASE
};

fn execute(spec: &RunSpec, mechanism: &Mechanism<'_>) -> WorkerReport {
    let report = readiness::execute::<FileRef, Select>(spec, mechanism);
    run_dir::remove();
    report
}

struct FileRef;

impl Channel for FileRef {
    type End = FileRefEnd;

    fn open(setup: &Setup<'_>) -> Result<Opened<FileRefEnd>, Failure> {
        let (sender, receiver) = datagram_pair(setup)?;
        let [there, back] = run_dir::create(setup, ["there", "back"])?.names.each_ref();
        Ok(Opened {
            sender: FileRefEnd::new(sender, there, open_extra_fds(setup)?),
            receiver: FileRefEnd::new(receiver, back, open_extra_fds(setup)?),
            granted: Granted::default(),
        })
    }
}

#[derive(Debug)]
struct FileRefEnd {
    socket: OwnedFd,
    /// Name that each file has for a moment.
    name: &'static CStr,
    /// Number of descriptors that a datagram carries in addition to the file's.
    extra_fd_count: usize,
    /// Those descriptors, followed by the file's own while it is being sent.
    descriptors: Vec<OwnedFd>,
    calls: u64,
}

impl FileRefEnd {
    fn new(socket: OwnedFd, name: &'static CStr, companions: Vec<OwnedFd>) -> Self {
        let (extra_fd_count, mut descriptors) = (companions.len(), companions);
        descriptors.reserve(1);
        Self { socket, name, extra_fd_count, descriptors, calls: 0 }
    }

    /// Writes `bytes` to a new, unlinked file.
    fn write_file(&mut self, bytes: &[u8]) -> Result<OwnedFd, Errno> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let file = open(self.name, flags, Access::RUSR | Access::WUSR)?;
        unlink(self.name)?;
        self.calls += 2;
        let mut rest = bytes;
        while !rest.is_empty() {
            self.calls += 1;
            rest = &rest[write(&file, rest)?..];
        }
        Ok(file)
    }

    /// Reads `file` from its beginning into `bytes`, up to its end.
    fn read_all(&mut self, file: &OwnedFd, bytes: &mut [u8]) -> Result<usize, Errno> {
        seek(file, SeekFrom::Start(0))?;
        self.calls += 1;
        let mut filled = 0;
        while filled < bytes.len() {
            self.calls += 1;
            match read(file, &mut bytes[filled..])? {
                0 => break,
                got => filled += got,
            }
        }
        Ok(filled)
    }
}

impl Endpoint for FileRefEnd {
    const KEEPS_BOUNDARIES: bool = true;

    fn send(&mut self, bytes: &[u8]) -> Result<usize, Errno> {
        // If the queue is full and calls do not block, the file is kept for the next attempt.
        if self.descriptors.len() == self.extra_fd_count {
            let file = self.write_file(bytes)?;
            self.descriptors.push(file);
        }
        self.calls += 1;
        send_with(&self.socket, &[], &self.descriptors)?;
        self.calls += 1;
        if let Some(file) = self.descriptors.pop() {
            close(file);
        }
        Ok(bytes.len())
    }

    fn recv(&mut self, bytes: &mut [u8]) -> Result<usize, Errno> {
        self.calls += 1;
        let arrived =
            recv_with(&self.socket, &mut [])?.require_descriptors(self.extra_fd_count + 1)?;
        self.calls += arrived.descriptors;
        let Some(file) = arrived.last else { return Ok(0) };
        let got = self.read_all(&file, bytes)?;
        close(file);
        Ok(got)
    }

    fn take_calls(&mut self) -> Option<u64> {
        Some(std::mem::take(&mut self.calls))
    }

    fn descriptors(&self) -> Option<Descriptors<'_>> {
        Some(Descriptors { read: self.socket.as_fd(), write: self.socket.as_fd() })
    }
}
