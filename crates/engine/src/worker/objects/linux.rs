//! Limits of kernel objects.

use std::fs;
use std::os::fd::{AsRawFd, BorrowedFd};

use rustix::fs::{FileType, fstat, fstatfs};
use rustix::net::{AddressFamily, SocketType, sockopt};
use rustix::process::getpid;

/// Magic number of the file system of POSIX message queues
/// ([statfs(2)](https://man7.org/linux/man-pages/man2/statfs.2.html)).
const MQUEUE_MAGIC: u64 = 0x1980_0202;

/// Kind of `descriptor` with its limits in bytes; empty if it has none.
pub(super) fn descriptor_limits(descriptor: BorrowedFd<'_>) -> Vec<(String, &'static str, u64)> {
    let Ok(status) = fstat(descriptor) else { return Vec::new() };
    let found = match FileType::from_raw_mode(status.st_mode) {
        FileType::Fifo => {
            let capacity = rustix::pipe::fcntl_getpipe_size(descriptor).ok();
            return entry("pipe", "capacity", capacity);
        }
        FileType::Socket => return socket_limits(descriptor),
        FileType::RegularFile if is_mqueue(descriptor) => mqueue_bytes(descriptor),
        FileType::RegularFile => {
            return entry("memory or file", "size", usize::try_from(status.st_size).ok());
        }
        _ => None,
    };
    entry("message queue", "capacity", found)
}

fn entry(
    object: &str,
    limit: &'static str,
    bytes: Option<usize>,
) -> Vec<(String, &'static str, u64)> {
    bytes.map(|bytes| (object.to_owned(), limit, bytes as u64)).into_iter().collect()
}

fn socket_limits(socket: BorrowedFd<'_>) -> Vec<(String, &'static str, u64)> {
    let family = match sockopt::socket_domain(socket) {
        Ok(AddressFamily::UNIX) => "unix",
        Ok(AddressFamily::INET) => "ipv4",
        Ok(AddressFamily::INET6) => "ipv6",
        _ => "other",
    };
    let kind = match sockopt::socket_type(socket) {
        Ok(SocketType::STREAM) => "stream",
        Ok(SocketType::DGRAM) => "datagram",
        Ok(SocketType::SEQPACKET) => "seqpacket",
        _ => "other",
    };
    let object = format!("{family} {kind} socket");
    let sent = entry(&object, "send buffer", sockopt::socket_send_buffer_size(socket).ok());
    let received = entry(&object, "receive buffer", sockopt::socket_recv_buffer_size(socket).ok());
    [sent, received].concat()
}

fn is_mqueue(descriptor: BorrowedFd<'_>) -> bool {
    fstatfs(descriptor).is_ok_and(|system| u64::try_from(system.f_type) == Ok(MQUEUE_MAGIC))
}

/// Capacity in bytes: maximum number of messages times maximum message size.
fn mqueue_bytes(queue: BorrowedFd<'_>) -> Option<usize> {
    let mut attributes = std::mem::MaybeUninit::<libc::mq_attr>::zeroed();
    // SAFETY: the pointer is to a whole mq_attr, which is valid when zeroed; the descriptor belongs to a queue.
    let attributes = unsafe {
        if libc::mq_getattr(queue.as_raw_fd(), attributes.as_mut_ptr()) != 0 {
            return None;
        }
        attributes.assume_init()
    };
    let messages = usize::try_from(attributes.mq_maxmsg).ok()?;
    messages.checked_mul(usize::try_from(attributes.mq_msgsize).ok()?)
}

/// System V queues that this process was the last to send to or receive from; they have no descriptors.
pub(super) fn system_v_queues() -> Vec<((i64, String, &'static str), u64)> {
    let table = fs::read_to_string("/proc/sysvipc/msg").unwrap_or_default();
    let own = getpid().as_raw_nonzero().get().to_string();
    let queue = |line: &str| {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        let is_own = [fields.get(5)?, fields.get(6)?].contains(&&own.as_str());
        let id: i64 = fields.get(1)?.parse().ok()?;
        Some(id).filter(|_| is_own)
    };
    let ids = table.lines().skip(1).filter_map(queue);
    ids.filter_map(|id| {
        Some(((id, "System V queue".to_owned(), "capacity"), system_v_queue_bytes(id)?))
    })
    .collect()
}

fn system_v_queue_bytes(id: i64) -> Option<u64> {
    let mut queue = std::mem::MaybeUninit::<libc::msqid_ds>::zeroed();
    // SAFETY: the pointer is to a whole msqid_ds, which is valid when zeroed; the call fails for an id of no queue.
    unsafe {
        (libc::msgctl(i32::try_from(id).ok()?, libc::IPC_STAT, queue.as_mut_ptr()) == 0)
            .then(|| queue.assume_init().msg_qbytes)
    }
}
