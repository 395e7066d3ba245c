//! Names that the library uses during a run: a folder for files, and a prefix for shared memory.
//!
//! Both contain the run's token. A peer removes what it made when it ends. The worker removes what is left
//! after the run, and the command does so again. If the command is killed, the worker gets a signal, ends the
//! peers, and removes everything before it dies.

use std::ffi::{CString, c_int};
use std::sync::OnceLock;

use iceoryx2::prelude::{Config, FileName, Path, SemanticString};
use ipcperf_model::Failure;
use rustix::io::Errno;
use rustix::process::{getpgrp, getpid};

use crate::leftovers::{remove_owned_folder, remove_shared_memory, run_names, to_cstring};
use crate::mechanism::setup_failure::setup_failure;
use crate::parent_death::on_parent_death;
use crate::temp_dir::make_folder;

/// Timeout of the library while both peers open the same objects; slow machines need it this long.
const CREATION_TIMEOUT: std::time::Duration = std::time::Duration::from_secs(30);

/// Names that the signal handler removes.
#[derive(Debug)]
struct RunPaths {
    folder: CString,
    prefix: String,
}

/// The names of the run. A worker executes one run, so there is only one set.
static PATHS: OnceLock<RunPaths> = OnceLock::new();

/// Returns the prefix of all names of this run in shared memory; empty before [`create`].
pub(super) fn prefix() -> &'static str {
    PATHS.get().map_or("", |room| room.prefix.as_str())
}

/// Makes the folder of this worker and returns the library's configuration for it.
pub(super) fn create() -> Result<Config, Failure> {
    let names = run_names()?;
    let (path, prefix) = (names.folder(), format!("{}-", names.prefix()));
    let folder = to_cstring(&path).ok_or_else(|| setup_failure("a path", Errno::INVAL))?;
    let config = config(folder.as_bytes(), &prefix).ok_or_else(|| {
        setup_failure("naming the folder for iceoryx2", Errno::NAMETOOLONG)
            .with_remedy("set TMPDIR to a shorter path of plain ASCII characters")
    })?;
    PATHS.get_or_init(|| RunPaths { folder, prefix });
    // Must come before there is anything to remove: from here on, the death of the command triggers the
    // removal.
    on_parent_death(remove_and_die);
    make_folder(&path)?;
    Ok(config)
}

/// Configures the library. Nodes of other runs are never below these paths, so the search for dead nodes is
/// off.
fn config(folder: &[u8], prefix: &str) -> Option<Config> {
    let mut config = Config::default();
    config.global.set_root_path(&Path::new(folder).ok()?);
    config.global.prefix = FileName::new(prefix.as_bytes()).ok()?;
    config.global.creation_timeout = CREATION_TIMEOUT;
    config.global.service.cleanup_dead_nodes_on_open = false;
    config.global.node.cleanup_dead_nodes_on_creation = false;
    config.global.node.cleanup_dead_nodes_on_destruction = false;
    Some(config)
}

/// Removes the names after the run.
pub(super) fn remove_all() {
    if let Some(room) = PATHS.get() {
        room.remove();
    }
}

impl RunPaths {
    /// Removes the names. Makes system calls only, as signal handlers require.
    fn remove(&self) {
        // Errors are ignored: the command tries again.
        let _ = remove_owned_folder(&self.folder);
        remove_shared_memory(&self.prefix);
    }
}

extern "C" fn remove_and_die(_: c_int) {
    kill_peers();
    if let Some(room) = PATHS.get() {
        room.remove();
    }
    // SAFETY: `raise` is allowed in a handler. The signal has its default action again and ends the process.
    unsafe { libc::raise(libc::SIGTERM) };
}

/// Kills the processes that this one has forked, which would go on to make names. They are in this process's
/// own process group.
fn kill_peers() {
    if getpgrp() != getpid() {
        return;
    }
    // SAFETY: signal-safety(7) lists all three calls. No process handles this signal: it ends the peers, and
    // this process ignores it.
    unsafe {
        libc::signal(libc::SIGUSR2, libc::SIG_IGN);
        libc::kill(0, libc::SIGUSR2);
        while libc::waitpid(-1, std::ptr::null_mut(), 0) > 0
            || *libc::__errno_location() == libc::EINTR
        {}
    }
}
