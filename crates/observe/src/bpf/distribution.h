/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only
 *
 * Sums and distributions that one thread or several add to. */

enum { QUANTA = 64 };

/* The row of a distribution: 0 for 0, else one more than the binary logarithm. */
inlined u32 quantum(u64 value)
{
	u32 row = 0;

#define HALVE(bits)                   \
	if (value >> (bits)) {        \
		value >>= (bits);     \
		row += (bits);        \
	}
	HALVE(32)
	HALVE(16)
	HALVE(8)
	HALVE(4)
	HALVE(2)
	HALVE(1)
	return (row + (u32)value) & (QUANTA - 1);
}

enum access { ALONE, SHARED };

inlined void add(u64 *sum, u64 value, enum access access)
{
	if (access == SHARED)
		__sync_fetch_and_add(sum, value);
	else
		*sum += value;
}

inlined void raise(u64 *most, u64 value, enum access access)
{
	if (access == ALONE) {
		if (*most < value)
			*most = value;
		return;
	}
	/* Each time it fails another thread has raised it: more often than this, none is left who could. */
	for (u32 i = 0; i < 16; i++) {
		u64 now = *(volatile u64 *)most;
		if (now >= value || __sync_val_compare_and_swap(most, now, value) == now)
			return;
	}
}

/* What is kept begins with its generation. */
inlined void wipe(void *kept, u32 bytes, u64 generation)
{
	/* Volatile, or the compiler makes it a call of memset, which does not exist here. */
	volatile u64 *words = kept;

	for (u32 i = 0; i < bytes / sizeof(*words); i++)
		words[i] = 0;
	words[0] = generation;
}
