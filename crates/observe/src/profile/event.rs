//! The sampled event: any countable event, sampled in program and kernel together.

use ipcperf_model::Unavailable;

use crate::counters::{EventCode, EventError, Machine};

/// Default event: every machine has it.
pub(super) const DEFAULT_EVENT: &str = "cpu-clock";

/// Returns the kernel's type and config of the event called `name`.
///
/// # Errors
/// The name is not an event, or the machine does not have the event.
pub(super) fn resolve(name: &str) -> Result<EventCode, EventError> {
    if let Some((event, _)) = name.split_once(':') {
        return Err(EventError::UnknownEvent(Unavailable {
            reason: format!("{name} has a modifier, which profiles do not support"),
            remedy: format!(
                "use {event}: samples of user space and of the kernel are distinguished anyway"
            ),
        }));
    }
    Machine::current().resolve(name).map(|event| event.code)
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
            assert!(matches!(resolve(name), Err(EventError::UnknownEvent(_))), "{name}");
        }
    }
}
