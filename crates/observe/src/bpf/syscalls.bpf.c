/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only
 *
 * Counts and times the system calls of the observed members between their marks.
 *
 * Only a member's own thread writes to its slot, without atomic operations or map lookups. Other threads of a
 * process, and daemons, share the entries of their role: they count in a hash map, with atomic operations.
 *
 * Each interval between two marks is a generation. Nothing is cleared when a generation begins: every row stores its
 * generation, and is cleared when it is first used in another. */

#include "kernel.h"
#include "arguments.h"
#include "distribution.h"
#include "members.h"

enum { MAX_NUMBERS = 512, MAX_VECTORS = 16 };

/* Location of a call's requested number of bytes: 1 to 6 is the number of an argument. */
enum { NOWHERE = 0, IN_VECTORS = 7, IN_MESSAGE = 8 };

/* The number of bytes requested could not be determined. */
enum { UNKNOWN = -1 };

/* System call number of the mark. */
const volatile u32 mark;
/* Location of the requested number of bytes, for each call. */
const volatile u8 lengths[MAX_NUMBERS];

/* Counts of one system call, by number. A row of zeros has no calls. */
struct row {
	u64 generation;
	u64 count;
	u64 errors;
	u64 requested_bytes;
	/* Calls whose requested number of bytes is unknown. */
	u64 unknown_requests;
	/* Sum of the return values above zero. */
	u64 returned;
	u64 total_ns;
	u64 max_ns;
	/* Complement of the minimum, so that zero is the neutral value here too. */
	u64 min_complement_ns;
	u64 times[MAX_SLOTS];
	u64 results[MAX_SLOTS];
};

/* A call in progress. */
struct call {
	/* 0 if there is none. */
	u64 began_ns;
	u64 generation;
	u64 number;
	s64 requested_bytes;
};

/* State of a member's own thread. Two cache lines long, so that no two threads write to the same line. */
struct thread {
	u64 is_in_phase;
	struct call call;
	u64 unused[11];
};

struct state {
	struct thread threads[MAX_MEMBERS];
	/* Calls of other threads that were lost because a map was full. */
	u64 lost;
	/* The last row of each member is for all numbers from MAX_NUMBERS on. */
	struct row rows[MAX_MEMBERS][MAX_NUMBERS + 1];
} state;

struct shared_key {
	u32 member;
	u32 number;
	u64 generation;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 2048);
	__type(key, struct shared_key);
	__type(value, struct row);
} shared_rows SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, u32);
	__type(value, struct call);
} shared_calls SEC(".maps");

static const struct row no_row;

/* Returns the total length of an array of iovec. */
static __noinline s64 bytes_of_vectors(u64 start, u64 count)
{
	struct {
		u64 start, bytes;
	} vector;
	s64 bytes = 0;

	if (count > MAX_VECTORS)
		return UNKNOWN;
	for (u32 i = 0; i < MAX_VECTORS && i < count; i++) {
		const void *place = (const void *)(start + i * sizeof(vector));
		if (bpf_probe_read_user(&vector, sizeof(vector), place))
			return UNKNOWN;
		bytes += vector.bytes;
	}
	return bytes;
}

/* Returns the total length of the data of a msghdr. */
static __noinline s64 bytes_of_message(u64 start)
{
	struct {
		u64 name, name_bytes, vectors, vector_count;
	} message;

	if (bpf_probe_read_user(&message, sizeof(message), (const void *)start))
		return UNKNOWN;
	return bytes_of_vectors(message.vectors, message.vector_count);
}

static __always_inline s64 requested_bytes(u64 number, const void *registers)
{
	switch (number < MAX_NUMBERS ? lengths[number] : NOWHERE) {
	case NOWHERE:
		return 0;
	case 1:
		return first(registers);
	case 2:
		return second(registers);
	case 3:
		return third(registers);
	case 4:
		return fourth(registers);
	case 5:
		return fifth(registers);
	case 6:
		return sixth(registers);
	case IN_VECTORS:
		return bytes_of_vectors(second(registers), third(registers));
	case IN_MESSAGE:
		return bytes_of_message(second(registers));
	}
	return UNKNOWN;
}

static __always_inline void count(struct row *row, const struct call *call, u64 now_ns, s64 result,
				  enum access access)
{
	u64 took_ns = now_ns - call->began_ns;

	add(&row->count, 1, access);
	add(&row->total_ns, took_ns, access);
	add(&row->times[log2_slot(took_ns)], 1, access);
	update_max(&row->max_ns, took_ns, access);
	update_max(&row->min_complement_ns, ~took_ns, access);
	if (call->requested_bytes >= 0)
		add(&row->requested_bytes, call->requested_bytes, access);
	else
		add(&row->unknown_requests, 1, access);
	if (result < 0) {
		add(&row->errors, 1, access);
	} else {
		add(&row->returned, result, access);
		add(&row->results[log2_slot(result)], 1, access);
	}
}

static __always_inline u64 generation_of_thread(u32 member)
{
	const struct thread *thread = &state.threads[member];

	return thread->is_in_phase ? thread->call.generation : 0;
}

/* Generation in which a call of another thread of the role counts; 0 if it does not count. A daemon has the highest
 * generation of all members, because all of them go through the same number of phases. */
static __always_inline u64 generation_of_role(u32 member)
{
	u64 max = 0;

	if (member_threads[member])
		return generation_of_thread(member);
#pragma unroll
	for (u32 i = 0; i < MAX_MEMBERS; i++) {
		u64 generation = generation_of_thread(i);
		if (max < generation)
			max = generation;
	}
	return max;
}

static __always_inline void begin(struct call *call, const u64 *context)
{
	u64 number = context[1];

	call->number = number < MAX_NUMBERS ? number : MAX_NUMBERS;
	call->requested_bytes = requested_bytes(number, (const void *)context[0]);
	call->began_ns = bpf_ktime_get_ns();
}

static __always_inline void member_enters(u32 member, const u64 *context)
{
	struct thread *thread = &state.threads[member];

	if (unlikely(context[1] == mark)) {
		thread->is_in_phase ^= 1;
		thread->call.generation += thread->is_in_phase;
		thread->call.began_ns = 0;
	} else if (thread->is_in_phase) {
		begin(&thread->call, context);
	}
}

static __always_inline void member_leaves(u32 member, const u64 *context)
{
	struct call *call = &state.threads[member].call;

	if (!call->began_ns)
		return;
	u64 now_ns = bpf_ktime_get_ns();
	/* Read once: the verifier does not assume that a second read returns the same value. */
	u64 number = *(volatile u64 *)&call->number;
	if (number > MAX_NUMBERS)
		return;
	struct row *row = &state.rows[member][number];
	if (unlikely(row->generation != call->generation))
		reset_row(row, sizeof(*row), call->generation);
	count(row, call, now_ns, context[1], EXCLUSIVE);
	call->began_ns = 0;
}

static __noinline int other_enters(u32 member, u32 thread, const u64 *context)
{
	u64 generation = generation_of_role(member);
	struct call *call = bpf_map_lookup_elem(&shared_calls, &thread);

	if (!call && generation) {
		struct call none = {};
		bpf_map_update_elem(&shared_calls, &thread, &none, BPF_NOEXIST);
		call = bpf_map_lookup_elem(&shared_calls, &thread);
		if (!call)
			__sync_fetch_and_add(&state.lost, 1);
	}
	if (!call)
		return 0;
	call->generation = generation;
	call->began_ns = 0;
	if (generation)
		begin(call, context);
	return 0;
}

/* Returns the row in which a call of another thread is counted. If two threads find no row, both try to create it,
 * and only the first succeeds. */
static __always_inline struct row *shared_row(u32 member, const struct call *call)
{
	struct shared_key key = {
		.member = member, .number = call->number, .generation = call->generation
	};
	struct row *row = bpf_map_lookup_elem(&shared_rows, &key);

	if (row)
		return row;
	bpf_map_update_elem(&shared_rows, &key, &no_row, BPF_NOEXIST);
	return bpf_map_lookup_elem(&shared_rows, &key);
}

static __noinline int other_leaves(u32 member, u32 thread, const u64 *context)
{
	struct call *call = bpf_map_lookup_elem(&shared_calls, &thread);

	if (!call || !call->began_ns)
		return 0;
	u64 now_ns = bpf_ktime_get_ns();
	if (call->generation == generation_of_role(member)) {
		struct row *row = shared_row(member, call);
		if (row)
			count(row, call, now_ns, context[1], SHARED);
		else
			__sync_fetch_and_add(&state.lost, 1);
	}
	call->began_ns = 0;
	return 0;
}

SEC("tp_btf/sys_enter") int handle_enter(u64 *context)
{
	u64 caller = bpf_get_current_pid_tgid();
	u32 member = member_of_thread(caller);

	if (member < MAX_MEMBERS) {
		member_enters(member, context);
		return 0;
	}
	member = member_of_process(caller >> 32);
	if (member < MAX_MEMBERS)
		other_enters(member, caller, context);
	return 0;
}

SEC("tp_btf/sys_exit") int handle_exit(u64 *context)
{
	u64 caller = bpf_get_current_pid_tgid();
	u32 member = member_of_thread(caller);

	if (member < MAX_MEMBERS) {
		member_leaves(member, context);
		return 0;
	}
	member = member_of_process(caller >> 32);
	if (member < MAX_MEMBERS)
		other_leaves(member, caller, context);
	return 0;
}
