//! Memory layout of the BPF program's results; `sched.h` explains each field.

use ipcperf_model::instrument_view::State;
use ipcperf_model::log2_histogram::ROWS;

/// Maximum number of roles.
pub(super) const ROLES: usize = 4;
/// Maximum number of threads per role; the first is the one that makes the marks.
pub(super) const THREADS: usize = 32;
/// Maximum number of state changes stored per thread.
pub(super) const CHANGES: usize = 256;
/// Index of a waker, after the roles: another process.
pub(super) const OTHER: usize = ROLES;
/// Index of a waker: an interrupt on an idle CPU.
pub(super) const IDLE: usize = ROLES + 1;
const WAKERS: usize = 8;
const STATES: usize = 4;
const SLEEPS: usize = 16;
const CPU_WORDS: usize = 16;

/// The whole `.bss` section of the BPF object.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct Kept {
    windows: [KeptWindow; ROLES],
    threads: [[KeptThread; THREADS]; ROLES],
}

/// Interval of a role.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
struct KeptWindow {
    phase: u64,
    begin_ns: u64,
    end_ns: u64,
    begun: u64,
    closings: u64,
    untold: u64,
}

/// One thread.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
struct KeptThread {
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
    missed: u64,
    woken_by: [u64; WAKERS],
    latency: [u64; ROWS],
    sleeps: [KeptSleeps; SLEEPS],
    cpus: [u64; CPU_WORDS],
    changes: u64,
    change: [u64; CHANGES],
}

/// Sleeps of one kind.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
struct KeptSleeps {
    why: u64,
    count: u64,
    asleep_ns: u64,
}

// SAFETY: `#[repr(C)]` like the C struct, without padding, and all fields are integers: any bytes are a valid value.
unsafe impl aya::Pod for Kept {}

/// All results.
#[derive(Debug)]
pub(super) struct Told {
    pub(super) windows: Vec<Window>,
    /// Threads of each role.
    pub(super) threads: Vec<Vec<Thread>>,
}

/// Last interval of a role, on the kernel's monotonic clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Window {
    pub(super) phase: u64,
    pub(super) begin_ns: u64,
    /// Zero while the interval is open.
    pub(super) end_ns: u64,
    /// Untracked-thread events: events of threads for which there was no room, since the instrument was attached.
    pub(super) untold: u64,
}

/// One thread, since it was last seen to begin a phase.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Thread {
    pub(super) waking_ns: u64,
    /// Current state; `None` before the first context switch and after the thread has exited.
    pub(super) state: Option<State>,
    pub(super) phase: u64,
    pub(super) since_ns: u64,
    pub(super) spent: Spent,
    pub(super) voluntary: u64,
    pub(super) involuntary: u64,
    pub(super) migrations: u64,
    pub(super) missed: u64,
    pub(super) woken_by: Vec<u64>,
    pub(super) latency: Vec<u64>,
    pub(super) sleeps: Vec<Sleeps>,
    pub(super) cpus: Vec<u32>,
    pub(super) changes: Vec<(u64, State)>,
}

/// Time that a thread, or all threads of a role, spent in each state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Spent {
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

impl Told {
    /// Converts the BPF program's memory.
    pub(super) fn of(kept: &Kept) -> Self {
        let threads = |role: &[KeptThread; THREADS]| role.iter().map(Thread::of).collect();
        Self {
            windows: kept.windows.iter().map(Window::of).collect(),
            threads: kept.threads.iter().map(threads).collect(),
        }
    }
}

impl Window {
    const fn of(kept: &KeptWindow) -> Self {
        let KeptWindow { phase, begin_ns, end_ns, untold, .. } = *kept;
        Self { phase, begin_ns, end_ns, untold }
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

impl Thread {
    fn of(kept: &KeptThread) -> Self {
        let [_unknown, on_cpu_ns, runnable_ns, asleep_ns] = kept.spent_ns;
        let sleeps = kept.sleeps.iter().map(Sleeps::of).filter(|kind| kind.count > 0);
        let changes = kept.change.iter().zip(0..kept.changes);
        Self {
            waking_ns: kept.waking_ns,
            state: state(kept.state.into()),
            phase: kept.phase,
            since_ns: kept.since_ns,
            spent: Spent { on_cpu_ns, runnable_ns, asleep_ns },
            voluntary: kept.voluntary,
            involuntary: kept.involuntary,
            migrations: kept.migrations,
            missed: kept.missed,
            woken_by: kept.woken_by.to_vec(),
            latency: kept.latency.to_vec(),
            sleeps: sleeps.collect(),
            cpus: cpus(&kept.cpus),
            changes: changes.filter_map(|(&at, _)| Some((at >> 2, state(at & 3)?))).collect(),
        }
    }
}

impl Sleeps {
    fn of(kept: &KeptSleeps) -> Self {
        // The stored value is one more than the call number, which is -1 outside system calls.
        let call = u32::try_from(kept.why >> 8).ok().and_then(|more| more.checked_sub(1));
        Self { state: kept.why & 0xff, call, count: kept.count, asleep_ns: kept.asleep_ns }
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

    const NO_SLEEPS: KeptSleeps = KeptSleeps { why: 0, count: 0, asleep_ns: 0 };

    fn thread() -> KeptThread {
        let (mut cpus, mut change, mut sleeps) =
            ([0; CPU_WORDS], [0; CHANGES], [NO_SLEEPS; SLEEPS]);
        cpus[1] = 0b101;
        (change[0], change[1], change[2]) = (9 << 2 | 1, 10 << 2 | 2, 11 << 2 | 3);
        sleeps[3].count = 5;
        KeptThread {
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
            missed: 15,
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
        let seen = Thread::of(&thread());
        assert_eq!((seen.waking_ns, seen.state), (1, Some(State::Asleep)));
        let spent = Spent { on_cpu_ns: 9, runnable_ns: 10, asleep_ns: 11 };
        assert_eq!((seen.phase, seen.since_ns, seen.spent), (6, 7, spent));
        assert_eq!((seen.sleeps.len(), seen.sleeps[0].count), (1, 5));
        assert_eq!(seen.cpus, [64, 66]);
        assert_eq!(seen.changes, [(9, State::Running), (10, State::Runnable)], "two were kept");
    }

    /// As declared in `sched.h`, without padding: 64-bit words, and four 32-bit fields in each thread.
    #[test]
    fn the_layout_is_that_of_the_program() {
        let thread = 6 + STATES + 4 + WAKERS + ROWS + 3 * SLEEPS + CPU_WORDS + 1 + CHANGES;
        assert_eq!(size_of::<KeptThread>(), 8 * thread);
        assert_eq!(size_of::<Kept>(), 8 * ROLES * (6 + THREADS * thread));
        let window = [offset_of!(KeptWindow, begin_ns), offset_of!(KeptWindow, end_ns)];
        assert_eq!((window, offset_of!(KeptWindow, untold)), ([8, 16], 40));
        let thread = [offset_of!(KeptThread, state), offset_of!(KeptThread, phase)];
        assert_eq!((thread, offset_of!(KeptThread, spent_ns)), ([20, 32], 48));
        let counts = [offset_of!(KeptThread, voluntary), offset_of!(KeptThread, missed)];
        assert_eq!(counts, [48 + 8 * STATES, 48 + 8 * STATES + 24]);
    }

    #[test]
    fn a_sleep_outside_of_system_calls_has_none() {
        let of = |why: u64| Sleeps::of(&KeptSleeps { why, count: 1, asleep_ns: 2 });
        assert_eq!((of(1 | 233 << 8).state, of(1 | 233 << 8).call), (1, Some(232)));
        assert_eq!(of(2 | 1 << 8).call, Some(0));
        assert_eq!((of(2).state, of(2).call), (2, None));
    }
}
