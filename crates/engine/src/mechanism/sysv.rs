//! System V objects: found by a key, and alive until they are removed.
//!
//! The kernel never removes them by itself, so three processes can: the peer that leaves first (the other
//! gets `EIDRM`), the command once the worker is gone, and the worker when the command dies. All know the
//! keys that the run tries. Of two separate programs, the one that has created the objects takes the part of the worker.

use ipcperf_model::{Failure, FailureKind, Unavailable};
use rustix::io::Errno;

use super::setup_failure::setup_failure;
use crate::channel::{Creator, Meeting};
use crate::leftovers::system_v::CreatedObject;
use crate::leftovers::{SystemV, installed, run_names, system_v};
use crate::parent_death::{on_input_death, on_parent_death};
use crate::platform::errno_result;

/// Key under which nothing is created: whether it finds an object does not matter.
const PROBE_KEY: libc::key_t = 0x16C << 22;

/// Converts a return value like [`errno_result`], for a call on an object: `EPIPE` if the object has been removed.
#[inline]
pub(super) fn object_outcome(answer: libc::c_int) -> Result<libc::c_int, Errno> {
    errno_result(answer).map_err(|errno| match errno {
        Errno::IDRM | Errno::INVAL => Errno::PIPE,
        other => other,
    })
}

/// Creates an object of this run through `get`, which takes a key and flags. A key that is in use belongs to
/// another program; the next one is tried.
pub(super) fn create(
    get: impl Fn(libc::key_t, libc::c_int) -> libc::c_int,
) -> Result<libc::c_int, Errno> {
    create_object(get).map(|made| made.id)
}

fn create_object(
    get: impl Fn(libc::key_t, libc::c_int) -> libc::c_int,
) -> Result<CreatedObject, Errno> {
    let names =
        run_names().map_err(|failure| failure.errno.map_or(Errno::IO, Errno::from_raw_os_error))?;
    system_v::create(&names, get)
}

/// How a program got an object that it shares with another program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// It has created the object.
    Created,
    /// It has found the object by its key.
    Found,
}

/// Object that two programs share.
#[derive(Clone, Copy, Debug)]
pub(super) struct MeetingObject<'a> {
    pub(super) kind: SystemV,
    pub(super) meeting: &'a Meeting<'a>,
    /// What to do if it cannot be created.
    pub(super) remedy: &'static str,
}

/// Name under which the key of an object is published.
const KEY: &str = "key";

impl MeetingObject<'_> {
    /// Gets the object through `get`, and opens it with `open`. One program creates it, opens it and publishes its key, by
    /// which the other one finds it.
    pub(super) fn meet<T>(
        self,
        get: impl Fn(libc::key_t, libc::c_int) -> libc::c_int,
        open: impl FnOnce(libc::c_int, Origin) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let users = self.meeting.users()?;
        match users.creator(self.meeting.role()) {
            Creator::ThisPeer => self.create(get, users.other, open),
            Creator::OtherPeer => open(self.find(get)?, Origin::Found),
            Creator::Neither => {
                let place = "creating a System V object that the command could not remove";
                let remedy = "let one of the peers run as the user of the command";
                Err(Failure::new(FailureKind::SetUp, place).with_remedy(remedy))
            }
        }
    }

    fn create<T>(
        self,
        get: impl Fn(libc::key_t, libc::c_int) -> libc::c_int,
        user: u32,
        open: impl FnOnce(libc::c_int, Origin) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let failed = |errno| {
            let call = format!("{}get", self.kind.name());
            setup_failure(&call, errno).with_remedy(self.remedy)
        };
        // Before there is anything to remove.
        on_input_death(remove_and_end);
        let CreatedObject { key, id } = create_object(get).map_err(failed)?;
        let opened = self.share(id, user).and_then(|()| open(id, Origin::Created));
        let published =
            opened.and_then(|opened| self.meeting.publish(KEY, &key.to_string()).map(|()| opened));
        if published.is_err() {
            // It may be gone already.
            let _ = self.kind.remove(id);
        }
        published
    }

    /// Gives the user of the other program access, and nobody else.
    fn share(self, id: libc::c_int, user: u32) -> Result<(), Failure> {
        let call = format!("{}ctl(IPC_SET)", self.kind.name());
        self.kind.share(id, user).map_err(|errno| setup_failure(&call, errno))
    }

    fn find(
        self,
        get: impl Fn(libc::key_t, libc::c_int) -> libc::c_int,
    ) -> Result<libc::c_int, Failure> {
        let key = self.meeting.published(KEY)?.parse();
        let key: libc::key_t = key.map_err(|_| setup_failure("reading a key", Errno::BADMSG))?;
        let what = format!("{}get with the key {key:#010x}", self.kind.name());
        self.meeting.retry(&what, |_| false, || errno_result(get(key, 0o600)))
    }
}

extern "C" fn remove_and_end(_: libc::c_int) {
    if let Some(names) = installed() {
        system_v::remove_all(names);
    }
    // SAFETY: as in `remove_and_die`.
    unsafe { libc::raise(libc::SIGIO) };
}

/// Makes the worker remove its objects before it ends when the command dies. The peers that it forks die with
/// it as usual.
pub(super) fn remove_on_parent_death() {
    on_parent_death(remove_and_die);
}

extern "C" fn remove_and_die(_: libc::c_int) {
    if let Some(names) = installed() {
        system_v::remove_all(names);
    }
    // SAFETY: `raise` is allowed in a handler. The signal has its default action again and ends the process.
    unsafe { libc::raise(libc::SIGTERM) };
}

/// Checks that `get`, called for an object that does not exist, reports just that.
pub(super) fn available(
    call: &str,
    get: impl Fn(libc::key_t) -> libc::c_int,
) -> Result<(), Unavailable> {
    match errno_result(get(PROBE_KEY)) {
        Ok(_) | Err(Errno::NOENT | Errno::ACCESS) => Ok(()),
        Err(errno) => Err(Unavailable {
            reason: format!("{call}: {errno}"),
            remedy: format!(
                "needs a kernel with CONFIG_SYSVIPC and a seccomp filter that allows {call}"
            ),
        }),
    }
}
