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
const WINDOW_WORDS: usize = 6;
const SLEEP_WORDS: usize = 3;
const THREAD_WORDS: usize =
    6 + STATES + 4 + WAKERS + ROWS + SLEEPS * SLEEP_WORDS + CPU_WORDS + 1 + CHANGES;
/// The length of all, in words.
pub(super) const WORDS: usize = ROLES * (WINDOW_WORDS + THREADS * THREAD_WORDS);

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
    pub(super) fn of(words: &[u64]) -> Self {
        let words = &mut words.iter().copied();
        let windows = (0..ROLES).map(|_| Window::next(words)).collect();
        let threads =
            (0..ROLES).map(|_| (0..THREADS).map(|_| Thread::next(words)).collect()).collect();
        Self { windows, threads }
    }
}

impl Window {
    fn next(words: &mut impl Iterator<Item = u64>) -> Self {
        let [phase, begin_ns, end_ns, _begun, _closings, untold] = array(words);
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
    fn next(words: &mut impl Iterator<Item = u64>) -> Self {
        let [waking_ns, _waker, tid_and_state, _cpu_and_sleep, phase, since_ns] = array(words);
        let [_unknown, on_cpu_ns, runnable_ns, asleep_ns] = array::<STATES>(words);
        let [voluntary, involuntary, migrations, missed] = array(words);
        let woken_by = array::<WAKERS>(words).to_vec();
        let latency = array::<ROWS>(words).to_vec();
        let sleeps = (0..SLEEPS).map(|_| Sleeps::next(words)).filter(|kind| kind.count > 0);
        let sleeps = sleeps.collect();
        let cpus = cpus(&array::<CPU_WORDS>(words));
        let kept = word(words);
        let changes = array::<CHANGES>(words);
        let changes = changes.iter().zip(0..kept);
        Self {
            waking_ns,
            state: state(tid_and_state >> 32),
            phase,
            since_ns,
            spent: Spent { on_cpu_ns, runnable_ns, asleep_ns },
            voluntary,
            involuntary,
            migrations,
            missed,
            woken_by,
            latency,
            sleeps,
            cpus,
            changes: changes.filter_map(|(&at, _)| Some((at >> 2, state(at & 3)?))).collect(),
        }
    }
}

impl Sleeps {
    fn next(words: &mut impl Iterator<Item = u64>) -> Self {
        let [why, count, asleep_ns] = array(words);
        // One more than the number, which is minus one outside of system calls.
        let call = u32::try_from(why >> 8).ok().and_then(|more| more.checked_sub(1));
        Self { state: why & 0xff, call, count, asleep_ns }
    }
}

fn word(words: &mut impl Iterator<Item = u64>) -> u64 {
    words.next().unwrap_or_default()
}

fn array<const N: usize>(words: &mut impl Iterator<Item = u64>) -> [u64; N] {
    std::array::from_fn(|_| word(words))
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

    /// Each word is its own index, so that what is read says from where.
    #[test]
    fn every_word_is_read_from_its_place() {
        let mut words: Vec<u64> = (0..WORDS as u64).collect();
        let second = ROLES * WINDOW_WORDS + THREAD_WORDS;
        let at = |offset: usize| (second + offset) as u64;
        let after_sleeps = 14 + WAKERS + ROWS + SLEEPS * SLEEP_WORDS;
        words[second + 2] = 3 << 32 | 77;
        words[second + after_sleeps..][..CPU_WORDS].fill(0);
        words[second + after_sleeps + 1] = 0b101;
        words[second + THREAD_WORDS - CHANGES - 1] = 2;
        words[second + THREAD_WORDS - CHANGES..][..2].copy_from_slice(&[9 << 2 | 1, 10 << 2 | 2]);
        let told = Told::of(&words);
        assert_eq!(told.windows[1], Window { phase: 6, begin_ns: 7, end_ns: 8, untold: 11 });
        let thread = &told.threads[0][1];
        assert_eq!((thread.waking_ns, thread.state), (at(0), Some(State::Asleep)));
        assert_eq!((thread.phase, thread.since_ns, thread.spent.on_cpu_ns), (at(4), at(5), at(7)));
        assert_eq!((thread.voluntary, thread.missed), (at(10), at(13)));
        assert_eq!((thread.woken_by[0], thread.latency[0]), (at(14), at(14 + WAKERS)));
        assert_eq!(thread.sleeps[0].count, at(14 + WAKERS + ROWS + 1));
        assert_eq!(thread.cpus, [64, 66]);
        assert_eq!(thread.changes, [(9, State::Running), (10, State::Runnable)]);
        let last = told.threads[ROLES - 1].last().unwrap();
        assert_eq!(last.waking_ns, (WORDS - THREAD_WORDS) as u64);
    }

    #[test]
    fn a_sleep_outside_of_system_calls_has_none() {
        let of = |why: u64| Sleeps::next(&mut [why, 1, 2].into_iter());
        assert_eq!((of(1 | 233 << 8).state, of(1 | 233 << 8).call), (1, Some(232)));
        assert_eq!(of(2 | 1 << 8).call, Some(0));
        assert_eq!((of(2).state, of(2).call), (2, None));
    }
}
