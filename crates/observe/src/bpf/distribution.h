/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only
 *
 * Sums and log2 histograms, updated by one thread or by several. */

enum { MAX_SLOTS = 64 };

/* Slot of a value in a log2 histogram: 0 for 0, otherwise 1 + floor(log2(value)). */
static __always_inline u32 log2_slot(u64 value)
{
	u32 slot = 0;

#define HALVE(bits)               \
	if (value >> (bits)) {    \
		value >>= (bits); \
		slot += (bits);   \
	}
	HALVE(32)
	HALVE(16)
	HALVE(8)
	HALVE(4)
	HALVE(2)
	HALVE(1)
	return (slot + (u32)value) & (MAX_SLOTS - 1);
}

enum access { EXCLUSIVE, SHARED };

static __always_inline void add(u64 *sum, u64 value, enum access access)
{
	if (access == SHARED)
		__sync_fetch_and_add(sum, value);
	else
		*sum += value;
}

static __always_inline void update_max(u64 *max, u64 value, enum access access)
{
	if (access == EXCLUSIVE) {
		if (*max < value)
			*max = value;
		return;
	}
	/* A failed exchange means that another thread updated it: after this many, no thread that could is left. */
	for (u32 i = 0; i < 16; i++) {
		u64 now = *(volatile u64 *)max;
		if (now >= value || __sync_val_compare_and_swap(max, now, value) == now)
			return;
	}
}

/* Clears an entry and sets its generation, which is its first word. */
static __always_inline void reset_row(void *row, u32 bytes, u64 generation)
{
	/* Volatile, or the compiler replaces the loop by a call of memset, which BPF does not have. */
	volatile u64 *words = row;

	for (u32 i = 0; i < bytes / sizeof(*words); i++)
		words[i] = 0;
	words[0] = generation;
}
