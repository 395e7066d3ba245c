//! `sysv-mq`: a System V message queue.

use ipcperf_model::mechanism::{
    Boundaries, Delivery, Helper, PayloadFate, PayloadWay, PeerDeath, PeerWait, Unrelated,
};
use ipcperf_model::{Failure, Mode};
use rustix::io::Errno;

use super::kernel_setting::kernel_setting;
use super::refusal::refused;
use super::sysv::{self, outcome, outcome_of_object};
use crate::buffer::Buffer;
use crate::channel::{
    Blocking, Channel, Documentation, Endpoint, Granted, Limit, Mechanism, Opened, Setup,
};
use crate::worker;

/// Facts about `sysv-mq`.
pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "sysv-mq",
    about: "System V message queue; one, with a type of message for each direction",
    boundaries: Boundaries::Kept,
    delivery: Delivery::Reliable,
    way: PayloadWay::Kernel,
    waits: PeerWait::Sleeps,
    payload: PayloadFate::Copied,
    peer_death: PeerDeath::NotTold,
    unrelated: Unrelated::Yes,
    helper: Helper::Nobody,
    modes: &Mode::ALL,
    documentation: Documentation {
        how_it_works: "msgsnd copies a message into the kernel, msgrcv takes the oldest of its \
            type out. The type stands in memory before the text, so a party whose text is \
            elsewhere, as here, copies it once more on its own side. A queue outlives its \
            processes: the party that leaves first removes it, and the command once more.",
        message_boundaries: "Kept: one msgrcv, one message.",
        minimum_kernel: "Any, with CONFIG_SYSVIPC.",
        defaults_that_matter: "A message has at most kernel.msgmax (8192) bytes, a queue at most \
            kernel.msgmnb (16384). --kernel-buffer sets msg_qbytes, at most kernel.msgmnb: more \
            needs CAP_SYS_RESOURCE and is not tried.",
        references: &["man:msgop(2)", "man:msgctl(2)", "man:sysvipc(7)"],
    },
    // SAFETY: the call takes only numbers.
    availability: || sysv::available("msgget", |key| unsafe { libc::msgget(key, 0) }),
    limit: |setup| Some(limit(setup)),
    execute: worker::execute::<SysvMq>,
    ..Mechanism::BASE
};

fn limit(setup: &Setup<'_>) -> Limit {
    let (most, queue) = (kernel_setting("kernel/msgmax", 8192), queue_bytes(setup));
    let (bytes, name) = if most <= queue { (most, "kernel.msgmax") } else { (queue, "msg_qbytes") };
    Limit { bytes, because: format!("{name} is {bytes}") }
}

/// Returns the number of bytes that the queue may hold.
fn queue_bytes(setup: &Setup<'_>) -> u64 {
    let most = kernel_setting("kernel/msgmnb", 16_384);
    setup.kernel_buffer_asked_bytes.map_or(most, |asked| asked.min(most))
}

struct SysvMq;

impl Channel for SysvMq {
    type End = QueueEnd;

    fn open(setup: &Setup<'_>) -> Result<Opened<Self::End>, Failure> {
        sysv::remove_when_the_command_dies();
        // SAFETY: the call takes only numbers.
        let id = sysv::make(|key, flags| unsafe { libc::msgget(key, flags) }).map_err(|e| {
            refused("msgget", e).with_remedy("raise kernel.msgmni with sysctl, or see ipcs -q")
        })?;
        let end = |out, into| QueueEnd {
            id,
            out,
            into,
            wait: if setup.blocking == Blocking::Try { libc::IPC_NOWAIT } else { 0 },
            text_bytes: usize::try_from(setup.buffer_bytes).unwrap_or(usize::MAX / 2),
            message: None,
            armed: true,
        };
        // From here on a failure drops the endpoints, which remove the queue.
        let (sender, receiver) = (end(1, 2), end(2, 1));
        let bytes = resize(id, queue_bytes(setup)).map_err(|e| refused("msgctl", e))?;
        if setup.buffer_bytes > bytes {
            // `msgsnd` would wait forever.
            let place =
                format!("a message of {} bytes: the queue holds {bytes}", setup.buffer_bytes);
            return Err(refused(&place, Errno::MSGSIZE)
                .with_remedy("use smaller messages, or a larger --kernel-buffer"));
        }
        Ok(Opened { sender, receiver, granted: Granted { kernel_buffer_bytes: Some(bytes) } })
    }
}

/// Sets the capacity of the queue and returns the resulting capacity, bytes.
fn resize(id: libc::c_int, bytes: u64) -> Result<u64, Errno> {
    // SAFETY: all zero is a valid value of these plain numbers, and the calls access only this value.
    unsafe {
        let mut facts: libc::msqid_ds = std::mem::zeroed();
        outcome(libc::msgctl(id, libc::IPC_STAT, &raw mut facts))?;
        facts.msg_qbytes = bytes as libc::msglen_t;
        outcome(libc::msgctl(id, libc::IPC_SET, &raw mut facts))?;
        outcome(libc::msgctl(id, libc::IPC_STAT, &raw mut facts))?;
        #[allow(clippy::useless_conversion, reason = "not 64 bits on every platform")]
        Ok(facts.msg_qbytes.into())
    }
}

#[derive(Debug)]
struct QueueEnd {
    id: libc::c_int,
    /// Type of the messages that this endpoint sends, and of those that it receives.
    out: libc::c_long,
    into: libc::c_long,
    wait: libc::c_int,
    text_bytes: usize,
    /// A type followed by the text, as the calls require.
    message: Option<Buffer>,
    armed: bool,
}

const TYPE_BYTES: usize = size_of::<libc::c_long>();

impl Endpoint for QueueEnd {
    const KEEPS_BOUNDARIES: bool = true;

    fn prepare(&mut self) -> Result<(), Errno> {
        let bytes = self.text_bytes.checked_add(TYPE_BYTES).ok_or(Errno::NOMEM)?;
        self.message = Some(Buffer::touched(bytes, 0)?);
        Ok(())
    }

    #[inline]
    fn send(&mut self, bytes: &[u8]) -> Result<usize, Errno> {
        let message = self.message.as_mut().ok_or(Errno::INVAL)?;
        message[..TYPE_BYTES].copy_from_slice(&self.out.to_ne_bytes());
        message[TYPE_BYTES..][..bytes.len()].copy_from_slice(bytes);
        // SAFETY: the buffer holds a type and `bytes.len()` bytes of text, which were just copied there.
        let sent =
            unsafe { libc::msgsnd(self.id, message.as_ptr().cast(), bytes.len(), self.wait) };
        outcome_of_object(sent)?;
        Ok(bytes.len())
    }

    #[inline]
    fn recv(&mut self, bytes: &mut [u8]) -> Result<usize, Errno> {
        let message = self.message.as_mut().ok_or(Errno::INVAL)?;
        let most = bytes.len().min(message.len() - TYPE_BYTES);
        let start = message.as_mut_ptr().cast();
        // SAFETY: the buffer has room for a type and `most` bytes of text.
        let got = unsafe { libc::msgrcv(self.id, start, most, self.into, self.wait) };
        let got = usize::try_from(got).map_err(|_| outcome_of_object(-1).err());
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

    fn disown(mut self) {
        self.armed = false;
    }
}

impl Drop for QueueEnd {
    fn drop(&mut self) {
        if self.armed {
            // SAFETY: removing a queue takes no structure, and fails harmlessly if the queue is gone.
            unsafe { libc::msgctl(self.id, libc::IPC_RMID, std::ptr::null_mut()) };
        }
    }
}
