/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only
 *
 * The parts of BPF that the programs in this folder need, and no more: no kernel headers are required.
 *
 * Kernel types are declared where they are used, with only the fields that are used. The loader replaces the
 * field offsets by those of the running kernel (`preserve_access_index`). Where kernels or architectures
 * differ, each variant has its own declaration, whose name ends in three underscores and a word. The
 * loader ignores that suffix, and `bpf_core_field_exists` is true for the variant of the running kernel. Code for
 * other variants is removed at load time. */

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef int s32;
typedef long long s64;

#define SEC(name) __attribute__((section(name), used))
#define __always_inline inline __attribute__((always_inline))
#define __noinline __attribute__((noinline))
#define bpf_core_field_exists(field) __builtin_preserve_field_info(field, 2)

#define likely(condition) __builtin_expect(!!(condition), 1)
#define unlikely(condition) __builtin_expect(!!(condition), 0)

/* The kernel's map parameters are encoded in the type of a variable in the section `.maps`. */
#define __uint(name, val) int (*name)[val]
#define __type(name, val) typeof(val) *name

enum { BPF_MAP_TYPE_HASH = 1, BPF_MAP_TYPE_ARRAY = 2, BPF_MAP_TYPE_PERCPU_ARRAY = 6 };
enum { BPF_ANY = 0, BPF_NOEXIST = 1 };

/* Kernel helper functions, by their stable numbers. */
static void *(*const bpf_map_lookup_elem)(void *map, const void *key) = (void *)1;
static long (*const bpf_map_update_elem)(void *map, const void *key, const void *value,
                                         u64 flags) = (void *)2;
static u64 (*const bpf_ktime_get_ns)(void) = (void *)5;
static u64 (*const bpf_get_current_pid_tgid)(void) = (void *)14;
static long (*const bpf_probe_read_user)(void *target, u32 bytes, const void *source) = (void *)112;

/* Some helpers are available only to programs with a GPL-compatible license. */
char LICENSE[] SEC("license") = "Dual MIT/GPL";
