/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only
 *
 * Reads the arguments of a system call from the registers that the caller had when it made the call. The registers
 * differ between architectures. */

struct pt_regs___x86 {
	u64 di, si, dx, r10, r8, r9;
} __attribute__((preserve_access_index));

struct pt_regs___arm64 {
	u64 regs[31];
} __attribute__((preserve_access_index));

#define ARGUMENT(name, register, index)                                                           \
	static __always_inline u64 name(const void *registers)                                    \
	{                                                                                         \
		const struct pt_regs___x86 *x86 = registers;                                      \
		const struct pt_regs___arm64 *arm64 = registers;                                  \
		return bpf_core_field_exists(x86->register) ? x86->register : arm64->regs[index]; \
	}

ARGUMENT(first, di, 0)
ARGUMENT(second, si, 1)
ARGUMENT(third, dx, 2)
ARGUMENT(fourth, r10, 3)
ARGUMENT(fifth, r8, 4)
ARGUMENT(sixth, r9, 5)
