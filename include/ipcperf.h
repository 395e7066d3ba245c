/* ipcperf.h: a mechanism of one's own, as a shared library for `ipcperf run -m lib:FILE.so`.
 *
 * The library exports one function, ipcperf_mechanism, which returns a table. ipcperf opens both ends in
 * one process, then gives each to a party (a forked process, or a thread) that sends and receives with
 * it. Loops, clock, pinning, verification and usage are ipcperf's, as for its own mechanisms.
 * docs/your-own-mechanism.md has the rest. SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef IPCPERF_H
#define IPCPERF_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The number of this header. A library made with another is refused. */
#define IPCPERF_ABI 1

/* Flags of a table. */
#define IPCPERF_KEEPS_BOUNDARIES 1u /* one recv returns one message, whole: none shorter, none joined */
#define IPCPERF_TWO_THREADS 2u      /* the ends may be used by two threads of one process: --mode 2thread */
#define IPCPERF_ONE_THREAD 4u       /* nothing waits where the setup says nonblocking: --mode 1thread */

/* An option, from --set lib.NAME=VALUE. */
struct ipcperf_option {
    const char *name;
    const char *value;
};

/* What open is told. All of it is gone when open returns. */
struct ipcperf_setup {
    uint64_t buffer_bytes;        /* of the largest message, or of the largest call */
    uint64_t kernel_buffer_bytes; /* what the kernel shall hold (--kernel-buffer); 0: as it is */
    const char *folder;           /* private; removed with all in it when open has returned */
    const struct ipcperf_option *options;
    uint32_t option_count;
    uint32_t nonblocking; /* 1: one thread has both ends; send and recv return -EAGAIN rather than wait */
};

/* Calls return 0 or a count where they succeed, and -errno where they fail. */
struct ipcperf_mechanism {
    uint32_t abi;      /* IPCPERF_ABI */
    uint32_t flags;    /* IPCPERF_... or 0 */
    const char *about; /* what it is, in one line; may be NULL */

    /* Opens both ends, connected: ends[0] for the sender, ends[1] for the receiver. Messages must pass
     * in both directions. What the kernel was seen to grant goes into granted_bytes; left 0, it is not
     * known. On failure (an option that is not known, a message that is too large) words go into error,
     * of at most error_bytes. Called while the process has one thread. */
    int (*open)(const struct ipcperf_setup *setup, void *ends[2], uint64_t *granted_bytes, char *error,
                size_t error_bytes);

    /* Called once, before the clock starts, by the party that will use the end: the place to map and
     * touch memory. May be NULL. */
    int (*prepare)(void *end);

    /* Takes up to count bytes, at least 1, and returns how many. What it did not take is offered again.
     * With IPCPERF_KEEPS_BOUNDARIES it takes all. */
    ssize_t (*send)(void *end, const void *bytes, size_t count);

    /* Returns what has arrived, up to count bytes; waits where nothing has. 0: the peer is gone. */
    ssize_t (*recv)(void *end, void *bytes, size_t count);

    /* Frees the end, which this process used; the peer may be told. */
    void (*close)(void *end);

    /* Frees this process's copy of an end that another process uses, after a fork: descriptors are
     * closed, and the peer is told nothing. NULL: close does that. */
    void (*disown)(void *end);
};

/* The one function of the library. The table is never changed or freed. */
const struct ipcperf_mechanism *ipcperf_mechanism(void);

#ifdef __cplusplus
}
#endif

#endif
