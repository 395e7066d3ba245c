/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only
 *
 * Counts and times the system calls of those who are watched, between their marks.
 *
 * A member's own thread is alone with its slot: it needs no atomic operation and no look-up. Other threads
 * of a process, and daemons, share what their role keeps: they count in a hash map, with atomic operations.
 *
 * Each interval between two marks is a generation. Nothing is wiped when one begins: every row says of which
 * generation it is, and is wiped when it is first used in another. */

#include "kernel.h"
#include "arguments.h"
#include "distribution.h"
#include "members.h"

enum { NUMBERS = 512, VECTORS = 16 };

/* Where a call says how many bytes it asks for: 1 to 6 is an argument. */
enum { NOWHERE = 0, IN_VECTORS = 7, IN_MESSAGE = 8 };

/* How many bytes were asked for could not be found out. */
enum { UNKNOWN = -1 };

/* The number of the call that is the mark. */
const volatile u32 mark;
/* For each call, where it says how many bytes it asks for. */
const volatile u8 lengths[NUMBERS];

/* What is kept of one call by its number. All zero is a row that has seen nothing. */
struct row {
	u64 generation;
	u64 count;
	u64 errors;
	u64 requested_bytes;
	/* Calls of which it is not known how many bytes they asked for. */
	u64 unknown_requests;
	/* Sum of what was returned and above zero. */
	u64 returned;
	u64 total_ns;
	u64 most_ns;
	/* The complement of the least, so that zero is the neutral value here too. */
	u64 complement_ns;
	u64 times[QUANTA];
	u64 results[QUANTA];
};

/* A call under way. */
struct call {
	/* 0: none. */
	u64 began_ns;
	u64 generation;
	u64 number;
	s64 requested_bytes;
};

/* A member's own thread. Two lines of a cache long, so that no two threads write to one. */
struct thread {
	u64 inside;
	struct call call;
	u64 unused[11];
};

struct kept {
	struct thread threads[MEMBERS];
	/* Calls that found no room among those of other threads. */
	u64 lost;
	/* The last row of each is for all numbers beyond. */
	struct row rows[MEMBERS][NUMBERS + 1];
} kept;

struct shared_key {
	u32 member;
	u32 number;
	u64 generation;
};

struct {
	number_of(type, BPF_MAP_TYPE_HASH);
	number_of(max_entries, 2048);
	type_of(key, struct shared_key);
	type_of(value, struct row);
} shared_rows section(".maps");

struct {
	number_of(type, BPF_MAP_TYPE_HASH);
	number_of(max_entries, 4096);
	type_of(key, u32);
	type_of(value, struct call);
} shared_calls section(".maps");

static const struct row no_row;

/* The lengths of all of an array of iovec. */
static __attribute__((noinline)) s64 bytes_of_vectors(u64 start, u64 count)
{
	struct {
		u64 start, bytes;
	} vector;
	s64 bytes = 0;

	if (count > VECTORS)
		return UNKNOWN;
	for (u32 i = 0; i < VECTORS && i < count; i++) {
		const void *place = (const void *)(start + i * sizeof(vector));
		if (bpf_probe_read_user(&vector, sizeof(vector), place))
			return UNKNOWN;
		bytes += vector.bytes;
	}
	return bytes;
}

/* The lengths of all that a msghdr leads to. */
static __attribute__((noinline)) s64 bytes_of_message(u64 start)
{
	struct {
		u64 name, name_bytes, vectors, vector_count;
	} message;

	if (bpf_probe_read_user(&message, sizeof(message), (const void *)start))
		return UNKNOWN;
	return bytes_of_vectors(message.vectors, message.vector_count);
}

inlined s64 requested_bytes(u64 number, const void *registers)
{
	switch (number < NUMBERS ? lengths[number] : NOWHERE) {
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

inlined void count(struct row *row, const struct call *call, u64 now_ns, s64 result,
		   enum access access)
{
	u64 took_ns = now_ns - call->began_ns;

	add(&row->count, 1, access);
	add(&row->total_ns, took_ns, access);
	add(&row->times[quantum(took_ns)], 1, access);
	raise(&row->most_ns, took_ns, access);
	raise(&row->complement_ns, ~took_ns, access);
	if (call->requested_bytes >= 0)
		add(&row->requested_bytes, call->requested_bytes, access);
	else
		add(&row->unknown_requests, 1, access);
	if (result < 0) {
		add(&row->errors, 1, access);
	} else {
		add(&row->returned, result, access);
		add(&row->results[quantum(result)], 1, access);
	}
}

inlined u64 generation_of_thread(u32 member)
{
	const struct thread *thread = &kept.threads[member];

	return thread->inside ? thread->call.generation : 0;
}

/* The generation in which a call of another thread of the role counts; 0 where it does not. A daemon's is
 * that of whoever has gone farthest: every party goes through as many. */
inlined u64 generation_of_role(u32 member)
{
	u64 most = 0;

	if (member_threads[member])
		return generation_of_thread(member);
#pragma unroll
	for (u32 i = 0; i < MEMBERS; i++) {
		u64 generation = generation_of_thread(i);
		if (most < generation)
			most = generation;
	}
	return most;
}

inlined void begin(struct call *call, const u64 *context)
{
	u64 number = context[1];

	call->number = number < NUMBERS ? number : NUMBERS;
	call->requested_bytes = requested_bytes(number, (const void *)context[0]);
	call->began_ns = bpf_ktime_get_ns();
}

inlined void member_enters(u32 member, const u64 *context)
{
	struct thread *thread = &kept.threads[member];

	if (unlikely(context[1] == mark)) {
		thread->inside ^= 1;
		thread->call.generation += thread->inside;
		thread->call.began_ns = 0;
	} else if (thread->inside) {
		begin(&thread->call, context);
	}
}

inlined void member_leaves(u32 member, const u64 *context)
{
	struct call *call = &kept.threads[member].call;

	if (!call->began_ns)
		return;
	u64 now_ns = bpf_ktime_get_ns();
	/* Read once: the verifier trusts no second reading. */
	u64 number = *(volatile u64 *)&call->number;
	if (number > NUMBERS)
		return;
	struct row *row = &kept.rows[member][number];
	if (unlikely(row->generation != call->generation))
		wipe(row, sizeof(*row), call->generation);
	count(row, call, now_ns, context[1], ALONE);
	call->began_ns = 0;
}

static __attribute__((noinline)) int other_enters(u32 member, u32 thread, const u64 *context)
{
	u64 generation = generation_of_role(member);
	struct call *call = bpf_map_lookup_elem(&shared_calls, &thread);

	if (!call && generation) {
		struct call none = {};
		bpf_map_update_elem(&shared_calls, &thread, &none, BPF_NOEXIST);
		call = bpf_map_lookup_elem(&shared_calls, &thread);
		if (!call)
			__sync_fetch_and_add(&kept.lost, 1);
	}
	if (!call)
		return 0;
	call->generation = generation;
	call->began_ns = 0;
	if (generation)
		begin(call, context);
	return 0;
}

/* The row in which a call of another thread is counted. Two that find none make it, and one of them is
 * first. */
inlined struct row *shared_row(u32 member, const struct call *call)
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

static __attribute__((noinline)) int other_leaves(u32 member, u32 thread, const u64 *context)
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
			__sync_fetch_and_add(&kept.lost, 1);
	}
	call->began_ns = 0;
	return 0;
}

section("tp_btf/sys_enter") int entered(u64 *context)
{
	u64 caller = bpf_get_current_pid_tgid();
	u32 member = member_of_thread(caller);

	if (member < MEMBERS) {
		member_enters(member, context);
		return 0;
	}
	member = member_of_process(caller >> 32);
	if (member < MEMBERS)
		other_enters(member, caller, context);
	return 0;
}

section("tp_btf/sys_exit") int left(u64 *context)
{
	u64 caller = bpf_get_current_pid_tgid();
	u32 member = member_of_thread(caller);

	if (member < MEMBERS) {
		member_leaves(member, context);
		return 0;
	}
	member = member_of_process(caller >> 32);
	if (member < MEMBERS)
		other_leaves(member, caller, context);
	return 0;
}
