//! Memory layout of the BPF program's results; `sched.h` explains each field.

use ipcperf_model::instrument_view::State;
use ipcperf_model::log2_histogram::ROWS;

/// Maximum number of roles.
pub(super) const MAX_ROLES: usize = 4;
/// Maximum number of threads per role; the first is the one that makes the marks.
pub(super) const MAX_THREADS: usize = 32;
/// Maximum number of state changes stored per thread.
pub(super) const MAX_CHANGES: usize = 256;
/// Index of a waker, after the roles: another process.
pub(super) const OTHER_WAKER: usize = MAX_ROLES;
/// Index of a waker: an interrupt on an idle CPU.
pub(super) const IDLE_WAKER: usize = MAX_ROLES + 1;
const WAKERS: usize = 8;
const STATES: usize = 4;
const SLEEPS: usize = 16;
const CPU_WORDS: usize = 16;

/// The whole `.bss` section of the BPF object.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct SchedBss {
    windows: [RawWindow; MAX_ROLES],
    threads: [[RawThread; MAX_THREADS]; MAX_ROLES],
    journal_events: u64,
}

/// Interval of a role.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
struct RawWindow {
    phase: u64,
    begin_ns: u64,
    end_ns: u64,
    latest_phase: u64,
    ended_phases: u64,
    untracked_events: u64,
}

/// One thread.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
struct RawThread {
    waking_ns: u64,
    waker: u64,
    tid: u32,
    state: u32,
    cpu: u32,
    sleep: u32,
    phase: u64,
    since_ns: u64,
    spent_ns: [u64; STATES],
    voluntary: u64,
    involuntary: u64,
    migrations: u64,
    lost_events: u64,
    woken_by: [u64; WAKERS],
    latency: [u64; ROWS],
    sleeps: [RawSleeps; SLEEPS],
    cpus: [u64; CPU_WORDS],
    changes: u64,
    change: [u64; MAX_CHANGES],
}

/// Sleeps of one kind.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
struct RawSleeps {
    reason: u64,
    count: u64,
    asleep_ns: u64,
}

// SAFETY: `#[repr(C)]` like the C struct, without padding, and all fields are integers: any bytes are a valid value.
unsafe impl aya::Pod for SchedBss {}

/// All results.
#[derive(Debug)]
pub(super) struct SchedResults {
    pub(super) windows: Vec<Window>,
    /// Threads of each role.
    pub(super) threads: Vec<Vec<SchedThread>>,
    /// Number of events written to the journal, overwritten ones included.
    pub(super) journal_events: u64,
}

/// Last interval of a role, on the kernel's monotonic clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Window {
    pub(super) phase: u64,
    pub(super) begin_ns: u64,
    /// Zero while the interval is open.
    pub(super) end_ns: u64,
    /// Untracked-thread events: events of threads for which there was no room, since the instrument was attached.
    pub(super) untracked_events: u64,
}

/// One thread, since it was last seen to begin a phase.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SchedThread {
    pub(super) waking_ns: u64,
    /// Current state; `None` before the first context switch and after the thread has exited.
    pub(super) state: Option<State>,
    pub(super) phase: u64,
    pub(super) since_ns: u64,
    pub(super) state_times: StateTimes,
    pub(super) voluntary: u64,
    pub(super) involuntary: u64,
    pub(super) migrations: u64,
    pub(super) lost_events: u64,
    pub(super) woken_by: Vec<u64>,
    pub(super) latency: Vec<u64>,
    pub(super) sleeps: Vec<Sleeps>,
    pub(super) cpus: Vec<u32>,
    pub(super) changes: Vec<(u64, State)>,
}

/// Time that a thread, or all threads of a role, spent in each state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct StateTimes {
    pub(super) on_cpu_ns: u64,
    pub(super) runnable_ns: u64,
    pub(super) asleep_ns: u64,
}

/// Sleeps of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sleeps {
    /// Task state of the kernel.
    pub(super) state: u64,
    /// System call number; `None` if the thread did not sleep in a system call.
    pub(super) call: Option<u32>,
    pub(super) count: u64,
    pub(super) asleep_ns: u64,
}

impl SchedResults {
    /// Converts the BPF program's memory.
    pub(super) fn from_bss(bss: &SchedBss) -> Self {
        let threads =
            |role: &[RawThread; MAX_THREADS]| role.iter().map(SchedThread::from_raw).collect();
        Self {
            windows: bss.windows.iter().map(Window::from_raw).collect(),
            threads: bss.threads.iter().map(threads).collect(),
            journal_events: bss.journal_events,
        }
    }
}

impl Window {
    const fn from_raw(raw: &RawWindow) -> Self {
        let RawWindow { phase, begin_ns, end_ns, untracked_events, .. } = *raw;
        Self { phase, begin_ns, end_ns, untracked_events }
    }

    /// Returns the length of the interval, ns.
    pub(super) const fn interval_ns(&self) -> u64 {
        self.end_ns.saturating_sub(self.begin_ns)
    }

    /// Whether both ends are marked.
    pub(super) const fn is_closed(&self) -> bool {
        self.begin_ns > 0 && self.end_ns > self.begin_ns
    }
}

impl SchedThread {
    fn from_raw(raw: &RawThread) -> Self {
        let [_unknown, on_cpu_ns, runnable_ns, asleep_ns] = raw.spent_ns;
        let sleeps = raw.sleeps.iter().map(Sleeps::from_raw).filter(|kind| kind.count > 0);
        let changes = raw.change.iter().zip(0..raw.changes);
        Self {
            waking_ns: raw.waking_ns,
            state: state(raw.state.into()),
            phase: raw.phase,
            since_ns: raw.since_ns,
            state_times: StateTimes { on_cpu_ns, runnable_ns, asleep_ns },
            voluntary: raw.voluntary,
            involuntary: raw.involuntary,
            migrations: raw.migrations,
            lost_events: raw.lost_events,
            woken_by: raw.woken_by.to_vec(),
            latency: raw.latency.to_vec(),
            sleeps: sleeps.collect(),
            cpus: cpus(&raw.cpus),
            changes: changes.filter_map(|(&at, _)| Some((at >> 2, state(at & 3)?))).collect(),
        }
    }
}

impl Sleeps {
    fn from_raw(raw: &RawSleeps) -> Self {
        // The stored value is one more than the call number, which is -1 outside system calls.
        let call = u32::try_from(raw.reason >> 8).ok().and_then(|more| more.checked_sub(1));
        Self { state: raw.reason & 0xff, call, count: raw.count, asleep_ns: raw.asleep_ns }
    }
}

fn state(number: u64) -> Option<State> {
    match number {
        1 => Some(State::Running),
        2 => Some(State::Runnable),
        3 => Some(State::Asleep),
        _ => None,
    }
}

fn cpus(words: &[u64]) -> Vec<u32> {
    let bits =
        (0_u32..).zip(words.iter().flat_map(|&word| (0..64).map(move |bit| word >> bit & 1)));
    bits.filter_map(|(cpu, bit)| (bit == 1).then_some(cpu)).collect()
}

#[cfg(test)]
mod tests {
    use std::mem::offset_of;

    use super::*;

    const NO_SLEEPS: RawSleeps = RawSleeps { reason: 0, count: 0, asleep_ns: 0 };

    fn thread() -> RawThread {
        let (mut cpus, mut change, mut sleeps) =
            ([0; CPU_WORDS], [0; MAX_CHANGES], [NO_SLEEPS; SLEEPS]);
        cpus[1] = 0b101;
        (change[0], change[1], change[2]) = (9 << 2 | 1, 10 << 2 | 2, 11 << 2 | 3);
        sleeps[3].count = 5;
        RawThread {
            waking_ns: 1,
            waker: 2,
            tid: 77,
            state: 3,
            cpu: 4,
            sleep: 5,
            phase: 6,
            since_ns: 7,
            spent_ns: [8, 9, 10, 11],
            voluntary: 12,
            involuntary: 13,
            migrations: 14,
            lost_events: 15,
            woken_by: [16; WAKERS],
            latency: [17; ROWS],
            sleeps,
            cpus,
            changes: 2,
            change,
        }
    }

    #[test]
    fn what_is_kept_of_a_thread_is_read() {
        let seen = SchedThread::from_raw(&thread());
        assert_eq!((seen.waking_ns, seen.state), (1, Some(State::Asleep)));
        let spent = StateTimes { on_cpu_ns: 9, runnable_ns: 10, asleep_ns: 11 };
        assert_eq!((seen.phase, seen.since_ns, seen.state_times), (6, 7, spent));
        assert_eq!((seen.sleeps.len(), seen.sleeps[0].count), (1, 5));
        assert_eq!(seen.cpus, [64, 66]);
        assert_eq!(seen.changes, [(9, State::Running), (10, State::Runnable)], "two were kept");
    }

    /// As declared in `sched.h`, without padding: 64-bit words, and four 32-bit fields in each thread.
    #[test]
    fn the_layout_is_that_of_the_program() {
        let thread = 6 + STATES + 4 + WAKERS + ROWS + 3 * SLEEPS + CPU_WORDS + 1 + MAX_CHANGES;
        assert_eq!(size_of::<RawThread>(), 8 * thread);
        assert_eq!(size_of::<SchedBss>(), 8 * (MAX_ROLES * (6 + MAX_THREADS * thread) + 1));
        let window = [offset_of!(RawWindow, begin_ns), offset_of!(RawWindow, end_ns)];
        assert_eq!((window, offset_of!(RawWindow, untracked_events)), ([8, 16], 40));
        let thread = [offset_of!(RawThread, state), offset_of!(RawThread, phase)];
        assert_eq!((thread, offset_of!(RawThread, spent_ns)), ([20, 32], 48));
        let counts = [offset_of!(RawThread, voluntary), offset_of!(RawThread, lost_events)];
        assert_eq!(counts, [48 + 8 * STATES, 48 + 8 * STATES + 24]);
    }

    #[test]
    fn a_sleep_outside_of_system_calls_has_none() {
        let sleeps = |reason: u64| Sleeps::from_raw(&RawSleeps { reason, count: 1, asleep_ns: 2 });
        assert_eq!((sleeps(1 | 233 << 8).state, sleeps(1 | 233 << 8).call), (1, Some(232)));
        assert_eq!(sleeps(2 | 1 << 8).call, Some(0));
        assert_eq!((sleeps(2).state, sleeps(2).call), (2, None));
    }
}
