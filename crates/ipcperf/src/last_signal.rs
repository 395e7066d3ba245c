//! The signal of which the command dies, once it has kept what was measured and has cleaned up.
//!
//! A program that catches a signal and then exits, with whatever code, says that it has dealt with the matter: a
//! script's loop goes on with the next program. One that dies of the signal ends the loop too.

use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};

use rustix::process::{Resource, Rlimit, setrlimit};
use signal_hook::consts::{SIGHUP, SIGINT, SIGPIPE, SIGTERM, SIGXCPU};
use signal_hook::flag;
use signal_hook::low_level::emulate_default_handler;

/// Each such signal, and whether it has arrived. Of several, the command dies of the first in this list: a shell must
/// see a Ctrl-C, whatever else came.
static ARRIVED: LazyLock<[(i32, Arc<AtomicBool>); 5]> = LazyLock::new(|| {
    [SIGINT, SIGTERM, SIGHUP, SIGXCPU, SIGPIPE].map(|signal| (signal, Arc::default()))
});

/// From now on `signal`, which does not end the command at once, ends it at its end.
///
/// # Errors
/// That it cannot be caught.
pub(crate) fn notice(signal: i32) -> std::io::Result<()> {
    match ARRIVED.iter().find(|(known, _)| *known == signal) {
        Some((_, arrived)) => flag::register(signal, Arc::clone(arrived)).map(drop),
        None => Ok(()),
    }
}

/// The command shall die of SIGPIPE, as programs do that write to a reader that is gone. Rust has it ignored.
pub(crate) fn pipe_is_broken() {
    let pipe = ARRIVED.iter().filter(|(signal, _)| *signal == SIGPIPE);
    pipe.for_each(|(_, arrived)| arrived.store(true, Ordering::SeqCst));
}

/// Dies of the signal that has arrived; returns where none has. The last act of the command.
pub(crate) fn die_if_any_arrived() {
    let Some((signal, _)) = ARRIVED.iter().find(|(_, arrived)| arrived.load(Ordering::SeqCst))
    else {
        return;
    };
    // Nobody flushes it afterwards; where it cannot be written, that is no longer told.
    let _ = std::io::stdout().flush();
    // SIGXCPU leaves a core by default, of a command that is in order.
    let _ = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) });
    // It returns for signals alone that it does not know.
    let _ = emulate_default_handler(*signal);
}
