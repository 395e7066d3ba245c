//! Journal of single events of a paced run: layout in the BPF program's memory, and decoding. `sched.h` explains each
//! field.

use ipcperf_model::Unavailable;

use super::bpf_layout::MAX_THREADS;
use crate::bpf::BpfMaps;

/// Number of events in a page.
const PAGE_EVENTS: usize = 64;
/// Number of events that a message causes, or a few more: two switches of each peer, and interrupts.
const EVENTS_PER_MESSAGE: u64 = 12;
/// Limits of the number of pages: 256 KiB, and 64 MiB.
const PAGES: [u64; 2] = [256, 65_536];

/// Programs that record what interrupts a thread, each with its tracepoint, which not every kernel has.
pub(super) const PROGRAMS: [(&str, &str); 7] = [
    ("handle_softirq_entry", "softirq_entry"),
    ("handle_softirq_exit", "softirq_exit"),
    ("handle_irq_entry", "irq_handler_entry"),
    ("handle_irq_exit", "irq_handler_exit"),
    ("handle_timer_entry", "local_timer_entry"),
    ("handle_timer_exit", "local_timer_exit"),
    ("handle_page_fault", "page_fault_user"),
];

/// Returns the number of pages for a run of `messages`, a power of two.
pub(super) fn page_count(messages: u64) -> u32 {
    let events = messages.saturating_mul(EVENTS_PER_MESSAGE);
    let pages = (events / PAGE_EVENTS as u64).clamp(PAGES[0], PAGES[1]).next_power_of_two();
    u32::try_from(pages).unwrap_or(1)
}

#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
struct RawEvent {
    at_ns: u64,
    detail: u32,
    slot: u16,
    kind: u16,
}

#[derive(Clone, Copy, Debug)]
#[repr(C)]
struct RawPage {
    events: [RawEvent; PAGE_EVENTS],
}

// SAFETY: `#[repr(C)]` like the C struct, without padding, and all fields are integers: any bytes are a valid value.
unsafe impl aya::Pod for RawPage {}

/// Event of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Event {
    pub(super) at_ns: u64,
    /// Index of the role.
    pub(super) role: usize,
    /// Index of the thread within the role.
    pub(super) thread: usize,
    pub(super) kind: EventKind,
}

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EventKind {
    /// The thread got a CPU, for which it had waited since it was woken or preempted.
    Runs { waited_ns: u64, after_idle: bool },
    /// It had to leave its CPU.
    Preempted,
    /// It gave up its CPU to sleep.
    Sleeps { state: u64, call: Option<u32> },
    /// An interrupt of this kind began.
    Begins(Interruption),
    /// It ended.
    Ends(Interruption),
    /// The thread had a page fault.
    PageFault,
}

/// Kind of an interrupt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Interruption {
    Softirq,
    Interrupt,
}

/// Events of a run.
#[derive(Debug, Default)]
pub(super) struct Journal {
    /// In the order of their times.
    pub(super) events: Vec<Event>,
    /// Time before which events may be missing; 0 if none is.
    pub(super) complete_from_ns: u64,
}

impl Journal {
    /// Reads the journal of `pages`, to which `written` events were written.
    ///
    /// # Errors
    /// The map has another layout, or the kernel refuses to read it.
    pub(super) fn read(maps: &BpfMaps, pages: u32, written: u64) -> Result<Self, Unavailable> {
        let used = written.div_ceil(PAGE_EVENTS as u64).min(pages.into());
        let pages = maps.read_array::<RawPage>("journal", u32::try_from(used).unwrap_or(pages))?;
        let raw: Vec<RawEvent> = pages.iter().flat_map(|page| page.events).collect();
        Ok(Self::from_raw(&raw, written))
    }

    fn from_raw(raw: &[RawEvent], written: u64) -> Self {
        let mut events: Vec<Event> = raw.iter().filter_map(Event::from_raw).collect();
        events.sort_by_key(|event| event.at_ns);
        let complete_from_ns = match events.first() {
            Some(first) if written > raw.len() as u64 => first.at_ns,
            _ => 0,
        };
        Self { events, complete_from_ns }
    }
}

impl Event {
    fn from_raw(raw: &RawEvent) -> Option<Self> {
        let (detail, slot) = (raw.detail, usize::from(raw.slot));
        let kind = match raw.kind {
            kind @ (1 | 2) => EventKind::Runs { waited_ns: detail.into(), after_idle: kind == 2 },
            3 => EventKind::Preempted,
            4 => EventKind::Sleeps {
                state: u64::from(detail >> 16),
                call: (detail & 0xffff).checked_sub(1),
            },
            5 => EventKind::Begins(Interruption::Softirq),
            6 => EventKind::Ends(Interruption::Softirq),
            7 => EventKind::Begins(Interruption::Interrupt),
            8 => EventKind::Ends(Interruption::Interrupt),
            9 => EventKind::PageFault,
            _ => return None,
        };
        Some(Self { at_ns: raw.at_ns, role: slot / MAX_THREADS, thread: slot % MAX_THREADS, kind })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(at_ns: u64, slot: u16, kind: u16, detail: u32) -> RawEvent {
        RawEvent { at_ns, detail, slot, kind }
    }

    #[test]
    fn events_are_decoded_in_the_order_of_their_times() {
        let raw = [raw(20, 33, 4, 1 << 16 | 1), raw(10, 0, 2, 7), RawEvent::default()];
        let journal = Journal::from_raw(&raw, 2);
        let kinds: Vec<_> = journal.events.iter().map(|event| event.kind).collect();
        let runs = EventKind::Runs { waited_ns: 7, after_idle: true };
        assert_eq!(kinds, [runs, EventKind::Sleeps { state: 1, call: Some(0) }]);
        assert_eq!((journal.events[1].role, journal.events[1].thread), (1, 1));
        assert_eq!(journal.complete_from_ns, 0);
        assert_eq!(Journal::from_raw(&raw, 4).complete_from_ns, 10);
    }

    #[test]
    fn the_layout_is_that_of_the_program() {
        assert_eq!(size_of::<RawPage>(), 1024);
    }

    #[test]
    fn a_journal_has_a_power_of_two_of_pages() {
        assert_eq!([0, 2_000, 100_000, u64::MAX].map(page_count), [256, 512, 32_768, 65_536]);
    }
}
