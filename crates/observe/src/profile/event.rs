//! The sampled event: any countable event, sampled in program and kernel together.

use ipcperf_model::Unavailable;

use crate::counters::{Code, Failed, Machine};

/// Default event: every machine has it.
pub(super) const DEFAULT: &str = "cpu-clock";

/// Returns the kernel's type and config of the event called `name`.
///
/// # Errors
/// The name is not an event, or the machine does not have the event.
pub(super) fn resolve(name: &str) -> Result<Code, Failed> {
    if let Some((event, _)) = name.split_once(':') {
        return Err(Failed::NoEvent(Unavailable {
            reason: format!("{name} is one side of {event}"),
            remedy: format!("use {event}: what was sampled is told apart by side"),
        }));
    }
    Machine::here().event(name).map(|event| event.code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_those_that_are_counted() {
        let numbers = |name| resolve(name).map(|code| (code.kind, code.config)).unwrap();
        assert_eq!(numbers("cpu-clock"), (1, 0));
        assert_eq!(numbers("cycles"), (0, 0));
        assert_eq!(numbers("r1a8"), (4, 0x1a8));
    }

    #[test]
    fn what_is_no_event_is_refused() {
        for name in ["rate", "cycles:u", ""] {
            assert!(matches!(resolve(name), Err(Failed::NoEvent(_))), "{name}");
        }
    }
}
