//! Implementation of `file-ref`.

use std::ffi::CStr;
use std::os::fd::{AsFd, OwnedFd};

use ipcperf_model::{Failure, RunSpec, WorkerReport};
use rustix::fs::{Mode as Access, OFlags, SeekFrom, open, seek, unlink};
use rustix::io::{Errno, read, write};

use crate::channel::{Channel, Descriptors, Endpoint, Granted, Mechanism, Opened, Setup};
use crate::mechanism::run_dir::{self};
use crate::mechanism::scm_rights::{close, datagram_pair, open_extra_fds, recv_with, send_with};
use crate::mechanism::waiting::{self, NonblockingWait};

/// The part of `file-ref` that needs Linux.
pub(super) const IMPLEMENTATION: Mechanism = Mechanism { execute, ..Mechanism::BASE };

fn execute(spec: &RunSpec, mechanism: &Mechanism<'_>) -> WorkerReport {
    let report = waiting::execute::<FileRef, NonblockingWait>(spec, mechanism);
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

    #[inline]
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

    #[inline]
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
