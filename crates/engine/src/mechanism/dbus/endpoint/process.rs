//! The broker process between the peers: started by the worker, on the peers' CPUs, and killed with it.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use ipcperf_model::{Failure, FailureKind, Role, Unavailable, WorkerReport};
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::process::{Pid, Signal, getpid, getppid, set_parent_process_death_signal};

use tokio::runtime::Runtime;
use zbus::Connection;

use super::link::setup_io_failure;
use crate::mechanism::process_log::last_log_line;
use crate::placement::set_affinity;
use crate::signal_dispositions::restore_file_size;

/// Time that the process has to exit once its sockets are closed.
const EXIT_TIMEOUT: Duration = Duration::from_millis(200);

/// A program that may not be installed.
#[derive(Debug)]
pub(super) struct Program {
    pub(super) name: &'static str,
    /// Debian package that contains it.
    pub(super) package: &'static str,
}

impl Program {
    pub(super) fn available(&self) -> Result<(), Unavailable> {
        let folders = std::env::var_os("PATH").unwrap_or_default();
        let is_here =
            std::env::split_paths(&folders).any(|folder| is_program(&folder.join(self.name)));
        if is_here {
            return Ok(());
        }
        Err(Unavailable {
            reason: format!("{} is not installed", self.name),
            remedy: format!("apt install {}", self.package),
        })
    }
}

fn is_program(path: &Path) -> bool {
    let is_executable = |mode: u32| mode & 0o111 != 0;
    path.metadata().is_ok_and(|file| file.is_file() && is_executable(file.permissions().mode()))
}

/// The worker's end of the socket that controls a dbus-broker. The broker exits when this is closed.
#[derive(Debug)]
pub(super) struct Controller {
    pub(super) _connection: Connection,
    pub(super) _runtime: Runtime,
}

/// A process that is killed and reaped on drop.
#[derive(Debug)]
struct Broker {
    child: Child,
    controller: Option<Controller>,
}

impl Drop for Broker {
    fn drop(&mut self) {
        // A process that has exited needs no signal, but must still be reaped.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The broker of the run. A worker executes one run, so there is only one. It outlives both endpoints, which
/// the peers drop.
static BROKER: Mutex<Option<Broker>> = Mutex::new(None);

fn broker() -> MutexGuard<'static, Option<Broker>> {
    BROKER.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts `command` on `cpus`, with standard error going to the file `log`. Returns its process ID once
/// `await_ready` has returned. If `socket` is given, the process inherits it as its controller.
pub(super) fn start(
    mut command: Command,
    cpus: Option<[u32; 2]>,
    log: &Path,
    socket: Option<OwnedFd>,
    await_ready: impl FnOnce(&mut Child) -> Result<(), Failure>,
) -> Result<u32, Failure> {
    let name = command.get_program().to_string_lossy().into_owned();
    let log = File::create(log).map_err(|error| setup_io_failure("creating a log file", &error))?;
    command.stdin(Stdio::null()).stderr(log);
    if let Some(socket) = &socket {
        command.arg("--controller").arg(socket.as_raw_fd().to_string()).stdout(Stdio::null());
    }
    let worker = getpid();
    // SAFETY: between fork and exec the closure only makes system calls and does not allocate.
    unsafe { command.pre_exec(move || set_up_child(worker, cpus, socket.as_ref())) };
    let child =
        command.spawn().map_err(|error| setup_io_failure(&format!("starting {name}"), &error))?;
    let pid = child.id();
    let broker = &mut *broker();
    await_ready(&mut broker.insert(Broker { child, controller: None }).child)?;
    Ok(pid)
}

/// Prepares the new process: it dies with the worker in any case and stays on its CPUs.
fn set_up_child(worker: Pid, cpus: Option<[u32; 2]>, socket: Option<&OwnedFd>) -> io::Result<()> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    if getppid() != Some(worker) {
        return Err(io::ErrorKind::NotFound.into());
    }
    restore_file_size();
    if let Some(cpus) = cpus {
        set_affinity(&cpus)?;
    }
    if let Some(socket) = socket {
        fcntl_setfd(socket, FdFlags::empty())?;
    }
    Ok(())
}

/// Keeps the controlling socket open until the broker is ended.
pub(super) fn keep_controller(controller: Controller) {
    if let Some(broker) = &mut *broker() {
        broker.controller = Some(controller);
    }
}

/// Ends the broker of the run, if there is one. If the broker died, its death replaces the peers' failure,
/// which it explains.
pub(super) fn end_broker(report: WorkerReport) -> WorkerReport {
    match (report, broker().take()) {
        (WorkerReport::Failed(failure), Some(mut broker)) if failure.what != FailureKind::Died => {
            WorkerReport::Failed(broker.death().unwrap_or(failure))
        }
        (report, _) => report,
    }
}

impl Broker {
    /// Returns the broker's death by a signal, if that has happened or happens within [`EXIT_TIMEOUT`].
    fn death(&mut self) -> Option<Failure> {
        let end = Instant::now() + EXIT_TIMEOUT;
        let mut status = None;
        while status.is_none() && Instant::now() < end {
            status = self.child.try_wait().ok()?;
            std::thread::sleep(Duration::from_millis(1));
        }
        let signal = status.as_ref().and_then(ExitStatus::signal)?;
        let place = format!("the broker was killed by signal {signal}");
        Some(Failure::from_signal(Some(signal), place).with_role(Role::Broker))
    }
}

/// Returns the last line of the broker's `log`, or that it printed nothing.
pub(super) fn last_broker_line(log: &Path) -> String {
    last_log_line(log).unwrap_or_else(|| "no output".to_owned())
}
