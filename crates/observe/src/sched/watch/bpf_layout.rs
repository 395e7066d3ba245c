//! What the kernel's side keeps, as it lies in its memory: `sched.h` says what each word is.

use ipcperf_model::instrument_view::State;
use ipcperf_model::log2_histogram::ROWS;

/// Roles there is room for.
pub(super) const ROLES: usize = 4;
/// Threads of each role there is room for, the one that plays first.
pub(super) const THREADS: usize = 32;
/// Changes that are kept of each thread.
pub(super) const CHANGES: usize = 256;
/// Who wakes, after the roles: another process.
pub(super) const OTHER: usize = ROLES;
/// And an interrupt on an idle CPU.
pub(super) const IDLE: usize = ROLES + 1;
const WAKERS: usize = 8;
const STATES: usize = 4;
const SLEEPS: usize = 16;
const CPU_WORDS: usize = 16;

/// All that lies in `.bss`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct Kept {
    windows: [KeptWindow; ROLES],
    threads: [[KeptThread; THREADS]; ROLES],
}

/// The interval of a role.
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

// SAFETY: laid out as C does, without padding, of integers alone: any bytes are a value.
unsafe impl aya::Pod for Kept {}

/// Everything.
#[derive(Debug)]
pub(super) struct Told {
    pub(super) windows: Vec<Window>,
    /// Of each role, its threads.
    pub(super) threads: Vec<Vec<Thread>>,
}

/// The last interval of a role, on the kernel's monotonic clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Window {
    pub(super) phase: u64,
    pub(super) begin_ns: u64,
    /// Zero while it is open.
    pub(super) end_ns: u64,
    /// Events of threads that there was no room for, since the watch began.
    pub(super) untold: u64,
}

/// One thread, since it was last seen to begin a phase.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Thread {
    pub(super) waking_ns: u64,
    /// What it is at; `None` before its first switch and after its end.
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

/// How long a thread, or all of a role, was at what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Spent {
    pub(super) on_cpu_ns: u64,
    pub(super) runnable_ns: u64,
    pub(super) asleep_ns: u64,
}

/// Sleeps of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sleeps {
    /// The kernel's task state.
    pub(super) state: u64,
    /// The number of the system call; `None` where it slept in none.
    pub(super) call: Option<u32>,
    pub(super) count: u64,
    pub(super) asleep_ns: u64,
}

impl Told {
    /// Reads it from the kernel's memory.
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

    /// How long it was.
    pub(super) const fn interval_ns(&self) -> u64 {
        self.end_ns.saturating_sub(self.begin_ns)
    }

    /// Whether it was marked at both its ends.
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
        // One more than the number, which is minus one outside of system calls.
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

    /// As `sched.h` declares it, without padding: whole words, and four halves of a word in each thread.
    #[test]
    fn the_layout_is_that_of_the_program() {
        let thread = 6 + STATES + 4 + WAKERS + ROWS + 3 * SLEEPS + CPU_WORDS + 1 + CHANGES;
        assert_eq!(size_of::<KeptThread>(), 8 * thread);
        assert_eq!(size_of::<Kept>(), 8 * ROLES * (6 + THREADS * thread));
        assert_eq!(std::mem::offset_of!(KeptThread, state), 20);
    }

    #[test]
    fn a_sleep_outside_of_system_calls_has_none() {
        let of = |why: u64| Sleeps::of(&KeptSleeps { why, count: 1, asleep_ns: 2 });
        assert_eq!((of(1 | 233 << 8).state, of(1 | 233 << 8).call), (1, Some(232)));
        assert_eq!(of(2 | 1 << 8).call, Some(0));
        assert_eq!((of(2).state, of(2).call), (2, None));
    }
}
