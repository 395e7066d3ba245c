//! Other users of the machine, and other PID namespaces of this user: foreign names are neither used nor removed.

use std::fs;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::os::unix::process::CommandExt;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use rustix::process::{Gid, Uid, geteuid};
use rustix::thread::{
    UnshareFlags, set_thread_groups, set_thread_res_gid, set_thread_res_uid, unshare_unsafe,
};

use crate::available::available;
use crate::processes::{descendants, wait_for};
use crate::results::ResultsFile;
use crate::sandbox::{HANG, NEVER_S, Sandbox, Started, with_time};
use crate::skip::skip;
use crate::system_calls::try_strace;

/// User ID of the other user.
const OTHER_USER: u32 = 1000;
/// Every mechanism that creates names.
const NAMED: [&str; 13] = [
    "fifo",
    "unix-stream-named",
    "file-ref",
    "mmap-file",
    "posix-mq",
    "sysv-mq",
    "sysv-sem",
    "sysv-shm",
    "mmap-queue",
    "iceoryx2-pubsub",
    "iceoryx2-reqres",
    "zeromq",
    "grpc",
];
/// Number of process IDs for which names are guessed; names used to be derived from the worker's process ID.
const GUESSED: u32 = 1_500;
/// The same for sockets, each of which needs a descriptor of this process.
const GUESSED_SOCKETS: u32 = 100;

/// Returns the arguments that run all of them, with a message that each can carry.
fn named() -> String {
    let names = available(&NAMED).join(",");
    format!(
        "-m {names} -b 64 --total 6400 --set unix-stream-named.address=path,abstract \
         --set mmap-queue.lock=sysv-sem"
    )
}

/// Does `work` as the other user, in a thread that ends afterwards.
fn as_other_user<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    thread::scope(|scope| {
        let stranger = scope.spawn(|| {
            let (group, user) = (Gid::from_raw(OTHER_USER), Uid::from_raw(OTHER_USER));
            set_thread_groups(&[]).expect("no groups");
            set_thread_res_gid(group, group, group).expect("another group");
            set_thread_res_uid(user, user, user).expect("another user");
            work()
        });
        stranger.join().expect("the stranger's work")
    })
}

/// Returns a folder that everyone can write to, like `/tmp`; `None` if this user cannot act as another.
fn shared_place(what: &str) -> Option<Sandbox> {
    if !geteuid().is_root() {
        skip(what, "only root can be two users");
        return None;
    }
    let sandbox = Sandbox::open();
    for (name, mode) in [("", 0o755), ("tmp", 0o1777)] {
        let mode = fs::Permissions::from_mode(mode);
        fs::set_permissions(sandbox.path(name), mode).expect("permissions");
    }
    Some(sandbox)
}

/// Objects that another user has created under guessable names.
struct OccupiedNames {
    folders: Vec<PathBuf>,
    /// Message queues and semaphore sets.
    queues: Vec<i32>,
    sets: Vec<i32>,
    _sockets: Vec<UnixListener>,
}

impl OccupiedNames {
    /// Creates objects under the names that workers with the next process IDs would have used.
    fn guessed(folder: &Path) -> Self {
        let next = last_process() + 1;
        let numbers = || next..next + GUESSED;
        let path = |number| folder.join(format!("ipcperf-run-{number}"));
        let folders: Vec<PathBuf> = numbers().map(path).collect();
        for folder in &folders {
            fs::create_dir(folder).expect("a folder");
            fs::write(folder.join("precious"), "").expect("a file");
        }
        let key = |number: u32| (0x16C << 22) | i32::try_from(number & 0x3F_FFFF).expect("22 bits");
        let flags = libc::IPC_CREAT | libc::IPC_EXCL | 0o666;
        // SAFETY: all arguments of both calls are numbers.
        let queues = numbers().map(|number| unsafe { libc::msgget(key(number), flags) });
        // SAFETY: as above.
        let sets = numbers().map(|number| unsafe { libc::semget(key(number), 1, flags) });
        let made = |ids: Vec<i32>| ids.into_iter().filter(|&id| id >= 0).collect();
        let sockets = (next..next + GUESSED_SOCKETS).filter_map(|number| {
            let address = SocketAddr::from_abstract_name(format!("ipcperf-run-{number}")).ok()?;
            UnixListener::bind_addr(&address).ok()
        });
        Self {
            folders,
            queues: made(queues.collect()),
            sets: made(sets.collect()),
            _sockets: sockets.collect(),
        }
    }

    /// Returns the objects that are gone.
    fn missing(&self) -> Vec<String> {
        let folders = self.folders.iter().filter(|path| !path.join("precious").exists());
        let folders = folders.map(|path| path.display().to_string());
        let objects = [("msg", &self.queues), ("sem", &self.sets)].into_iter();
        let objects = objects.flat_map(|(kind, ids)| {
            let there = ids_of(kind);
            ids.iter().filter(move |id| !there.contains(id)).map(move |id| format!("{kind} {id}"))
        });
        folders.chain(objects).collect()
    }
}

impl Drop for OccupiedNames {
    fn drop(&mut self) {
        for &id in &self.queues {
            // SAFETY: all arguments for a removal are numbers.
            unsafe { libc::msgctl(id, libc::IPC_RMID, std::ptr::null_mut()) };
        }
        for &id in &self.sets {
            // SAFETY: as above.
            unsafe { libc::semctl(id, 0, libc::IPC_RMID) };
        }
    }
}

fn ids_of(kind: &str) -> Vec<i32> {
    let table = fs::read_to_string(format!("/proc/sysvipc/{kind}")).expect("a table");
    let ids = table.lines().skip(1).filter_map(|line| line.split_whitespace().nth(1)?.parse().ok());
    ids.collect()
}

/// Returns the last process ID that was assigned: the last word of `/proc/loadavg`.
fn last_process() -> u32 {
    let load = fs::read_to_string("/proc/loadavg").expect("the load");
    load.split_whitespace().last().and_then(|word| word.parse().ok()).expect("a process number")
}

#[test]
fn what_another_user_made_first_is_neither_used_nor_removed() {
    let Some(sandbox) = shared_place("names guessed by another user") else { return };
    in_own_ipc_namespace(|| {
        let folder = sandbox.path("tmp");
        let squatted = as_other_user(|| OccupiedNames::guessed(&folder));
        assert!(squatted.queues.len() > 100 && squatted.sets.len() > 100, "too few guesses");
        sandbox.finish(sandbox.measuring(&format!("{} --repetitions 2", named()))).expect(0);
        assert_eq!(squatted.missing(), Vec::<String>::new());
    });
}

/// Does `work` in a thread with a private IPC namespace, so that other programs cannot remove its System V objects.
fn in_own_ipc_namespace(work: impl FnOnce() + Send) {
    thread::scope(|scope| {
        let alone = scope.spawn(|| {
            // SAFETY: only System V objects and message queues become private to this thread.
            unsafe { unshare_unsafe(UnshareFlags::NEWIPC) }.expect("root may");
            work();
        });
        alone.join().unwrap_or_else(|panic| resume_unwind(panic));
    });
}

/// Both commands and their workers have the same process IDs, so names derived from these would collide.
#[test]
fn two_pid_namespaces_with_equal_numbers_do_not_meet() {
    let what = "two PID namespaces";
    if !geteuid().is_root() {
        return skip(what, "only root can make them");
    }
    let unshare = || {
        let mut unshare = Command::new("unshare");
        unshare.args(["--pid", "--fork", "--mount-proc", "--kill-child"]);
        unshare
    };
    if !unshare().arg("true").status().is_ok_and(|status| status.success()) {
        return skip(what, "unshare --pid --mount-proc fails");
    }
    let sandbox = Sandbox::open();
    let outs = [sandbox.path("one.jsonl"), sandbox.path("other.jsonl")];
    let start = |out: &PathBuf| -> Started {
        let mut command = unshare();
        command.arg(env!("CARGO_BIN_EXE_ipcperf")).args(["run", "--out"]).arg(out);
        let arguments = with_time(&format!("{} --attempts 1 --repetitions 5", named()));
        sandbox.start(sandbox.place(command, &arguments))
    };
    let both = outs.each_ref().map(start);
    for started in both {
        started.finish(HANG);
    }
    for out in &outs {
        let file = ResultsFile::read(out);
        assert_eq!(file.failures, Vec::<serde_json::Value>::new());
        assert_eq!(file.footer["complete"], true);
    }
    sandbox.assert_nothing_left();
}

/// The library makes one of its files accessible to all users, whatever the umask; our configuration avoids that file.
#[test]
fn what_iceoryx2_makes_is_its_owners_alone() {
    for mechanism in ["iceoryx2-pubsub", "iceoryx2-reqres"] {
        for mode in ["2proc", "2thread"] {
            let sandbox = Sandbox::open();
            let command = sandbox.begin(&format!(
                "-m {mechanism} -b 64 --mode {mode} --total 1000000GB --timeout {NEVER_S} --repetitions 1"
            ));
            let made = wait_for("shared memory of the run", HANG, || {
                let token = sandbox.tokens().pop()?;
                let made = names_with("/dev/shm", &token);
                // A service, its ports and their connections.
                (made.len() >= 3).then_some((made, token))
            });
            let processes = if mode == "2proc" { 3 } else { 1 };
            wait_for("all processes", HANG, || {
                (descendants(command.id()).len() == processes).then_some(())
            });
            let (_, token) = made;
            let folder = sandbox.path("tmp");
            let folder = folder.to_str().expect("a plain path");
            let all = [names_with("/dev/shm", &token), names_with(folder, &token)].concat();
            let open: Vec<_> = all.iter().filter(|(_, mode)| mode & 0o077 != 0).collect();
            assert!(open.is_empty(), "{mechanism}, {mode}: open to others: {open:?}");
        }
    }
}

/// The worker is delayed between listen and connect, while another user connects.
#[test]
fn a_stranger_at_an_abstract_name_is_not_taken_for_the_peer() {
    if let Err(reason) = try_strace() {
        return skip("a stranger at an abstract name", &reason);
    }
    let sandbox = Sandbox::open();
    let mut strace = Command::new("strace");
    let held_up = "inject=connect:delay_enter=500000";
    strace.args(["-f", "-qq", "-e", "trace=connect", "-e", held_up, "-o", "/dev/null"]);
    strace.arg(env!("CARGO_BIN_EXE_ipcperf")).args(["run", "--out"]).arg(sandbox.results());
    let case = "-m unix-stream-named --set unix-stream-named.address=abstract -b 64 --total 6400 \
        --repetitions 5 --attempts 1";
    let command = sandbox.start(sandbox.place(strace, &with_time(case)));
    let _stranger = wait_for("abstract name", HANG, || {
        let table = fs::read_to_string("/proc/net/unix").ok()?;
        let names =
            table.lines().filter_map(|line| line.split_whitespace().nth(7)?.strip_prefix('@'));
        let mut names = names.filter(|name| name.starts_with("ipcperf-run-"));
        let tokens = sandbox.tokens();
        let name = names.find(|name| tokens.iter().any(|token| name.ends_with(token)))?;
        UnixStream::connect_addr(&SocketAddr::from_abstract_name(name).ok()?).ok()
    });
    command.finish(HANG).expect(0);
}

/// A umask of 777 makes folders that their owner cannot enter, unless their permissions are restored.
#[test]
fn a_umask_that_takes_everything_keeps_nothing_from_working() {
    let Some(sandbox) = shared_place("a umask of 777") else { return };
    let program = sandbox.copy_command("ipcperf");
    fs::create_dir(sandbox.path("state")).expect("a folder");
    for name in ["data", "state"] {
        chown(sandbox.path(name), Some(OTHER_USER), Some(OTHER_USER)).expect("a gift");
    }
    let mut shell = Command::new("sh");
    shell.uid(OTHER_USER).gid(OTHER_USER);
    shell.args(["-c", "umask 777; exec \"$0\" \"$@\""]).arg(program);
    shell.args(["run", "--out"]).arg(sandbox.path("data/results.jsonl"));
    let arguments = with_time(&format!("{} --repetitions 1", named()));
    sandbox.finish(sandbox.place(shell, &arguments)).expect(0);
    sandbox.assert_nothing_left();
}

/// Returns the names in `folder` that contain `token`, with their permissions; names that disappear meanwhile are
/// omitted.
fn names_with(folder: &str, token: &str) -> Vec<(String, u32)> {
    let entries = fs::read_dir(folder).expect("a folder").flatten();
    let named = entries.filter_map(|entry| {
        let name = entry.file_name().into_string().ok().filter(|name| name.contains(token))?;
        Some((name, entry.metadata().ok()?.mode() & 0o777))
    });
    named.collect()
}
