/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only
 *
 * Records the scheduling of a run's peers, summed by thread; `sched.rs` reads it after the run.
 *
 * Each observed thread has a slot. Its context switches are serialized by the lock of its run queue, and its marks
 * come from the thread itself, so only one CPU at a time writes to a slot. A waker writes only to `waking_ns` and
 * `waker`, which are read when the thread runs again.
 *
 * The kernel reports a wakeup twice: before the thread is put on a run queue (`sched_waking`), where the waker is
 * still known, and after (`sched_wakeup`), which can be on another CPU and in an interrupt. Time spent in a program
 * on the first is charged to the waker when the scheduler decides which of the two runs on, and can reverse that
 * decision in thousands of wakeups. So if both threads are on the same CPU, where the second event has the same
 * information, the first is ignored.
 *
 * For paced runs, a journal keeps the latest events one by one, so that the delay of a single message can be
 * explained. */

#include "kernel.h"
#include "sched.h"

/* Bits of the state in which a thread leaves its CPU: what it waits for, and whether it has ended. */
enum { WAITS = 0xff, ENDED = 0x80 };

struct thread_info {
	u32 cpu;
} __attribute__((preserve_access_index));

struct task_struct {
	struct thread_info thread_info;
	int nr_cpus_allowed;
	int pid;
	int tgid;
} __attribute__((preserve_access_index));

struct pt_regs___x86 {
	long orig_ax;
} __attribute__((preserve_access_index));

struct pt_regs___arm64 {
	int syscallno;
} __attribute__((preserve_access_index));

static u32 (*const bpf_get_smp_processor_id)(void) = (void *)8;
static struct task_struct *(*const bpf_get_current_task_btf)(void) = (void *)158;
static void *(*const bpf_task_pt_regs)(struct task_struct *task) = (void *)175;

/* Unused entries have IDs that no thread has. */
const volatile struct member members[MAX_ROLES];
const volatile u32 marking_members;
const volatile u32 mark;
/* Number of pages of the journal, a power of two; 0 if there is none. */
const volatile u32 journal_pages;

/* The number of pages is set when the program is loaded. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct page);
} journal SEC(".maps");

/* Hides a number's known value range from the compiler, so that it keeps a bound check that the verifier needs. */
static __always_inline u64 hidden(u64 number)
{
	asm volatile("" : "+r"(number));
	return number;
}

/* Returns the slot of a thread of a member's process that is not the member's own. Claims one at the first call. */
static __always_inline u32 claim_slot(u32 role, u32 tid)
{
	for (u32 slot = role * MAX_THREADS + 1; slot < (role + 1) * MAX_THREADS; slot++) {
		u32 *owner = &results.threads[slot].tid;
		if (*owner == tid)
			return slot;
		if (*owner == 0 && __sync_val_compare_and_swap(owner, 0, tid) == 0)
			return slot;
	}
	results.windows[role].untracked_events++;
	return NO_SLOT;
}

/* Not inlined, so that the verifier checks it only once. */
__noinline u32 slot_of(u32 pid, u32 tid)
{
	for (u32 role = 0; role < MAX_ROLES; role++)
		if (members[role].tid == tid)
			return role * MAX_THREADS;
	for (u32 role = 0; role < MAX_ROLES; role++)
		if (members[role].pid == pid && members[role].scope != ONE_THREAD)
			return claim_slot(role, tid);
	return NO_SLOT;
}

static __always_inline struct thread *thread_at(u32 slot)
{
	return slot < SLOTS ? &results.threads[hidden(slot) % SLOTS] : 0;
}

static __always_inline struct window *window_of(u32 slot)
{
	return &results.windows[hidden(slot / MAX_THREADS) % MAX_ROLES];
}

static __always_inline int is_open(const struct window *window)
{
	return window->begin_ns && !window->end_ns;
}

/* Adds an event to the journal, in place of the oldest if it is full. */
static __always_inline void records(u32 kind, u32 slot, u64 detail, u64 at_ns)
{
	if (!journal_pages)
		return;
	u64 index = __sync_fetch_and_add(&results.journal_events, 1);
	u32 number = index / PAGE_EVENTS & (journal_pages - 1);
	struct page *page = bpf_map_lookup_elem(&journal, &number);
	if (!page)
		return;
	struct event *event = &page->events[hidden(index) % PAGE_EVENTS];
	event->at_ns = at_ns;
	event->detail = detail < 0xffffffff ? detail : 0xffffffff;
	event->slot = slot;
	event->kind = kind;
}

static __always_inline u32 row(u64 value)
{
	u32 bits = 0;
	for (u32 step = 32; step; step /= 2) {
		if (value >> step) {
			bits += step;
			value >>= step;
		}
	}
	return value ? bits + 1 : 0;
}

static __always_inline void changes(struct thread *thread, u64 at_ns, u32 state)
{
	u64 index = thread->stats.changes;
	if (index < MAX_CHANGES) {
		thread->change[hidden(index) % MAX_CHANGES] = at_ns << 2 | state;
		thread->stats.changes = index + 1;
	}
}

/* The phase is written last and read first: a thread that sees the phase also sees its interval. */
static __always_inline void opens_window(struct window *window, u64 phase, u64 now_ns)
{
	window->begin_ns = now_ns;
	window->end_ns = 0;
	__sync_lock_test_and_set(&window->phase, phase);
}

/* Adds 0: an atomic read, so that no field of the interval is read before the phase. */
static __always_inline u64 phase_of(struct window *window)
{
	return __sync_fetch_and_add(&window->phase, 0);
}

/* Clears the results of the previous phase. The thread's current state is kept. */
static __noinline void begins(struct thread *thread, struct window *window)
{
	thread->phase = phase_of(window);
	/* Volatile, or the compiler replaces the loop by a call of `memset`. */
	volatile u64 *words = (volatile u64 *)&thread->stats;
	for (u32 index = 0; index < sizeof(struct stats) / sizeof(u64); index++)
		words[index] = 0;
	thread->sleep = SLEEPS;
	if (thread->state != UNKNOWN)
		changes(thread, window->begin_ns, thread->state);
}

/* Adds the time up to `to_ns` that lies in the interval to the current state, and returns it. */
static __always_inline u64 spends(struct thread *thread, const struct window *window, u64 to_ns)
{
	u64 from_ns = thread->since_ns;
	thread->since_ns = to_ns;
	if (from_ns < window->begin_ns)
		from_ns = window->begin_ns;
	if (window->end_ns && window->end_ns < to_ns)
		to_ns = window->end_ns;
	if (!window->begin_ns || to_ns <= from_ns)
		return 0;
	thread->stats.spent_ns[hidden(thread->state) % STATES] += to_ns - from_ns;
	return to_ns - from_ns;
}

/* Returns the number of the system call that `task` is in, plus one. Outside of calls the kernel stores -1. */
static __always_inline u64 syscall_of(struct task_struct *task)
{
	void *registers = bpf_task_pt_regs(task);
	struct pt_regs___x86 *x86 = registers;
	struct pt_regs___arm64 *arm64 = registers;
	if (bpf_core_field_exists(x86->orig_ax))
		return (u32)x86->orig_ax + 1;
	if (bpf_core_field_exists(arm64->syscallno))
		return (u32)arm64->syscallno + 1;
	return 0;
}

/* Counts a sleep and returns the index of its kind. */
static __always_inline u32 sleeps(struct stats *stats, struct task_struct *task, u32 state)
{
	u64 reason = (state & WAITS) | syscall_of(task) << 8;
	for (u32 index = 0; index < SLEEPS; index++) {
		struct sleeps *kind = &stats->sleeps[index];
		if (kind->count == 0)
			kind->reason = reason;
		if (kind->reason == reason) {
			kind->count++;
			return index;
		}
	}
	return SLEEPS;
}

static __always_inline void leaves(struct task_struct *task, u32 slot, int preempted, u32 state, u64 now_ns)
{
	struct thread *thread = thread_at(slot);
	if (!thread)
		return;
	struct window *window = window_of(slot);
	if (thread->phase != window->phase)
		begins(thread, window);
	spends(thread, window, now_ns);
	u32 was = thread->state;
	int waits = !preempted && state;
	thread->state = !waits ? RUNNABLE : state & ENDED ? UNKNOWN : ASLEEP;
	thread->sleep = SLEEPS;
	if (!is_open(window))
		return;
	thread->stats.lost_events += was != RUNNING && was != UNKNOWN;
	thread->stats.voluntary += waits;
	thread->stats.involuntary += !waits;
	if (thread->state == ASLEEP)
		thread->sleep = sleeps(&thread->stats, task, state);
	changes(thread, now_ns, thread->state);
	if (waits)
		records(SLEEPS_IN, slot, (state & WAITS) << 16 | (u16)syscall_of(task), now_ns);
	else
		records(PREEMPTED, slot, 0, now_ns);
}

/* Ends the sleep of a thread that is about to run, at the time at which it was woken. */
static __always_inline void wakes(struct thread *thread, const struct window *window, u64 now_ns)
{
	u64 woken_ns = thread->waking_ns;
	u32 waker = thread->waker;
	/* A waker can be faster than the context switch of the thread that it wakes. */
	if (woken_ns < thread->since_ns)
		woken_ns = thread->since_ns;
	if (woken_ns > now_ns || !waker)
		woken_ns = now_ns;
	u64 asleep_ns = spends(thread, window, woken_ns);
	thread->state = RUNNABLE;
	if (!is_open(window))
		return;
	if (thread->sleep < SLEEPS)
		thread->stats.sleeps[hidden(thread->sleep) % SLEEPS].asleep_ns += asleep_ns;
	thread->stats.lost_events += !waker;
	if (waker) {
		thread->stats.woken_by[hidden(waker - 1) % WAKERS]++;
		thread->stats.latency[hidden(row(now_ns - woken_ns)) % ROWS]++;
	}
	if (woken_ns < window->begin_ns)
		woken_ns = window->begin_ns;
	changes(thread, woken_ns, RUNNABLE);
}

static __always_inline void runs_on(struct thread *thread, u32 cpu, const struct window *window)
{
	if (is_open(window)) {
		thread->stats.migrations += thread->cpu && thread->cpu != cpu + 1;
		thread->stats.cpus[cpu / 64 % CPU_WORDS] |= 1ULL << cpu % 64;
	}
	thread->cpu = cpu + 1;
}

static __always_inline void enters(u32 slot, int after_idle, u64 now_ns)
{
	struct thread *thread = thread_at(slot);
	if (!thread)
		return;
	struct window *window = window_of(slot);
	if (thread->phase != window->phase)
		begins(thread, window);
	if (thread->state == RUNNING && is_open(window))
		thread->stats.lost_events++;
	if (thread->state == ASLEEP)
		wakes(thread, window, now_ns);
	thread->waker = 0;
	u64 runnable_ns = now_ns - thread->since_ns;
	spends(thread, window, now_ns);
	thread->state = RUNNING;
	runs_on(thread, bpf_get_smp_processor_id(), window);
	if (!is_open(window))
		return;
	changes(thread, now_ns, RUNNING);
	records(after_idle ? RUNS_AFTER_IDLE : RUNS, slot, runnable_ns, now_ns);
}

SEC("tp_btf/sched_switch")
int handle_switch(u64 *ctx)
{
	struct task_struct *prev = (void *)ctx[1], *next = (void *)ctx[2];
	u32 from = slot_of(prev->tgid, prev->pid), to = slot_of(next->tgid, next->pid);
	if (from >= SLOTS && to >= SLOTS)
		return 0;
	u64 now_ns = bpf_ktime_get_ns();
	if (from < SLOTS)
		leaves(prev, from, ctx[0] & 1, ctx[3], now_ns);
	if (to < SLOTS)
		enters(to, !prev->pid, now_ns);
	return 0;
}

static __always_inline void notes_waker(struct thread *thread)
{
	struct task_struct *current = bpf_get_current_task_btf();
	u32 tid = current->pid, slot = tid ? slot_of(current->tgid, tid) : NO_SLOT;
	thread->waker = 1 + (slot < SLOTS ? slot / MAX_THREADS : tid ? OTHER : IDLE);
	thread->waking_ns = bpf_ktime_get_ns();
}

SEC("tp_btf/sched_waking")
int handle_waking(u64 *ctx)
{
	struct task_struct *task = (void *)ctx[0];
	if (task->nr_cpus_allowed == 1 && task->thread_info.cpu == bpf_get_smp_processor_id())
		return 0;
	struct thread *thread = thread_at(slot_of(task->tgid, task->pid));
	if (thread)
		notes_waker(thread);
	return 0;
}

SEC("tp_btf/sched_wakeup")
int handle_wakeup(u64 *ctx)
{
	struct task_struct *task = (void *)ctx[0];
	struct thread *thread = thread_at(slot_of(task->tgid, task->pid));
	if (!thread)
		return 0;
	if (thread->state != ASLEEP)
		/* The thread was about to sleep, but stays awake. */
		thread->waker = 0;
	else if (!thread->waker)
		notes_waker(thread);
	return 0;
}

/* A daemon is observed from the first mark of a phase to the last. */
static __always_inline void daemons_begin(u64 phase, u64 now_ns)
{
	for (u32 role = 0; role < MAX_ROLES; role++) {
		struct window *window = &results.windows[role];
		if (members[role].scope != DAEMON)
			continue;
		if (__sync_val_compare_and_swap(&window->latest_phase, phase - 1, phase) == phase - 1)
			opens_window(window, phase, now_ns);
	}
}

/* The ends of all phases are counted together: one peer can be several phases ahead of another. */
static __always_inline void daemons_end(u64 now_ns)
{
	for (u32 role = 0; role < MAX_ROLES; role++) {
		struct window *window = &results.windows[role];
		if (members[role].scope != DAEMON)
			continue;
		u64 ended_phases = __sync_fetch_and_add(&window->ended_phases, 1) + 1;
		u64 phase = window->latest_phase;
		if (ended_phases != phase * marking_members)
			continue;
		__sync_lock_test_and_set(&window->end_ns, now_ns);
		/* Another peer may have begun the next phase meanwhile. */
		if (window->latest_phase != phase)
			window->end_ns = 0;
	}
}

static __always_inline void opens(struct thread *thread, struct window *window, u64 now_ns)
{
	opens_window(window, window->phase + 1, now_ns);
	thread->state = RUNNING;
	thread->since_ns = now_ns;
	begins(thread, window);
	runs_on(thread, bpf_get_smp_processor_id(), window);
	daemons_begin(window->phase, now_ns);
}

SEC("tp_btf/sys_enter")
int handle_enter(u64 *ctx)
{
	if (likely(ctx[1] != mark))
		return 0;
	u32 slot = slot_of(0, bpf_get_current_pid_tgid());
	struct thread *thread = thread_at(slot);
	struct window *window = window_of(slot);
	if (!thread)
		return 0;
	u64 now_ns = bpf_ktime_get_ns();
	if (is_open(window)) {
		window->end_ns = now_ns;
		spends(thread, window, now_ns);
		daemons_end(now_ns);
	} else {
		opens(thread, window, now_ns);
	}
	return 0;
}

/* Records an event that interrupts an observed thread. These programs are attached only if there is a journal. */
static __always_inline int interrupts(u32 kind, u64 detail)
{
	u64 ids = bpf_get_current_pid_tgid();
	u32 tid = ids;
	if (!tid)
		return 0;
	u32 slot = slot_of(ids >> 32, tid);
	if (slot < SLOTS && is_open(window_of(slot)))
		records(kind, slot, detail, bpf_ktime_get_ns());
	return 0;
}

SEC("tp_btf/softirq_entry")
int handle_softirq_entry(u64 *ctx)
{
	return interrupts(SOFTIRQ_BEGINS, ctx[0]);
}

SEC("tp_btf/softirq_exit")
int handle_softirq_exit(u64 *ctx)
{
	return interrupts(SOFTIRQ_ENDS, ctx[0]);
}

SEC("tp_btf/irq_handler_entry")
int handle_irq_entry(u64 *ctx)
{
	return interrupts(INTERRUPT_BEGINS, ctx[0]);
}

SEC("tp_btf/irq_handler_exit")
int handle_irq_exit(u64 *ctx)
{
	return interrupts(INTERRUPT_ENDS, ctx[0]);
}

/* The timer of each CPU on x86, which is not among the interrupts above. */
SEC("tp_btf/local_timer_entry")
int handle_timer_entry(u64 *ctx)
{
	return interrupts(INTERRUPT_BEGINS, ctx[0]);
}

SEC("tp_btf/local_timer_exit")
int handle_timer_exit(u64 *ctx)
{
	return interrupts(INTERRUPT_ENDS, ctx[0]);
}

SEC("tp_btf/page_fault_user")
int handle_page_fault(u64 *ctx)
{
	(void)ctx;
	return interrupts(PAGE_FAULT, 0);
}
