/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only
 *
 * Counts and times kernel functions for the observed members, between their marks.
 *
 * Each function has two programs, at its entry and at its return. The programs of different functions differ only in
 * their number. The mark is the entry function of its system call, so no other system call is inspected.
 *
 * A call is identified by its frame: the stack address at which its arguments are stored for the programs, which is
 * the same at entry and return. So nested calls of the same function can be distinguished. The kernel does not nest
 * a program within itself on one CPU: if a thread is preempted inside a program, another thread's entry or return
 * may be skipped. Such unpaired events are counted.
 *
 * A slot is written by its member's own thread only. Other threads of a process, and daemons, count in hash maps.
 * Each interval between two marks is a generation, as in `syscalls.bpf.c`. */

#include "kernel.h"
#include "distribution.h"
#include "members.h"

/* Number of functions, and maximum number of nested calls of one function by one thread. */
enum { MAX_FUNCTIONS = 40, MAX_DEPTH = 4 };

/* Counts of one function. A row of zeros has no calls. */
struct row {
	u64 generation;
	u64 count;
	/* Entries without a return, and returns without an entry. */
	u64 unpaired;
	u64 total_ns;
	u64 max_ns;
	/* Complement of the minimum, so that zero is the neutral value here too. */
	u64 min_complement_ns;
	u64 times[MAX_SLOTS];
};

/* A call in progress, if its generation is the current one. */
struct call {
	/* 0 if there is none. */
	u64 frame;
	u64 began_ns;
	u64 generation;
};

/* Calls in progress of one function by one thread. */
struct stack {
	struct call calls[MAX_DEPTH];
};

/* State of a member's own thread. */
struct thread {
	u64 is_in_phase;
	u64 generation;
	struct stack stacks[MAX_FUNCTIONS];
	/* Padding, so that no two threads write to the same cache line. */
	u64 unused[14];
};

struct {
	struct thread threads[MAX_MEMBERS];
	/* Calls of other threads that were lost because a map was full. */
	u64 lost;
	struct row rows[MAX_MEMBERS][MAX_FUNCTIONS];
} state;

struct shared_key {
	u32 member;
	u32 function;
	u64 generation;
};

struct stack_key {
	u32 thread;
	u32 function;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 2048);
	__type(key, struct shared_key);
	__type(value, struct row);
} shared_rows SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 8192);
	__type(key, struct stack_key);
	__type(value, struct stack);
} shared_stacks SEC(".maps");

static const struct row no_row;
static const struct stack no_stack;

/* Generation in which a call of another thread of the role counts; 0 if it does not count. A daemon has the highest
 * generation of all members, because all of them go through the same number of phases. */
static __always_inline u64 generation_of_role(u32 member)
{
	u64 max = 0;

#pragma unroll
	for (u32 i = 0; i < MAX_MEMBERS; i++) {
		const struct thread *thread = &state.threads[i];
		u64 generation = thread->is_in_phase ? thread->generation : 0;
		if (member_threads[member] && i != member)
			continue;
		if (max < generation)
			max = generation;
	}
	return max;
}

/* Returns whether there was room for the call. An entry with the same frame has returned without being reported. */
static __always_inline int push(struct stack *stack, u64 frame, u64 generation)
{
#pragma unroll
	for (u32 level = 0; level < MAX_DEPTH; level++) {
		struct call *call = &stack->calls[level];
		if (call->frame && call->frame != frame && call->generation == generation)
			continue;
		call->frame = frame;
		call->generation = generation;
		call->began_ns = bpf_ktime_get_ns();
		return 1;
	}
	return 0;
}

/* Removes the returning call from its stack; null if its entry was not seen in this generation. */
static __always_inline struct call *popped(struct stack *stack, u64 frame, u64 generation)
{
#pragma unroll
	for (u32 level = 0; level < MAX_DEPTH; level++) {
		struct call *call = &stack->calls[level];
		if (call->frame == frame && call->generation == generation) {
			call->frame = 0;
			return call;
		}
	}
	return 0;
}

static __always_inline void count(struct row *row, u64 took_ns, enum access access)
{
	add(&row->count, 1, access);
	add(&row->total_ns, took_ns, access);
	add(&row->times[log2_slot(took_ns)], 1, access);
	update_max(&row->max_ns, took_ns, access);
	update_max(&row->min_complement_ns, ~took_ns, access);
}

static __always_inline struct row *own_row(u32 member, u32 function)
{
	u64 generation = state.threads[member].generation;
	struct row *row = &state.rows[member][function];

	if (unlikely(row->generation != generation))
		reset_row(row, sizeof(*row), generation);
	return row;
}

static __always_inline void member_enters(u32 member, u32 function, u64 frame)
{
	struct thread *thread = &state.threads[member];

	if (thread->is_in_phase && push(&thread->stacks[function], frame, thread->generation))
		own_row(member, function)->unpaired++;
}

static __always_inline void member_leaves(u32 member, u32 function, u64 frame)
{
	struct thread *thread = &state.threads[member];

	if (!thread->is_in_phase)
		return;
	u64 now_ns = bpf_ktime_get_ns();
	struct call *call = popped(&thread->stacks[function], frame, thread->generation);
	struct row *row = own_row(member, function);
	if (likely(call)) {
		row->unpaired--;
		count(row, now_ns - call->began_ns, EXCLUSIVE);
	} else {
		row->unpaired++;
	}
}

static __always_inline struct stack *new_shared_stack(const struct stack_key *key)
{
	struct stack *stack;

	bpf_map_update_elem(&shared_stacks, key, &no_stack, BPF_NOEXIST);
	stack = bpf_map_lookup_elem(&shared_stacks, key);
	if (!stack)
		__sync_fetch_and_add(&state.lost, 1);
	return stack;
}

/* Returns the row in which a call of another thread is counted. If two threads find no row, both try to create it,
 * and only the first succeeds. */
static __always_inline struct row *shared_row(u32 member, u32 function, u64 generation)
{
	struct shared_key key = {
		.member = member, .function = function, .generation = generation
	};
	struct row *row = bpf_map_lookup_elem(&shared_rows, &key);

	if (row)
		return row;
	bpf_map_update_elem(&shared_rows, &key, &no_row, BPF_NOEXIST);
	row = bpf_map_lookup_elem(&shared_rows, &key);
	if (!row)
		__sync_fetch_and_add(&state.lost, 1);
	return row;
}

static __always_inline void other_enters(u32 member, u32 thread, u32 function, u64 frame)
{
	struct stack_key key = { .thread = thread, .function = function };
	u64 generation = generation_of_role(member);

	if (!generation)
		return;
	struct stack *stack = bpf_map_lookup_elem(&shared_stacks, &key);
	if (!stack)
		stack = new_shared_stack(&key);
	if (stack)
		push(stack, frame, generation);
}

static __always_inline void other_leaves(u32 member, u32 thread, u32 function, u64 frame)
{
	struct stack_key key = { .thread = thread, .function = function };
	u64 generation = generation_of_role(member);

	if (!generation)
		return;
	u64 now_ns = bpf_ktime_get_ns();
	struct stack *stack = bpf_map_lookup_elem(&shared_stacks, &key);
	struct call *call = stack ? popped(stack, frame, generation) : 0;
	struct row *row = call ? shared_row(member, function, generation) : 0;
	if (row)
		count(row, now_ns - call->began_ns, SHARED);
}

static __noinline int enters(u32 function, u64 frame)
{
	u64 caller = bpf_get_current_pid_tgid();
	u32 member = member_of_thread(caller);

	if (function >= MAX_FUNCTIONS)
		return 0;
	if (member < MAX_MEMBERS) {
		member_enters(member, function, frame);
		return 0;
	}
	member = member_of_process(caller >> 32);
	if (member < MAX_MEMBERS)
		other_enters(member, caller, function, frame);
	return 0;
}

static __noinline int leaves(u32 function, u64 frame)
{
	u64 caller = bpf_get_current_pid_tgid();
	u32 member = member_of_thread(caller);

	if (function >= MAX_FUNCTIONS)
		return 0;
	if (member < MAX_MEMBERS) {
		member_leaves(member, function, frame);
		return 0;
	}
	member = member_of_process(caller >> 32);
	if (member < MAX_MEMBERS)
		other_leaves(member, caller, function, frame);
	return 0;
}

SEC("fentry/mark") int handle_mark(const void *arguments)
{
	u32 member = member_of_thread(bpf_get_current_pid_tgid());

	(void)arguments;
	if (member < MAX_MEMBERS) {
		struct thread *thread = &state.threads[member];
		thread->is_in_phase ^= 1;
		thread->generation += thread->is_in_phase;
	}
	return 0;
}

#define FUNCTION(number)                                                        \
	SEC("fentry/" #number) int handle_fentry##number(const void *arguments) \
	{                                                                       \
		return enters(number, (u64)arguments);                          \
	}                                                                       \
	SEC("fexit/" #number) int handle_fexit##number(const void *arguments)   \
	{                                                                       \
		return leaves(number, (u64)arguments);                          \
	}

FUNCTION(0) FUNCTION(1) FUNCTION(2) FUNCTION(3) FUNCTION(4) FUNCTION(5) FUNCTION(6) FUNCTION(7)
FUNCTION(8) FUNCTION(9) FUNCTION(10) FUNCTION(11) FUNCTION(12) FUNCTION(13) FUNCTION(14) FUNCTION(15)
FUNCTION(16) FUNCTION(17) FUNCTION(18) FUNCTION(19) FUNCTION(20) FUNCTION(21) FUNCTION(22) FUNCTION(23)
FUNCTION(24) FUNCTION(25) FUNCTION(26) FUNCTION(27) FUNCTION(28) FUNCTION(29) FUNCTION(30) FUNCTION(31)
FUNCTION(32) FUNCTION(33) FUNCTION(34) FUNCTION(35) FUNCTION(36) FUNCTION(37) FUNCTION(38) FUNCTION(39)
