//! The signal that the command dies of, after it has saved its results and cleaned up.
//!
//! A program that catches a signal and then exits, with any code, signals to the shell that it has handled it: a loop
//! in a script continues with the next program. A program that dies of the signal ends the loop too.

use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};

use rustix::process::{Resource, Rlimit, setrlimit};
use signal_hook::consts::{SIGHUP, SIGINT, SIGPIPE, SIGTERM, SIGXCPU};
use signal_hook::flag;
use signal_hook::low_level::emulate_default_handler;

/// Caught signals, each with whether it has arrived. If several arrived, the command dies of the first in this list: a
/// shell must see Ctrl-C, whatever else arrived.
static CAUGHT: LazyLock<[(i32, Arc<AtomicBool>); 5]> = LazyLock::new(|| {
    [SIGINT, SIGTERM, SIGHUP, SIGXCPU, SIGPIPE].map(|signal| (signal, Arc::default()))
});

/// Registers `signal`: it no longer ends the command at once; the command dies of it when it is done.
///
/// # Errors
/// Fails if the signal cannot be caught.
pub(crate) fn remember(signal: i32) -> std::io::Result<()> {
    match CAUGHT.iter().find(|(known, _)| *known == signal) {
        Some((_, arrived)) => flag::register(signal, Arc::clone(arrived)).map(drop),
        None => Ok(()),
    }
}

/// Makes the command die of SIGPIPE at its end, as other programs do whose reader is gone. The Rust runtime ignores
/// that signal.
pub(crate) fn record_broken_pipe() {
    let pipe = CAUGHT.iter().filter(|(signal, _)| *signal == SIGPIPE);
    pipe.for_each(|(_, arrived)| arrived.store(true, Ordering::SeqCst));
}

/// Dies of the signal that has arrived; returns if there is none. This is the last action of the command.
pub(crate) fn die_of_caught_signal() {
    let Some((signal, _)) = CAUGHT.iter().find(|(_, arrived)| arrived.load(Ordering::SeqCst))
    else {
        return;
    };
    // Nothing flushes standard output after this; an error can no longer be reported.
    let _ = std::io::stdout().flush();
    // SIGXCPU dumps core by default, which is useless for a command that works correctly.
    let _ = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) });
    // Returns only for unknown signals.
    let _ = emulate_default_handler(*signal);
}
