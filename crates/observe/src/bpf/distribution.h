/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only
 *
 * Sums and log2 histograms, updated by one thread or by several. */

enum { QUANTA = 64 };

/* Row of a value in a log2 histogram: 0 for 0, otherwise 1 + floor(log2(value)). */
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
	/* A failed exchange means that another thread raised it: after this many, no thread that could is left. */
	for (u32 i = 0; i < 16; i++) {
		u64 now = *(volatile u64 *)most;
		if (now >= value || __sync_val_compare_and_swap(most, now, value) == now)
			return;
	}
}

/* Clears an entry and sets its generation, which is its first word. */
inlined void wipe(void *kept, u32 bytes, u64 generation)
{
	/* Volatile, or the compiler replaces the loop by a call of memset, which BPF does not have. */
	volatile u64 *words = kept;

	for (u32 i = 0; i < bytes / sizeof(*words); i++)
		words[i] = 0;
	words[0] = generation;
}
