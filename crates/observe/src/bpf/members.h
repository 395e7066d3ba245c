/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only
 *
 * Who is watched, as constants: whoever is not is compared with a few of them and left alone. */

enum { MEMBERS = 4 };

/* The thread that makes a member's marks; 0 for daemons, and where there is no such member. */
const volatile u32 member_threads[MEMBERS];
/* The process all of whose threads are of a member's role; 0 where only its own thread is. */
const volatile u32 member_processes[MEMBERS];

inlined u32 member_of_thread(u32 thread)
{
#pragma unroll
	for (u32 i = 0; i < MEMBERS; i++) {
		u32 wanted = member_threads[i];
		if (wanted && thread == wanted)
			return i;
	}
	return MEMBERS;
}

inlined u32 member_of_process(u32 process)
{
#pragma unroll
	for (u32 i = 0; i < MEMBERS; i++) {
		u32 wanted = member_processes[i];
		if (wanted && process == wanted)
			return i;
	}
	return MEMBERS;
}
