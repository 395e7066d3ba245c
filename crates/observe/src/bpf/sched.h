/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only
 *
 * What `sched.bpf.c` is told and what it keeps, in the order in which `sched/watch/bpf_layout.rs` reads it. */

enum { ROLES = 4, THREADS = 32, CHANGES = 256, SLEEPS = 16, CPU_WORDS = 16, ROWS = 64 };
enum { SLOTS = ROLES * THREADS, NO_SLOT = SLOTS };
/* After the roles: who else wakes. A power of two of them, as of all that is indexed. */
enum { OTHER = ROLES, IDLE, WAKERS = 8 };
enum { UNKNOWN, RUNNING, RUNNABLE, ASLEEP, STATES };
enum { ONE_THREAD, WHOLE_PROCESS, DAEMON };

struct member {
	u32 pid;
	u32 tid;
	u32 scope;
};

/* Sleeps of one kind: the state, and above it one more than the number of the system call. */
struct sleeps {
	u64 why;
	u64 count;
	u64 asleep_ns;
};

/* What is told of one thread in one phase. */
struct seen {
	u64 spent_ns[STATES];
	u64 voluntary;
	u64 involuntary;
	u64 migrations;
	/* Events that there must have been, and that the kernel did not tell of. */
	u64 missed;
	u64 woken_by[WAKERS];
	u64 latency[ROWS];
	struct sleeps sleeps[SLEEPS];
	u64 cpus[CPU_WORDS];
	u64 changes;
};

struct thread {
	u64 waking_ns;
	/* One more than who woke it; zero where nobody has since it last ran. */
	u64 waker;
	u32 tid;
	u32 state;
	/* One more than where it ran last. */
	u32 cpu;
	u32 sleep;
	u64 phase;
	u64 since_ns;
	struct seen seen;
	/* When it changed, and into what in the two lowest bits. */
	u64 change[CHANGES];
};

/* The interval of a role; still open where it ends at zero. */
struct window {
	u64 phase;
	u64 begin_ns;
	u64 end_ns;
	/* Of a daemon: the phase that a party was first to begin, and how many phases parties have ended, together. */
	u64 begun;
	u64 closings;
	/* Events of threads that found no slot. */
	u64 untold;
};

struct {
	struct window windows[ROLES];
	struct thread threads[SLOTS];
} kept;
