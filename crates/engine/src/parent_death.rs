//! What a worker does at the death of the command, and a peer in a separate program at that of the worker, apart from dying:
//! removing names that would remain.

use std::ffi::c_int;
use std::mem::MaybeUninit;
use std::ptr::null_mut;

use rustix::process::{Signal, getpid, getppid, kill_process};

use crate::platform::parent_death::set_parent_process_death_signal;

/// Makes the death of the command call `handler`, which removes the names of the run and then ends this process. Must come
/// before there is anything to remove. Forked peers request their own signal.
///
/// The handler may only do what signal-safety(7) allows. When it starts, the signal has its default action again, so the
/// handler can raise it to end the process.
pub(crate) fn on_parent_death(handler: extern "C" fn(c_int)) {
    let parent = getppid();
    handle_once(libc::SIGTERM, handler);
    // None of these calls fails for a valid signal.
    let _ = set_parent_process_death_signal(Some(Signal::TERM));
    if getppid() != parent {
        let _ = kill_process(getpid(), Signal::TERM);
    }
}

/// Makes the death of the worker call `handler` in this peer, a separate program: its standard input is closed then. See
/// [`on_parent_death`].
#[cfg(target_os = "linux")]
pub(crate) fn on_input_death(handler: extern "C" fn(c_int)) {
    handle_once(libc::SIGIO, handler);
}

/// Makes `signal` call `handler`, once, and unblocks it.
fn handle_once(signal: c_int, handler: extern "C" fn(c_int)) {
    // SAFETY: an all-zero `sigaction` is valid: no flags, nothing blocked. The signal sets are initialized by `sigemptyset`
    // before they are used, and null pointers decline the previous values.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler as libc::sighandler_t;
        action.sa_flags = libc::SA_RESETHAND;
        libc::sigaction(signal, &raw const action, null_mut());
        // The program that has started the command may have blocked the signal.
        let mut set = MaybeUninit::uninit();
        libc::sigemptyset(set.as_mut_ptr());
        libc::sigaddset(set.as_mut_ptr(), signal);
        libc::pthread_sigmask(libc::SIG_UNBLOCK, set.as_ptr(), null_mut());
    }
}
