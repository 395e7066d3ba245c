//! Where the library keeps names during a run: a folder for files, and a prefix for shared memory.
//!
//! Both are made of the run's token. A party removes what it made as it ends; the worker
//! removes what is left after the run, and the command does so once more. Should the command be
//! killed, the worker is signalled, ends the parties, and removes all of it before it dies.

use std::ffi::{CString, c_int};
use std::sync::OnceLock;

use iceoryx2::prelude::{Config, FileName, Path, SemanticString};
use ipcperf_model::Failure;
use rustix::io::Errno;
use rustix::process::{getpgrp, getpid};

use crate::leftovers::{as_c, of_run, remove_own, remove_shared_memory};
use crate::mechanism::refusal::refused;
use crate::mechanism::run_dir::when_orphaned;
use crate::mechanism::temp_dir::make_folder;

/// Slow machines may take their time over what two parties open at once.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(30);

/// What a signal handler has to know.
#[derive(Debug)]
struct Room {
    folder: CString,
    prefix: String,
}

/// There is one run in a worker, and so one room.
static ROOM: OnceLock<Room> = OnceLock::new();

/// What all names of this run in shared memory begin with; empty before there are any.
pub(super) fn prefix() -> &'static str {
    ROOM.get().map_or("", |room| room.prefix.as_str())
}

/// Makes the room of this worker, and says how the library is to be set up within it.
pub(super) fn open() -> Result<Config, Failure> {
    let names = of_run()?;
    let (path, prefix) = (names.folder(), format!("{}-", names.base()));
    let folder = as_c(&path).ok_or_else(|| refused("a path", Errno::INVAL))?;
    let config = config(folder.as_bytes(), &prefix).ok_or_else(|| {
        refused("a path for iceoryx2", Errno::NAMETOOLONG)
            .with_remedy("set TMPDIR to a folder with a shorter name, of plain letters")
    })?;
    ROOM.get_or_init(|| Room { folder, prefix });
    // Before there is anything to remove: from here on the command's death is a signal to remove it.
    when_orphaned(remove_and_die)?;
    make_folder(&path)?;
    Ok(config)
}

/// Nobody else's nodes are in the room: there are no dead ones to look for.
fn config(folder: &[u8], prefix: &str) -> Option<Config> {
    let mut config = Config::default();
    config.global.set_root_path(&Path::new(folder).ok()?);
    config.global.prefix = FileName::new(prefix.as_bytes()).ok()?;
    config.global.creation_timeout = PATIENCE;
    config.global.service.cleanup_dead_nodes_on_open = false;
    config.global.node.cleanup_dead_nodes_on_creation = false;
    config.global.node.cleanup_dead_nodes_on_destruction = false;
    Some(config)
}

/// Removes the room, after the run.
pub(super) fn clear() {
    if let Some(room) = ROOM.get() {
        room.remove();
    }
}

impl Room {
    /// Makes system calls and nothing else.
    fn remove(&self) {
        // Nothing can be done here about what will not go; the command tries once more.
        let _ = remove_own(&self.folder);
        remove_shared_memory(&self.prefix);
    }
}

extern "C" fn remove_and_die(_: c_int) {
    end_parties();
    if let Some(room) = ROOM.get() {
        room.remove();
    }
    // SAFETY: raise is safe in a handler; the signal, its default again, ends the process.
    unsafe { libc::raise(libc::SIGTERM) };
}

/// Ends the processes that this one has forked, which would go on to make names. They are in its group,
/// which is its own.
fn end_parties() {
    if getpgrp() != getpid() {
        return;
    }
    // SAFETY: all three are calls that signal-safety(7) lists; the signal, which nobody here handles,
    // ends the parties and not this process.
    unsafe {
        libc::signal(libc::SIGUSR2, libc::SIG_IGN);
        libc::kill(0, libc::SIGUSR2);
        while libc::waitpid(-1, std::ptr::null_mut(), 0) > 0
            || *libc::__errno_location() == libc::EINTR
        {}
    }
}
