/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only
 *
 * Inputs and results of `sched.bpf.c`, in the order in which `sched/watch/bpf_layout.rs` and `journal.rs` read them. */

enum { MAX_ROLES = 4, MAX_THREADS = 32, MAX_CHANGES = 256, SLEEPS = 16, CPU_WORDS = 16, ROWS = 64 };
enum { SLOTS = MAX_ROLES * MAX_THREADS, NO_SLOT = SLOTS };
/* Wakers that are not roles. The sizes of all indexed arrays are powers of two. */
enum { OTHER = MAX_ROLES, IDLE, WAKERS = 8 };
enum { UNKNOWN, RUNNING, RUNNABLE, ASLEEP, STATES };
enum { ONE_THREAD, WHOLE_PROCESS, DAEMON };

struct member {
	u32 pid;
	u32 tid;
	u32 scope;
};

/* Sleeps of one kind. `reason` holds the task state, and above it the system call number plus one. */
struct sleeps {
	u64 reason;
	u64 count;
	u64 asleep_ns;
};

/* Results of one thread in one phase. */
struct stats {
	u64 spent_ns[STATES];
	u64 voluntary;
	u64 involuntary;
	u64 migrations;
	/* Events that must have occurred but were not reported by the kernel (lost events). */
	u64 lost_events;
	u64 woken_by[WAKERS];
	u64 latency[ROWS];
	struct sleeps sleeps[SLEEPS];
	u64 cpus[CPU_WORDS];
	u64 changes;
};

struct thread {
	u64 waking_ns;
	/* Index of the waker plus one; 0 if nothing has woken the thread since it last ran. */
	u64 waker;
	u32 tid;
	u32 state;
	/* CPU on which the thread last ran, plus one. */
	u32 cpu;
	u32 sleep;
	u64 phase;
	u64 since_ns;
	struct stats stats;
	/* Times of state changes, with the new state in the two lowest bits. */
	u64 change[MAX_CHANGES];
};

/* Interval of a role; still open if the end is 0. */
struct window {
	u64 phase;
	u64 begin_ns;
	u64 end_ns;
	/* For daemons: the latest phase begun by any peer, and the total number of phases ended by all peers. */
	u64 latest_phase;
	u64 ended_phases;
	/* Untracked-thread events: events of threads that found no slot. */
	u64 untracked_events;
};

struct {
	struct window windows[MAX_ROLES];
	struct thread threads[SLOTS];
	/* Number of events written to the journal, overwritten ones included. */
	u64 journal_events;
} results;

enum { PAGE_EVENTS = 64 };
enum {
	/* `detail` is the time since the thread was woken or preempted, ns. */
	RUNS = 1,
	/* The same, on a CPU that was idle. */
	RUNS_AFTER_IDLE,
	PREEMPTED,
	/* `detail` is the system call number plus one, and above it, from bit 16, the task state. */
	SLEEPS_IN,
	SOFTIRQ_BEGINS,
	SOFTIRQ_ENDS,
	INTERRUPT_BEGINS,
	INTERRUPT_ENDS,
	PAGE_FAULT,
};

/* Event of a thread, or an interrupt of it. */
struct event {
	u64 at_ns;
	u32 detail;
	u16 slot;
	u16 kind;
};

struct page {
	struct event events[PAGE_EVENTS];
};
