//! Implementation of `sysv-mq`.

use ipcperf_model::{Failure, Role};
use rustix::io::Errno;

use crate::buffer::Buffer;
use crate::channel::{
    Blocking, Channel, Endpoint, Granted, Limit, Mechanism, Meet, Meeting, Opened, Setup,
};
use crate::leftovers::SystemV;
use crate::mechanism::setup_failure::setup_failure;
use crate::mechanism::sysv::{self, MeetingObject, Origin, object_outcome};
use crate::mechanism::waiting::{self, Spinning, TryTransfer};
use crate::platform::errno_result;
use crate::platform::sysctl::read_sysctl;

/// The part of `sysv-mq` that needs Linux.
pub(super) const IMPLEMENTATION: Mechanism = Mechanism {
    // SAFETY: the call takes only numbers.
    availability: || sysv::available("msgget", |key| unsafe { libc::msgget(key, 0) }),
    limit: |setup| Some(limit(setup)),
    execute: waiting::execute::<SysvMq, Spinning>,
    meet: Some(waiting::meet::<SysvMq, Spinning>),
    ..Mechanism::BASE
};

fn limit(setup: &Setup<'_>) -> Limit {
    let (max_bytes, queue) = (read_sysctl("kernel/msgmax", 8192), queue_bytes(setup));
    let (bytes, name) =
        if max_bytes <= queue { (max_bytes, "kernel.msgmax") } else { (queue, "msg_qbytes") };
    Limit { bytes, reason: format!("{name} is {bytes}") }
}

/// Returns the number of bytes that the queue may hold.
fn queue_bytes(setup: &Setup<'_>) -> u64 {
    let max_bytes = read_sysctl("kernel/msgmnb", 16_384);
    setup.kernel_buffer_requested_bytes.map_or(max_bytes, |asked| asked.min(max_bytes))
}

/// What to do if no queue can be created.
const REMEDY: &str = "raise kernel.msgmni with sysctl, or remove queues (see ipcs -q)";

struct SysvMq;

impl Channel for SysvMq {
    type End = SysvMqEnd;

    fn open(setup: &Setup<'_>) -> Result<Opened<Self::End>, Failure> {
        sysv::remove_on_parent_death();
        // SAFETY: the call takes only numbers.
        let id = sysv::create(|key, flags| unsafe { libc::msgget(key, flags) })
            .map_err(|e| setup_failure("msgget", e).with_remedy(REMEDY))?;
        // From here on a failure drops the endpoints, which remove the queue.
        let [sender, receiver] =
            [Role::Sender, Role::Receiver].map(|role| SysvMqEnd::new(id, role, setup));
        let granted = grant(id, setup, Origin::Created)?;
        Ok(Opened { sender, receiver, granted })
    }
}

impl Meet for SysvMq {
    fn meet(setup: &Setup<'_>, meeting: &Meeting<'_>) -> Result<(Self::End, Granted), Failure> {
        // SAFETY: the call takes only numbers.
        let get = |key, flags| unsafe { libc::msgget(key, flags) };
        MeetingObject { kind: SystemV::Queue, meeting, remedy: REMEDY }.meet(get, |id, origin| {
            let end = SysvMqEnd::new(id, meeting.role(), setup);
            Ok((end, grant(id, setup, origin)?))
        })
    }
}

/// Checks that the queue has room for a message, after its creator has set its capacity.
fn grant(id: libc::c_int, setup: &Setup<'_>, origin: Origin) -> Result<Granted, Failure> {
    let capacity = match origin {
        Origin::Created => resize(id, queue_bytes(setup)),
        Origin::Found => status(id).map(|facts| capacity(&facts)),
    };
    let bytes = capacity.map_err(|e| setup_failure("msgctl", e))?;
    if setup.buffer_bytes > bytes {
        // `msgsnd` would wait forever.
        let place = format!("a message of {} bytes: the queue holds {bytes}", setup.buffer_bytes);
        return Err(setup_failure(&place, Errno::MSGSIZE)
            .with_remedy("use smaller messages, or a larger --kernel-buffer"));
    }
    Ok(Granted { kernel_buffer_bytes: Some(bytes) })
}

/// Sets the capacity of the queue and returns the resulting capacity, bytes.
fn resize(id: libc::c_int, bytes: u64) -> Result<u64, Errno> {
    let mut facts = status(id)?;
    facts.msg_qbytes = bytes as libc::msglen_t;
    // SAFETY: the call only reads this value.
    errno_result(unsafe { libc::msgctl(id, libc::IPC_SET, &raw mut facts) })?;
    Ok(capacity(&status(id)?))
}

fn status(id: libc::c_int) -> Result<libc::msqid_ds, Errno> {
    // SAFETY: all zero is a valid value of these plain numbers, and the call writes only to this value.
    unsafe {
        let mut facts: libc::msqid_ds = std::mem::zeroed();
        errno_result(libc::msgctl(id, libc::IPC_STAT, &raw mut facts))?;
        Ok(facts)
    }
}

/// Returns the capacity of a queue, bytes.
fn capacity(facts: &libc::msqid_ds) -> u64 {
    #[allow(clippy::useless_conversion, reason = "not 64 bits on every platform")]
    facts.msg_qbytes.into()
}

#[derive(Debug)]
struct SysvMqEnd {
    id: libc::c_int,
    /// Type of the messages that this endpoint sends, and of those that it receives.
    send_type: libc::c_long,
    receive_type: libc::c_long,
    wait_flag: libc::c_int,
    text_bytes: usize,
    /// A type followed by the text, as the calls require.
    message: Option<Buffer>,
    closes_on_drop: bool,
}

const TYPE_BYTES: usize = size_of::<libc::c_long>();

impl Endpoint for SysvMqEnd {
    const KEEPS_BOUNDARIES: bool = true;

    fn prepare(&mut self) -> Result<(), Errno> {
        let bytes = self.text_bytes.checked_add(TYPE_BYTES).ok_or(Errno::NOMEM)?;
        self.message = Some(Buffer::new_touched(bytes, 0)?);
        Ok(())
    }

    #[inline]
    fn send(&mut self, bytes: &[u8]) -> Result<usize, Errno> {
        self.send_with(self.wait_flag, bytes)
    }

    #[inline]
    fn recv(&mut self, bytes: &mut [u8]) -> Result<usize, Errno> {
        self.receive_with(self.wait_flag, bytes)
    }

    fn close_after_fork(mut self) {
        self.closes_on_drop = false;
    }
}

impl TryTransfer for SysvMqEnd {
    #[inline]
    fn try_send(&mut self, bytes: &[u8]) -> Result<usize, Errno> {
        self.send_with(libc::IPC_NOWAIT, bytes)
    }

    #[inline]
    fn try_recv(&mut self, bytes: &mut [u8]) -> Result<usize, Errno> {
        self.receive_with(libc::IPC_NOWAIT, bytes)
    }
}

impl SysvMqEnd {
    fn new(id: libc::c_int, role: Role, setup: &Setup<'_>) -> Self {
        let (send_type, receive_type) = if role == Role::Receiver { (2, 1) } else { (1, 2) };
        Self {
            id,
            send_type,
            receive_type,
            wait_flag: if setup.blocking == Blocking::Try { libc::IPC_NOWAIT } else { 0 },
            text_bytes: usize::try_from(setup.buffer_bytes).unwrap_or(usize::MAX / 2),
            message: None,
            closes_on_drop: true,
        }
    }

    #[inline]
    fn send_with(&mut self, flags: libc::c_int, bytes: &[u8]) -> Result<usize, Errno> {
        let message = self.message.as_mut().ok_or(Errno::INVAL)?;
        message[..TYPE_BYTES].copy_from_slice(&self.send_type.to_ne_bytes());
        message[TYPE_BYTES..][..bytes.len()].copy_from_slice(bytes);
        // SAFETY: the buffer holds a type and `bytes.len()` bytes of text, which were just copied there.
        let sent = unsafe { libc::msgsnd(self.id, message.as_ptr().cast(), bytes.len(), flags) };
        object_outcome(sent)?;
        Ok(bytes.len())
    }

    #[inline]
    fn receive_with(&mut self, flags: libc::c_int, bytes: &mut [u8]) -> Result<usize, Errno> {
        let message = self.message.as_mut().ok_or(Errno::INVAL)?;
        let max_bytes = bytes.len().min(message.len() - TYPE_BYTES);
        let start = message.as_mut_ptr().cast();
        // SAFETY: the buffer has room for a type and `max_bytes` bytes of text.
        let got = unsafe { libc::msgrcv(self.id, start, max_bytes, self.receive_type, flags) };
        let got = usize::try_from(got).map_err(|_| object_outcome(-1).err());
        match got.map_err(|errno| errno.unwrap_or(Errno::IO)) {
            Ok(got) => {
                bytes[..got].copy_from_slice(&message[TYPE_BYTES..][..got]);
                Ok(got)
            }
            Err(Errno::NOMSG) => Err(Errno::AGAIN),
            Err(Errno::TOOBIG) => Err(Errno::MSGSIZE),
            Err(Errno::PIPE) => Ok(0),
            Err(errno) => Err(errno),
        }
    }
}

impl Drop for SysvMqEnd {
    fn drop(&mut self) {
        if self.closes_on_drop {
            // SAFETY: removing a queue takes no structure, and fails harmlessly if the queue is gone.
            unsafe { libc::msgctl(self.id, libc::IPC_RMID, std::ptr::null_mut()) };
        }
    }
}
