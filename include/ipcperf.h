/* ipcperf.h: interface of a custom mechanism, a shared library for `ipcperf run -m lib:FILE.so`.
 *
 * The library exports one function, ipcperf_mechanism, which returns a table. ipcperf opens both ends in
 * one process, then gives each to a peer (a forked process, or a thread), which sends and receives with
 * it. ipcperf provides loops, clock, pinning, verification and CPU times, as for its own mechanisms.
 * Documentation: docs/custom-mechanisms.md. SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef IPCPERF_H
#define IPCPERF_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Version of this interface. A library built with another version is refused. */
#define IPCPERF_ABI 1

/* Flags of a table. */
#define IPCPERF_KEEPS_BOUNDARIES 1u /* one recv returns exactly one whole message */
#define IPCPERF_TWO_THREADS 2u      /* the ends may be used by two threads of one process: --mode 2thread */
#define IPCPERF_ONE_THREAD 4u       /* no call waits if the setup is nonblocking: --mode 1thread */

/* Option from --set lib.NAME=VALUE. */
struct ipcperf_option {
    const char *name;
    const char *value;
};

/* Parameters of open, valid until open returns. */
struct ipcperf_setup {
    uint64_t buffer_bytes;        /* size of the largest message, or of the largest call */
    uint64_t kernel_buffer_bytes; /* requested kernel buffer (--kernel-buffer); 0: the system's default */
    const char *folder;           /* private; removed with its contents after open has returned */
    const struct ipcperf_option *options;
    uint32_t option_count;
    uint32_t nonblocking; /* 1: one thread uses both ends; send and recv return -EAGAIN instead of waiting */
};

/* Functions return 0 or a count on success, -errno on failure. */
struct ipcperf_mechanism {
    uint32_t abi;      /* IPCPERF_ABI */
    uint32_t flags;    /* IPCPERF_... or 0 */
    const char *about; /* description of one line; may be NULL */

    /* Opens both ends, connected: ends[0] for the sender, ends[1] for the receiver. Messages must pass in
     * both directions. Stores the size of the kernel buffer that was granted in granted_bytes, or leaves 0
     * if it is unknown. On failure (an unknown option, a message that is too large) stores a message of at
     * most error_bytes in error. Called while the process has one thread. */
    int (*open)(const struct ipcperf_setup *setup, void *ends[2], uint64_t *granted_bytes, char *error,
                size_t error_bytes);

    /* Maps and touches memory. Called once, before the clock starts, by the peer that will use the end.
     * May be NULL. */
    int (*prepare)(void *end);

    /* Sends up to count bytes, at least 1, and returns how many. The caller offers the rest again. With
     * IPCPERF_KEEPS_BOUNDARIES it must send all. */
    ssize_t (*send)(void *end, const void *bytes, size_t count);

    /* Receives up to count bytes and returns how many; waits until there are some. 0: the peer is gone. */
    ssize_t (*recv)(void *end, void *bytes, size_t count);

    /* Frees an end that this process used. The peer may see end of file. */
    void (*close)(void *end);

    /* Frees, after a fork, this process's copy of an end that another process uses: closes descriptors,
     * and sends nothing to the peer. NULL: close is called instead. */
    void (*disown)(void *end);
};

/* The function that the library exports. The table must never be changed or freed. */
const struct ipcperf_mechanism *ipcperf_mechanism(void);

#ifdef __cplusplus
}
#endif

#endif
