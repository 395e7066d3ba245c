/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only
 *
 * Constants that name the observed threads and processes: all others fail a few comparisons and return at once. */

enum { MAX_MEMBERS = 4 };

/* Thread that makes the member's marks; 0 for daemons, and for unused entries. */
const volatile u32 member_threads[MAX_MEMBERS];
/* Process all of whose threads belong to the member's role; 0 if only the member's own thread does. */
const volatile u32 member_processes[MAX_MEMBERS];

static __always_inline u32 member_of_thread(u32 thread)
{
#pragma unroll
	for (u32 i = 0; i < MAX_MEMBERS; i++) {
		u32 wanted = member_threads[i];
		if (wanted && thread == wanted)
			return i;
	}
	return MAX_MEMBERS;
}

static __always_inline u32 member_of_process(u32 process)
{
#pragma unroll
	for (u32 i = 0; i < MAX_MEMBERS; i++) {
		u32 wanted = member_processes[i];
		if (wanted && process == wanted)
			return i;
	}
	return MAX_MEMBERS;
}
